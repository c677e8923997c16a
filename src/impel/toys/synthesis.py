"""Finding gaits: search, palette and refinement (002, section 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.search import Outcome, Study, search, strategy_named
from impel.toys.figure import Figure
from impel.toys.objectives import DEFAULT_TERMS, Objective, OwnTerm
from impel.toys.toy import Toy, toy_of
from impel.toys.trials import Results, run_trials, start_state

Floats = NDArray[np.float64]
Progress = Callable[[int, float], None]

VERIFIED = 16  # how many of the best are run again at a quarter of the step
DEFAULT_STRATEGY = "cma"


@dataclass(frozen=True)
class Gait:
    """A found gait: its parameters, what it is worth in the search and at a quarter of the step."""

    candidate: Floats
    value: float
    verified: float
    outcome: Outcome

    def toy(self, objective: Objective, *, source: str | None = None) -> Toy:
        poses = objective.shaped(self.candidate[None])[0]
        return toy_of(objective.figure, poses, objective.times, source=source, interpolation=objective.interpolation)


def objective_for(figure: Figure, terms: Mapping[str | OwnTerm, float] | None = None, **options: Any) -> Objective:
    """The default: robust distance in four seconds with the figure's own cycle."""
    given: dict[str, Any] = {"poses": figure.cycle.poses, "times": figure.cycle.time} | options
    return Objective(figure, terms or DEFAULT_TERMS, **given)


def find_gait(
    objective: Objective,
    *,
    strategy: str = DEFAULT_STRATEGY,
    seed: int = 0,
    budget: int = 1500,
    start: Floats | None = None,
    study: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Gait:
    """Search, then take the best of the top few after verification at a quarter of the step."""
    low, high = objective.bounds()
    engine = strategy_named(strategy, low, high, seed=seed, budget=budget, start=start, **options)
    if study is None:
        outcome = search(engine, objective, budget=budget, progress=progress)
    else:
        settings = settings_of(objective, strategy=strategy, seed=seed, budget=budget, start=start, **options)
        with Study(study, settings) as kept:
            outcome = search(engine, objective, budget=budget, study=kept, progress=progress)
    return best_verified(objective, outcome)


def best_verified(objective: Objective, outcome: Outcome) -> Gait:
    top = outcome.top(VERIFIED)
    verified = objective.verified(top)
    i = int(np.argmax(verified))
    value = float(np.sort(outcome.values)[::-1][i])
    return Gait(top[i], value, float(verified[i]), outcome)


def refine(
    objective: Objective, candidate: Floats, *, seed: int = 0, budget: int = 500, spread: float = 0.08,
    study: str | Path | None = None, progress: Progress | None = None,
) -> Gait:  # fmt: skip
    """The second phase: improve a chosen gait without leaving its neighbourhood."""
    return find_gait(
        objective, seed=seed, budget=budget, start=candidate, spread=spread, study=study, progress=progress
    )


def compare_strategies(
    objective: Objective, variants: Mapping[str, Mapping[str, Any]], *, seeds: int = 8, budget: int = 1500
) -> dict[str, list[float]]:
    """Best value of every variant for every seed (002, figures 6 and 7); a variant is options of `find_gait`."""
    return {
        name: [find_gait(objective, seed=s, budget=budget, **options).outcome.best_value for s in range(seeds)]
        for name, options in variants.items()
    }


def settings_of(objective: Objective, **how: Any) -> dict[str, Any]:
    """What makes two searches the same, as plain data for the study file."""
    start = how.pop("start", None)
    return {
        "figure": objective.figure.model_dump(mode="json", by_alias=True),
        "terms": {name if isinstance(name, str) else name.__qualname__: w for name, w in objective.terms.items()},
        "poses": objective.poses,
        "times": list(np.broadcast_to(objective.times, (objective.poses,)).tolist()),
        "interpolation": objective.interpolation,
        "seconds": objective.seconds,
        "step": objective.step,
        "heights": list(objective.heights),
        "start": None if start is None else [float(v) for v in start],
        **how,
    }


# -- several modes ------------------------------------------------------------------------------------------

HOLDS_UP = 10.0  # s
DIFFERENT = 0.25  # distance between gaits that a person tells apart; each part of the description is about 1


def describe(objective: Objective, results: Results) -> Floats:
    """What a viewer sees of runs sampled evenly: rhythm, height, bounce, tilt, and which points carry it, (T, D).

    Rhythm is landings per cycle, heights are in figure lengths, and contact is each point's share of the time.
    """
    rows, samples = results.rows, results.samples
    touching: NDArray[np.bool_] = np.asarray(samples[:, :, rows.force] > 0.0)
    grounded: NDArray[np.bool_] = np.asarray(touching.any(axis=2))
    landings = (grounded[:, 1:] & ~grounded[:, :-1]).sum(axis=1)
    cycle = float(np.broadcast_to(objective.times, (objective.poses,)).sum())
    span = samples[:, -1, rows.time] - samples[:, 0, rows.time]
    ends = np.array([p for link in objective.figure.links.values() for p in (link.start, link.end)])
    length = float(np.linalg.norm(np.ptp(ends, axis=0)))
    height = samples[:, :, 1]
    parts = [
        landings / (span / cycle) / 4.0,
        np.log2(np.maximum(results.distance / span, 1e-3)) / 4.0,
        height.mean(axis=1) / length,
        np.ptp(height, axis=1) / length,
        samples[:, :, 2].mean(axis=1),
        *touching.mean(axis=1).T,
    ]
    return np.stack(parts, axis=1)


def palette(
    objective: Objective, *, seed: int = 0, budget: int = 3000, size: int = 6, holds_up: float = HOLDS_UP,
    least: float = 0.3, refining: int = 0, progress: Progress | None = None,
) -> list[Gait]:  # fmt: skip
    """The first phase: clearly different gaits that hold up for ten seconds, the farthest-going first.

    Draws `budget` pose graphs, keeps those that from every start height stay up for `holds_up` seconds at a
    quarter of the step and come at least `least` of the best such distance, and picks greedily: best first, then
    always one that differs by at least `DIFFERENT` from all picked ones. refining: evaluations spent on each pick.
    """
    low, high = objective.bounds()
    engine = strategy_named("generate", low, high, seed=seed, budget=budget)
    outcome = search(engine, objective, budget=budget, progress=progress)
    promising = outcome.top(min(len(outcome.values) // 4 + 1, 400))
    stays = _survivors(objective, promising, holds_up)
    candidates = promising[stays]
    if refining:
        gaits = [refine(objective, c, seed=seed, budget=refining) for c in candidates[: 2 * size]]
        better = np.stack([g.candidate for g in gaits]) if gaits else candidates[:0]
        candidates = np.vstack([better[_survivors(objective, better, holds_up)], candidates])
    if len(candidates) == 0:
        return []
    steps = round(holds_up / objective.step)
    stride = 5
    one = replace(objective, heights=objective.heights[:1])
    results = run_sampled(one, candidates, seconds=holds_up, samples=steps // stride, stride=stride)
    looks = describe(one, results)
    order = [int(i) for i in np.argsort(-results.distance, kind="stable")]
    order = [i for i in order if results.distance[i] >= least * results.distance[order[0]]]
    picked: list[int] = []
    for i in order:
        if all(np.linalg.norm(looks[i] - looks[j]) >= DIFFERENT for j in picked):
            picked.append(i)
        if len(picked) == size:
            break
    chosen = candidates[picked]
    values, verified = objective(chosen), objective.verified(chosen)
    return [Gait(c, float(v), float(w), outcome) for c, v, w in zip(chosen, values, verified)]


def _survivors(objective: Objective, candidates: Floats, seconds: float) -> NDArray[np.bool_]:
    """Which candidates stay up and come forward, from every start height and at a quarter of the step."""
    if len(candidates) == 0:
        return np.zeros(0, bool)
    results = objective.run(candidates, step=objective.step / 4, seconds=seconds)
    good = ~results.fallen & (results.distance > 0.0)
    return np.asarray(good.reshape(len(candidates), -1).all(axis=1))


def run_sampled(objective: Objective, candidates: Floats, *, seconds: float, samples: int, stride: int) -> Results:
    """Runs of candidates from the first start height with states kept at even intervals."""
    return run_trials(
        objective.figure, objective.shaped(candidates), objective.times, seconds=seconds, step=objective.step,
        interpolation=objective.interpolation, starts=start_state(objective.figure, clearance=objective.heights[0]),
        samples=samples, stride=stride, threads=objective.threads,
    )  # fmt: skip
