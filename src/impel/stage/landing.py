"""Steps that end when goals are due: frames are parted there, and such a step is tried until it ends as it should."""

import math

from impel.control.actuators import rate_of
from impel.control.goals import (
    ROUNDING,
    arrive,
    deviation,
    goal_at,
    has_goals,
    is_idle,
    next_landing,
    relative_rate,
)
from impel.control.targets import place_of, turn_of
from impel.kernel import kernel
from impel.motion.rotations import axpy, get3, norm, set3

CLOSE = 1e-12  # m or rad: as near is there
TRIES = 5  # of a step, beyond the first
SETTLED = 99  # no more tries
AFFORDABLE = 0.5  # of what its strength allows: what needs more is not mended in one step


@kernel
def next_part(actuators, clock, pace):
    """Begin the next part of the frame, up to the next goal; is there any? Its steps are as long as in other frames, or
    shorter, and all the same."""
    start, end = clock.begin[0] + clock.part[0], clock.frame_start[0] + pace.frame_seconds
    if clock.part[0] > 0.0 and is_last(clock, pace):
        return False
    clock.lands[0], clock.steps[0] = 0, pace.steps
    clock.begin[0], clock.tick[0], clock.part[0] = start, 0, pace.frame_seconds
    if actuators is not None and len(actuators.goals.landings) > 0:
        landing = next_landing(actuators.goals.landings, start, end)
        clock.lands[0] = 1 if lands_at(actuators.goals.landings, landing) else 0
        if landing < end or start > clock.frame_start[0]:
            clock.part[0] = landing - start
            longest = pace.frame_seconds / pace.steps
            clock.steps[0] = max(math.ceil(clock.part[0] / longest - ROUNDING), 1)
    return True


@kernel
def is_last(clock, pace):
    """Whether the present part of the frame ends with it."""
    return clock.begin[0] + clock.part[0] > clock.frame_start[0] + pace.frame_seconds - ROUNDING


@kernel
def lands_at(landings, time):
    found = False
    for i in range(len(landings)):
        found |= abs(landings[i] - time) <= ROUNDING
    return found


@kernel
def closes_in(goals):
    """Whether the last steps to a goal are planned: each is then seen to by itself."""
    found = False
    for a in range(len(goals.final)):
        found |= goals.final[a] == 1.0
    return found


@kernel
def amend(now, clock, time, dt):
    """After a step that ends at `time`: should it be taken back and tried again, with what was missing of accelerations
    to meet goals? Joints, contacts and pushes that nobody told it of are met exactly so."""
    actuators, goals = now.actuators, now.actuators.goals
    if clock.amended[0] >= SETTLED:
        return False
    worst = 0.0
    for a in range(len(actuators.body)):
        if mendable(now.bodies, actuators, a, time, dt):
            worst = max(worst, norm(will_miss(now.bodies, actuators, a, time)))
    if clock.amended[0] > 0 and worst > clock.off_by[0]:  # the last try was better
        for a in range(len(actuators.body)):
            set3(goals.extra, a, get3(goals.last_extra, a))
        clock.amended[0] = SETTLED
        return True
    if worst <= CLOSE or clock.amended[0] == TRIES:
        return False
    for a in range(len(actuators.body)):
        set3(goals.last_extra, a, get3(goals.extra, a))
        if mendable(now.bodies, actuators, a, time, dt):
            after = int(goals.current[a])
            lasts = dt * (goals.time[after] - time + 0.5 * dt)  # by so much more does an acceleration in this step lead
            set3(goals.extra, a, axpy(-1.0 / lasts, will_miss(now.bodies, actuators, a, time), get3(goals.extra, a)))
    clock.amended[0] += 1
    clock.off_by[0] = worst
    return True


@kernel
def mendable(bodies, actuators, a, time, dt):
    """Whether the last steps to a goal of an actuator are planned, and it has the strength for what it misses by."""
    goals = actuators.goals
    if not has_goals(goals, a) or is_idle(goals, a) or goals.holding[a] == 1.0 or goals.dynamic[a] == 1:
        return False
    g = int(goals.current[a])
    if goals.written[g] < 0 or goals.final[a] == 0.0 or goals.least[a] == 1.0 or actuators.saturated[a] == 1.0:
        return False
    left = max(goals.time[g] - time, 0.0)
    return norm(will_miss(bodies, actuators, a, time)) <= AFFORDABLE * goals.most[a] * dt * (left + 0.5 * dt)


@kernel
def will_miss(bodies, actuators, a, time):
    """By how much the body of an actuator misses its goal if it goes on as planned."""
    goals, d = actuators.goals, off_by(bodies, actuators, a)
    g = int(goals.current[a])
    left = goals.time[g] - time
    if left <= ROUNDING:
        return d
    turns = actuators.paths.turns[a] == 1
    _, moves = goal_at(bodies, goals, g, turns)
    own = relative_rate(d, rate_of(bodies, actuators, a), moves, turns)
    return axpy(left, axpy(0.5 * left, get3(goals.planned, a), own), d)


@kernel
def off_by(bodies, actuators, a):
    """From its goal to an actuator's body."""
    turns = actuators.paths.turns[a] == 1
    place, _ = goal_at(bodies, actuators.goals, int(actuators.goals.current[a]), turns)
    return deviation(place, turns, place_of(bodies, actuators, a), turn_of(bodies, actuators, a))


@kernel
def forget_extra(actuators, clock):
    """Before another step: nothing was missing of it yet."""
    clock.amended[0] = 0
    for a in range(len(actuators.body)):
        set3(actuators.goals.extra, a, (0.0, 0.0, 0.0))


@kernel
def land(now, time):
    """After the step that ends at `time`: note who has met its goal, and who goes on to the next."""
    actuators, goals = now.actuators, now.actuators.goals
    for a in range(len(actuators.body)):
        if has_goals(goals, a) and not is_idle(goals, a):
            arrive(
                now.bodies, goals, a, actuators.paths.turns[a] == 1, place_of(now.bodies, actuators, a),
                turn_of(now.bodies, actuators, a), rate_of(now.bodies, actuators, a), time,
            )  # fmt: skip
