"""Find the genes that meet the wishes: by the genetic algorithm of paper 001, or by CMA-ES."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from impel.files import Problem
from impel.gaits.breeding import Breeding
from impel.gaits.course import measure_over
from impel.gaits.encoding import Encoding
from impel.gaits.energy import Measured, measure
from impel.gaits.gait import Gait, genes_of
from impel.gaits.mood import Library, Rung
from impel.gaits.walker import Floats, Walker
from impel.gaits.wishes import HOPELESS, Wishes, arrival_order, excesses, fitness, limits_for
from impel.search.run import search
from impel.search.strategies import CMA, Strategy

NEARNESS = 0.1  # how much a step of the slider's ladder is drawn to the one below; enough to keep blends monotone
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

    @property
    def energy(self) -> float:
        return float(self.measured.energy[0])

    @property
    def seconds(self) -> float:
        return float(self.measured.seconds[0])


def measure_rows(walker: Walker, wishes: Wishes, rows: Floats) -> Measured:
    """On the ground that was wished for."""
    if wishes.ground.flat:
        return measure(walker, rows, curve=wishes.curve, lame=wishes.lame)
    return measure_over(walker, rows, wishes.ground, distance=wishes.distance, curve=wishes.curve, lame=wishes.lame)


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
    """Evolve a gait; raise `Problem` if nothing that could walk was found at all."""
    encoding = Encoding(walker, limits_for(walker, wishes), free_delays=free_delays)
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
        scores = fitness(wishes, measured, pool)
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
    gait = Gait(
        walker=walker.name, curve=wishes.curve, energy=float(final.energy[0]), lame=wishes.lame, genes=genes_of(row)
    )
    binding = encoding.at_limits(best_point)
    for name, excess in excesses(wishes, final).items():
        if excess[0] > 0:
            binding.append(f"{name} overstepped by {excess[0]:.3g}")
        elif excess[0] > -CLOSE:
            binding.append(f"{name} at its limit")
    return Evolved(gait, best_score, final, history, binding)


def evolve_library(walker: Walker, order: Sequence[int], ladder: Sequence[Wishes], *, seed: int = 0) -> Library:
    """Gaits for wishes of rising energy, all in one order of the feet and each near the one before, to be blended."""
    one_order = walker.model_copy(update={"orders": [list(order)]})
    rungs = []
    below: Floats | None = None
    for wishes in ladder:
        encoding = Encoding(one_order, limits_for(one_order, wishes))
        below = _next_rung(one_order, wishes, encoding, below, seed)
        rungs.append(Rung(wishes=wishes, genes=genes_of(encoding.rows(below[None])[0])))
    return Library(walker=walker.name, curve=ladder[0].curve, order=list(order), gaits=rungs)


def _next_rung(walker: Walker, wishes: Wishes, encoding: Encoding, below: Floats | None, seed: int) -> Floats:
    def evaluate(points: Floats) -> Floats:
        measured = measure_rows(walker, wishes, encoding.rows(points))
        scores = fitness(wishes, measured, measured.seconds) / wishes.energy_per_distance
        if below is not None:
            scores += NEARNESS * np.square(points - below)[:, :-1].sum(axis=1)
        return -scores

    spread = 0.3 if below is None else 0.05
    strategy = CMA(*encoding.cube(), seed=seed, population=40, start=below, spread=spread)
    outcome = search(strategy, evaluate, budget=6000)
    if -outcome.best_value * wishes.energy_per_distance >= HOPELESS:
        raise Problem(f"{walker.name}: found no gait of energy {wishes.energy:g} that keeps within all limits")
    return outcome.best
