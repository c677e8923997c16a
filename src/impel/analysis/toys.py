"""Pictures and tables of what `toys/` computed. matplotlib is loaded only when something is drawn."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.analysis.plots import INK, SOFT, color, plot
from impel.files import Problem, check_writable, writing

Floats = NDArray[np.float64]


PICTURES = (".png", ".svg", ".pdf")


def check_chart(path: str | Path) -> None:
    """Refuse a chart that could not be written, before any time is spent on it."""
    if Path(path).suffix.lower() not in (*PICTURES, ".csv"):
        raise Problem(f"{path}: expected a picture or a table: {', '.join(PICTURES)} or .csv")
    check_writable(path)


def write_table(path: str | Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(names)
        table.writerows(rows)


def write(path: str | Path, draw: Callable[[Any], None], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table if the name ends in .csv, a picture otherwise."""
    check_chart(path)
    if Path(path).suffix.lower() == ".csv":
        write_table(path, names, rows)
    else:
        with plot(path, size=(8.0, 5.0)) as axes:
            draw(axes)


def write_phase(path: str | Path, curve: Floats, marks: Floats, *, labels: tuple[str, str], title: str = "") -> None:
    """A settled motion as a curve (F, 2); dots where each cycle starts (C, 2)."""

    def draw(axes: Any) -> None:
        axes.plot(*curve.T, lw=0.9, color=color(1))
        axes.plot(*marks.T, "o", ms=4, color=color(0), label="start of a cycle")
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.set_title(title)
        legend_below(axes)

    write(path, draw, labels, curve.tolist())


def legend_below(axes: Any, *, columns: int = 5) -> None:
    """A legend that hides nothing and is never cut."""
    handles, names = axes.get_legend_handles_labels()
    axes.figure.legend(handles, names, loc="outside lower center", ncols=min(columns, len(names)))


_OTHERS = "other periods"
_INKS = {
    "period 1": "#2a9d8f",
    "period 2": "#e76f51",
    "period 3": "#8338ec",
    "period 4": "#f4a261",
    "period 6": "#c77dff",
    "period 8": "#e9c46a",
    _OTHERS: "#9aa1ab",
    "chaos": INK,
    "fallen": "#d5d9df",
}


def period_ink(kind: str) -> str:
    """The colour of a kind of motion: "period 2", "chaos", "fallen", ..."""
    return _INKS.get(kind, _INKS[_OTHERS])


def draw_bifurcation(axes: Any, values: Floats, states: Floats, kinds: Sequence[str]) -> None:
    """One dot for every cycle (V, C) at every value (V,), coloured and named by the kind of motion."""
    shown = np.array([kind if kind in _INKS else _OTHERS for kind in kinds])
    for kind, ink in _INKS.items():
        chosen = shown == kind
        if chosen.any():
            x = np.repeat(values[chosen], states.shape[1])
            axes.plot(x, states[chosen].ravel(), "o", ms=1.1, mew=0, color=ink)
            axes.plot([], [], "o", ms=6, mew=0, color=ink, label=kind)


def write_bifurcation(
    path: str | Path, values: Floats, states: Floats, kinds: Sequence[str], *, labels: tuple[str, str]
) -> None:
    """A bifurcation diagram of states at the start of every cycle (V, C)."""

    def draw(axes: Any) -> None:
        draw_bifurcation(axes, values, states, kinds)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(f"{labels[1]} at the start of a cycle")
        legend_below(axes)

    rows = ((v, kind, c, s) for v, kind, cycles in zip(values, kinds, states) for c, s in enumerate(cycles))
    write(path, draw, [labels[0], "motion", "cycle", labels[1]], rows)


def write_footfalls(path: str | Path, spans: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """When each contact point is on the ground: (from, to) in seconds."""

    def draw(axes: Any) -> None:
        for k, name in enumerate(spans):
            axes.broken_barh([(a, b - a) for a, b in spans[name]], (k - 0.4, 0.8), color=color(1))
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
        axes.plot(time, wished, color=SOFT, lw=1, label="wished")
        axes.plot(time, actual, color=color(1), lw=1.3, label="actual")
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"{joint} (°)")
        legend_below(axes)
        right = axes.twinx()
        right.plot(time, torque, color=color(0), lw=0.8)
        right.set_ylabel("torque (N·m)", color=color(0))
        right.grid(visible=False)

    write(path, draw, ["time", "wished", "actual", "torque"], np.stack([time, wished, actual, torque], 1).tolist())


def write_joints(path: str | Path, table: Sequence[Mapping[str, Any]]) -> None:
    """Work and effort by joint, from rows with joint, kind, work and effort."""

    def draw(axes: Any) -> None:
        places = np.arange(len(table))
        axes.bar(places - 0.2, [row["work"] for row in table], 0.4, color=color(1), label="work (J)")
        axes.bar(places + 0.2, [row["effort"] for row in table], 0.4, color=color(0), label="effort (N²m²s)")
        axes.set_xticks(places, [f"{row['joint']}\n{row['kind']}" for row in table])
        legend_below(axes)

    write(path, draw, list(table[0]) if table else ["joint"], [list(row.values()) for row in table])
