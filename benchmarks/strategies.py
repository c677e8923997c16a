"""Which strategy should a search use? All of them, over ten figures, eight seeds and two budgets.

    python benchmarks/strategies.py            # goes on where it was stopped, then shows the table
    python benchmarks/strategies.py --table    # shows what strategies.json holds

A value is the best that a search finds: metres in four seconds, the worst of three starts, lasting. All searches on a
figure go on side by side, since the simulator likes full lanes; results are kept after each figure and budget.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from _bars import end, meet

from impel.files import writing
from impel.search import STRATEGIES, strategy_named
from impel.toys.figure import built_in_figures, load_figure
from impel.toys.synthesis import DEFAULT_STRATEGY, objective_for

HERE = Path(__file__).parent
KEPT = HERE / "strategies.json"
FIGURES = [
    *built_in_figures(),
    *(f"figures/{name}.yaml" for name in ("hopper", "inchworm", "frog", "tumbler", "biped")),
]
BUDGETS = (800, 1500)
SEEDS = 8


def race(objective, budget):
    """The best value of every strategy and seed, {strategy: [values]}."""
    engines = {
        name: [strategy_named(name, *objective.bounds(), seed=seed, budget=budget) for seed in range(SEEDS)]
        for name in STRATEGIES
    }
    everyone = [engine for group in engines.values() for engine in group]
    while running := [engine for engine in everyone if engine.told < budget]:
        asked = [engine.ask()[: budget - engine.told] for engine in running]
        values = np.split(objective(np.concatenate(asked)), np.cumsum([len(a) for a in asked])[:-1])
        for engine, candidates, worth in zip(running, asked, values, strict=True):
            engine.tell(candidates, worth)
    return {name: [round(engine.best_value, 4) for engine in group] for name, group in engines.items()}


def measure():
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for budget in BUDGETS:
        for name in FIGURES:
            figure = load_figure(HERE / name if "/" in name else name)
            if str(budget) in found.get(figure.figure, {}):
                continue
            begin = time.process_time()
            found.setdefault(figure.figure, {})[str(budget)] = race(objective_for(figure, threads=1), budget)
            with writing(KEPT) as temporary:
                temporary.write_text(json.dumps(found, indent=1) + "\n")
            print(f"{figure.figure}, {budget} evaluations: {time.process_time() - begin:.0f} CPU s", flush=True)
    return found


def interval(values, *, draws=2000):
    """90 % of the medians of resampled seeds."""
    random = np.random.default_rng(0)
    return np.quantile(np.median(random.choice(values, (draws, len(values))), axis=1), [0.05, 0.95])


def table(found):
    for budget in BUDGETS:
        known = {figure: kept[str(budget)] for figure, kept in found.items() if str(budget) in kept}
        if not known:
            continue
        print(f"\n{budget} evaluations: median of {SEEDS} seeds, metres in 4 s")
        print(f"{'':10}" + "".join(f"{name:>10}" for name in STRATEGIES))
        good, worst, below = 0, [], []
        for figure, kept in known.items():
            medians = {name: float(np.median(values)) for name, values in kept.items()}
            best = max(medians, key=medians.__getitem__)
            ours = medians[DEFAULT_STRATEGY]
            overlap = interval(kept[DEFAULT_STRATEGY])[1] >= interval(kept[best])[0]
            good += ours >= 0.95 * medians[best] or bool(overlap)
            worst += [figure] if ours <= min(medians.values()) else []
            below += [figure] if ours <= max(medians["generate"], medians["modify"]) else []
            print(f"{figure:10}" + "".join(f"{m:9.2f}{'*' if n == best else ' '}" for n, m in medians.items()))
        print(f"{DEFAULT_STRATEGY} is within 5 % of the best, or its interval overlaps, on {good} of {len(known)}")
        meet(f"{budget}: good on figures", good / len(known), at_least=0.8)
        meet(f"{budget}: worst on figures", len(worst), at_most=0)
        meet(f"{budget}: not above chance and a hill climb on {', '.join(below) or 'none'}", len(below), at_most=0)


if __name__ == "__main__":
    table(json.loads(KEPT.read_text()) if "--table" in sys.argv else measure())
    end()
