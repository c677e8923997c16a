"""The one quiet style of impel's plots: thin axes, calm colours, names written at the lines instead of in legends."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from impel.files import writing
from impel.takes.take import PALETTE

INK, SOFT, LINE, PAPER = "#22262e", "#6b7280", "#e5e7eb", "#ffffff"
DOTS_PER_INCH = 144

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": "#c3c8d0",
    "axes.facecolor": PAPER,
    "axes.grid": True,
    "axes.labelcolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.titlesize": 11,
    "figure.facecolor": PAPER,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.1,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
}


@contextmanager
def plot(
    path: str | Path, *, columns: int = 1, rows: int = 1, size: tuple[float, float] = (8.0, 4.0), **options: Any
) -> Iterator[Any]:
    """Axes to draw on, or a flat list of them; written to `path` at the end, .png, .svg or .pdf. `size` in inches."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        sheet = Figure(figsize=size)
        FigureCanvasAgg(sheet)
        axes = sheet.subplots(rows, columns, squeeze=False, **options).ravel().tolist()
        for each in axes:
            each.set_axisbelow(True)
        yield axes[0] if len(axes) == 1 else axes
        with writing(path) as temporary:
            sheet.savefig(temporary, format=Path(path).suffix[1:].lower(), dpi=DOTS_PER_INCH)


def color(index: int) -> str:
    """The colours of bodies, in the same order."""
    return PALETTE[index % len(PALETTE)]


def name_line(
    axes: Any, at: Sequence[float], text: str, ink: str, *, shift: tuple[float, float] = (6, 0), align: str = "left"
) -> None:
    """Write a line's name next to one of its points; `shift` in printer's points."""
    axes.annotate(
        text, at, xytext=shift, textcoords="offset points", color=ink, ha=align, va="center", annotation_clip=False
    )  # fmt: skip
