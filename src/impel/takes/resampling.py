"""A take at another frame rate."""

from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from impel.complaints import say
from impel.files import Problem
from impel.motion.orientations import conjugate_quaternions, multiply_quaternions
from impel.takes.soft import resampled_soft
from impel.takes.take import Floats, Take

MOST_FRAMES = 1_000_000
ROUNDING = 1e-9  # s


def frame_times(start: float, end: float, fps: float) -> Floats:
    """Frames at a steady rate from `start` on, as many as there is time for."""
    if not isinstance(fps, Real) or not fps > 0:
        raise Problem(f"fps: must be a number greater than 0, got {say(fps)}")
    count = (end - start) * fps + 1e-6 + 1
    if not 1 <= count <= MOST_FRAMES:
        raise Problem(f"fps: must leave at most {MOST_FRAMES} frames, got {fps:g} for {end - start:g} s")
    return start + np.arange(int(count)) / fps


def resampled(take: Take, fps: float) -> Take:
    """The same motion in frames of another rate, so that each lies on a whole frame of whoever reads them.

    Between two frames bodies go on as the frames on both sides agree that they do, and straight on where they do not,
    as at a blow: there `simulate(scene, fps=...)` knows better.
    """
    time = frame_times(float(take.time[0]), float(take.time[-1]), fps)
    before = np.clip(np.searchsorted(take.time, time + ROUNDING, side="right") - 1, 0, max(len(take.time) - 2, 0))
    after = np.minimum(before + 1, len(take.time) - 1)
    share = np.clip((time - take.time[before]) / np.maximum(take.time[after] - take.time[before], ROUNDING), 0.0, 1.0)

    def between(values: Floats) -> Floats:
        weight = share.reshape(-1, *[1] * (values.ndim - 1))
        # What is not there, or not known, at one end only is not spoilt by it at the other.
        inner = (1 - weight) * values[before] + weight * values[after]
        return np.where(weight == 0, values[before], np.where(weight == 1, values[after], inner))

    def bent(values: Floats) -> Floats:
        return between(values) - 0.5 * _bend(values, before, share) * _across(share, values.ndim)

    def places(values: Floats) -> Floats:
        return _turned(values, before, after, share) if values.shape[-1] == 4 else between(values)

    with np.errstate(invalid="ignore", over="ignore"):
        return replace(
            take,
            time=time,
            position=bent(take.position),
            orientation=_turned(take.orientation, before, after, share),
            channels={name: between(values) for name, values in take.channels.items()},
            tracks={name: places(values) for name, values in take.tracks.items()},
            paths={name: places(values) if values.ndim == 3 else values for name, values in take.paths.items()},
            ropes={name: bent(ends) for name, ends in take.ropes.items()},
            soft=resampled_soft(take, before, after, share),
        )


def _across(share: Floats, dimensions: int) -> Floats:
    return (share * (1 - share)).reshape(-1, *[1] * (dimensions - 1))


def _bend(values: Floats, before: NDArray[np.int64], share: Floats) -> Floats:
    """Second differences at both ends of each piece: the smaller one where they agree in sign, else none."""
    inner = np.diff(values, n=2, axis=0)
    if len(inner) == 0:
        return np.zeros_like(values[before])
    second = np.concatenate([inner[:1], inner, inner[-1:]])
    a, b = second[before], second[np.minimum(before + 1, len(second) - 1)]
    bend = np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)
    return np.where(_across(share, values.ndim) > 0, bend, 0.0)


def _turned(orientation: Floats, before: NDArray[np.int64], after: NDArray[np.int64], share: Floats) -> Floats:
    """Quaternions that turn at a steady pace from one frame to the next, the short way."""
    q = orientation[before]
    way = multiply_quaternions(orientation[after], conjugate_quaternions(q))
    way = np.where(way[..., :1] < 0, -way, way)
    sine = np.linalg.norm(way[..., 1:], axis=-1, keepdims=True)
    half = np.arctan2(sine, way[..., :1]) * share.reshape(-1, *[1] * (orientation.ndim - 1))
    axis = way[..., 1:] / np.where(sine > 0, sine, 1.0)
    turned = multiply_quaternions(np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1), q)
    return np.where(share.reshape(-1, *[1] * (orientation.ndim - 1)) == 0, q, turned)
