"""Actuators: limited forces and torques that pull bodies along their paths (paper 003, corrected).

`steer` is the control module of the paper's figure 6, evaluated once a step and held over it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from impel.control.crews import Crews, work_together
from impel.control.linkage import Linkage, gather, measured_rates, wished_rates
from impel.control.targets import advance_targets
from impel.kernel import Floats2, kernel, struct
from impel.motion.paths import Paths
from impel.motion.rotations import add, axpy, cross, dot, get3, get4, norm, rotate, scale, set3, sub, unrotate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RESIDUAL = 0.3  # of the pull at base distance: what the correction may add beyond the weight (measured: no wind-up)

# What holds an actuator's body back. What is loose is a load, to be carried. Joints can do so for long, and let it
# shoot off afterwards; so can what is immovable, but only along its normal (see `press_less`): else it is nothing.
# What comes through the air is to be withstood.
NOTHING, LOOSE, JOINTS = 0.0, 1.0, 2.0

TINY = 1e-300
LIFT, LIFT_MOST = 0.1, 0.02  # of the base distance, and m: what stands is let stand until its target is so much higher
TOO_FAST = 1.2  # times the speed that it should have: what still pushes it on ...
FORGET = 4.0  # ... is forgotten so many times faster than it was learnt


@struct
class Actuators:
    """A actuators; actuator a follows path a with a force, or with a torque if its path turns."""

    body: Integers  # (A,)
    member: Integers  # (A,) the same body in the linkage
    paths: Paths
    linkage: Linkage
    crews: Crews | None  # of those whom the linkage cannot tell what they feel, if joints can
    base: Floats  # (A,) base distance in metres, or base angle in radians
    limit: Floats  # (A,) the same as targets.py measures it
    enough: Floats  # (A,)
    stiffness: Floats  # (A,) 1/s²: 2α/Δt²
    damping: Floats  # (A,) 1/s: 2β/Δt
    adaptation: Floats  # (A,) 1/s: γ, how fast lasting loads are compensated
    strength: Floats  # (A,) N or N·m
    most_wish: Floats  # (A,) m/s²: what takes the place of a strength where the inertia changes with the pose
    weight: Floats  # (A,) kg: what a force may have to carry
    anchored: Integers  # (A,) 1 if joints may hold its body back
    whole: Integers  # (N,) bodies with the same number hang together
    firm: Integers  # (N,) 1 for what is immovable, or welded to it
    # State: what goes on from step to step.
    segment: Floats  # (A,) where the target is
    u: Floats  # (A,)
    lap: Floats  # (A,) how often a loop was closed
    pose: Floats2  # (A, 4) of the target: (x, y, z, 0), or an orientation
    tangent: Floats2  # (A, 3) its velocity by u
    offset: Floats2  # (A, 3) from the body to its target; near 180° it remembers which way round was taken
    carried: Floats  # (A,) how many times its weight the actuator has learnt to carry; above 1 for what is loose
    residual: Floats2  # (A, 3) what it compensates beyond that
    leaning: Floats  # (A,) which share of what it moves stands on something, until it is lifted
    applied: Floats2  # (A, 3) after truncation
    saturated: Floats  # (A,) 1 while the strength is not enough
    done: Floats  # (A,) 1 since the last key was reached
    last_velocity: Floats2  # (M, 3) of the linkage's members when last seen
    last_momentum: Floats2  # (M, 3)
    last_rate: Floats2  # (A, 3) velocity or spin of a crew's bodies
    # Scratch of one step.
    held_by: Floats  # (A,) NOTHING, LOOSE or JOINTS
    standing: Floats  # (A,) kg: bodies that it moves and that stand on something
    wish: Floats2  # (A, 3) acceleration
    pull: Floats2  # (A, 3) force or torque
    against: Floats2  # (A, 3) what would carry its weight
    met: Floats2  # (A, 3) what must have acted on it in the last step
    rate: Floats2  # (A, 3) acceleration of a crew's bodies

    STATE = (
        "segment", "u", "lap", "pose", "tangent", "offset", "carried", "residual", "leaning", "applied", "saturated",
        "done", "last_velocity", "last_momentum", "last_rate",
    )  # fmt: skip


@kernel
def steer(bodies, actuators, gravity, dt_last):
    """Set the push and twist of every actuated body; dt_last is the length of the last step, 0 in the first."""
    advance_targets(bodies, actuators)  # 1.1
    pull(bodies, actuators)  # 1.2
    correct(bodies, actuators, gravity, dt_last)  # 1.3


@kernel
def pull(bodies, actuators):
    """Box 1.2: forces and torques towards the targets (003, eqs. 2 and 3).

    Each offset should behave as a damped spring of its own, so the equations give wished accelerations; which forces
    achieve them follows from the mechanics of the linkage. (For a single body that is m·a, and J·a + ω∧Jω: the paper
    has the sign wrong.)
    """
    linkage = actuators.linkage
    for a in range(len(actuators.body)):
        wish = axpy(
            -actuators.damping[a],
            rate_of(bodies, actuators, a),
            scale(get3(actuators.offset, a), actuators.stiffness[a]),
        )
        set3(actuators.wish, a, limit_size(wish, actuators.most_wish[a]))
    wished_rates(bodies, linkage, actuators.wish)
    gather(bodies, linkage, 0.0)
    for a in range(len(actuators.body)):
        k = actuators.member[a]
        if actuators.paths.turns[a] == 1:
            set3(actuators.pull, a, get3(linkage.torque, k))
        elif linkage.move[k] == a:
            set3(actuators.pull, a, get3(linkage.force, k))
        else:  # not a root: what it hangs on takes its share
            set3(actuators.pull, a, scale(get3(actuators.wish, a), linkage.mass[k]))
    work_together(actuators.crews, actuators.wish, actuators.pull)


@kernel
def correct(bodies, actuators, gravity, dt_last):
    """Box 1.3: compensate lasting loads, keep to the strength, and apply (003, eqs. 7 to 10).

    The load of the last step is what momentum changed by beyond what was applied. In these terms eqs. 7 and 8 are exact
    for any motion, and never invent a load.
    """
    linkage = actuators.linkage
    if dt_last > 0.0:
        meet_loads(bodies, actuators, actuators.crews, dt_last)
    remember_motion(bodies, actuators, actuators.crews)
    feel_weights(bodies, actuators, actuators.crews, gravity)
    blend = 0.0
    for a in range(len(actuators.body)):
        body = actuators.body[a]
        k = actuators.member[a]
        turns = actuators.paths.turns[a] == 1
        against = get3(actuators.against, a)
        strength = actuators.strength[a]
        lifted = 1.0 if turns or actuators.leaning[a] == 0.0 else lift(actuators, a)
        short = False
        if dt_last > 0.0:
            load = sub(get3(actuators.met, a), get3(actuators.applied, a))
            if lifted < 1.0:
                load = level(load, against, actuators.carried[a], get3(actuators.residual, a))
            if a == 0 or actuators.adaptation[a] != actuators.adaptation[a - 1]:  # an exponential is dear
                blend = -math.expm1(-actuators.adaptation[a] * dt_last)
            held_by = actuators.held_by[a]
            most_weight = math.inf if held_by == LOOSE else 1.0
            share, rest, short = adapt(
                actuators.carried[a], get3(actuators.residual, a), load, blend, against, 0.5 * strength, most_weight
            )
            limit = RESIDUAL * actuators.stiffness[a] * actuators.base[a]
            if turns and held_by == JOINTS:
                rest = limit_torque(rest, get4(bodies.orientation, body), linkage.inertia[k], limit)
            elif not turns and held_by == JOINTS:
                rest = limit_size(rest, limit * actuators.weight[a])
            if not turns:
                rest = slow_down(rest, get3(bodies.velocity, body), actuators, a, blend)
            actuators.carried[a] = share
            set3(actuators.residual, a, rest)
        correction = axpy(lifted * actuators.carried[a], against, get3(actuators.residual, a))
        total = add(get3(actuators.pull, a), correction)
        actuators.saturated[a] = 1.0 if short or dot(total, total) > strength * strength else 0.0
        total = limit_size(total, strength)
        set3(actuators.applied, a, total)
        set3(bodies.twist if turns else bodies.push, body, total)


@kernel
def remember_motion(bodies, actuators, crews):
    linkage = actuators.linkage
    for k in range(len(linkage.body)):
        set3(actuators.last_velocity, k, get3(bodies.velocity, linkage.body[k]))
        set3(actuators.last_momentum, k, get3(bodies.momentum, linkage.body[k]))
    if crews is not None:
        for d in range(len(crews.worker)):
            a = crews.worker[d]
            set3(actuators.last_rate, a, rate_of(bodies, actuators, a))


@kernel(inline=True)
def rate_of(bodies, actuators, a):
    """Velocity of what an actuator moves, or spin of what it turns."""
    return get3(bodies.spin if actuators.paths.turns[a] == 1 else bodies.velocity, actuators.body[a])


@kernel
def meet_loads(bodies, actuators, crews, dt_last):
    """What must have acted on the body of each actuator, and on what hangs on it, in the last step."""
    linkage = actuators.linkage
    measured_rates(bodies, linkage, actuators.last_velocity, actuators.last_momentum, dt_last)
    gather(bodies, linkage, 0.5 * dt_last)
    for a in range(len(actuators.body)):
        k = actuators.member[a]
        set3(actuators.met, a, get3(linkage.torque if actuators.paths.turns[a] == 1 else linkage.force, k))
    if crews is not None:
        for d in range(len(crews.worker)):
            a = crews.worker[d]
            change = sub(rate_of(bodies, actuators, a), get3(actuators.last_rate, a))
            set3(actuators.rate, a, scale(change, 1.0 / dt_last))
        work_together(crews, actuators.rate, actuators.met)


@kernel
def feel_weights(bodies, actuators, crews, gravity):
    """What would carry the weight of the body of each actuator, and of what hangs on it."""
    linkage = actuators.linkage
    for a in range(len(actuators.body)):
        if actuators.paths.turns[a] == 1:
            lever = rotate(get4(bodies.orientation, actuators.body[a]), get3(linkage.lever, actuators.member[a]))
            set3(actuators.against, a, cross(gravity, lever))
        else:
            set3(actuators.against, a, scale(gravity, -actuators.weight[a]))
    if crews is not None:
        for d in range(len(crews.worker)):
            set3(actuators.rate, crews.worker[d], scale(get3(crews.fall, d), -1.0))
        work_together(crews, actuators.rate, actuators.against)


@kernel
def lift(actuators, a):
    """Which share of its weight to take off what it stands on: rolling and sliding need weight, leaping does not."""
    up = get3(actuators.against, a)
    height = dot(get3(actuators.offset, a), up) / max(norm(up), TINY)
    share = min(max(height / min(LIFT * actuators.base[a], LIFT_MOST), 0.0), 1.0)
    standing = actuators.leaning[a]
    if share == 1.0:
        actuators.leaning[a] = 0.0
    return 1.0 - standing * (1.0 - share)


@kernel
def level(load, against, share, rest):
    """A load, but upwards such that nothing is learnt from it: what stands on something does not feel its weight."""
    correction = axpy(share, against, rest)
    missing = dot(add(load, correction), against) / max(dot(against, against), TINY)
    return axpy(-missing, against, load)


@kernel
def slow_down(rest, velocity, actuators, a, blend):
    """What is compensated, less what pushes on a body that is too fast already: an obstacle has given way."""
    steady = actuators.base[a] * actuators.stiffness[a] / max(actuators.damping[a], TINY)
    speed2 = dot(velocity, velocity)
    along = dot(rest, velocity)
    if along > 0.0 and speed2 > (TOO_FAST * steady) ** 2:
        return axpy(-min(FORGET * blend, 1.0) * along / speed2, velocity, rest)
    return rest


@kernel
def press_less(bodies, actuators, a, normal):
    """Limit with how much the correction presses into something immovable, that pushes along this normal.

    Along it friction can be overcome; through it there is no way, and what has gathered would let the body shoot off.
    """
    rest = get3(actuators.residual, a)
    into = dot(rest, normal)
    limit = RESIDUAL * actuators.stiffness[a] * actuators.base[a]
    if actuators.paths.turns[a] == 1:
        k = actuators.member[a]
        about = scale(normal, into)
        across = limit_torque(
            sub(rest, about), get4(bodies.orientation, actuators.body[a]), actuators.linkage.inertia[k], limit
        )
        set3(actuators.residual, a, add(about, across))
    elif into < -limit * actuators.weight[a]:
        set3(actuators.residual, a, axpy(-limit * actuators.weight[a] - into, normal, rest))


@kernel
def adapt(share, rest, load, blend, against, most, most_weight):
    """Learn from a load (003, eqs. 9 and 10): the correction is a multiple of the weight, and a rest; is more needed
    than what the strength leaves for it?

    The weight is remembered as a share so that its torque follows the pose at once. The rest is limited afterwards: a
    body that an obstacle holds back would gather force, and shoot off when it comes free.
    """
    correction = axpy(share, against, rest)
    correction = axpy(-blend, add(load, correction), correction)
    short = dot(correction, correction) > most * most
    correction = limit_size(correction, most)
    heavy = dot(against, against)
    share = 0.0
    if heavy > 0.0:
        share = min(max(dot(correction, against) / heavy, 0.0), most_weight)
    return share, axpy(-share, against, correction), short


@kernel(inline=True)
def limit_size(v, most):
    size2 = dot(v, v)
    if size2 <= most * most:
        return v
    return scale(v, most / math.sqrt(size2))


@kernel
def limit_torque(torque, q, inertia, acceleration):
    """A torque no larger than what gives the inertia about its own direction such an acceleration."""
    t = unrotate(q, torque)
    size2 = dot(t, t)
    across = 0.0
    for i in range(3):
        across += t[i] * (inertia[i, 0] * t[0] + inertia[i, 1] * t[1] + inertia[i, 2] * t[2])
    most = acceleration * across  # times size²
    if size2 * size2 * size2 <= most * most:
        return torque
    return scale(torque, most / (size2 * math.sqrt(size2)))
