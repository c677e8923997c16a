"""Figures 11 and 12 of paper 002: other dampers and other springs in the cheetah's back, same pose graphs."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gallery.cheetahs import rerun
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.toys.measures import Sweep

ORDER = 250
TITLE = "A spring in the back, softer and harder"
TEXT = (
    "Eight searches found eight ways to run for the same cheetah. Each keeps its pose graph while the springs or the "
    "dampers in the back change; every point is the median over the eight, and each counts as the worst of three "
    "starts, since a single run of a single toy is partly luck. Its own spring suits a toy best, as the paper found. "
    "Less damping costs less effort but is not faster, and a soft back makes it stumble rather than fall."
)

SEEDS = 8
DAMPING = np.geomspace(0.001, 1.0, 31)  # N·m·s/rad; the nominal 0.004 lies within half a percent of one
STIFFNESS = np.sort(np.append(np.geomspace(0.04, 1.0, 30), 0.12))  # N·m/rad
SHARE, MORE_EFFORT = 0.28, 0.33  # the paper's

Floats = NDArray[np.float64]


def sweeps(seeds: int = SEEDS) -> tuple[Sweep, Sweep]:
    return rerun(seeds, "damping", DAMPING), rerun(seeds, "stiffness", STIFFNESS)


def verdicts(damping: Sweep, stiffness: Sweep) -> list[Verdict]:
    return [*stiffer(damping), less_damping(damping), *own_spring(stiffness)]


def stiffer(damping: Sweep) -> list[Verdict]:
    share = np.median(damping.share, axis=1)
    distance = np.median(damping.distance, axis=1)
    home = damping.nominal
    beyond = distance[home + 1 :]
    effort = damping.change(damping.effort) - 1
    standing = damping.fallen.mean(axis=1) < 0.5
    still = effort[standing & (np.arange(len(effort)) > home)].max()
    toys = damping.distance.shape[1]
    return [
        judge(
            "002.7",
            abs(share[home] - SHARE) < 0.08 and share[-1] < 0.05 and bool((beyond < distance[home]).all()),
            f"over {toys} toys the back does {share[home]:.0%} of the work (28 ± 8) and {share[-1]:.1%} when stiff "
            f"(5 allowed); {distance[home]:.2f} m in 4 s, {beyond[1]:.2f} at 1.6 times the damping, {beyond[3]:.2f} at "
            f"2.5 times; {(beyond > distance[home]).sum()} of {len(beyond)} stiffer backs are faster",
        ),
        judge(
            "002.7",
            abs(effort.max() - MORE_EFFORT) < 0.17,
            f"effort per second rises by up to {effort.max():.0%} (33 ± 17 asked), by {still:.0%} as long as most of "
            f"the toys stay up",
        ),
    ]


def less_damping(damping: Sweep) -> Verdict:
    less = slice(0, damping.nominal)
    distance, effort = damping.change(damping.distance), damping.change(damping.effort)
    best = int(np.argmax(distance[less]))
    quicker = int((damping.distance[best] > damping.distance[damping.nominal]).sum())
    half = int(np.argmin(np.abs(damping.values - damping.values[damping.nominal] / 2)))
    faster, cheaper = bool(distance[best] > 1.0), bool(effort[best] < 1.0)
    return judge(
        "002.8",
        faster and cheaper,
        f"median distance against nominal: {distance[best] - 1:+.0%} at best (k_d = {damping.values[best]:.4f}, where "
        f"{quicker} of {damping.distance.shape[1]} toys are faster), {distance[half] - 1:+.0%} at half the damping; "
        f"effort {effort[best] - 1:+.0%} and {effort[half] - 1:+.0%}: {'cheaper' if cheaper else 'not cheaper'}, "
        f"{'and' if cheaper == faster else 'but'} {'faster' if faster else 'not faster'}",
    )


def own_spring(stiffness: Sweep) -> list[Verdict]:
    distance = np.median(stiffness.distance, axis=1)
    best, home = int(np.argmax(distance)), stiffness.nominal
    soft = stiffness.values < 0.1
    falls = float(stiffness.fallen[soft].mean())
    lost = 1 - float(np.median(distance[soft])) / distance[home]
    return [
        judge(
            "002.9",
            abs(best - home) <= 1,
            f"the median goes farthest at k_p = {stiffness.values[best]:.3f} ({distance[best]:.2f} m; neighbours of "
            f"0.12 on a grid of 12 % count); {distance[home + 4]:.2f} m at {stiffness.values[home + 4]:.2f}",
        ),
        judge(
            "002.9",
            falls > 0.5,
            f"below 0.1 it falls in {falls:.0%} of the runs (more than half asked), and its median way changes by "
            f"{-lost:+.0%}",
        ),
    ]


def make(directory: Path) -> Exhibit:
    damping, stiffness = sweeps()
    draw(directory / "damping.png", damping, "damping of the back, k_d (N·m·s/rad)")
    draw(directory / "stiffness.png", stiffness, "stiffness of the back, k_p (N·m/rad)")
    return Exhibit(
        pictures=[
            ("damping.png", "Figure 11: more and less damping. The dashed line is the back the toys were made for."),
            ("stiffness.png", "Figure 12: harder and softer springs, under the same pose graphs."),
        ],
        verdicts=verdicts(damping, stiffness),
    )


def draw(path: Path, sweep: Sweep, label: str) -> None:
    with plot(path, columns=2, size=(10, 4.0)) as (ways, costs):
        ways.plot(sweep.values, sweep.distance, color=color(1), lw=0.6, alpha=0.35)
        ways.plot(sweep.values, np.median(sweep.distance, axis=1), color=color(1), lw=2.2)
        ways.set_title(f"Distance in four seconds (m): {sweep.distance.shape[1]} toys and their median")
        lines = {
            "effort, against nominal": sweep.change(sweep.effort),
            "share of work done by the back": np.median(sweep.share, axis=1),
            "share of runs that fall": sweep.fallen.mean(axis=1),
        }
        for i, (name, line) in enumerate(lines.items()):
            costs.plot(sweep.values, line, color=color((0, 3, 4)[i]), label=name)
        costs.legend(loc="upper left", frameon=True, framealpha=1, edgecolor="white")
        costs.set_title("What it costs")
        for axes in (ways, costs):
            axes.set_xscale("log")
            axes.set_xlabel(label)
            axes.axvline(sweep.values[sweep.nominal], color=SOFT, lw=0.9, ls=(0, (3, 3)))
        name_line(ways, (sweep.values[sweep.nominal], ways.get_ylim()[0]), "nominal", SOFT, shift=(4, 8))
