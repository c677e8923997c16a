"""Limbs: what lies between a body with goals and what holds it, such as the arm of a hand.

Goals lead one body; the rest of its limb would swing about for ever, and whirl where it stretches. A person lets the
elbow hang, and it comes to rest. So limbs are slowed down in all that goals, keys, joints and contacts leave free:
each body by −m·v/τ and −J·ω/τ, seen from what holds the limb, which feels the opposite. In the structure's own
coordinates that is −M·q̇/τ: every free motion dies away alike, whatever masses and joints there are, as e^(−t/τ). What
it does to the bodies that are led is known beforehand and made up for, and costs them nothing of their strength.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from impel.control.actuators import Actuators
from impel.control.goals import has_goals, is_idle
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, get3, get3_at, get4, scale, set3, sub
from impel.physics.bodies import Bodies, spin_of, weighted
from impel.physics.joints import HINGE, HOLDS, LOWER, UPPER, Joints

# A joint that is locked at a limit, such as an elbow that was pushed through, is bent off that by so many rad, at so
# many rad/s, which it takes up in so many s; and so many times for one goal.
BENT, BENDS, BENDS_WITHIN, OFTEN = 0.4, 5.0, 0.03, 3.0
RELAXED = 0.15  # s: τ; an elbow half a metre from the shoulder swings at 4 to 5 rad/s, and hangs still after one swing


def find_limbs(actuators: Actuators, bodies: Bodies, joints: Joints | None) -> NDArray[np.int64]:
    """(L, 2) the bodies of limbs, and what holds each: what cannot move, or is moved by keys.

    A limb is what joints tie between a body with goals and what holds that; what hangs on it by itself, such as a
    chain or a wheel, is none.
    """
    if joints is None:
        return np.zeros((0, 2), np.int64)
    aims = np.diff(actuators.goals.first) > 0
    led = set(actuators.body[aims].tolist())
    keyed = set(actuators.body[~aims & (actuators.paths.turns == 0)].tolist())
    ties: dict[int, set[int]] = {}
    for joint in joints.each:
        a, b = int(joint["a"]), int(joint["b"])
        if joints.broken[joint["index"]] == HOLDS:
            ties.setdefault(a, set()).add(b)
            ties.setdefault(b, set()).add(a)
    holds = {i for i in ties if bodies.inverse_mass[i] == 0.0 or (i in keyed and i not in led)}
    loose = deque(i for i in ties if len(ties[i]) == 1 and i not in holds | led)
    while loose:
        i = loose.popleft()
        for j in ties.pop(i):
            ties[j].discard(i)
            if len(ties[j]) == 1 and j not in holds | led:
                loose.append(j)
    found: dict[int, int] = {}
    for start in sorted(led & ties.keys()):
        found = _held_by(start, ties, holds) | found
    return np.array(sorted(found.items()), np.int64).reshape(-1, 2)


def _held_by(start: int, ties: dict[int, set[int]], holds: set[int]) -> dict[int, int]:
    """The bodies that hang together with one, up to what holds them, each with the nearest of what holds the first."""
    seen, queue, holder = {start}, deque([start]), -1
    while queue:
        i = queue.popleft()
        for j in sorted(ties[i] - seen):
            if j in holds:
                holder = j if holder < 0 else holder
            else:
                seen.add(j)
                queue.append(j)
    return dict.fromkeys(seen, holder) if holder >= 0 else {}


@kernel
def is_led(actuators, whole):
    """Whether bodies that hang together have goals before them."""
    led = False
    for a in range(len(actuators.body)):
        if actuators.whole[actuators.body[a]] == whole and has_goals(actuators.goals, a):
            led |= not is_idle(actuators.goals, a)
    return led


@kernel
def slack(bodies, i, holder):
    """The force and the torque that slow down a body of a limb."""
    arm = sub(get3(bodies.position, i), get3(bodies.position, holder))
    spin = get3(bodies.spin, holder)
    v = sub(get3(bodies.velocity, i), add(get3(bodies.velocity, holder), cross(spin, arm)))
    turning = sub(get3(bodies.momentum, i), weighted(get4(bodies.orientation, i), get3(bodies.inertia, i), spin))
    return scale(v, -bodies.mass[i] / RELAXED), scale(turning, -1.0 / RELAXED)


@kernel
def relax(bodies, joints, actuators, handles):
    """Slow down all limbs that are led, and bend their joints."""
    limbs, bow = handles.limbs, handles.bow
    if joints is not None and len(limbs) > 0:
        for k in range(len(joints.each)):
            joint = joints.each[k]
            if handles.bending[joint.index] != 0.0:
                force = get3_at(bow, joint.index, 0)
                _push(bodies, joint.a, force, get3_at(bow, joint.index, 3))
                _push(bodies, joint.b, scale(force, -1.0), get3_at(bow, joint.index, 6))
    for n in range(len(limbs)):
        i, holder = limbs[n, 0], limbs[n, 1]
        if is_led(actuators, actuators.whole[i]):
            force, torque = slack(bodies, i, holder)
            _push(bodies, i, force, torque)
            if bodies.inverse_mass[holder] > 0.0:
                arm = sub(get3(bodies.position, i), get3(bodies.position, holder))
                _push(bodies, holder, scale(force, -1.0), scale(add(torque, cross(arm, force)), -1.0))


@kernel(inline=True)
def _push(bodies, i, force, torque):
    set3(bodies.push, i, add(get3(bodies.push, i), force))
    set3(bodies.twist, i, add(get3(bodies.twist, i), torque))


@kernel
def foresee_slack(bodies, actuators, limbs, seen, fall, turning):
    """Leave in `fall` and `turning` the accelerations by this of bodies that are seen, if joints did nothing; are there
    any?"""
    found = False
    for n in range(len(limbs)):
        i, holder = limbs[n, 0], limbs[n, 1]
        if seen[actuators.whole[i]] == 1 and is_led(actuators, actuators.whole[i]):
            found = True
            force, torque = slack(bodies, i, holder)
            set3(fall, i, axpy(bodies.inverse_mass[i], force, get3(fall, i)))
            set3(turning, i, add(get3(turning, i), spin_of(bodies, i, torque)))
            if bodies.inverse_mass[holder] > 0.0:
                arm = sub(get3(bodies.position, i), get3(bodies.position, holder))
                back = scale(add(torque, cross(arm, force)), -1.0)
                set3(fall, holder, axpy(-bodies.inverse_mass[holder], force, get3(fall, holder)))
                set3(turning, holder, add(get3(turning, holder), spin_of(bodies, holder, back)))
    return found


@kernel
def can_bend(joints, handles, h, g):
    """Whether handle h is the limit of a hinge of a limb, which was not bent too often yet for goal g."""
    j, limbs = handles.source[h], handles.limbs
    if not (_in_limb(limbs, handles.body[h, 0]) or _in_limb(limbs, handles.body[h, 1])):
        return False
    for k in range(len(joints.each)):
        if joints.each[k].index == j:
            return joints.each[k].kind == HINGE and (handles.bent_for[j] != g or handles.bent[j] < OFTEN)
    return False


@kernel
def start_bending(joints, handles, j, g):
    handles.bent[j] = handles.bent[j] + 1.0 if handles.bent_for[j] == g else 1.0
    handles.bending[j], handles.bent_for[j] = joints.active[j], g


@kernel
def _in_limb(limbs, i):
    found = False
    for n in range(len(limbs)):
        found |= limbs[n, 0] == i
    return found


@kernel
def has_bent(joints, k, m, side):
    """Whether a limit of joint k, the lower one if the side is -1, is far enough away to leave it alone."""
    joint = joints.each[k]
    low, high = joints.fixed[k, LOWER + 2 * m], joints.fixed[k, UPPER + 2 * m]
    at = joints.coordinate[joint.index if m == 0 else joint.second]
    return (at - low if side < 0.0 else high - at) > min(BENT, 0.5 * (high - low))


@kernel(inline=True)
def bending_at(side, rate, ahead):
    """What a limit that a joint is bent off is asked for beyond what all are: not to stop the joint, which opens or
    closes at `rate`, but to open it."""
    return side * (BENDS + side * rate) / BENDS_WITHIN - 0.5 * rate / ahead if side != 0.0 else 0.0
