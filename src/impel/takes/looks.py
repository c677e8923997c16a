"""What can be seen of a figure's links and a walker's body, as written: balls, and limbs that may narrow."""

import math
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

DARK, WHITE = "#2b2d42", "#ffffff"

MOST = 1e9  # in any unit: far beyond every figure, and its square and cube can still be computed with
LEAST = 1e-12


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    if abs(value) > MOST:
        raise ValueError(f"must be between {-MOST:g} and {MOST:g}")
    return value


def _positive(value: float) -> float:
    if MOST < value < math.inf:
        raise ValueError(f"must be at most {MOST:g}")
    if not _finite(value) >= LEAST:
        raise ValueError(f"must be at least {LEAST:g}" if value > 0 else "must be greater than 0")
    return value


Number = Annotated[float, AfterValidator(_finite)]
Positive = Annotated[float, AfterValidator(_positive), Field(gt=0)]
NotNegative = Annotated[float, AfterValidator(_finite), Field(ge=0)]
Point = tuple[Number, Number]


class Drawn(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]


class Look(Drawn):
    """Something to be seen on a link or a body: a ball, or a limb between two points. It weighs nothing
    and touches nothing."""

    start: Point = Field(alias="from", description="One end as drawn, in metres; the middle of a ball.")
    end: Point | None = Field(None, alias="to", description="The other end as drawn; a ball if not given.")
    radius: Positive = Field(description="How thick it is, in metres.")
    narrows_to: Positive | None = Field(None, description="How thick it is at the other end; the same if not given.")
    aside: Number = Field(0.0, description="How far it is from the plane of the figure, in metres.")
    both: bool = Field(False, description="Whether there is one on the other side, too.")
    wide: NotNegative = Field(0.0, description="How far it stretches across the plane of the figure, in metres.")
    color: Color | None = Field(None, description="Its colour; that of the link or body if not given.")


def eyes(at: Point, size: float, apart: float = 0.0) -> list[Look]:
    """A pair, each with a pupil that looks ahead and a little up; farther apart if wished."""
    (x, z), look = at, 0.45 * size / math.sqrt(2)
    eye = {"start": at, "radius": 0.6 * size, "aside": 0.6 * size + apart, "color": WHITE}
    pupil = {"start": (x + look, z + look / 2), "radius": 0.36 * size, "aside": 0.75 * size + apart, "color": DARK}
    return [Look.model_validate({**part, "both": True}) for part in (eye, pupil)]
