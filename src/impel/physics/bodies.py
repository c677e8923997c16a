"""Rigid bodies as flat arrays, and how they move when nothing holds them.

Each body sits at its centre of mass in its principal axes. The rotational state is the angular momentum
in the world's frame: it is constant in free flight, so that free flight conserves it to the last bit.
"""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats2, Integers, Integers2, kernel, struct
from impel.motion.rotations import (
    add,
    axpy,
    exponential,
    get3,
    get4,
    half_turn,
    multiply,
    renormalize,
    rotate,
    scale,
    set3,
    set4,
    unrotate,
)

Floats = NDArray[np.float64]


@struct
class Bodies:
    """N bodies. Fixed and key-framed ones have inverse mass and inertia 0 and move only as they are told."""

    position: Annotated[Floats2, 3]  # (N, 3) centre of mass
    orientation: Annotated[Floats2, 4]  # (N, 4) principal axes, unit quaternion (w, x, y, z)
    velocity: Annotated[Floats2, 3]  # (N, 3)
    momentum: Annotated[Floats2, 3]  # (N, 3) angular, about the centre of mass, world frame
    spin: Annotated[Floats2, 3]  # (N, 3) angular velocity, world frame; follows from the momentum
    force: Annotated[Floats2, 3]  # (N, 3) from contacts, at the present state
    torque: Annotated[Floats2, 3]  # (N, 3) from contacts, about the centre of mass
    push: Annotated[Floats2, 3]  # (N, 3) force of the actuators, held over the step
    twist: Annotated[Floats2, 3]  # (N, 3) torque of the actuators, held over the step
    asleep: Floats  # (N,) 1 while it sleeps, see sleep.py
    calm: Floats  # (N,) for how long it has been all but still, s
    mark: Annotated[Floats2, 7]  # (N, 7) where it was and how it was turned when that began
    felt: Annotated[Floats2, 6]  # (N, 6) force and torque when it fell asleep
    restless: Integers  # (N,) 1 for those that never sleep
    mass: Floats  # (N,) infinite where the body does not give way
    inverse_mass: Floats  # (N,)
    inertia: Annotated[Floats2, 3]  # (N, 3) principal
    inverse_inertia: Annotated[Floats2, 3]  # (N, 3)
    top: Annotated[Integers2, 3]  # (N, 3) the axes in the order used by `turn_freely`

    STATE = (
        "position", "orientation", "velocity", "momentum", "spin", "force", "torque", "push", "twist",
        "asleep", "calm", "mark", "felt",
    )  # fmt: skip


def make_bodies(
    position: Floats, orientation: Floats, velocity: Floats, spin: Floats, mass: Floats, inertia: Floats
) -> Bodies:
    """Gather bodies; a body with infinite mass is fixed or key-framed."""
    n = len(mass)
    free = np.isfinite(mass)
    inertia = np.array(inertia, float, order="C")
    inverse_inertia = np.where(free[:, None], 1.0 / np.where(free[:, None], inertia, 1.0), 0.0)
    bodies = Bodies(
        position=np.array(position, float, order="C").reshape(n, 3),
        orientation=np.array(orientation, float, order="C").reshape(n, 4),
        velocity=np.array(velocity, float, order="C").reshape(n, 3),
        momentum=np.zeros((n, 3)),
        spin=np.array(spin, float, order="C").reshape(n, 3),
        force=np.zeros((n, 3)),
        torque=np.zeros((n, 3)),
        push=np.zeros((n, 3)),
        twist=np.zeros((n, 3)),
        asleep=np.zeros(n),
        calm=np.zeros(n),
        mark=np.zeros((n, 7)),
        felt=np.zeros((n, 6)),
        restless=np.ones(n, np.int64),
        mass=np.array(mass, float),
        inverse_mass=np.where(free, 1.0 / np.where(free, mass, 1.0), 0.0),
        inertia=np.where(free[:, None], inertia, np.inf),
        inverse_inertia=inverse_inertia,
        top=np.array([_top_axes(row) for row in inverse_inertia], np.int64).reshape(n, 3),
    )
    _momentum_from_spin(bodies)
    return bodies


def _top_axes(inverse_inertia: Floats) -> tuple[int, int, int]:
    """The two axes whose inertias are most alike first, then the third: the nearest symmetric top."""
    pairs = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    return min(pairs, key=lambda p: abs(inverse_inertia[p[0]] - inverse_inertia[p[1]]))


@kernel(inline=True)
def weighted(q, by, v):
    """A vector of the world times a diagonal matrix of the body's frame."""
    m = unrotate(q, v)
    return rotate(q, (by[0] * m[0], by[1] * m[1], by[2] * m[2]))


@kernel(inline=True)
def spin_of(bodies, i, momentum):
    """Angular velocity that goes with an angular momentum, both in the world's frame."""
    return weighted(get4(bodies.orientation, i), get3(bodies.inverse_inertia, i), momentum)


@kernel
def _momentum_from_spin(bodies):
    for i in range(len(bodies.mass)):
        if bodies.inverse_mass[i] > 0.0:
            q = get4(bodies.orientation, i)
            set3(bodies.momentum, i, weighted(q, get3(bodies.inertia, i), get3(bodies.spin, i)))


@kernel(inline=True)
def _along(v, axis):
    return v[0] if axis == 0 else v[1] if axis == 1 else v[2]


@kernel(inline=True)
def _about_axis(axis, angle):
    c, s = half_turn(angle * angle)
    s *= angle
    return c, s if axis == 0 else 0.0, s if axis == 1 else 0.0, s if axis == 2 else 0.0


@kernel
def turn_freely(q, momentum, inverse_inertia, top, dt):
    """The orientation after dt of free rotation with a constant angular momentum.

    The kinetic energy is split into that of a symmetric top, whose motion is known in closed form, and
    the rest, a rotation about one axis (Dullweber, Leimkuhler and McLachlan 1997). Symplectic, reversible,
    second order, and exact for every symmetric body.
    """
    a, b, c = top[0], top[1], top[2]
    even = inverse_inertia[b]
    rest = inverse_inertia[a] - even
    if rest != 0.0:
        q = multiply(q, _about_axis(a, 0.5 * dt * rest * _along(unrotate(q, momentum), a)))
    along = inverse_inertia[c] - even
    if along != 0.0:
        q = multiply(q, _about_axis(c, dt * along * _along(unrotate(q, momentum), c)))
    q = multiply(exponential(scale(momentum, dt * even)), q)
    if rest != 0.0:
        q = multiply(q, _about_axis(a, 0.5 * dt * rest * _along(unrotate(q, momentum), a)))
    return renormalize(q)


@kernel
def kick(bodies, gravity, drag, dt):
    """Let the forces at the present state act for dt on the velocities. Called twice a step, with dt/2."""
    decay = math.exp(-drag * dt) if drag > 0.0 else 1.0
    for i in range(len(bodies.mass)):
        if bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            kick_one(bodies, i, gravity, decay, dt)


@kernel(inline=True)
def kick_one(bodies, i, gravity, decay, dt):
    force = add(get3(bodies.force, i), get3(bodies.push, i))
    v = axpy(dt * bodies.inverse_mass[i], force, get3(bodies.velocity, i))
    set3(bodies.velocity, i, scale(axpy(dt, gravity, v), decay))
    torque = add(get3(bodies.torque, i), get3(bodies.twist, i))
    momentum = scale(axpy(dt, torque, get3(bodies.momentum, i)), decay)
    set3(bodies.momentum, i, momentum)
    set3(bodies.spin, i, spin_of(bodies, i, momentum))


@kernel
def drift(bodies, dt):
    """Let the velocities act for dt on the places of bodies that nothing holds."""
    for i in range(len(bodies.mass)):
        if bodies.inverse_mass[i] > 0.0 and bodies.asleep[i] == 0.0:
            drift_one(bodies, i, dt)


@kernel(inline=True)
def drift_one(bodies, i, dt):
    set3(bodies.position, i, axpy(dt, get3(bodies.velocity, i), get3(bodies.position, i)))
    momentum = get3(bodies.momentum, i)
    q = turn_freely(get4(bodies.orientation, i), momentum, bodies.inverse_inertia[i], bodies.top[i], dt)
    set4(bodies.orientation, i, q)
    set3(bodies.spin, i, spin_of(bodies, i, momentum))


@kernel
def kinetic_energy(bodies):
    total = 0.0
    for i in range(len(bodies.mass)):
        if bodies.inverse_mass[i] > 0.0:
            for k in range(3):
                total += 0.5 * bodies.mass[i] * bodies.velocity[i, k] ** 2
                total += 0.5 * bodies.momentum[i, k] * bodies.spin[i, k]
    return total
