"""The ways between the keys of a wish: how long they are, and where they lead."""

import math
from itertools import pairwise
from typing import Any

from impel.scene.actors import Move, Turn
from impel.scene.turning import between
from impel.scene.values import angle_between

HOLDING_DISTANCE = 0.1  # metres: the base distance of an actor whose keys are all one point
HOLDING_ANGLE = math.radians(10)
STILL = 0.01  # of these: keys that are closer together are one point


def usual_base(wish: Move | Turn, share: float) -> float:
    """What `base_of` is if it is given, else this share of the average way between keys."""
    if isinstance(wish, Move) and wish.base_distance is not None:
        return wish.base_distance
    if isinstance(wish, Turn) and wish.base_angle is not None:
        return math.radians(wish.base_angle)
    ways = [math.hypot(*way) for way in ways_of(wish, neighbours(wish))]
    holding = HOLDING_DISTANCE if isinstance(wish, Move) else HOLDING_ANGLE
    mean = sum(ways) / len(ways) if ways else 0.0
    if isinstance(wish, Turn):
        mean = min(mean, math.pi)  # a longer way round is no reason to turn back earlier
    return share * mean if mean > STILL * holding else holding


def neighbours(wish: Move | Turn) -> list[tuple[Any, Any]]:
    keys = [*wish.keys, *(wish.keys[:1] if wish.loop or len(wish.keys) == 1 else [])]
    return [(a, b) for a, b in pairwise(keys) if a.in_ == b.in_]


def ways_of(wish: Move | Turn, pairs: list[tuple[Any, Any]]) -> list[tuple[float, ...]]:
    """From each key to the next: metres, or radians about an axis; back to the first it is the shorter turn."""
    if isinstance(wish, Move):
        return [tuple(y - x for x, y in zip(a.at, b.at)) for a, b in pairs]
    ways = []
    for a, b in pairs:
        back = b is wish.keys[0]
        path = [a.orientation, *([] if back else between(a.euler, b.euler)), b.orientation]
        length = sum(angle_between(p, q) for p, q in pairwise(path))
        (w0, x0, y0, z0), (w1, x1, y1, z1) = path[0], path[1]
        axis = (  # of the first turn on the way, in the world
            x1 * w0 - w1 * x0 - y1 * z0 + z1 * y0,
            y1 * w0 - w1 * y0 - z1 * x0 + x1 * z0,
            z1 * w0 - w1 * z0 - x1 * y0 + y1 * x0,
        )
        same = w0 * w1 + x0 * x1 + y0 * y1 + z0 * z1
        size = math.hypot(*axis) * (1 if same >= 0 else -1)
        ways.append(tuple(length * c / size for c in axis) if size != 0 else (length, 0.0, 0.0))
    return ways
