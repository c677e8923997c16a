"""Figures 6 and 7 of paper 002: does it matter how a search changes a toy?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import INK, SOFT, color, plot
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.strides import write_strides
from impel.render.outputs import write_take
from impel.search import search, strategy_named
from impel.toys.figure import load_figure
from impel.toys.performance import take_of
from impel.toys.synthesis import objective_for
from impel.toys.toy import Toy, toy_of

ORDER = 230
TITLE = "How to improve a toy"
TEXT = (
    "Twelve bounders, each the best of a thousand drawn at random, are improved for 500 trials by changing an angle "
    "here and there and keeping what helps. Whether an angle changes by a step that shrinks or is drawn anew from its "
    "whole range hardly matters, as the paper found. Several angles at a time are better than one. Accepting a change "
    "for the worse now and then (annealing) helps a little, and spoils everything if it happens too often."
)

RUNS, TRIALS, FIRST = 12, 500, 1024
PLAIN = "within a shrinking step"  # the paper's favourite, and what everything is compared with
DELTAS: dict[str, dict[str, Any]] = {
    "anywhere in the range": {"delta": "wide"},
    "by a fixed shrinking step": {"delta": "shrinking-fixed"},
    PLAIN: {"delta": "shrinking-random"},
}
SEVERAL: dict[str, dict[str, Any]] = {f"{n} angles at a time": {"several": n} for n in (2, 4)}
HEATS = (0.03, 0.3, 1.0, 3.0)  # m of distance that may be lost with probability 1/e at the start
ANNEALING: dict[str, dict[str, Any]] = {f"annealed from {h:g} m": {"hot": h, "cold": h / 100} for h in HEATS}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Race:
    """What every way to improve made of every start."""

    start: Floats  # (runs,) m in four seconds, worst of three starts
    best: dict[str, Floats]  # (runs,) after the trials
    toys: dict[str, list[Floats]]  # the candidates behind it

    def gain(self, name: str, over: str = PLAIN) -> tuple[float, float]:
        """Mean difference between two ways from the same starts, and its standard error."""
        difference = self.best[name] - self.best[over]
        return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def race(
    name: str, ways: Mapping[str, Mapping[str, Any]], *, runs: int = RUNS, trials: int = TRIALS, first: int = FIRST
) -> Race:
    """Improve the same starts in every way. All searches go on side by side, since the simulator likes full lanes."""
    objective = objective_for(load_figure(name))
    low, high = objective.bounds()
    starts = [search(strategy_named("generate", low, high, seed=s), objective, budget=first).best for s in range(runs)]
    engines = {
        way: [
            strategy_named(
                "anneal" if "hot" in options else "modify", low, high, seed=1000 + s, budget=trials, start=starts[s],
                **options,
            )
            for s in range(runs)
        ]
        for way, options in ways.items()
    }  # fmt: skip
    everyone = [engine for group in engines.values() for engine in group]
    for _ in range(trials):
        asked = [engine.ask() for engine in everyone]
        for engine, candidate, value in zip(everyone, asked, objective(np.concatenate(asked)), strict=True):
            engine.tell(candidate, np.array([value]))
    best = {way: np.array([engine.best_value for engine in group]) for way, group in engines.items()}
    toys = {way: [engine.best for engine in group if engine.best is not None] for way, group in engines.items()}
    return Race(objective(np.stack(starts)), best, toys)


def verdicts(bounders: Race, cheetahs: Race) -> list[Verdict]:
    means = {way: float(values.mean()) for way, values in bounders.best.items()}
    deltas = [means[way] for way in DELTAS]
    spread = max(deltas) / min(deltas) - 1
    runs = len(bounders.start)
    several = max(SEVERAL, key=lambda way: means[way])
    gain, chance = bounders.gain(several)
    share = gain / means[PLAIN]
    other, other_chance = cheetahs.gain(several)
    heats = {way: means[way] for way in ANNEALING}
    coolest = max(heats, key=lambda way: heats[way])
    more, more_chance = bounders.gain(coolest)
    record = {way: float(bounders.best[way].max()) for way in (coolest, PLAIN)}
    return [
        judge(
            "002.3",
            spread < 0.15,
            f"bounder, {runs} runs of {TRIALS} trials from {bounders.start.mean():.2f} m: "
            + ", ".join(f"{means[way]:.2f} m changing {way}" for way in DELTAS)
            + f"; {spread:.0%} between best and worst (15 allowed)",
        ),
        judge(
            "002.4",
            gain > chance,
            f"bounder: {several} {means[several]:.2f} m, one {means[PLAIN]:.2f} m ({share:+.0%}; {gain:+.2f} ± "
            f"{chance:.2f} m over the same starts, more than one standard error asked); the cheetah {other:+.2f} ± "
            f"{other_chance:.2f} m",
        ),
        judge(
            "002.5",
            min(heats.values()) < 0.8 * max(heats.values()),
            "sensitive: " + ", ".join(f"{mean:.2f} m {way}" for way, mean in heats.items()) + " (20 % asked)",
        ),
        judge(
            "002.5",
            more > more_chance,
            f"superior: the best schedule ({coolest}) {more:+.2f} ± {more_chance:.2f} m against never accepting a "
            f"loss (more than one standard error asked); its best run {record[coolest]:.2f} m, without "
            f"{record[PLAIN]:.2f} m",
        ),
    ]


def winner(found: Race) -> Toy:
    """The toy that goes farthest at a quarter of the search's step."""
    objective = objective_for(load_figure("bounder"))
    everyone = np.stack([toy for toys in found.toys.values() for toy in toys])
    best = everyone[int(np.argmax(objective.verified(everyone)))]
    return toy_of(objective.figure, objective.shaped(best[None])[0], objective.times)


def races() -> tuple[Race, Race]:
    bounders = race("bounder", DELTAS | SEVERAL | ANNEALING)
    return bounders, race("cheetah", {PLAIN: DELTAS[PLAIN]} | SEVERAL, runs=6)


def make(directory: Path) -> Exhibit:
    bounders, cheetahs = races()
    draw(directory / "strategies.png", bounders)
    take = take_of(winner(bounders), load_figure("bounder"), seconds=4.0)
    write_strides(directory / "strip.png", [take], begin=2.0, seconds=0.5)
    write_take(take, directory / "bounder.mp4")
    return Exhibit(
        pictures=[
            ("strategies.png", "Figures 6 and 7, and annealing: a dot is one run, a bar their mean."),
            ("bounder.mp4", "The farthest of all bounders, after verification at a quarter of the step."),
            ("strip.png", "The same, a cycle and a quarter from left to right."),
        ],
        verdicts=verdicts(bounders, cheetahs),
    )


def draw(path: Path, found: Race) -> None:
    groups = ((DELTAS, 1), (SEVERAL, 3), (ANNEALING, 0))
    with plot(path, size=(9, 5)) as axes:
        row, names = 0.0, []
        for group, ink in groups:
            for way in group:
                values = found.best[way]
                axes.barh(row, values.mean(), 0.6, color=color(ink), alpha=0.3)
                axes.plot(values, np.full(len(values), row), "o", ms=4, color=color(ink), alpha=0.8, mew=0)
                names.append((row, way))
                row += 1
            row += 0.6
        axes.axvline(found.start.mean(), color=SOFT, lw=1, ls=(0, (3, 3)))
        axes.text(found.start.mean() + 0.04, -0.55, "before", color=SOFT)
        axes.set_yticks([place for place, _ in names], [name for _, name in names], color=INK)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("metres in four seconds, worst of three starts, after 500 trials")
