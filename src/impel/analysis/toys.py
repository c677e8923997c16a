"""Pictures and tables of what `toys/` computed. matplotlib is loaded only when something is drawn."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem, writing

Floats = NDArray[np.float64]


def write_picture(path: str | Path, draw: Callable[[Any], None], *, size: tuple[float, float] = (8.0, 5.0)) -> None:
    """Draw on one pair of axes and write it whole or not at all; .png, .svg or .pdf by the name."""
    if Path(path).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Problem(f"{path}: expected a picture: .png, .svg or .pdf")
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=size, layout="constrained")
    axes = sheet.add_subplot()
    draw(axes)
    with writing(path) as temporary:
        sheet.savefig(temporary, dpi=130)


def write_table(path: str | Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(names)
        table.writerows(rows)


def write(path: str | Path, draw: Callable[[Any], None], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table if the name ends in .csv, a picture otherwise."""
    if Path(path).suffix.lower() == ".csv":
        write_table(path, names, rows)
    else:
        write_picture(path, draw)


def write_phase(path: str | Path, curve: Floats, marks: Floats, *, labels: tuple[str, str], title: str = "") -> None:
    """A settled motion as a curve (F, 2); dots where each cycle starts (C, 2)."""

    def draw(axes: Any) -> None:
        axes.plot(*curve.T, lw=0.9, color="#33658a")
        axes.plot(*marks.T, "o", ms=4, color="#f26419", label="start of a cycle")
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.set_title(title)
        axes.legend(loc="best", frameon=False)

    write(path, draw, labels, curve.tolist())


_COLORS = {
    "period 1": "#2a9d8f",
    "period 2": "#e76f51",
    "period 3": "#8338ec",
    "period 4": "#f4a261",
    "period 6": "#c77dff",
    "period 8": "#e9c46a",
    "other periods": "#6c757d",
    "chaos": "#222222",
    "fallen": "#bbbbbb",
}


def write_bifurcation(
    path: str | Path, values: Floats, states: Floats, kinds: Sequence[str], *, labels: tuple[str, str]
) -> None:
    """One dot for every cycle (V, C) at every value (V,), coloured by the kind of motion ("period 2", "chaos", ...)."""

    def draw(axes: Any) -> None:
        shown = np.array([kind if kind in _COLORS else "other periods" for kind in kinds])
        for kind, color in _COLORS.items():
            chosen = shown == kind
            if chosen.any():
                x = np.repeat(values[chosen], states.shape[1])
                axes.plot(x, states[chosen].ravel(), "o", ms=0.8, mew=0, color=color, label=kind)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(f"{labels[1]} at the start of a cycle")
        axes.legend(loc="best", frameon=False, markerscale=6)

    rows = ((v, kind, c, s) for v, kind, cycles in zip(values, kinds, states) for c, s in enumerate(cycles))
    write(path, draw, [labels[0], "motion", "cycle", labels[1]], rows)


def write_footfalls(path: str | Path, spans: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """When each contact point is on the ground: (from, to) in seconds."""

    def draw(axes: Any) -> None:
        for k, name in enumerate(spans):
            axes.broken_barh([(a, b - a) for a, b in spans[name]], (k - 0.4, 0.8), color="#33658a")
        axes.set_yticks(range(len(spans)), list(spans))
        axes.set_xlabel("time (s)")
        axes.invert_yaxis()

    rows = ((name, *span) for name, touches in spans.items() for span in touches)
    write(path, draw, ["contact point", "from", "to"], rows)


def write_tracking(
    path: str | Path, time: Floats, wished: Floats, actual: Floats, torque: Floats, *, joint: str
) -> None:
    """Wished and actual angle of a joint in degrees, and its torque (002, figures 2 and 3)."""

    def draw(axes: Any) -> None:
        axes.plot(time, wished, color="#999999", lw=1, label="wished")
        axes.plot(time, actual, color="#33658a", lw=1.3, label="actual")
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"{joint} (°)")
        axes.legend(loc="upper left", frameon=False)
        right = axes.twinx()
        right.plot(time, torque, color="#f26419", lw=0.8)
        right.set_ylabel("torque (N·m)", color="#f26419")

    write(path, draw, ["time", "wished", "actual", "torque"], np.stack([time, wished, actual, torque], 1).tolist())


def write_joints(path: str | Path, table: Sequence[Mapping[str, Any]]) -> None:
    """Work and effort by joint, from rows with joint, kind, work and effort."""

    def draw(axes: Any) -> None:
        places = np.arange(len(table))
        axes.bar(places - 0.2, [row["work"] for row in table], 0.4, color="#33658a", label="work (J)")
        axes.bar(places + 0.2, [row["effort"] for row in table], 0.4, color="#f26419", label="effort (N²m²s)")
        axes.set_xticks(places, [f"{row['joint']}\n{row['kind']}" for row in table])
        axes.legend(frameon=False)

    write(path, draw, list(table[0]), [list(row.values()) for row in table])


_SWEEP_COLORS = ("#33658a", "#f26419", "#86bbd8", "#2f4858")


def write_sweep(
    path: str | Path, values: Floats, columns: Mapping[str, Floats], fallen: NDArray[np.bool_], *, label: str
) -> None:
    """Quantities over one gain, each as a share of its largest; values where it fell are left out of the picture."""

    def draw(axes: Any) -> None:
        for (name, column), color in zip(columns.items(), _SWEEP_COLORS):
            top = np.abs(column[~fallen]).max(initial=1e-12)
            axes.plot(values[~fallen], column[~fallen] / top, "-", color=color, label=f"{name} (1 = {top:.3g})")
        axes.set_xscale("log")
        axes.set_xlabel(label)
        axes.legend(frameon=False)

    write(path, draw, [label, *columns, "fallen"], zip(values, *columns.values(), fallen))
