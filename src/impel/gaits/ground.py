"""The ground: flat, with stairs to climb and obstacles to step over.

What is higher than the rest are upright boxes, wherever they stand. The kernels see a table of surfaces, one a row, of
which the highest counts; the first is the ground itself, without an end.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from impel.gaits.route import Route, place_on
from impel.gaits.walker import Finite, Floats, Positive, Walker, _Strict
from impel.kernel import kernel

# In halves of a leg:
CLEARANCE = 0.03  # between a swinging foot and what it passes
PASSING = 0.05  # before and behind an edge, in which a foot must already, or still, be above it
MARGIN = 0.15  # that a foot keeps from an edge when it lands, so that it can rise before it passes the edge
TREAD = 2.5 * MARGIN  # the least that it can stand on
WIDTH = 4.0  # of stairs and obstacles, which go across the whole way
PIECE = 1.0  # of what goes on along a curved way

X, Y, COSINE, SINE, HALF_LENGTH, HALF_WIDTH, TOP, STANDS = range(8)  # of a surface; STANDS: 1 if a foot may stand on it
_TRIES = 64  # places that a foot tries, each way, to find one that it can stand on


class Stairs(_Strict):
    start: Finite = Field(description="How far along the way the first step begins (m).")
    rise: Finite = Field(description="How high each step is (m); negative goes down.")
    tread: Positive = Field(description="How deep each step is (m).")
    steps: Annotated[int, Field(ge=1, le=1000)] = Field(description="How many steps.")


class Obstacle(_Strict):
    start: Finite = Field(description="How far along the way it begins (m).")
    length: Positive = Field(description="How long it is along the way (m).")
    height: Positive = Field(description="How high it is (m).")


class Ground(_Strict):
    stairs: tuple[Stairs, ...] = Field(default=(), description="Flights of stairs to climb.")
    obstacles: tuple[Obstacle, ...] = Field(default=(), description="Things to step over.")

    @property
    def flat(self) -> bool:
        return not self.stairs and not self.obstacles

    @model_validator(mode="after")
    def _one_after_the_other(self) -> "Ground":
        spans = [(s.start, s.start + s.tread * s.steps, f"stairs.{k}") for k, s in enumerate(self.stairs)]
        spans += [(o.start, o.start + o.length, f"obstacles.{k}") for k, o in enumerate(self.obstacles)]
        spans.sort()
        for (_, end, first), (start, _, second) in itertools.pairwise(spans):
            if start < end:
                raise ValueError(f"{second}.start: must lie behind {first}, which ends at {end:g}, got {start:g}")
        return self

    def edges(self) -> Floats:
        """How high it is along the way, and whether a foot may stand there: (K, 3), from edges[k, 0] metres on."""
        things = [(s.start, s) for s in self.stairs] + [(o.start, o) for o in self.obstacles]
        level = 0.0
        table = [(-math.inf, 0.0, 1.0)]
        for start, thing in sorted(things, key=lambda pair: pair[0]):
            if isinstance(thing, Stairs):
                for k in range(thing.steps):
                    level += thing.rise
                    table.append((start + k * thing.tread, level, 1.0))
            else:
                table.append((start, level + thing.height, 0.0))
                table.append((start + thing.length, level, 1.0))
        return np.array(table)

    def surfaces(self, route: Route, unit: float) -> Floats:
        """The table for the kernels, (K, 8), on this way for a walker whose legs are 2 `unit` long."""
        edges = self.edges()
        bottom = float(edges[:, 1].min())
        rows: list[tuple[float, ...]] = [(0.0, 0.0, 1.0, 0.0, math.inf, math.inf, bottom, 1.0)]
        starts = np.append(edges[:, 0], max(float(edges[-1, 0]), route.length) + WIDTH * unit)
        starts[0] = min(float(starts[1]), 0.0) - WIDTH * unit
        for k, (top, stands) in enumerate(edges[:, 1:]):
            if top > bottom:
                below = [0 <= j < len(edges) and edges[j, 1] >= top for j in (k - 1, k + 1)]
                rows += _along(route, float(starts[k]), float(starts[k + 1]), below, unit, float(top), float(stands))
        return np.array(rows)


def ground_problems(ground: Ground, walker: Walker) -> Iterator[str]:
    """What a walker can neither climb, nor step over, nor stand on, one line each."""
    longest = max(leg.length for leg in walker.legs.values())
    least = TREAD * walker.leg_length / 2
    rises = [(f"stairs.{k}.rise", abs(s.rise)) for k, s in enumerate(ground.stairs)]
    rises += [(f"obstacles.{k}.height", o.height) for k, o in enumerate(ground.obstacles)]
    for what, height in rises:
        if height >= longest:
            yield f"{what}: must be less than the leg of {walker.name}, {longest:g} m, got {height:g}"
    for k, stairs in enumerate(ground.stairs):
        if stairs.tread < least:
            yield f"stairs.{k}.tread: must be at least {least:.3g} for {walker.name} to stand on, got {stairs.tread:g}"


def _along(
    route: Route, start: float, end: float, below: list[bool], unit: float, top: float, stands: float
) -> list[tuple[float, ...]]:
    """One surface along the way as boxes, several if the way is curved. Those that end below others, or where the same
    surface goes on, reach a little under them, so that no gap opens where the way turns."""
    count = 1 if route.straight else max(1, math.ceil((end - start) / (PIECE * unit)))
    cuts = np.linspace(start, end, count + 1)
    rows: list[tuple[float, ...]] = []
    for j, (a, b) in enumerate(itertools.pairwise(cuts)):
        hidden = below[0] or j > 0, below[1] or j < count - 1
        turn = abs(place_on(route, float(b))[2] - place_on(route, float(a))[2])
        under = WIDTH / 2 * unit * math.tan(min(turn, 1.0))
        a, b = a - under * hidden[0], b + under * hidden[1]
        x, y, heading, _ = place_on(route, (a + b) / 2)
        rows.append((x, y, math.cos(heading), math.sin(heading), (b - a) / 2, WIDTH / 2 * unit, top, stands))
    return rows


@kernel
def surface_at(surfaces, x, y):
    """The highest surface at a place."""
    best = 0
    for k in range(1, surfaces.shape[0]):
        row = surfaces[k]
        if row[TOP] > surfaces[best, TOP]:
            dx, dy = x - row[X], y - row[Y]
            ahead = row[COSINE] * dx + row[SINE] * dy
            aside = row[COSINE] * dy - row[SINE] * dx
            if abs(ahead) <= row[HALF_LENGTH] and abs(aside) <= row[HALF_WIDTH]:
                best = k
    return best


@kernel
def _can_stand(surfaces, x, y, cosine, sine, margin):
    """Whether a foot may stand there: off every obstacle, and not on an edge."""
    k = surface_at(surfaces, x, y)
    if surfaces[k, STANDS] == 0.0:
        return False
    for ahead, aside in ((1.0, 0.0), (-1.0, 0.0), (0.0, 0.5), (0.0, -0.5)):
        dx = margin * (ahead * cosine - aside * sine)
        dy = margin * (ahead * sine + aside * cosine)
        if surfaces[surface_at(surfaces, x + dx, y + dy), TOP] != surfaces[k, TOP]:
            return False
    return True


@kernel
def foothold(surfaces, x, y, cosine, sine, margin):
    """How far ahead (or behind) of a place a foot finds the nearest one to stand on; 0 if there is none near."""
    for k in range(_TRIES):
        off = k * margin / 8.0
        for ahead in (off, -off):
            if _can_stand(surfaces, x + ahead * cosine, y + ahead * sine, cosine, sine, margin):
                return ahead
    return 0.0
