"""What a toy does: phase curves, footfalls, work and effort by joint, and sweeps of the body under one controller."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from impel.files import Problem
from impel.toys.figure import Figure, Interpolation
from impel.toys.mechanism import Rows
from impel.toys.periods import FALLEN, period_of_toy
from impel.toys.toy import Toy, run_toy
from impel.toys.trials import VERIFY_STEP, Floats, Results, gains_of, heights_above, run_trials, start_state


def column_of(figure: Figure, rows: Rows, quantity: str) -> int:
    """Where a quantity stands in a state.

    `x`, `height` (above the ground), `tilt` are the root's; `NAME` is a joint's angle if it is preceded by `angle`, so:
    `angle elbow`, `torque elbow`, `target elbow`, `force toe`. A rate is `speed x`, `speed height` or `speed tilt`.
    """
    simple = {"x": 0, "height": 1, "tilt": 2, "time": rows.time}
    speed = {f"speed {name}": rows.velocity.start + i for i, name in enumerate(("x", "height", "tilt"))}
    joints = {
        f"{kind} {name}": span.start + j
        for kind, span in (("torque", rows.torque), ("target", rows.target))
        for j, name in enumerate(figure.joints)
    }
    contacts = {f"force {name}": rows.force.start + k for k, name in enumerate(figure.contacts)}
    known = simple | speed | joints | contacts
    if quantity not in known:
        raise Problem(f"{quantity}: no such quantity; there are {', '.join([*known, *_angles(figure)])}")
    return known[quantity]


def _angles(figure: Figure) -> list[str]:
    return [f"{kind} {name}" for kind in ("angle", "speed") for name in figure.joints]


def series(figure: Figure, rows: Rows, states: Floats, quantity: str) -> Floats:
    """A quantity of states (..., saved), in SI units but with angles in degrees."""
    if quantity in _angles(figure):
        kind, name = quantity.split(" ", 1)
        start = (rows.position if kind == "angle" else rows.velocity).start + 2
        order = list(figure.parents())
        parent, child = figure.joints[name].links
        return np.degrees(states[..., start + order.index(child)] - states[..., start + order.index(parent)])
    values = states[..., column_of(figure, rows, quantity)]
    if quantity == "height":
        values = heights_above(figure, states[..., 0], values)
    turns = quantity in ("tilt", "speed tilt") or quantity.startswith("target ")
    return np.degrees(values) if turns else values


UNITS = {"x": "m", "height": "m", "tilt": "°", "angle": "°", "target": "°", "torque": "N·m", "force": "N", "time": "s"}


def labelled(quantity: str) -> str:
    """A quantity with its unit, for axes: "tilt (°)"."""
    kind, _, rest = quantity.partition(" ")
    unit = ("m/s" if rest in ("x", "height") else "°/s") if kind == "speed" else UNITS[kind]
    return f"{quantity} ({unit})"


def tracking(figure: Figure, result: Results, joint: str) -> tuple[Floats, Floats, Floats, Floats]:
    """Time, wished and actual angle (degrees) and torque of a joint, from a run with samples."""
    states, rows = result.samples[0], result.rows
    wished, actual, torque = (series(figure, rows, states, f"{kind} {joint}") for kind in ("target", "angle", "torque"))
    return states[:, rows.time], wished, actual, torque


@dataclass(frozen=True)
class Phase:
    """A settled motion as a curve in the plane of two quantities."""

    x: str
    y: str
    curve: Floats  # (F, 2)
    marks: Floats  # (C, 2) where each cycle starts
    period: int
    fell: float | None = None  # s; nothing settles after that


def phase(
    toy: Toy, figure: Figure, *, x: str = "tilt", y: str = "height", settle: float = 20.0, cycles: int = 12,
    step: float = VERIFY_STEP,
) -> Phase:  # fmt: skip
    """The phase curve after `settle` seconds, over some cycles (002, figure 13: height of the base over its tilt)."""
    cycle = sum(toy.times)
    before = np.ceil(settle / cycle) * cycle
    result = run_toy(toy, figure, seconds=before + cycles * cycle, step=step, stride=2)
    states, rows = result.samples[0], result.rows
    if result.fallen[0]:
        return Phase(x, y, np.zeros((0, 2)), np.zeros((0, 2)), FALLEN, float(result.time[0]))
    states = states[states[:, rows.time] >= before - 1e-6]
    curve = np.stack([series(figure, rows, states, x), series(figure, rows, states, y)], axis=1)
    into = (states[:, rows.time] - before) / cycle
    marks = np.searchsorted(into, np.arange(cycles) - 1e-6)
    period = period_of_toy(toy, figure, seconds=settle + 30.0, step=step)
    return Phase(x, y, curve, curve[marks[marks < len(curve)]], period)


def footfalls(figure: Figure, result: Results) -> dict[str, list[tuple[float, float]]]:
    """When each contact point is on the ground: (from, to) in seconds, from a run with samples."""
    rows, states = result.rows, result.samples[0]
    time = states[:, rows.time]
    spans: dict[str, list[tuple[float, float]]] = {}
    for k, name in enumerate(figure.contacts):
        touching = np.concatenate([[False], states[:, rows.force.start + k] > 0.0, [False]])
        edges = np.flatnonzero(touching[1:] != touching[:-1])
        spans[name] = [(float(time[a]), float(time[min(b, len(time) - 1)])) for a, b in zip(edges[::2], edges[1::2])]
    return spans


def joint_table(figure: Figure, result: Results) -> list[dict[str, float | str]]:
    """Work and effort of every joint over a run, and its share of the work."""
    total = float(result.work[0].sum()) or 1.0
    return [
        {
            "joint": name,
            "kind": "active" if joint.active else "passive",
            "work": float(result.work[0, j]),
            "share of work": float(result.work[0, j]) / total,
            "effort": float(result.effort[0, j]),
        }
        for j, (name, joint) in enumerate(figure.joints.items())
    ]


@dataclass(frozen=True)
class Sweep:
    """What toys do as a gain of the body changes and their pose graphs stay (002, figures 11, 12); (values, toys)."""

    values: Floats  # (V,)
    nominal: int  # index of the value nearest to the figure's own
    distance: Floats  # m, worst of the starts
    effort: Floats  # N²m²s per second lived, mean over the starts
    share: Floats  # of the work that the swept joints do
    fallen: Floats  # share of the starts

    def change(self, quantity: Floats) -> Floats:
        """Median over the toys of a quantity, each against its own nominal value, (values,)."""
        return np.median(quantity / quantity[self.nominal], axis=1)


def sweep_gain(
    figure: Figure, poses: Floats, times: ArrayLike, gain: str, values: ArrayLike, *,
    joints: Sequence[str] | None = None, heights: Sequence[float] = (0.0,), seconds: float = 4.0,
    step: float = VERIFY_STEP, interpolation: Interpolation = "hold",
) -> Sweep:  # fmt: skip
    """Run toys, poses (N, P, A), with a gain of some joints (by default the passive ones) at every value."""
    names = list(figure.joints)
    swept = joints if joints is not None else [name for name, joint in figure.joints.items() if not joint.active]
    if gain not in ("stiffness", "damping"):
        raise Problem(f"gain: must be stiffness or damping, got {gain!r}")
    if not swept or any(name not in names for name in swept):
        raise Problem(f"joints: {figure.figure} has no such joints to sweep; there are {', '.join(names)}")
    varied = np.asarray(values, float)
    columns = [names.index(name) for name in swept]
    places = [column + (len(names) if gain == "damping" else 0) for column in columns]
    gains = np.tile(gains_of(figure), (len(varied), 1))
    nominal = float(gains[0, places[0]])
    gains[:, places] = varied[:, None]
    starts = np.stack([start_state(figure, clearance=height) for height in heights])
    runs = run_trials(
        figure,
        np.tile(np.repeat(poses, len(heights), axis=0), (len(varied), 1, 1)),
        times,
        seconds=seconds,
        step=step,
        interpolation=interpolation,
        starts=np.tile(starts, (len(varied) * len(poses), 1)),
        gains=np.repeat(gains, len(poses) * len(heights), axis=0),
    )
    shape = (len(varied), len(poses), -1)
    return Sweep(
        varied,
        int(np.argmin(np.abs(varied - nominal))),
        runs.distance.reshape(shape).min(axis=2),
        (runs.effort.sum(1) / runs.time).reshape(shape).mean(axis=2),
        (runs.work[:, columns].sum(1) / runs.work.sum(1)).reshape(shape).mean(axis=2),
        runs.fallen.reshape(shape).mean(axis=2),
    )


def compare_interpolations(
    toys: list[Toy], figure: Figure, *, seconds: float = 4.0, step: float = VERIFY_STEP
) -> dict[Interpolation, Results]:
    """The same pose graphs held and interpolated (002, figures 2 and 3)."""
    poses = np.stack([toy.angles(figure) for toy in toys])
    times = np.array([toy.times for toy in toys])
    kinds: tuple[Interpolation, Interpolation] = ("hold", "linear")
    return {kind: run_trials(figure, poses, times, seconds=seconds, step=step, interpolation=kind) for kind in kinds}
