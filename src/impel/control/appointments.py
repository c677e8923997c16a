"""Appointments: cues of several actuators that must happen together (paper 000, sections 5 and 6, by clocks).

Members of an active appointment go by clocks, also those without times on their paths. Each knows how long it needs at
its full pace; the one that comes last, as far as can be told from how it gets on, goes on as it can, and the others
slow down so as to be there with it. Strengths are left alone. (Measured on 100 random scenarios of 2 to 10 members, one
held up: all targets within a step of each other, and 1.015 of the shortest time possible, 1.07 for one in twenty.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.frames import is_framed
from impel.control.goals import has_goals, is_met
from impel.kernel import Floats, Floats2, Integers, kernel, struct
from impel.motion.paths import length_between, segment_length
from impel.motion.rotations import norm
from impel.motion.splines import pose_at

WAITING, ACTIVE, DONE, MISSED = range(4)
NEAR = 0.1  # s: so near its end a way is measured again
SMOOTH = 0.15  # s: time constant with which it is seen how a member gets on
CREEPS = 0.02  # of its pace: who is slower might as well stand ...
HOPE = 1.0  # s: ... but will not be held up for longer than that, it is hoped
DOORSTEP = 1e-5  # s: so near its cue a member waits for the others at the end
SURE = 1e-6  # s: to which it is known how long a member needs, near the end
ROUNDING = 1e-9  # s: of a sum of many steps
EVEN = 0.8  # the share of its speed that a path has half a step on, at least, where it goes on evenly
HALVINGS = 40  # of a segment, to find a place on it

# Of the rule of the paper, which says "a certain percentage" and "several consecutive time intervals".
FASTER = 0.1  # per step, by which an α grows again ...
PATIENCE = 5  # ... after more steps than that without being reduced
WEAKEST = 1e-6  # share of an α that is left at least: with none at all nothing would ever move again


class Cue(NamedTuple):
    """A moment of a performance: a key that the target of an actuator passes, or a time that is known beforehand, such
    as that of a footfall."""

    actuator: int = -1  # -1: none
    key: int = 0  # of its path
    due: float = math.inf  # s: when it happens by itself


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """One appointment."""

    cues: Sequence[Cue]
    parents: Sequence[int] = ()  # appointments
    needs: int = 0  # how many of them must be over
    timeout: float = math.inf  # s
    as_published: bool = False  # whether to keep it by the rule of the paper


@struct
class Appointments:
    """M appointments with C cues in all."""

    first: Integers  # (M + 1,)
    actuator: Integers  # (C,) -1 for what happens by itself
    key: Integers  # (C,) of its path
    first_parent: Integers  # (M + 1,)
    parent: Integers
    needs: Integers  # (M,) how many parents must be over
    timeout: Floats  # (M,) s after which it is missed
    published: Integers  # (M,) 1 if it is kept by the rule of the paper
    given: Floats2  # (A, 2) stiffness and damping, which that rule changes
    waits: Floats  # (A,) scratch: the share of its full pace at which an actuator should go; 2 if nobody waits for it
    door: Floats  # (C,) scratch, s: how long a member would still need after the coming step
    due: Floats  # (C,) s: when what happens by itself does, as far as is known
    # State.
    state: Floats  # (M,) WAITING ...
    since: Floats  # (M,) s: how long it has been active
    gets_on: Floats  # (C,) the pace of a member as a share of what it should be, smoothed
    share: Floats  # (C,) which that is
    left: Floats  # (C,) s that a member needs at full pace; negative once it has passed its cue
    alpha: Floats2  # (A, 2) by the rule of the paper: the share of its α that an actuator has, and for how many steps
    # that was not reduced

    STATE = ("state", "since", "gets_on", "share", "left", "alpha")
    KEPT = ("due",)


def make_appointments(agreed: Sequence[Agreed], given: NDArray[np.float64]) -> Appointments:
    """`given` (A, 2) are the stiffness and the damping of all actuators."""
    cues = [cue for each in agreed for cue in each.cues]
    actuators = len(given)
    return Appointments(
        first=np.cumsum([0, *(len(each.cues) for each in agreed)], dtype=np.int64),
        actuator=np.array([cue.actuator for cue in cues], np.int64),
        key=np.array([cue.key for cue in cues], np.int64),
        due=np.array([cue.due for cue in cues], float),
        first_parent=np.cumsum([0, *(len(each.parents) for each in agreed)], dtype=np.int64),
        parent=np.array([parent for each in agreed for parent in each.parents], np.int64),
        needs=np.array([each.needs for each in agreed], np.int64),
        timeout=np.array([each.timeout for each in agreed], float),
        published=np.array([each.as_published for each in agreed], np.int64),
        given=given,
        waits=np.full(actuators, 2.0),
        door=np.zeros(len(cues)),
        state=np.zeros(len(agreed)),
        since=np.zeros(len(agreed)),
        gets_on=np.ones(len(cues)),
        share=np.ones(len(cues)),
        left=np.zeros(len(cues)),
        alpha=np.tile([1.0, 0.0], (actuators, 1)),
    )


@kernel
def keep_appointments(actuators, dt_last):
    """See who is expected where, and at which share of its pace each member of an active appointment should go."""
    agreed = actuators.appointments
    if len(agreed.state) == 0:
        return
    published = 0
    for m in range(len(agreed.state)):
        published += agreed.published[m]
    for a in range(len(agreed.waits)):
        agreed.waits[a] = 2.0
        if published > 0:
            regain(actuators, agreed, a)
    for m in range(len(agreed.state)):
        if agreed.state[m] == WAITING:
            over = 0
            for p in range(agreed.first_parent[m], agreed.first_parent[m + 1]):
                over += 1 if agreed.state[agreed.parent[p]] >= DONE else 0
            if over >= agreed.needs[m]:
                agreed.state[m] = ACTIVE
        elif agreed.state[m] == ACTIVE:
            agreed.since[m] += dt_last
        if agreed.state[m] == WAITING:
            hold_at_the_start(actuators, agreed, m)
        if agreed.state[m] == ACTIVE:
            expected = expect(actuators, agreed, m, dt_last)
            if misses_a_goal(actuators, agreed, m):
                agreed.state[m] = MISSED
            elif expected == 0:
                agreed.state[m] = DONE
            elif agreed.since[m] >= agreed.timeout[m]:
                agreed.state[m] = MISSED
            elif agreed.first[m + 1] - agreed.first[m] == 1:
                continue  # nobody to wait for: it is only a moment with a name
            elif agreed.published[m] == 1:
                slow_down_as_published(actuators, agreed, m, dt_last)
            else:
                slow_down_for_all(actuators, agreed, m, dt_last)


@kernel
def misses_a_goal(actuators, agreed, m):
    """Whether a goal that is a cue was due, and its place or its orientation was missed."""
    goals = actuators.goals
    for c in range(agreed.first[m], agreed.first[m + 1]):
        a = agreed.actuator[c]
        if a < 0 or not has_goals(goals, a):
            continue
        written = goals.written[goals.first[a] + agreed.key[c]]
        for b in range(len(actuators.body)):
            for g in range(goals.first[b], goals.first[b + 1] if actuators.body[b] == actuators.body[a] else 0):
                due = goals.written[g] == written and goals.miss[g] >= 0.0
                if due and not is_met(goals, b, g, actuators.paths.turns[b] == 1):
                    return True
    return False


@kernel
def hold_at_the_start(actuators, agreed, m):
    """Who is to set out with others does not do so before it is known when that will be."""
    for c in range(agreed.first[m], agreed.first[m + 1]):
        a = agreed.actuator[c]
        alone = agreed.first[m + 1] - agreed.first[m] == 1
        if (
            a >= 0
            and agreed.key[c] == 0
            and not alone
            and agreed.published[m] == 0
            and not has_goals(actuators.goals, a)
        ):
            agreed.waits[a] = 0.0


@kernel
def expect(actuators, agreed, m, dt_last):
    """Find how long each member still needs; how many are expected?

    A way without times is measured when the appointment begins, and again near its end; in between it gets shorter as
    its clock goes.
    """
    clocks, expected = actuators.clocks, 0
    for c in range(agreed.first[m], agreed.first[m + 1]):
        a = agreed.actuator[c]
        if a < 0:
            agreed.left[c] = agreed.due[c] - actuators.now[0]
            expected += 1 if agreed.left[c] > ROUNDING else 0
            continue
        agreed.left[c] -= clocks.pace[a] * dt_last
        if has_passed(actuators, a, agreed.key[c]) or (agreed.published[m] == 1 and agreed.key[c] == 0):
            agreed.left[c] = -1.0
            continue
        expected += 1
        if agreed.published[m] == 1:  # which measures lengths
            agreed.left[c] = 0.0
            continue
        moves = clocks.timed[a] == 1 or is_framed(actuators.frames, a) or has_goals(actuators.goals, a)
        if moves or agreed.left[c] < NEAR:
            agreed.left[c] = time_left(actuators, a, agreed.key[c])
    return expected


@kernel
def slow_down_for_all(actuators, agreed, m, dt_last):
    """The rule: with T the time that a member needs at full pace, and how it gets on, all are there after t*."""
    clocks = actuators.clocks
    latest, last, blend = 0.0, -1, dt_last / (SMOOTH + dt_last)
    for c in range(agreed.first[m], agreed.first[m + 1]):
        if agreed.left[c] < 0.0:
            continue
        if agreed.actuator[c] >= 0:
            pace = clocks.pace[agreed.actuator[c]] / max(agreed.share[c], CREEPS)
            agreed.gets_on[c] += (min(pace, 1.0) - agreed.gets_on[c]) * blend
        needs = min(agreed.left[c] / max(agreed.gets_on[c], CREEPS), agreed.left[c] + HOPE)
        if has_goals(actuators.goals, agreed.actuator[c]):  # its time rules
            latest, last = agreed.left[c], c
            break
        if last < 0 or needs > latest:
            latest, last = needs, c
    for c in range(agreed.first[m], agreed.first[m + 1]):
        if agreed.left[c] >= 0.0 and agreed.actuator[c] >= 0:
            agreed.share[c] = 1.0 if c == last or latest <= 0.0 else min(1.0, agreed.left[c] / latest)
            a = agreed.actuator[c]
            if has_goals(actuators.goals, a):
                continue
            agreed.waits[a] = min(agreed.waits[a], agreed.share[c])


@kernel
def wait_at_the_door(actuators, dt):
    """Let nobody pass its cue in the coming dt unless all do: whose estimates were wrong at the end waits for the
    others where it is all but there."""
    agreed, clocks = actuators.appointments, actuators.clocks
    for m in range(len(agreed.state)):
        if agreed.state[m] != ACTIVE or agreed.published[m] == 1 or agreed.first[m + 1] - agreed.first[m] == 1:
            continue
        near, together = False, True
        for c in range(agreed.first[m], agreed.first[m + 1]):
            near |= agreed.left[c] < NEAR
        if not near:
            continue
        for c in range(agreed.first[m], agreed.first[m + 1]):
            a = agreed.actuator[c]
            agreed.door[c] = math.inf  # a way that is long yet
            if a < 0:
                agreed.door[c] = agreed.due[c] - actuators.now[0] - dt
            elif has_passed(actuators, a, agreed.key[c]):
                agreed.door[c] = -math.inf
            elif agreed.left[c] < NEAR:
                agreed.door[c] = time_left(actuators, a, agreed.key[c])
                if agreed.door[c] <= 2.0 * DOORSTEP:  # it has waited long enough
                    clocks.pace[a] = max(clocks.pace[a], (agreed.door[c] + 2.0 * SURE) / dt)
                agreed.door[c] -= clocks.pace[a] * dt
            together &= agreed.door[c] <= -SURE
        for c in range(agreed.first[m], agreed.first[m + 1]):
            a = agreed.actuator[c]
            if a >= 0 and not together and -math.inf < agreed.door[c] < DOORSTEP:
                clocks.pace[a] = max(clocks.pace[a] + (agreed.door[c] - DOORSTEP) / dt, 0.0)


@kernel
def has_passed(actuators, a, key):
    """Whether a target has come to a key; of the first, where it begins, whether it has set out."""
    paths = actuators.paths
    if has_goals(actuators.goals, a):
        return actuators.goals.miss[actuators.goals.first[a] + key] >= 0.0
    count = paths.first_segment[a + 1] - paths.first_segment[a]
    if key == 0:
        return actuators.lap[a] + actuators.segment[a] + actuators.u[a] > 0.0
    if actuators.lap[a] * count + actuators.segment[a] >= key:
        return True
    return key == count and paths.loops[a] == 0 and actuators.segment[a] == count - 1 and actuators.u[a] == 1.0


@kernel
def time_left(actuators, a, key):
    """How long the target of an actuator needs to a key that it has yet to pass, at full pace."""
    clocks, first = actuators.clocks, actuators.paths.first_segment[a]
    if has_goals(actuators.goals, a):
        return max(actuators.goals.time[actuators.goals.first[a] + key] - actuators.goals.now[0], 0.0)
    if key == 0:
        return 0.0
    if clocks.timed[a] == 1:
        return max(clocks.begin[first + key - 1] + clocks.span[first + key - 1] - clocks.time[a], 0.0)
    return length_left(actuators, a, key) / full_speed(actuators, a)


@kernel
def length_left(actuators, a, key):
    """How far the target of an actuator has yet to go to a key, along its path as it is now; m or rad."""
    paths, first = actuators.paths, actuators.paths.first_segment[a]
    here, turns, length = int(actuators.segment[a]), paths.turns[a] == 1, 0.0
    for s in range(here, key):
        length += segment_length(paths.segments[first + s], actuators.u[a] if s == here else 0.0, turns)
    return length


@kernel
def slow_down_as_published(actuators, agreed, m, dt_last):
    """The rule of the paper (section 5), kept to compare: each α times what a target needs at its present speed over
    what the slowest needs, at a constant damping ratio; and a little more after some steps without that."""
    slowest = 0.0
    for c in range(agreed.first[m], agreed.first[m + 1]):
        a = agreed.actuator[c]
        if agreed.left[c] < 0.0 or a < 0:
            continue
        length = length_left(actuators, a, agreed.key[c])
        gone = agreed.share[c] - length if agreed.since[m] > 0.0 else full_speed(actuators, a) * dt_last
        agreed.share[c] = length
        agreed.gets_on[c] = dt_last * length / gone if gone > 0.0 else math.inf
        slowest = max(slowest, agreed.gets_on[c])
    for c in range(agreed.first[m], agreed.first[m + 1]):
        a = agreed.actuator[c]
        if agreed.left[c] < 0.0 or a < 0 or not slowest > 0.0:
            continue
        ratio = agreed.gets_on[c] / slowest if agreed.gets_on[c] < math.inf else 1.0
        if ratio < 1.0:
            agreed.alpha[a, 0] = max(agreed.alpha[a, 0] * ratio, WEAKEST)
            agreed.alpha[a, 1] = 0.0
            set_alpha(actuators, agreed, a)


@kernel
def regain(actuators, agreed, a):
    """An α that has not been reduced for some steps grows again."""
    agreed.alpha[a, 1] += 1.0
    if agreed.alpha[a, 1] > PATIENCE:
        agreed.alpha[a, 0] = min(agreed.alpha[a, 0] * (1.0 + FASTER), 1.0)
    set_alpha(actuators, agreed, a)


@kernel
def set_alpha(actuators, agreed, a):
    share = agreed.alpha[a, 0]
    actuators.stiffness[a] = share * agreed.given[a, 0]
    actuators.damping[a] = math.sqrt(share) * agreed.given[a, 1]


@kernel(inline=True)
def full_speed(actuators, a):
    """On a straight path without times."""
    return actuators.base[a] * actuators.stiffness[a] / actuators.damping[a]


@kernel
def point_ahead(row, u, length, turns):
    """Where on a segment one is after a length from u on, which ends in it; also where its speed is none, for it turns
    back there, and tells nothing."""
    low, high = u, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if length_between(row, u, middle, turns) < length:
            low = middle
        else:
            high = middle
    return high


@kernel
def walk_on(actuators, a, i, u, length):
    """Where on a path without times one is who goes on by a length: the segment, where in it, how many laps on."""
    paths, first = actuators.paths, actuators.paths.first_segment[a]
    count, turns, laps = paths.first_segment[a + 1] - first, paths.turns[a] == 1, 0.0
    for _ in range(2 * count + 2):
        if length <= 0.0:  # also on a segment that leads nowhere
            break
        row = paths.segments[first + i]
        here, speed = norm(pose_at(row, u, turns)[1]), 0.0
        if here > 0.0:  # the speed half-way is good to the third order
            speed = norm(pose_at(row, min(u + 0.5 * length / here, 1.0), turns)[1])
        if not EVEN * here < speed < here / EVEN:
            rest = segment_length(row, u, turns)
            if rest > length:
                return i, point_ahead(row, u, length, turns), laps
            length -= rest
        elif speed * (1.0 - u) > length:
            return i, u + length / speed, laps
        else:
            length -= speed * (1.0 - u)
        if i + 1 < count:
            i, u = i + 1, 0.0
        elif paths.loops[a] == 1:
            i, u, laps = 0, 0.0, laps + 1.0
        else:
            return i, 1.0, laps
    return i, u, laps
