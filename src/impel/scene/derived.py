"""What follows from a scene without being written in it: the numbers behind the defaults, in SI units and radians."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from impel.scene.actors import ALPHA, Move, Turn
from impel.scene.bodies import Body
from impel.scene.scene import World
from impel.scene.turning import between
from impel.scene.values import orientation

# A quarter of the way between keys rounds corners visibly and still passes near every key.
BASE_SHARE = 0.25
HOLDING_DISTANCE = 0.1  # metres: the base distance of an actor whose keys are all one point
HOLDING_ANGLE = math.radians(10)
STILL = 0.01  # of these: keys that are closer together are one point
WATER = 1000.0  # kg/m³, for bodies with neither mass nor density


class Drive(NamedTuple):
    """An actuator in the paper's symbols: metres and newtons for move, radians and newton metres for turn."""

    base: float  # base distance or angle
    alpha: float
    beta: float
    relaxation: float  # Δt, seconds
    elasticity: float  # B
    adaptation: float  # γ, per second
    strength: float | None  # None: to be derived from what the actuator has to carry; may be infinite
    speed: float  # steady, on a straight path
    longest_step: float  # seconds, beyond which the actuator itself becomes unstable


def drive(wish: Move | Turn) -> Drive:
    """The paper's parameters of a move or turn; needs a base that is given or can be derived."""
    base = base_of(wish)
    if base is None:
        raise ValueError("no base distance given and none can be derived")
    unit = 1.0 if isinstance(wish, Move) else math.radians(1)
    b, relaxation = wish.elasticity, wish.relaxation
    if wish.speed is not None:
        alpha = 2 * (wish.speed * unit * b * relaxation / base) ** 2  # the steady speed below, solved for α
    else:
        alpha = ALPHA if wish.alpha is None else wish.alpha
    beta = b * math.sqrt(2 * alpha)
    strength = {"auto": None, "unlimited": math.inf}[wish.strength] if isinstance(wish.strength, str) else wish.strength
    return Drive(
        base=base,
        alpha=alpha,
        beta=beta,
        relaxation=relaxation,
        elasticity=b,
        adaptation=wish.adaptation,
        strength=strength,
        speed=alpha * base / (beta * relaxation),  # 003, section 2.3, corrected: see notes
        longest_step=min(2 * beta * relaxation / alpha, relaxation / beta),
    )


def base_of(wish: Move | Turn) -> float | None:
    """The base distance (metres) or angle (radians), given or from the keys; None if no neighbours share a frame."""
    if isinstance(wish, Move):
        if wish.base_distance is not None:
            return wish.base_distance
        ways = [math.dist(a.at, b.at) for a, b in _neighbours(wish)]
        holding = HOLDING_DISTANCE
    else:
        if wish.base_angle is not None:
            return math.radians(wish.base_angle)
        ways = [_turn(a, b, back=b is wish.keys[0]) for a, b in _neighbours(wish)]
        holding = HOLDING_ANGLE
    if not ways:
        return None
    mean = sum(ways) / len(ways)
    if isinstance(wish, Turn):
        mean = min(mean, math.pi)  # a longer way round is no reason to turn back earlier
    return BASE_SHARE * mean if mean > STILL * holding else holding


def _neighbours(wish: Move | Turn) -> list[tuple[Any, Any]]:
    keys = [*wish.keys, *(wish.keys[:1] if wish.loop or len(wish.keys) == 1 else [])]
    return [(a, b) for a, b in pairwise(keys) if a.in_ == b.in_]


def _turn(a: Any, b: Any, back: bool) -> float:
    """How far it is from one key to the next, in radians; back to the first it is the shorter way."""
    path = [a.orientation, *([] if back else between(a.euler, b.euler)), b.orientation]
    return sum(angle_between(p, q) for p, q in pairwise(path))


def angle_between(p: tuple[float, ...], q: tuple[float, ...]) -> float:
    """How far apart two orientations are, in [0, π]."""
    cosine = abs(sum(a * b for a, b in zip(p, q)))
    sine = math.dist(p, q) * math.hypot(*(a + b for a, b in zip(p, q))) / 2
    return 2 * math.atan2(sine, cosine)


def sag(numbers: Drive, world: World) -> float:
    """How far gravity pulls an uncorrected body below its target, in metres."""
    return math.hypot(*world.gravity) * numbers.relaxation**2 / (2 * numbers.alpha)


def mass_of(body: Body) -> float:
    """The body's mass in kilograms, given or from its density."""
    if body.mass is not None:
        return body.mass
    from impel.geometry.shapes import solid

    return solid(body.shape.to_document()).volume * (WATER if body.density is None else body.density)


def weight(body: Body, world: World) -> float:
    """The body's weight in newtons."""
    return mass_of(body) * math.hypot(*world.gravity)


class Followed(NamedTuple):
    """The keys of a body that follows, each with a place and an orientation."""

    times: list[float]
    positions: list[tuple[float, float, float]]
    orientations: list[tuple[float, float, float, float]]


class _Mark(NamedTuple):
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
            _lead_the_way(result, marks, i - 1, body.linear)
        result.times.append(mark.time)
        result.positions.append(mark.at)
        result.orientations.append(mark.turned)
    return result


def _marks(body: Body) -> Iterator[_Mark]:
    at, turned = body.at, body.orientation
    angles = (0.0, 0.0, 0.0) if body.euler is None and body.quaternion is None else body.euler
    for key in body.follows or []:
        at = at if key.at is None else key.at
        if key.euler is not None or key.quaternion is not None:
            turned, angles = orientation(key.euler, key.quaternion), key.euler
        yield _Mark(key.time, at, turned, angles)


def _lead_the_way(result: Followed, marks: list[_Mark], i: int, linear: bool) -> None:
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
