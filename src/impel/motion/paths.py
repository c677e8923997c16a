"""The paths of a scene in flat arrays: keys go in, curves that kernels can follow come out."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.kernel import kernel
from impel.motion.rotations import angle_between, get3, get4, norm, sub
from impel.motion.splines import (
    COEFFICIENTS,
    align_signs,
    chord,
    fit_orientations,
    fit_positions,
    orientation_at,
    position_at,
    tangent,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# 32 points: the arc length of a segment to 7e-6 (measured).
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
GAUSS_U = tuple((0.5 + 0.5 * _NODES).tolist())
GAUSS_WEIGHT = tuple((0.5 * _WEIGHTS).tolist())


class Paths(NamedTuple):
    """P paths with S segments in all. Coefficients follow from the keys by `fit_paths`."""

    keys: Floats  # (K, 4) positions (x, y, z, 0) or orientations (w, x, y, z)
    first_key: Integers  # (P + 1,) where each path's keys begin
    first_segment: Integers  # (P + 1,)
    turns: Integers  # (P,) 1 for orientations
    loops: Integers  # (P,) 1 if the last key leads back to the first, for ever
    curve: Floats  # (S, 16) coefficients, see splines.py
    fastest: Floats  # (S,) no smaller than |C'| anywhere on the segment
    sharpest: Floats  # (S,) no smaller than |C''|
    length: Floats  # (S,) metres or radians


def make_paths(keys: Sequence[ArrayLike], loops: Sequence[bool]) -> Paths:
    """Curves through lists of positions (n, 3) or orientations (n, 4); a single key is a place to stay at.

    A loop may repeat its first key at the end or leave it out.
    """
    lists = []
    for rows, loop in zip(keys, loops, strict=True):
        array = np.array(rows, float)
        if array.ndim != 2 or array.shape[1] not in (3, 4) or not len(array):
            raise ValueError(f"keys must be (n, 3) positions or (n, 4) quaternions, got {array.shape}")
        if loop and len(array) > 1 and _same_place(array[0], array[-1]):
            array = array[:-1]
        lists.append(array)
    closed = [bool(loop) and len(array) > 1 for array, loop in zip(lists, loops, strict=True)]
    segments = [len(a) if c else max(len(a) - 1, 1) for a, c in zip(lists, closed, strict=True)]
    total = sum(segments)
    paths = Paths(
        keys=np.vstack([np.pad(a, ((0, 0), (0, 4 - a.shape[1]))) for a in lists] or [np.zeros((0, 4))]),
        first_key=np.cumsum([0] + [len(a) for a in lists], dtype=np.int64),
        first_segment=np.cumsum([0, *segments], dtype=np.int64),
        turns=np.array([a.shape[1] == 4 for a in lists], np.int64),
        loops=np.array(closed, np.int64),
        curve=np.zeros((total, COEFFICIENTS)),
        fastest=np.zeros(total),
        sharpest=np.zeros(total),
        length=np.zeros(total),
    )
    fit_paths(paths)
    return paths


def _same_place(a: Floats, b: Floats) -> bool:
    if len(a) == 4:
        return bool(abs(a @ b) > (1 - 1e-12) * np.linalg.norm(a) * np.linalg.norm(b))
    return bool(np.all(a == b))


@kernel
def fit_paths(paths):
    """Fill the curves of all paths from their keys."""
    for p in range(len(paths.turns)):
        fit_path(paths, p)


@kernel
def fit_path(paths, p):
    """Fill the curve of one path from its keys, wherever these are now."""
    first = paths.first_key[p]
    n = paths.first_key[p + 1] - first
    begin = paths.first_segment[p]
    count = paths.first_segment[p + 1] - begin
    turns = paths.turns[p] == 1
    loop = paths.loops[p] == 1
    keys = paths.keys
    if turns:
        align_signs(keys, first, first + n)
    for i in range(count):
        here = first + i
        there = first + (i + 1) % n
        whole = chord(keys, here, there, turns)
        span = math.sqrt(norm(whole))
        before = whole
        after = whole
        if loop or i > 0:
            before = chord(keys, first + (i - 1 + n) % n, here, turns)
        if loop or i < count - 1:
            after = chord(keys, there, first + (i + 2) % n, turns)
        t0 = tangent(before, whole, span)
        t1 = tangent(whole, after, span)
        s = begin + i
        if turns:
            bounds = fit_orientations(paths.curve[s], get4(keys, here), whole, t0, t1)
        else:
            bounds = fit_positions(paths.curve[s], get3(keys, here), whole, t0, t1)
        paths.fastest[s] = bounds[0]
        paths.sharpest[s] = bounds[1]
        length = 0.0
        for k in range(len(GAUSS_U)):
            if turns:
                velocity = orientation_at(paths.curve[s], GAUSS_U[k])[1]
            else:
                velocity = position_at(paths.curve[s], GAUSS_U[k])[1]
            length += GAUSS_WEIGHT[k] * norm(velocity)
        paths.length[s] = length


@kernel
def _distance_at(row, turns, x, q, u):
    if turns:
        return angle_between(orientation_at(row, u)[0], q)
    return norm(sub(position_at(row, u)[0], x))


@kernel
def distance_to_path(paths, p, x, q):
    """How far a body at position x, orientation q is from the nearest point of the whole path."""
    looks = 16  # per segment; then golden section about the nearest
    turns = paths.turns[p] == 1
    best = math.inf
    best_segment = 0
    best_u = 0.0
    for s in range(paths.first_segment[p], paths.first_segment[p + 1]):
        for k in range(looks + 1):
            u = k / looks
            here = _distance_at(paths.curve[s], turns, x, q, u)
            if here < best:
                best = here
                best_segment = s
                best_u = u
            if k == 0 and here - paths.fastest[s] > best:
                break  # nothing on this segment can be nearer
    row = paths.curve[best_segment]
    low = max(best_u - 1.0 / looks, 0.0)
    high = min(best_u + 1.0 / looks, 1.0)
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(24):  # narrows to 1e-6 of a segment
        a = high - golden * (high - low)
        b = low + golden * (high - low)
        at_a = _distance_at(row, turns, x, q, a)
        at_b = _distance_at(row, turns, x, q, b)
        best = min(best, at_a, at_b)
        if at_a < at_b:
            high = b
        else:
            low = a
    return best


@kernel
def _sample(paths, p, per_segment, points, velocities):
    begin = paths.first_segment[p]
    for i in range(len(points)):
        s = min(begin + i // per_segment, paths.first_segment[p + 1] - 1)
        u = (i - (s - begin) * per_segment) / per_segment
        if paths.turns[p] == 1:
            q, v = orientation_at(paths.curve[s], u)
            points[i, 0], points[i, 1], points[i, 2], points[i, 3] = q
        else:
            x, v = position_at(paths.curve[s], u)
            points[i, 0], points[i, 1], points[i, 2] = x
        velocities[i, 0], velocities[i, 1], velocities[i, 2] = v


def polyline(paths: Paths, p: int, per_segment: int = 16) -> Floats:
    """Points along a path for drawing, from the first key to the last, `per_segment` steps in each segment."""
    return _points_and_velocities(paths, p, per_segment)[0]


def _points_and_velocities(paths: Paths, p: int, per_segment: int) -> tuple[Floats, Floats]:
    segments = int(paths.first_segment[p + 1] - paths.first_segment[p])
    points = np.zeros((segments * per_segment + 1, 4 if paths.turns[p] else 3))
    velocities = np.zeros((len(points), 3))
    _sample(paths, p, per_segment, points, velocities)
    return points, velocities


def skipped_loops(paths: Paths, p: int, base_distance: float) -> list[int]:
    """Segments in which a position path makes a loop so tight that its target will skip it.

    A target may run ahead as far as the base distance, so a loop of half that radius lies within its reach: it is
    passed in one go. A loop is a stretch over which the heading turns by three quarters of a circle.
    """
    per_segment = 32
    _, velocities = _points_and_velocities(paths, p, per_segment)
    speed = np.linalg.norm(velocities, axis=1)
    heading = velocities[speed > 0] / speed[speed > 0, None]
    where = (np.arange(len(velocities)) // per_segment)[speed > 0]
    if len(heading) < 2:
        return []
    turned = np.arctan2(
        np.linalg.norm(np.cross(heading[:-1], heading[1:]), axis=1), np.sum(heading[:-1] * heading[1:], axis=1)
    )
    along = (0.5 * (speed[:-1] + speed[1:]) / per_segment)[(speed > 0)[:-1]][: len(turned)]
    turned = np.append(0.0, np.cumsum(turned))
    along = np.append(0.0, np.cumsum(along))
    three_quarters = 1.5 * np.pi
    ends = np.searchsorted(turned, turned + three_quarters)
    whole = ends < len(turned)
    starts = np.flatnonzero(whole)
    tight = along[ends[whole]] - along[starts] <= three_quarters * 0.5 * base_distance
    last = int(paths.first_segment[p + 1] - paths.first_segment[p]) - 1
    return sorted({min(int(where[i]), last) for i in starts[tight]})
