"""Cheetahs with flexible and with stiff backs, and the pose graphs that a search finds for them."""

from functools import cache

import numpy as np

from impel.toys.figure import Figure, load_figure
from impel.toys.objectives import Objective
from impel.toys.synthesis import Gait, find_gait, objective_for
from impel.toys.trials import Results, gains_of, run_trials, start_state

Floats = np.ndarray

STIFF = 1.0  # N·m·s/rad: the back hardly bends within a stride (002, figure 10, stiffens by damping, too)
BACK = ("rear back", "front back")


def cheetah(*, stiff: bool = False) -> Figure:
    figure = load_figure("cheetah")
    for name in BACK if stiff else ():
        figure.joints[name].damping = STIFF
    return figure


@cache
def found_run(seed: int, stiff: bool = False) -> tuple[Objective, Gait]:
    """What the default search (1500 evaluations, worst of three starts) finds: `impel toy search cheetah --seed N`."""
    objective = objective_for(cheetah(stiff=stiff))
    return objective, find_gait(objective, seed=seed)


def rerun(seeds: int, gain: str, values: Floats) -> Results:
    """The runs found for the flexible back, with a gain of the back changed: values x seeds x starts, in this order."""
    pairs = [found_run(seed) for seed in range(seeds)]
    objective = pairs[0][0]
    figure, heights = objective.figure, objective.heights
    names = list(figure.joints)
    columns = [names.index(name) + (len(names) if gain == "damping" else 0) for name in BACK]
    gains = np.tile(gains_of(figure), (len(values), 1))
    gains[:, columns] = values[:, None]
    poses = objective.shaped(np.stack([gait.candidate for _, gait in pairs]))
    starts = np.stack([start_state(figure, clearance=height) for height in heights])
    return run_trials(
        figure,
        np.tile(np.repeat(poses, len(heights), axis=0), (len(values), 1, 1)),
        objective.times,
        step=objective.step / 4,
        starts=np.tile(starts, (len(values) * seeds, 1)),
        gains=np.repeat(gains, seeds * len(heights), axis=0),
    )
