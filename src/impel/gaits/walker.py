"""A walker as data: a body on two, four or six legs of two segments, and what its genes may be.

The world's z is up and a walker faces +x; lengths in metres, masses in kilograms, times in seconds.
"""

import itertools
import math
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from impel.complaints import validated
from impel.files import Problem, read_document
from impel.kernel import Floats2, struct
from impel.takes.looks import Look

Floats = NDArray[np.float64]

BUILT_IN = Path(__file__).parent / "walkers"

FOOT = 1.25  # radius of a foot, in thicknesses of the leg
STANCE = 0.85  # leg lengths from hip to foot: the usual stance, with room to spare (the creature of paper 001)
THICKNESS = 0.03  # radius of a leg, in leg lengths
# Orders of six feet, first the left ones from the front to the back, then the right ones: tripods, a ripple, a wave.
INSECTS = ((0, 1, 0, 1, 0, 1), (0, 2, 1, 1, 0, 2), (2, 1, 0, 5, 4, 3))
LEAST_BEND = math.radians(1)  # between the knee's direction and the leg at rest, else any swing turns the knee about

FARTHEST = 1e6  # m, s or kg: more was not meant
Finite = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Range = tuple[Finite, Finite]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Leg(_Strict):
    hip: tuple[Finite, Finite, Finite] = Field(description="Where the leg joins the body, from the body's centre.")
    foot: tuple[Finite, Finite] = Field(description="Where the foot rests on the ground, from below the body's centre.")
    upper: Positive = Field(description="Length from hip to knee.")
    lower: Positive = Field(description="Length from knee to foot.")
    mass: Positive = Field(default=1.0, description="What it costs to lift the leg.")
    knee: tuple[Finite, Finite, Finite] | None = Field(
        default=None, description="The direction in which the knee points; up and outward (or ahead) if not given."
    )

    @property
    def length(self) -> float:
        return self.upper + self.lower

    @property
    def spread(self) -> float:
        """How far the resting foot stands beside its hip, seen from above."""
        return math.hypot(self.foot[0] - self.hip[0], self.foot[1] - self.hip[1])

    @property
    def pole(self) -> tuple[float, float, float]:
        if self.knee is not None:
            return self.knee
        outward = next((way for way in (self.hip[:2], self.foot) if any(way)), (1.0, 0.0))
        out = math.hypot(*outward)
        return outward[0] / out, outward[1] / out, 1.0

    def bend(self, stance: float) -> float:
        """The angle between the knee's direction and the leg, as it rests (rad): at 0 or π the knee is nowhere."""
        down = math.sqrt(stance**2 - self.spread**2)
        leg = np.array([self.foot[0] - self.hip[0], self.foot[1] - self.hip[1], -down])
        return math.atan2(float(np.linalg.norm(np.cross(leg, self.pole))), float(leg @ self.pole))


class Body(_Strict):
    shape: dict[str, Any] = Field(description="The body's shape, as in a scene: a sphere or a box.")
    mass: Positive = Field(default=1.0, description="How heavy it is (kg): what its legs carry.")
    color: str = Field(default="#e4572e", pattern="^#[0-9a-fA-F]{6}$", description="Colour of the body.")

    @field_validator("shape")
    @classmethod
    def _known(cls, shape: dict[str, Any]) -> dict[str, Any]:
        match shape:
            case {"sphere": radius} if _is_size(radius) and len(shape) == 1:
                return shape
            case {"box": [*sides]} if len(sides) == 3 and all(_is_size(side) for side in sides) and len(shape) == 1:
                return shape
        raise ValueError("must be {sphere: radius} or {box: [x, y, z]} with positive sizes")

    @property
    def reach(self) -> float:
        """How far it reaches from its middle (m)."""
        return float(self.shape["sphere"] if "sphere" in self.shape else math.hypot(*self.shape["box"]) / 2)

    @property
    def height(self) -> float:
        """From its lowest place to its highest (m)."""
        return float(2 * self.shape["sphere"] if "sphere" in self.shape else self.shape["box"][2])

    def depth(self, beside: Floats) -> Floats:
        """How far below its centre the body reaches, that far ahead of or behind it; -inf where it does not."""
        if "sphere" in self.shape:
            inside = self.shape["sphere"] ** 2 - beside**2
            return np.where(inside >= 0, np.sqrt(np.maximum(inside, 0.0)), -np.inf)
        return np.where(beside <= self.shape["box"][0] / 2, self.shape["box"][2] / 2, -np.inf)


def _is_size(value: Any) -> bool:
    return isinstance(value, int | float) and 0 < value <= FARTHEST


class Limits(_Strict):
    """Between which values each gene may lie, by the length of the legs. The defaults are of paper 001's creature."""

    amplitude: Range = Field(default=(0.05, 0.5), description="How high a foot is lifted, in leg lengths.")
    pace: Range = Field(default=(0.15, 1.3), description="How far a foot is carried in one step, in leg lengths.")
    period: Range = Field(
        default=(0.25 / math.sqrt(2), 400 / 240 / math.sqrt(2)),
        description="How long one foot is in the air, in seconds if legs were 1 m long: legs four times as long take "
        "twice the time.",
    )
    sway: Range = Field(default=(0.0, 1.5), description="How far the body leans away from lifted feet.")
    stature: Range = Field(default=(0.6, 1.05), description="How tall it stands on its legs, 1 being its usual stance.")
    spring: Range = Field(
        default=(0.003, 0.09), description="How far its legs give under its weight, like springs, in leg lengths."
    )
    spacing: Range = Field(
        default=None,  # type: ignore[assignment]
        description="Time between one foot's lift and the next one's, in periods; 0.4 to 1, or 1 to 1.6 for two or six "
        "legs, if not given.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> "Limits":
        for name, (low, high) in ((name, limits) for name, limits in self if limits is not None):
            if not 0 <= low <= high or (low == 0 and name in ("pace", "period", "stature", "spacing")):
                raise ValueError(
                    f"{name}: must be two positive numbers, the smaller one first, got {low:g} and {high:g}"
                )
        return self


class Bounds(NamedTuple):
    """Between which values the genes of one walker may lie, in metres and seconds."""

    amplitude: Range
    pace: Range
    period: Range
    sway: Range
    stature: Range
    spring: Range
    spacing: Range


class Walker(_Strict):
    name: str = Field(min_length=1, description="What it is called.")
    body: Body = Field(description="What its legs carry.")
    legs: dict[str, Leg] = Field(description="Two, four or six legs by name, in the order in which genes list them.")
    stance: Positive = Field(
        default=None,  # type: ignore[assignment]
        description="How far the foot is from the hip when the walker stands at stature 1; 0.85 of the shortest leg if "
        "not given.",
    )
    thickness: Positive = Field(
        default=None,  # type: ignore[assignment]
        description="Radius of the legs, for drawing and for bumping into things; 0.03 of their length if not given.",
    )
    color: str = Field(default="#33658a", pattern="^#[0-9a-fA-F]{6}$", description="Colour of the legs.")
    looks: list[Look] | None = Field(
        default=None,
        max_length=40,
        description="What is seen of its body, from its centre, x ahead and z up; a body with a face if not given, "
        "with [] the plain shapes that bump.",
    )
    limits: Limits = Field(
        default_factory=lambda: Limits.model_validate({}),
        description="Between which values its genes may lie, in leg lengths; those of paper 001 if not given.",
    )
    orders: list[list[Annotated[int, Field(ge=0)]]] | None = Field(
        default=None,
        description="In which orders the feet may be lifted, one place per leg; if not given, any order for two or "
        "four legs, those of insects for six.",
    )
    rhythm: Literal["paper", "even"] = Field(
        default=None,  # type: ignore[arg-type]
        description="`paper`: the next cycle begins when the last foot lands; `even`: lifts follow each other evenly. "
        "As in the paper for four legs, else even, if not given.",
    )

    @field_validator("legs")
    @classmethod
    def _leg_count(cls, legs: dict[str, Leg]) -> dict[str, Leg]:
        if len(legs) not in (2, 4, 6):
            raise ValueError(f"a walker has 2, 4 or 6 legs, got {len(legs)}")
        return legs

    @model_validator(mode="after")
    def _complete(self) -> "Walker":
        """What was left out follows from the legs."""
        four = len(self.legs) == 4
        left_out = {
            "stance": STANCE * min(leg.length for leg in self.legs.values()),
            "thickness": THICKNESS * self.leg_length,
            "rhythm": "paper" if four else "even",
        }
        self.__dict__.update({name: value for name, value in left_out.items() if getattr(self, name) is None})
        if self.limits.spacing is None:
            spacing = (0.4, 1.0) if four else (1.0, 1.6)
            self.__dict__["limits"] = self.limits.model_copy(update={"spacing": spacing})
        return self

    @model_validator(mode="after")
    def _possible(self) -> "Walker":
        for name, leg in self.legs.items():
            length = leg.length
            if self.stance > length:
                raise ValueError(
                    f"legs.{name}: too short: upper and lower make {length:g}, the stance needs {self.stance:g}"
                )
            if leg.spread >= self.stance:
                raise ValueError(
                    f"legs.{name}.foot: too far out: rests {leg.spread:.3g} beside its hip, "
                    f"must be less than the stance, {self.stance:g}"
                )
            lowest = math.hypot(leg.spread, self.limits.stature[0] * math.sqrt(self.stance**2 - leg.spread**2))
            if lowest < abs(leg.upper - leg.lower):
                raise ValueError(f"legs.{name}: upper and lower differ too much for the leg to fold to {lowest:.3g}")
            if leg.knee is not None and not any(leg.knee):
                raise ValueError(f"legs.{name}.knee: must point somewhere, got [0, 0, 0]")
            if not LEAST_BEND < leg.bend(self.stance) < math.pi - LEAST_BEND:
                raise ValueError(
                    f"legs.{name}.knee: must point away from the line from hip to foot, got {list(leg.pole)}"
                )
        for order in self.orders or []:
            if len(order) != len(self.legs) or set(order) != set(range(max(order, default=0) + 1)):
                raise ValueError(f"orders: each needs {len(self.legs)} places counted from 0 without gaps, got {order}")
        if self.orders == []:
            raise ValueError("orders: must hold at least one order")
        if self.rhythm == "even":
            for choice in self.all_orders():
                if (max(choice) + 1) * self.limits.spacing[0] < 1.0:
                    raise ValueError(
                        f"limits.spacing: {self.limits.spacing[0]:g} lets a foot lift again before it has landed; "
                        f"must be at least {1 / (max(choice) + 1):.3g} for order {list(choice)}"
                    )
        return self

    @property
    def leg_length(self) -> float:
        """By which everything about a walker is measured: that of its legs, in the mean (m)."""
        return sum(leg.length for leg in self.legs.values()) / len(self.legs)

    @property
    def size(self) -> float:
        """By which it needs room to turn: its legs, or how far its feet are from its middle if that is more (m)."""
        return max(self.leg_length, *(math.hypot(*leg.foot) for leg in self.legs.values()))

    @property
    def tallest(self) -> float:
        """How high its body can be at most (m)."""
        legs = self.legs.values()
        return max(leg.length for leg in legs) - min(leg.hip[2] for leg in legs)

    @property
    def bounds(self) -> Bounds:
        limits, length = self.limits, self.leg_length
        units = {"amplitude": length, "pace": length, "spring": length, "period": math.sqrt(length)}
        ranges = ((units.get(name, 1.0), getattr(limits, name)) for name in Bounds._fields)
        return Bounds(*((unit * low, unit * high) for unit, (low, high) in ranges))

    @property
    def sole(self) -> float:
        """Radius of a foot (m): its centre is this far above the ground."""
        return FOOT * self.thickness

    def all_orders(self) -> list[tuple[int, ...]]:
        if self.orders is not None:
            return [tuple(order) for order in self.orders]
        left, right = self._sides()
        if len(left) == len(right) == 3:
            placed = left + right
            return [tuple(order[placed.index(leg)] for leg in self.legs) for order in INSECTS]
        return list(itertools.permutations(range(len(self.legs))))

    def _sides(self) -> tuple[list[str], list[str]]:
        """The legs on the left and on the right, from the front to the back."""
        placed = sorted(self.legs, key=lambda name: -self.legs[name].foot[0])
        left = [name for name in placed if self.legs[name].foot[1] > 0]
        return left, [name for name in placed if name not in left]


@struct
class Rig:
    """A walker as flat arrays, one row per leg, for the kernels."""

    hip: Floats2  # (n, 3)
    rest: Floats2  # (n, 2)
    length: Floats2  # (n, 2) upper, lower
    pole: Floats2  # (n, 3)
    leg_mass: Floats  # (n,)
    spread: Floats  # (n,) of the resting foot beside its hip, squared
    body_mass: float
    stance: float
    unit: float  # m: half a leg, which is 1 for the creature of paper 001
    grip: tuple[float, float]  # m²: how far ahead and aside legs hold the body against pitch and roll, squared


# A hip holds the body a little also where it has no lever: two legs side by side do not let it fall on its nose.
HIP = 0.2  # leg lengths


def rig_of(walker: Walker) -> Rig:
    legs = list(walker.legs.values())
    hip = np.array([leg.hip for leg in legs])
    ahead, aside = (hip[:, :2] ** 2).mean(axis=0) + (HIP * walker.leg_length) ** 2
    return Rig(
        hip,
        np.array([leg.foot for leg in legs]),
        np.array([(leg.upper, leg.lower) for leg in legs]),
        np.array([leg.pole for leg in legs]),
        np.array([leg.mass for leg in legs]),
        np.array([leg.spread**2 for leg in legs]),
        walker.body.mass,
        walker.stance,
        walker.leg_length / 2,
        (float(ahead), float(aside)),
    )


def load_walker(name: str) -> Walker:
    """A built-in walker by name, or a walker file by path."""
    if name in walker_names():
        return _built_in(name)
    if not name.endswith((".yaml", ".yml", ".json")):
        raise Problem(f"{name}: no such walker; built in are {', '.join(walker_names())}, or give a .yaml file")
    return _read(Path(name), name)


@lru_cache
def _built_in(name: str) -> Walker:
    return _read(BUILT_IN / f"{name}.yaml", name)


def _read(path: Path, subject: str) -> Walker:
    document = read_document(path)
    if not isinstance(document, dict):
        raise Problem(f"{subject}: expected a walker: name, body and legs")
    return validated(Walker, document, subject)


def walker_names() -> list[str]:
    return sorted(path.stem for path in BUILT_IN.glob("*.yaml"))
