"""From what actors want to actuators."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from impel.control.actuators import Actuators
from impel.control.appointments import Agreed, Cue
from impel.control.clocks import Timing
from impel.control.frames import FramedKey
from impel.control.goals import Aim, Course
from impel.control.linkage import BALL, HINGE, OTHER, ROPE, WELD, Linkage, Tie
from impel.control.specs import ActuatorSpec, make_actuators
from impel.geometry.kinds import Solid
from impel.motion.orientations import conjugate_quaternions, matrix_from_quaternion, multiply_quaternions
from impel.motion.timed import WAY
from impel.physics.bodies import Bodies
from impel.physics.joint_specs import KINDS, JointSpec
from impel.physics.joints import AT_A, AT_B, FRAME_A, Joints
from impel.scene.actors import Move, Turn
from impel.scene.agreements import in_circles
from impel.scene.courses import Stop, courses, start_point
from impel.scene.derived import drive, settled, strength_of
from impel.scene.goals import Goals
from impel.scene.scene import Scene
from impel.scene.timing import timetable
from impel.scene.turning import turn_path
from impel.scene.values import WORLD
from impel.stage.burdens import Burden
from impel.stage.walkers import Troupe

HELD_ADAPTATION = 20.0  # 1/s: how fast what holds a goal learns a lasting push
BASE = 1.0  # m or rad: goals know no base distance


class Wish(NamedTuple):
    """One wish of an actor."""

    label: str  # "ball.move", "ball.turn", "ball.goals.move", "ball.goals.turn"
    body: int
    wish: Move | Turn | Goals
    against: str | None = None  # the body that it pushes off
    circles: bool = False  # whether bodies that carry its keys have keys that it carries
    stops: tuple[Stop, ...] = ()  # of goals: what it goes through ...
    start: tuple[float, ...] = ()  # ... and from where
    agreed: tuple[str, ...] = ()  # ... and the names of appointments

    @property
    def turns(self) -> bool:
        return self.label.endswith(".turn")


def is_goal(label: str) -> bool:
    """Whether an actuator goes from goal to goal."""
    return label.endswith((".goals.move", ".goals.turn"))


def wishes_of(scene: Scene, index: dict[str, int]) -> list[Wish]:
    circles = in_circles(scene)
    wishes = []
    for name, actor in scene.actors.items():
        for kind, wish in (("move", actor.move), ("turn", actor.turn)):
            if wish is not None:
                label, against = f"{name}.{kind}", pushes_off(scene, name, wish)
                wishes.append(Wish(label, index[name], settled(wish, scene.bodies), against, name in circles))
        if actor.goals is not None:
            wishes += goal_wishes(scene, name, actor.goals, index[name])
    return wishes


def goal_wishes(scene: Scene, name: str, goals: Goals, body: int) -> list[Wish]:
    """Goals as what they are to actuators: places to be moved to, orientations to be turned to."""
    written = scene.bodies[name]
    places, turns = courses(goals, written, scene)
    starts = (start_point(goals, written), written.orientation)
    return [
        Wish(f"{name}.goals.{kind}", body, goals, stops=tuple(stops), start=start, agreed=tuple(scene.appointments))
        for kind, stops, start in zip(("move", "turn"), (places, turns), starts)
        if stops
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
    specs: list[ActuatorSpec],
    bodies: Bodies,
    ties: list[Tie],
    scene: Scene,
    troupe: Troupe,
    linkage: Linkage | None = None,
    borne: Sequence[Burden] | None = None,
) -> Actuators:
    """`bodies` and `ties` as they are at the start."""
    gravity = math.hypot(*scene.world.gravity)
    return make_actuators(specs, bodies, ties, gravity, linkage, agreed_of(scene, troupe), leaders_of(scene), borne)


def _labelled(scene: Scene) -> dict[str, Wish]:
    """The wishes of a scene, in the order of their actuators."""
    index = {name: i for i, name in enumerate(scene.bodies)}
    return {wish.label: wish for wish in wishes_of(scene, index)}


def agreed_of(scene: Scene, troupe: Troupe) -> list[Agreed]:
    """The appointments of a scene, each cue as a key of a path, or as the time of a footfall."""
    if not scene.appointments:
        return []
    wishes, names = _labelled(scene), list(scene.appointments)
    agreed = []
    for appointment in scene.appointments.values():
        cues = []
        for cue in appointment.cues:
            label, _, number = cue.rpartition(".")
            if label.endswith(".goals"):  # whichever of its actuators has this goal
                kinds = [f"{label}.{kind}" for kind in ("move", "turn") if f"{label}.{kind}" in wishes]
                label = next(each for each in kinds if int(number) in path_keys(wishes[each])[1])
            if label in wishes:
                cues.append(Cue(list(wishes).index(label), path_keys(wishes[label])[1].index(int(number))))
            else:
                cues.append(Cue(due=troupe.steps(label.removesuffix(".step"))[int(number)]))
        needs = len(appointment.after) if appointment.needs is None else appointment.needs
        timeout = math.inf if appointment.timeout is None else appointment.timeout
        parents = [names.index(parent) for parent in appointment.after]
        published = appointment.regulator == "paper"
        agreed.append(Agreed(cues=cues, parents=parents, needs=needs, timeout=timeout, as_published=published))
    return agreed


def leaders_of(scene: Scene) -> list[int] | None:
    """Of each actuator, the first of those that it is in step with, if any are in step."""
    if not scene.in_step:
        return None
    labels = list(_labelled(scene))
    leaders = [-1] * len(labels)
    for group in scene.in_step.values():
        for label in group:
            leaders[labels.index(label)] = labels.index(group[0])
    return leaders


def ties_of(joints: Joints | None, specs: Sequence[JointSpec], bodies: Bodies) -> list[Tie]:
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
        spec = specs[joint["index"]]
        lasts = spec.lasts and not any(map(math.isfinite, spec.breaks))
        end = bodies.position[b] + matrix_from_quaternion(bodies.orientation[b]) @ fixed[AT_B : AT_B + 3]
        turns = kind in ("ball", "hinge")
        rubs = (spec.friction, 0.0) if turns else (0.0, spec.friction)
        ties.append(Tie(a, b, at, kinds.get(kind, OTHER), axis, end, spec.begins, lasts, *rubs))
    return ties


def spec_of(wished: Wish, solids: list[Solid], index: dict[str, int]) -> ActuatorSpec:
    body, wish, whole = wished.body, wished.wish, solids[wished.body]
    if isinstance(wish, Goals):
        return goal_spec(wished, wish, solids, index)
    numbers = drive(wish)
    keys = np.array(path_keys(wished)[0], float)
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
        point = _in_body(wish.point, whole)
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
        fades=numbers.fades,
        press=wish.press,
        point=tuple(point),
        pulled=pulled,
        against=None if wished.against is None else index[wished.against],
        timing=timing,
        framed=framed,
        trail=wish.trail if isinstance(wish, Turn) else 0.0,
        circles=wished.circles,
    )


def _in_body(point: Any, whole: Solid) -> Any:
    """A point of a shape, or its origin, in the frame of the body."""
    return matrix_from_quaternion(whole.rotation).T @ (np.asarray(point or (0.0, 0.0, 0.0), float) - whole.offset)


def goal_spec(wished: Wish, goals: Goals, solids: list[Solid], index: dict[str, int]) -> ActuatorSpec:
    """An actuator that goes from goal to goal."""
    whole = solids[wished.body]
    start = multiply_quaternions(wished.start, whole.rotation) if wished.turns else np.array(wished.start)
    aims, keys = [], [start]
    for stop in wished.stops:
        frame = -1 if stop.frame is None else index[stop.frame]
        place: Any = np.array(stop.place, float)
        if wished.turns:
            place = multiply_quaternions(place, whole.rotation)
            if frame >= 0:
                place = multiply_quaternions(conjugate_quaternions(solids[frame].rotation), place)
        elif frame >= 0:
            place = _in_body(stop.place, solids[frame])
        aims.append(
            Aim(
                time=stop.time,
                place=tuple(place),
                frame=frame,
                written=-1 if stop.written is None else stop.written,
                until=_held_until(stop.until),
                release=wished.agreed.index(stop.until) if isinstance(stop.until, str) else -1,
            )
        )
        keys.append(place)
    strength, share, fades = strength_of(goals.strength)
    return ActuatorSpec(
        body=wished.body,
        kind="turn" if wished.turns else "move",
        keys=np.array(keys),
        base=BASE,
        alpha=0.0,
        adaptation=HELD_ADAPTATION,
        strength=strength,
        share=share,
        fades=fades,
        press=0.0,
        point=(0.0, 0.0, 0.0) if wished.turns else tuple(_in_body(goals.point, whole)),
        pulled=goals.point is not None and not wished.turns and not any(goal.turns for goal in goals.keys),
        course=Course(aims=aims, ending=goals.ending, behaviour=goals.behaviour),
    )


def _held_until(until: float | str | None) -> float:
    """How long a goal is held, as far as time tells."""
    return -math.inf if until is None else math.inf if isinstance(until, str) else until


def framed_keys(wish: Move | Turn, index: dict[str, int]) -> list[FramedKey]:
    """The keys of an actuator's path that are in bodies, and when each is pinned."""
    table = timetable(wish)
    written = _path_keys(wish)[1] if len(wish.keys) > 1 else [0]
    framed = []
    owner = 0
    for k, i in enumerate(written):
        following = next((j for j in written[k:] if j is not None), owner)
        owner = i if i is not None else owner
        inside = table.frames[k] if table is not None else wish.keys[following].in_
        if inside is None:
            continue
        pinned = None if wish.loop else _pinned_with(wish, owner)
        stays = table is not None and table.stays[k]
        at = None if pinned is None else k + stays if pinned == owner else _last(written, pinned)
        framed.append(FramedKey(key=k, body=index[inside], pinned_at=at))
    return framed


def _last(written: Sequence[int | None], number: int) -> int:
    """The last key of a path that a written one is: of those that stay, when they leave."""
    return len(written) - 1 - written[::-1].index(number)


def _pinned_with(wish: Move | Turn, number: int) -> int | None:
    """The key with which one that is in a body is pinned: the last of those that follow in the same body, unless the
    path ends there; or as it is told."""
    keys = wish.keys
    if keys[number].pin is not None:
        return number if keys[number].pin else None
    while number + 1 < len(keys) and keys[number + 1].in_ == keys[number].in_:
        number += 1
        if keys[number].pin is not None:
            return number if keys[number].pin else None
    return number if number < len(keys) - 1 else None


def timing_of(wish: Move | Turn) -> Timing | None:
    table = timetable(wish)
    if table is None:
        return None
    return Timing(spans=np.array(table.spans), told=np.array(table.told), catches_up=wish.late == "catch_up")


def path_keys(wished: Wish) -> tuple[list[Any], list[int | None]]:
    """The keys that an actuator's path goes through, and which of the written ones each of them is."""
    if isinstance(wished.wish, Goals):
        return [stop.place for stop in wished.stops], [stop.written for stop in wished.stops]
    return _path_keys(wished.wish)


def _path_keys(wish: Move | Turn) -> tuple[list[Any], list[int | None]]:
    keys: list[Any]
    table = timetable(wish)
    if table is not None:
        return table.keys, table.written
    if isinstance(wish, Turn):
        keys, written = turn_path(wish)
    else:
        keys, written = [key.at for key in wish.keys], list(range(len(wish.keys)))
    return keys, [None, 0] if len(keys) == 1 else written  # a path has two ends, and the last is reached
