"""Does it stay up? The best of a search run on, longer than they were searched for and at a quarter of the step.

What is verified is the toy as its file will say it, so that `impel toy run` plays the very run that was verified.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
AGREES = 0.08  # of the distance: by how much these may differ
WORTH = 0.3  # of the best that stays up: what is worth less is not taken for its agreement, it may as well stand still
ALIKE = 0.02  # of every parameter's range: nearer ones are one motion, and one of them is verified


@dataclass(frozen=True)
class Verified:
    """Candidates after `LASTS` seconds at a quarter of the step, each the worst of its starts."""

    candidates: Floats  # (n, d), as a file keeps them
    value: Floats  # (n,) of the objective over the longer time
    distance: Floats  # m
    time: Floats  # s until it fell, LASTS if it did not
    agrees: NDArray[np.bool_]  # whether it stays up, and comes as far at the search's step as at finer ones

    @property
    def up(self) -> NDArray[np.bool_]:
        return self.time >= LASTS - 1e-6

    def winner(self) -> int:
        """The best of those that stay up and owe nothing to the step, unless others are worth far more; if none stays
        up, the one that lasts longest."""
        if not self.up.any():
            return int(np.argmax(np.nan_to_num(self.time, nan=0.0)))
        best = self.value[self.up].max()
        good = self.agrees & (self.value >= best - (1.0 - WORTH) * abs(best))
        return int(np.argmax(np.where(good if good.any() else self.up, self.value, -np.inf)))


def verify(objective: Objective, candidates: Floats, telling: Telling | None = None) -> Verified:
    """Run candidates, best first, until enough of them stay up. If none of the first `MOST` does, look at all.

    Ctrl-C ends it early, once something is known.
    """
    ahead = _different(objective, as_kept(objective, candidates[:KNOWN]))
    found = _empty(objective)
    try:
        for begin in range(0, min(len(ahead), MOST), AT_ONCE):
            found = _joined(found, run_on(objective, ahead[begin : begin + AT_ONCE]))
            if telling is not None:
                telling(min(begin + AT_ONCE, len(ahead)), min(len(ahead), MOST))
            if found.agrees.sum() >= ENOUGH:
                break
    except KeyboardInterrupt:
        if len(found.time) == 0:
            raise
        return found
    rest = ahead[MOST:]
    if not found.up.any() and len(rest):
        coarse = objective.run(rest, step=objective.step, seconds=LASTS)
        lived = coarse.time.reshape(len(rest), -1).min(axis=1)
        longest = np.argsort(-lived, kind="stable")[:AT_ONCE]
        found = _joined(found, run_on(objective, rest[longest]))
    return found


def run_on(objective: Objective, candidates: Floats) -> Verified:
    runs = objective.run(candidates, step=objective.step / 4, seconds=LASTS)
    distance, time = (each.reshape(len(candidates), -1).min(axis=1) for each in (runs.distance, runs.time))
    found = Verified(candidates, objective.robust(runs), distance, time, np.zeros(len(candidates), bool))
    agree = np.flatnonzero(found.up)
    coarse = _distances(objective, candidates, objective.step)
    for part in FINER:  # the finest only of those that are left
        fine = _distances(objective, candidates[agree], objective.step / part)
        with np.errstate(invalid="ignore"):  # what has exploded agrees with nothing
            agree = agree[np.abs(coarse[agree] - fine) <= AGREES * np.abs(fine)]
    found.agrees[agree] = True
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
    names = ("candidates", "value", "distance", "time", "agrees")
    return Verified(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in names))


def _empty(objective: Objective) -> Verified:
    nothing = np.zeros(0)
    return Verified(np.zeros((0, len(objective.bounds()[0]))), nothing, nothing, nothing, np.zeros(0, bool))
