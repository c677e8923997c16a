"""Pictures and tables of what `toys/` computed. matplotlib is loaded only when something is drawn."""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from impel.files import Problem, writing
from impel.toys.figure import Figure
from impel.toys.measures import Phase, Sweep, footfalls, joint_table, series
from impel.toys.periods import Bifurcation, period_name
from impel.toys.trials import Results

UNITS = {"x": "m", "height": "m", "tilt": "°", "angle": "°", "target": "°", "torque": "N·m", "force": "N", "time": "s"}


def unit_of(quantity: str) -> str:
    kind, _, rest = quantity.partition(" ")
    if kind != "speed":
        return UNITS[kind]
    return {"x": "m/s", "height": "m/s", "tilt": "°/s"}.get(rest, "°/s")


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


def write_phase(path: str | Path, phase: Phase) -> None:
    """The curve of a settled motion; dots where each cycle starts."""

    def draw(axes: Any) -> None:
        axes.plot(*phase.curve.T, lw=0.9, color="#33658a")
        axes.plot(*phase.marks.T, "o", ms=4, color="#f26419", label="start of a cycle")
        axes.set_xlabel(f"{phase.x} ({unit_of(phase.x)})")
        axes.set_ylabel(f"{phase.y} ({unit_of(phase.y)})")
        axes.set_title(period_name(phase.period))
        axes.legend(loc="best", frameon=False)

    write(path, draw, [phase.x, phase.y], phase.curve.tolist())


def write_bifurcation(path: str | Path, figure: Figure, diagram: Bifurcation, *, quantity: str = "height") -> None:
    """One dot for every cycle at every value; coloured by period."""
    values = series(figure, diagram.rows, diagram.states, quantity)

    def draw(axes: Any) -> None:
        for period in sorted(set(diagram.periods.tolist())):
            chosen = diagram.periods == period
            x = np.repeat(diagram.values[chosen], values.shape[1])
            name = period_name(period)
            axes.plot(x, values[chosen].ravel(), ",", color=_COLORS.get(period, "#444444"), label=name)
        axes.set_xlabel(diagram.parameter)
        axes.set_ylabel(f"{quantity} at the start of a cycle ({unit_of(quantity)})")
        legend = axes.legend(loc="best", frameon=False, markerscale=12)
        for handle in legend.legend_handles:
            handle.set_marker("o")
            handle.set_markersize(4)

    rows = (
        (value, period_name(period), cycle, state)
        for value, period, states in zip(diagram.values, diagram.periods, values)
        for cycle, state in enumerate(states)
    )
    write(path, draw, [diagram.parameter, "period", "cycle", quantity], rows)


_COLORS = {-1: "#bbbbbb", 0: "#222222", 1: "#2a9d8f", 2: "#e76f51", 3: "#8338ec", 4: "#f4a261", 8: "#e9c46a"}


def write_footfalls(path: str | Path, figure: Figure, result: Results) -> None:
    """When each contact point is on the ground."""
    spans = footfalls(figure, result)

    def draw(axes: Any) -> None:
        for k, name in enumerate(spans):
            axes.broken_barh([(a, b - a) for a, b in spans[name]], (k - 0.4, 0.8), color="#33658a")
        axes.set_yticks(range(len(spans)), list(spans))
        axes.set_xlabel("time (s)")
        axes.invert_yaxis()

    rows = ((name, *span) for name, touches in spans.items() for span in touches)
    write(path, draw, ["contact point", "from", "to"], rows)


def write_tracking(path: str | Path, figure: Figure, result: Results, joint: str) -> None:
    """Wished and actual angle of a joint, and its torque (002, figures 2 and 3)."""
    states, rows = result.samples[0], result.rows
    time = states[:, rows.time]
    wished, angle, torque = (series(figure, rows, states, f"{kind} {joint}") for kind in ("target", "angle", "torque"))

    def draw(axes: Any) -> None:
        axes.plot(time, wished, color="#999999", lw=1, label="wished")
        axes.plot(time, angle, color="#33658a", lw=1.3, label="actual")
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"{joint} (°)")
        axes.legend(loc="upper left", frameon=False)
        right = axes.twinx()
        right.plot(time, torque, color="#f26419", lw=0.8)
        right.set_ylabel("torque (N·m)", color="#f26419")

    write(path, draw, ["time", "wished", "actual", "torque"], np.stack([time, wished, angle, torque], 1).tolist())


def write_joints(path: str | Path, figure: Figure, result: Results) -> None:
    """Work and effort by joint."""
    table = joint_table(figure, result)

    def draw(axes: Any) -> None:
        places = np.arange(len(table))
        axes.bar(places - 0.2, [row["work"] for row in table], 0.4, color="#33658a", label="work (J)")
        axes.bar(places + 0.2, [row["effort"] for row in table], 0.4, color="#f26419", label="effort (N²m²s)")
        axes.set_xticks(places, [f"{row['joint']}\n{row['kind']}" for row in table])
        axes.legend(frameon=False)

    write(path, draw, list(table[0]), [list(row.values()) for row in table])


def write_sweep(path: str | Path, sweep: Sweep) -> None:
    """Distance, effort and the swept joints' share of the work over a gain; falls left out of the picture."""
    columns = (sweep.distance, sweep.effort.sum(1), sweep.work.sum(1), sweep.share)

    def draw(axes: Any) -> None:
        stood = ~sweep.fallen
        for values, name, color in zip(columns, ("distance", "effort", "work", "share of work"), _SWEEP_COLORS):
            top = np.abs(values[stood]).max(initial=1e-12)
            axes.plot(sweep.values[stood], values[stood] / top, "-", color=color, label=f"{name} (1 = {top:.3g})")
        axes.set_xscale("log")
        axes.set_xlabel(f"{sweep.gain} of {', '.join(sweep.joints)}")
        axes.legend(frameon=False)

    rows = zip(sweep.values, *columns, sweep.fallen)
    write(path, draw, [sweep.gain, "distance", "effort", "work", "share of work", "fallen"], rows)


_SWEEP_COLORS = ("#33658a", "#f26419", "#86bbd8", "#2f4858")
