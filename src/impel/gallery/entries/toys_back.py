"""Figures 9 and 10 of paper 002: a cheetah that runs with a flexible back, and with a stiff one."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import INK, SOFT, color, plot
from impel.gallery.cheetahs import STIFF, cheetah, found_run, rerun
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.loading import gallery_toy
from impel.gallery.strides import write_strides
from impel.render.outputs import write_take
from impel.takes import Take
from impel.toys.performance import take_of

ORDER = 240
TITLE = "A back that bends"
TEXT = (
    "Two passive springs in the back, and the bounder becomes a cheetah. Stiffen the back of a running one and it "
    "falls behind or falls over: the pose graph was made for the other body. But give the stiff body a pose graph of "
    "its own, found by the same search, and it outruns the flexible one. So the pictures show how well a controller "
    "fits its body, not that bodies should bend."
)

SEEDS = 6
STRIDE = 0.5  # s

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Backs:
    """Metres in four seconds (worst of the starts, a quarter of the search's step) for every seed."""

    flexible: Floats
    stiffened: Floats  # the same pose graphs on a stiff back
    own: Floats  # a stiff back with pose graphs of its own
    effort: tuple[float, float]  # N²m²s per metre, median: flexible, stiff with its own


def compare(seeds: int = SEEDS) -> Backs:
    stiffened = rerun(seeds, "damping", np.array([STIFF])).distance[0]
    distances, efforts = [], []
    for stiff in (False, True):
        pairs = [found_run(seed, stiff) for seed in range(seeds)]
        objective = pairs[0][0]
        runs = objective.run(np.stack([gait.candidate for _, gait in pairs]), step=objective.step / 4)
        distances.append(runs.distance.reshape(seeds, -1).min(axis=1))
        efforts.append(float(np.median(runs.effort.sum(1) / np.maximum(runs.distance, 0.1))))
    return Backs(distances[0], stiffened, distances[1], (efforts[0], efforts[1]))


def verdicts(backs: Backs) -> list[Verdict]:
    flexible, stiffened, own = (float(np.median(d)) for d in (backs.flexible, backs.stiffened, backs.own))
    better = int((backs.flexible > backs.stiffened).sum())
    seeds = len(backs.flexible)
    return [
        judge(
            "002.6",
            flexible > 1.2 * stiffened and better > 0.75 * seeds,
            f"same pose graph: {flexible:.2f} m in 4 s with the flexible back, {stiffened:.2f} m with the stiff one "
            f"(medians of {seeds} searches; {better} of {seeds} are better flexible, and a fifth of the way is asked)",
        ),
        judge(
            "002.6",
            flexible > own,
            f"each with a pose graph of its own: {flexible:.2f} m flexible, {own:.2f} m stiff (best "
            f"{backs.flexible.max():.2f} and {backs.own.max():.2f}); effort per metre {backs.effort[0]:.3f} and "
            f"{backs.effort[1]:.3f} N²m·s",
        ),
    ]


def make(directory: Path) -> Exhibit:
    backs = compare()
    gallop, flexible = gallery_toy("cheetah-gallop")
    running, stiffened = (take_of(gallop, figure, seconds=4.0) for figure in (flexible, cheetah(stiff=True)))
    own_objective, own_gait = found_run(int(np.argmax(backs.own)), True)
    bounding = take_of(own_gait.toy(own_objective), own_objective.figure, seconds=4.0)
    write_strides(directory / "flexible.png", [running], begin=2.0, seconds=STRIDE)
    write_strides(directory / "stiffened.png", [stiffened], begin=2.0, seconds=STRIDE)
    write_strides(directory / "own.png", [bounding], begin=2.0, seconds=STRIDE)
    write_take(running, directory / "cheetah.mp4")
    draw(directory / "backs.png", backs)
    return Exhibit(
        pictures=[
            ("cheetah.mp4", f"A gallop with a flexible back, {_way(running):.2f} m in 4 s."),
            ("flexible.png", "Figure 9: the same, a cycle and a quarter from left to right."),
            ("stiffened.png", f"Figure 10: the same pose graph with a stiff back, {_way(stiffened):.2f} m in 4 s."),
            ("own.png", f"A stiff back with a pose graph of its own, {_way(bounding):.2f} m in 4 s."),
            ("backs.png", "Six searches each; a bar is the median."),
        ],
        verdicts=verdicts(backs),
    )


def _way(take: Take) -> float:
    """How far the root came, in metres."""
    x = take.channels["root.x"]
    return float(x[-1] - x[0])


def draw(path: Path, backs: Backs) -> None:
    rows = {
        "flexible back": backs.flexible,
        "stiff back, same pose graph": backs.stiffened,
        "stiff back, its own pose graph": backs.own,
    }
    with plot(path, size=(8, 2.6)) as axes:
        for i, values in enumerate(rows.values()):
            axes.barh(i, np.median(values), 0.55, color=color((1, 0, 3)[i]), alpha=0.35)
            axes.plot(values, np.full(len(values), i), "o", ms=5, color=color((1, 0, 3)[i]))
        axes.axvline(0, color=SOFT, lw=0.8)
        axes.set_yticks(range(len(rows)), list(rows), color=INK)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("metres in four seconds, worst of three starts")
