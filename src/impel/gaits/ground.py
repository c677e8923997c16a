"""The ground along the way: flat, with stairs to climb and obstacles to step over.

Heights change along the way only, so a point of the ground is how far along it lies. The kernels see a table of
edges: from edges[k, 0] on the ground is edges[k, 1] high, and a foot may stand there if edges[k, 2] is 1.
"""

import itertools
import math
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from impel.gaits.walker import Finite, Floats, Positive, _Strict
from impel.kernel import kernel

CLEARANCE = 0.03  # m between a swinging foot and what it passes
PASSING = 0.05  # m before and behind an edge in which a foot must already, or still, be above it
MARGIN = 0.15  # m that a foot keeps from an edge when it lands, so that it can rise before it passes the edge


class Stairs(_Strict):
    start: Finite = Field(description="How far along the way the first step begins (m).")
    rise: Finite = Field(description="How high each step is (m); negative goes down.")
    tread: Positive = Field(description="How deep each step is (m).")
    steps: Annotated[int, Field(ge=1, le=1000)] = Field(description="How many steps.")

    @model_validator(mode="after")
    def _room_for_a_foot(self) -> "Stairs":
        if self.tread < 2.5 * MARGIN:
            raise ValueError(f"tread: must be at least {2.5 * MARGIN:g} to stand on, got {self.tread:g}")
        return self


class Obstacle(_Strict):
    start: Finite = Field(description="How far along the way it begins (m).")
    length: Positive = Field(description="How long it is along the way (m).")
    height: Positive = Field(description="How high it is (m).")


class Ground(_Strict):
    stairs: tuple[Stairs, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def flat(self) -> bool:
        return not self.stairs and not self.obstacles

    def rises(self) -> list[tuple[str, float]]:
        """What a leg must get over, with its field."""
        return [(f"stairs.{k}.rise", abs(s.rise)) for k, s in enumerate(self.stairs)] + [
            (f"obstacles.{k}.height", o.height) for k, o in enumerate(self.obstacles)
        ]

    @model_validator(mode="after")
    def _one_after_the_other(self) -> "Ground":
        spans = [(s.start, s.start + s.tread * s.steps, f"stairs.{k}") for k, s in enumerate(self.stairs)]
        spans += [(o.start, o.start + o.length, f"obstacles.{k}") for k, o in enumerate(self.obstacles)]
        spans.sort()
        for (_, end, first), (start, _, second) in itertools.pairwise(spans):
            if start < end + 2 * MARGIN:
                raise ValueError(f"{second}.start: must lie behind {first}, which ends at {end:g}, got {start:g}")
        return self

    def edges(self) -> Floats:
        """The table for the kernels, (K, 3)."""
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


@kernel(inline=True)
def piece_at(edges, x):
    """Which piece of the ground lies at x."""
    k = 0
    while k + 1 < edges.shape[0] and edges[k + 1, 0] <= x:
        k += 1
    return k


@kernel(inline=True)
def foothold(edges, x):
    """Where a foot that would land at x does land: off every obstacle, and not on an edge."""
    k = piece_at(edges, x)
    after = edges[k + 1, 0] if k + 1 < edges.shape[0] else np.inf
    if edges[k, 2] == 1.0:
        return max(edges[k, 0] + MARGIN, min(x, after - MARGIN))
    if x - edges[k, 0] < after - x:
        return edges[k, 0] - MARGIN
    return after + MARGIN
