"""Find the genes that meet the wishes: by the genetic algorithm of paper 001, or by CMA-ES."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from impel.files import Problem
from impel.gaits.breeding import Breeding
from impel.gaits.encoding import Encoding
from impel.gaits.energy import TERMS, Measured, measure
from impel.gaits.gait import Gait, genes_of, reference
from impel.gaits.walker import Floats, Walker
from impel.gaits.way import measure_walks
from impel.gaits.wishes import Wishes, arrival_order, bounds_for, excesses, fitness
from impel.search.run import search
from impel.search.strategies import CMA, Strategy

ON_TIME = 0.015  # of the time wished for: nearer counts as in time ...
ON_BUDGET = 0.04  # ... and of the energy, as for that much; a walk is promised within 2 and 5 %
GRANTS = 3  # wishes that are tried in place of one that cannot be met
CLOSE = 5e-3  # m, m/s or share of the weight: a limit this close counts as standing in the way


@dataclass
class Generation:
    """The best of one generation, as a row of the paper's tables."""

    number: int
    energy: float
    arrival: float
    fitness: float


@dataclass
class Evolved:
    gait: Gait
    fitness: float
    measured: Measured  # of the best alone
    history: list[Generation] = field(default_factory=list)
    binding: list[str] = field(default_factory=list)  # genes and wishes that stand in the way
    possible: bool = True  # keeps within all limits
    interrupted: bool = False  # cut short by Ctrl-C: the best so far

    @property
    def energy(self) -> float:
        return float(self.measured.energy[0])

    @property
    def seconds(self) -> float:
        return float(self.measured.seconds[0])

    def meets(self, wishes: Wishes) -> bool:
        """Whether time and energy are what was wished for."""
        on_time = wishes.seconds is None or abs(self.seconds / wishes.seconds - 1) <= ON_TIME
        return self.possible and on_time and abs(self.energy / wishes.energy - 1) <= ON_BUDGET


def measure_rows(walker: Walker, wishes: Wishes, rows: Floats) -> Measured:
    """On the way that was wished for, or in full stride."""
    stride = measure(walker, rows, curve=wishes.curve, lame=wishes.lame)
    if wishes.in_full_stride:
        return stride
    walks = measure_walks(
        walker,
        rows,
        distance=wishes.way(walker),
        ground=wishes.ground,
        curve=wishes.curve,
        lame=wishes.lame,
        patience=None if wishes.seconds is None else 2.5 * wishes.seconds,
    )
    for name in (
        "stretch",
        "jump",
    ):  # a short way may end before full stride, but the gait will be taken on longer ones
        np.maximum(getattr(walks, name), getattr(stride, name), out=getattr(walks, name))
    return walks


def evolve(
    walker: Walker,
    wishes: Wishes,
    *,
    generations: int = 20,
    population: int = 1000,
    seed: int = 0,
    strategy: Literal["genetic", "cma"] = "genetic",
    free_delays: bool = False,
    on_generation: Callable[[Generation], None] | None = None,
) -> Evolved:
    """Evolve a gait; raise `Problem` if nothing that could walk was found at all. Ctrl-C keeps the best so far."""
    encoding = Encoding(walker, bounds_for(walker, wishes), curve=wishes.curve, free_delays=free_delays)
    part = wishes.measured_in(walker)
    chosen: Strategy
    if strategy == "genetic":
        chosen = Breeding(encoding.dimension, population=population, seed=seed, categories=encoding.categories)
    else:
        chosen = CMA(*encoding.cube(), seed=seed, population=population)

    def measure_points(points: Floats) -> Measured:
        return measure_rows(walker, wishes, encoding.rows(points))

    # The rivals of the arrival order: a random first generation, of which those whose legs are too short never arrive.
    rivals = measure_points(np.random.default_rng(seed).random((population, encoding.dimension)))
    pool = np.where(rivals.stretch <= 0.0, rivals.seconds, np.inf)
    if not np.isfinite(pool).any():
        raise Problem(f"{walker.name}: none of {population} random gaits keeps its feet within reach of its legs")
    history: list[Generation] = []

    def evaluate(points: Floats) -> Floats:
        measured = measure_points(points)
        scores = fitness(wishes, measured, pool, part=part)
        first = int(np.argmin(scores))
        arrival = float(arrival_order(measured.seconds[first : first + 1], pool)[0])
        history.append(Generation(len(history), float(measured.energy[first]), arrival, float(scores[first])))
        if on_generation is not None:
            on_generation(history[-1])
        return -scores

    outcome = search(chosen, evaluate, budget=(generations + 1) * population)
    best_point, best_score = outcome.best, -outcome.best_value
    final = measure_points(best_point[None])
    row = encoding.rows(best_point[None])[0]
    for name in (*TERMS, "seconds"):
        getattr(final, name)[:] /= part
    seconds = float(final.seconds[0])
    gait = Gait(
        walker=reference(walker),
        curve=wishes.curve,
        energy=float(final.energy[0]),
        seconds=seconds if np.isfinite(seconds) else None,
        distance=None if wishes.in_full_stride else wishes.way(walker),
        lame=wishes.lame,
        genes=genes_of(row),
    )
    binding = encoding.at_limits(best_point)
    over = excesses(wishes, final)
    for name, excess in over.items():
        if excess[0] > 0:
            binding.append(f"{name} overstepped by {excess[0]:.3g}")
        elif excess[0] > -CLOSE:
            binding.append(f"{name} at its limit")
    possible = all(excess[0] <= 0 for excess in over.values())
    return Evolved(gait, best_score, final, history, binding, possible, outcome.interrupted)


def nearest_granted(wishes: Wishes, found: Evolved, search_again: Callable[[Wishes], Evolved]) -> Wishes | None:
    """The wish nearest to one that could not be met that can be: what was found instead, asked for and met."""
    for _ in range(GRANTS):
        if not found.possible:
            return None
        asked = {"energy": float(f"{found.energy:.3g}")}
        if wishes.seconds is not None:
            asked["seconds"] = float(f"{found.seconds:.3g}")
        wishes = wishes.model_copy(update=asked)
        found = search_again(wishes)
        if found.meets(wishes):
            return wishes
    return None
