"""Make a library of moods: gaits for wishes of rising energy, each near the one below, so that they can be blended."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from impel.complaints import validated
from impel.files import Problem
from impel.gaits.encoding import Encoding
from impel.gaits.energy import measure
from impel.gaits.evolve import measure_rows
from impel.gaits.gait import genes_of, reference
from impel.gaits.mood import Library, Moods, Rung
from impel.gaits.walker import Floats, Walker
from impel.gaits.wishes import Wishes, excesses, fitness, limits_for
from impel.search.run import search
from impel.search.strategies import CMA

NEARNESS = (0.1, 1.0, 10.0)  # how much a rung is drawn to the one below: the first that lets the two be blended
BUDGET = 6000  # gaits tried for a rung
RUNGS = 6
CALM = (
    0.11  # m/s a tick: what the body's velocity may change by, with room for what slides of the mood add (0.2 in all)
)
TRIED = 20_000  # random gaits by which it is found out what a walker can do
FEWEST = 50  # of these that must be able to walk, for their energies to tell anything
NEIGHBOURS = 0.05  # share of them that count as having a rung's energy
HURRY = (0.5, 0.05)  # how a rung's time ranks among theirs: leisurely when exhausted, fast when exuberant
FAST = 0.1  # share of the walking gaits by which the orders of the feet are compared, the fastest


def evolve_library(
    walker: Walker,
    order: Sequence[int],
    ladder: Sequence[Wishes],
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Library:
    """Gaits for wishes of rising energy, all in one order of the feet; raise `Problem` if they make no slider.

    `progress` is called with the gaits tried and in all.
    """
    one_order = validated(Walker, {**walker.model_dump(), "orders": [list(order)]}, walker.name)
    rungs: list[Rung] = []
    below: Floats | None = None
    for wishes in ladder:
        encoding = Encoding(one_order, limits_for(one_order, wishes))

        def report(count: int, _: float, done: int = len(rungs) * BUDGET) -> None:
            if progress is not None:
                progress(done + min(count, BUDGET), len(ladder) * BUDGET)

        for nearness in NEARNESS:
            point = _next_rung(one_order, wishes, encoding, below, nearness, seed, report)
            row = encoding.rows(point[None])[0]
            if not rungs or _blends(walker, rungs[-1].genes.row(), row, wishes):
                break
        below = point
        rungs.append(Rung(wishes=wishes, genes=genes_of(row)))
    library = Library(walker=reference(walker), curve=ladder[0].curve, order=list(order), gaits=rungs)
    try:
        Moods.of_library(library)
    except Problem as problem:
        raise Problem(f"{walker.name}: found no {problem.lines[0]}; try other wishes or another seed") from None
    return library


def _blends(walker: Walker, below: Floats, row: Floats, wishes: Wishes) -> bool:
    try:
        Moods(walker, np.stack([below, row]), curve=wishes.curve)
    except Problem:
        return False
    return True


def _next_rung(
    walker: Walker,
    wishes: Wishes,
    encoding: Encoding,
    below: Floats | None,
    nearness: float,
    seed: int,
    report: Callable[[int, float], None],
) -> Floats:
    def evaluate(points: Floats) -> Floats:
        measured = measure_rows(walker, wishes, encoding.rows(points))
        scores = fitness(wishes, measured, measured.seconds) / wishes.energy_per_distance
        if below is not None:
            scores += nearness * np.square(points - below)[:, :-1].sum(axis=1)
        return -scores

    spread = 0.3 if below is None else 0.05
    strategy = CMA(*encoding.cube(), seed=seed, population=40, start=below, spread=spread)
    outcome = search(strategy, evaluate, budget=BUDGET, progress=report)
    if outcome.interrupted:  # a slider without its upper end is none
        raise KeyboardInterrupt
    found = measure_rows(walker, wishes, encoding.rows(outcome.best[None]))
    if any(excess[0] > 0 for excess in excesses(wishes, found).values()):
        raise Problem(f"{walker.name}: found no gait of energy {wishes.energy:g} that keeps within all limits")
    return outcome.best


def ladder_for(walker: Walker, *, seed: int = 0) -> tuple[list[int], list[Wishes]]:
    """An order of the feet and a ladder of wishes that suit a walker, found out by trying random gaits.

    Half of the feet stay on the ground. The order is the one that most of the fast gaits have; the energies go from
    what its cheapest gaits cost to what its dearest do, each with a time that gaits of this energy can keep.
    """
    random = np.random.default_rng(seed)
    support = len(walker.legs) // 2
    orders = walker.all_orders()
    # How far the body reaches below its centre: lower it would be in the ground. Up to the next millimetre.
    under = math.ceil(1000 * (float(walker.body.depth(np.zeros(1))[0]) - walker.sole)) / 1000
    which, _, seconds = _walking(walker, orders, support, under, random)
    fast = which[np.argsort(seconds)[: int(FAST * len(which))]]
    order = list(orders[int(np.argmax(np.bincount(fast, minlength=len(orders))))])
    _, energy, seconds = _walking(walker, [order], support, under, random)
    if len(energy) < FEWEST:
        raise Problem(
            f"{walker.name}: of {TRIED} random gaits only {len(energy)} walk smoothly with {support} feet on the "
            "ground; its limits or its legs leave no room for a mood"
        )
    low, high = np.quantile(energy, [0.01, 0.95])
    ladder: list[Wishes] = []
    for wanted, rank in zip(np.geomspace(low, high, RUNGS), np.linspace(*HURRY, RUNGS)):
        near = np.argsort(np.abs(np.log(energy / wanted)))[: max(5, int(NEIGHBOURS * len(energy)))]
        time = min([float(np.quantile(seconds[near], rank)), *(rung.seconds or np.inf for rung in ladder)])
        wishes = {"energy": _short(wanted), "seconds": _short(time), "support": support, "max_jump": CALM}
        ladder.append(Wishes.model_validate(wishes | ({"min_height": under} if under > 0 else {})))
    return order, ladder


def _short(value: float) -> float:
    """As a person would write it."""
    return float(f"{value:.3g}")


def _walking(
    walker: Walker, orders: Sequence[Sequence[int]], support: int, under: float, random: np.random.Generator
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Of random gaits those that walk smoothly, off the ground: number of their order, energy and seconds."""
    choice = walker.model_copy(update={"orders": [list(order) for order in orders]})
    encoding = Encoding(choice, walker.limits)
    points = random.random((TRIED, encoding.dimension))
    measured = measure(walker, encoding.rows(points))
    good = (measured.stretch <= 0) & (measured.jump <= CALM) & (measured.support >= support) & (measured.low > under)
    which = np.minimum((points[:, -1] * len(orders)).astype(int), len(orders) - 1)
    return which[good], measured.energy[good], measured.seconds[good]
