"""What a gait does: phase curves, footfalls, work and effort by joint, and sweeps of the body under one controller."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.files import Problem
from impel.toys.figure import Figure, Interpolation
from impel.toys.mechanism import Rows
from impel.toys.periods import period_of_toy
from impel.toys.toy import Toy, run_toy
from impel.toys.trials import VERIFY_STEP, Floats, Results, gains_of, run_trials, start_state


def column_of(figure: Figure, rows: Rows, quantity: str) -> int:
    """Where a quantity stands in a state.

    `x`, `height`, `tilt` are the root's; `NAME` is a joint's angle if it is preceded by `angle`, so: `angle elbow`,
    `torque elbow`, `target elbow`, `force toe`. A rate is `speed x`, `speed height` or `speed tilt`.
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
    return np.degrees(values) if "tilt" in quantity or quantity.startswith("target") else values


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


def phase(
    toy: Toy, figure: Figure, *, x: str = "tilt", y: str = "height", settle: float = 20.0, cycles: int = 12,
    step: float = VERIFY_STEP,
) -> Phase:  # fmt: skip
    """The phase curve after `settle` seconds, over some cycles (002, figure 13: height of the base over its tilt)."""
    cycle = sum(toy.times)
    before = np.ceil(settle / cycle) * cycle
    result = run_toy(toy, figure, seconds=before + cycles * cycle, step=step, stride=2)
    states, rows = result.samples[0], result.rows
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
    """One controller on many bodies: what changes as a gain changes (002, figures 11 and 12)."""

    gain: str  # "stiffness" or "damping"
    joints: list[str]
    values: Floats  # (V,)
    distance: Floats  # (V,) m
    fallen: NDArray[np.bool_]
    work: Floats  # (V, J) J
    effort: Floats  # (V, J) N²m²s
    share: Floats  # (V,) of the work that the swept joints do

    def columns(self) -> dict[str, Floats]:
        """What to chart, over `values`."""
        sums = {"effort": self.effort.sum(1), "work": self.work.sum(1)}
        return {"distance": self.distance, **sums, "share of work": self.share}


def sweep_gain(
    toy: Toy, figure: Figure, gain: str, values: ArrayLike, *, joints: list[str] | None = None, seconds: float = 4.0,
    step: float = VERIFY_STEP, clearance: float = 0.0,
) -> Sweep:  # fmt: skip
    """Run one toy with a gain of some joints (by default the passive ones) at every value."""
    names = list(figure.joints)
    swept = joints if joints is not None else [name for name, joint in figure.joints.items() if not joint.active]
    if gain not in ("stiffness", "damping"):
        raise Problem(f"gain: must be stiffness or damping, got {gain!r}")
    if not swept or any(name not in names for name in swept):
        raise Problem(f"joints: {figure.figure} has no such joints to sweep; there are {', '.join(names)}")
    varied = np.asarray(values, float)
    gains = np.tile(gains_of(figure), (len(varied), 1))
    columns = [names.index(name) for name in swept]
    gains[:, [c + (len(names) if gain == "damping" else 0) for c in columns]] = varied[:, None]
    poses = np.broadcast_to(toy.angles(figure), (len(varied), *toy.angles(figure).shape))
    result = run_trials(
        figure, poses, toy.times, seconds=seconds, step=step, interpolation=toy.interpolation, gains=gains,
        sensors=toy.sensor_codes(figure)[None], starts=start_state(figure, clearance=clearance),
    )  # fmt: skip
    share = result.work[:, columns].sum(1) / np.maximum(result.work.sum(1), 1e-12)
    return Sweep(gain, swept, varied, result.distance, result.fallen, result.work, result.effort, share)


def compare_interpolations(
    toys: list[Toy], figure: Figure, *, seconds: float = 4.0, step: float = VERIFY_STEP
) -> dict[Interpolation, Results]:
    """The same pose graphs held and interpolated (002, figures 2 and 3)."""
    poses = np.stack([toy.angles(figure) for toy in toys])
    times = np.array([toy.times for toy in toys])
    kinds: tuple[Interpolation, Interpolation] = ("hold", "linear")
    return {kind: run_trials(figure, poses, times, seconds=seconds, step=step, interpolation=kind) for kind in kinds}
