"""Walking step by step: along a route, over stairs and obstacles, while mood, pace, height and limp change.

The cycle is a phase that never jumps. What a step needs (where to, how high, how long) is fixed when the foot lifts,
so a planted foot never moves and a change of mood takes effect foot by foot. A foot is set down where the walker
will pass it half-way through its stance. The body follows from the feet, so it cannot jump either.
"""

import math

import numpy as np
from numpy.typing import NDArray

from impel.gaits.energy import (
    HEIGHTS,
    LOAD,
    PAPER_EFFORT,
    SECONDS,
    SMOOTH_EFFORT,
    STRETCH,
    TOUCH,
    clear_row,
    tick_energy,
)
from impel.gaits.gait import AMPLITUDE, CYCLE, DELAYS, PACE, PERIOD, STATURE, SWAY, TICK
from impel.gaits.ground import CLEARANCE, PASSING, foothold, piece_at
from impel.gaits.legs import flat_distance, mean_progress, place_body, swing
from impel.gaits.route import place_on
from impel.gaits.walker import Floats
from impel.kernel import Booleans2, Floats2, Floats3, kernel, struct

# A walker at rest starts with half paces: its feet stand side by side, where in full stride they trail by half a pace.
FIRST_PACE = 0.5
SETTLING = 2.5  # rate per cycle at which wishes given on the way are taken up, critically damped
LIMPING = 0.3  # of a pace that a full limp taken up on the way takes off, since the body is off its middle
TOO_SLOW = 10.0  # s/m, beyond which a gait is not tried over stairs and obstacles
SAME_PLACE = 1e-3  # of a pace: a foot this close to where it should be is not lifted
SHORT_STEP = 0.3  # of a pace: shorter steps are lifted less

_PHASE, _ALONG, _GONE = range(3)  # the clock: cycles, metres of the route, cycles since setting off


@struct
class State:
    """Where everything is between two ticks."""

    clock: Floats  # (3,)
    genes: Floats  # (6 + n,) in force
    wish: Floats2  # (2, 4) mood, pace factor, stature factor, limp as taken up so far, and their rates per cycle
    foot: Floats2  # (n, 3)
    floor: Floats  # (n,) the ground below each foot, sliding from step to step
    lifted: NDArray[np.bool_]  # (n,)
    step: Floats2  # (n, 13) from x y z along, to x y z along, lift phase, cycle, amplitude, pace, whether the last
    lifts: NDArray[np.int64]  # (n,) so far
    body: Floats  # (3,)
    before: Floats  # (3 + n,)
    velocity: Floats  # (3,)


_FROM, _TO, _LIFT, _TURN, _HIGH, _LONG, _LAST = 0, 4, 8, 9, 10, 11, 12


def new_state(legs: int) -> State:
    return State(
        np.zeros(3),
        np.zeros(6 + legs),
        np.zeros((2, 4)),
        np.zeros((legs, 3)),
        np.zeros(legs),
        np.zeros(legs, np.bool_),
        np.zeros((legs, 13)),
        np.zeros(legs, np.int64),
        np.zeros(3),
        np.zeros(3 + legs),
        np.zeros(3),
    )


@kernel
def _plan(state, i, s, rig, route, edges):
    """Where foot i goes if its walker is to pass it at s: fills the step's end."""
    wanted = s + rig.rest[i, 0]
    s += foothold(edges, wanted) - wanted
    x, y, heading, _ = place_on(route, s)
    cosine = math.cos(heading)
    sine = math.sin(heading)
    step = state.step[i]
    step[_TO] = x + cosine * rig.rest[i, 0] - sine * rig.rest[i, 1]
    step[_TO + 1] = y + sine * rig.rest[i, 0] + cosine * rig.rest[i, 1]
    step[_TO + 3] = s + rig.rest[i, 0]
    step[_TO + 2] = edges[piece_at(edges, step[_TO + 3]), 1]


@kernel
def _raise_over(step, edges, smooth):
    """The amplitude at which the step clears every edge on its way."""
    looks = 48
    amplitude = step[_HIGH]
    first = piece_at(edges, step[_FROM + 3])
    last = piece_at(edges, step[_TO + 3])
    for look in range(1, looks):
        ahead, height = swing(look / looks, smooth)
        along = step[_FROM + 3] + ahead * (step[_TO + 3] - step[_FROM + 3])
        base = step[_FROM + 2] + ahead * (step[_TO + 2] - step[_FROM + 2])
        for k in range(piece_at(edges, along - PASSING), piece_at(edges, along + PASSING) + 1):
            need = edges[k, 1]
            if k not in (first, last) or (k != piece_at(edges, along) and need > base):
                need += CLEARANCE
            amplitude = max(amplitude, (need - base) / height)
    return amplitude


@kernel(inline=True)
def _set_feet(state, row, pace, rig, route, edges, smooth, walking):
    """Feet at the start: side by side as at rest, or (walking) in full stride as the gait has them at phase 0."""
    for i in range(state.foot.shape[0]):
        step = state.step[i]
        step[_LONG] = pace
        start = row[DELAYS + i] / row[CYCLE]
        if walking:
            lead = 0.5 + (1.0 - mean_progress(smooth)) / row[CYCLE]
            count = 0.0 if start == 0.0 else -1.0
            u = (-start - count) * row[CYCLE]
            _plan(state, i, pace * (count - 1.0 + lead + start), rig, route, edges)
            for c in range(4):
                step[_FROM + c] = step[_TO + c]
            if TOUCH < u < 1.0 - TOUCH:
                _plan(state, i, pace * (count + lead + start), rig, route, edges)
                state.lifted[i] = True
                step[_LIFT] = count + start
                step[_TURN] = row[CYCLE]
                step[_HIGH] = row[AMPLITUDE]
            elif u > 0.5:
                _plan(state, i, pace * (count + lead + start), rig, route, edges)
        else:
            _plan(state, i, 0.0, rig, route, edges)
        for c in range(3):
            state.foot[i, c] = step[_TO + c]
        state.floor[i] = step[_TO + 2]


@kernel
def _advance(state, row, dphase, stride, lame, born_lame, rig, route, edges, smooth):
    """Move the clock on, lift and land feet, swing those in the air, place the body; return the heading."""
    clock = state.clock
    clock[_PHASE] += dphase
    # A new pace counts as far as feet have taken it up, else the body would run away from those planted for the old.
    for i in range(state.foot.shape[0]):
        clock[_ALONG] += state.step[i, _LONG] / state.foot.shape[0] * dphase
    phase = clock[_PHASE]
    for i in range(state.foot.shape[0]):
        step = state.step[i]
        if state.lifted[i] and (phase - step[_LIFT]) * step[_TURN] >= 1.0 - TOUCH:
            state.lifted[i] = False
            for c in range(3):
                state.foot[i, c] = step[_TO + c]
            state.floor[i] = step[_TO + 2]
        due = state.lifts[i] + row[DELAYS + i] / row[CYCLE]
        if not state.lifted[i] and phase > due:
            late = phase - due
            if late > dphase:  # a change of mood moved the moment into the past: lift now, do not make up for it
                late = 0.0
            for c in range(4):
                step[_FROM + c] = step[_TO + c]
            ahead = 0.5 + (1.0 - mean_progress(smooth)) / row[CYCLE]
            target = clock[_ALONG] + stride * (ahead - late)
            _plan(state, i, min(target, route.length), rig, route, edges)
            state.lifts[i] += 1
            step[_LONG] = stride
            step[_LAST] = target >= route.length
            distance = flat_distance(step[_TO], step[_TO + 1], step[_FROM], step[_FROM + 1])
            if distance > SAME_PLACE * row[PACE]:
                state.lifted[i] = True
                step[_LIFT] = phase - late
                step[_TURN] = row[CYCLE]
                step[_HIGH] = row[AMPLITUDE] * min(1.0, distance / (SHORT_STEP * row[PACE]))
                if edges.shape[0] > 1:
                    step[_HIGH] = _raise_over(step, edges, smooth)
            else:
                for c in range(4):
                    step[_TO + c] = step[_FROM + c]
        if state.lifted[i]:
            ahead, height = swing((phase - step[_LIFT]) * step[_TURN], smooth)
            for c in range(3):
                state.foot[i, c] = step[_FROM + c] + ahead * (step[_TO + c] - step[_FROM + c])
            state.floor[i] = state.foot[i, 2]
            state.foot[i, 2] += step[_HIGH] * height
    heading = place_on(route, min(clock[_ALONG], route.length))[2]
    cosine = math.cos(heading)
    sine = math.sin(heading)
    limp = 1.0 if born_lame else state.wish[0, 3]
    spare = row[SWAY] if born_lame else 1.0
    place_body(state.foot, state.floor, lame, limp, spare, row[SWAY], row[STATURE], cosine, sine, rig, state.body)
    return heading


@kernel(inline=True)
def _take_up(state, wishes, tick, dphase):
    """Draw the wishes in force towards those given, so that the walker changes over a cycle or so, smoothly."""
    for c in range(4):
        pull = SETTLING * SETTLING * (wishes[tick, c] - state.wish[0, c]) - 2.0 * SETTLING * state.wish[1, c]
        state.wish[1, c] += pull * dphase
        state.wish[0, c] += state.wish[1, c] * dphase


@kernel(inline=True)
def _gene_row(state, moods, row):
    """The genes in force: from the table of moods, then pace, height and limp on top."""
    place = min(max(state.wish[0, 0], 0.0), moods.shape[0] - 1.0)
    k = min(int(place), max(moods.shape[0] - 2, 0))
    u = place - k
    for c in range(moods.shape[1]):
        row[c] = moods[k, c] if u == 0.0 else (1.0 - u) * moods[k, c] + u * moods[k + 1, c]
    row[PACE] *= state.wish[0, 1]
    row[STATURE] *= state.wish[0, 2]
    row[PACE] *= 1.0 - LIMPING * state.wish[0, 3]


@struct
class Recorded:
    """One row a tick."""

    body: Floats2  # (F, 3)
    heading: Floats  # (F,)
    foot: Floats3  # (F, n, 3)
    lifted: Booleans2  # (F, n)
    energy: Floats2  # (F, 4) spent so far: torque, legs, body, acceleration
    genes: Floats2  # (F, 6 + n) in force
    along: Floats  # (F,) metres of the route


@kernel
def _set_off(state, row, moods, wishes, lame, born_lame, rig, route, edges, smooth, walking):
    for c in range(3):
        state.clock[c] = 0.0
        state.velocity[c] = 0.0
    for c in range(4):
        state.wish[0, c] = wishes[0, c]
        state.wish[1, c] = 0.0
    for i in range(state.foot.shape[0]):
        state.lifted[i] = False
        state.lifts[i] = 0
        for c in range(state.step.shape[1]):
            state.step[i, c] = 0.0
    _gene_row(state, moods, row)
    _set_feet(state, row, row[PACE] if walking else FIRST_PACE * row[PACE], rig, route, edges, smooth, walking)
    heading = _advance(state, row, 0.0, 0.0, lame, born_lame, rig, route, edges, smooth)
    for c in range(3):
        state.before[c] = state.body[c]
    for i in range(state.foot.shape[0]):
        state.before[3 + i] = state.foot[i, 2]
    return heading


@kernel
def _tick(state, row, moods, wishes, tick, lame, born_lame, rig, route, edges, smooth, walking, out):
    """One tick on: wishes, clock, feet, body, energy; return the heading."""
    _take_up(state, wishes, tick, TICK / (row[CYCLE] * row[PERIOD]))
    _gene_row(state, moods, row)
    dphase = TICK / (row[CYCLE] * row[PERIOD])
    state.clock[_GONE] += dphase
    pace = row[PACE]
    if not walking:
        ramp = min(max(state.clock[_GONE] - 1.0, 0.0), 1.0)
        pace *= FIRST_PACE + (1.0 - FIRST_PACE) * ramp * ramp * (3.0 - 2.0 * ramp)
    widest = 0.0  # how far the outermost foot is from the middle
    for i in range(rig.rest.shape[0]):
        widest = max(widest, math.hypot(rig.rest[i, 0], rig.rest[i, 1]))
    curvature = place_on(route, min(state.clock[_ALONG], route.length))[3]
    pace /= 1.0 + widest * curvature  # so that no foot needs longer steps in a turn
    heading = _advance(state, row, dphase, pace, lame, born_lame, rig, route, edges, smooth)
    cosine = math.cos(heading)
    sine = math.sin(heading)
    effort = SMOOTH_EFFORT if smooth else PAPER_EFFORT
    foot, lifted, body = state.foot, state.lifted, state.body
    tick_energy(rig, foot, lifted, body, cosine, sine, state.before, state.velocity, TICK, effort, lame, out)
    return heading


@kernel(inline=True)
def _arrived(state):
    """Whether all feet stand where the way ends."""
    there = 0
    for i in range(state.foot.shape[0]):
        if not state.lifted[i] and state.step[i, _LAST] == 1.0:
            there += 1
    return there == state.foot.shape[0]


@kernel
def walk_ticks(state, moods, wishes, lame, born_lame, rig, route, edges, smooth, recorded, out):
    """Walk from standing until the wishes (F, 4) or the route end; return the number of ticks.

    `moods` is a table of genes (K, 6 + n), the first wish of each tick a place in it; `born_lame` says that these genes
    were evolved for the limp, else it is taken up as the wishes say. Fills `recorded`, and `out` as in
    `energy.Measured`.
    """
    row = state.genes
    clear_row(out)
    heading = _set_off(state, row, moods, wishes, lame, born_lame, rig, route, edges, smooth, False)
    for tick in range(wishes.shape[0]):
        if tick > 0:
            heading = _tick(state, row, moods, wishes, tick, lame, born_lame, rig, route, edges, smooth, False, out)
        recorded.heading[tick] = heading
        recorded.along[tick] = state.clock[_ALONG]
        for c in range(3):
            recorded.body[tick, c] = state.body[c]
            for i in range(state.foot.shape[0]):
                recorded.foot[tick, i, c] = state.foot[i, c]
        for i in range(state.foot.shape[0]):
            recorded.lifted[tick, i] = state.lifted[i]
        for c in range(row.shape[0]):
            recorded.genes[tick, c] = row[c]
        for c in range(4):
            recorded.energy[tick, c] = out[c]
        if _arrived(state):
            return tick + 1
    return wishes.shape[0]


@kernel
def traverse(state, rows, first, last, distance, wishes, lame, rig, route, edges, smooth, out):
    """As `energy.measure`, but in full stride over the given ground for `distance` metres, with one row of wishes."""
    for which in range(first, last):
        row = state.genes
        table = rows[which : which + 1]
        born_lame = lame >= 0
        sum_of = out[which]
        clear_row(sum_of)
        if rows[which, CYCLE] * rows[which, PERIOD] * distance / rows[which, PACE] > TOO_SLOW * distance:
            sum_of[STRETCH] = np.inf  # counts as not arriving; such gaits would take most of the time
            sum_of[SECONDS] = np.inf
            continue
        _set_off(state, row, table, wishes, lame, born_lame, rig, route, edges, smooth, True)
        for _ in range(2):  # only to know how fast it goes
            _tick(state, row, table, wishes, 0, lame, born_lame, rig, route, edges, smooth, True, sum_of)
        clear_row(sum_of)
        ticks = 0
        start = state.clock[_ALONG]
        while state.clock[_ALONG] - start < distance:
            _tick(state, row, table, wishes, 0, lame, born_lame, rig, route, edges, smooth, True, sum_of)
            ticks += 1
            sum_of[HEIGHTS] += state.body[2]
        sum_of[HEIGHTS] /= ticks
        sum_of[LOAD] /= ticks
        sum_of[SECONDS] = ticks * TICK
