"""Walkers: legged creatures that walk through the scene in a mood, pushing what is in their way."""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from impel.complaints import say
from impel.files import find_beside, name_beside
from impel.scene.values import CHANGES_IN_PLACE, LARGEST, Color, Model, NotNegative, Point, is_number

MOST_WALKERS = 100
MOST_PARTS = 19  # bodies of a walker with six legs
MOST_PATH_POINTS = 1000
MOST_KEYS = 1000  # of a mood, pace, height or limp
LEVEL = 1e-9  # m, by which the points of a path may differ in height

Series = float | list[tuple[float, float]]  # a value, or pairs of time and value


def _series(low: float, high: float, range_: str) -> Any:
    """One value for the whole walk, or [seconds, value] pairs to go through."""

    def check(value: Any) -> Any:
        if _fits(value):
            return float(value)
        pairs = value if isinstance(value, list | tuple) else []
        if not pairs or len(pairs) > MOST_KEYS or not all(map(_pair, pairs)):
            raise ValueError(f"must be a number {range_}, or pairs [[seconds, value], ...] of such numbers")
        if pairs[0][0] < 0 or any(b[0] <= a[0] for a, b in pairwise(pairs)):
            raise ValueError("its times must rise, from 0 on")
        return [(float(time), float(number)) for time, number in pairs]

    def _fits(value: Any) -> bool:
        return is_number(value) and low <= value <= high

    def _pair(pair: Any) -> bool:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not _fits(pair[1]):
            return False
        return is_number(pair[0]) and abs(pair[0]) <= LARGEST

    number = {"type": "number", "minimum": low, "maximum": high}
    pair = {"type": "array", "prefixItems": [{"type": "number", "minimum": 0}, number], "minItems": 2, "maxItems": 2}
    schema = {"anyOf": [number, {"type": "array", "items": pair, "minItems": 1, "maxItems": MOST_KEYS}]}
    return BeforeValidator(check), WithJsonSchema(schema)


Mood = Annotated[Series, *_series(0, 100, "from 0 to 100")]
Share = Annotated[Series, *_series(0, 1, "from 0 to 1")]
Length = Annotated[Series, *_series(1e-3, 1e3, "of metres from 0.001 to 1000")]


class Walker(Model):
    """A creature that walks along a path as its mood tells it, pushes what is in its way, and waits for what is too
    heavy to push."""

    example: ClassVar[str] = "{walker: creature, mood: 40, path: [[0, 0, 0], [4, 0, 0]]}"
    walker: str = Field(
        default="creature",
        min_length=1,
        max_length=1000,
        description="Who walks: creature, biped or hexapod, or a file (.yaml) made by impel gait evolve or library.",
    )
    path: list[Point] = Field(
        min_length=2,
        max_length=MOST_PATH_POINTS,
        description="The places on the ground it walks through, from standing at the first to standing at the last.",
    )
    mood: Mood | None = Field(
        default=None,
        description="How it feels, from exhausted (0) to exuberant (100), or [[seconds, mood], ...] to change it "
        "on the way; left out, 50.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    start: NotNegative = Field(default=0.0, description="When it begins to walk, in seconds; until then it stands.")
    pace: Length | None = Field(
        default=None,
        description="How long its steps are, in metres, or over time; left out, as its mood likes.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    height: Length | None = Field(
        default=None,
        description="How high it carries its body on average, in metres, or over time; left out, as its mood likes.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    lame: str | None = Field(default=None, description="The leg that it spares, by name, such as rear_right.")
    limp: Share | None = Field(
        default=None,
        description="How much it spares the lame leg, from 0 to 1, or over time; left out, 1.",
        json_schema_extra=CHANGES_IN_PLACE,
    )
    pushes: NotNegative | None = Field(
        default=None,
        description="The heaviest thing that it pushes out of its way, in kilograms; it waits for what is heavier, or "
        "fixed, until that is gone. Left out, four times its own weight.",
    )
    color: Color | None = Field(default=None, description='The color of its body in pictures, like "#e4572e".')

    @property
    def from_file(self) -> bool:
        return self.walker.endswith((".yaml", ".yml", ".json"))

    def wishes(self) -> dict[str, Any]:
        """What is wished of the walk itself, in seconds since it began, without what was left out."""
        given = {name: getattr(self, name) for name in ("mood", "pace", "height", "lame", "limp")}
        if self.lame is not None and self.limp is None:
            given["limp"] = 1.0
        for name, wish in given.items():
            if isinstance(wish, list):
                given[name] = [(time - self.start, value) for time, value in wish]
        return {name: wish for name, wish in given.items() if wish is not None}


def find_walkers(walkers: dict[str, Walker], file: str | Path) -> None:
    """Name the files of walkers as seen from here: a scene `file` names them as seen from there."""
    for walker in walkers.values():
        if walker.from_file:
            walker.walker = str(find_beside(file, walker.walker))


def name_walkers(walkers: dict[str, Walker], file: str | Path) -> dict[str, Walker]:
    """Walkers as a scene `file` names them, the reverse of `find_walkers`."""
    return {
        name: walker.model_copy(update={"walker": name_beside(file, walker.walker)}) if walker.from_file else walker
        for name, walker in walkers.items()
    }


def walker_problems(walkers: dict[str, Walker], others: Iterable[str]) -> Iterator[str]:
    """What cannot be right about walkers whose fields each look right; `others` are names they must not take.

    Whether there is such a walker, and whether its legs can do the walk, is found out on the stage, where it walks.
    """
    if len(walkers) > MOST_WALKERS:
        yield f"walkers: must have at most {MOST_WALKERS} entries, got {len(walkers)}"
    taken = set(others)
    for name, walker in walkers.items():
        where = f"walkers.{name}"
        if name in taken:
            yield f"{where}: is the name of a body, or of the world itself; call the walker something else"
        yield from _path(walker.path, f"{where}.path")
        if walker.limp is not None and walker.lame is None:
            yield f"{where}.limp: needs a lame leg; write lame: and its name"


def _path(path: list[Point], where: str) -> Iterator[str]:
    for i, (a, b) in enumerate(pairwise(path), 1):
        if abs(b[2] - path[0][2]) > LEVEL:
            yield f"{where}.{i}: must be as high as the first point, {path[0][2]:g}: the way is level, got {b[2]:g}"
        elif math.dist(a, b) < 0.01:
            yield f"{where}.{i}: must be at least 0.01 m from the point before it, got {say(list(b))}"
