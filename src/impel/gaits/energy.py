"""What a gait costs and how it moves, tick by tick over one cycle on flat ground, for a whole population at once.

001, section 4, with the units of the notes: energy is what it takes to walk a fixed distance,
E = (D/S)·Σ[k_τ·τ·dt + m_f·g·Δ⁺·R + m_c·g·ΔC⁺ + k_a·m_c·|Δv|]. R is counted in halves of a leg, and k_τ and k_a go with
the root of its length: so a walker of another size costs as much for its weight and its way.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from impel.cores import available_cores
from impel.gaits.carrying import (
    CARRIED,
    GRAVITY,
    SPRINGY,
    STEADY,
    paper_height,
    posture,
    pulled,
    sag,
    spring_rate,
    steady_start,
    support,
)
from impel.gaits.gait import AMPLITUDE, CYCLE, DELAYS, PACE, PERIOD, SPRING, STATURE, SWAY, TICK, Curve, Gait, leg_index
from impel.gaits.legs import find_knee, flat_distance, frame_of, hip_of, mean_progress, swing, turned
from impel.gaits.walker import Floats, Walker, rig_of
from impel.kernel import Booleans2, Floats2, Floats3, kernel, struct
from impel.motion.rotations import get3, norm, sub

DISTANCE = 4.0  # m; energies in full stride are given for walking this far (notes, 4 and 6)
TORQUE_COST = 0.1  # energy per N·m·s; summed literally torque would swamp the rest 500 times (notes, 6)
PAPER_EFFORT = 1.0  # energy per N·s of speeding the body up or slowing it down
# For the smooth curve: what makes the three published gaits cost as much, in the mean (1.48 to 2.33 each).
SMOOTH_EFFORT = 1.8
FEWEST = 120  # ticks in a cycle: with fewer, one more or less shows in the energy, by 1 % at 20 (measured)
TOUCH = 1e-12  # of a period: a foot this close to lifting or landing stands, so that rounding does not decide

TERMS = ("torque", "legs", "body", "acceleration")
(_LOW, _HIGH, HEIGHTS, STRETCH, _SUPPORT, _JUMP, LOAD, SECONDS, CONTACT, FALL, _ROLL, _PITCH) = (
    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16,
)  # fmt: skip
COLUMNS = 18


@kernel(inline=True)
def tick_energy(rig, foot, lifted, body, frame, before, velocity, dt, effort, lame, out):
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
    root = math.sqrt(rig.unit)
    torque = 0.0
    for i in range(n):
        hip = hip_of(body, frame, rig.hip, i)
        end = get3(foot, i)
        reach = norm(sub(end, hip))
        long = rig.length[i, 0] + rig.length[i, 1]
        short = abs(rig.length[i, 0] - rig.length[i, 1])
        out[STRETCH] = max(out[STRETCH], reach - long, short - reach)
        if lifted[i]:  # 001, eq. 8, never negative
            gain = foot[i, 2] - before[3 + i] - rise
            out[1] += rig.leg_mass[i] * GRAVITY * max(0.0, gain) * reach / rig.unit
            continue
        if planted == 1 or spread == 0.0:  # 001, eq. 7, made to sum to the weight for any number of feet
            share = 1.0 / planted
        else:
            share = (1.0 - flat_distance(foot[i, 0], foot[i, 1], body[0], body[1]) / spread) / (planted - 1)
        if i == lame:
            out[LOAD] += share
        knee = find_knee(hip, end, turned(frame, rig.pole, i), rig.length[i, 0], rig.length[i, 1])
        arm = flat_distance(knee[0], knee[1], hip[0], hip[1]) + flat_distance(knee[0], knee[1], end[0], end[1])
        torque += share * rig.body_mass * GRAVITY * arm  # 001, eq. 6
    out[0] += TORQUE_COST * torque * dt / root
    out[2] += rig.body_mass * GRAVITY * max(0.0, rise)
    out[FALL] = max(out[FALL], (velocity[2] - rise / dt) / dt)
    change = 0.0
    for c in range(3):
        speed = (body[c] - before[c]) / dt
        change += (speed - velocity[c]) ** 2
        velocity[c] = speed
        before[c] = body[c]
    for i in range(n):
        before[3 + i] = foot[i, 2]
    change = math.sqrt(change)
    out[3] += effort * rig.body_mass * change * root
    out[HEIGHTS] += body[2]
    out[_LOW] = min(out[_LOW], body[2])
    out[_HIGH] = max(out[_HIGH], body[2])
    out[_SUPPORT] = min(out[_SUPPORT], planted)
    out[_JUMP] = max(out[_JUMP], change * TICK / dt)
    out[CONTACT] += planted / n


@kernel(inline=True)
def note_tilt(roll, pitch, out):
    out[_ROLL] = min(out[_ROLL], roll)
    out[_ROLL + 1] = max(out[_ROLL + 1], roll)
    out[_PITCH] = min(out[_PITCH], pitch)
    out[_PITCH + 1] = max(out[_PITCH + 1], pitch)


@kernel(inline=True)
def clear_row(out):
    out[:] = 0.0
    for least in (_LOW, _SUPPORT, _ROLL, _PITCH):
        out[least] = np.inf
    for most in (_HIGH, STRETCH, _ROLL + 1, _PITCH + 1):
        out[most] = -np.inf


@kernel(inline=True)
def end_row(ticks, dt, out):
    """Sums over ticks as means over time."""
    out[HEIGHTS] /= ticks
    out[LOAD] /= ticks
    out[CONTACT] /= ticks
    out[SECONDS] = ticks * dt


@kernel(inline=True)
def _carry(tracks, ticks, frequency, carried, dt):
    """From where the springs would have the body (ticks, 5) at each tick of a cycle to where it is."""
    place = (0.0, 0.0, 0.0, 0.0, 0.0)
    speed = (0.0, 0.0, 0.0, 0.0, 0.0)
    for lap in range(2):  # from rest, by which it is known from where a cycle leads back to itself; and from there
        x, y, z, roll, pitch = place
        vx, vy, vz, vroll, vpitch = speed
        old_x, old_y = tracks[ticks - 1, 0], tracks[ticks - 1, 1]
        for tick in range(ticks):
            track = tracks[tick]
            to_x, to_y = track[0], track[1]
            x, vx = pulled(x, vx, to_x, (to_x - old_x) / dt, carried, STEADY, dt)
            y, vy = pulled(y, vy, to_y, (to_y - old_y) / dt, carried, STEADY, dt)
            z, vz = pulled(z, vz, track[2], 0.0, frequency, SPRINGY, dt)
            roll, vroll = pulled(roll, vroll, track[3], 0.0, frequency, SPRINGY, dt)
            pitch, vpitch = pulled(pitch, vpitch, track[4], 0.0, frequency, SPRINGY, dt)
            old_x, old_y = to_x, to_y
            if lap == 1:
                track[0], track[1], track[2], track[3], track[4] = x, y, z, roll, pitch
        if lap == 0:
            x, vx = steady_start(x, vx, ticks, carried, STEADY, dt)
            y, vy = steady_start(y, vy, ticks, carried, STEADY, dt)
            z, vz = steady_start(z, vz, ticks, frequency, SPRINGY, dt)
            roll, vroll = steady_start(roll, vroll, ticks, frequency, SPRINGY, dt)
            pitch, vpitch = steady_start(pitch, vpitch, ticks, frequency, SPRINGY, dt)
            place = (x, y, z, roll, pitch)
            speed = (vx, vy, vz, vroll, vpitch)


@kernel(inline=True)
def _ticks(seconds):
    """In a cycle: a whole number, so that the last meets the first, and enough for quick steps of the small, too."""
    return max(math.ceil(seconds / TICK - 1e-9), FEWEST)


@struct
class Sheet:
    """Where one cycle is worked out, and then the next."""

    feet: Floats3  # (ticks, legs, 3)
    lifted: Booleans2  # (ticks, legs)
    tracks: Floats2  # (ticks, 5) x, y, z, roll, pitch of the body; x against its mean way
    light: Floats  # (legs,)
    floor: Floats
    start: Floats
    body: Floats  # (3,)
    velocity: Floats
    before: Floats  # (3 + legs,)


def _sheet(rows: Floats, legs: int) -> Sheet:
    """With room for the longest cycle of some gaits."""
    most = _ticks.py_func(float((rows[:, CYCLE] * rows[:, PERIOD]).max()))
    tables = (np.zeros((most, legs, 3)), np.zeros((most, legs), np.bool_), np.zeros((most, 5)))
    light, floor, start = np.zeros((3, legs))
    return Sheet(*tables, light, floor, start, np.zeros(3), np.zeros(3), np.zeros(3 + legs))


@kernel
def _measure(rows, first, last, rig, lame, smooth, sheet, out):
    n = rig.hip.shape[0]
    feet, lifted, tracks = sheet.feet, sheet.lifted, sheet.tracks
    light, floor, start = sheet.light, sheet.floor, sheet.start
    body, velocity, before = sheet.body, sheet.velocity, sheet.before
    effort = SMOOTH_EFFORT if smooth else PAPER_EFFORT
    for row in range(first, last):
        amplitude = rows[row, AMPLITUDE]
        pace = rows[row, PACE]
        sway = rows[row, SWAY]
        stature = rows[row, STATURE]
        spring = rows[row, SPRING]
        cycle = rows[row, CYCLE]
        seconds = cycle * rows[row, PERIOD]
        ticks = _ticks(seconds)
        dt = seconds / ticks
        lead = 0.5 - 1.0 + (1.0 - mean_progress(smooth)) / cycle  # centres each foot's way on its hip
        hurry = pace / n * 2.0 * math.pi / rows[row, PERIOD] ** 2
        height = posture(rig, pace, stature)
        for i in range(n):
            start[i] = rows[row, DELAYS + i] / cycle
        for tick in range(ticks):
            now = tick / ticks
            foot = feet[tick]
            track = tracks[tick]
            surge = 0.0
            for i in range(n):
                phase = now - start[i]
                count = math.floor(phase)
                u = (phase - count) * cycle
                lifted[tick, i] = TOUCH < u < 1.0 - TOUCH
                ahead = 1.0
                light[i] = 0.0
                if lifted[tick, i]:
                    ahead, light[i] = swing(u, smooth)
                    surge += u - ahead
                elif u <= TOUCH:
                    ahead = 0.0
                foot[i, 0] = rig.rest[i, 0] + pace * (count + ahead + lead + start[i])
                foot[i, 1] = rig.rest[i, 1]
                foot[i, 2] = amplitude * light[i]
            x, y = support(foot, floor, lame, 1.0, sway, sway, 1.0, 0.0, rig)
            track[0], track[1] = x - pace * now, y
            if smooth:
                track[2], track[3], track[4] = sag(spring, light, 2.0 * math.pi * hurry * surge, rig)
            else:
                track[2], track[3], track[4] = paper_height(foot, floor, x, y, 1.0, 0.0, stature, rig), 0.0, 0.0
        if smooth:
            _carry(tracks, ticks, spring_rate(spring, rig), CARRIED * 2.0 * math.pi / seconds, dt)
            for tick in range(ticks):
                tracks[tick, 2] += height
        result = out[row]
        clear_row(result)
        old, older = tracks[ticks - 1], tracks[ticks - 2]
        before[0] = old[0] - pace / ticks
        before[1] = old[1]
        before[2] = old[2]
        velocity[0] = (old[0] - older[0] + pace / ticks) / dt
        velocity[1] = (old[1] - older[1]) / dt
        velocity[2] = (old[2] - older[2]) / dt
        for i in range(n):
            before[3 + i] = feet[ticks - 1, i, 2]
        for tick in range(ticks):
            track = tracks[tick]
            body[0] = track[0] + pace * (tick / ticks)
            body[1] = track[1]
            body[2] = track[2]
            frame = frame_of(1.0, 0.0, track[3], track[4])
            tick_energy(rig, feet[tick], lifted[tick], body, frame, before, velocity, dt, effort, lame, result)
            note_tilt(track[3], track[4], result)
        end_row(ticks, dt, result)
        for term in range(4):
            result[term] *= DISTANCE / pace
        result[SECONDS] *= DISTANCE / pace


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
    jump: Floats  # m/s, the greatest change of the body's velocity in 1/240 s
    load: Floats  # the share of the weight that the lame leg carries, in the mean over time
    seconds: Floats
    contact: Floats  # the share of its feet that are on the ground, in the mean over time
    fall: Floats  # m/s², how fast the body's fall grows at most: faster than gravity lets it, it would be pulled down
    least_roll: Floats  # rad
    most_roll: Floats
    least_pitch: Floats
    most_pitch: Floats

    @property
    def energy(self) -> Floats:
        return self.torque + self.legs + self.body + self.acceleration

    @property
    def heave(self) -> Floats:
        """By how much the body rises and sinks, from its lowest place to its highest (m)."""
        return self.high - self.low

    @property
    def roll(self) -> Floats:
        return self.most_roll - self.least_roll

    @property
    def pitch(self) -> Floats:
        return self.most_pitch - self.least_pitch


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

    def work(first: int, last: int) -> None:
        _measure(rows, first, last, rig, leg, smooth, _sheet(rows[first:last], len(rig.hip)), out)

    if cores == 1 or len(rows) <= CHUNK:
        work(0, len(rows))
    else:
        share_out(work, len(rows))
    return Measured(*out.T)


def measure_gait(gait: Gait) -> Measured:
    return measure(gait.load_walker(), gait.genes.row(), curve=gait.curve, lame=gait.lame)
