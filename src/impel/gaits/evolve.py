"""Find the genes that meet the wishes: the genetic algorithm of paper 001, or CMA-ES, behind the same ask and tell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from impel.files import Problem
from impel.gaits.encoding import Encoding
from impel.gaits.energy import Measured, measure
from impel.gaits.gait import Gait, genes_of
from impel.gaits.course import measure_over
from impel.gaits.mood import Library, Rung
from impel.gaits.walker import Floats, Walker
from impel.gaits.wishes import HOPELESS, Wishes, arrival_order, excesses, fitness, limits_for


NEARNESS = 0.1  # how much a step of the slider's ladder is drawn to the one below; enough to keep blends monotone
CLOSE = 5e-3  # m, m/s or share of the weight: a limit this close counts as standing in the way


class Strategy(Protocol):
    def ask(self) -> Floats: ...

    def tell(self, proposals: Floats, scores: Floats) -> None: ...


class Genetic:
    """Reproduction, crossover and mutation of points of the unit cube; lower scores are better.

    The trailing `categories` columns name choices: a child has them from one parent, or mutates them to any other.
    """

    PARENTS = 0.08  # share of a generation that has children
    ELITE = 0.01  # share that lives on unchanged
    BLEND = 0.5  # how far a child may lie outside its parents, relative to their distance (BLX crossover)
    MUTATION = 0.1  # chance of a gene to mutate
    STRAY = 0.06  # how far a mutated gene strays, standard deviation

    def __init__(self, dimension: int, *, population: int, seed: int, categories: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._reals = dimension - categories
        self._next = self._random.random((population, dimension))

    def ask(self) -> Floats:
        return self._next

    def tell(self, proposals: Floats, scores: Floats) -> None:
        count = len(proposals)
        ranked = proposals[np.argsort(scores, kind="stable")]
        elite = ranked[: max(1, int(self.ELITE * count))]
        parents = ranked[: max(2, int(self.PARENTS * count))]
        random = self._random
        born = count - len(elite)
        mother = parents[random.integers(len(parents), size=born)]
        father = parents[random.integers(len(parents), size=born)]
        share = random.uniform(-self.BLEND, 1.0 + self.BLEND, mother.shape)
        child = mother + share * (father - mother)
        stray = random.random(child.shape) < self.MUTATION
        child += stray * random.normal(0.0, self.STRAY, child.shape)
        child = np.abs(child)  # reflect at the walls, where limits that bind are found
        child = np.clip(np.where(child > 1.0, 2.0 - child, child), 0.0, 1.0)
        choice = np.where(random.random((born, 1)) < 0.5, mother, father)
        anew = random.random(child.shape) < self.MUTATION
        choice = np.where(anew, random.random(child.shape), choice)
        child[:, self._reals :] = choice[:, self._reals :]
        self._next = np.concatenate([elite, child])


class Covariance:
    """CMA-ES on the unit cube (the `cma` package)."""

    def __init__(self, dimension: int, *, population: int, seed: int, start: Floats | None = None) -> None:
        import cma

        options = {"bounds": [0, 1], "popsize": population, "seed": seed + 1, "verbose": -9}  # seed 0 means the clock
        middle = np.full(dimension, 0.5) if start is None else start
        self._strategy: Any = cma.CMAEvolutionStrategy(middle, 0.3 if start is None else 0.05, options)
        self._asked: list[Any] = []

    def ask(self) -> Floats:
        self._asked = self._strategy.ask()
        return np.array(self._asked)

    def tell(self, proposals: Floats, scores: Floats) -> None:
        self._strategy.tell(list(proposals), list(scores))


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
    search: Strategy
    if strategy == "genetic":
        search = Genetic(encoding.dimension, population=population, seed=seed, categories=encoding.categories)
    else:
        search = Covariance(encoding.dimension, population=population, seed=seed)

    def measure_points(points: Floats) -> Measured:
        return measure_rows(walker, wishes, encoding.rows(points))

    # The rivals of the arrival order: a random first generation, of which those whose legs are too short never arrive.
    rivals = measure_points(np.random.default_rng(seed).random((population, encoding.dimension)))
    pool = np.where(rivals.stretch <= 0.0, rivals.seconds, np.inf)
    if not np.isfinite(pool).any():
        raise Problem(f"{walker.name}: none of {population} random gaits keeps its feet within reach of its legs")

    best_point, best_score = np.zeros(encoding.dimension), np.inf
    history = []
    for number in range(generations + 1):
        points = search.ask()
        measured = measure_points(points)
        scores = fitness(wishes, measured, pool)
        search.tell(points, scores)
        first = int(np.argmin(scores))
        if scores[first] < best_score:
            best_point, best_score = points[first].copy(), float(scores[first])
        history.append(
            Generation(
                number,
                float(measured.energy[first]),
                float(arrival_order(measured.seconds[first : first + 1], pool)[0]),
                float(scores[first]),
            )
        )
        if on_generation is not None:
            on_generation(history[-1])
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
    gaits = []
    before: Floats | None = None
    for wishes in ladder:
        encoding = Encoding(one_order, limits_for(one_order, wishes))
        search = Covariance(encoding.dimension, population=40, seed=seed, start=before)
        best_point, best_score = np.zeros(encoding.dimension), np.inf
        for _ in range(150):
            points = search.ask()
            measured = measure_rows(one_order, wishes, encoding.rows(points))
            scores = fitness(wishes, measured, measured.seconds) / wishes.energy_per_distance
            if before is not None:
                scores += NEARNESS * np.square(points - before)[:, :-1].sum(axis=1)
            search.tell(points, scores)
            first = int(np.argmin(scores))
            if scores[first] < best_score:
                best_point, best_score = points[first].copy(), float(scores[first])
        if best_score * wishes.energy_per_distance >= HOPELESS:
            raise Problem(f"{walker.name}: found no gait of energy {wishes.energy:g} that keeps within all limits")
        before = best_point
        gaits.append(Rung(wishes=wishes, genes=genes_of(encoding.rows(best_point[None])[0])))
    return Library(walker=walker.name, curve=ladder[0].curve, order=list(order), gaits=gaits)
