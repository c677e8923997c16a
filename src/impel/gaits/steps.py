"""Walking step by step: along a route, over stairs and obstacles, while mood, pace, height and limp change.

The cycle is a phase that never jumps. What a step needs (where to, how high, how long) is fixed when the foot lifts,
so a planted foot never moves and a change of mood takes effect foot by foot. A foot is set down where the walker
will pass it half-way through its stance. The body is carried by the feet (`carrying.py`), so it cannot jump either.
"""

import math

import numpy as np
from numpy.typing import NDArray

from impel.gaits.carrying import (
    CARRIED,
    GRAVITY,
    LEAN,
    LEANING,
    SPRINGY,
    STEADY,
    paper_height,
    posture,
    pulled,
    sag,
    spring_rate,
    support,
)
from impel.gaits.energy import (
    PAPER_EFFORT,
    SECONDS,
    SMOOTH_EFFORT,
    STRETCH,
    TOUCH,
    clear_row,
    end_row,
    note_tilt,
    tick_energy,
)
from impel.gaits.gait import AMPLITUDE, CYCLE, DELAYS, PACE, PERIOD, SPRING, STATURE, SWAY, TICK
from impel.gaits.ground import CLEARANCE, MARGIN, PASSING, TOP, foothold, surface_at
from impel.gaits.legs import flat_distance, frame_of, hip_of, mean_progress, swing
from impel.gaits.route import place_on
from impel.gaits.walker import Floats
from impel.kernel import Booleans2, Floats2, Floats3, kernel, struct

# A walker at rest starts with half paces: its feet stand side by side, where in full stride they trail by half a pace.
FIRST_PACE = 0.5
SETTLING = 2.5  # rate per cycle at which wishes given on the way are taken up, critically damped
HALTING = 8.0  # rate per cycle at which it stops and goes on, where something makes it wait
LIMPING = 0.3  # of a pace that a full limp taken up on the way takes off, since the body is off its middle
WIDER = 1.35  # of its pace that a foot may step in a turn, where outer feet go farther than the body
SAME_PLACE = 1e-3  # of a pace: a foot this close to where it should be is not lifted
SHORT_STEP = 0.3  # of a pace: shorter steps are lifted less
TAUT = 0.04  # leg halves before a leg is stretched, in which it begins to hold the body down
STRAIGHT = 0.999  # of its length, to which a leg is never stretched
STILL = 0.02  # m/s for legs of 2 m: slower, a body on feet that stand has come to rest

_PHASE, ALONG, _GONE = range(3)  # the clock: cycles, metres of the route, cycles since setting off
MOOD, PACE_FACTOR, STATURE_FACTOR, LIMP, GOING = range(5)  # wishes; GOING: 0 waits, 1 goes on
WISHES = 5


@struct
class State:
    """Where everything is between two ticks."""

    clock: Floats  # (3,)
    genes: Floats  # (7 + n,) in force
    wish: Floats2  # (2, 5) wishes as taken up so far, and their rates per cycle
    foot: Floats2  # (n, 3)
    floor: Floats  # (n,) the ground below each foot, sliding from step to step
    light: Floats  # (n,) how much of its load each foot has given up
    lifted: NDArray[np.bool_]  # (n,)
    step: Floats2  # (n, 11) from x y z, to x y z, lift phase, cycle, amplitude, pace, whether the last
    lifts: NDArray[np.int64]  # (n,) so far
    wanted: Floats  # (2,) where the feet want the body
    carried: Floats2  # (2, 5) x, y, heave, roll, pitch, and their rates
    haste: Floats2  # (2, 2) the velocity of the walker as a whole, smoothed, and its rate: by which it leans
    body: Floats  # (3,)
    before: Floats  # (3 + n,)
    velocity: Floats  # (3,)

    KEPT = (
        "clock", "genes", "wish", "foot", "floor", "light", "lifted", "step", "lifts", "wanted", "carried", "haste",
        "body", "before", "velocity",
    )  # fmt: skip


_FROM, _TO, _LIFT, _TURN, _HIGH, _LONG, _LAST = 0, 3, 6, 7, 8, 9, 10
_HEAVE, ROLL, PITCH = 2, 3, 4


def new_state(legs: int) -> State:
    return State(
        np.zeros(3),
        np.zeros(DELAYS + legs),
        np.zeros((2, WISHES)),
        np.zeros((legs, 3)),
        np.zeros(legs),
        np.zeros(legs),
        np.zeros(legs, np.bool_),
        np.zeros((legs, 11)),
        np.zeros(legs, np.int64),
        np.zeros(2),
        np.zeros((2, 5)),
        np.zeros((2, 2)),
        np.zeros(3),
        np.zeros(3 + legs),
        np.zeros(3),
    )


@kernel
def _plan(state, i, s, rig, route, surfaces):
    """Where foot i goes if its walker is to pass it at s: fills the step's end."""
    x, y, heading, _ = place_on(route, s)
    cosine = math.cos(heading)
    sine = math.sin(heading)
    x, y = x + cosine * rig.rest[i, 0] - sine * rig.rest[i, 1], y + sine * rig.rest[i, 0] + cosine * rig.rest[i, 1]
    step = state.step[i]
    if surfaces.shape[0] > 1:
        ahead = foothold(surfaces, x, y, cosine, sine, MARGIN * rig.unit)
        x, y = x + ahead * cosine, y + ahead * sine
    step[_TO] = x
    step[_TO + 1] = y
    step[_TO + 2] = surfaces[surface_at(surfaces, x, y), TOP]


@kernel
def _raise_over(step, surfaces, unit, smooth):
    """The amplitude at which the step clears every edge on its way."""
    looks = 48
    amplitude = step[_HIGH]
    dx, dy = step[_TO] - step[_FROM], step[_TO + 1] - step[_FROM + 1]
    far = max(math.sqrt(dx * dx + dy * dy), 1e-9)
    for look in range(1, looks):
        ahead, height = swing(look / looks, smooth)
        base = step[_FROM + 2] + ahead * (step[_TO + 2] - step[_FROM + 2])
        x, y = step[_FROM] + ahead * dx, step[_FROM + 1] + ahead * dy
        under = surfaces[surface_at(surfaces, x, y), TOP]
        for side in (-1.0, 0.0, 1.0):
            off = side * PASSING * unit / far
            need = surfaces[surface_at(surfaces, x + off * dx, y + off * dy), TOP]
            if need not in (step[_FROM + 2], step[_TO + 2]) or (need != under and need > base):
                need += CLEARANCE * unit
            amplitude = max(amplitude, (need - base) / height)
    return amplitude


@kernel
def _set_feet(state, pace, rig, route, surfaces):
    """Feet at the start: side by side as at rest."""
    for i in range(state.foot.shape[0]):
        step = state.step[i]
        step[_LONG] = pace
        _plan(state, i, 0.0, rig, route, surfaces)
        for c in range(3):
            state.foot[i, c] = step[_TO + c]
        state.floor[i] = step[_TO + 2]


@kernel
def _move_feet(state, row, dphase, stride, rig, route, surfaces, smooth):
    """Move the clock on, lift and land feet, swing those in the air; return the surge (m/s²) that they give the body.

    Where the walker waits the clock stands still, and so no foot lifts; those in the air come down as fast as ever.
    """
    clock = state.clock
    goes = min(max(state.wish[0, GOING], 0.0), 1.0)
    waits = (1.0 - goes) * dphase
    dphase *= goes
    clock[_PHASE] += dphase
    n = state.foot.shape[0]
    # A new pace counts as far as feet have taken it up, else the body would run away from those planted for the old.
    for i in range(n):
        clock[ALONG] += state.step[i, _LONG] / n * dphase
    phase = clock[_PHASE]
    surge = 0.0
    for i in range(n):
        step = state.step[i]
        step[_LIFT] -= waits
        state.light[i] = 0.0
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
            for c in range(3):
                step[_FROM + c] = step[_TO + c]
            ahead = 0.5 + (1.0 - mean_progress(smooth)) / row[CYCLE]
            target = clock[ALONG] + stride * (ahead - late)
            _plan(state, i, min(target, route.length), rig, route, surfaces)
            state.lifts[i] += 1
            step[_LONG] = stride
            step[_LAST] = target >= route.length
            distance = flat_distance(step[_TO], step[_TO + 1], step[_FROM], step[_FROM + 1])
            if distance > SAME_PLACE * row[PACE]:
                state.lifted[i] = True
                step[_LIFT] = phase - late
                step[_TURN] = row[CYCLE]
                step[_HIGH] = row[AMPLITUDE] * min(1.0, distance / (SHORT_STEP * row[PACE]))
                if surfaces.shape[0] > 1:
                    step[_HIGH] = _raise_over(step, surfaces, rig.unit, smooth)
            else:
                for c in range(3):
                    step[_TO + c] = step[_FROM + c]
        if state.lifted[i]:
            u = (phase - step[_LIFT]) * step[_TURN]
            ahead, height = swing(u, smooth)
            for c in range(3):
                state.foot[i, c] = step[_FROM + c] + ahead * (step[_TO + c] - step[_FROM + c])
            state.floor[i] = state.foot[i, 2]
            state.foot[i, 2] += step[_HIGH] * height
            distance = flat_distance(step[_TO], step[_TO + 1], step[_FROM], step[_FROM + 1])
            # Feet that hardly step hardly unload their legs, and do not throw the body either.
            state.light[i] = height * min(1.0, distance / (SHORT_STEP * row[PACE]))
            surge += 2.0 * math.pi * (u - ahead) * distance
    return surge * 2.0 * math.pi / (n * row[PERIOD] ** 2)


@kernel
def _carry(state, row, dphase, surge, lame, born_lame, rig, route, smooth, fresh):
    """Take the body to where its legs carry it within a tick; `fresh`: at rest on them. Returns the heading."""
    clock, carried = state.clock, state.carried
    heading = place_on(route, min(clock[ALONG], route.length))[2]
    cosine = math.cos(heading)
    sine = math.sin(heading)
    limp = 1.0 if born_lame else state.wish[0, LIMP]
    spare = row[SWAY] if born_lame else 1.0
    x, y = support(state.foot, state.floor, lame, limp, spare, row[SWAY], cosine, sine, rig)
    if not smooth:
        state.body[0], state.body[1] = x, y
        state.body[2] = paper_height(state.foot, state.floor, x, y, cosine, sine, row[STATURE], rig)
        return heading
    if fresh:
        carried[:] = 0.0
        state.haste[:] = 0.0
        carried[0, 0], carried[0, 1] = x, y
        state.wanted[0], state.wanted[1] = x, y
    n = state.foot.shape[0]
    # It leans into what speeds it up, slows it down or takes it round a corner, as whoever keeps the balance does.
    seconds = row[CYCLE] * row[PERIOD]
    speed = 0.0
    if clock[ALONG] < route.length:
        for i in range(n):
            speed += state.step[i, _LONG] / n * dphase / TICK * min(max(state.wish[0, GOING], 0.0), 1.0)
    haste = state.haste
    haste[0, 0], haste[1, 0] = pulled(haste[0, 0], haste[1, 0], speed * cosine, 0.0, LEANING / seconds, 1.0, TICK)
    haste[0, 1], haste[1, 1] = pulled(haste[0, 1], haste[1, 1], speed * sine, 0.0, LEANING / seconds, 1.0, TICK)
    ahead = LEAN / GRAVITY * (cosine * haste[1, 0] + sine * haste[1, 1])
    aside = LEAN / GRAVITY * (cosine * haste[1, 1] - sine * haste[1, 0])
    heave, roll, pitch = sag(row[SPRING], state.light, surge, rig)
    along = CARRIED * 2.0 * math.pi / seconds
    for c, to in enumerate((x, y)):
        rate = (to - state.wanted[c]) / TICK
        carried[0, c], carried[1, c] = pulled(carried[0, c], carried[1, c], to, rate, along, STEADY, TICK)
        state.wanted[c] = to
    springs = spring_rate(row[SPRING], rig)
    for c, to in ((_HEAVE, heave), (ROLL, roll - aside), (PITCH, pitch + ahead)):
        carried[0, c], carried[1, c] = pulled(carried[0, c], carried[1, c], to, 0.0, springs, SPRINGY, TICK)
    z = posture(rig, row[PACE], row[STATURE]) + carried[0, _HEAVE]
    for i in range(n):
        z += state.floor[i] / n
    state.body[0], state.body[1], state.body[2] = carried[0, 0], carried[0, 1], z
    _hold_down(state, rig, cosine, sine)
    return heading


@kernel(inline=True)
def _hold_down(state, rig, cosine, sine):
    """A leg that is almost straight holds the body down, gently at first."""
    body = state.body
    frame = frame_of(cosine, sine, state.carried[0, ROLL], state.carried[0, PITCH])
    soft = TAUT * rig.unit
    for i in range(state.foot.shape[0]):
        x, y, z = hip_of(body, frame, rig.hip, i)
        x, y = x - state.foot[i, 0], y - state.foot[i, 1]
        long = STRAIGHT * (rig.length[i, 0] + rig.length[i, 1])
        over = z - state.foot[i, 2] - math.sqrt(max(0.0, long * long - x * x - y * y)) + soft
        if over > 0.0:
            body[2] -= over * over / (4.0 * soft) if over < 2.0 * soft else over - soft


@kernel(inline=True)
def _take_up(state, wishes, dphase):
    """Draw the wishes in force towards those given, so that the walker changes over a cycle or so, smoothly."""
    for c in range(WISHES):
        rate = HALTING if c == GOING else SETTLING
        pull = rate * rate * (wishes[c] - state.wish[0, c]) - 2.0 * rate * state.wish[1, c]
        state.wish[1, c] += pull * dphase
        state.wish[0, c] += state.wish[1, c] * dphase


@kernel(inline=True)
def _gene_row(state, moods, row):
    """The genes in force: from the table of moods, then pace, height and limp on top."""
    place = min(max(state.wish[0, MOOD], 0.0), moods.shape[0] - 1.0)
    k = min(int(place), max(moods.shape[0] - 2, 0))
    u = place - k
    for c in range(moods.shape[1]):
        row[c] = moods[k, c] if u == 0.0 else (1.0 - u) * moods[k, c] + u * moods[k + 1, c]
    row[PACE] *= state.wish[0, PACE_FACTOR]
    row[STATURE] *= state.wish[0, STATURE_FACTOR]
    row[PACE] *= 1.0 - LIMPING * state.wish[0, LIMP]


@struct
class Recorded:
    """One row a tick."""

    body: Floats2  # (F, 3)
    heading: Floats  # (F,)
    tilt: Floats2  # (F, 2) roll and pitch
    foot: Floats3  # (F, n, 3)
    lifted: Booleans2  # (F, n)
    energy: Floats2  # (F, 4) spent so far: torque, legs, body, acceleration
    genes: Floats2  # (F, 7 + n) in force
    along: Floats  # (F,) metres of the route


@kernel
def set_off(state, moods, wishes, lame, born_lame, rig, route, surfaces, smooth):
    """Stand at the start of the route; return the heading."""
    row = state.genes
    for c in range(3):
        state.clock[c] = 0.0
        state.velocity[c] = 0.0
    for c in range(WISHES):
        state.wish[0, c] = wishes[c]
        state.wish[1, c] = 0.0
    for i in range(state.foot.shape[0]):
        state.lifted[i] = False
        state.lifts[i] = 0
        state.light[i] = 0.0
        for c in range(state.step.shape[1]):
            state.step[i, c] = 0.0
    _gene_row(state, moods, row)
    _set_feet(state, FIRST_PACE * row[PACE], rig, route, surfaces)
    heading = _carry(state, row, 0.0, 0.0, lame, born_lame, rig, route, smooth, True)
    for c in range(3):
        state.before[c] = state.body[c]
    for i in range(state.foot.shape[0]):
        state.before[3 + i] = state.foot[i, 2]
    return heading


@kernel
def tick_on(state, moods, wishes, lame, born_lame, rig, route, surfaces, smooth, out):
    """One tick on: wishes, clock, feet, body, energy; return the heading."""
    row = state.genes
    _take_up(state, wishes, TICK / (row[CYCLE] * row[PERIOD]))
    _gene_row(state, moods, row)
    dphase = TICK / (row[CYCLE] * row[PERIOD])
    state.clock[_GONE] += dphase * min(max(state.wish[0, GOING], 0.0), 1.0)
    ramp = min(max(state.clock[_GONE] - 1.0, 0.0), 1.0)
    pace = row[PACE] * (FIRST_PACE + (1.0 - FIRST_PACE) * ramp * ramp * (3.0 - 2.0 * ramp))
    curvature = place_on(route, min(state.clock[ALONG], route.length))[3]
    farthest = 1.0  # that a foot goes in a turn, against the body: outside, and where it swings round ahead or behind
    for i in range(rig.rest.shape[0]):
        farthest = max(
            farthest, flat_distance(1.0 + curvature * abs(rig.rest[i, 1]), curvature * rig.rest[i, 0], 0.0, 0.0)
        )
    pace *= min(1.0, WIDER / farthest)  # so that none needs much longer steps
    surge = _move_feet(state, row, dphase, pace, rig, route, surfaces, smooth)
    heading = _carry(state, row, dphase, surge, lame, born_lame, rig, route, smooth, False)
    roll, pitch = state.carried[0, ROLL], state.carried[0, PITCH]
    frame = frame_of(math.cos(heading), math.sin(heading), roll, pitch)
    effort = SMOOTH_EFFORT if smooth else PAPER_EFFORT
    foot, lifted, body = state.foot, state.lifted, state.body
    tick_energy(rig, foot, lifted, body, frame, state.before, state.velocity, TICK, effort, lame, out)
    note_tilt(roll, pitch, out)
    return heading


@kernel(inline=True)
def _arrived(state, rig):
    """Whether all feet stand where the way ends, and the body has come to rest on them."""
    for i in range(state.foot.shape[0]):
        if state.lifted[i] or state.step[i, _LAST] == 0.0:
            return False
    moving = 0.0
    for c in range(3):
        moving += state.velocity[c] ** 2
    for c in (ROLL, PITCH):
        moving += (rig.unit * state.carried[1, c]) ** 2
    return moving < STILL * STILL * rig.unit


@kernel(inline=True)
def note(state, heading, recorded, tick):
    """Write down where everything is."""
    recorded.heading[tick] = heading
    recorded.along[tick] = state.clock[ALONG]
    recorded.tilt[tick, 0] = state.carried[0, ROLL]
    recorded.tilt[tick, 1] = state.carried[0, PITCH]
    for c in range(3):
        recorded.body[tick, c] = state.body[c]
        for i in range(state.foot.shape[0]):
            recorded.foot[tick, i, c] = state.foot[i, c]
    for i in range(state.foot.shape[0]):
        recorded.lifted[tick, i] = state.lifted[i]
    for c in range(state.genes.shape[0]):
        recorded.genes[tick, c] = state.genes[c]


@kernel
def walk_ticks(state, moods, wishes, lame, born_lame, rig, route, surfaces, smooth, recorded, out):
    """Walk from standing until the wishes (F, 5) or the route end; return the number of ticks.

    `moods` is a table of genes (K, 7 + n), the first wish of each tick a place in it; `born_lame` says that these genes
    were evolved for the limp, else it is taken up as the wishes say. Fills `recorded`, and `out` as in
    `energy.Measured`.
    """
    clear_row(out)
    heading = set_off(state, moods, wishes[0], lame, born_lame, rig, route, surfaces, smooth)
    for tick in range(wishes.shape[0]):
        if tick > 0:
            heading = tick_on(state, moods, wishes[tick], lame, born_lame, rig, route, surfaces, smooth, out)
        note(state, heading, recorded, tick)
        for c in range(4):
            recorded.energy[tick, c] = out[c]
        if _arrived(state, rig):
            return tick + 1
    return wishes.shape[0]


@kernel
def walk_rows(state, rows, first, last, longest, wishes, lame, rig, route, surfaces, smooth, out):
    """What each row of genes costs and how it moves on the whole route, from standing to standing, as in
    `energy.Measured`; who is not there after `longest` seconds never arrives."""
    for which in range(first, last):
        table = rows[which : which + 1]
        result = out[which]
        clear_row(result)
        ticks = 0
        # Those who would be far too late even in full stride need not set off: they would take most of the time.
        slow = route.length / rows[which, PACE] * rows[which, CYCLE] * rows[which, PERIOD] > longest
        if not slow:
            set_off(state, table, wishes, lame, lame >= 0, rig, route, surfaces, smooth)
            while ticks * TICK < longest:
                tick_on(state, table, wishes, lame, lame >= 0, rig, route, surfaces, smooth, result)
                ticks += 1
                if _arrived(state, rig):
                    break
        end_row(max(ticks, 1), TICK, result)
        if slow or ticks * TICK >= longest:
            result[STRETCH] = np.inf
            result[SECONDS] = np.inf
