"""Curves through keys that have times: one cubic in time from each key to the next.

They pass every key at its time, stop where a key is repeated or the way turns back, start and end at rest, and never
go beyond a key on a straight way: a key's speed is at most three times the slower of its neighbours' means (Fritsch
and Carlson 1980). The rows are those of `splines.py`, with u the time since the key over the time between the two.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impel.kernel import kernel
from impel.motion.rotations import get3, get4, norm, scale
from impel.motion.splines import COLUMNS, align_signs, chord, fit_orientations, fit_positions, pose_at, tangent

Floats = NDArray[np.float64]

# What is told about the velocity at a key: the last of four numbers says what the first three are.
NOTHING, SPEED, WAY, VELOCITY = range(4)  # nothing; a speed and no more; a direction of length 1; all of it


@kernel
def timed_tangent(before, after, h0, h1):
    """The velocity at a key, from the chords on both sides and the times they take."""
    c0, c1 = norm(before), norm(after)
    if c0 == 0.0 or c1 == 0.0:  # a repeated key: it holds
        return 0.0, 0.0, 0.0
    d0, d1 = c0 / h0, c1 / h1
    speed = min((h1 * d0 + h0 * d1) / (h0 + h1), 3.0 * min(d0, d1))
    # The direction is that of the centripetal curve. Over this length it is one on a straight way, and the cosine of
    # half the turn at a corner between equal chords.
    s0, s1 = math.sqrt(c0), math.sqrt(c1)
    return scale(tangent(before, after, 1.0), speed * (s0 + s1) / (2.0 * s0 * s1))


@kernel
def fit_timed(keys, times, segments, turns):
    """Fill the segments of one path, as many as it has keys but one, from its keys and their times."""
    last = len(keys) - 1
    if turns:
        align_signs(keys)
    for i in range(last):
        h = times[i + 1] - times[i]
        whole = chord(keys, i, i + 1, turns)
        t0, t1 = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if i > 0:
            t0 = scale(timed_tangent(chord(keys, i - 1, i, turns), whole, times[i] - times[i - 1], h), h)
        if i + 1 < last:
            t1 = scale(timed_tangent(whole, chord(keys, i + 1, i + 2, turns), h, times[i + 2] - times[i + 1]), h)
        if turns:
            fit_orientations(segments[i], get4(keys, i), whole, t0, t1)
        else:
            fit_positions(segments[i], get3(keys, i), whole, t0, t1)


@kernel
def told_velocity(told, before, after, h0, h1, ends):
    """The velocity at a key, as far as it is told. At the `ends` of a path it is at rest if nothing is."""
    kind, given = told[3], (told[0], told[1], told[2])
    if kind == VELOCITY:
        return given
    if kind == SPEED:
        way = tangent(before, after, 1.0)
        size = norm(way)
        return scale(way, told[0] / size if size > 0.0 else 0.0)
    velocity = (0.0, 0.0, 0.0) if ends else timed_tangent(before, after, h0, h1)
    return scale(given, norm(velocity)) if kind == WAY else velocity


@kernel
def fit_clocked(keys, spans, told, segments, turns, loops):
    """Fill the segments of one path from its keys, wherever these are now, how long each segment takes, and what is
    told about velocities at keys: (n, 4), of orientations in the frame of the key."""
    n, count = len(keys), len(segments)
    if turns:
        align_signs(keys)
    for i in range(count):
        there, h = (i + 1) % n, spans[i]
        whole = chord(keys, i, there, turns)
        before, after, h0, h1 = whole, whole, h, h
        if loops or i > 0:
            before, h0 = chord(keys, (i - 1 + n) % n, i, turns), spans[(i - 1 + count) % count]
        if loops or i < count - 1:
            after, h1 = chord(keys, there, (i + 2) % n, turns), spans[(i + 1) % count]
        t0 = scale(told_velocity(told[i], before, whole, h0, h, not loops and i == 0), h)
        t1 = scale(told_velocity(told[there], whole, after, h, h1, not loops and i == count - 1), h)
        if turns:
            fit_orientations(segments[i], get4(keys, i), whole, t0, t1)
        else:
            fit_positions(segments[i], get3(keys, i), whole, t0, t1)


@kernel
def segment_at(times, first, last, t):
    """Which of the keys first..last-2 is the last one not after t, for t between the first and the last of them."""
    i, after = first, last - 1
    while after - i > 1:  # by halves, for a walker has 240 keys a second
        middle = (i + after) // 2
        if t >= times[middle]:
            i = middle
        else:
            after = middle
    return i


def timed_segments(keys: ArrayLike, times: ArrayLike) -> Floats:
    """The segments through positions (n, 3) or orientations (n, 4)."""
    rows = np.array(keys, float, order="C")
    segments = np.zeros((len(rows) - 1, COLUMNS))
    fit_timed(rows, np.asarray(times, float), segments, rows.shape[1] == 4)
    return segments


def timed_positions(keys: ArrayLike, times: ArrayLike, at: ArrayLike) -> Floats:
    """Where the curve through positions (n, 3) is at times between its first and its last key."""
    times = np.asarray(times, float)
    segments = timed_segments(keys, times)
    result = []
    for t in np.asarray(at, float):
        i = segment_at(times, 0, len(times), t)
        result.append(pose_at(segments[i], (t - times[i]) / (times[i + 1] - times[i]), False)[0][:3])
    return np.array(result).reshape(-1, 3)


def clocked_segments(keys: ArrayLike, spans: ArrayLike, told: ArrayLike, loops: bool) -> Floats:
    """The segments through positions (n, 3) or orientations (n, 4), as `fit_clocked` wants them."""
    rows, spans = np.array(keys, float, order="C"), np.asarray(spans, float)
    segments = np.zeros((len(spans), COLUMNS))
    fit_clocked(rows, spans, np.asarray(told, float), segments, rows.shape[1] == 4, loops)
    return segments
