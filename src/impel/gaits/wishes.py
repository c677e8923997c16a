"""What an animator wants of a gait, and how far a population is from it."""

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from impel.files import Problem
from impel.gaits.energy import DISTANCE, Measured
from impel.gaits.gait import Curve, leg_index
from impel.gaits.ground import Ground, ground_problems
from impel.gaits.walker import Bounds, Finite, Floats, Positive, Walker, _Strict

SMOOTH_JUMP = 0.19  # m/s a tick: 0.2 looks smooth, and a walk may add a little where its ticks fall otherwise
# A limit that is overstepped outweighs any energy that is off: it counts as so many times the energy wished for, or, if
# that is more, the energy of a brisk walk of 1 kg (001, table 3).
HOPELESS = 250.0
BRISK = 400.0


class Wishes(_Strict):
    energy: Positive = Field(description="The energy to spend on the way: little looks tired, much looks brisk.")
    seconds: Positive | None = Field(
        default=None, description="Be there after this time; as soon as possible if not given."
    )
    distance: Positive | None = Field(
        default=None,
        description="How long the way is (m) for which energy and time are meant, from standing to standing; 4 m, or "
        "twice the length of its legs if that is more, if not given.",
    )
    in_full_stride: bool = Field(
        default=False, description="Energy and time are those of full stride, as in paper 001, without start and stop."
    )
    min_height: Finite | None = Field(default=None, description="The body never sinks below this (m).")
    max_height: Positive | None = Field(default=None, description="The body never rises above this (m).")
    min_pace: Positive | None = Field(default=None, description="Steps are at least this long (m).")
    max_pace: Positive | None = Field(default=None, description="Steps are at most this long (m).")
    lame: str | None = Field(default=None, description="The leg to be spared.")
    max_load: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.17, description="The share of the weight that the lame leg may carry, in the mean over time."
    )
    support: Annotated[int, Field(ge=0)] = Field(default=0, description="How many feet are on the ground at any time.")
    max_jump: Positive | None = Field(
        default=None,
        description="How much the body's velocity may change in 1/240 s (m/s); 0.19 for smooth curves if not given.",
    )
    curve: Curve = Field(default="smooth", description="How a foot moves through the air; `paper` lands hard.")
    min_heave: Positive | None = Field(default=None, description="The body rises and sinks by at least this much (m).")
    max_heave: Positive | None = Field(default=None, description="The body rises and sinks by at most this much (m).")
    min_contact: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="The share of its feet that are on the ground, at least, in the mean over time."
    )
    max_contact: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="The share of its feet that are on the ground, at most, in the mean over time."
    )
    ground: Ground = Field(default=Ground(), description="Stairs to climb and obstacles to step over.")

    @model_validator(mode="after")
    def _ranges(self) -> "Wishes":
        for name in ("height", "pace", "heave", "contact"):
            low, high = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if low is not None and high is not None and low > high:
                raise ValueError(f"min_{name}: {low:g} is more than max_{name}, {high:g}")
        return self

    @model_validator(mode="after")
    def _flat_in_full_stride(self) -> "Wishes":
        if self.in_full_stride and not self.ground.flat:
            raise ValueError("in_full_stride: is meant for flat ground; stairs and obstacles are part of a whole walk")
        return self

    def way(self, walker: Walker) -> float:
        """How long the way is for this walker (m)."""
        if self.distance is not None:
            return self.distance
        return DISTANCE if self.in_full_stride else max(DISTANCE, 2.0 * walker.leg_length)

    def measured_in(self, walker: Walker) -> float:
        """Which part of energy and time is measured: all, or in full stride those of `DISTANCE`."""
        return DISTANCE / self.way(walker) if self.in_full_stride else 1.0


def bounds_for(walker: Walker, wishes: Wishes) -> Bounds:
    """The walker's bounds, narrowed by the wishes; raise `Problem` for what no gene can give."""
    legs = list(walker.legs.values())
    bounds, tallest = walker.bounds, walker.tallest
    lines = []
    low, high = bounds.pace
    if wishes.min_pace is not None:
        if wishes.min_pace > high:
            lines.append(f"min_pace: {wishes.min_pace:g} m is beyond reach: {walker.name} steps at most {high:g} m")
        low = max(low, wishes.min_pace)
    if wishes.max_pace is not None:
        if wishes.max_pace < low:
            lines.append(f"max_pace: {wishes.max_pace:g} m is too short: {walker.name} steps at least {low:g} m")
        high = min(high, wishes.max_pace)
    if wishes.min_height is not None and wishes.min_height >= tallest:
        lines.append(
            f"min_height: {wishes.min_height:g} m is beyond reach: {walker.name} stands at most {tallest:g} m tall"
        )
    if wishes.max_height is not None and wishes.max_height <= -max(leg.hip[2] for leg in legs):
        lines.append(f"max_height: {wishes.max_height:g} m would put the hips of {walker.name} in the ground")
    if wishes.support >= len(legs):
        lines.append(
            f"support: {walker.name} has {len(legs)} legs and must lift one, so at most {len(legs) - 1} can stay"
        )
    lines += (f"ground.{line}" for line in ground_problems(wishes.ground, walker))
    if lines:
        raise Problem(*lines)
    leg_index(walker, wishes.lame)
    sway = bounds.sway
    if wishes.lame is not None:  # with more, the body would be pushed over the healthy feet and beyond (notes, 11)
        sway = (min(sway[0], 1.0), min(sway[1], 1.0))
    return bounds._replace(pace=(low, high), sway=sway)


def excesses(wishes: Wishes, measured: Measured) -> dict[str, Floats]:
    """By how much each limit is overstepped, one value per gait; negative: what there is to spare."""
    over = {"reach of the legs": measured.stretch}
    max_jump = wishes.max_jump or (SMOOTH_JUMP if wishes.curve == "smooth" else None)
    if max_jump is not None:
        over["smoothness of the body's motion"] = measured.jump - max_jump
    if wishes.min_height is not None:
        over["min_height"] = wishes.min_height - measured.low
    if wishes.max_height is not None:
        over["max_height"] = measured.high - wishes.max_height
    if wishes.lame is not None:
        over["max_load"] = measured.load - wishes.max_load
    if wishes.min_heave is not None:
        over["min_heave"] = wishes.min_heave - measured.heave
    if wishes.max_heave is not None:
        over["max_heave"] = measured.heave - wishes.max_heave
    if wishes.min_contact is not None:
        over["min_contact"] = wishes.min_contact - measured.contact
    if wishes.max_contact is not None:
        over["max_contact"] = measured.contact - wishes.max_contact
    if wishes.support:  # counted in whole feet, so at the limit means met
        over["support"] = wishes.support - measured.support
    return over


def arrival_order(seconds: Floats, pool: Floats) -> Floats:
    """How many of a fixed pool of rivals arrive earlier. A pool that evolves along would make it a race (notes, 12)."""
    return np.searchsorted(np.sort(pool), seconds, side="left").astype(np.float64)


def fitness(wishes: Wishes, measured: Measured, pool: Floats, *, part: float = 1.0) -> Floats:
    """001, eq. 12, to be minimised; with a time of arrival the distance to it stands in for the order. `part` is what
    was measured of energy and time."""
    energy = wishes.energy * part
    if wishes.seconds is None:
        late = arrival_order(measured.seconds, pool) / len(pool)
    else:
        late = np.abs(measured.seconds / (wishes.seconds * part) - 1.0)
    score = np.abs(energy - measured.energy) + energy * late
    wrong = sum(np.maximum(excess, 0.0) for excess in excesses(wishes, measured).values())
    return np.where(wrong > 0, HOPELESS * max(energy, BRISK) * (1.0 + wrong), score)
