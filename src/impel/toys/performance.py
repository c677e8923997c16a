"""A toy's run as a take, so that it is drawn, filmed and exported like anything else."""

from itertools import pairwise
from typing import Any

import numpy as np

from impel.takes import Take
from impel.takes.pieces import surface_of
from impel.toys.figure import Figure
from impel.toys.looks import looks_of, middle_of
from impel.toys.measures import footfalls
from impel.toys.mechanism import ground_at, mechanism_of, minus
from impel.toys.toy import Toy, run_toy
from impel.toys.trials import Floats, Results, link_frames, turned

GROUND_WIDTH = 0.4  # m, across the plane of the figure
GROUND_DEPTH = 0.02  # m


def take_of(toy: Toy, figure: Figure, *, seconds: float = 10.0, fps: float = 60.0, step: float | None = None) -> Take:
    """Run a toy and record it: links with what they look like, the ground, footfalls and a fall as events."""
    return record(figure, run_toy(toy, figure, seconds=seconds, step=step), fps=fps)


def record(figure: Figure, result: Results, *, fps: float = 60.0) -> Take:
    """A take from a run with samples; steps differ from arc to arc, so states are interpolated at the frames."""
    rows, states = result.rows, result.samples[0]
    lived = states[:, rows.time]
    time = np.arange(int(lived[-1] * fps + 1e-9) + 1) / fps
    # A state sampled where two arcs meet appears once, so times strictly grow.
    frames = np.stack([np.interp(time, lived, states[:, c]) for c in range(states.shape[1])], axis=1)

    mechanism = mechanism_of(figure)
    references = link_frames(mechanism, frames)
    looks = looks_of(figure)
    surfaces: dict[str, Floats] = {}
    names: list[str] = []
    shapes: list[dict[str, Any]] = []
    colors: list[str] = []
    position, orientation = [], []
    for i, name in enumerate(mechanism.links):
        turn = frames[:, 2 + i]
        reference = mechanism.origin if i == 0 else _joint_place(figure, mechanism.joint[i])
        place = references[:, i] + turned(minus(middle_of(figure.links[name]), reference), turn)
        for k, pieces in enumerate(looks[name]):
            shape, seen = surface_of(pieces)
            surfaces |= seen
            names.append(name if k == 0 else f"{name} {k + 1}")
            shapes.append(shape)
            colors.append(pieces[0].color)
            position.append(np.stack([place[:, 0], np.zeros(len(time)), place[:, 1]], axis=1))
            # Counter-clockwise in the x-z plane is about -y.
            orientation.append(_about_y(-turn))

    # Contact points lie on the links' axes, so the ground is drawn one skin lower than it is felt.
    skin = min(figure.links[contact.link].thickness for contact in figure.contacts.values())
    level = figure.ground.profile is None and figure.ground.slope == 0
    if level:
        names.append("ground")
        shapes.append({"plane": {}})
        colors.append("#d8d8d8")
        position.append(np.tile([0.0, 0.0, -skin], (len(time), 1)))
        orientation.append(np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1)))
    for k, (a, b) in enumerate([] if level else _ground_pieces(figure, frames[:, 0])):
        length = float(np.hypot(b[0] - a[0], b[1] - a[1]))
        half = -np.arctan2(b[1] - a[1], b[0] - a[0]) / 2
        up = np.array([-(b[1] - a[1]), b[0] - a[0]]) / length
        center = (np.array(a) + np.array(b)) / 2 - up * (GROUND_DEPTH / 2 + skin)
        names.append("ground" if k == 0 else f"ground {k + 1}")
        shapes.append({"box": [length, GROUND_WIDTH, GROUND_DEPTH]})
        colors.append("#d8d8d8")
        position.append(np.tile([center[0], 0.0, center[1]], (len(time), 1)))
        orientation.append(np.tile(_about_y(2 * half), (len(time), 1)))

    return Take(
        time=time,
        names=names,
        position=np.stack(position, axis=1),
        orientation=np.stack(orientation, axis=1),
        shapes=shapes,
        colors=colors,
        surfaces=surfaces,
        events=_events(figure, result),
        channels=_channels(figure, result, frames),
    )


def _about_y(angle: Floats) -> Floats:
    """Quaternions, (..., 4)."""
    half, nothing = np.asarray(angle) / 2, np.zeros(np.shape(angle))
    return np.stack([np.cos(half), nothing, np.sin(half), nothing], axis=-1)


def _joint_place(figure: Figure, joint: int) -> tuple[float, float]:
    return list(figure.joints.values())[joint].at


def _ground_pieces(figure: Figure, x: Floats) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The ground as line pieces, a little longer than the run."""
    low, high = float(x.min()) - 0.5, float(x.max()) + 0.5
    inside = [corner[0] for corner in figure.ground.profile or [] if low < corner[0] < high]
    corners = [(p, ground_at(figure, p)) for p in [low, *inside, high]]
    return list(pairwise(corners))


def _events(figure: Figure, result: Results) -> list[dict[str, object]]:
    events: list[dict[str, object]] = []
    for name, spans in footfalls(figure, result).items():
        for begin, end in spans:
            events.append({"time": begin, "kind": "footfall", "subject": name, "details": {"until": end}})
    if result.fallen[0]:
        events.append({"time": float(result.time[0]), "kind": "fall", "subject": figure.figure, "details": {}})
    return sorted(events, key=lambda event: (event["time"], event["subject"]))


def _channels(figure: Figure, result: Results, frames: Floats) -> dict[str, Floats]:
    rows = result.rows
    channels = {"root.x": frames[:, 0].copy(), "root.height": frames[:, 1].copy()}
    channels["root.tilt"] = np.degrees(frames[:, 2])
    for j, name in enumerate(figure.joints):
        channels[f"{name}.torque"] = frames[:, rows.torque.start + j].copy()
        channels[f"{name}.target"] = np.degrees(frames[:, rows.target.start + j])
    for k, name in enumerate(figure.contacts):
        channels[f"{name}.force"] = frames[:, rows.force.start + k].copy()
    return channels
