"""Scenes of jointed bodies for the tests and the benchmark: ours, and the same in MuJoCo."""

import mujoco
import numpy as np

from impel.kernel import kernel, replace
from impel.physics.assembly import assemble
from impel.physics.bodies import kick, kinetic_energy, make_bodies
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import make_joints
from impel.physics.rattle import hold_positions, hold_velocities
from impel.physics.verdicts import IMPRECISE

GRAVITY = (0.0, 0.0, -9.81)
NOTHING_TOLD = np.zeros((0, 13))


@kernel
def advance(bodies, joints, gravity, dt, steps, told):
    """Take steps without contact; `told` gives place, velocity and spin of body 0 after each, if it is key-framed."""
    for n in range(steps):
        if len(told) > 0:
            for k in range(3):
                bodies.position[0, k] = told[n, k]
                bodies.velocity[0, k] = told[n, 7 + k]
                bodies.spin[0, k] = told[n, 10 + k]
            for k in range(4):
                bodies.orientation[0, k] = told[n, 3 + k]
        kick(bodies, gravity, 0.0, 0.5 * dt)
        verdict = hold_positions(bodies, joints, gravity, dt, False)
        if verdict > IMPRECISE:  # that would be halved in a scene; a fixed step takes it
            return verdict
        kick(bodies, gravity, 0.0, 0.5 * dt)
        hold_velocities(bodies, joints)
    return 0


def follow(bodies, joints, seconds, *, dt=1e-3, every=10, gravity=GRAVITY, told=NOTHING_TOLD):
    """Positions (F, N, 3), orientations (F, N, 4) and total energies (F,) every so many steps, start included."""
    frames = round(seconds / dt / every)
    positions, orientations, energies = [], [], []
    for frame in range(frames + 1):
        if frame > 0:
            verdict = advance(bodies, joints, gravity, dt, every, told[(frame - 1) * every :][:every])
            assert verdict == 0
        positions.append(bodies.position.copy())
        orientations.append(bodies.orientation.copy())
        energies.append(energy(bodies, gravity))
    return np.array(positions), np.array(orientations), np.array(energies)


def energy(bodies, gravity=GRAVITY):
    free = bodies.inverse_mass > 0
    return kinetic_energy(bodies) - np.sum(bodies.mass[free, None] * bodies.position[free] * gravity)


def momenta(bodies):
    """Total momentum and angular momentum about the origin."""
    free = bodies.inverse_mass > 0
    p = bodies.mass[free, None] * bodies.velocity[free]
    return p.sum(0), (np.cross(bodies.position[free], p) + bodies.momentum[free]).sum(0)


def bodies_at(positions, *, mass=1.0, inertia=(0.01, 0.02, 0.025), velocity=0.0, spin=0.0, fixed=1, orientations=None):
    """Bodies of which the first `fixed` cannot move."""
    n = len(positions)
    masses = np.broadcast_to(np.asarray(mass, float), n).copy()
    masses[:fixed] = np.inf
    turn = np.tile([1.0, 0, 0, 0], (n, 1)) if orientations is None else orientations
    return make_bodies(
        np.asarray(positions, float),
        turn,
        np.broadcast_to(np.asarray(velocity, float), (n, 3)),
        np.broadcast_to(np.asarray(spin, float), (n, 3)),
        masses,
        np.broadcast_to(np.asarray(inertia, float), (n, 3)),
    )


def jointed(bodies, *specs, full=True):
    """Joints, closed. `full`: with curves and surfaces even if there are none, so that tests share one compilation."""
    joints = make_joints(specs, bodies)
    if full:
        joints = replace(
            joints,
            curves=np.zeros((1, 13)) if joints.curves is None else joints.curves,
            surfaces=np.zeros(len(specs), np.int64) if joints.surfaces is None else joints.surfaces,
        )
    assert assemble(bodies, joints) < 1e-11
    return joints


LINKS, LENGTH, RADIUS, MASS = 9, 0.3, 0.03, 0.1  # the chain: number, m, m, kg


def link_inertia(mass):
    """A solid cylinder along x."""
    across = mass * (3 * RADIUS**2 + LENGTH**2) / 12
    return np.array([mass * RADIUS**2 / 2, across, across])


def chain(kind, tip=1.0, *, full=False):
    """A chain released straight and level, its first joint to the world; its last link weighs `tip` links."""
    masses = np.r_[np.inf, np.full(LINKS - 1, MASS), MASS * tip]
    bodies = bodies_at(
        [(0, 0, 0)] + [((i + 0.5) * LENGTH, 0, 0) for i in range(LINKS)],
        mass=masses,
        inertia=[np.ones(3)] + [link_inertia(m) for m in masses[1:]],
    )
    return bodies, jointed(
        bodies, *[JointSpec(kind, i, i + 1, (i * LENGTH, 0, 0), axis=(0, 1, 0)) for i in range(LINKS)], full=full
    )


def mujoco_chain(kind, tip=1.0, *, integrator="RK4", dt=1e-4):
    opened, closed = "", ""
    for i in range(LINKS):
        mass = MASS * (tip if i == LINKS - 1 else 1.0)
        inertia = " ".join(map(repr, link_inertia(mass).tolist()))
        joint = '<joint type="ball"/>' if kind == "ball" else '<joint type="hinge" axis="0 1 0"/>'
        opened += f'<body pos="{LENGTH if i else 0} 0 0">{joint}'
        opened += f'<inertial pos="{LENGTH / 2} 0 0" mass="{mass!r}" diaginertia="{inertia}"/>'
        closed += "</body>"
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 -9.81" timestep="{dt}" integrator="{integrator}"/>'
        f"<worldbody>{opened}{closed}</worldbody></mujoco>"
    )


def mujoco_positions(model, seconds, every):
    """Centres of mass (F, N, 3) every so many seconds, start included."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    steps = round(every / model.opt.timestep)
    positions = [data.xipos.copy()]
    for _ in range(round(seconds / every)):
        mujoco.mj_step(model, data, steps)
        mujoco.mj_forward(model, data)
        positions.append(data.xipos.copy())
    return np.array(positions)
