"""Goals: states that bodies meet exactly, at given times (paper 004, corrected).

A goal is approached by the behaviour equation (courses.py), which is solved anew in every step from where the body is;
the last step before a goal aims at the place alone. What a body is to do comes out as an acceleration. What force that
takes is found as for all actuators: so jointed bodies meet their goals as free ones do.

Dynamic constraints (eq. 1) are the paper's older way to a goal, and how a goal is held once it is met.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impel.control.courses import (
    axes_for,
    inverse_left_jacobian,
    left_jacobian,
    paper_ending,
    rate_after,
    smooth_ending,
)
from impel.control.law import TINY, limit_size
from impel.kernel import Floats, Floats2, Integers, kernel, struct
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    dot,
    exponential,
    get3,
    get3_at,
    get4,
    logarithm,
    multiply,
    norm,
    rotate,
    scale,
    set3,
    set3_at,
    sub,
)

ROUNDING = 1e-9  # s
MET = 9.2334  # T/τ: so many time constants of eq. 1 leave a thousandth of a deviation
HOLDS = 0.05  # s: τ of what is held ...
LATEST = 1.0  # s: ... and at most: who is all but too weak creeps back
SHORTEST = 2.0  # steps: ... and at least, for the sake of stability
LAST = 1.5  # steps: if no more are left, they are one
NEAR_MISS, NEAR_TURN = 1e-3, math.radians(0.1)  # m and rad: as near a goal counts as met ...
SHARE_MISSED, SHARE_CREPT = (
    1e-3,
    0.01,
)  # ... or so near, as a share of its course; who creeps there is never quite there


@dataclass(frozen=True, kw_only=True)
class Aim:
    """One goal of an actuator, or one of the places that lead to it."""

    time: float  # s
    place: Sequence[float]  # a position or a quaternion, in the frame of its body if it has one
    frame: int = -1  # a body
    written: int = -1  # which of the goals that were written; -1: only on the way to one
    until: float = -math.inf  # s: how long it is held; not at all, until then, or for ever
    release: int = -1  # the appointment that lets go


@dataclass(frozen=True, kw_only=True)
class Course:
    """All goals of an actuator, and how it goes about them."""

    aims: Sequence[Aim]
    ending: str = "smooth"
    behaviour: str = "sequential"


@struct
class Goals:
    """The G goals of A actuators, one actuator after the other; most actuators have none."""

    first: Integers  # (A + 1,)
    time: Floats  # (G,) s
    place: Floats2  # (G, 4) a position or an orientation, in the world or in the frame of a body
    frame: Integers  # (G,) that body, or -1
    written: Integers  # (G,) as which goal it was written; -1: on the way to one
    foreign: Integers  # (G,) 1 if that body does not hang together with the actuator's
    until: Floats  # (G,) s: how long it is held once it is met
    release: Integers  # (G,) the appointment that ends this, or -1
    paper: Integers  # (A,) 1 if courses end as in the paper
    dynamic: Integers  # (A,) 1 for dynamic constraints
    landings: Floats  # (L,) s: when steps must end, in order
    most: Floats  # (A,) m/s² or rad/s²: what its strength allows; more is not planned
    calm: Floats  # (A,) the same of a strength that suits it, if that is less: so fast it comes back to what it holds
    vain: Floats  # (A,) the same of limbs, infinite for others: so fast it goes on to what it cannot reach in time
    now: Floats  # (1,) s: scratch, when the step begins
    extra: Floats2  # (A, 3) scratch: acceleration that the last try of a step was short of
    last_extra: Floats2  # (A, 3) scratch: the same of the try before
    # State.
    current: Floats  # (A,) the goal that is next, or held
    since: Floats  # (A,) s: when its course began; negative before
    size: Floats  # (A,) m or rad: how long that was
    holding: Floats  # (A,) 1 while it is held
    axes: Floats2  # (A, 9) of its course
    ending: Floats2  # (A, 3) with which velocity it ends
    cubic: Floats2  # (A, 3) 1 for components that go by a cubic
    bend: Floats2  # (A, 3) 1/s²: β² of the others
    final: Floats  # (A,) 1 once the last step is planned
    least: Floats  # (A,) 1 once only the place counts, for want of strength
    planned: Floats2  # (A, 3) the acceleration that was asked for last
    carried: Floats2  # (A, 3) how fast its goal moved when last seen
    miss: Floats  # (G,) m or rad: how far off the body was when it was due; -1 before
    way: Floats  # (G,) m or rad: how long its course was
    late: Floats  # (G,) s: how much later it would have been nearest, had it gone on so
    freed: Floats  # (G,) 1 once it is held no more

    STATE = (
        "current", "since", "size", "holding", "axes", "ending", "cubic", "bend", "final", "least", "planned",
        "carried", "miss", "way", "late", "freed",
    )  # fmt: skip


def make_goals(courses: Sequence[Course | None], bodies: Sequence[int], whole: NDArray[np.int64]) -> Goals:
    """The goals of actuators that act on these bodies; bodies with the same number in `whole` hang together."""
    n = len(courses)
    owners = [body for course, body in zip(courses, bodies) for _ in (course.aims if course is not None else ())]
    aims = [aim for course in courses if course is not None for aim in course.aims]
    count = len(aims)
    first = np.cumsum([0, *(0 if course is None else len(course.aims) for course in courses)], dtype=np.int64)
    place = np.zeros((count, 4))
    for row, aim in zip(place, aims):
        row[: len(aim.place)] = aim.place
    ends = [aim.until for aim in aims if math.isfinite(aim.until)]
    return Goals(
        first=first,
        time=np.array([aim.time for aim in aims], float),
        place=place,
        frame=np.array([aim.frame for aim in aims], np.int64),
        written=np.array([aim.written for aim in aims], np.int64),
        foreign=np.array(
            [aim.frame >= 0 and whole[aim.frame] != whole[body] for aim, body in zip(aims, owners)], np.int64
        ),
        until=np.array([aim.until for aim in aims], float),
        release=np.array([aim.release for aim in aims], np.int64),
        paper=np.array([course is not None and course.ending == "paper" for course in courses], np.int64),
        dynamic=np.array([course is not None and course.behaviour == "dynamic" for course in courses], np.int64),
        landings=_apart(sorted({*(aim.time for aim in aims), *ends})),
        most=np.full(n, np.inf),
        calm=np.full(n, np.inf),
        vain=np.full(n, np.inf),
        now=np.zeros(1),
        extra=np.zeros((n, 3)),
        last_extra=np.zeros((n, 3)),
        current=first[:-1].astype(float),
        since=np.full(n, -1.0),
        size=np.zeros(n),
        holding=np.zeros(n),
        axes=np.zeros((n, 9)),
        ending=np.zeros((n, 3)),
        cubic=np.zeros((n, 3)),
        bend=np.zeros((n, 3)),
        final=np.zeros(n),
        least=np.zeros(n),
        planned=np.zeros((n, 3)),
        carried=np.zeros((n, 3)),
        miss=np.full(count, -1.0),
        way=np.zeros(count),
        late=np.zeros(count),
        freed=np.zeros(count),
    )


def _apart(times: list[float]) -> NDArray[np.float64]:
    """Times without those that are the same but for rounding."""
    kept: list[float] = []
    for time in times:
        if not kept or time > kept[-1] + ROUNDING:
            kept.append(time)
    return np.array(kept, float)


@kernel(inline=True)
def has_goals(goals, a):
    return goals.first[a + 1] > goals.first[a]


@kernel(inline=True)
def is_idle(goals, a):
    """Whether all goals of an actuator that had some are behind it: then it does nothing any more."""
    return has_goals(goals, a) and goals.current[a] >= goals.first[a + 1]


@kernel
def next_landing(landings, time, end):
    """The next moment after `time` at which a step must end; `end` if that comes first."""
    for i in range(len(landings)):
        if landings[i] > time + ROUNDING:
            return landings[i] if landings[i] < end - ROUNDING else end
    return end


@kernel
def goal_at(bodies, goals, g, turns):
    """Where a goal is now, and how fast it moves or turns."""
    place, body = get4(goals.place, g), goals.frame[g]
    if body < 0:
        return place, (0.0, 0.0, 0.0)
    q, spin = get4(bodies.orientation, body), get3(bodies.spin, body)
    if turns:
        return multiply(q, place), spin
    arm = rotate(q, (place[0], place[1], place[2]))
    x = add(get3(bodies.position, body), arm)
    return (x[0], x[1], x[2], 0.0), add(get3(bodies.velocity, body), cross(spin, arm))


@kernel
def deviation(place, turns, x, q):
    """From a goal to a body: metres, or radians about an axis."""
    if turns:
        return logarithm(multiply(q, conjugate(place)))
    return sub(x, (place[0], place[1], place[2]))


@kernel
def relative_rate(d, rate, moves, turns):
    """How fast a deviation changes while its body moves or turns at `rate` and its goal at `moves`."""
    if turns:
        return inverse_left_jacobian(d, sub(rate, rotate(exponential(d), moves)))
    return sub(rate, moves)


@kernel
def begin_course(bodies, goals, a, g, turns, place, moves, d):
    """Choose how the course to goal g, from which the body is d away, shall end."""
    left = max(goals.time[g] - goals.now[0], ROUNDING)
    mean, ending = scale(d, -1.0 / left), (0.0, 0.0, 0.0)
    onward = mean
    if goals.until[g] < 0.0:
        ending = mean
        if g + 1 < goals.first[a + 1]:
            onward = mean_after(bodies, goals, g, turns, place, moves)
            third = onward
            if g + 2 < goals.first[a + 1]:
                then, then_moves = goal_at(bodies, goals, g + 1, turns)
                third = mean_after(bodies, goals, g + 1, turns, then, then_moves)
            after = goals.time[g + 1] - goals.time[g]
            if goals.paper[a] == 1:
                ending = paper_ending(mean, left, onward, after, third)
            else:
                ending = smooth_ending(mean, left, onward, after)
    axes = axes_for(mean, onward)
    for k in range(3):
        set3_at(goals.axes, a, 3 * k, axes[k])
    set3(goals.ending, a, ending)
    set3(goals.cubic, a, (0.0, 0.0, 0.0))
    set3(goals.bend, a, (0.0, 0.0, 0.0))
    goals.since[a], goals.size[a] = goals.now[0], norm(d)
    goals.final[a] = goals.least[a] = 0.0


@kernel
def mean_after(bodies, goals, g, turns, place, moves):
    """The mean velocity of the course after goal g, as seen from that, which is here and moves so."""
    there, then_moves = goal_at(bodies, goals, g + 1, turns)
    d = deviation(there, turns, (place[0], place[1], place[2]), place)
    return axpy(-1.0 / (goals.time[g + 1] - goals.time[g]), d, sub(then_moves, moves))


@kernel
def aim(bodies, goals, a, turns, x, q, rate, dt, dt_last):
    """The acceleration, held for dt, that leads the body of an actuator to its goal, and the way there. The body is at
    x, turned by q, and moves or turns at `rate`."""
    g = int(goals.current[a])
    place, moves = goal_at(bodies, goals, g, turns)
    d, onward, extra = deviation(place, turns, x, q), (0.0, 0.0, 0.0), get3(goals.extra, a)
    if goals.since[a] < 0.0:
        begin_course(bodies, goals, a, g, turns, place, moves, d)
    elif goals.foreign[g] == 1 and dt_last > 0.0:
        onward = scale(sub(moves, get3(goals.carried, a)), 1.0 / dt_last)
    set3(goals.carried, a, moves)
    own, left = relative_rate(d, rate, moves, turns), goals.time[g] - goals.now[0]
    if goals.holding[a] == 1.0:
        # From farther away than it can be pulled back so soon: as soon as strength, or what suits it, allows.
        soonest = max(HOLDS, SHORTEST * dt)
        tau = min(max(soonest, math.sqrt(norm(d) / max(goals.calm[a], TINY))), LATEST)
        soon = settled_rate(limit_size(d, max(goals.calm[a] * tau * tau, NEAR_MISS)), own, tau, dt)
    elif goals.dynamic[a] == 1:
        whole = goals.time[g] - goals.since[a]
        soon = settled_rate(d, own, max(whole / MET, SHORTEST * dt), dt)
    elif goals.final[a] == 1.0:
        return add(get3(goals.planned, a), extra), d
    else:
        if too_much(d, own, left, get3(goals.ending, a), goals.most[a]):
            goals.least[a] = 1.0
        if left <= LAST * dt or goals.least[a] == 1.0:  # as little as brings it there
            goals.final[a] = 1.0 if left <= LAST * dt else 0.0
            wish = scale(axpy(-1.0 / left, d, sub(moves, rate)), 2.0 / left)
            if dot(wish, wish) > goals.most[a] * goals.most[a]:  # it will be late, and a limb must not be whipped
                wish = limit_size(wish, goals.vain[a])
            return add(add(wish, onward), extra), d
        soon = course_rate(goals, a, d, own, left, dt)
    if turns:
        then = axpy(0.5 * dt, add(own, soon), d)
        soon = add(left_jacobian(then, soon), rotate(exponential(then), axpy(dt, onward, moves)))
        return axpy(1.0 / dt, sub(soon, rate), extra), d
    return axpy(1.0 / dt, sub(soon, own), add(onward, extra)), d


@kernel
def course_rate(goals, a, d, own, left, dt):
    """How fast a deviation shall change after dt: each component, in the course's axes, by an equation of its own."""
    soon, ending = (0.0, 0.0, 0.0), get3(goals.ending, a)
    for k in range(3):
        axis = get3_at(goals.axes, a, 3 * k)
        found, goals.cubic[a, k], goals.bend[a, k] = rate_after(
            dot(axis, d), dot(axis, own), left, dot(axis, ending), dt, goals.cubic[a, k], goals.bend[a, k]
        )
        soon = axpy(found, axis, soon)
    return soon


@kernel
def settled_rate(d, own, tau, dt):
    """The same for a dynamic constraint (eqs. 1 and 2)."""
    inner = axpy(1.0 / tau, d, own)
    return scale(axpy(-dt / tau, inner, own), math.exp(-dt / tau))


@kernel
def too_much(d, own, left, ending, most):
    """Whether a cubic course would begin or end with a larger acceleration than there is strength for."""
    if most == math.inf:
        return False
    sixth = scale(d, 6.0 / (left * left))
    begin = axpy(4.0 / left, own, axpy(2.0 / left, ending, sixth))
    end = axpy(2.0 / left, own, axpy(4.0 / left, ending, sixth))
    return max(dot(begin, begin), dot(end, end)) > most * most


@kernel
def head_on(goals, a):
    """To the next goal."""
    goals.current[a] += 1.0
    goals.since[a], goals.holding[a], goals.final[a], goals.least[a] = -1.0, 0.0, 0.0, 0.0


@kernel
def arrive(bodies, goals, a, turns, x, q, rate, time):
    """Note how near the body of an actuator came to a goal that is due, and go on to the next, or hold it."""
    g = int(goals.current[a])
    if goals.holding[a] == 1.0 and goals.until[g] <= time + ROUNDING:
        goals.freed[g] = 1.0
        head_on(goals, a)
        g += 1
    while g < goals.first[a + 1] and goals.holding[a] == 0.0 and goals.time[g] <= time + ROUNDING:
        place, moves = goal_at(bodies, goals, g, turns)
        d = deviation(place, turns, x, q)
        own = relative_rate(d, rate, moves, turns)
        goals.miss[g], goals.way[g], speed2 = norm(d), goals.size[a], dot(own, own)
        goals.late[g] = -dot(d, own) / speed2 if speed2 > 0.0 else math.inf
        if goals.until[g] > time + ROUNDING:
            goals.holding[a] = 1.0
        else:
            head_on(goals, a)
        g += 1


@kernel
def is_met(goals, a, g, turns):
    """Whether the body of an actuator was near enough when its goal g was due."""
    share = SHARE_CREPT if goals.dynamic[a] == 1 else SHARE_MISSED
    return goals.miss[g] <= max(NEAR_TURN if turns else NEAR_MISS, share * goals.way[g])


@kernel
def let_go_of(goals, a):
    """Go on from a goal that was held until now; those that were due meanwhile are missed."""
    goals.freed[int(goals.current[a])] = 1.0
    head_on(goals, a)
