"""Moments of a gait side by side in one picture, the way locomotion has been drawn since Muybridge."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from impel.motion.orientations import matrix_from_quaternion
from impel.render.outputs import write_png
from impel.render.sequences import picture
from impel.takes import Take

AIR = 1.06  # between one moment and the next, in widths of the toy
LENS = 8.0  # degrees: hardly any perspective, so that all moments look alike


def write_strides(
    path: Path,
    takes: Sequence[Take],
    *,
    begin: float,
    seconds: float,
    count: int = 9,
    size: tuple[int, int] = (1280, 230),
) -> None:
    """A part of each take in a row of its own: moments at even times, left to right, set apart by a fixed distance."""
    rows = []
    for take in takes:
        end = min(begin + seconds, float(take.time[-1]))
        times = np.linspace(max(0.0, end - seconds), end, count)
        rows.append(picture(beside(take, np.searchsorted(take.time, times - 1e-9), size), 0.0, size=size))
    write_png(np.concatenate(rows), path)


def beside(take: Take, frames: np.ndarray, size: tuple[int, int]) -> Take:
    """One frame that shows several: the moving bodies once for each, the ground once."""
    ground = [i for i, name in enumerate(take.names) if name.startswith("ground")]
    toy = [i for i in range(len(take.names)) if i not in ground]
    spans = [_span(take, frame, toy) for frame in frames]
    apart = AIR * max(right - left for left, right, _ in spans)
    places = [take.position[frames[:1]][:, ground]]
    for k, frame in enumerate(frames):
        middle = (spans[k][0] + spans[k][1]) / 2
        places.append(take.position[None, frame, toy] - [[middle - k * apart, 0.0, 0.0]])
    order = ground + toy * len(frames)
    turns = np.concatenate([take.orientation[0, ground], *(take.orientation[frame, toy] for frame in frames)])
    top = 1.4 * max(highest for *_, highest in spans)  # with air above it
    middle, width = (len(frames) - 1) / 2 * apart, max((len(frames) + 0.3) * apart, top * size[0] / size[1])
    away = width / 2 * size[1] / size[0] / np.tan(np.radians(LENS) / 2)
    return replace(
        take,
        time=np.zeros(1),
        names=[f"{take.names[i]} {k}" for k, i in enumerate(order)],
        position=np.concatenate(places, axis=1),
        orientation=turns[None],
        shapes=[take.shapes[i] for i in order],
        colors=[take.colors[i] for i in order],
        events=[],
        channels={},
        camera={"from": [middle, -away, 0.15 * away], "to": [middle, 0.0, 0.4 * top], "fov": LENS},
    )


def _span(take: Take, frame: int, toy: list[int]) -> tuple[float, float, float]:
    """How far a toy reaches to the left, to the right and up, in metres."""
    reach = []
    for i in toy:
        seen = take.surfaces[f"{take.shapes[i]['mesh']['surface']}.vertices"]
        at = take.position[frame, i] + seen @ matrix_from_quaternion(take.orientation[frame, i]).T
        reach.append([at[:, 0].min(), at[:, 0].max(), at[:, 2].max()])
    bounds = np.array(reach)
    return float(bounds[:, 0].min()), float(bounds[:, 1].max()), float(bounds[:, 2].max())
