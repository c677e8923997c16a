"""Actuators: limited forces and torques that pull bodies along their paths (paper 003, corrected).

`steer` is the control module of the paper's figure 6, evaluated once a step and held over it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.linkage import Linkage, gather, wished_rates
from impel.control.targets import advance_target, at_end, same_way_round
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, get4, norm, rotate, scale, set3, sub, unrotate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ARRIVED = 0.01  # of the base distance: the last key is reached when its body is so near
RESIDUAL = 0.3  # of the pull at base distance: what the correction may add beyond the weight (measured: no wind-up)


class Actuators(NamedTuple):
    """A actuators; actuator a follows path a with a force, or with a torque if its path turns."""

    body: Integers  # (A,)
    member: Integers  # (A,) the same body in the linkage
    turns: Integers  # (A,) 1 if its path is one of orientations
    loops: Integers  # (A,) 1 if its path closes
    first_segment: Integers  # (A + 1,)
    segments: Floats  # (S, COLUMNS) shared with the paths
    linkage: Linkage
    base: Floats  # (A,) base distance in metres, or base angle in radians
    stiffness: Floats  # (A,) 1/s²: 2α/Δt²
    damping: Floats  # (A,) 1/s: 2β/Δt
    adaptation: Floats  # (A,) 1/s: γ, how fast lasting loads are compensated
    strength: Floats  # (A,) N or N·m
    weight: Floats  # (A,) kg: what a force may have to carry
    felt: Floats  # (A, 3, 3) mass or inertia, carried bodies as points, in the body's frame
    # State: what goes on from step to step.
    target: Floats  # (A, 3) where the target is: segment of its path, u in [0, 1], and how often a loop was closed
    axis: Floats  # (A, 3) of the way round that was taken, for turns near 180°
    carried: Floats  # (A,) the share of the weight that the actuator has learnt to carry, 0 to 1
    residual: Floats  # (A, 3) what it compensates beyond that
    applied: Floats  # (A, 3) after truncation
    saturated: Floats  # (A,) 1 while the strength is not enough
    done: Floats  # (A,) 1 since the last key was reached
    last_velocity: Floats  # (M, 3) of the linkage's members when last seen
    last_momentum: Floats  # (M, 3)
    # Scratch of one step.
    wish: Floats  # (A, 3) acceleration
    pull: Floats  # (A, 3) force or torque

    STATE = (  # type: ignore[misc]
        "target", "axis", "carried", "residual", "applied", "saturated", "done", "last_velocity", "last_momentum",
    )  # fmt: skip


@kernel
def steer(bodies, actuators, gravity, dt_last):
    """Set the push and twist of every actuated body; dt_last is the length of the last step, 0 in the first.

    Each offset to a target should behave as a damped spring of its own, so eqs. 2 and 3 give wished accelerations;
    which forces achieve them follows from the mechanics of the linkage. (For a single body that is m·a, and J·a + ω∧Jω:
    the paper has the sign wrong.) The load that eqs. 7 and 8 look for is what momentum changed by in the last step
    beyond what was applied; in these terms they are exact for any motion, and never invent a load.
    """
    linkage = actuators.linkage
    count = len(actuators.body)

    for a in range(count):
        body = actuators.body[a]
        turns = actuators.turns[a] == 1
        segments = actuators.segments[actuators.first_segment[a] : actuators.first_segment[a + 1]]
        position = get3(bodies.position, body)
        orientation = get4(bodies.orientation, body)
        speed = get3(bodies.velocity, body)
        loops = actuators.loops[a] == 1
        # 1.1: the target
        offset = advance_target(segments, loops, turns, actuators.target[a], position, orientation, actuators.base[a])
        if not loops and at_end(segments, actuators.target[a]) and norm(offset) <= ARRIVED * actuators.base[a]:
            actuators.done[a] = 1.0
        # 1.2: the pull towards it
        if turns:
            offset = same_way_round(actuators.axis[a], offset)
            speed = get3(bodies.spin, body)
        set3(actuators.wish, a, axpy(-actuators.damping[a], speed, scale(offset, actuators.stiffness[a])))
    wished_rates(bodies, linkage, actuators.wish)
    gather(bodies.orientation, bodies.spin, linkage, 0.0)
    for a in range(count):
        k = actuators.member[a]
        if actuators.turns[a] == 1:
            set3(actuators.pull, a, get3(linkage.torque, k))
        elif linkage.move[k] == a:
            set3(actuators.pull, a, get3(linkage.force, k))
        else:  # not a root: what it hangs on takes its share
            set3(actuators.pull, a, scale(get3(actuators.wish, a), linkage.mass[k]))

    # 1.3: the correction, from the load of the last step
    if dt_last > 0.0:
        for k in range(len(linkage.body)):
            body = linkage.body[k]
            change = sub(get3(bodies.velocity, body), get3(actuators.last_velocity, k))
            set3(linkage.force, k, scale(change, bodies.mass[body] / dt_last))
            change = sub(get3(bodies.momentum, body), get3(actuators.last_momentum, k))
            set3(linkage.torque, k, scale(change, 1.0 / dt_last))
        gather(bodies.orientation, bodies.spin, linkage, 0.5 * dt_last)
    for k in range(len(linkage.body)):
        set3(actuators.last_velocity, k, get3(bodies.velocity, linkage.body[k]))
        set3(actuators.last_momentum, k, get3(bodies.momentum, linkage.body[k]))
    for a in range(count):
        k = actuators.member[a]
        turns = actuators.turns[a] == 1
        strength = actuators.strength[a]
        q = get4(bodies.orientation, actuators.body[a])
        if turns:
            against = cross(gravity, rotate(q, get3(linkage.lever, k)))
            rate = get3(linkage.torque, k)
        else:
            against = scale(gravity, -actuators.weight[a])
            rate = get3(linkage.force, k)
        share = actuators.carried[a]
        rest = get3(actuators.residual, a)
        if dt_last > 0.0:
            load = sub(rate, get3(actuators.applied, a))
            blend = -math.expm1(-actuators.adaptation[a] * dt_last)
            share, rest = adapt(share, rest, load, blend, against, 0.5 * strength)
            rest = limited(rest, q, actuators.felt[a], RESIDUAL * actuators.stiffness[a] * actuators.base[a])
            actuators.carried[a] = share
            set3(actuators.residual, a, rest)
        total = add(get3(actuators.pull, a), axpy(share, against, rest))
        size = norm(total)
        actuators.saturated[a] = 0.0
        if size > strength:
            total = scale(total, strength / size)
            actuators.saturated[a] = 1.0
        set3(actuators.applied, a, total)
        set3(bodies.twist if turns else bodies.push, actuators.body[a], total)


@kernel
def adapt(share, rest, load, blend, against, most):
    """Learn from a load (003, eqs. 9 and 10): the correction is a share of the weight, and a rest.

    The weight is remembered as a share so that its torque follows the pose at once. At most `most` in all.
    """
    correction = axpy(share, against, rest)
    correction = axpy(-blend, add(load, correction), correction)
    size = norm(correction)
    if size > most:
        correction = scale(correction, most / size)
    heavy = dot(against, against)
    share = 0.0
    if heavy > 0.0:
        share = min(max(dot(correction, against) / heavy, 0.0), 1.0)
    return share, axpy(-share, against, correction)


@kernel
def limited(rest, q, felt, acceleration):
    """A rest no larger than what gives the felt inertia such an acceleration.

    A body that an obstacle holds back would otherwise gather force, and shoot off when it comes free.
    """
    size = norm(rest)
    if size == 0.0:
        return rest
    n = unrotate(q, scale(rest, 1.0 / size))
    along = 0.0
    for i in range(3):
        along += n[i] * (felt[i, 0] * n[0] + felt[i, 1] * n[1] + felt[i, 2] * n[2])
    return scale(rest, min(1.0, acceleration * along / size))
