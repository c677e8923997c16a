"""The way a walker goes: a smooth curve through points on the ground, with a heading at every place."""

import math

import numpy as np
from numpy.typing import ArrayLike

from impel.files import Problem
from impel.gaits.walker import Floats
from impel.kernel import Floats2, kernel, struct
from impel.motion.paths import make_paths, polyline

# In sizes of the walker:
SPACING = 0.005  # between the places of the table
FORESIGHT = 0.25  # before a turn, in which steps get shorter, and half as much behind it
SOFTENING = 1.5  # over which a change of direction is spread: the body turns into a corner before its feet are there
NEAREST = 0.005  # of two points that are not the same place
FARTHEST = 5000.0  # longer was not meant


@struct
class Route:
    table: Floats2  # (K, 4) x, y, heading (rad), sharpest curvature soon to come (1/m), evenly spaced
    length: float  # m
    straight: bool


def make_route(points: ArrayLike, size: float) -> Route:
    """Through points (n, 2) in metres; a walker of this size starts at the first and stops at the last."""
    keys = np.array(points, np.float64)
    if keys.ndim != 2 or keys.shape[1] != 2 or len(keys) < 2:
        raise Problem("path: needs at least two points, each as x,y")
    if not np.isfinite(keys).all():
        raise Problem("path: points must be finite numbers")
    steps = np.linalg.norm(np.diff(keys, axis=0), axis=1)
    if steps.min() < NEAREST * size:
        place = int(np.argmin(steps))
        raise Problem(f"path: points {place + 1} and {place + 2} are the same place")
    if steps.sum() > FARTHEST * size:
        raise Problem(f"path: is {steps.sum():.4g} m long, must be at most {FARTHEST * size:g} m")
    curve = keys
    if len(keys) > 2:  # two points are a straight line, for which nothing has to be compiled
        curve = polyline(make_paths([np.column_stack([keys, np.zeros(len(keys))])], [False]), 0, 128)[:, :2]
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    length = float(along[-1])
    count = max(2, math.ceil(length / (SPACING * size)) + 1)
    s = np.linspace(0.0, length, count)
    x, y = np.interp(s, along, curve[:, 0]), np.interp(s, along, curve[:, 1])
    heading = np.unwrap(np.arctan2(np.gradient(y, s), np.gradient(x, s)))
    heading = _soften(heading, SOFTENING)
    curvature = np.abs(np.gradient(heading, s))
    reach = round(FORESIGHT / SPACING)
    near = np.lib.stride_tricks.sliding_window_view(
        np.pad(curvature, (reach // 2, reach), mode="edge"), 3 * reach // 2 + 1
    )
    table = np.column_stack([x, y, heading, _soften(near.max(axis=1)[:count], FORESIGHT / 2)])
    return Route(table, length, bool(np.ptp(heading) < 1e-9))


def _soften(series: Floats, sizes: float) -> Floats:
    """A moving mean over so much before and behind."""
    width = max(1, round(sizes / SPACING))
    bell = np.hanning(2 * width + 1)
    return np.convolve(np.pad(series, width, mode="edge"), bell / bell.sum(), mode="valid")


@kernel(inline=True)
def place_on(route, s):
    """x, y, heading and coming curvature at s metres along the way; straight on before its start and behind its end."""
    table = route.table
    last = table.shape[0] - 1
    u = s / route.length * last
    k = min(max(math.floor(u), 0), last - 1)
    u -= k
    over = 0.0
    if u < 0.0 or u > 1.0:
        over = s if u < 0.0 else s - route.length
        u = min(max(u, 0.0), 1.0)
    v = 1.0 - u
    heading = v * table[k, 2] + u * table[k + 1, 2]
    return (
        v * table[k, 0] + u * table[k + 1, 0] + over * math.cos(heading),
        v * table[k, 1] + u * table[k + 1, 1] + over * math.sin(heading),
        heading,
        v * table[k, 3] + u * table[k + 1, 3],
    )
