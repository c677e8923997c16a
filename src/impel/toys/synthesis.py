"""Finding pose graphs: search, palette and refinement (002, section 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.search import Outcome, Strategy, Study, search, strategy_named
from impel.toys.figure import Figure
from impel.toys.objectives import DEFAULT_TERMS, Objective, OwnTerm
from impel.toys.toy import Toy, toy_of
from impel.toys.trials import Results, heights_above, run_trials, start_state
from impel.toys.verify import LASTS, NEAR, Telling, as_kept, run_on, verify

Floats = NDArray[np.float64]
Progress = Callable[[int, float], None]

DEFAULT_STRATEGY = "relay"


@dataclass(frozen=True)
class FoundPoses:
    """A found pose graph as its toy file keeps it, and what verification says of it.

    value: what it is worth in the search. verified: the same with all starts at a quarter of the step. distance, time:
    how far it comes and how long it stays up in `LASTS` seconds at a quarter of the step, the worst of the starts.
    """

    candidate: Floats
    value: float
    verified: float
    distance: float
    time: float
    outcome: Outcome

    @property
    def stays_up(self) -> bool:
        return self.time >= LASTS - 1e-6

    def toy(self, objective: Objective, *, source: str | None = None) -> Toy:
        one = self.candidate[None]
        return toy_of(
            objective.figure, objective.shaped(one)[0], objective.arcs(one)[0], source=source,
            interpolation=objective.interpolation, sensors=objective.sensed(self.candidate), step=objective.step / 4,
        )  # fmt: skip


def objective_for(figure: Figure, terms: Mapping[str | OwnTerm, float] | None = None, **options: Any) -> Objective:
    """The default: how far it comes upright in four seconds with the figure's own cycle."""
    given: dict[str, Any] = {"poses": figure.cycle.poses, "times": figure.cycle.time} | options
    return Objective(figure, terms or DEFAULT_TERMS, **given)


def find_poses(
    objective: Objective,
    *,
    strategy: str = DEFAULT_STRATEGY,
    seed: int = 0,
    budget: int = 1500,
    start: Floats | None = None,
    study: str | Path | None = None,
    progress: Progress | None = None,
    verifying: Telling | None = None,
    **options: Any,
) -> FoundPoses:
    """Search, then take the best that stays up for `LASTS` seconds (see `verify`)."""
    how = {"strategy": strategy, "seed": seed, "budget": budget, "start": start, **options}
    return best_verified(objective, _searched(objective, how, study, progress), start, verifying)


def _searched(
    objective: Objective, how: dict[str, Any], study: str | Path | None, progress: Progress | None
) -> Outcome:
    """What a search tries, kept in a study if one is named."""
    budget = how["budget"]

    def engine(legs: list[int]) -> Strategy:
        given = {name: value for name, value in how.items() if name not in ("strategy", "budget")}
        return strategy_named(how["strategy"], *objective.bounds(), budget=legs, **given)

    engine([budget])  # complains before there is a study
    if study is None:
        return search(engine([budget]), objective, budget=budget, progress=progress)
    with Study(study, settings_of(objective, **how)) as kept:
        return search(engine(kept.legs(budget)), objective, budget=budget, study=kept, progress=progress)


def best_verified(
    objective: Objective, outcome: Outcome, start: Floats | None = None, telling: Telling | None = None
) -> FoundPoses:
    """The best that stays up; the start is among those that are looked at, so nothing gets worse."""
    everything = outcome.top(len(outcome.values))
    if start is not None:
        everything = np.vstack([np.clip(start, *objective.bounds())[None], everything])
    found = verify(objective, everything, telling)
    return _found(objective, found.candidates[found.winner()][None], outcome)[0]


def _found(objective: Objective, candidates: Floats, outcome: Outcome) -> list[FoundPoses]:
    kept = as_kept(objective, candidates)
    long = run_on(objective, kept)
    columns = objective(kept), objective.verified(kept), long.distance, long.time
    return [
        FoundPoses(candidate, float(value), float(verified), float(distance), float(time), outcome)
        for candidate, value, verified, distance, time in zip(kept, *columns)
    ]


def refine(
    objective: Objective, candidate: Floats, *, seed: int = 0, budget: int = 500, spread: float = NEAR,
    study: str | Path | None = None, progress: Progress | None = None,
) -> FoundPoses:  # fmt: skip
    """The second phase: improve a chosen pose graph without leaving its neighbourhood."""
    return find_poses(
        objective, strategy="cma", seed=seed, budget=budget, start=candidate, spread=spread, study=study,
        progress=progress,
    )  # fmt: skip


def settings_of(objective: Objective, **how: Any) -> dict[str, Any]:
    """What makes two searches the same, as plain data for the study file."""
    start = how.pop("start", None)
    return {
        "figure": objective.figure.model_dump(mode="json", by_alias=True),
        "terms": _named_terms(objective),
        "poses": objective.poses,
        "times": list(np.broadcast_to(objective.times, (objective.poses,)).tolist()),
        "interpolation": objective.interpolation,
        "vary_times": objective.vary_times and list(objective.vary_times),
        "sensors": objective.sensors and [sensor and sensor.model_dump() for sensor in objective.sensors],
        "seconds": objective.seconds,
        "step": objective.step,
        "heights": list(objective.heights),
        "start": None if start is None else [float(v) for v in start],
        **({"vary_sensors": True} if objective.vary_sensors else {}),
        **how,
    }


def _named_terms(objective: Objective) -> dict[str, float]:
    """Terms by name. One's own must have one, or two different searches would share a study."""
    terms: dict[str, float] = {}
    for term, weight in objective.terms.items():
        name = term if isinstance(term, str) else getattr(term, "__qualname__", "<lambda>")
        if "<lambda>" in name or name in terms:
            raise Problem(
                "objective: a study needs a name for every term; write your own with def, each by another name"
            )
        terms[name] = weight
    return terms


# -- several modes ------------------------------------------------------------------------------------------

LEAST = 0.3  # of the best distance: what comes less far is not worth choosing
VERIFIED_AT_ONCE = 100  # candidates: enough for all cores, and the bar still moves
DIFFERENT = 0.25  # distance between motions that a person tells apart; each part of the description is about 1


def describe(objective: Objective, results: Results) -> Floats:
    """What a viewer sees of runs sampled evenly: rhythm, height, bounce, tilt, and which points carry it, (T, D).

    Rhythm is landings per cycle, heights are in figure lengths, and contact is each point's share of the time.
    """
    rows, samples = results.rows, results.samples
    touching: NDArray[np.bool_] = np.asarray(samples[:, :, rows.force] > 0.0)
    grounded: NDArray[np.bool_] = np.asarray(touching.any(axis=2))
    landings = (grounded[:, 1:] & ~grounded[:, :-1]).sum(axis=1)
    span = samples[:, -1, rows.time] - samples[:, 0, rows.time]
    ends = np.array([p for link in objective.figure.links.values() for p in (link.start, link.end)])
    length = float(np.linalg.norm(np.ptp(ends, axis=0)))
    height = heights_above(objective.figure, samples[:, :, 0], samples[:, :, 1])
    parts = [
        landings / (span / results.cycle) / 4.0,
        np.log2(np.maximum(results.distance / span, 1e-3)) / 4.0,
        height.mean(axis=1) / length,
        np.ptp(height, axis=1) / length,
        samples[:, :, 2].mean(axis=1),
        *touching.mean(axis=1).T,
    ]
    return np.stack(parts, axis=1)


def palette(
    objective: Objective, *, seed: int = 0, budget: int = 3000, size: int = 6, study: str | Path | None = None,
    progress: Progress | None = None, verifying: Telling | None = None,
) -> list[FoundPoses]:  # fmt: skip
    """The first phase: clearly different pose graphs that stay up, the farthest-going first.

    Draws `budget` pose graphs, keeps those that from every start height stay up for `LASTS` seconds at a quarter
    of the step (`verifying` is told how many of how many were tried) and come at least `LEAST` of the best such
    distance, and picks greedily: best first, then always one that differs by at least `DIFFERENT` from all picked ones.
    """
    how = {"strategy": "generate", "seed": seed, "budget": budget, "start": None}
    outcome = _searched(objective, how, study, progress)
    promising = as_kept(objective, outcome.top(min(len(outcome.values) // 4 + 1, 400)))
    candidates = promising[_survivors(objective, promising, verifying)]
    if len(candidates) == 0:
        return []
    steps = round(LASTS / objective.step)
    stride = 10
    results = run_sampled(objective, candidates, seconds=LASTS, samples=steps // stride, stride=stride)
    looks = describe(objective, results)
    order = [int(i) for i in np.argsort(-results.distance, kind="stable")]
    order = [i for i in order if results.distance[i] >= LEAST * results.distance[order[0]]]
    picked: list[int] = []
    for i in order:
        if all(np.linalg.norm(looks[i] - looks[j]) >= DIFFERENT for j in picked):
            picked.append(i)
        if len(picked) == size:
            break
    return _found(objective, candidates[picked], outcome)


def _survivors(objective: Objective, candidates: Floats, verifying: Telling | None) -> NDArray[np.bool_]:
    """Which candidates stay up and come forward, from every start height and at a quarter of the step."""
    good: list[bool] = []
    for part in np.array_split(candidates, max(1, len(candidates) // VERIFIED_AT_ONCE)):
        results = run_on(objective, part)
        good.extend((results.up & (results.distance > 0.0)).tolist())
        if verifying is not None:
            verifying(len(good), len(candidates))
    return np.array(good, bool)


def run_sampled(objective: Objective, candidates: Floats, *, seconds: float, samples: int, stride: int) -> Results:
    """Runs of candidates from the first start height with states kept at even intervals."""
    return run_trials(
        objective.figure, objective.shaped(candidates), objective.arcs(candidates), seconds=seconds,
        step=objective.step, interpolation=objective.interpolation, sensors=objective.codes(candidates),
        starts=start_state(objective.figure, clearance=objective.heights[0]), samples=samples, stride=stride,
        threads=objective.threads,
    )  # fmt: skip
