"""Actuators: limited forces and torques that pull bodies along their paths (paper 003, corrected).

`steer` is the control module of the paper's figure 6, evaluated once a step and held over it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.targets import advance_target
from impel.kernel import kernel
from impel.motion.paths import Paths
from impel.motion.rotations import (
    add,
    axpy,
    cross,
    dot,
    get3,
    get4,
    norm,
    rotate,
    scale,
    set3,
    sub,
    unrotate,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RESIDUAL = 0.3  # of the pull at base distance: what the correction may add beyond the weight (measured: no wind-up)


class Actuators(NamedTuple):
    """A actuators; actuator a follows path a with a force, or with a torque if its path turns."""

    body: Integers  # (A,)
    paths: Paths
    base: Floats  # (A,) base distance in metres, or base angle in radians
    stiffness: Floats  # (A,) 1/s²: 2α/Δt²
    damping: Floats  # (A,) 1/s: 2β/Δt
    adaptation: Floats  # (A,) 1/s: γ, how fast lasting loads are compensated
    strength: Floats  # (A,) N or N·m
    mass: Floats  # (A,) that a force has to move: the body and what it carries
    inertia: Floats  # (A, 3, 3) that a torque has to turn, in the body's frame
    lever: Floats  # (A, 3) mass times arm of what the torque lifts, in the body's frame
    # From here on: what changes from step to step.
    segment: Floats  # (A,) where the target is
    u: Floats  # (A,)
    lap: Floats  # (A,) how often a loop was closed
    correction: Floats  # (A, 3)
    momentum: Floats  # (A, 3) of what is moved, at the last step
    applied: Floats  # (A, 3) at the last step, after truncation
    axis: Floats  # (A, 3) of the way round that was taken, for turns near 180°
    saturated: Floats  # (A,) 1 while the strength is not enough
    done: Floats  # (A,) 1 since the last key was reached

    STATE = ("segment", "u", "lap", "correction", "momentum", "applied", "axis", "saturated", "done")


@kernel
def steer(bodies, actuators, gravity, dt_last):
    """Set the push and twist of every actuated body; dt_last is the length of the last step, 0 in the first."""
    for a in range(len(actuators.body)):
        body = actuators.body[a]
        set3(bodies.push, body, (0.0, 0.0, 0.0))
        set3(bodies.twist, body, (0.0, 0.0, 0.0))
    for a in range(len(actuators.body)):
        offset = advance_target(bodies, actuators, a)  # 1.1
        wish = pull(bodies, actuators, a, offset)  # 1.2
        correct(bodies, actuators, a, wish, gravity, dt_last)  # 1.3


@kernel(inline=True)
def inertia_times(actuators, a, q, v):
    """The felt inertia times a vector, both in the world's frame."""
    w = unrotate(q, v)
    tensor = actuators.inertia[a]
    return rotate(
        q,
        (
            tensor[0, 0] * w[0] + tensor[0, 1] * w[1] + tensor[0, 2] * w[2],
            tensor[1, 0] * w[0] + tensor[1, 1] * w[1] + tensor[1, 2] * w[2],
            tensor[2, 0] * w[0] + tensor[2, 1] * w[1] + tensor[2, 2] * w[2],
        ),
    )


@kernel
def pull(bodies, actuators, a, offset):
    """The force or torque towards the target: 003, eqs. 2 and 3, the latter with the sign that physics asks for."""
    body = actuators.body[a]
    stiffness = actuators.stiffness[a]
    damping = actuators.damping[a]
    if actuators.paths.turns[a] == 0:
        wish = axpy(-damping, get3(bodies.velocity, body), scale(offset, stiffness))
        return scale(wish, actuators.mass[a])
    q = get4(bodies.orientation, body)
    spin = get3(bodies.spin, body)
    wish = axpy(-damping, spin, scale(offset, stiffness))
    return add(inertia_times(actuators, a, q, wish), cross(spin, inertia_times(actuators, a, q, spin)))


@kernel
def correct(bodies, actuators, a, wish, gravity, dt_last):
    """Compensate lasting loads, keep to the strength, and apply: 003, eqs. 7 to 10.

    The load of the last step is what momentum changed by beyond what was applied. Eqs. 7 and 8 in terms of momentum
    are exact, so that the correction never invents a load.
    """
    body = actuators.body[a]
    turns = actuators.paths.turns[a] == 1
    q = get4(bodies.orientation, body)
    if turns:
        momentum = inertia_times(actuators, a, q, get3(bodies.spin, body))
        against = cross(gravity, rotate(q, get3(actuators.lever, a)))
    else:
        momentum = scale(get3(bodies.velocity, body), actuators.mass[a])
        against = scale(gravity, -actuators.mass[a])
    correction = get3(actuators.correction, a)
    if dt_last > 0.0:
        change = scale(sub(momentum, get3(actuators.momentum, a)), 1.0 / dt_last)
        load = sub(change, get3(actuators.applied, a))
        blend = -math.expm1(-actuators.adaptation[a] * dt_last)
        correction = axpy(-blend, add(load, correction), correction)
        correction = _without_windup(actuators, a, q, correction, against)
    total = add(wish, correction)
    size = norm(total)
    strength = actuators.strength[a]
    actuators.saturated[a] = 0.0
    if size > strength:
        total = scale(total, strength / size)
        actuators.saturated[a] = 1.0
    set3(actuators.correction, a, correction)
    set3(actuators.momentum, a, momentum)
    set3(actuators.applied, a, total)
    into = bodies.twist if turns else bodies.push
    set3(into, body, total)


@kernel
def _without_windup(actuators, a, q, correction, against):
    """Limit a correction to the weight that may hang on the body and a share of the pull.

    A body that an obstacle holds back would otherwise gather force and shoot off when it comes free.
    """
    heavy = dot(against, against)
    carried = (0.0, 0.0, 0.0)
    if heavy > 0.0:
        carried = scale(against, min(max(dot(correction, against) / heavy, 0.0), 1.0))
    rest = sub(correction, carried)
    size = norm(rest)
    limit = RESIDUAL * actuators.stiffness[a] * actuators.base[a]
    if actuators.paths.turns[a] == 0:
        limit *= actuators.mass[a]
    elif size > 0.0:
        limit *= dot(rest, inertia_times(actuators, a, q, rest)) / (size * size)
    if size > limit:
        correction = axpy(limit / size, rest, carried)
    size = norm(correction)
    if size > 0.5 * actuators.strength[a]:
        correction = scale(correction, 0.5 * actuators.strength[a] / size)
    return correction
