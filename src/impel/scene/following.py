"""The keys of bodies that follow them: what is left out filled in, and turns led the way they are written."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from impel.scene.bodies import Body
from impel.scene.turning import between
from impel.scene.values import orientation


class Followed(NamedTuple):
    """The keys of a body that follows, each with a place and an orientation."""

    times: list[float]
    positions: list[tuple[float, float, float]]
    orientations: list[tuple[float, float, float, float]]


class Mark(NamedTuple):
    """A key of a body that follows, with what it leaves out filled in."""

    time: float
    at: tuple[float, float, float]
    turned: tuple[float, float, float, float]
    angles: tuple[float, float, float] | None  # the same in degrees, where it is written so


def followed(body: Body) -> Followed:
    """A key-framed body's keys; what a key leaves out stays as it was before.

    A turn of half a circle or more has keys in between that lead the way through the angles.
    """
    marks = list(_marks(body))
    result = Followed([], [], [])
    for i, mark in enumerate(marks):
        if i > 0:
            lead_the_way(result, marks, i - 1, body.linear)
        result.times.append(mark.time)
        result.positions.append(mark.at)
        result.orientations.append(mark.turned)
    return result


def _marks(body: Body) -> Iterator[Mark]:
    at, turned = body.at, body.orientation
    angles = (0.0, 0.0, 0.0) if body.euler is None and body.quaternion is None else body.euler
    for key in body.follows or []:
        at = at if key.at is None else key.at
        if key.euler is not None or key.quaternion is not None:
            turned, angles = orientation(key.euler, key.quaternion), key.euler
        yield Mark(key.time, at, turned, angles)


def lead_the_way(result: Followed, marks: list[Mark], i: int, linear: bool) -> None:
    """Add the keys between mark i and the next."""
    one, other = marks[i], marks[i + 1]
    between_them = between(one.angles, other.angles)
    count = len(between_them) + 1
    shares = [k / count for k in range(1, count)]
    times = [(1 - gone) * one.time + gone * other.time for gone in shares]
    result.times.extend(times)
    if linear:
        for gone in shares:
            x, y, z = ((1 - gone) * a + gone * b for a, b in zip(one.at, other.at))
            result.positions.append((x, y, z))
        result.orientations.extend(between_them)
    elif times:
        # Places and angles each go by their own cubic through all marks; the angles, as far as they are written.
        first, last = i, i + 1
        while first > 0 and marks[first - 1].angles is not None:
            first -= 1
        while last + 1 < len(marks) and marks[last + 1].angles is not None:
            last += 1
        result.positions.extend(_cubic_at([m.at for m in marks], [m.time for m in marks], times))
        written = marks[first : last + 1]
        angles = _cubic_at([m.angles for m in written], [m.time for m in written], times)
        result.orientations.extend(orientation(triple, None) for triple in angles)


def _cubic_at(keys: list[Any], times: list[float], at: list[float]) -> list[tuple[float, float, float]]:
    from impel.motion.timed import timed_positions

    return [(float(x), float(y), float(z)) for x, y, z in timed_positions(keys, times, at)]
