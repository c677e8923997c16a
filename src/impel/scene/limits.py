"""Keys that lie beyond the limits of joints: where what a wish means in a joint's own terms can be told for sure."""

import math
from collections.abc import Iterator
from itertools import pairwise

from impel.scene.actors import Move, Turn
from impel.scene.courses import start_point
from impel.scene.joints import Joint
from impel.scene.reach import lasting
from impel.scene.scene import Scene
from impel.scene.turning import turn_path
from impel.scene.values import WORLD

Axis = tuple[float, float, float]
Quaternion = tuple[float, ...]

ASIDE = 0.02  # rad, and share of a way along a slide: a wish that leads so much off the axis is no wish for the joint
BEYOND = {"hinge": 0.5, "slide": 1e-3}  # degrees and m: not worth a word
UNITS = {"hinge": "°", "slide": " m"}


def beyond_limits(scene: Scene) -> Iterator[str]:
    """One line for each actor and joint: the key that lies farthest beyond a limit."""
    for joint_name in sorted(lasting(scene)):
        joint = scene.joints[joint_name]
        if joint.kind not in BEYOND or joint.limits is None or joint.axis is None or joint.at_b is not None:
            continue
        low, high = joint.limits
        for name, wish, kind in _wishes(scene, joint):
            sense = 1 if name == joint.bodies[1] else -1  # limits are those of the second body
            ways = {i: sense * way for i, way in _along(scene, wish, name, joint.axis).items()}
            off = {i: max(low - way, way - high) for i, way in ways.items()}
            worst = max(off, key=lambda i: off[i], default=0)
            if off and off[worst] > BEYOND[joint.kind]:
                yield (
                    f"actors.{name}.{kind}.keys.{worst}: asks joints.{joint_name} for {ways[worst]:.4g}"
                    f"{UNITS[joint.kind]}, beyond its limits [{low:g}, {high:g}]"
                )


def _wishes(scene: Scene, joint: Joint) -> Iterator[tuple[str, Move | Turn, str]]:
    """Who moves a joint against something of which it is known how it stands: what cannot move, or what it pushes
    off."""
    for name, other in (joint.bodies, joint.bodies[::-1]):
        if name not in scene.actors:
            continue
        wish = scene.actors[name].turn if joint.kind == "hinge" else scene.actors[name].move
        if wish is None or any(key.in_ is not None for key in wish.keys):
            continue
        still = other == WORLD or scene.bodies[other].fixed
        against = wish.against if isinstance(wish, Turn) else None
        if against == other or (still and against is None):
            yield name, wish, "turn" if joint.kind == "hinge" else "move"


def _along(scene: Scene, wish: Move | Turn, name: str, axis: Axis) -> dict[int, float]:
    """How far each key is from how a body is placed, along an axis or in degrees about it; nothing once that leads
    elsewhere."""
    size = math.hypot(*axis)
    unit = (axis[0] / size, axis[1] / size, axis[2] / size)
    body = scene.bodies[name]
    found: dict[int, float] = {}
    if isinstance(wish, Move):
        for i, key in enumerate(wish.keys):
            way = [a - b for a, b in zip(key.at, start_point(wish, body))]
            along = sum(a * b for a, b in zip(way, unit))
            if math.sqrt(max(0.0, sum(a * a for a in way) - along**2)) > ASIDE * max(abs(along), BEYOND["slide"]):
                return {}
            found[i] = along
        return found
    turned, written = turn_path(wish)
    angle = 0.0
    for which, (one, other) in zip(written, pairwise([body.orientation, *turned])):
        step = _turn_about(one, other, unit)
        if step is None:
            return {}
        angle += step
        if which is not None:
            found[which] = math.degrees(angle)
    return found


def _turn_about(one: Quaternion, other: Quaternion, axis: Axis) -> float | None:
    """By how much an orientation is turned about an axis of the world to become another; None if not about it."""
    w, x, y, z = other
    a, b, c, d = one[0], -one[1], -one[2], -one[3]
    turn = (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )
    along = sum(u * v for u, v in zip(turn[1:], axis))
    aside = math.dist(turn[1:], [along * u for u in axis])
    if 2 * aside > ASIDE:
        return None
    return 2 * math.atan2(along, turn[0]) if turn[0] >= 0 else 2 * math.atan2(-along, -turn[0])
