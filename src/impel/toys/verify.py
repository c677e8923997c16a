"""Does it stay up? The best of a search run on, longer than they were searched for and at a quarter of the step.

If none of them is good, the search goes on from the best of them, by what verification says. What is verified is the
toy as its file will say it, so that `impel toy run` plays the very run that was verified.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impel.search import strategy_named
from impel.toys.objectives import Objective
from impel.toys.toy import kept_angles

Floats = NDArray[np.float64]
Telling = Callable[[int, int], None]

LASTS = 20.0  # s that a winner must stay up, from every start
AT_ONCE = 48  # candidates: enough to fill lanes and cores
MOST = 384  # of the best, before anything else that was tried gets its chance
ENOUGH = 8  # that stay up, to choose from
KNOWN = 4000  # of the best: what lies below them is never looked at
FINER = (4, 16)  # parts of the search's step at which a winner must come as far: what is chaotic may agree once by luck
AGREES = 0.06  # of the distance: by how much these may differ, so that it is less than a tenth at still finer steps
ROUNDS = 2  # of mending at most: the second begins at the best of the first
MENDED = 768  # candidates that are tried where none of the best is good: enough for 9 of 10 such searches (measured)
NEAR = 0.08  # of every parameter's range: the first step of a search that begins at something good; 0.2 mends 2 of 10
WORTH = 0.3  # of the best that stays up: what is worth less is not taken for its agreement, it may as well stand still
ALIKE = 0.02  # of every parameter's range: nearer ones are one motion, and one of them is verified


@dataclass(frozen=True)
class Verified:
    """Candidates after `LASTS` seconds at a quarter of the step, each the worst of its starts."""

    candidates: Floats  # (n, d), as a file keeps them
    value: Floats  # (n,) of the objective over the longer time
    distance: Floats  # m
    time: Floats  # s until it fell, LASTS if it did not
    off: Floats  # of the distance: how much it differs between the step it was found at and finer ones; inf if it falls

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Whether it stays up, and comes as far at the step it was found at as at finer ones."""
        return self.off <= AGREES

    @property
    def up(self) -> NDArray[np.bool_]:
        return self.time >= LASTS - 1e-6

    def winner(self) -> int:
        """The best of those that stay up and owe nothing to the step, unless others are worth far more; if none stays
        up, the one that lasts longest."""
        if not self.up.any():
            return int(np.argmax(np.nan_to_num(self.time, nan=0.0)))
        good = self.good
        return int(np.argmax(np.where(good if good.any() else self.up, self.value, -np.inf)))

    @property
    def good(self) -> NDArray[np.bool_]:
        """Which stay up and owe nothing to the step, without those that are worth little beside others."""
        if not self.up.any():
            return self.up
        best = self.value[self.up].max()
        return self.agrees & (self.value >= best - (1.0 - WORTH) * abs(best))

    @property
    def promise(self) -> Floats:
        """What they are worth to a search for good ones: less if they fall, and less if the step decides."""
        known = np.isfinite(self.value)
        value = np.where(known, self.value, 0.0)
        lasting = np.minimum(value, value * (self.time / LASTS) ** 2)
        return np.where(known, lasting - np.abs(lasting) * np.minimum(self.off, 0.5), -np.inf)


def verify(objective: Objective, candidates: Floats, telling: Telling | None = None) -> Verified:
    """Run candidates, best first, until enough of them stay up. If none of the first `MOST` does, look at all; if none
    is good, search on from the best, at a quarter of the step: whatever is asked of the step holds for that one then.

    Ctrl-C ends it early, once something is known.
    """
    found = _empty(objective)
    try:
        for known, done, total in _tried(objective, candidates):
            found = known
            if telling is not None:
                telling(done, total)
    except KeyboardInterrupt:
        if len(found.time) == 0:
            raise
    return found


def _tried(objective: Objective, candidates: Floats) -> Iterator[tuple[Verified, int, int]]:
    """What is known after each batch, and how many of how many have been tried."""
    ahead = _different(objective, as_kept(objective, candidates[:KNOWN]))
    found = _empty(objective)
    most = min(len(ahead), MOST)
    for begin in range(0, most, AT_ONCE):
        found = _joined(found, run_on(objective, ahead[begin : begin + AT_ONCE]))
        yield found, min(begin + AT_ONCE, most), most
        if found.agrees.sum() >= ENOUGH:
            break
    rest = ahead[MOST:]
    if not found.up.any() and len(rest):
        coarse = objective.run(rest, step=objective.step, seconds=LASTS)
        lived = coarse.time.reshape(len(rest), -1).min(axis=1)
        longest = np.argsort(-lived, kind="stable")[:AT_ONCE]
        found = _joined(found, run_on(objective, rest[longest]))
        yield found, most, most
    low, high = objective.bounds()
    if found.good.any() or len(low) < 2:  # all there is of one parameter has been tried
        return
    finer = objective.step / 4
    if found.up.any():
        found = _joined(found, run_on(objective, found.candidates[found.up], searched_at=finer))
    for part in range(ROUNDS):
        start = found.candidates[np.argmax(found.promise)]
        mending = strategy_named("cma", low, high, seed=part, budget=MENDED, start=start, spread=NEAR)
        while mending.told < MENDED and found.good.sum() < ENOUGH:
            tried = run_on(objective, as_kept(objective, mending.ask()), searched_at=finer)
            mending.tell(tried.candidates, tried.promise)
            found = _joined(found, tried)
            yield found, part * MENDED + mending.told, ROUNDS * MENDED
        if found.good.any():
            return


def run_on(objective: Objective, candidates: Floats, *, searched_at: float | None = None) -> Verified:
    """Candidates run for `LASTS` seconds at a quarter of the search's step. searched_at: the step of the search that
    found them, if it was another."""
    runs = objective.run(candidates, step=objective.step / 4, seconds=LASTS)
    distance, time = (each.reshape(len(candidates), -1).min(axis=1) for each in (runs.distance, runs.time))
    found = Verified(candidates, objective.robust(runs), distance, time, np.full(len(candidates), np.inf))
    agree = np.flatnonzero(found.up)
    found.off[agree] = 0.0
    step = searched_at or objective.step
    coarse = _distances(objective, candidates, step)
    for part in FINER:  # the finest only of those that are left
        fine = _distances(objective, candidates[agree], step / part)
        with np.errstate(invalid="ignore", divide="ignore"):  # what has exploded agrees with nothing
            off = np.nan_to_num(np.abs(coarse[agree] - fine) / np.abs(fine), nan=np.inf)
        found.off[agree] = np.maximum(found.off[agree], off)
        agree = agree[found.agrees[agree]]
    return found


def _distances(objective: Objective, candidates: Floats, step: float) -> Floats:
    """How far each comes in the time of the search, in the mean of its starts."""
    if len(candidates) == 0:
        return np.zeros(0)
    return objective.run(candidates, step=step).distance.reshape(len(candidates), -1).mean(axis=1)


def as_kept(objective: Objective, candidates: Floats) -> Floats:
    """Candidates as they come back from a toy file."""
    kept = np.array(candidates, float)
    angles = objective.poses * len(objective.figure.active)
    kept[:, :angles] = kept_angles(kept[:, :angles])
    return kept


def _different(objective: Objective, candidates: Floats) -> Floats:
    """Without those that differ from a better one by next to nothing."""
    low, high = objective.bounds()
    scaled = (candidates - low) / (high - low)
    kept: list[int] = []
    for i, one in enumerate(scaled):
        if not kept or np.abs(scaled[kept] - one).max(axis=1).min() >= ALIKE:
            kept.append(i)
    return candidates[kept]


def _joined(a: Verified, b: Verified) -> Verified:
    names = ("candidates", "value", "distance", "time", "off")
    return Verified(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in names))


def _empty(objective: Objective) -> Verified:
    nothing = np.zeros(0)
    return Verified(np.zeros((0, len(objective.bounds()[0]))), nothing, nothing, nothing, nothing)
