"""From what actors want to actuators."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from impel.control.actuators import Actuators
from impel.control.appointments import Agreed
from impel.control.clocks import Timing
from impel.control.frames import FramedKey
from impel.control.linkage import BALL, HINGE, OTHER, ROPE, WELD, Linkage, Tie
from impel.control.specs import ActuatorSpec, make_actuators
from impel.geometry.kinds import Solid
from impel.motion.orientations import conjugate_quaternions, matrix_from_quaternion, multiply_quaternions
from impel.motion.timed import WAY
from impel.physics.bodies import Bodies
from impel.physics.joint_specs import KINDS
from impel.physics.joints import AT_A, AT_B, FRAME_A, Joints
from impel.scene.actors import Move, Turn
from impel.scene.agreements import in_circles
from impel.scene.derived import drive
from impel.scene.scene import Scene
from impel.scene.timing import timetable
from impel.scene.turning import turn_path
from impel.scene.values import WORLD


class Wish(NamedTuple):
    """One wish of an actor."""

    label: str  # "ball.move", "ball.turn"
    body: int
    wish: Move | Turn
    against: str | None  # the body that it pushes off
    circles: bool  # whether bodies that carry its keys have keys that it carries


def wishes_of(scene: Scene, index: dict[str, int]) -> list[Wish]:
    circles = in_circles(scene)
    return [
        Wish(f"{name}.{kind}", index[name], wish, pushes_off(scene, name, wish), name in circles)
        for name, actor in scene.actors.items()
        for kind, wish in (("move", actor.move), ("turn", actor.turn))
        if wish is not None
    ]


def pushes_off(scene: Scene, name: str, wish: Move | Turn) -> str | None:
    """What a turn pushes off: what is given, or the neighbour that all its keys are in."""
    if isinstance(wish, Move) or wish.against == WORLD:
        return None
    frames = {key.in_ for key in wish.keys}
    if wish.against is None and len(frames) == 1:
        (frame,) = frames
        tied = any(frame in joint.bodies and name in joint.bodies for joint in scene.joints.values())
        return frame if frame is not None and tied else None
    return wish.against


def actuators_of(
    specs: list[ActuatorSpec], bodies: Bodies, ties: list[Tie], scene: Scene, linkage: Linkage | None = None
) -> Actuators:
    """`bodies` and `ties` as they are at the start."""
    gravity = math.hypot(*scene.world.gravity)
    return make_actuators(specs, bodies, ties, gravity, linkage, agreed_of(scene), leaders_of(scene))


def _labelled(scene: Scene) -> dict[str, Move | Turn]:
    """The wishes of a scene, in the order of their actuators."""
    wishes = {
        f"{name}.{kind}": getattr(actor, kind) for name, actor in scene.actors.items() for kind in ("move", "turn")
    }
    return {label: wish for label, wish in wishes.items() if wish is not None}


def agreed_of(scene: Scene) -> list[Agreed]:
    """The appointments of a scene, each cue as a key of a path."""
    wishes, names = _labelled(scene), list(scene.appointments)
    agreed = []
    for appointment in scene.appointments.values():
        cues = []
        for cue in appointment.cues:
            label, _, number = cue.rpartition(".")
            cues.append((list(wishes).index(label), path_keys(wishes[label])[1].index(int(number))))
        needs = len(appointment.after) if appointment.needs is None else appointment.needs
        timeout = math.inf if appointment.timeout is None else appointment.timeout
        parents = [names.index(parent) for parent in appointment.after]
        agreed.append(Agreed(cues=cues, parents=parents, needs=needs, timeout=timeout))
    return agreed


def leaders_of(scene: Scene) -> list[int]:
    """Of each actuator, the first of those that it is in step with."""
    labels = list(_labelled(scene))
    leaders = [-1] * len(labels)
    for group in scene.in_step.values():
        for label in group:
            leaders[labels.index(label)] = labels.index(group[0])
    return leaders


def ties_of(joints: Joints | None, bodies: Bodies) -> list[Tie]:
    """Which bodies hang together and where, for actuators that carry more than their own body."""
    if joints is None:
        return []
    kinds = {"ball": BALL, "hinge": HINGE, "weld": WELD, "in_sphere": ROPE}
    ties = []
    for k in np.argsort(joints.each["index"]):  # as they were written
        joint, fixed = joints.each[k], joints.fixed[k]
        kind = KINDS[joint["kind"]]
        a, b = int(joint["a"]), int(joint["b"])
        q = bodies.orientation[a]
        at = bodies.position[a] + matrix_from_quaternion(q) @ fixed[AT_A : AT_A + 3]
        axis = matrix_from_quaternion(multiply_quaternions(q, fixed[FRAME_A : FRAME_A + 4]))[:, 2]
        end = bodies.position[b] + matrix_from_quaternion(bodies.orientation[b]) @ fixed[AT_B : AT_B + 3]
        ties.append(Tie(a, b, at, kinds.get(kind, OTHER), axis, end))
    return ties


def spec_of(wished: Wish, solids: list[Solid], index: dict[str, int]) -> ActuatorSpec:
    body, wish, whole = wished.body, wished.wish, solids[wished.body]
    numbers = drive(wish)
    keys = np.array(path_keys(wish)[0], float)
    kind: Literal["move", "turn"] = "turn" if isinstance(wish, Turn) else "move"
    framed, timing = framed_keys(wish, index), timing_of(wish)
    point, pulled = np.zeros(3), False
    if isinstance(wish, Turn):
        keys = multiply_quaternions(keys, whole.rotation)
        for each in framed:
            back = conjugate_quaternions(solids[each.body].rotation)
            keys[each.key] = multiply_quaternions(back, keys[each.key])
    else:
        for each in framed:
            back = matrix_from_quaternion(solids[each.body].rotation).T
            keys[each.key] = back @ (keys[each.key] - solids[each.body].offset)
            if timing is not None and timing.told[each.key, 3] >= WAY:
                timing.told[each.key, :3] = back @ timing.told[each.key, :3]
        pulled = wish.point is not None
        place = np.asarray(wish.point or (0.0, 0.0, 0.0), float) - whole.offset
        point = matrix_from_quaternion(whole.rotation).T @ place
    return ActuatorSpec(
        body=body,
        kind=kind,
        keys=keys,
        base=numbers.base,
        loop=wish.loop,
        alpha=numbers.alpha,
        relaxation=numbers.relaxation,
        elasticity=numbers.elasticity,
        adaptation=numbers.adaptation,
        strength=numbers.strength,
        share=numbers.share,
        press=wish.press,
        point=tuple(point),
        pulled=pulled,
        against=None if wished.against is None else index[wished.against],
        timing=timing,
        framed=framed,
        trail=wish.trail if isinstance(wish, Turn) else 0.0,
        circles=wished.circles,
    )


def framed_keys(wish: Move | Turn, index: dict[str, int]) -> list[FramedKey]:
    """The keys of an actuator's path that are in bodies, and when each is pinned."""
    table = timetable(wish)
    written = path_keys(wish)[1] if len(wish.keys) > 1 else [0]
    framed = []
    owner = 0
    for k, i in enumerate(written):
        following = next((j for j in written[k:] if j is not None), owner)
        owner = i if i is not None else owner
        inside = table.frames[k] if table is not None else wish.keys[following].in_
        if inside is None:
            continue
        key = wish.keys[owner]
        pinned = (owner < len(wish.keys) - 1 if key.pin is None else key.pin) and not wish.loop
        stays = table is not None and table.stays[k]
        framed.append(FramedKey(key=k, body=index[inside], pinned_at=k + stays if pinned else None))
    return framed


def timing_of(wish: Move | Turn) -> Timing | None:
    table = timetable(wish)
    if table is None:
        return None
    return Timing(spans=np.array(table.spans), told=np.array(table.told), catches_up=wish.late == "catch_up")


def path_keys(wish: Move | Turn) -> tuple[list[Any], list[int | None]]:
    """The keys that an actuator's path goes through, and which of the written ones each of them is."""
    keys: list[Any]
    table = timetable(wish)
    if table is not None:
        return table.keys, table.written
    if isinstance(wish, Turn):
        keys, written = turn_path(wish)
    else:
        keys, written = [key.at for key in wish.keys], list(range(len(wish.keys)))
    return keys, [None, 0] if len(keys) == 1 else written  # a path has two ends, and the last is reached
