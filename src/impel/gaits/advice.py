"""What is allowed about walkers and gaits but probably not meant: one line each, for `impel check`."""

import math
from collections.abc import Iterator

import numpy as np

from impel.gaits.carrying import GRAVITY
from impel.gaits.energy import Measured, measure_gait
from impel.gaits.gait import Gait
from impel.gaits.mood import Moods
from impel.gaits.walker import Walker

SIZES = (0.01, 50.0)  # m: of legs that somebody may have meant
MASSES = (1e-4, 1e5)  # kg
FAR_HIP = 2.0  # times as far from the middle as the body reaches: a leg that hangs in the air
LONG = 2.0  # leg lengths: limits beyond are rather in metres or millimetres
BRIEF, LASTING = 0.02, 10.0  # s for legs of 1 m, of a step


def walker_doubts(walker: Walker) -> list[str]:
    return [*_sizes(walker), *_masses(walker), *_limits(walker)]


def _sizes(walker: Walker) -> Iterator[str]:
    low, high = SIZES
    reach = walker.body.reach
    for name, leg in walker.legs.items():
        if not low <= leg.length <= high:
            yield f"legs.{name}: is {leg.length:.3g} m long; lengths are in metres"
        elif math.dist(leg.hip, (0, 0, 0)) > FAR_HIP * reach:
            off = math.dist(leg.hip, (0, 0, 0))
            yield f"legs.{name}.hip: is {off:.3g} m from the middle of a body of {reach:.3g} m"
    depth = float(walker.body.depth(np.zeros(1))[0])
    crouched = min(
        walker.limits.stature[0] * math.sqrt(walker.stance**2 - leg.spread**2) - leg.hip[2]
        for leg in walker.legs.values()
    )
    if crouched + walker.sole < depth:
        yield f"limits.stature: at {walker.limits.stature[0]:g} the body, {depth:.3g} m deep, would be in the ground"


def _masses(walker: Walker) -> Iterator[str]:
    low, high = MASSES
    parts = {"body": walker.body.mass} | {f"legs.{name}": leg.mass for name, leg in walker.legs.items()}
    for name, mass in parts.items():
        if not low <= mass <= high:
            yield f"{name}.mass: is {mass:.3g} kg; masses are in kilograms"


def _limits(walker: Walker) -> Iterator[str]:
    for name in ("amplitude", "pace", "spring"):
        most = getattr(walker.limits, name)[1]
        if most > LONG:
            yield f"limits.{name}: up to {most:g} leg lengths; limits are counted in leg lengths, not in metres"
    brief, lasting = walker.limits.period
    if brief < BRIEF or lasting > LASTING:
        yield f"limits.period: from {brief:g} to {lasting:g} s for legs of 1 m; times are in seconds"


def gait_doubts(gait: Gait) -> list[str]:
    return list(_doubts(measure_gait(gait)))


def moods_doubts(moods: Moods) -> list[str]:
    return list(_doubts(moods.measured))


def _doubts(measured: Measured) -> Iterator[str]:
    stretch, fall = float(measured.stretch.max()), float(measured.fall.max())
    if stretch > 0:
        yield f"genes: the legs are {stretch:.2g} m too short for these steps; lower the pace or the stature"
    if fall > GRAVITY:
        yield f"genes: the body would have to be pulled down, at {fall:.3g} m/s²; lower the sway or lengthen the period"


def stature_of(walker: Walker, measured: Measured) -> str:
    """How tall a walker stands when it walks."""
    above = walker.sole + walker.body.height / 2
    low, high = float(measured.low.min()) + above, float(measured.high.max()) + above
    return f"{low:.3g} m tall" if high - low < 0.01 * high else f"{low:.3g} to {high:.3g} m tall"
