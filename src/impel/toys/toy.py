"""A toy: a figure with the pose graph that winds it up, in a file that a person can edit.

figure: luxo
poses:
- {ankle: -60, elbow: -97.8}
- {ankle: -5.8, elbow: 28.5}
times: [0.14, 0.14]
interpolation: hold
sensors: [null, {touches: toe}]     # optional: leave early; the time becomes a time-out
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from impel.complaints import validated
from impel.files import Problem, read_document, write_document
from impel.toys.figure import Drawn, Figure, Interpolation, Name, Number, Time, load_figure
from impel.toys.trials import VERIFY_STEP, Results, run_trials, start_state

Floats = NDArray[np.float64]

MAX_POSES = 64
Step = Annotated[float, Field(ge=1e-6, le=0.01)]
DECIMALS = 6  # of a degree, that a file keeps


class Sensor(Drawn):
    """What ends a pose before its time."""

    touches: Name | None = Field(None, description="Leave when this contact point touches the ground.")
    leaves: Name | None = Field(None, description="Leave when this contact point is off the ground.")


class Toy(Drawn):
    """A figure and its cyclic pose graph."""

    figure: str = Field(description="A built-in figure or a figure file.")
    poses: Annotated[list[dict[Name, Number]], Field(min_length=1, max_length=MAX_POSES)] = Field(
        description="Wished angle of every active joint, in degrees; a cycle."
    )
    times: list[Time] = Field(description="Seconds from each pose to the next.")
    interpolation: Interpolation = Field("hold", description="Keep each pose, or move evenly towards the next.")
    sensors: list[Sensor | None] | None = Field(None, description="What may end each pose early.")
    step: Step | None = Field(None, description="The step at which it was verified and is played, in seconds.")

    def angles(self, figure: Figure) -> Floats:
        """Poses as (P, A) radians, in the order of the figure's active joints."""
        return np.radians([[pose[name] for name in figure.active] for pose in self.poses])

    def sensor_codes(self, figure: Figure) -> NDArray[np.int64]:
        return sensor_codes(self.sensors or [None] * len(self.poses), figure)


def sensor_codes(sensors: Sequence[Sensor | None], figure: Figure) -> NDArray[np.int64]:
    """Sensors of every pose as the simulator wants them: +k or -k for the k-th contact point, 0 for none."""
    contacts = list(figure.contacts)
    codes = np.zeros(len(sensors), np.int64)
    for i, sensor in enumerate(sensors):
        if sensor is not None and sensor.touches is not None:
            codes[i] = contacts.index(sensor.touches) + 1
        elif sensor is not None and sensor.leaves is not None:
            codes[i] = -contacts.index(sensor.leaves) - 1
    return codes


def toy_of(
    figure: Figure, poses: Any, times: Any, *, source: str | None = None, interpolation: Interpolation = "hold",
    sensors: Sequence[Sensor | None] | None = None, step: float | None = None,
) -> Toy:  # fmt: skip
    """A toy from angles in radians (P, A) and seconds (P,); `source` is the file of a figure that is not built in."""
    degrees = _kept_degrees(poses)
    return Toy(
        figure=source or figure.figure,
        poses=[dict(zip(figure.active, map(float, row))) for row in degrees],
        times=[float(t) for t in np.broadcast_to(times, (len(degrees),))],
        interpolation=interpolation,
        sensors=None if sensors is None else list(sensors),
        step=step,
    )


def _kept_degrees(angles: Any) -> Floats:
    return np.round(np.degrees(np.asarray(angles, float)), DECIMALS)


def kept_angles(angles: Any) -> Floats:
    """Angles in radians as they come back from a toy file, to the last bit."""
    return np.radians(_kept_degrees(angles))


def read_toy(path: str | Path) -> tuple[Toy, Figure]:
    """A toy file and the figure it names, both checked."""
    subject = str(path)
    toy = validated(Toy, read_document(path), subject)
    figure = load_figure(toy.figure, beside=Path(path))
    check_toy(toy, figure, subject=subject)
    return toy, figure


def check_toy(toy: Toy, figure: Figure, *, subject: str) -> None:
    lines = []
    if len(toy.times) != len(toy.poses):
        lines.append(f"times: needs one time for each of the {len(toy.poses)} poses, got {len(toy.times)}")
    for i, pose in enumerate(toy.poses):
        for name in figure.active:
            if name not in pose:
                lines.append(f"poses.{i}.{name}: is missing")
        for name, angle in pose.items():
            if name not in figure.active:
                lines.append(f"poses.{i}.{name}: {figure.figure} has no active joint named {name!r}")
                continue
            low, high = figure.joints[name].range or (-np.inf, np.inf)
            if not low - 1e-6 <= angle <= high + 1e-6:
                lines.append(f"poses.{i}.{name}: must lie within the range {low:g} to {high:g}, got {angle:g}")
    if toy.sensors is not None and len(toy.sensors) != len(toy.poses):
        lines.append(f"sensors: needs one entry (or null) for each pose, got {len(toy.sensors)}")
    for i, sensor in enumerate(toy.sensors or []):
        if sensor is None:
            continue
        named = [name for name in (sensor.touches, sensor.leaves) if name is not None]
        if len(named) != 1:
            lines.append(f"sensors.{i}: give either touches or leaves")
        unknown = [name for name in named if name not in figure.contacts]
        lines += [f"sensors.{i}: {figure.figure} has no contact point named {name!r}" for name in unknown]
    if lines:
        raise Problem(*(f"{subject}: {line}" for line in lines))


def write_toy(path: str | Path, toy: Toy) -> None:
    document = toy.model_dump(exclude_none=True)
    if toy.sensors is not None:
        document["sensors"] = [sensor and sensor.model_dump(exclude_none=True) for sensor in toy.sensors]
    write_document(path, document)


def run_toy(
    toy: Toy,
    figure: Figure,
    *,
    seconds: float = 10.0,
    step: float | None = None,
    clearance: float = 0.0,
    gains: Floats | None = None,
    stride: int = 1,
) -> Results:
    """One trial of a toy with every `stride`-th state kept, by default at the step at which it was verified."""
    step = step or toy.step or VERIFY_STEP
    arcs = np.asarray(toy.times)
    in_arc = np.ceil(arcs / step - 1e-9)
    rate = in_arc.sum() / arcs.sum()
    if toy.sensors:  # they may leave all arcs early but the one of the shortest steps; only the last arc has others
        rate = max(2.0 / step, float((in_arc / arcs).max()))
    samples = int(seconds * rate + arcs.size * 2) // stride + 2
    result = run_trials(
        figure,
        toy.angles(figure)[None],
        toy.times,
        seconds=seconds,
        step=step,
        interpolation=toy.interpolation,
        sensors=toy.sensor_codes(figure)[None],
        starts=start_state(figure, clearance=clearance),
        gains=gains,
        samples=samples,
        stride=stride,
    )
    kept = ~np.isnan(result.samples[0, :, 0])
    return replace(result, samples=result.samples[:, kept])
