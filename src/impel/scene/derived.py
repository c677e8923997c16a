"""What follows from a scene without being written in it: the numbers behind the defaults, in SI units and radians."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from impel.scene.actors import ALPHA, Move, MoveKey, Turn
from impel.scene.bodies import Body
from impel.scene.scene import World
from impel.scene.timing import timetable
from impel.scene.ways import neighbours, usual_base, ways_of

if TYPE_CHECKING:
    from impel.geometry.kinds import Solid

# The base distance over the way between keys: a quarter passes near every key of a path that goes straight on. Where it
# turns round, a body turns back 0.83 base distances before its key (measured), so there it is a twentieth.
STRAIGHT_SHARE, RETURN_SHARE = 0.25, 0.05
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
    fades: tuple[tuple[float, float], ...]  # s, and the share of the strength then; nothing if it stays
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
    timed = timetable(wish) is not None
    if timed and _given_base(wish) is None:  # it is made for the speed then
        speed = None
    elif not timed and speed is None and wish.alpha is None:  # as fast as α = 0.1 makes a path that goes straight on
        speed = usual_base(wish, STRAIGHT_SHARE) * math.sqrt(ALPHA / 2) / (b * relaxation)
    if speed is not None:
        alpha = 2 * (speed * b * relaxation / base) ** 2  # the steady speed below, solved for α
    else:
        alpha = ALPHA if wish.alpha is None else wish.alpha
    beta = b * math.sqrt(2 * alpha)
    strength, share, fades = strength_of(wish.strength)
    return Drive(
        base=base,
        alpha=alpha,
        beta=beta,
        relaxation=relaxation,
        elasticity=b,
        adaptation=wish.adaptation,
        strength=strength,
        share=share,
        fades=fades,
        speed=alpha * base / (beta * relaxation),  # 003, section 2.3, corrected: see notes
        longest_step=min(2 * beta * relaxation / alpha, relaxation / beta),
    )


def strength_of(written: Any) -> tuple[float | None, float, tuple[tuple[float, float], ...]]:
    """The strength at its greatest, if it is given; which share it is of one that is derived; and how it changes."""
    if isinstance(written, list):
        given = [value for _, value in written]
        shares = [share_of(value) if isinstance(value, str) else value for value in given]
        most = max(shares)
        fades = tuple((time, s / most if most > 0 else 0.0) for (time, _), s in zip(written, shares))
        return (None, most, fades) if any(isinstance(value, str) for value in given) else (most, 1.0, fades)
    if isinstance(written, str):
        return (math.inf, 1.0, ()) if written == "unlimited" else (None, share_of(written), ())
    return written, 1.0, ()


def share_of(strength: str) -> float:
    """What "60 %" is of "auto"."""
    return 1.0 if strength == "auto" else float(strength.rstrip(" %")) / 100


def base_of(wish: Move | Turn) -> float | None:
    """The base distance (metres) or angle (radians), given or from the keys; None if no neighbours share a frame."""
    given = _given_base(wish)
    if given is not None:
        return given
    table = timetable(wish)
    if table is not None and table.speed > 0:  # its body would lag so far, were it not led
        alpha = ALPHA if wish.alpha is None else wish.alpha
        return table.speed * wish.elasticity * wish.relaxation * math.sqrt(2 / alpha)
    if not neighbours(wish):
        return None
    return min([usual_base(wish, STRAIGHT_SHARE), *(max(b, usual_base(wish, RETURN_SHARE)) for b in _at_turns(wish))])


def settled(wish: Move | Turn, bodies: Mapping[str, Body]) -> Move | Turn:
    """A wish whose keys are all in different bodies, with a base distance from where these are at the start, if that is
    known; any other as it is."""
    if isinstance(wish, Turn) or base_of(wish) is not None:
        return wish
    if any(key.in_ is not None and key.in_ not in bodies for key in wish.keys):  # a part of a walker
        return wish
    keys = [key.model_copy(update={"at": _at_start(key, bodies), "in_": None}) for key in wish.keys]
    return wish.model_copy(update={"base_distance": base_of(wish.model_copy(update={"keys": keys}))})


def _at_start(key: MoveKey, bodies: Mapping[str, Body]) -> tuple[float, ...]:
    if key.in_ is None:
        return key.at
    from impel.motion.orientations import matrix_from_quaternion

    body = bodies[key.in_]
    return tuple(map(float, body.at + matrix_from_quaternion(body.orientation) @ key.at))


def _given_base(wish: Move | Turn) -> float | None:
    if isinstance(wish, Move):
        return wish.base_distance
    return None if wish.base_angle is None else math.radians(wish.base_angle)


def _at_turns(wish: Move | Turn) -> list[float]:
    """The base distance that each key calls for where the path turns there: the sharper, the less."""
    ways = [way for way in ways_of(wish, neighbours(wish)) if math.hypot(*way) > 0]
    pairs = list(pairwise([*ways, *(ways[:1] if wish.loop else [])]))
    bases = []
    for a, b in pairs:
        length_a, length_b = math.hypot(*a), math.hypot(*b)
        onwards = 0.5 + 0.5 * sum(x * y for x, y in zip(a, b)) / (length_a * length_b)  # 1 straight on, 0 back
        share = RETURN_SHARE + (STRAIGHT_SHARE - RETURN_SHARE) * max(onwards, 0.0) ** 1.5
        bases.append(share * min(length_a, length_b, math.pi if isinstance(wish, Turn) else math.inf))
    return bases


def sag(numbers: Drive, world: World) -> float:
    """How far gravity pulls an uncorrected body below its target, in metres."""
    return math.hypot(*world.gravity) * numbers.relaxation**2 / (2 * numbers.alpha)


def mass_of(body: Body) -> float:
    """The body's mass in kilograms, given or from its density."""
    if body.mass is not None:
        return body.mass
    from impel.geometry.kinds import solid

    return solid(body.shape.to_document()).volume * (WATER if body.density is None else body.density)


def solid_of(body: Body) -> "Solid":
    """The body's volume, and its centre of mass, principal axes and inertia, given or from its shape."""
    import numpy as np

    from impel.geometry.kinds import solid

    whole = solid(body.form)
    if body.inertia is None:
        return whole
    return whole._replace(inertia=np.array(body.inertia) / mass_of(body))


def weight(body: Body, world: World) -> float:
    """The body's weight in newtons."""
    return mass_of(body) * math.hypot(*world.gravity)
