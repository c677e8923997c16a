"""Cheetahs with flexible and with stiff backs, and the pose graphs that a search finds for them."""

from functools import cache

import numpy as np

from impel.toys.figure import Figure, load_figure
from impel.toys.measures import Sweep, sweep_gain
from impel.toys.objectives import Objective
from impel.toys.synthesis import FoundPoses, find_poses, objective_for

Floats = np.ndarray

STIFF = 1.0  # N·m·s/rad: the back hardly bends within a stride (002, figure 10, stiffens by damping, too)
BACK = ("rear back", "front back")


def cheetah(*, stiff: bool = False) -> Figure:
    figure = load_figure("cheetah")
    for name in BACK if stiff else ():
        figure.joints[name].damping = STIFF
    return figure


@cache
def found_run(seed: int, stiff: bool = False) -> tuple[Objective, FoundPoses]:
    """What the default search (1500 evaluations, worst of three starts) finds: `impel toy search cheetah --seed N`."""
    objective = objective_for(cheetah(stiff=stiff))
    return objective, find_poses(objective, seed=seed)


def rerun(seeds: int, gain: str, values: Floats) -> Sweep:
    """The runs found for the flexible back, with a gain of the back changed: (values, seeds)."""
    pairs = [found_run(seed) for seed in range(seeds)]
    objective = pairs[0][0]
    return sweep_gain(
        objective.figure, objective.shaped(np.stack([gait.candidate for _, gait in pairs])), objective.times, gain,
        values, joints=BACK, heights=objective.heights, step=objective.step / 4,
    )  # fmt: skip
