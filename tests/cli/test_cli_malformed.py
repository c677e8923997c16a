"""Whatever a scene file holds: exit code 2, one plain line per problem with file and field, no output file."""

import copy
import os
import re
import subprocess
import sys

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import format_document, parse_document

BALL = "bodies: {ball: {shape: {sphere: 0.2}, mass: 1}}\n"
TWO = "bodies: {a: {shape: {sphere: 0.2}, mass: 1}, b: {shape: {sphere: 0.2}, mass: 1}}\n"
MOVE = BALL + "actors: {ball: {move: {keys: [[0, 0, 0], [1, 0, 0]], %s}}}"
KEYS = "move: {keys: [[0, 0, 0], [1, 0, 0]]}"
GOALS = BALL + "actors: {ball: {goals: "
ACTORS = TWO + f"actors: {{a: {{{KEYS}}}, b: {{{KEYS}}}}}\n"

# (file, the lines it must give, without the file's name; a line may be given by its beginning)
MALFORMED = [
    # not a scene at all
    ("", "is empty"),
    ("just text", "must be a scene like {world: {...}, bodies: {...}, actors: {...}}, got 'just text'"),
    ("[1, 2]", "must be a scene like"),
    ("bodies: [", "line 2: not valid YAML"),
    ("bodies: {}\nbodies: {}", "line 2: 'bodies' is written twice"),
    ("a: &a [1, *a]", "line 1: *a stands for nothing written before it"),
    ("[" * 1000, "is nested more than 40 levels deep"),
    ("- 1\n" * 400_001, "holds more than 400000 values"),
    ("#" * (8 * 2**20 + 1), "is larger than 8 MiB"),
    (b"\xff\xfe\x00", "is not UTF-8 text (byte 0)"),
    (BALL + "3: 4", "line 2: a name must be text, got 3"),
    # the wrong things in the right places
    ("{}", "bodies: is empty: a scene needs at least one body"),
    ("bodies: {}", "bodies: is empty: a scene needs at least one body"),
    ("bodies: [1]", "bodies: must be written like {name: ...}, got [1]"),
    ("bodies: {ball: 3}", "bodies.ball: must be written like {shape: {sphere: 0.2}, mass: 1, at: [0, 0, 1]}, got 3"),
    ("bodies: {ball: {mass: 1}}", "bodies.ball.shape: is missing: Its form: one of sphere, box"),
    ("bodies: {ball: {shape: {sphere: 0.2, box: [1, 1, 1]}}}", "bodies.ball.shape: needs exactly one of sphere, box"),
    ("bodies: {ball: {shape: {}}}", "bodies.ball.shape: needs exactly one of sphere, box"),
    ("bodies: {ball: {shape: {shpere: 0.2}}}", "bodies.ball.shape.shpere: is not a known field; did you mean sphere?"),
    ("bodies: {ball: {shape: {box: [1, 1]}}}", "bodies.ball.shape.box: must be three full sizes [x, y, z], got [1, 1]"),
    ("bodies: {ball: {shape: {box: [1, 1, 0]}}}", "bodies.ball.shape.box: each side must be between 1e-06 and 1e+06"),
    ("bodies: {ball: {shape: {capsule: {radius: 1}}}}", "bodies.ball.shape.capsule.length: is missing: How long"),
    ("bodies: {ball: {shape: {blob: {}}}}", "bodies.ball.shape.blob: needs at least one of points, segments or curves"),
    ("bodies: {ball: {shape: {sphere: 0.2}, mass: -1}}", "bodies.ball.mass: must be greater than 0, got -1"),
    ("bodies: {ball: {shape: {sphere: 0.2}, mass: .nan}}", "bodies.ball.mass: must be a finite number, got nan"),
    ("bodies: {ball: {shape: {sphere: .inf}}}", "bodies.ball.shape.sphere: must be a finite number, got inf"),
    ("bodies: {ball: {shape: {sphere: 1e300}}}", "bodies.ball.shape.sphere: must be at most 1e+06, got 1e+300"),
    ("bodies: {ball: {shape: {sphere: 0.2}, mass: heavy}}", "bodies.ball.mass: must be a number, got 'heavy'"),
    ("bodies: {ball: {shape: {sphere: 0.2}, mass: true}}", "bodies.ball.mass: must be a number, got True"),
    (f"bodies: {{ball: {{shape: {{sphere: 1}}, mass: {'9' * 400}}}}}", "bodies.ball.mass: must be "),
    ("bodies: {ball: {shape: {sphere: 0.2}, mass: }}", "bodies.ball.mass: is empty: give it a value or remove it"),
    ("bodies: {ball: {shape: {sphere: 0.2}, color: red}}", 'bodies.ball.color: must be a color like "#e4572e"'),
    (
        "bodies:\n  ball:\n    shape: {sphere: 0.2}\n    color: #e4572e",
        'bodies.ball.color: is empty: give it a value or remove it (in YAML a color needs quotes: "#e4572e")',
    ),
    (
        "bodies: {ball: {shape: {sphere: 0.2}, at: [0, 0, .nan]}}",
        "bodies.ball.at: must be three numbers [x, y, z], each",
    ),
    ("bodies: {ball: {shape: {sphere: 0.2}, at: 3}}", "bodies.ball.at: must be three numbers [x, y, z], got 3"),
    ("bodies: {ball: {shape: {sphere: 1}, quaternion: [0, 0, 0, 0]}}", "bodies.ball.quaternion: must not be all zeros"),
    ("bodies: {ball: {shape: {sphere: 0.2}, fixed: 1}}", "bodies.ball.fixed: must be true or false, got 1"),
    ("bodies: {a.b: {shape: {sphere: 0.2}}}", "bodies.a.b: a name must not contain dots"),
    (f"bodies: {{{'a' * 81}: {{shape: {{sphere: 0.2}}}}}}", "bodies.'aaa"),
    ("bodies: {world: {shape: {sphere: 0.2}}}", "bodies.world: is the name of the world itself"),
    (BALL + "gravity: [0, 0, 0]", "gravity: belongs under world"),
    (BALL + "actor: {}", "actor: is not a known field; did you mean actors?"),
    (BALL + "impel: 2", "impel: must be 1, got 2"),
    (BALL + "world: {seconds: 0}", "world.seconds: must be greater than 0, got 0"),
    (BALL + "world: {seconds: 1e9}", "world.seconds: must be at most 3333.33 at 60 fps, got 1e+09"),
    (BALL + "world: {seconds: 0.001}", "world.seconds: must be at least one frame, 0.0166667 at 60 fps, got 0.001"),
    (
        BALL + "world: {step: fast}",
        "world.step: must be a number of seconds greater than 0 or \"adaptive\", got 'fast'",
    ),
    (BALL + "world: {step: 1e-9}", "world.step: 1e-09 needs over 100000000 steps; at least 5e-08 works"),
    (BALL + "world: {joints: glue}", "world.joints: must be 'rattle', 'displacement' or 'paper', got 'glue'"),
    (BALL + "camera: {from: [0, 0, 1], to: [0, 0, 1]}", "camera.to: must differ from camera.from"),
    (BALL + "camera: {fov: 30}", "camera: needs from and to, or follow"),
    (BALL + "camera: {from: [0, 0, 1]}", "camera.to: is missing: what does the camera look at"),
    (BALL + "camera: {follow: ball, to: [0, 0, 1]}", "camera.from: is missing: where does the camera stand"),
    (BALL + "camera: {follow: bal}", "camera.follow: there is no body called 'bal'; did you mean ball?"),
    (BALL + "cameras: [{time: 1}, {time: 1, follow: ball}]", "cameras.1.time: must be later than 1, the time before"),
    (BALL + "cameras: [{follow: ball}]", "cameras.0.time: is missing: From when on"),
    (BALL + "camera: {follow: ball}\ncameras: [{time: 1}]", "cameras: give camera or cameras, not both"),
    (BALL + "camera: {from: [0, 0, 1], to: [0, 0, 2], fov: 200}", "camera.fov: must be at most 170, got 200"),
    # contradictions within a body
    (
        "bodies: {a: {shape: {plane: {}}}}",
        "bodies.a.shape: a plane is endless and cannot move freely; write fixed: true",
    ),
    ("bodies: {a: {shape: {sphere: 1}, mass: 1, density: 1}}", "bodies.a.density: give mass or density, not both"),
    (
        "bodies: {a: {shape: {sphere: 1}, euler: [0, 0, 0], quaternion: [1, 0, 0, 0]}}",
        "bodies.a.quaternion: give euler or quaternion, not both",
    ),
    (
        "bodies: {a: {shape: {sphere: 1}, coating: {thickness: 2}}}",
        "bodies.a.coating.thickness: must be at most 1, the",
    ),
    *(
        (
            f"bodies: {{a: {{shape: {{sphere: 1}}, coating: {{stiffness: {written}}}}}}}",
            f"bodies.a.coating.stiffness: {line}",
        )
        for written, line in [
            ("0", "must be a number greater than 0 and at most 1e+12, or [[metres, stiffness], ...], got 0"),
            (".inf", "must be a number greater than 0 and at most 1e+12, or [[metres, stiffness], ...], got inf"),
            (".nan", "must be a number greater than 0 and at most 1e+12, or [[metres, stiffness], ...], got nan"),
            ("[]", "must be 1 to 16 pairs [[metres, stiffness], ...], such as [[0, 1.0e5], [0.02, 1.0e6]], got []"),
            ("[[0, 1], [0, 2]]", "its depths must increase from pair to pair, by at least 1e-06"),
            ("[[.nan, 1]]", "its depths must be metres from 0 on"),
            ("[[0, .nan]]", "its stiffness must be greater than 0 and at most 1e+12 at each depth"),
            ("[[0, 1], [1, 0]]", "its stiffness must be greater than 0 and at most 1e+12 at each depth"),
        ]
    ),
    ("bodies: {a: {shape: {sphere: 1}, coating: {bulge: 2}}}", "bodies.a.coating.bulge: must be at most 1, got 2"),
    (
        "bodies: {a: {shape: {sphere: 1}, linear: true}}",
        "bodies.a.linear: is about the way between the keys of follows, and there are none",
    ),
    ("bodies: {a: {shape: {sphere: 1}, follows: []}}", "bodies.a.follows: must have at least 1 entry, got 0"),
    (
        "bodies: {a: {shape: {sphere: 1}, fixed: true, follows: [{time: 0}]}}",
        "bodies.a.follows: give fixed or follows, not both",
    ),
    (
        "bodies: {a: {shape: {sphere: 1}, follows: [{time: 1}, {time: 1}]}}",
        "bodies.a.follows.1.time: must be later than 1, the time before it, got 1",
    ),
    # joints
    (
        TWO + "joints: {j: {ball: [a, c], at: [0, 0, 0]}}",
        "joints.j.ball: there is no body called 'c'; there is a, b, world",
    ),
    (TWO + "joints: {j: {ball: [a, a], at: [0, 0, 0]}}", "joints.j.ball: must tie two different bodies, got 'a' twice"),
    (TWO + "joints: {j: {ball: [a], at: [0, 0, 0]}}", "joints.j.ball: must be the names of two bodies [first, second]"),
    (TWO + "joints: {j: {ball: [a, b]}}", "joints.j: ball needs at"),
    (TWO + "joints: {j: {at: [0, 0, 0]}}", "joints.j: needs exactly one of ball, hinge"),
    (TWO + "joints: {j: {ball: [a, b], weld: [a, b], at: [0, 0, 0]}}", "joints.j: needs exactly one of ball, hinge"),
    (TWO + "joints: {j: {ball: [a, b], at: [0, 0, 0], axis: [0, 0, 1]}}", "joints.j: axis does not belong to ball"),
    (
        TWO + "joints: {j: {hinge: [a, b], at: [0, 0, 0], axis: [0, 0, 0]}}",
        "joints.j.axis: must not be all zeros, got [0, 0, 0]",
    ),
    (
        TWO + "joints: {j: {hinge: [a, b], at: [0, 0, 0], axis: [0, 0, 1], limits: [30, -30]}}",
        "joints.j.limits: must be two rising angles from -180 to 180, got [30, -30]",
    ),
    (
        TWO + "joints: {j: {slide: [a, b], axis: [0, 0, 1], limits: [1, 1]}}",
        "joints.j.limits: must be two rising places in metres, got [1, 1]",
    ),
    (TWO + "joints: {j: {slide: [a, b]}}", "joints.j: slide needs axis"),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 5], cone: 0}}",
        "joints.j.cone: must be at least 0.1, got 0; a hinge or a weld does not lean",
    ),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 5], cone: 180}}",
        "joints.j.cone: must be at most 175, got 180; leave it out to let it lean at will",
    ),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 5], cone: 160, twist: [-1, 1]}}",
        "joints.j.cone: must be at most 150, got 160; turned over, there is no twist",
    ),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 5], twist: [10, -10]}}",
        "joints.j.twist: must be two rising angles from -180 to 180, got [10, -10]",
    ),
    (
        TWO + "joints: {j: {ball: [world, a], at: [0, 0, 0], cone: 30}}",
        "joints.j.axis: is missing: the second body is placed at the joint, so it points nowhere by itself",
    ),
    (TWO + "joints: {j: {weld: [a, b], friction: 2}}", "joints.j: friction does not belong to weld, which takes at"),
    (TWO + "joints: {j: {ball: [a, b], at: [0, 0, 0], friction: -2}}", "joints.j.friction: must be at least 0, got -2"),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 0], spring: 3}}",
        "joints.j.spring: must be written like {stiffness: 0.5, damping: 0.05, rest: 0}, got 3",
    ),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 0], spring: {rest: 0}}}",
        "joints.j.spring: does nothing; give it stiffness or damping",
    ),
    (
        TWO + "joints: {j: {ball: [a, b], at: [0, 0, 0], spring: {stiffness: 1, rest: 10}}}",
        "joints.j.spring.rest: must be 0 in a ball joint, which has no one angle; got 10",
    ),
    (
        TWO + "joints: {j: {hinge: [a, b], at: [0, 0, 0], axis: [0, 0, 1], spring: {stiffness: 1, rest: 1000}}}",
        "joints.j.spring.rest: must be within 360 degrees, got 1000",
    ),
    (TWO + "joints: {j: {weld: [a, b], breaks: 0}}", "joints.j.breaks.force: must be greater than 0, got 0"),
    (TWO + "joints: {j: {weld: [a, b], breaks: {}}}", "joints.j.breaks: needs force or torque"),
    (
        TWO + "joints: {j: {weld: [a, b], breaks: soon}}",
        "joints.j.breaks: must be written like 400 or {force: 400, torque: 20}, got 'soon'",
    ),
    (
        TWO + "world: {joints: paper}\njoints: {j: {slide: [a, b], axis: [0, 0, 1]}}",
        "joints.j.slide: is only simulated with world.joints: rattle, got paper",
    ),
    (
        "bodies: {a: {shape: {sphere: 1}, fixed: true}}\njoints: {j: {weld: [a, world]}}",
        "joints.j.weld: one of the two must be free to move, but 'a' and 'world' are not",
    ),
    (
        TWO + "joints: {j: {on_surface: [a, world], at: [0, 0, 0]}}",
        "joints.j.surface: is missing: the world itself has no",
    ),
    (
        TWO + "joints: {j: {on_segment: [a, b], at: [0, 0, 0], segment: [[1, 1, 1], [1, 1, 1]]}}",
        "joints.j.segment.1: must differ from the point before it",
    ),
    (
        TWO + "joints: {j: {on_curve: [a, b], at: [0, 0, 0], curve: [[1, 1, 1]]}}",
        "joints.j.curve: must have at least 2",
    ),
    (TWO + "joints: {j: {in_sphere: [a, b], at: [0, 0, 0], radius: -1}}", "joints.j.radius: must be greater than 0"),
    (
        "bodies: {a: {shape: {sphere: 1}}, b: {shape: {blob: {points: [{at: [0, 0, 0], radius: 1}]}}}}\n"
        "joints: {j: {on_surface: [a, b], at: [0, 0, 1]}}",
        "joints.j.surface: a point cannot slide over a blob",
    ),
    # actors
    (BALL + f"actors: {{bal: {{{KEYS}}}}}", "actors.bal: there is no body called 'bal'; did you mean ball?"),
    (BALL + "actors: {ball: {}}", "actors.ball: wants nothing; give it move or turn"),
    (BALL + "actors: {ball: {move: {keys: []}}}", "actors.ball.move.keys: must have at least 1 entry, got 0"),
    ("bodies:\n\tball: 7", "line 2: not valid YAML: there is a tab; indent with spaces"),
    (BALL + "actors: {ball: {move: {keys: [[0, 0], 7]}}}", "actors.ball.move.keys.0.at: must be three numbers"),
    (
        f"bodies: {{a: {{shape: {{sphere: 1}}, fixed: true}}}}\nactors: {{a: {{{KEYS}}}}}",
        "actors.a: is fixed and cannot act; remove fixed from bodies.a or the actor",
    ),
    (
        f"bodies: {{a: {{shape: {{sphere: 1}}, follows: [{{time: 0}}]}}}}\nactors: {{a: {{{KEYS}}}}}",
        "actors.a: follows keys with times and cannot act",
    ),
    (MOVE % "speed: 1, alpha: 1", "actors.ball.move.alpha: give speed or alpha, not both"),
    (MOVE % "elasticity: 0", "actors.ball.move.elasticity: must be greater than 0, got 0"),
    (MOVE % "strength: weak", 'actors.ball.move.strength: must be a number greater than 0, "auto", a share'),
    (MOVE % "strength: 10", "actors.ball.move.strength: must be at least 19.6, twice the body's weight, got 10"),
    (
        MOVE % "adaptation: 0, base_distance: 0.1",
        "actors.ball.move.base_distance: must be above 0.123, how far gravity",
    ),
    (MOVE % "speed: 1e9", "actors.ball.move.speed: is too violent"),
    (
        "world: {step: 0.5, fps: 1}\n" + MOVE % "base_distance: 0.5",
        "world.step: must be below 0.158 for actors.ball.move to be stable, got 0.5",
    ),
    (
        BALL + "actors: {ball: {turn: {keys: [{euler: [0, 0, 0]}, {}]}}}",
        "actors.ball.turn.keys.1: needs euler or quaternion",
    ),
    (
        BALL + "actors: {ball: {turn: {keys: [{euler: [0, 0, 0], quaternion: [1, 0, 0, 0]}, {euler: [0, 0, 1]}]}}}",
        "actors.ball.turn.keys.0.quaternion: give euler or quaternion, not both",
    ),
    # keys in frames
    (
        BALL + "actors: {ball: {move: {keys: [[0, 0, 0], {at: [0, 0, 0], in: hand}]}}}",
        "actors.ball.move.keys.1.in: there is no body called 'hand'; there is ball",
    ),
    (
        BALL + "actors: {ball: {move: {keys: [[0, 0, 0], {at: [0, 0, 0], in: ball}]}}}",
        "actors.ball.move.keys.1.in: a key cannot be in its own body",
    ),
    (
        TWO + "actors: {a: {turn: {keys: [{euler: [0, 0, 0]}, {euler: [0, 0, 9], in: b}]}}}",
        "actors.a.turn.base_angle: is missing: it cannot be derived",
    ),
    (
        TWO
        + "actors: {a: {move: {keys: [[0, 0, 0], {at: [1, 0, 0], in: b}], base_distance: 1}},"
        + " b: {move: {keys: [[0, 0, 0], {at: [1, 0, 0], in: a}], base_distance: 1}}}",
        "actors.a.move.keys.1.in: leads round in a circle (a -> b -> a) whose offsets do not cancel",
    ),
    (
        TWO
        + "actors: {a: {turn: {keys: [{euler: [0, 0, 0]}, {euler: [0, 0, 9], in: b}], base_angle: 9}},"
        + " b: {turn: {keys: [{euler: [0, 0, 0]}, {euler: [0, 0, 9], in: a}], base_angle: 9}}}",
        "actors.a.turn.keys.1.in: leads round in a circle (a -> b -> a) whose offsets do not cancel",
    ),
    # goals and appointments
    (BALL + "actors: {ball: {goals: [{time: 1}]}}", "actors.ball.goals.0: needs at, euler or quaternion"),
    (BALL + "actors: {ball: {goals: [{at: [0, 0, 0], time: -1}]}}", "actors.ball.goals.0.time: must be greater than 0"),
    (
        BALL + f"actors: {{ball: {{{KEYS}, goals: [{{at: [0, 0, 0], time: 1}}]}}}}",
        "actors.ball.goals: give move or goals with places, not both",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1}, {at: [1, 0, 0], time: 1}]}}",
        "actors.ball.goals.1.time: must be later than 1",
    ),
    (GOALS + "{keys: [{at: [0, 0, 0], time: 1, frob: 1}]}}}", "actors.ball.goals.keys.0.frob: is not a known field"),
    (
        GOALS + "{keys: [{at: [0, 0, 0], time: 1}], ending: soft}}}",
        "actors.ball.goals.ending: must be 'smooth' or 'paper'",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1}, {at: [1, 0, 0]}]}}",
        "actors.ball.goals.1.time: is missing: only goals between",
    ),
    (GOALS + "[{at: [0, 0, 0]}]}}", "actors.ball.goals.0.time: is missing: only goals between"),
    (
        GOALS + "[{quaternion: [1, 0, 0, 0], time: 1}, {quaternion: [0, 0, 0, 1], time: 2}]}}",
        "actors.ball.goals.1.quaternion: is half a turn from how it was before, so no way round is the shorter",
    ),
    (GOALS + "[{at: [1, 0, 0], weight: 0}, {at: [2, 0, 0], time: 1}]}}", "actors.ball.goals.0.weight: must be greater"),
    (
        GOALS + "[{at: [1, 0, 0], weight: 1.0e+9}, {at: [2, 0, 0], time: 1}]}}",
        "actors.ball.goals.0.weight: leaves only 1e-09 s for this goal; give it less weight",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1, until: 2}]}}",
        "actors.ball.goals.0.until: is about a goal that is held; write",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1, hold: true, until: 0.5}]}}",
        "actors.ball.goals.0.until: must be later than 1, when it is met, got 0.5",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1, hold: true, until: meet}]}}",
        "actors.ball.goals.0.until: there is no appointment called 'meet'",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1, hold: true}, {at: [1, 0, 0], time: 2}]}}",
        "actors.ball.goals.0.until: is missing: without it this goal is held to the end",
    ),
    (
        GOALS + "[{at: [0, 0, 0], time: 1, hold: true, until: 3}, {at: [1, 0, 0], time: 2}]}}",
        "actors.ball.goals.1.time: must be later than 3, when the goal before it is let go, got 2",
    ),
    (
        GOALS + "[{at: [0, 0, 0], on: [[0, 0, 0], [1, 0, 0]], time: 1}]}}",
        "actors.ball.goals.0.on: give at or on, not both",
    ),
    (GOALS + "[{on: [[1, 0, 0], [1, 0, 0]], time: 1}]}}", "actors.ball.goals.0.on: its points are all the same"),
    (GOALS + "[{at: [0, 0, 0], in: ball, time: 1}]}}", "actors.ball.goals.0.in: a goal cannot be in its own body"),
    (GOALS + "[{at: [0, 0, 0], in: bird, time: 1}]}}", "actors.ball.goals.0.in: there is no body called 'bird'"),
    (ACTORS + "appointments: {x: {cues: []}}", "appointments.x.cues: must have at least 1 entry, got 0"),
    (
        ACTORS + "appointments: {x: {cues: [a.move.1, b.move.2]}}",
        "appointments.x.cues.1: b.move counts from 0 to 1, got 2",
    ),
    (ACTORS + "appointments: {x: {cues: [a.move.1, b.turn.0]}}", "appointments.x.cues.1: b has no turn"),
    (ACTORS + "appointments: {x: {cues: [a.move.1, c.move.0]}}", "appointments.x.cues.1: there is no actor called 'c'"),
    (ACTORS + "appointments: {x: {cues: [a.move.1, soon]}}", "appointments.x.cues.1: must be written ACTOR.move.KEY"),
    (ACTORS + "appointments: {x: {cues: [a.move.1, a.move.1]}}", "appointments.x.cues.1: is written twice: 'a.move.1'"),
    (
        ACTORS + "appointments: {x: {cues: [a.move.1, a.move.0]}}",
        "appointments.x.cues.1: 'a.move.0' and 'a.move.1' are on",
    ),
    (
        ACTORS + "appointments: {x: {cues: [a.move.1, b.move.1], after: [y]}}",
        "appointments.x.after.0: there is no appointment called 'y'; there is x",
    ),
    (
        ACTORS
        + "appointments: {x: {cues: [a.move.0, b.move.0], after: [z]}, y: {cues: [a.move.1, b.move.1], after: [x]},"
        + " z: {cues: [a.move.1, b.move.1], after: [y]}}",
        "appointments.x.after: goes round in a circle: x -> z -> y -> x; none of them could ever begin",
    ),
]


def numbered(text):
    return text if len(text) < 60 else text[:30] + "..." + text[-30:]


@pytest.mark.parametrize(("text", "line"), MALFORMED, ids=[numbered(str(line)) for _, line in MALFORMED])
def test_a_malformed_scene_is_refused_plainly(impel, tmp_path, text, line):
    scene, output = tmp_path / "scene.yaml", tmp_path / "take.npz"
    scene.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = impel("simulate", scene, "-o", output)
    assert code == 2
    assert out == ""
    assert err.splitlines()[0].startswith(f"{scene}: {line}")
    assert all(told.startswith(f"{scene}: ") for told in err.splitlines())
    assert os.listdir(tmp_path) == ["scene.yaml"]


def test_there_are_plenty_of_malformed_scenes():
    assert len({text for text, _ in MALFORMED}) >= 100


def test_all_problems_are_told_at_once(impel, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        "world: {seconds: -1}\nbodies: {ball: {shape: {sphere: x}, mass: -1, colr: 1}}\njoints: {j: {ball: [a]}}"
    )
    code, _, err = impel("check", scene)
    assert code == 2
    assert [line.split(": ")[1] for line in err.splitlines()] == [
        "world.seconds",
        "bodies.ball.shape.sphere",
        "bodies.ball.mass",
        "bodies.ball.colr",
        "joints.j.ball",
    ]


def test_a_flood_of_problems_is_cut_short(impel, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text("bodies: {" + ", ".join(f"b{i}: 1" for i in range(2000)) + "}")
    code, _, err = impel("check", scene)
    assert code == 2
    assert len(err.splitlines()) == 101
    assert err.splitlines()[-1] == "... and 1900 more problems"


@pytest.mark.parametrize("count", [10_001, 5000])
def test_too_much_motion_is_refused(impel, tmp_path, count):
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        "world: {seconds: 100}\nbodies:\n" + "".join(f"  b{i}: {{shape: {{sphere: 1}}}}\n" for i in range(count))
    )
    code, _, err = impel("check", scene)
    assert code == 2
    assert ("bodies: must have at most 10000 entries" in err) == (count == 10_001)
    assert "at most" in err


def test_the_installed_program_refuses_plainly_too(tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text("bodies: {ball: {shape: {sphere: -1}}}")
    done = subprocess.run(
        [sys.executable, "-m", "impel", "simulate", scene, "-o", tmp_path / "take.npz"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{scene}: bodies.ball.shape.sphere: must be greater than 0, got -1\n"
    assert not (tmp_path / "take.npz").exists()


VALID = parse_document(
    """
world: {gravity: [0, 0, -9.81], seconds: 8, fps: 60, drag: 0.1, step: adaptive}
bodies:
  floor: {shape: {box: [10, 10, 0.2]}, at: [0, 0, -0.1], fixed: true}
  ball: {shape: {sphere: 0.2}, mass: 1.0, at: [0, 0, 1], coating: {stiffness: 2e5, thickness: 0.05}, color: "#e4572e"}
  arm: {shape: {capsule: {radius: 0.1, length: 1}}, euler: [0, 90, 0]}
  hand:
    shape: {blob: {points: [{at: [0, 0, 0], radius: 0.3}], blend: 0.1}}
    follows: [{time: 0}, {time: 1, at: [1, 0, 0]}]
joints:
  elbow: {hinge: [arm, ball], at: [0, 0, 1], axis: [0, 1, 0], limits: [-150, 0]}
  wire: {on_curve: [arm, world], at: [0, 0, 1], curve: [[0, 0, 1], [1, 0, 1], [1, 1, 1]]}
actors:
  ball:
    move: {keys: [[0, 0, 1], [2, 0, 1.5], {at: [0, 0, 0.4], in: hand}], base_distance: 0.3, speed: 2}
    turn: {keys: [{euler: [0, 0, 0]}, {euler: [0, 0, 90]}], base_angle: 20, alpha: 0.1}
  arm: {goals: [{at: [1, 0, 1], time: 1.0}, {at: [2, 1, 1], time: 1.6}]}
appointments:
  handshake: {cues: [ball.move.2, ball.turn.1]}
  parting: {cues: [ball.move.1, arm.goals.1], after: [handshake]}
camera: {from: [4, -6, 3], to: [0, 0, 1]}
""",
    "valid",
)

GARBAGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(
        [0, -1, 1e300, 1e-300, 10**400, "", "ball", "world", "ball.move.1", [], {}, [[]], [1, 2, 3], [0, 0, 0]]
    ),
    st.text(max_size=8),
    st.lists(st.integers() | st.floats(), max_size=4),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)


def places(document, here=()):
    yield here
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from places(value, (*here, key))


@st.composite
def mutated(draw):
    """A valid scene in which a few values were replaced, removed, renamed or moved elsewhere."""
    document = copy.deepcopy(VALID)
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from([place for place in places(document) if place]))
        owner = document
        for key in where[:-1]:
            owner = owner[key]
        change = draw(st.sampled_from(["replace", "remove", "rename", "double", "transplant"]))
        if change == "replace":
            owner[where[-1]] = draw(GARBAGE)
        elif change == "transplant":
            source = draw(st.sampled_from(list(places(VALID))))
            value = VALID
            for key in source:
                value = value[key]
            owner[where[-1]] = copy.deepcopy(value)
        elif isinstance(owner, list):
            owner[:] = owner + owner if change == "double" else owner[: where[-1]] + owner[where[-1] + 1 :]
        elif change == "rename":
            owner[draw(st.text(max_size=6))] = owner.pop(where[-1])
        elif change == "remove":
            owner.pop(where[-1])
    return document


structures = st.recursive(
    GARBAGE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*VALID, *VALID["world"], "ball", "move", "keys", "shape", "in", "x"]), inner)
    ),
    max_leaves=20,
)


def survives(impel, path):
    code, out, err = impel("check", path)
    out, err = out.splitlines(), err.splitlines()
    assert code in (0, 2), err
    assert (code == 2) == bool(err)
    assert all(line.startswith(f"{path}: ") and re.search(r": .+", line) and line.isprintable() for line in err), err
    assert all(line.startswith(f"{path}: ") for line in out)


def test_the_scene_to_be_mutated_is_valid(impel, tmp_path):
    path = tmp_path / "valid.yaml"
    path.write_text(format_document(VALID))
    code, out, err = impel("check", path)
    assert (code, err) == (0, "")
    assert (
        out.splitlines()[-1]
        == f"{path}: can be read, but see the warnings above: 4 bodies, 2 joints, 2 actors, 8 s at 60 frames a second"
    )


@given(document=mutated())
@settings(max_examples=400, deadline=None)
def test_mutated_scenes_are_read_or_refused_plainly(impel, tmp_path_factory, document):
    path = tmp_path_factory.getbasetemp() / "mutated.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8", errors="surrogatepass")
    survives(impel, path)


@given(document=structures)
@settings(max_examples=200, deadline=None)
def test_random_structures_are_refused_plainly(impel, tmp_path_factory, document):
    path = tmp_path_factory.getbasetemp() / "random.yaml"
    path.write_text(format_document(document), encoding="utf-8", errors="surrogatepass")
    survives(impel, path)


@given(data=st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=200, deadline=None)
def test_random_bytes_are_refused_plainly(impel, tmp_path_factory, data):
    for name in ("garbage.yaml", "garbage.json"):
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(data)
        assert impel("check", path)[0] == 2
        survives(impel, path)
