"""A gait: the genes by which a walker walks, as a file that a person can edit.

For the kernels a gait is one row of numbers: amplitude, pace, period, sway, stature, spring, cycle (in periods), then
one delay per leg (in periods). A foot is in the air for one period, then stays planted for the rest of the cycle, and
each cycle carries the walker one pace.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from impel.complaints import plain_lines, validated
from impel.files import Problem, find_beside, name_beside, read_document, write_document
from impel.gaits.walker import Floats, Positive, Walker, _Strict, load_walker, walker_names

TICK = 1 / 240  # s; energies are summed and walks are computed at this rate (notes to paper 001)

AMPLITUDE, PACE, PERIOD, SWAY, STATURE, SPRING, CYCLE, DELAYS = range(8)  # columns of a row

Curve = Literal["smooth", "paper"]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Genes(_Strict):
    amplitude: Positive = Field(description="How high a foot is lifted (m).")
    pace: Positive = Field(description="How far a foot is carried in one step (m).")
    period: Positive = Field(description="How long one foot is in the air (s).")
    sway: NotNegative = Field(description="How far the body leans away from lifted feet.")
    stature: Positive = Field(description="How tall it stands on its legs, 1 being its usual stance.")
    spring: NotNegative = Field(
        default=0.0, description="How far its legs give under its weight, like springs (m); 0 is stiff."
    )
    delays: list[NotNegative] = Field(description="When each foot is lifted, in periods from the start of the cycle.")
    cycle: Positive | None = Field(
        default=None, description="How long the cycle lasts, in periods; until the last foot has landed if not given."
    )

    @model_validator(mode="after")
    def _cycle_long_enough(self) -> "Genes":
        if self.cycle is not None and self.cycle < 1:
            raise ValueError(f"cycle: must be at least 1 period, got {self.cycle:g}")
        if self.cycle is not None and self.delays and max(self.delays) >= self.cycle:
            raise ValueError(f"delays: must be shorter than the cycle, {self.cycle:g}, got {max(self.delays):g}")
        return self

    def row(self) -> Floats:
        cycle = self.cycle if self.cycle is not None else 1.0 + max(self.delays)
        reals = (self.amplitude, self.pace, self.period, self.sway, self.stature, self.spring)
        return np.array([*reals, cycle, *self.delays])


def _whose(value: Any) -> Any:
    """Complains about a walker in its own words, where a choice of types would complain about each."""
    if isinstance(value, dict):
        try:
            return Walker.model_validate(value)
        except ValidationError as error:
            raise ValueError("; ".join(line.removeprefix(": ") for line in plain_lines(error, Walker))) from None
    if not isinstance(value, str | Walker):
        raise ValueError("must be a walker's name, a walker file or a walker itself")
    return value


WhoseGait = Annotated[
    str | Walker,
    BeforeValidator(_whose),
    Field(description="A built-in walker's name, a walker file, or the walker itself."),
]


class Gait(_Strict):
    """In a file, the walker's file is named as seen from there; in Python, as seen from the current directory."""

    walker: WhoseGait
    curve: Curve = Field(default="smooth", description="How a foot moves through the air; `paper` lands hard.")
    energy: NotNegative | None = Field(default=None, description="What walking that way costs; the mood.")
    seconds: Positive | None = Field(
        default=None, description="How long walking that way takes, from standing to standing."
    )
    distance: Positive | None = Field(
        default=None, description="How long that way is (m); 4 m in full stride if not given."
    )
    lame: str | None = Field(default=None, description="The leg that it spares, if any.")
    genes: Genes = Field(description="How it walks.")

    def load_walker(self) -> Walker:
        walker = walker_of(self.walker)
        if len(self.genes.delays) != len(walker.legs):
            raise Problem(
                f"genes.delays: {walker.name} has {len(walker.legs)} legs, got {len(self.genes.delays)} delays"
            )
        return walker


def genes_of(row: Floats) -> Genes:
    """The genes written in a kernel's row."""
    values = [float(v) for v in row]
    delays = values[DELAYS:]
    whole = abs(values[CYCLE] - 1.0 - max(delays)) < 1e-12
    return Genes(
        amplitude=values[AMPLITUDE],
        pace=values[PACE],
        period=values[PERIOD],
        sway=values[SWAY],
        stature=values[STATURE],
        spring=values[SPRING],
        delays=delays,
        cycle=None if whole else values[CYCLE],
    )


def walker_of(who: str | Walker) -> Walker:
    return load_walker(who) if isinstance(who, str) else who


def reference(walker: Walker) -> str | Walker:
    """What stands for a walker in a gait: its name if it is built in, else itself."""
    return walker.name if walker.name in walker_names() and load_walker(walker.name) == walker else walker


def leg_index(walker: Walker, leg: str | None) -> int:
    """The place of a leg by its name; -1 for none."""
    if leg is None:
        return -1
    names = list(walker.legs)
    if leg not in names:
        raise Problem(f"lame: {walker.name} has no leg {leg!r}; its legs are {', '.join(names)}")
    return names.index(leg)


def load_gait(path: str | Path) -> Gait:
    gait = validated(Gait, with_file_found(path, read_document(path)), str(path))
    try:
        leg_index(gait.load_walker(), gait.lame)
    except Problem as problem:
        raise Problem(*(f"{path}: {line}" for line in problem.lines)) from None
    return gait


def save_gait(path: str | Path, gait: Gait) -> None:
    write_document(path, with_file_named(path, gait.model_dump(exclude_none=True, by_alias=True)))


def with_file_named(path: str | Path, document: dict[str, Any]) -> dict[str, Any]:
    """A gait's document as it is to stand at `path`, with its walker's file named as seen from there."""
    if _is_file(document["walker"]):
        return {**document, "walker": name_beside(path, document["walker"])}
    return document


def with_file_found(path: str | Path, document: Any) -> Any:
    """A gait's document as read from `path`, with its walker's file named as seen from here."""
    if isinstance(document, dict) and _is_file(document.get("walker")):
        return {**document, "walker": str(find_beside(path, document["walker"]))}
    return document


def _is_file(who: Any) -> bool:
    return isinstance(who, str) and who not in walker_names() and who.endswith((".yaml", ".yml", ".json"))


def _published(amplitude: float, pace: float, ticks: float, sway: float, stature: float, *delays: float) -> Genes:
    return Genes(amplitude=amplitude, pace=pace, period=ticks * TICK, sway=sway, stature=stature, delays=list(delays))


# The genes that paper 001 prints, by what they were evolved for.
PUBLISHED = {
    "tired": Gait(
        walker="creature",
        curve="paper",
        energy=30,
        genes=_published(0.239, 2.545, 329, 0.520, 0.669, 1.23, 0.00, 0.82, 0.41),
    ),  # table 2
    "brisk": Gait(
        walker="creature",
        curve="paper",
        energy=400,
        genes=_published(0.712, 1.443, 114, 1.284, 0.936, 2.58, 1.72, 0.00, 0.86),
    ),  # table 3
    "limping": Gait(
        walker="creature",
        curve="paper",
        energy=100,
        lame="rear_right",
        genes=_published(0.483, 1.60, 66, 1.000, 1.019, 1.53, 0.52, 2.51, 0.00),
    ),  # table 4
}
