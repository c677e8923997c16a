"""From what actors want to actuators."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from impel.control.actuators import Actuators
from impel.control.clocks import Timing
from impel.control.linkage import BALL, HINGE, OTHER, ROPE, WELD, Linkage, Tie
from impel.control.specs import ActuatorSpec, make_actuators
from impel.geometry.shapes import Solid
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions
from impel.physics.bodies import Bodies
from impel.physics.joint_specs import KINDS
from impel.physics.joints import AT_A, FRAME_A, Joints
from impel.scene.actors import Move, Turn
from impel.scene.derived import drive
from impel.scene.scene import Scene
from impel.scene.timing import timetable
from impel.scene.turning import turn_path


class Wish(NamedTuple):
    """One wish of an actor."""

    label: str  # "ball.move", "ball.turn"
    body: int
    wish: Move | Turn


def wishes_of(scene: Scene, index: dict[str, int]) -> list[Wish]:
    return [
        Wish(f"{name}.{kind}", index[name], wish)
        for name, actor in scene.actors.items()
        for kind, wish in (("move", actor.move), ("turn", actor.turn))
        if wish is not None
    ]


def actuators_of(
    specs: list[ActuatorSpec], bodies: Bodies, ties: list[Tie], scene: Scene, linkage: Linkage | None = None
) -> Actuators:
    """`bodies` and `ties` as they are at the start."""
    return make_actuators(specs, bodies, ties, math.hypot(*scene.world.gravity), linkage)


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
        ties.append(Tie(a, b, at, kinds.get(kind, OTHER), axis))
    return ties


def spec_of(wished: Wish, solids: list[Solid], index: dict[str, int]) -> ActuatorSpec:
    body, wish, whole = wished.body, wished.wish, solids[wished.body]
    numbers = drive(wish)
    keys = np.array(path_keys(wish)[0], float)
    kind: Literal["move", "turn"] = "turn" if isinstance(wish, Turn) else "move"
    point, pulled, against = np.zeros(3), False, None
    if isinstance(wish, Turn):
        keys = multiply_quaternions(keys, whole.rotation)
        against = None if wish.against is None else index[wish.against]
    else:
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
        against=against,
        timing=timing_of(wish),
    )


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
