"""Tables 2 and 3, figures 6 and 7 of paper 001: little energy walks tired, much energy walks briskly."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from impel.analysis.gaits import draw_tables
from impel.analysis.plots import INK, color, name_line, plot
from impel.gaits.energy import measure_gait
from impel.gaits.evolve import Evolved
from impel.gaits.gait import PUBLISHED, TICK
from impel.gallery.ledger import Exhibit, Verdict, judge
from impel.gallery.walks import GENES_HEADER, SEEDS, evolutions, filmed, genes_row, table_beside, write_rows

ORDER = 120
TITLE = "Tired and brisk"
TEXT = (
    "Nobody told the creature what tired looks like; it only got less to spend. With an energy of 30 it crouches, "
    "drags its feet and takes its time; with 400 it walks tall and throws its feet up in quick little steps. The "
    "published genes cost the right things in the right order here, but on a narrower scale: the paper does not give "
    "its units."
)

ENERGIES = (30, 100, 300, 400)
TIRED, BRISK = PUBLISHED["tired"], PUBLISHED["brisk"]


def median(runs: Sequence[Evolved], gene: str) -> float:
    return float(np.median([getattr(run.gait.genes, gene) for run in runs]))


def verdicts(runs: Mapping[int, Sequence[Evolved]]) -> list[Verdict]:
    """From several runs for each energy."""
    lift = {energy: median(some, "amplitude") for energy, some in runs.items()}
    period = {energy: median(some, "period") / TICK for energy, some in runs.items()}
    height = {energy: float(np.median([run.measured.mean[0] for run in some])) for energy, some in runs.items()}
    spent = {energy: float(np.median([run.energy for run in some])) for energy, some in runs.items()}
    score = {energy: float(np.median([run.fitness for run in some])) for energy, some in runs.items()}

    def told(energy: int, published: str) -> str:
        return (
            f"energy {energy}, median of {len(runs[energy])} seeds: amplitude {lift[energy]:.2f} m and period "
            f"{period[energy]:.0f} ticks ({published}), body {height[energy]:.2f} m high, energy {spent[energy]:.1f}, "
            f"fitness {score[energy]:.1f}"
        )

    def bound(energy: int) -> str:
        """Which genes the runs have at the end of what they may be, where the published ones are not."""
        at_end = [each.split(" at its")[0] for run in runs[energy] for each in run.binding if " at its " in each]
        genes = [name for name in dict.fromkeys(at_end) if 2 * at_end.count(name) > len(runs[energy])]
        return (
            f"{' and '.join(genes)} at the end of their bounds, unlike those published" if genes else "none at a bound"
        )

    cost = {name: float(measure_gait(PUBLISHED[name]).energy[0]) for name in ("tired", "brisk")}
    return [
        judge(
            "001.2",
            lift[30] < 0.5 * lift[400]
            and period[30] == max(period.values())
            and height[30] == min(height.values())
            and abs(spent[30] / 30 - 1) < 0.05
            and score[30] <= 5.5,
            f"{told(30, 'published 0.239 and 329')} (within 5 % and at most 5.5 asked); of four energies it is the "
            f"slowest and the lowest; {bound(30)}; the published genes cost {cost['tired']:.0f}",
        ),
        judge(
            "001.3",
            lift[400] > 2 * lift[30]
            and period[400] < 0.5 * period[30]
            and height[400] == max(height.values())
            and abs(spent[400] / 400 - 1) < 0.02
            and score[400] <= 12
            and cost["brisk"] > 2 * cost["tired"],
            f"{told(400, 'published 0.712 and 114')} (within 2 % and at most 12 asked); more than twice the amplitude "
            f"and less than half the period of 30; {bound(400)}; the published genes cost {cost['brisk']:.0f} here",
        ),
    ]


def make(directory: Path) -> Exhibit:
    runs = {energy: evolutions(energy, SEEDS[:3], generations=38 if energy == 30 else 33) for energy in ENERGIES}
    draw(directory / "trend.png", runs)
    pictures = [("trend.png", "Lift and period of the best by the energy asked for; each dot is a seed.")]
    shown = ((6, 2, 30, TIRED, "Tired"), (7, 3, 400, BRISK, "Brisk"))
    for figure, table, energy, published, name in shown:
        best = runs[energy][0]
        write_rows(directory / f"figure-{figure}.png", [filmed(published), filmed(best.gait)])
        draw_tables(directory / f"table-{table}.png", table_beside(energy, best.history))
        rows = [genes_row("published", published.genes, energy)]
        rows += [genes_row(f"seed {k}", run.gait.genes, run.energy) for k, run in enumerate(runs[energy])]
        draw_tables(directory / f"genes-{table}.png", [(f"Genes under energy {energy}", GENES_HEADER, rows)])
        pictures += [
            (f"figure-{figure}.png", f"Figure {figure}: {name}. Above the published genes, below those evolved here."),
            (f"table-{table}.png", f"Table {table}, published and here (first seed)."),
            (f"genes-{table}.png", f"The genes of table {table}. T in ticks of 1/240 s."),
        ]
    return Exhibit(pictures=pictures, verdicts=verdicts(runs))


def draw(path: Path, runs: Mapping[int, Sequence[Evolved]]) -> None:
    sides = (("amplitude", 1.0, "amplitude (m)", (0.239, 0.712)), ("period", TICK, "period (ticks)", (329, 114)))
    with plot(path, columns=2, size=(10, 3.2)) as both:
        for axes, (gene, unit, label, published) in zip(both, sides, strict=True):
            for energy, some in runs.items():
                values = [getattr(run.gait.genes, gene) / unit for run in some]
                axes.plot([energy] * len(values), values, "o", color=color(1), ms=5)
            axes.plot(list(runs), [median(some, gene) / unit for some in runs.values()], color=color(1), lw=1.2)
            axes.plot([30, 400], published, "D", color=INK, ms=5)
            name_line(axes, (400, published[1]), "published", INK, shift=(-8, 8), align="right")
            axes.set(xlabel="energy", ylabel=label, ylim=(0, None), xlim=(0, 420))
