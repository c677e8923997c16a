"""The family of strategies. All are made alike, `Strategy(low, high, *, seed, budget, start, ...)`, and all are
used alike: `ask()` gives a batch of candidates (n, d), `tell(candidates, values)` says how good they were.

Each draws from its own generator, so the same seed and the same values give the same candidates, bit for bit.
That is also how a killed search resumes: it is replayed with the values already known.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.files import Problem

Floats = NDArray[np.float64]

WORST = -1e300  # stands in for -inf, which CMA-ES cannot rank
WIDE = 0.3  # of each range: the first step of CMA-ES where nothing is known


class Strategy(ABC):
    """Proposes candidates within bounds and learns from their values (greater is better).

    low, high: bounds of every parameter. seed: makes it repeatable. budget: how many evaluations are planned,
    for strategies that change as they go. start: where to begin, if anywhere.
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None
    ) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        if self.low.ndim != 1 or self.low.shape != self.high.shape or self.low.size == 0:
            raise Problem(f"low, high: must be two rows of equal length, got {self.low.shape} and {self.high.shape}")
        if not np.all(self.low < self.high):
            raise Problem("low, high: every low must be below its high")
        if budget < 1:
            raise Problem(f"budget: must be at least 1, got {budget}")
        self.budget = budget
        self.random = np.random.default_rng(seed)
        self.seed = seed
        self.told = 0
        self.best: Floats | None = None
        self.best_value = -np.inf
        if start is not None and np.shape(start) != self.low.shape:
            raise Problem(f"start: must have {self.low.size} numbers, got {np.size(start)}")
        self.start = None if start is None else self._clipped(np.asarray(start, float))

    @abstractmethod
    def ask(self) -> Floats:
        """The next batch of candidates, (n, d)."""

    def tell(self, candidates: Floats, values: Floats) -> None:
        """How good the last batch was, (n,)."""
        i = int(np.argmax(values))
        if values[i] > self.best_value or self.best is None:
            self.best, self.best_value = candidates[i].copy(), float(values[i])
        self.told += len(values)
        self._learn(candidates, values)

    def _learn(self, candidates: Floats, values: Floats) -> None:
        """What a strategy does with the values; chance does nothing."""
        return

    @property
    def progress(self) -> float:
        """From 0 to 1 as the budget is used."""
        return min(self.told / self.budget, 1.0)

    def _anywhere(self, count: int) -> Floats:
        return self.random.uniform(self.low, self.high, (count, self.low.size))

    def _beginning(self, count: int) -> Floats:
        """Candidates anywhere; the very first is `start`, if there is one."""
        candidates = self._anywhere(count)
        if self.start is not None and self.told == 0:
            candidates[0] = self.start
        return candidates

    def _clipped(self, candidates: Floats) -> Floats:
        return np.clip(candidates, self.low, self.high)


class Generate(Strategy):
    """Generate-and-test: every candidate is drawn at random (002, section 3, first phase)."""

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None,
        batch: int = 64,
    ) -> None:  # fmt: skip
        super().__init__(low, high, seed=seed, budget=budget, start=start)
        self.batch = batch

    def ask(self) -> Floats:
        return self._beginning(self.batch)


Delta = Literal["wide", "shrinking-fixed", "shrinking-random"]


class Modify(Strategy):
    """Modify-and-test: change the best so far a little, keep the change if it is better (002, figures 6 and 7).

    delta: how large a change is. `wide` draws anywhere within the range of the parameter; `shrinking-fixed`
    takes a step that shrinks evenly to nothing, only its sign is drawn; `shrinking-random` draws within that
    step. several: how many parameters change at once. first: evaluations of plain generate-and-test before.
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None,
        delta: Delta = "shrinking-random", several: int = 1, first: int = 0, batch: int = 64,
    ) -> None:  # fmt: skip
        super().__init__(low, high, seed=seed, budget=budget, start=start)
        if delta not in ("wide", "shrinking-fixed", "shrinking-random"):
            raise Problem(f"delta: must be wide, shrinking-fixed or shrinking-random, got {delta!r}")
        if not 1 <= several <= self.low.size:
            raise Problem(f"several: must be between 1 and {self.low.size}, got {several}")
        self.delta, self.several, self.first, self.batch = delta, several, min(first, budget - 1), batch
        self.current, self.current_value = self.start, -np.inf

    def ask(self) -> Floats:
        if self.told < self.first:
            return self._beginning(min(self.batch, self.first - self.told))
        if self.current is None:
            return self._anywhere(1)
        if self.told == 0:
            return self.current[None].copy()
        return self._changed(self.current)[None]

    def _changed(self, candidate: Floats) -> Floats:
        """A neighbour: `several` parameters moved."""
        moved = candidate.copy()
        which = self.random.choice(self.low.size, self.several, replace=False)
        width = (self.high - self.low)[which]
        left = 1.0 - (self.told - self.first) / max(self.budget - self.first, 1)
        if self.delta == "wide":
            moved[which] = self.random.uniform(self.low[which], self.high[which])
        elif self.delta == "shrinking-fixed":
            moved[which] += self.random.choice([-0.5, 0.5], self.several) * width * left
        else:
            moved[which] += self.random.uniform(-0.5, 0.5, self.several) * width * left
        return self._clipped(moved)

    def _learn(self, candidates: Floats, values: Floats) -> None:
        for candidate, value in zip(candidates, values):
            if self.current is None or self._accepts(float(value)):
                self.current, self.current_value = candidate.copy(), float(value)

    def _accepts(self, value: float) -> bool:
        return value >= self.current_value


class Anneal(Modify):
    """Simulated annealing: like modify-and-test, but a change for the worse is sometimes kept.

    hot, cold: the loss of value that is kept with probability 1/e at the start and at the end.
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None,
        delta: Delta = "shrinking-random", several: int = 1, first: int = 0, batch: int = 64,
        hot: float = 0.3, cold: float = 0.003,
    ) -> None:  # fmt: skip
        super().__init__(
            low, high, seed=seed, budget=budget, start=start, delta=delta, several=several, first=first, batch=batch
        )
        if not 0 < cold <= hot:
            raise Problem(f"hot, cold: must be 0 < cold <= hot, got {hot:g} and {cold:g}")
        self.hot, self.cold = hot, cold

    def _accepts(self, value: float) -> bool:
        if self.told <= self.first or value >= self.current_value:
            return value >= self.current_value
        heat = self.hot * (self.cold / self.hot) ** self.progress
        return bool(self.random.random() < np.exp((value - self.current_value) / heat))


class Genetic(Strategy):
    """A population: parents win tournaments, children mix them and mutate, the best few survive."""

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None,
        population: int = 50, survivors: int = 5, tournament: int = 3, mutation: float = 0.15,
    ) -> None:  # fmt: skip
        super().__init__(low, high, seed=seed, budget=budget, start=start)
        if not 2 <= survivors < population:
            raise Problem(f"population, survivors: must be 2 <= survivors < population, got {survivors}, {population}")
        self.population, self.survivors, self.tournament, self.mutation = population, survivors, tournament, mutation
        self.members: Floats | None = None
        self.values = np.zeros(0)

    def ask(self) -> Floats:
        if self.members is None:
            return self._beginning(self.population)
        return np.stack([self._child() for _ in range(self.population - self.survivors)])

    def _child(self) -> Floats:
        mother, father = self._parent(), self._parent()
        share = self.random.random(self.low.size)
        child = np.where(self.random.random(self.low.size) < 0.5, mother, share * mother + (1 - share) * father)
        mutates = self.random.random(self.low.size) < self.mutation
        width = (self.high - self.low) * 0.3 * (1.0 - 0.8 * self.progress)
        return self._clipped(child + mutates * self.random.standard_normal(self.low.size) * width)

    def _parent(self) -> Floats:
        assert self.members is not None
        rivals = self.random.integers(0, len(self.members), self.tournament)
        return self.members[rivals[np.argmax(self.values[rivals])]]

    def _learn(self, candidates: Floats, values: Floats) -> None:
        if self.members is not None:
            kept = np.argsort(-self.values, kind="stable")[: self.survivors]
            candidates, values = np.vstack([self.members[kept], candidates]), np.append(self.values[kept], values)
        self.members, self.values = candidates.copy(), values.copy()


class CMA(Strategy):
    """CMA-ES (library `cma`): learns how parameters belong together. first: evaluations of generate-and-test before.

    spread: the first step as a share of each parameter's range. population: a batch; the library would take 10 to 12
    for a toy, but 16 is less easily misled by chance (measured: seeds that end nowhere become rare).
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None,
        first: int = 0, batch: int = 64, population: int = 16, spread: float = WIDE,
    ) -> None:  # fmt: skip
        super().__init__(low, high, seed=seed, budget=budget, start=start)
        if self.low.size < 2:
            raise Problem("cma: learns how parameters belong together, and there is only one; use another strategy")
        if population < 4:
            raise Problem(f"population: must be at least 4, got {population}")
        if not 0 < spread <= 1:
            raise Problem(f"spread: must be above 0 and at most 1, got {spread:g}")
        self.first, self.batch, self.population, self.spread = min(first, budget - 1), batch, population, spread
        self._engine: Any = None
        self._asked: list[Any] = []

    def ask(self) -> Floats:
        if self.told < self.first:
            return self._beginning(min(self.batch, self.first - self.told))
        if self._engine is None:
            around = self.best if self.first else self.start
            self._engine = self._begin(0.5 * (self.low + self.high) if around is None else around)
        elif self._engine.stop():  # it has converged: begin again elsewhere
            self._engine = self._begin(self._anywhere(1)[0], spread=max(self.spread, WIDE))
        self._asked = self._engine.ask()
        unit = np.clip(np.array(self._asked), 0.0, 1.0)
        return self.low + unit * (self.high - self.low)

    def _begin(self, around: Floats, *, spread: float | None = None) -> Any:
        import cma

        center = (around - self.low) / (self.high - self.low)
        options = {
            "bounds": [0.0, 1.0], "verbose": -9, "randn": lambda *shape: self.random.standard_normal(shape),
            "seed": np.nan, "popsize": self.population, "maxfevals": np.inf, "tolfun": 1e-6, "tolx": 1e-6,
        }  # fmt: skip
        return cma.CMAEvolutionStrategy(center, spread or self.spread, options)

    def _learn(self, candidates: Floats, values: Floats) -> None:
        if len(values) == len(self._asked):  # a batch that the budget cut short is the last: nothing to learn for
            self._engine.tell(self._asked, [-float(v) for v in np.maximum(values, WORST)])
            self._asked = []


class Relay(Strategy):
    """First a population looks everywhere, then CMA-ES refines around the best that it found.

    share: of the budget, for the population. spread: CMA-ES's first step as a share of each parameter's range. Of up to
    `FEW` parameters there is little to learn, and a hill climb is hard to beat: a third of the refinement is one, which
    changes a parameter of the best by less and less. Of more parameters it only costs (measured).
    """

    FEW = 4
    NEIGHBOURS = 8  # of the best, beside each batch of 16

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int = 1500, start: ArrayLike | None = None,
        share: float = 0.5, spread: float = 0.15,
    ) -> None:  # fmt: skip
        super().__init__(low, high, seed=seed, budget=budget, start=start)
        if not 0 < share < 1:
            raise Problem(f"share: must be between 0 and 1, got {share:g}")
        self.first = max(1, round(share * budget))
        self.spread = spread
        self._runner: Strategy = Genetic(low, high, seed=seed, budget=self.first, start=start)
        self._asked = 0  # of the runner

    def ask(self) -> Floats:
        if self.told >= self.first and isinstance(self._runner, Genetic) and self.low.size > 1:
            left = max(1, self.budget - self.told)
            self._runner = CMA(
                self.low, self.high, seed=self.seed + 1, budget=left, start=self.best, spread=self.spread
            )
        asked = self._runner.ask()
        self._asked = len(asked)
        climbs = isinstance(self._runner, CMA) and self.low.size <= self.FEW
        return np.vstack([asked, self._neighbours()]) if climbs else asked

    def _neighbours(self) -> Floats:
        assert self.best is not None
        moved = np.tile(self.best, (self.NEIGHBOURS, 1))
        which = self.random.integers(self.low.size, size=self.NEIGHBOURS)
        width = 0.5 * (self.high - self.low)[which] * (1.0 - self.progress)
        moved[np.arange(self.NEIGHBOURS), which] += self.random.uniform(-width, width)
        return self._clipped(moved)

    def _learn(self, candidates: Floats, values: Floats) -> None:
        self._runner.tell(candidates[: self._asked], values[: self._asked])


STRATEGIES: dict[str, type[Strategy]] = {
    "generate": Generate,
    "modify": Modify,
    "anneal": Anneal,
    "genetic": Genetic,
    "cma": CMA,
    "relay": Relay,
}


class Extended(Strategy):
    """A search that was planned for some evaluations, and then for more: each leg begins at the best of those before.

    So what was tried before the plan was extended stays as it was, whatever a strategy makes of its budget.
    """

    def __init__(
        self, name: str, low: ArrayLike, high: ArrayLike, *, seed: int, legs: Sequence[int],
        start: ArrayLike | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(low, high, seed=seed, budget=sum(legs), start=start)
        self.name, self.legs, self.options = name, list(legs), options
        self._leg, self._end = 0, legs[0]
        self._runner = strategy_named(name, low, high, seed=seed, budget=legs[0], start=start, **options)

    def ask(self) -> Floats:
        if self.told >= self._end and self._leg + 1 < len(self.legs):
            self._leg += 1
            self._end += self.legs[self._leg]
            self._runner = strategy_named(
                self.name, self.low, self.high, seed=self.seed + 1000 * self._leg, budget=self.legs[self._leg],
                start=self.best, **self.options,
            )  # fmt: skip
        return self._runner.ask()[: self._end - self.told]

    def _learn(self, candidates: Floats, values: Floats) -> None:
        self._runner.tell(candidates, values)


def strategy_named(
    name: str, low: ArrayLike, high: ArrayLike, *, seed: int, budget: int | Sequence[int] = 1500,
    start: ArrayLike | None = None, **options: Any,
) -> Strategy:  # fmt: skip
    """A strategy by its name on the command line; a budget in several legs is one that was extended."""
    if name not in STRATEGIES:
        raise Problem(f"{name}: no such strategy; there are {', '.join(STRATEGIES)}")
    if not isinstance(budget, int):
        if len(budget) > 1:
            return Extended(name, low, high, seed=seed, legs=budget, start=start, **options)
        budget = budget[0]
    try:
        return STRATEGIES[name](low, high, seed=seed, budget=budget, start=start, **options)
    except TypeError:
        raise Problem(f"{name}: does not know all of these options: {', '.join(options)}") from None
