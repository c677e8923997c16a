"""The paths of a scene in flat arrays: keys go in, curves that kernels can follow come out."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.kernel import Floats2, kernel, struct
from impel.motion.rotations import angle_between, conjugate, dot, get3, get4, multiply, norm, set3, set4, sub
from impel.motion.splines import (
    COLUMNS,
    FASTEST,
    align_signs,
    chord,
    fit_orientations,
    fit_positions,
    orientation_at,
    pose_at,
    position_at,
    tangent,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of a stretch; with 16 in a segment, its length to 1e-9.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
GAUSS_U = tuple((0.5 + 0.5 * _NODES).tolist())
GAUSS_WEIGHT = tuple((0.5 * _WEIGHTS).tolist())

LOOKS = 16  # stretches of each segment, in which its length and the point nearest to a body are looked for
GROUP = 4  # of them that are left out together
CLOSE = 1e-6  # of a segment: how well that point is found


@struct
class Paths:
    """P paths with S segments in all. Coefficients follow from the keys by `fit_paths`."""

    keys: Floats2  # (K, 4) positions (x, y, z, 0) or orientations (w, x, y, z)
    first_key: Integers  # (P + 1,) where each path's keys begin
    first_segment: Integers  # (P + 1,)
    turns: Integers  # (P,) 1 for orientations
    loops: Integers  # (P,) 1 if the last key leads back to the first, for ever
    segments: Floats2  # (S, COLUMNS) coefficients and bounds, see splines.py


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
    counts = [len(a) if c else max(len(a) - 1, 1) for a, c in zip(lists, closed, strict=True)]
    first_key = np.cumsum([0] + [len(a) for a in lists], dtype=np.int64)
    table = np.zeros((first_key[-1], 4))
    for array, first in zip(lists, first_key):
        table[first : first + len(array), : array.shape[1]] = array
    paths = Paths(
        keys=table,
        first_key=first_key,
        first_segment=np.cumsum([0, *counts], dtype=np.int64),
        turns=np.array([a.shape[1] == 4 for a in lists], np.int64),
        loops=np.array(closed, np.int64),
        segments=np.zeros((sum(counts), COLUMNS)),
    )
    fit_paths(paths)
    return paths


def _same_place(a: Floats, b: Floats) -> bool:
    if len(a) == 4:
        return bool(abs(a @ b) > (1 - 1e-12) * np.linalg.norm(a) * np.linalg.norm(b))
    return bool(np.all(a == b))


def fit_paths(paths: Paths) -> None:
    """Fill the segments of all paths from their keys."""
    for p in range(len(paths.turns)):
        keys = paths.keys[paths.first_key[p] : paths.first_key[p + 1]]
        segments = paths.segments[paths.first_segment[p] : paths.first_segment[p + 1]]
        fit_path(keys, segments, bool(paths.turns[p]), bool(paths.loops[p]))


@kernel
def fit_path(keys, segments, turns, loops):
    """Fill the segments of one path from its keys, wherever these are now."""
    n = len(keys)
    count = len(segments)
    if turns:
        align_signs(keys)
    for i in range(count):
        there = (i + 1) % n
        whole = chord(keys, i, there, turns)
        span = math.sqrt(norm(whole))
        before = whole
        after = whole
        if loops or i > 0:
            before = chord(keys, (i - 1 + n) % n, i, turns)
        if loops or i < count - 1:
            after = chord(keys, there, (i + 2) % n, turns)
        t0 = tangent(before, whole, span)
        t1 = tangent(whole, after, span)
        row = segments[i]
        if turns:
            fit_orientations(row, get4(keys, i), whole, t0, t1)
        else:
            fit_positions(row, get3(keys, i), whole, t0, t1)


@kernel
def length_between(row, low, high, turns):
    length = 0.0
    for k in range(len(GAUSS_U)):
        length += GAUSS_WEIGHT[k] * norm(pose_at(row, low + (high - low) * GAUSS_U[k], turns)[1])
    return (high - low) * length


@kernel
def segment_length(row, low, turns):
    """How long a segment is from `low` to its end, to 5e-7 or so."""
    length = 0.0
    for k in range(4):
        length += length_between(row, low + 0.25 * k * (1.0 - low), low + 0.25 * (k + 1) * (1.0 - low), turns)
    return length


@kernel
def length_until(row, lengths, u, turns):
    """How long a segment is from its key to u, in metres or radians, given where its stretches end."""
    k = min(int(u * LOOKS), LOOKS - 1)
    return lengths[k] + length_between(row, k / LOOKS, u, turns)


@kernel
def _add_lengths(paths, lengths):
    for p in range(len(paths.turns)):
        for s in range(paths.first_segment[p], paths.first_segment[p + 1]):
            for k in range(LOOKS):
                stretch = length_between(paths.segments[s], k / LOOKS, (k + 1) / LOOKS, paths.turns[p] == 1)
                lengths[s, k + 1] = lengths[s, k] + stretch


def stretch_lengths(paths: Paths) -> Floats:
    """(S, LOOKS + 1) how long every segment of every path is until each of its stretches, in metres or radians."""
    lengths = np.zeros((len(paths.segments), LOOKS + 1))
    _add_lengths(paths, lengths)
    return lengths


@kernel
def _distance_at(row, turns, x, q, u):
    if turns:
        return angle_between(orientation_at(row, u)[0], q)
    return norm(sub(position_at(row, u)[0], x))


@kernel
def distance_to_path(paths, p, x, q, hint):
    """How far a body at position x, orientation q is from the nearest point of the whole path.

    The `hint` is where to look first, as this returned it the last time; any whole number will do.
    """
    turns = paths.turns[p] == 1
    first = LOOKS * paths.first_segment[p]
    hint = min(max(hint, first), LOOKS * paths.first_segment[p + 1] - 1)
    best = _nearest_within(paths.segments[hint // LOOKS], turns, x, q, hint % LOOKS)
    nearest = hint
    for s in range(paths.first_segment[p], paths.first_segment[p + 1]):
        row = paths.segments[s]
        if _nearest_possible(row, turns, x, q, 0, LOOKS) >= best:
            continue
        for group in range(0, LOOKS, GROUP):
            if _nearest_possible(row, turns, x, q, group, group + GROUP) >= best:
                continue
            for k in range(group, group + GROUP):
                if LOOKS * s + k != hint and _nearest_possible(row, turns, x, q, k, k + 1) < best:
                    found = _nearest_within(row, turns, x, q, k)
                    if found < best:
                        best, nearest = found, LOOKS * s + k
    return best, nearest


@kernel
def _nearest_possible(row, turns, x, q, first, last):
    """No point of these stretches can be nearer."""
    there = _distance_at(row, turns, x, q, 0.5 * (first + last) / LOOKS)
    return there - 0.5 * row[FASTEST] * (last - first) / LOOKS


@kernel
def _nearest_within(row, turns, x, q, k):
    """The smallest distance on the k-th stretch of a segment: where the way to it is square to the path, or an end."""
    low, high = k / LOOKS, (k + 1) / LOOKS
    grows_low, grows_high = _growth(row, turns, x, q, low), _growth(row, turns, x, q, high)
    best = min(_distance_at(row, turns, x, q, low), _distance_at(row, turns, x, q, high))
    if not grows_low < 0.0 < grows_high:
        return best
    u = low
    for _ in range(20):  # false position, each end halved that stays (the Illinois method)
        last, u = u, (low * grows_high - high * grows_low) / (grows_high - grows_low)
        grows = _growth(row, turns, x, q, u)
        if grows == 0.0 or abs(u - last) < CLOSE:
            break
        if grows > 0.0:
            high, grows_high, grows_low = u, grows, 0.5 * grows_low
        else:
            low, grows_low, grows_high = u, grows, 0.5 * grows_high
    return min(best, _distance_at(row, turns, x, q, u))


@kernel
def _growth(row, turns, x, q, u):
    """Has the sign with which the distance grows along a path; zero where it does not."""
    pose, tangent = pose_at(row, u, turns)
    if not turns:
        return dot(sub((pose[0], pose[1], pose[2]), x), tangent)
    r = multiply(pose, conjugate(q))
    return (1.0 if r[0] >= 0.0 else -1.0) * dot((r[1], r[2], r[3]), tangent)


@kernel
def _sample(segments, per_segment, turns, points, velocities):
    for i in range(len(points)):
        s = min(i // per_segment, len(segments) - 1)
        u = (i - s * per_segment) / per_segment
        if turns:
            q, velocity = orientation_at(segments[s], u)
            set4(points, i, q)
        else:
            x, velocity = position_at(segments[s], u)
            set3(points, i, x)
        set3(velocities, i, velocity)


def polyline(paths: Paths, p: int, per_segment: int = 16) -> Floats:
    """Points along a path for drawing, from the first key to the last, `per_segment` steps in each segment."""
    return sample_path(paths, p, per_segment)[0]


def sample_path(paths: Paths, p: int, per_segment: int) -> tuple[Floats, Floats]:
    """Points along a path, and their velocities by u (angular, in the world's frame, if the path turns)."""
    begin, end = paths.first_segment[p], paths.first_segment[p + 1]
    turns = bool(paths.turns[p])
    points = np.zeros(((end - begin) * per_segment + 1, 4 if turns else 3))
    velocities = np.zeros((len(points), 3))
    _sample(paths.segments[begin:end], per_segment, turns, points, velocities)
    return points, velocities


def skipped_loops(paths: Paths, p: int, base_distance: float) -> list[int]:
    """Segments in which a position path makes a loop so tight that its target will skip it.

    A target may run ahead as far as the base distance, so a loop of half that radius lies within its reach: it is
    passed in one go. A loop is a stretch over which the heading turns by three quarters of a circle.
    """
    per_segment = 32
    _, velocities = sample_path(paths, p, per_segment)
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
