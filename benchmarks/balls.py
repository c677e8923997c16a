"""A heap of 100 balls in a box, against MuJoCo; and what a body costs among 10 and among 1000.

    python benchmarks/balls.py

CPU time, one thread, both engines in the same run, with the same step, on a heap that has come to rest.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import time

import mujoco
import numpy as np

from impel.geometry.kinds import solid
from impel.kernel import kernel
from impel.physics.bodies import drift, kick, make_bodies
from impel.physics.broadphase import BUILDS, find_pairs, grow
from impel.physics.contact import contact_forces, make_contacts

RADIUS, MASS, STEP = 0.1, 1.0, 1 / 480
INSIDE = 1.0  # m: side of the box that holds the heap
WALLS = (
    [([INSIDE + 0.4, INSIDE + 0.4, 0.2], [0, 0, -0.1])]
    + [([0.2, INSIDE + 0.4, 2.0], [side * (INSIDE / 2 + 0.1), 0, 1.0]) for side in (-1, 1)]
    + [([INSIDE + 0.4, 0.2, 2.0], [0, side * (INSIDE / 2 + 0.1), 1.0]) for side in (-1, 1)]
)


@kernel
def run(bodies, contacts, gravity, dt, steps):
    for _ in range(steps):
        if not find_pairs(bodies, contacts, dt):
            return 1
        kick(bodies, gravity, 0.0, 0.5 * dt)
        drift(bodies, dt)
        contact_forces(bodies, contacts, dt)
        kick(bodies, gravity, 0.0, 0.5 * dt)
    return 0


def balls_world(positions, boxes, velocities=None):
    n = len(positions)
    shapes = [{"sphere": RADIUS}] * n + [{"box": size} for size, _ in boxes]
    at = np.concatenate([positions, np.array([at for _, at in boxes], float).reshape(-1, 3)])
    mass = np.array([MASS] * n + [math.inf] * len(boxes))
    velocity = np.zeros_like(at)
    if velocities is not None:
        velocity[:n] = velocities
    inertia = np.tile(solid({"sphere": RADIUS}).inertia * MASS, (len(at), 1))
    turned = np.tile([1.0, 0.0, 0.0, 0.0], (len(at), 1))
    bodies = make_bodies(at, turned, velocity, np.zeros_like(at), mass, inertia)
    return bodies, make_contacts(bodies, shapes, [None] * len(at))


def advance(bodies, contacts, steps):
    """Run and return the contacts (grown where needed) and CPU seconds."""
    while not find_pairs(bodies, contacts, STEP):
        contacts = grow(contacts)
    start = time.process_time()
    while run(bodies, contacts, (0.0, 0.0, -9.81), STEP, steps) == 1:
        contacts = grow(contacts)
    return contacts, time.process_time() - start


def heap_positions(count=100):
    rng = np.random.default_rng(0)
    grid = [(x, y, z) for z in range(20) for x in range(4) for y in range(4)][:count]
    at = np.array(grid, float) * 0.22 + [-0.33, -0.33, 0.12]
    return at + rng.uniform(-0.005, 0.005, at.shape)


def mujoco_world(positions):
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="{MASS}" friction="0.6"/></body>'
        for x, y, z in positions
    )
    walls = "".join(
        f'<geom type="box" size="{s[0] / 2} {s[1] / 2} {s[2] / 2}" pos="{p[0]} {p[1]} {p[2]}" friction="0.6"/>'
        for s, p in WALLS
    )
    text = f'<mujoco><option timestep="{STEP}"/><size memory="64M"/><worldbody>{walls}{balls}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def heap(solver, settle=10.0, rounds=5, steps=240):
    """Microseconds a step of our engine and of MuJoCo, and both counts of touching pairs."""
    bodies, contacts = balls_world(heap_positions(), WALLS)
    contacts, _ = advance(bodies, contacts, round(settle / STEP))
    model, data = mujoco_world(heap_positions())
    model.opt.solver = solver
    mujoco.mj_step(model, data, round(settle / STEP))
    ours, theirs = [], []
    for _ in range(rounds):
        contacts, seconds = advance(bodies, contacts, steps)
        ours.append(seconds / steps * 1e6)
        start = time.process_time()
        mujoco.mj_step(model, data, steps)
        theirs.append((time.process_time() - start) / steps * 1e6)
    fastest = float(np.linalg.norm(bodies.velocity, axis=1).max())
    return np.median(ours), np.median(theirs), int(contacts.touching.sum()), data.ncon, fastest


def spread_out(count, steps=2000):
    """Microseconds a body and step, for balls that lie and roll about on a floor, four radii apart on average."""
    rng = np.random.default_rng(1)
    side = math.ceil(math.sqrt(count))
    grid = np.array([(i % side, i // side) for i in range(count)], float) * 4 * RADIUS
    at = np.column_stack([grid - grid.mean(0), np.full(count, RADIUS)])
    velocity = np.column_stack([rng.normal(0, 0.3, (count, 2)), np.zeros(count)])
    size = side * 4 * RADIUS + 20
    bodies, contacts = balls_world(at, [([size, size, 0.2], [0, 0, -0.1])], velocity)
    contacts, _ = advance(bodies, contacts, 20)
    contacts, seconds = advance(bodies, contacts, steps)
    return seconds / steps / count * 1e6, contacts.near.info[BUILDS]


if __name__ == "__main__":
    for name in ("NEWTON", "CG"):  # its default, and its fastest for heaps
        ours, theirs, touching, their_touching, fastest = heap(getattr(mujoco.mjtSolver, f"mjSOL_{name}"))
        print(
            f"100 balls in a box: {ours:.0f} µs a step ({touching} touching, fastest {fastest * 1e3:.2f} mm/s), MuJoCo "
            f"({name}) {theirs:.0f} µs ({their_touching} touching): {theirs / ours:.1f}x as fast (wanted 1.5)"
        )
        meet(f"100 balls, MuJoCo ({name})", theirs / ours, at_least=1.5)
    few = np.median([spread_out(10, 20000)[0] for _ in range(3)])
    many = np.median([spread_out(1000, 400)[0] for _ in range(3)])
    print(
        f"spread-out balls: {few:.3f} µs a body and step among 10, {many:.3f} among 1000: "
        f"{many / few:.2f}x (wanted at most 1.5)"
    )
    meet("spread-out balls", many / few, at_most=1.5)
    end()
