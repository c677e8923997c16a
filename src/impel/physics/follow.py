"""Key-framed bodies: they move exactly as told and push whatever is in their way."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.kinds import Solid
from impel.kernel import Floats2, kernel, struct
from impel.motion.follow import follow, follow_smoothly
from impel.motion.rotations import (
    add,
    conjugate,
    get3,
    get4,
    logarithm,
    multiply,
    normalize,
    rotate,
    scale,
    set3,
    set4,
    sub,
)
from impel.motion.splines import COLUMNS
from impel.motion.timed import timed_segments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@struct
class Followers:
    """The keys of all K key-framed bodies, one body after the other, by time: where the shapes' origins are."""

    body: Integers  # (K,)
    first: Integers  # (K + 1,) where each body's keys begin
    time: Floats  # (keys,) s
    position: Floats2  # (keys, 3)
    orientation: Floats2  # (keys, 4)
    row: Integers  # (K,) where its segments begin; -1 if it goes in straight lines and even turns
    moves: Floats2  # (segments, COLUMNS) see motion/timed.py
    turns: Floats2  # (segments, COLUMNS)
    offset: Floats2  # (K, 3) from the origin to the centre of mass, in the shape's frame
    axes: Floats2  # (K, 4) the principal axes there

    KEPT = ("time", "position", "orientation")  # walkers write theirs anew for every frame


class Told(NamedTuple):
    """What one body is told."""

    body: int
    solid: Solid
    times: Any  # (keys,) s
    positions: Any  # (keys, 3)
    orientations: Any  # (keys, 4)
    linear: bool


def make_followers(told: list[Told]) -> Followers:
    smooth = [not each.linear and len(each.times) > 1 for each in told]
    counts = [len(each.times) - 1 if curved else 0 for each, curved in zip(told, smooth)]
    empty = np.zeros((0, COLUMNS))
    return Followers(
        body=np.array([each.body for each in told], np.int64),
        first=np.cumsum([0, *(len(each.times) for each in told)], dtype=np.int64),
        time=np.concatenate([np.asarray(each.times, float) for each in told]),
        position=np.concatenate([np.asarray(each.positions, float) for each in told]),
        orientation=np.concatenate([np.asarray(each.orientations, float) for each in told]),
        row=np.where(smooth, np.cumsum([0, *counts[:-1]]), -1).astype(np.int64),
        moves=np.concatenate([empty, *(timed_segments(e.positions, e.times) for e, s in zip(told, smooth) if s)]),
        turns=np.concatenate([empty, *(timed_segments(e.orientations, e.times) for e, s in zip(told, smooth) if s)]),
        offset=np.array([each.solid.offset for each in told], float),
        axes=np.array([each.solid.rotation for each in told], float),
    )


@kernel
def lead_followers(bodies, followers, time, dt):
    """Give every key-framed body the velocities that bring it to its place at time + dt."""
    for k in range(len(followers.body)):
        i = followers.body[k]
        x, q = _told(followers, k, time + dt)
        set3(bodies.velocity, i, scale(sub(x, get3(bodies.position, i)), 1.0 / dt))
        turned = logarithm(multiply(q, conjugate(get4(bodies.orientation, i))))
        set3(bodies.spin, i, scale(turned, 1.0 / dt))


@kernel
def place_followers(bodies, followers, time):
    """Take every key-framed body to its place."""
    for k in range(len(followers.body)):
        i = followers.body[k]
        x, q = _told(followers, k, time)
        set3(bodies.position, i, x)
        set4(bodies.orientation, i, q)


@kernel
def _told(followers, k, time):
    """Where a body's centre of mass and principal axes should be."""
    times, positions, orientations = followers.time, followers.position, followers.orientation
    first, last, row = followers.first[k], followers.first[k + 1], followers.row[k]
    if row < 0:
        x, q = follow(times, positions, orientations, first, last, time)
    else:
        x, q = follow_smoothly(times, positions, orientations, first, last, followers.moves, followers.turns, row, time)
    q = normalize(q)
    return add(x, rotate(q, get3(followers.offset, k))), multiply(q, get4(followers.axes, k))
