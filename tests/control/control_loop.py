"""A plain loop over control and free bodies, as small as can be, for the tests of this directory."""

import numpy as np

from impel.control.actuators import Actuators, steer
from impel.control.specs import ActuatorSpec, make_actuators
from impel.kernel import kernel
from impel.physics.bodies import Bodies, drift, kick, make_bodies

EARTH = (0.0, 0.0, -9.81)
NOWHERE = (0.0, 0.0, 0.0)

POSITION, VELOCITY, ORIENTATION, SPIN, TARGET, COLUMNS = (
    slice(0, 3),
    slice(3, 6),
    slice(6, 10),
    slice(10, 13),
    slice(13, 16),
    16,
)


@kernel
def _run(bodies, actuators, gravity, steps, dt_last, wall, release, trace):
    time = 0.0
    for i in range(len(steps)):
        dt = steps[i]
        steer(bodies, actuators, gravity, dt, dt_last)
        kick(bodies, gravity, 0.0, 0.5 * dt)
        drift(bodies, dt)
        time += dt
        bodies.force[0, 0] = 0.0
        into = bodies.position[0, 0] - wall
        if into > 0.0 and time < release:  # a stiff, damped wall across x that is taken away
            bodies.force[0, 0] = -bodies.mass[0] * max(4e4 * into + 200.0 * bodies.velocity[0, 0], 0.0)
        kick(bodies, gravity, 0.0, 0.5 * dt)
        dt_last = dt
        for k in range(3):
            trace[i, k] = bodies.position[0, k]
            trace[i, 3 + k] = bodies.velocity[0, k]
            trace[i, 10 + k] = bodies.spin[0, k]
        trace[i, 13], trace[i, 14], trace[i, 15] = actuators.segment[0], actuators.u[0], actuators.lap[0]
        for k in range(4):
            trace[i, 6 + k] = bodies.orientation[0, k]


def run(bodies, actuators, seconds, dt=1e-3, gravity=NOWHERE, wall=np.inf, release=0.0, steps=None, dt_last=0.0):
    """Step on and return times and body 0's trace (after each step)."""
    steps = np.full(round(seconds / dt), dt) if steps is None else steps
    trace = np.zeros((len(steps), COLUMNS))
    _run(bodies, actuators, gravity, steps, dt_last, float(wall), float(release), trace)
    return np.cumsum(steps), trace


def one_body(
    *specs: ActuatorSpec, at=(0.0, 0.0, 0.0), inertia=(0.02, 0.02, 0.02), mass=1.0
) -> tuple[Bodies, Actuators]:
    bodies = make_bodies(
        np.array([at]),
        np.array([[1.0, 0, 0, 0]]),
        np.zeros((1, 3)),
        np.zeros((1, 3)),
        np.array([mass]),
        np.array([inertia]),
    )
    actuators = make_actuators(specs, bodies, gravity=9.81)
    actuators.knows[:] = 0  # as in the paper: even the own weight has to be learnt
    return bodies, actuators


def move(keys, base=0.3, **more) -> ActuatorSpec:
    return ActuatorSpec(body=0, kind="move", keys=np.array(keys, float), base=base, **more)


def turn(keys, base, **more) -> ActuatorSpec:
    return ActuatorSpec(body=0, kind="turn", keys=np.array(keys, float), base=base, **more)
