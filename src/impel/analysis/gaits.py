"""Plots of what `gaits/` computed: tables beside published ones, and runs that were tried several times."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import INK, LINE, SOFT, plot

Floats = NDArray[np.float64]

ROW = 0.24  # inches that a line of a table takes


def draw_tables(path: Path, tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]) -> None:
    """Tables side by side, each with its title, its header and its rows; numbers are aligned to the right."""
    most = max(len(rows) for _, _, rows in tables)
    widths = [len(header) for _, header, _ in tables]
    with plot(path, columns=len(tables), size=(10, 0.75 + ROW * most), width_ratios=widths) as sides:
        for axes, (title, header, rows) in zip(sides if isinstance(sides, list) else [sides], tables, strict=True):
            axes.set_title(title)
            axes.set(xlim=(0, len(header)), ylim=(most + 0.5, -0.7))
            axes.axis("off")
            for k, row in enumerate([header, *rows]):
                for column, cell in enumerate(row):
                    ink = SOFT if k == 0 else INK
                    axes.text(column + 0.85, k, str(cell), ha="right", va="center", color=ink, fontsize=9)
            axes.plot([0.1, len(header) - 0.1], [0.5, 0.5], color=LINE, lw=1)


def draw_band(axes: Any, x: Floats, runs: Floats, ink: str) -> None:
    """The median of several runs (R, X) as a line, and all of them as a band."""
    axes.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=ink, alpha=0.15, lw=0)
    axes.plot(x, np.median(runs, axis=0), color=ink)
