"""What happened in an accepted step, found by comparing the state before it with the state after it."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.control.appointments import ACTIVE
from impel.control.goals import is_met
from impel.control.targets import AGO, KEY, NEAREST
from impel.kernel import Floats2, kernel, struct
from impel.motion.rotations import get3, get3_at, norm, set3, sub
from impel.physics.broadphase import COUNT, LOAD, POINT
from impel.physics.friction import CRUSHED, THROUGH
from impel.physics.joints import BALL
from impel.physics.verdicts import DIVERGED, GOOD, REASONS
from impel.stage.moments import Moments, pass_moments
from impel.stage.state import Stage
from impel.takes import EVENT_KINDS

KINDS = EVENT_KINDS.index
PASSED, REACHED, BEGIN, END = map(KINDS, ("key passed", "key reached", "contact begins", "contact ends"))
LIMIT, SATURATED, REJECTED = map(KINDS, ("joint limit", "strength saturated", "step rejected"))
FLAT = KINDS("pressed flat")
SMALLEST, BROKE, MADE, LET_GO = map(KINDS, ("smallest step", "joint broke", "joint made", "joint let go"))
BEGINS, KEPT, MISSED = map(KINDS, ("appointment begins", "appointment kept", "appointment missed"))
MET, OFF, FREED = map(KINDS, ("goal met", "goal missed", "goal released"))
FAR_OFF = 0.1  # of its course: who is farther off was not late, but elsewhere
LATEST = 60.0  # s: who would be later than this would never come
CONE, TWIST = 2, 3  # the limits of a ball, as `other` tells them; 1 is the only one of a joint


@struct
class Events:
    """Rows that `notice` fills; Python empties them."""

    time: NDArray[np.float64]
    kind: NDArray[np.int64]
    subject: NDArray[np.int64]  # a body, joint or actuator, by the kind; of a rejected step, how often it was
    other: NDArray[np.int64]  # the other body, the key, the side of a limit, the verdict
    reason: NDArray[np.int64]  # the verdict on a smallest step
    lap: NDArray[np.int64]  # in which a key was reached
    steps: NDArray[np.int64]  # how many there were
    value: NDArray[np.float64]
    place: Floats2  # where a contact is, in the world
    count: NDArray[np.int64]  # (1,)
    most_per_step: int
    moments: Moments | None  # between frames, that are asked for


def make_events(stage: Stage, moments: Moments | None = None) -> Events:
    most = 2
    if stage.contacts is not None:
        most += 2 * len(stage.contacts.touching)
    if stage.joints is not None:
        most += len(stage.joints.active) + 2 * len(stage.joints.broken)
    if stage.actuators is not None:
        most += 2 * len(stage.actuators.appointments.state)
        most += 2 * len(stage.actuators.goals.time)
        most += 4 * len(stage.actuators.body) + int(stage.actuators.paths.first_segment[-1])
    size = 4 * most + 1000
    return Events(
        time=np.zeros(size),
        kind=np.zeros(size, np.int64),
        subject=np.zeros(size, np.int64),
        other=np.zeros(size, np.int64),
        reason=np.zeros(size, np.int64),
        lap=np.zeros(size, np.int64),
        steps=np.zeros(size, np.int64),
        value=np.zeros(size),
        place=np.zeros((size, 3)),
        count=np.zeros(1, np.int64),
        most_per_step=most,
        moments=moments,
    )


@kernel
def tell(events, time, kind, subject, other, value):
    n = events.count[0]
    events.time[n], events.kind[n], events.subject[n], events.other[n], events.value[n] = (
        time,
        kind,
        subject,
        other,
        value,
    )
    events.count[0] = n + 1


@kernel
def notice(now, before, events, clock, time, dt, verdict):
    """Write down what the accepted step that ends at `time` has brought."""
    if clock.rejected[0] > 0:
        tell(events, time, REJECTED, clock.rejected[0], clock.reason[0], dt)
        clock.rejected[0], clock.reason[0] = 0, GOOD
    if verdict != GOOD and clock.forced[0] == GOOD:  # told once for all steps in a row, when they are over
        clock.rough_since[0] = time - dt
        clock.rough_at[0], clock.rough_with[0] = _where_rough(now, before, verdict)
        clock.forced[0] = verdict
        clock.rough_steps[0] = 0
    if verdict != GOOD:
        clock.rough_steps[0] += 1
    if verdict == GOOD and clock.forced[0] != GOOD:
        tell_rough(events, clock, time - dt)
        clock.forced[0] = GOOD
    _notice_contacts(now.bodies, now.contacts, before.contacts, events, time)
    _notice_joints(now.joints, before.joints, events, time)
    _notice_actuators(now.actuators, before.actuators, events, time, dt)
    _notice_goals(now.actuators, before.actuators, events, time)
    pass_moments(events.moments, now.bodies, before.bodies, time - dt, dt)


@kernel
def tell_rough(events, clock, end):
    """Tell of a run of steps that were taken although they went badly; it ended at `end`."""
    n = events.count[0]
    events.reason[n], events.steps[n] = clock.forced[0], clock.rough_steps[0]
    since = clock.rough_since[0]
    tell(events, since, SMALLEST, clock.rough_at[0], clock.rough_with[0], end - since)


@kernel
def _where_rough(now, before, verdict):
    """Where a step went badly: at the joint whose bodies were jolted most, or with the two bodies that press each
    other most; -1 if there is none."""
    if verdict == DIVERGED:
        return _jolted_joint(now.bodies, before.bodies, now.joints), -1
    return _pressing_pair(now.bodies, now.contacts)


@kernel
def _pressing_pair(bodies, contacts):
    one, other, most = -1, -1, -1.0
    if contacts is not None:
        for p in range(contacts.near.info[COUNT]):
            if contacts.touching[p] != 0.0:
                a, b = contacts.pair[p, 0], contacts.pair[p, 1]
                blow = contacts.place[p, LOAD] * max(bodies.inverse_mass[a], bodies.inverse_mass[b])
                if blow > most:
                    one, other, most = a, b, blow
    return one, other


@kernel
def _jolted_joint(bodies, before, joints):
    worst, most = -1, -1.0
    if joints is not None:
        for k in range(len(joints.each)):
            joint = joints.each[k]
            jolt = 0.0
            for i in (joint.a, joint.b):
                jolt += norm(sub(get3(bodies.velocity, i), get3(before.velocity, i)))
            if jolt > most:
                worst, most = joint.index, jolt
    return worst


@kernel
def _notice_contacts(bodies, now, before, events, time):
    if now is None:
        return
    for p in range(now.near.info[COUNT]):
        if now.friction[p, CRUSHED] == THROUGH and before.friction[p, CRUSHED] != THROUGH:
            loose = 0 if bodies.inverse_mass[now.pair[p, 0]] > 0.0 else 1
            tell(events, time, FLAT, now.pair[p, loose], now.pair[p, 1 - loose], now.place[p, LOAD])
        if now.touching[p] != before.touching[p]:
            kind = BEGIN if now.touching[p] == 1.0 else END
            set3(events.place, events.count[0], get3_at(now.place, p, POINT))
            tell(events, time, kind, now.pair[p, 0], now.pair[p, 1], now.place[p, LOAD])


@kernel
def _notice_joints(now, before, events, time):
    if now is None:
        return
    for k in range(len(now.each)):
        joint = now.each[k]
        for n in range(joint.limits):
            slot = joint.index if n == 0 else joint.second
            if now.active[slot] != 0.0 and before.active[slot] == 0.0:
                which = 1 if joint.kind != BALL else CONE + n
                tell(events, time, LIMIT, joint.index, which * int(now.active[slot]), now.coordinate[slot])
    _notice_breaks(now.breaks, now, before, events, time)


@kernel
def _notice_breaks(breaks, now, before, events, time):
    if breaks is None:
        return
    for j in range(len(now.broken)):
        if now.broken[j] != before.broken[j]:
            what = 0 if now.load[j, 0] > breaks[j, 0] else 1
            tell(events, time, BROKE, j, what, now.load[j, what])


@kernel
def _notice_actuators(now, before, events, time, dt):
    if now is None:
        return
    for a in range(len(now.body)):
        pass_time = time - dt if now.clocks.runs[a] == 1.0 else time  # a clock passes keys where the step begins
        segments = now.paths.first_segment[a + 1] - now.paths.first_segment[a]
        loops = now.paths.loops[a] == 1
        passed = int(before.lap[a]) * segments + int(before.segment[a])
        reached = int(now.lap[a]) * segments + int(now.segment[a])
        for k in range(passed + 1, reached + 1):
            tell(events, pass_time, PASSED, a, k % segments if loops else k, k // segments)
        if not loops and _at_end(now, a, segments) and not _at_end(before, a, segments):
            tell(events, pass_time, PASSED, a, segments, 0)
        key = int(now.reached[a, KEY])
        if key != int(before.reached[a, KEY]):
            events.lap[events.count[0]] = key // segments
            when = time - now.reached[a, AGO]
            tell(events, when, REACHED, a, key % segments if loops else key, now.reached[a, NEAREST])
        if now.done[a] == 1.0 and before.done[a] == 0.0:
            events.lap[events.count[0]] = 0
            tell(events, time, REACHED, a, segments, norm(get3(now.offset, a)))
        if now.saturated[a] == 1.0 and before.saturated[a] == 0.0:
            tell(events, time, SATURATED, a, 0, now.strength[a])
    for m in range(len(now.appointments.state)):
        for state in range(int(before.appointments.state[m]) + 1, int(now.appointments.state[m]) + 1):
            if state == ACTIVE or state == now.appointments.state[m]:
                tell(events, time - dt, BEGINS + state - ACTIVE, m, 0, now.appointments.since[m])


@kernel
def _notice_goals(now, before, events, time):
    if now is None or len(now.goals.time) == 0:
        return
    goals, were = now.goals, before.goals
    for a in range(len(now.body)):
        if goals.current[a] == were.current[a] and goals.holding[a] == were.holding[a]:
            continue
        for g in range(int(were.current[a]), min(int(goals.current[a]) + 1, goals.first[a + 1])):
            if goals.miss[g] != were.miss[g] and goals.written[g] >= 0:
                met = is_met(goals, a, g, now.paths.turns[a] == 1)
                far = goals.miss[g] > FAR_OFF * goals.way[g]
                events.place[events.count[0], 0] = math.inf if far else goals.late[g]
                tell(events, goals.time[g], MET if met else OFF, a, g - goals.first[a], goals.miss[g])
            if goals.freed[g] != were.freed[g]:
                tell(events, time, FREED, a, g - goals.first[a], 0.0)


@kernel(inline=True)
def _at_end(actuators, a, segments):
    return actuators.segment[a] == segments - 1 and actuators.u[a] == 1.0


def _about_goal(label: str, goal: int | None, kind: int, value: float) -> dict[str, Any]:
    if kind == FREED:
        return {"goal": goal}
    return (
        {"goal": goal, "angle": math.degrees(value)} if label.endswith(".turn") else {"goal": goal, "distance": value}
    )


def _added(told: list[dict[str, Any]], time: float, kind: str, subject: str, details: dict[str, Any]) -> bool:
    """Add what became of an orientation to what became of the place of the same goal, if that is told: it is met if
    both are."""
    alike = ("goal released",) if kind == "goal released" else ("goal met", "goal missed")
    for event in reversed(told):
        if event["time"] < time and event["kind"] not in alike:
            break
        same = event["time"] == time and event["kind"] in alike and event["subject"] == subject
        if same and event["details"]["goal"] == details["goal"]:
            event["kind"] = max(event["kind"], kind)  # "goal missed" comes after "goal met"
            lates = [each["late"] for each in (event["details"], details) if "late" in each]
            event["details"] |= details
            if lates:
                event["details"]["late"] = None if None in lates else max(lates, key=abs)
            return True
    return False


def drain(
    events: Events,
    bodies: list[str],
    joints: list[str],
    actuators: list[str],
    keys: list[list[int | None]],
    appointments: list[str],
) -> list[dict[str, Any]]:
    """Empty the rows into events as a take keeps them, with names, keys as they were written, and plain details."""
    told: list[dict[str, Any]] = []
    for n in range(int(events.count[0])):
        kind, subject, other = int(events.kind[n]), int(events.subject[n]), int(events.other[n])
        value = float(events.value[n])
        details: dict[str, Any] = {}
        if kind in (PASSED, REACHED):
            key = keys[subject][other]
            if key is None:  # of the path only
                continue
            name, details = actuators[subject], {"key": key, "lap": int(value)}
            if kind == REACHED:
                distance = math.degrees(value) if name.endswith(".turn") else value
                details = {"key": key, "lap": int(events.lap[n]), "distance": distance}
        elif kind == BEGIN:
            name = bodies[subject]
            details = {"with": bodies[other], "force": value, "at": events.place[n].tolist()}
        elif kind == FLAT:
            name, details = bodies[subject], {"with": bodies[other]}
        elif kind == END:
            name, details = bodies[subject], {"with": bodies[other], "at": events.place[n].tolist()}
        elif kind == LIMIT:
            name, details = joints[subject], {"side": "upper" if other > 0 else "lower"}
            if abs(other) > 1:
                details["limit"] = "cone" if abs(other) == CONE else "twist"
        elif kind == BROKE:
            name, details = joints[subject], {"torque" if other else "force": value}
        elif kind == SATURATED:
            name, details = actuators[subject], {"strength": value}
        elif kind in (MET, OFF, FREED):
            label = actuators[subject]
            name, details = label.rpartition(".")[0], _about_goal(label, keys[subject][other], kind, value)
            if kind == OFF:
                late = float(events.place[n, 0])
                details["late"] = late if abs(late) <= LATEST else None
            if _added(told, float(events.time[n]), EVENT_KINDS[kind], name, details):
                continue
        elif kind in (MADE, LET_GO):
            name = joints[subject]
        elif kind >= BEGINS:
            name, details = appointments[subject], {"after": value} if kind > BEGINS else {}
        elif kind == REJECTED:
            name, details = "step", {"reason": REASONS[other], "step": value, "times": subject}
        else:
            reason = int(events.reason[n])
            where = [f"joints.{joints[subject]}"] if reason == DIVERGED and subject >= 0 else []
            where = where or [bodies[i] for i in (subject, other) if i >= 0]
            steps = int(events.steps[n])
            name, details = "step", {"reason": REASONS[reason], "steps": steps, "seconds": value, "where": where}
        told.append({"time": float(events.time[n]), "kind": EVENT_KINDS[kind], "subject": name, "details": details})
    events.count[0] = 0
    return told
