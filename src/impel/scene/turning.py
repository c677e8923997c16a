"""Turns of half a circle and more: between keys in Euler angles a body goes through the angles as they were written.

An orientation does not know how often it was turned, so 0 and 360 degrees would be the same and 270 be reached
backwards. Keys in between, interpolated in the angles, lead the way.
"""

import math
from itertools import pairwise

from impel.scene.actors import Turn
from impel.scene.values import orientation

Angles = tuple[float, float, float]
Orientation = tuple[float, float, float, float]

HALF = 180.0  # degrees in one of the angles, from which on the way leads through them
STRIDE = 15.0  # degrees from one key to the next on such a way
MOST_STRIDES = 100_000  # of one body


def strides(one: Angles | None, other: Angles | None) -> int:
    """Into how many parts the way from one key to the next is divided, given their angles if they are written so."""
    if one is None or other is None:
        return 1
    widest = max(abs(a - b) for a, b in zip(one, other))
    return max(1, math.ceil(widest / STRIDE - 1e-9)) if widest >= HALF else 1


def between(one: Angles | None, other: Angles | None) -> list[Orientation]:
    """The orientations that lead from one key to the next, without these two; none if it is the shorter way."""
    count = strides(one, other)
    if one is None or other is None or count == 1:
        return []
    x, y, z = one
    dx, dy, dz = (b - a for a, b in zip(one, other))
    return [orientation((x + k * dx / count, y + k * dy / count, z + k * dz / count), None) for k in range(1, count)]


def turn_path(wish: Turn) -> tuple[list[Orientation], list[int | None]]:
    """The orientations that a turn goes through, and which of the written keys each of them is, if any."""
    path = [wish.keys[0].orientation]
    which: list[int | None] = [0]
    for i, (a, b) in enumerate(pairwise(wish.keys), 1):
        inner = between(a.euler, b.euler) if a.in_ == b.in_ else []
        path += [*inner, b.orientation]
        which += [*(None for _ in inner), i]
    return path, which
