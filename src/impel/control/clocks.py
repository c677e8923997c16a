"""Clocks of paths whose keys have times: their targets go by the time, slow down where bodies lag, and wait.

A clock runs at a pace of 1 while its body is near its target. It slows down from some way off on and stands at the
base distance, at once, but gains pace again only little by little: so a body that was held up and is let go does not
shoot off (measured: 1.08 times as fast as told at most, after one second or ten).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats, Floats2, Integers, kernel, struct
from impel.motion.paths import Paths, sample_path
from impel.motion.rotations import conjugate, logarithm, multiply, sub
from impel.motion.timed import fit_clocked

SLOWS = 0.3  # of the base distance: from here on a clock slows down
RISE = 0.1  # s: time constant with which it gains pace again
HURRY = 1.25  # times as fast as told, at most, to make up for lost time ...
PUNCTUAL = 0.1  # s: ... less and less, the last of so much
ROUNDING = 1e-9  # s: of a sum of many steps


@struct
class Clocks:
    """The clocks of A actuators, whose paths have S segments in all."""

    timed: Integers  # (A,) 1 if there are times on its path
    hurries: Integers  # (A,) 1 if it makes up for lost time
    begin: Floats  # (S,) s: when a segment begins ...
    span: Floats  # (S,) s: ... and how long it takes
    leader: Integers  # (A,) the first of those that it is in step with, or -1
    carried: Floats2  # (A, 3) scratch: how fast the keys of the path carry the target along, see frames.py
    # State.
    time: Floats  # (A,) s: on the path, of loops in their lap
    pace: Floats  # (A,) seconds of the path per second
    late: Floats  # (A,) s
    runs: Floats  # (A,) 1 if its target goes by the clock: one that has begun to, for an appointment, does so for good
    velocity: Floats2  # (A, 3) of the target, m/s or rad/s
    onward: Floats2  # (A, 3) its mean acceleration over the coming step

    STATE = ("time", "pace", "late", "runs", "velocity", "onward")


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a path's keys shall be passed, and how."""

    spans: NDArray[np.float64]  # (segments,) s: how long each takes
    told: NDArray[np.float64]  # (keys, 4) about velocities at keys, see motion/timed.py
    catches_up: bool = True


def make_clocks(timings: Sequence[Timing | None], paths: Paths, leaders: Sequence[int] | None = None) -> Clocks:
    """The clocks of all paths; those with times become curves in time. `leaders` tell who is in step with whom."""
    n = len(timings)
    begin, span = np.zeros(len(paths.segments)), np.ones(len(paths.segments))
    for a, timing in enumerate(timings):
        if timing is None:
            continue
        own = slice(paths.first_segment[a], paths.first_segment[a + 1])
        span[own] = timing.spans
        begin[own] = np.cumsum(timing.spans) - timing.spans
        keys = paths.keys[paths.first_key[a] : paths.first_key[a + 1]]
        fit_clocked(keys, span[own], timing.told, paths.segments[own], bool(paths.turns[a]), bool(paths.loops[a]))
    return Clocks(
        timed=np.array([timing is not None for timing in timings], np.int64),
        hurries=np.array([timing is not None and timing.catches_up for timing in timings], np.int64),
        begin=begin,
        span=span,
        leader=np.array(leaders if leaders is not None else [-1] * n, np.int64),
        runs=np.zeros(n),
        carried=np.zeros((n, 3)),
        time=np.zeros(n),
        pace=np.ones(n),
        late=np.zeros(n),
        velocity=np.zeros((n, 3)),
        onward=np.zeros((n, 3)),
    )


SAMPLES = 16  # of a segment, for what it asks for


def demands(clocks: Clocks, paths: Paths, a: int) -> tuple[float, float]:
    """The largest speed and acceleration that the times on a path ask for; none without times."""
    if clocks.timed[a] == 0:
        return 0.0, 0.0
    spans = clocks.span[paths.first_segment[a] : paths.first_segment[a + 1]]
    _, rates = sample_path(paths, a, SAMPLES)
    first, last = rates[:-1].reshape(-1, SAMPLES, 3), rates[1:].reshape(-1, SAMPLES, 3).copy()
    last[:-1, -1] = first[1:, 0] * (spans[:-1] / spans[1:])[:, None]  # of its own segment, where two meet
    change = np.linalg.norm(last - first, axis=2).max(axis=1) * SAMPLES
    speed = np.linalg.norm(first, axis=2).max(axis=1) / spans
    return float(speed.max()), float((change / spans**2).max())


@kernel
def place_at(clocks, first, count, loops, i, time):
    """Which segment of a path a time is in, at or after the i-th, where in it, that time in its lap, and how many laps
    on."""
    laps = 0.0
    while True:
        end = clocks.begin[first + i] + clocks.span[first + i]
        if time < end - ROUNDING:
            return i, max((time - clocks.begin[first + i]) / clocks.span[first + i], 0.0), time, laps
        if i + 1 < count:
            i += 1
        elif loops:
            i = 0
            laps += 1.0
            time -= end - clocks.begin[first]
        else:
            return i, 1.0, end, laps


@kernel(inline=True)
def way_between(pose, turns, place, orientation):
    """From a body to a place on its path: metres, or radians about an axis."""
    if turns:
        return logarithm(multiply(pose, conjugate(orientation)))
    return sub((pose[0], pose[1], pose[2]), place)


@kernel
def pace_for(clocks, a, waits, most, behind, dt):
    """How fast a clock goes on, at `most`, while its body is so many base distances away; `waits` for others is below
    2."""
    want = min(waits, most)
    if clocks.hurries[a] == 1 and waits > 1.0:
        want = min(HURRY, 1.0 + max(clocks.late[a], 0.0) / PUNCTUAL)
    pace = want * min(max((1.0 - behind) / (1.0 - SLOWS), 0.0), 1.0)
    last = clocks.pace[a]
    return min(pace, last) if pace <= last else pace + (last - pace) * math.exp(-dt / RISE)


@kernel
def keep_step(clocks):
    """Let those that are in step go at the pace of the slowest of them."""
    any_in_step = False
    for a in range(len(clocks.leader)):
        b = clocks.leader[a]
        if b >= 0:
            any_in_step = True
            clocks.pace[b] = min(clocks.pace[b], clocks.pace[a])
    for a in range(len(clocks.leader) if any_in_step else 0):
        b = clocks.leader[a]
        if b >= 0:
            clocks.pace[a] = clocks.pace[b]
