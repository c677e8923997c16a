"""Make a library of moods: gaits for wishes of rising energy, each near the one below, so that they can be blended."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from impel.complaints import validated
from impel.files import Problem
from impel.gaits.encoding import Encoding
from impel.gaits.energy import Measured, measure
from impel.gaits.evolve import measure_rows
from impel.gaits.gait import genes_of, reference
from impel.gaits.mood import Library, Moods, Rung
from impel.gaits.walker import Floats, Walker
from impel.gaits.wishes import Wishes, bounds_for, excesses, fitness
from impel.search.run import search
from impel.search.strategies import CMA

NEARNESS = (0.1, 1.0, 10.0)  # how much a rung is drawn to the one below: the first that lets the two be blended
BUDGET = 6000  # gaits tried for a rung
RUNGS = 6
FITS = 0.02  # of a rung's energy and time that it may miss
LIVELY = 2  # how well two rungs can be blended at best
CALM = (
    0.11  # m/s a tick: what the body's velocity may change by, with room for what slides of the mood add (0.2 in all)
)
TRIED = 20_000  # random gaits by which it is found out what a walker can do
FEWEST = 50  # of these that must be able to walk, for their energies to tell anything
HURRY = (0.6, 0.15)  # how the times of the first and the last rung rank: leisurely when exhausted, fast when exuberant
LIVELIER = 1.2  # of what it spends exhausted, an exuberant walker must spend at least, for the moods to differ
STATURE = (
    0.05,
    0.85,
)  # how the heights of the first and the last rung rank: crouched when exhausted, tall when exuberant
FRUGAL = 0.9  # of what the cheapest of random gaits cost: evolution finds better
UNMOVED = 1e-3  # rad: a body that rolls or pitches less does not seem to
RISE = 1.1  # by which roll and pitch grow from rung to rung, at least
HEAVE = 0.04  # leg lengths by which an exuberant body rises and sinks, if its gaits can do as much ...
CALMEST = 0.12  # ... and what is left of that when exhausted
NEAR_HEAVE = 0.1  # by which a rung may miss its heave
CONTACT = (0.66, 0.5)  # share of its feet that are down at least: dragged when exhausted, two feet of two at times
LIGHTER = 0.08  # by which more of them may be down
FAST = 0.1  # share of the walking gaits by which the orders of the feet are compared, the fastest


def evolve_library(
    walker: Walker,
    order: Sequence[int],
    ladder: Sequence[Wishes],
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Library:
    """Gaits for wishes of rising energy, all in one order of the feet; raise `Problem` if they make no slider. Wishes
    for which only gaits were found to which the mood cannot slide are left out.

    `progress` is called with the gaits tried and in all.
    """
    one_order = _in_order(walker, order)
    rungs: list[Rung] = []
    below: Floats | None = None
    for number, wishes in enumerate(ladder):
        encoding = Encoding(one_order, bounds_for(one_order, wishes), curve=wishes.curve)

        def report(count: int, _: float, done: int = number * BUDGET) -> None:
            if progress is not None:
                progress(done + min(count, BUDGET), len(ladder) * BUDGET)

        least = None if not rungs else measure(walker, rungs[-1].genes.row(), curve=wishes.curve)
        found = []
        for nearness in NEARNESS:
            point = _next_rung(one_order, wishes, encoding, below, least, nearness, seed, report)
            row = encoding.rows(point[None])[0]
            blends = _blends(walker, rungs[-1].genes.row(), row, wishes) if rungs else LIVELY
            found.append((blends > 0, _fits(walker, wishes, row), blends, -nearness, point))
            if found[-1][:3] == (True, True, LIVELY):
                break
        blended, *_, point = max(found, key=lambda each: each[:4])
        if not blended:  # others lie on both sides of it: the slider passes between them
            continue
        row = encoding.rows(point[None])[0]
        below = point
        rungs.append(Rung(wishes=wishes, genes=genes_of(row)))
    library = Library(walker=reference(walker), curve=ladder[0].curve, order=list(order), gaits=rungs)
    try:
        Moods.of_library(library)
    except Problem as problem:
        raise Problem(f"{walker.name}: found no {problem.lines[0]}; try other wishes or another seed") from None
    return library


def _fits(walker: Walker, wishes: Wishes, row: Floats) -> bool:
    """Whether a gait has the energy and the time of its rung."""
    measured, part = measure_rows(walker, wishes, row), wishes.measured_in(walker)
    off = measured.energy[0] / (part * wishes.energy), measured.seconds[0] / (part * (wishes.seconds or np.inf))
    return abs(off[0] - 1) < FITS and (wishes.seconds is None or abs(off[1] - 1) < FITS)


def _blends(walker: Walker, below: Floats, row: Floats, wishes: Wishes) -> int:
    """How well a mood can slide from one gait to the other: not at all; spending more all the way; and moving the body
    more all the way, too."""
    try:
        between = Moods(walker, np.stack([below, row]), curve=wishes.curve).measured
    except Problem:
        return 0
    if wishes.curve == "paper":
        return LIVELY
    moves = between.heave, between.roll, between.pitch
    return LIVELY if all(np.all(np.diff(move[::6]) > 0) for move in moves) else 1


def _next_rung(
    walker: Walker,
    wishes: Wishes,
    encoding: Encoding,
    below: Floats | None,
    least: Measured | None,
    nearness: float,
    seed: int,
    report: Callable[[int, float], None],
) -> Floats:
    part = wishes.measured_in(walker)

    def evaluate(points: Floats) -> Floats:
        measured = measure_rows(walker, wishes, encoding.rows(points))
        scores = fitness(wishes, measured, measured.seconds, part=part) / (part * wishes.energy)
        if below is not None and least is not None:
            for name in ("roll", "pitch"):
                grown = getattr(measured, name) / (RISE * getattr(least, name)[0] + 1e-9)
                scores += np.maximum(0.0, 1.0 - grown)
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

    Half of the feet stay on the ground. The order is the one that most of the fast gaits have. What random gaits of it
    do tells what to wish for at both ends, one by one; what can be had of it together is what a search comes to, and
    between these the energies and times of the ladder lie.
    """
    random = np.random.default_rng(seed)
    support = len(walker.legs) // 2
    orders = walker.all_orders()
    # How far the body reaches below its centre: lower it would be in the ground.
    under = float(walker.body.depth(np.zeros(1))[0]) - walker.sole
    under = 0.0 if under <= 0 else _short(1.01 * under)
    which, tried = _walking(walker, orders, support, under, random)
    fast = which[np.argsort(tried["seconds"])[: int(FAST * len(which))]]
    order = list(orders[int(np.argmax(np.bincount(fast, minlength=len(orders))))])
    _, tried = _walking(walker, [order], support, under, random)
    energy, seconds, heave = tried["energy"], tried["seconds"], tried["heave"]
    if len(energy) < FEWEST:
        raise Problem(
            f"{walker.name}: of {TRIED} random gaits only {len(energy)} walk smoothly with {support} feet on the "
            "ground; its limits or its legs leave no room for a mood"
        )
    # Exuberant are those that bounce and are fast; exhausted the cheapest of those that take their time.
    liveliest = min(HEAVE * walker.leg_length, float(np.quantile(heave, 0.75)))
    lively = heave >= liveliest
    lively &= seconds <= np.quantile(seconds[lively], HURRY[1])
    slow, quick = float(np.quantile(seconds, HURRY[0])), float(np.median(seconds[lively]))
    low, high = FRUGAL * float(np.quantile(energy[seconds >= slow], 0.01)), float(np.quantile(energy[lively], 0.9))
    heaves = np.geomspace(CALMEST * liveliest, liveliest, RUNGS)
    heights = np.quantile(tried["low"], STATURE)
    contacts = np.minimum(np.linspace(*CONTACT, RUNGS), 0.98 * tried["contact"].max())

    def rung(k: int, energy: float, seconds: float) -> Wishes:
        wishes = {
            "energy": _short(energy),
            "seconds": _short(seconds),
            "in_full_stride": True,
            "support": support,
            "max_jump": CALM,
            "min_heave": _short((1 - NEAR_HEAVE) * heaves[k]),
            "max_heave": _short((1 + NEAR_HEAVE) * heaves[k]),
            "min_contact": _short(contacts[k]),
        }
        if tried["contact"].min() < contacts[k]:
            wishes["max_contact"] = _short(contacts[k] + LIGHTER)
        up = k / (RUNGS - 1)
        wishes["min_height"] = _short(max(under, heights[0] * (1 - up) + heights[1] * up))
        if k < RUNGS // 2:
            wishes["max_height"] = _short(heights[0] * (0.5 - up) + heights[1] * (0.5 + up))
        return Wishes.model_validate(wishes)

    one_order = _in_order(walker, order)
    exhausted = _attained(one_order, rung(0, low, slow), seed)
    exuberant = _attained(one_order, rung(RUNGS - 1, high, quick), seed)
    if exuberant[0] < LIVELIER * exhausted[0]:
        raise Problem(
            f"{walker.name}: exhausted it spends {exhausted[0]:.3g}, exuberant {exuberant[0]:.3g}; its limits or its "
            "legs leave no room for a mood"
        )
    energies, times = (np.geomspace(first, last, RUNGS) for first, last in zip(exhausted, exuberant))
    return order, [rung(k, energies[k], times[k]) for k in range(RUNGS)]


def _in_order(walker: Walker, order: Sequence[int]) -> Walker:
    return validated(Walker, {**walker.model_dump(), "orders": [list(order)]}, walker.name)


def _attained(walker: Walker, wishes: Wishes, seed: int) -> tuple[float, float]:
    """Energy and time that can be had of those wished for, together with all else."""
    encoding = Encoding(walker, bounds_for(walker, wishes), curve=wishes.curve)
    point = _next_rung(walker, wishes, encoding, None, None, 0.0, seed, lambda *_: None)
    found = measure_rows(walker, wishes, encoding.rows(point[None]))
    return float(found.energy[0]), float(found.seconds[0])


def _short(value: float) -> float:
    """As a person would write it."""
    return float(f"{value:.3g}")


def _walking(
    walker: Walker, orders: Sequence[Sequence[int]], support: int, under: float, random: np.random.Generator
) -> tuple[NDArray[np.int64], dict[str, Floats]]:
    """Of random gaits those that walk smoothly, off the ground, with a body that moves: number of their order, and
    what they do."""
    choice = walker.model_copy(update={"orders": [list(order) for order in orders]})
    encoding = Encoding(choice, walker.bounds)
    points = random.random((TRIED, encoding.dimension))
    measured = measure(walker, encoding.rows(points))
    good = (measured.stretch <= 0) & (measured.jump <= CALM) & (measured.support >= support) & (measured.low > under)
    good &= (measured.roll > UNMOVED) & (measured.pitch > UNMOVED)
    which = np.minimum((points[:, -1] * len(orders)).astype(int), len(orders) - 1)
    told = {name: getattr(measured, name)[good] for name in ("energy", "seconds", "heave", "contact", "low")}
    return which[good], told
