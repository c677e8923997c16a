"""The loop that every search runs: ask, look up or evaluate, keep, tell."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.search.strategies import Strategy
from impel.search.study import Study

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """Everything that was tried, in order, and the best of it."""

    candidates: Floats  # (n, d)
    values: Floats  # (n,)
    interrupted: bool = False

    @property
    def best(self) -> Floats:
        return self.candidates[int(np.argmax(self.values))]

    @property
    def best_value(self) -> float:
        return float(self.values.max())

    def top(self, count: int) -> Floats:
        """The best few candidates, best first; the earlier of two equals first."""
        return self.candidates[np.argsort(-self.values, kind="stable")[:count]]


def search(
    strategy: Strategy,
    evaluate: Callable[[Floats], Floats],
    *,
    budget: int,
    study: Study | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Outcome:
    """Run until `budget` candidates are evaluated, and never more: the last batch may be cut short.

    evaluate: candidates (n, d) to values (n,), greater is better; NaN counts as -inf. study: keeps every batch,
    and gives back what it already knows. progress: called with the count and the best value so far. Ctrl-C
    ends the search early and keeps the best.
    """
    known = study.batches() if study is not None else []
    tried: list[Floats] = []
    values: list[Floats] = []
    count, batch, interrupted = 0, 0, False
    try:
        while count < budget:
            candidates = strategy.ask()[: budget - count]
            value = _recalled(candidates, known[batch], study) if batch < len(known) else np.zeros(0)
            unknown = candidates[len(value) :]
            if len(unknown):
                new = np.asarray(evaluate(unknown), float)
                new = np.where(np.isnan(new), -np.inf, new)
                if study is not None:
                    study.add(batch, unknown, new, first=len(value))
                value = np.append(value, new)
            tried.append(candidates)
            values.append(value)
            strategy.tell(candidates, value)
            count, batch = count + len(candidates), batch + 1
            if progress is not None:
                progress(count, strategy.best_value)
    except KeyboardInterrupt:
        if not values:
            raise
        interrupted = True
    return Outcome(np.vstack(tried[: len(values)]), np.concatenate(values), interrupted)


def _recalled(candidates: Floats, known: tuple[Floats, Floats], study: Study | None) -> Floats:
    """The values of the first candidates; another budget may have cut the batch elsewhere."""
    stored, values = known
    both = min(len(stored), len(candidates))
    if not np.array_equal(stored[:both], candidates[:both]):
        path = study.path if study is not None else "study"
        raise Problem(f"{path}: holds other candidates than this version proposes; start another study file")
    return values[:both]
