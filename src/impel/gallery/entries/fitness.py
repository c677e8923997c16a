"""Table 1 and figure 5 of paper 001: the fitness of the best falls towards zero as creatures evolve."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from impel.analysis.gaits import draw_band, draw_tables
from impel.analysis.plots import INK, color, name_line, plot
from impel.gaits.breeding import Breeding
from impel.gaits.encoding import Encoding
from impel.gaits.energy import measure
from impel.gaits.evolve import Evolved
from impel.gaits.wishes import Wishes, bounds_for, fitness
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.walks import CREATURE, SEEDS, TABLES, evolutions, table_beside
from impel.search.run import search

ORDER = 110
TITLE = "Evolving a gait that spends just so much"
TEXT = (
    "A thousand creatures with random genes compete: who spends the energy it was given, and arrives before the "
    "others, has children. If the others are those of the same generation, evolution becomes a race without an end: "
    "the fitness stays above zero, and with little or much energy what was asked for is forgotten. Ranked against the "
    "first generation for good, it does fall to zero."
)

ENERGY = 300
RACES = (30, 300, 400)
STRAYED = 0.05  # of an energy: farther from it, it was forgotten
CLOSE = 0.01  # of the energy: near enough to zero

Floats = NDArray[np.float64]


def race(energy: float, seed: int, *, generations: int = 20, population: int = 1000) -> tuple[Floats, Floats]:
    """As printed (eq. 12): the order of arrival within each generation. Energy and fitness of each one's best."""
    wishes = Wishes(energy=energy, curve="paper", in_full_stride=True)
    encoding = Encoding(CREATURE, bounds_for(CREATURE, wishes), curve=wishes.curve)
    breeding = Breeding(encoding.dimension, population=population, seed=seed, categories=encoding.categories)
    best: list[tuple[float, float]] = []

    def evaluate(points: Floats) -> Floats:
        measured = measure(CREATURE, encoding.rows(points), curve="paper")
        scores = fitness(wishes, measured, np.where(measured.stretch <= 0.0, measured.seconds, np.inf))
        first = int(np.argmin(scores))
        best.append((float(measured.energy[first]), float(scores[first])))
        return -scores

    search(breeding, evaluate, budget=(generations + 1) * population)
    energies, scores = np.array(best).T
    return energies, scores


def races_of(energy: float, seeds: Sequence[int]) -> tuple[Floats, Floats]:
    """Energies and fitness (seeds, generations)."""
    runs = [race(energy, seed) for seed in seeds]
    return np.array([run[0] for run in runs]), np.array([run[1] for run in runs])


def curves(runs: Sequence[Evolved]) -> Floats:
    """Fitness of the best (runs, generations)."""
    return np.array([[best.fitness for best in run.history] for run in runs])


def verdict(runs: Sequence[Evolved], races: dict[int, tuple[Floats, Floats]]) -> Verdict:
    """`races` are energies and fitness (R, G) with rivals that evolve, by the energy asked for."""
    found = np.median(curves(runs), axis=0)
    printed = np.median(races[ENERGY][1], axis=0)
    spent = np.median([run.energy for run in runs])
    ends = {energy: np.median(spent[:, -1]) for energy, (spent, _) in races.items()}
    allowed = CLOSE * ENERGY
    kept = printed[20] < allowed and all(abs(end / energy - 1) < STRAYED for energy, end in ends.items())
    falls = found[20] < allowed and np.all(np.diff(found) <= 1e-9) and abs(spent / ENERGY - 1) < 0.02
    return judge(
        "001.1",
        bool(falls),
        f"energy {ENERGY}, 1000 creatures, median of {len(runs)} seeds: fitness {found[2]:.1f}, {found[4]:.1f}, "
        f"{found[6]:.1f} and {found[20]:.2f} at generations 2, 4, 6 and 20 (published 27.9, 6.1, 1.0 and 1.0; at most "
        f"{allowed:g} asked), never rising, which follows from the elite that lives on unchanged; "
        f"energy {spent:.1f} (± 2 %). Ranked within each generation: "
        f"{printed[2]:.1f}, {printed[4]:.1f}, {printed[6]:.1f} and {printed[20]:.1f}, and the best spend "
        + ", ".join(f"{end:.0f} of {energy}" for energy, end in ends.items()),
        correction="" if kept else "arrival is ranked against the first generation, for good",
    )


def make(directory: Path) -> Exhibit:
    runs = evolutions(ENERGY)
    races = {energy: races_of(energy, SEEDS[:3]) for energy in RACES}
    draw(directory / "curve.png", curves(runs), races)
    draw_tables(directory / "table-1.png", table_beside(ENERGY, runs[0].history))
    return Exhibit(
        pictures=[
            ("curve.png", "Figure 5. Bands are all seeds; dots are published. Right: energy of the best, in a race."),
            ("table-1.png", "Table 1, published and here (first seed)."),
        ],
        verdicts=[verdict(runs, races)],
    )


def draw(path: Path, found: Floats, races: dict[int, tuple[Floats, Floats]]) -> None:
    generations = np.arange(found.shape[1], dtype=float)
    published = np.array(TABLES[ENERGY])
    with plot(path, columns=2, size=(10, 4.0), width_ratios=[1.4, 1]) as (axes, side):
        draw_band(axes, generations, found, color(1))
        draw_band(axes, generations, races[ENERGY][1], color(0))
        axes.plot(published[:, 0], published[:, 3], "o", color=INK, ms=4.5, clip_on=False)
        axes.set(yscale="log", ylim=(1e-3, 300), xlim=(0, 20), xticks=range(0, 21, 5))
        axes.set(xlabel="generation", ylabel="fitness of the best")
        axes.set_title("Figure 5: energy 300")
        middle = np.median(found, axis=0)
        name_line(axes, (12, middle[12]), "fixed rivals", color(1), shift=(-10, -22), align="right")
        name_line(axes, (12, np.median(races[ENERGY][1], axis=0)[12]), "rivals evolve, too", color(0), shift=(0, 22))
        name_line(axes, (published[-1, 0], published[-1, 3]), "published", INK, shift=(-6, -12), align="right")
        for k, (energy, (spent, _)) in enumerate(races.items()):
            draw_band(side, generations, spent / energy, color(2 + k))
            place = (20, np.median(spent[:, -1]) / energy)
            name_line(
                side, place, f"energy {energy}", color(2 + k), shift=(-4, -12 if energy == 400 else 9), align="right"
            )
        side.axhline(1.0, color=INK, lw=0.8)
        side.set(xlim=(0, 20), xticks=range(0, 21, 5), xlabel="generation")
        side.set_title("Spent / asked for, if the rivals evolve, too")
