"""Figures 8 and 9 of paper 001: the same energy, spent tall or crouched, in long steps or in short ones."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from impel.analysis.plots import SOFT, color, name_line, plot
from impel.gaits.evolve import Evolved, evolve
from impel.gaits.walk import Walk, walk_gait
from impel.gaits.wishes import Wishes
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.walks import CREATURE, WAY, filmed, write_rows

ORDER = 130
TITLE = "The same energy, tall or crouched, with long steps or short"
TEXT = (
    "All four spend an energy of 100. What the body's height or the length of a step may be is a wish on top, and "
    "evolution finds a gait within it. At least two feet stay on the ground, so that nobody takes to flying."
)

ENERGY = 100
EXACT = 1e-6  # m by which a limit may be overstepped
WISHES = {
    "tall": Wishes(energy=ENERGY, min_height=1.5, support=2, in_full_stride=True),
    "low": Wishes(energy=ENERGY, max_height=1.2, support=2, in_full_stride=True),
    "long": Wishes(energy=ENERGY, min_pace=1.5, support=2, in_full_stride=True),
    "short": Wishes(energy=ENERGY, max_pace=0.5, support=2, in_full_stride=True),
}


def evolved() -> dict[str, Evolved]:
    return {name: evolve(CREATURE, wishes) for name, wishes in WISHES.items()}


def strides(walk: Walk) -> list[float]:
    """How far each foot is carried from one landing to its next, in metres, in the middle half of the walk."""
    paces = []
    length = float(walk.along[-1])
    swinging = (walk.along > length / 4) & (walk.along < 3 * length / 4)  # it starts and stops with shorter steps
    for leg in range(walk.foot.shape[1]):
        landed = np.flatnonzero(walk.lifted[:-1, leg] & ~walk.lifted[1:, leg] & swinging[1:]) + 1
        paces += np.diff(walk.foot[landed, leg, 0]).tolist()
    return paces


def verdicts(runs: Mapping[str, Evolved]) -> list[Verdict]:
    tall, low, long, short = (runs[name] for name in ("tall", "low", "long", "short"))
    spent = max(abs(run.energy / ENERGY - 1) for run in runs.values())
    met = all(run.possible for run in runs.values()) and spent < 0.02
    least, most = float(tall.measured.low[0]), float(low.measured.high[0])
    paces = {name: strides(walk_gait(runs[name].gait, path=[(0.0, 0.0), (20.0, 0.0)])) for name in ("long", "short")}
    least_pace, most_pace = min(paces["long"]), max(paces["short"])
    energies = f"energies within {100 * spent:.2g} % of {ENERGY} (2 allowed)"
    return [
        judge(
            "001.4",
            met and least >= 1.5 - EXACT and most <= 1.2 + EXACT,
            f"asked for at least 1.5 m the body never sinks below {least:.4f} m, asked for at most 1.2 m it never "
            f"rises above {most:.4f} m (to 1e-6 m); {energies}",
        ),
        judge(
            "001.5",
            met
            and long.gait.genes.pace >= 1.5 - EXACT
            and short.gait.genes.pace <= 0.5 + EXACT
            and least_pace >= 1.5 - EXACT
            and most_pace <= 0.5 + EXACT,
            f"asked for more than 1.5 m feet step at least {least_pace:.4f} m, asked for less than 0.5 m at most "
            f"{most_pace:.4f} m, measured between landings in the middle of 20 m (to 1e-6 m). The length of "
            f"a step is a gene, so this follows from its bounds; that the energy is still met does not: {energies}",
        ),
    ]


def make(directory: Path) -> Exhibit:
    runs = evolved()
    takes = {name: filmed(run.gait) for name, run in runs.items()}
    write_rows(directory / "figure-8.png", [takes["tall"], takes["low"]])
    write_rows(directory / "figure-9.png", [takes["long"], takes["short"]])
    draw(directory / "limits.png", runs)
    return Exhibit(
        pictures=[
            ("figure-8.png", "Figure 8: at least 1.5 m high, and at most 1.2 m."),
            ("figure-9.png", "Figure 9: steps of more than 1.5 m, and of less than 0.5 m."),
            ("limits.png", "The body's height and each landing of the front left foot, with the limits asked for."),
        ],
        verdicts=verdicts(runs),
    )


def draw(path: Path, runs: Mapping[str, Evolved]) -> None:
    walks = {name: walk_gait(run.gait, path=[(0.0, 0.0), (2 * WAY, 0.0)]) for name, run in runs.items()}
    with plot(path, columns=2, size=(10, 3.2)) as (heights, steps):
        for k, (name, limit) in enumerate((("tall", 1.5), ("low", 1.2))):
            walk = walks[name]
            going = walk.along < 2 * WAY - 0.05  # then it settles on its feet
            heights.plot(walk.along[going], walk.body[going, 2], color=color(k))
            heights.axhline(limit, color=SOFT, lw=0.9, ls="--")
            name_line(heights, (WAY, float(np.median(walk.body[:, 2]))), name, color(k), shift=(0, 14))
        heights.set(xlabel="way (m)", ylabel="body's height (m)", ylim=(0.6, 1.8), xlim=(0, 2 * WAY))
        for k, name in enumerate(("long", "short")):
            walk = walks[name]
            foot = walk.foot[:, 0]
            steps.plot(foot[:, 0], foot[:, 2] + (0 if k else 1.0), color=color(2 + k), lw=1.4)
            name_line(steps, (0.9, 1.0 - k), f"{name} steps", color(2 + k), shift=(0, -9))
        steps.set(xlabel="the front left foot's way (m)", yticks=[], xlim=(0.8, 2 * WAY), ylim=(-0.25, 1.9))
