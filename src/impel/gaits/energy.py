"""What a gait costs and how it moves, tick by tick over one cycle on flat ground, for a whole population at once.

001, section 4, with the units of the notes: energy is what it takes to walk a fixed distance,
E = (D/S)·Σ[k_τ·τ·dt + m_f·g·Δ⁺·R + m_c·g·ΔC⁺ + k_a·m_c·|Δv|].
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from impel.cores import available_cores
from impel.gaits.gait import AMPLITUDE, CYCLE, DELAYS, PACE, PERIOD, STATURE, SWAY, TICK, Curve, Gait, leg_index
from impel.gaits.legs import find_knee, flat_distance, hip_of, mean_progress, place_body, swing
from impel.gaits.walker import Floats, Walker, rig_of
from impel.kernel import kernel
from impel.motion.rotations import get3, norm, sub

DISTANCE = 4.0  # m; energies are given for walking this far (notes, 4 and 6)
GRAVITY = 9.8  # m/s², as in the notes to paper 001
TORQUE_COST = 0.1  # energy per N·m·s; summed literally torque would swamp the rest 500 times (notes, 6)
PAPER_EFFORT = 1.0  # energy per N·s of speeding the body up or slowing it down
# For the smooth curve: what makes the three published gaits cost as much, in the mean (1.48 to 2.33 each).
SMOOTH_EFFORT = 1.8
TOUCH = 1e-12  # of a period: a foot this close to lifting or landing stands, so that rounding does not decide

TERMS = ("torque", "legs", "body", "acceleration")
_LOW, _HIGH, HEIGHTS, STRETCH, _SUPPORT, _JUMP, LOAD, SECONDS = range(4, 12)
COLUMNS = 12


@kernel(inline=True)
def tick_energy(rig, foot, lifted, body, cosine, sine, before, velocity, dt, effort, lame, out):
    """Add one tick's energy terms to out[0:4] and widen out[4:] by what this tick shows.

    `before` holds the body's place and the feet's heights one tick ago, `velocity` the body's then; both are moved on.
    """
    n = foot.shape[0]
    planted = 0
    spread = 0.0
    for i in range(n):
        if not lifted[i]:
            planted += 1
            spread += flat_distance(foot[i, 0], foot[i, 1], body[0], body[1])
    rise = body[2] - before[2]
    torque = 0.0
    for i in range(n):
        hip = hip_of(body, cosine, sine, rig.hip, i)
        end = get3(foot, i)
        reach = norm(sub(end, hip))
        long = rig.length[i, 0] + rig.length[i, 1]
        short = abs(rig.length[i, 0] - rig.length[i, 1])
        out[STRETCH] = max(out[STRETCH], reach - long, short - reach)
        if lifted[i]:  # 001, eq. 8, never negative
            gain = foot[i, 2] - before[3 + i] - rise
            out[1] += rig.leg_mass[i] * GRAVITY * max(0.0, gain) * reach
            continue
        if planted == 1 or spread == 0.0:  # 001, eq. 7, made to sum to the weight for any number of feet
            share = 1.0 / planted
        else:
            share = (1.0 - flat_distance(foot[i, 0], foot[i, 1], body[0], body[1]) / spread) / (planted - 1)
        if i == lame:
            out[LOAD] += share
        pole = (
            cosine * rig.pole[i, 0] - sine * rig.pole[i, 1],
            sine * rig.pole[i, 0] + cosine * rig.pole[i, 1],
            rig.pole[i, 2],
        )
        knee = find_knee(hip, end, pole, rig.length[i, 0], rig.length[i, 1])
        arm = flat_distance(knee[0], knee[1], hip[0], hip[1]) + flat_distance(knee[0], knee[1], end[0], end[1])
        torque += share * rig.body_mass * GRAVITY * arm  # 001, eq. 6
    out[0] += TORQUE_COST * torque * dt
    out[2] += rig.body_mass * GRAVITY * max(0.0, rise)
    change = 0.0
    for c in range(3):
        speed = (body[c] - before[c]) / dt
        change += (speed - velocity[c]) ** 2
        velocity[c] = speed
        before[c] = body[c]
    for i in range(n):
        before[3 + i] = foot[i, 2]
    change = math.sqrt(change)
    out[3] += effort * rig.body_mass * change
    out[_LOW] = min(out[_LOW], body[2])
    out[_HIGH] = max(out[_HIGH], body[2])
    out[_SUPPORT] = min(out[_SUPPORT], planted)
    out[_JUMP] = max(out[_JUMP], change)


@kernel(inline=True)
def clear_row(out):
    out[:] = 0.0
    out[_LOW] = np.inf
    out[_HIGH] = -np.inf
    out[STRETCH] = -np.inf
    out[_SUPPORT] = np.inf


@kernel(allocates=True)
def _measure(rows, first, last, rig, lame, smooth, out):
    n = rig.hip.shape[0]
    foot = np.zeros((n, 3))
    floor = np.zeros(n)
    lifted = np.zeros(n, np.bool_)
    body = np.zeros(3)
    before = np.zeros(3 + n)
    velocity = np.zeros(3)
    start = np.zeros(n)
    effort = SMOOTH_EFFORT if smooth else PAPER_EFFORT
    for row in range(first, last):
        amplitude = rows[row, AMPLITUDE]
        pace = rows[row, PACE]
        sway = rows[row, SWAY]
        cycle = rows[row, CYCLE]
        seconds = cycle * rows[row, PERIOD]
        ticks = math.ceil(seconds / TICK - 1e-9)  # a whole number, so that the last tick meets the first
        dt = seconds / ticks
        lead = 0.5 - 1.0 + (1.0 - mean_progress(smooth)) / cycle  # centres each foot's way on its hip
        clear_row(out[row])
        for i in range(n):
            start[i] = rows[row, DELAYS + i] / cycle
        for tick in range(-2, ticks):
            now = tick / ticks
            for i in range(n):
                phase = now - start[i]
                count = math.floor(phase)
                u = (phase - count) * cycle
                lifted[i] = TOUCH < u < 1.0 - TOUCH
                ahead = 1.0
                height = 0.0
                if lifted[i]:
                    ahead, height = swing(u, smooth)
                elif u <= TOUCH:
                    ahead = 0.0
                foot[i, 0] = rig.rest[i, 0] + pace * (count + ahead + lead + start[i])
                foot[i, 1] = rig.rest[i, 1]
                foot[i, 2] = amplitude * height
            place_body(foot, floor, lame, 1.0, sway, sway, rows[row, STATURE], 1.0, 0.0, rig, body)
            if tick < 0:  # only to know where it was and how fast it went
                for c in range(3):
                    velocity[c] = (body[c] - before[c]) / dt
                    before[c] = body[c]
                for i in range(n):
                    before[3 + i] = foot[i, 2]
            else:
                tick_energy(rig, foot, lifted, body, 1.0, 0.0, before, velocity, dt, effort, lame, out[row])
                out[row, HEIGHTS] += body[2]
        out[row, HEIGHTS] /= ticks
        out[row, LOAD] /= ticks
        for term in range(4):
            out[row, term] *= DISTANCE / pace
        out[row, SECONDS] = DISTANCE / pace * seconds


@dataclass
class Measured:
    """What a population of gaits does, one value per gait. Energies and seconds are for walking `DISTANCE`."""

    torque: Floats  # holding the body up on bent legs
    legs: Floats  # lifting the feet
    body: Floats  # lifting the body
    acceleration: Floats  # speeding up and slowing down
    low: Floats  # m, the body's lowest and highest place and its mean
    high: Floats
    mean: Floats
    stretch: Floats  # m by which a leg is too short; negative: what it has to spare
    support: Floats  # the fewest feet on the ground at any time
    jump: Floats  # m/s, the greatest change of the body's velocity in a tick
    load: Floats  # the share of the weight that the lame leg carries, in the mean over time
    seconds: Floats

    @property
    def energy(self) -> Floats:
        return self.torque + self.legs + self.body + self.acceleration


CHUNK = 16  # gaits per task: small enough that all cores finish together, large enough to outweigh the hand-over

_pool: ThreadPoolExecutor | None = None


def share_out(work: Callable[[int, int], None], count: int) -> None:
    """Do work(first, last) for all of `count` gaits on all cores; kernels need no interpreter, so threads will do."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(available_cores())
    tasks = [_pool.submit(work, first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    try:
        for task in tasks:
            task.result()
    finally:  # Ctrl-C: what has not begun need not
        for task in tasks:
            task.cancel()


def measure(
    walker: Walker, rows: Floats, *, curve: Curve = "smooth", lame: str | None = None, cores: int | None = None
) -> Measured:
    """Energy terms and shape of many gaits (N, 6 + legs), on all cores or on one."""
    rows = np.ascontiguousarray(np.atleast_2d(rows), np.float64)
    out = np.empty((len(rows), COLUMNS))
    rig, leg, smooth = rig_of(walker), leg_index(walker, lame), curve == "smooth"
    if cores == 1 or len(rows) <= CHUNK:
        _measure(rows, 0, len(rows), rig, leg, smooth, out)
    else:
        share_out(lambda first, last: _measure(rows, first, last, rig, leg, smooth, out), len(rows))
    return Measured(*out.T)


def measure_gait(gait: Gait) -> Measured:
    return measure(gait.load_walker(), gait.genes.row(), curve=gait.curve, lame=gait.lame)
