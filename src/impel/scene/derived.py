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

# The base distance over the way between keys: a quarter passes near every key of a path that goes straight on. Where it
# turns round, a body turns back 0.83 base distances before its key (measured), so there it is a twentieth.
STRAIGHT_SHARE, RETURN_SHARE = 0.25, 0.05
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
    share: float  # of a strength that is derived
    speed: float  # steady, on a straight path
    longest_step: float  # seconds, beyond which the actuator itself becomes unstable


def drive(wish: Move | Turn) -> Drive:
    """The paper's parameters of a move or turn; needs a base that is given or can be derived."""
    base = base_of(wish)
    if base is None:
        raise ValueError("no base distance given and none can be derived")
    unit = 1.0 if isinstance(wish, Move) else math.radians(1)
    b, relaxation = wish.elasticity, wish.relaxation
    speed = None if wish.speed is None else wish.speed * unit
    if speed is None and wish.alpha is None:  # as fast as α = 0.1 makes a path that goes straight on
        speed = usual_base(wish, STRAIGHT_SHARE) * math.sqrt(ALPHA / 2) / (b * relaxation)
    if speed is not None:
        alpha = 2 * (speed * b * relaxation / base) ** 2  # the steady speed below, solved for α
    else:
        alpha = ALPHA if wish.alpha is None else wish.alpha
    beta = b * math.sqrt(2 * alpha)
    strength: float | None = None
    share = 1.0
    if wish.strength == "unlimited":
        strength = math.inf
    elif not isinstance(wish.strength, str):
        strength = wish.strength
    elif wish.strength.endswith("%"):
        share = float(wish.strength.rstrip(" %")) / 100
    return Drive(
        base=base,
        alpha=alpha,
        beta=beta,
        relaxation=relaxation,
        elasticity=b,
        adaptation=wish.adaptation,
        strength=strength,
        share=share,
        speed=alpha * base / (beta * relaxation),  # 003, section 2.3, corrected: see notes
        longest_step=min(2 * beta * relaxation / alpha, relaxation / beta),
    )


def base_of(wish: Move | Turn) -> float | None:
    """The base distance (metres) or angle (radians), given or from the keys; None if no neighbours share a frame."""
    given = wish.base_distance if isinstance(wish, Move) else wish.base_angle
    if given is not None:
        return given if isinstance(wish, Move) else math.radians(given)
    if not _neighbours(wish):
        return None
    return min([usual_base(wish, STRAIGHT_SHARE), *(max(b, usual_base(wish, RETURN_SHARE)) for b in _at_turns(wish))])


def usual_base(wish: Move | Turn, share: float) -> float:
    """What `base_of` is if it is given, else this share of the average way between keys."""
    if isinstance(wish, Move) and wish.base_distance is not None:
        return wish.base_distance
    if isinstance(wish, Turn) and wish.base_angle is not None:
        return math.radians(wish.base_angle)
    ways = [math.hypot(*way) for way in _ways(wish)]
    holding = HOLDING_DISTANCE if isinstance(wish, Move) else HOLDING_ANGLE
    mean = sum(ways) / len(ways) if ways else 0.0
    if isinstance(wish, Turn):
        mean = min(mean, math.pi)  # a longer way round is no reason to turn back earlier
    return share * mean if mean > STILL * holding else holding


def _at_turns(wish: Move | Turn) -> list[float]:
    """The base distance that each key calls for where the path turns there: the sharper, the less."""
    ways = [way for way in _ways(wish) if math.hypot(*way) > 0]
    pairs = list(pairwise([*ways, *(ways[:1] if wish.loop else [])]))
    bases = []
    for a, b in pairs:
        length_a, length_b = math.hypot(*a), math.hypot(*b)
        onwards = 0.5 + 0.5 * sum(x * y for x, y in zip(a, b)) / (length_a * length_b)  # 1 straight on, 0 back
        share = RETURN_SHARE + (STRAIGHT_SHARE - RETURN_SHARE) * max(onwards, 0.0) ** 1.5
        bases.append(share * min(length_a, length_b, math.pi if isinstance(wish, Turn) else math.inf))
    return bases


def _neighbours(wish: Move | Turn) -> list[tuple[Any, Any]]:
    keys = [*wish.keys, *(wish.keys[:1] if wish.loop or len(wish.keys) == 1 else [])]
    return [(a, b) for a, b in pairwise(keys) if a.in_ == b.in_]


def _ways(wish: Move | Turn) -> list[tuple[float, ...]]:
    """From each key to the next: metres, or radians about an axis; back to the first it is the shorter turn."""
    if isinstance(wish, Move):
        return [tuple(y - x for x, y in zip(a.at, b.at)) for a, b in _neighbours(wish)]
    ways = []
    for a, b in _neighbours(wish):
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
    from impel.geometry.kinds import solid

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
