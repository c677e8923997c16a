"""A small world for the tests of contact: bodies from plain descriptions, and the step without anything else in it."""

import math

import numpy as np

from impel.geometry.kinds import solid
from impel.kernel import kernel
from impel.physics.bodies import drift, kick, make_bodies
from impel.physics.broadphase import find_pairs, grow
from impel.physics.contact import contact_forces, make_contacts

GRAVITY = (0.0, 0.0, -9.81)
FLOOR = {"shape": {"plane": {}}}
# Far from everything: with these in a world, all shapes share one compiled version of the kernels.
ONLOOKERS = [
    {"shape": {"box": [0.1, 0.1, 0.1]}, "at": [0, 0, 1e3]},
    {"shape": {"capsule": {"radius": 0.1, "length": 0.1}}, "at": [0, 0, 1e3]},
    {"shape": {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.1}]}}, "at": [0, 0, 1e3]},
]


def make_world(*items, **options):
    """Bodies as dicts: shape, mass (missing: fixed), at, orientation, velocity, spin, coating; and the onlookers."""
    items = (*items, *ONLOOKERS)
    n = len(items)
    shapes = [item["shape"] for item in items]
    mass = np.array([item.get("mass", math.inf) for item in items], float)
    inertia = np.array([solid(s).inertia * m if math.isfinite(m) else np.ones(3) for s, m in zip(shapes, mass)])

    def column(name, default):
        return np.array([item.get(name, default) for item in items], float).reshape(n, len(default))

    bodies = make_bodies(
        column("at", [0, 0, 0]),
        column("orientation", [1, 0, 0, 0]),
        column("velocity", [0, 0, 0]),
        column("spin", [0, 0, 0]),
        mass,
        inertia,
    )
    contacts = make_contacts(bodies, shapes, [item.get("coating") for item in items], **options)
    while not find_pairs(bodies, contacts, 0.0):
        contacts = grow(contacts)
    contact_forces(bodies, contacts, 0.0)
    return bodies, contacts


@kernel
def run(bodies, contacts, gravity, dt, steps):
    """Steps of a fixed length; returns the worst verdict, or -1 when the list of pairs was too short."""
    worst = 0
    for _ in range(steps):
        if not find_pairs(bodies, contacts, dt):
            return -1
        kick(bodies, gravity, 0.0, 0.5 * dt)
        drift(bodies, dt)
        worst = max(worst, contact_forces(bodies, contacts, dt))
        kick(bodies, gravity, 0.0, 0.5 * dt)
    return worst


def run_adaptive(bodies, contacts, gravity, seconds, frame=1 / 60, levels=16):
    """Steps of frame / 2^level, taken back and halved when the verdict is bad, doubled after 8 good ones.

    Returns the number of steps tried, and the deepest level.
    """
    state = [getattr(room, name) for room in (bodies, contacts) for name in room.STATE]
    tried = level = deepest = good = 0
    ticks, end = 0, round(seconds / frame) * 2**levels
    while ticks < end:
        dt = frame / 2**level
        assert find_pairs(bodies, contacts, dt)
        before = [array.copy() for array in state]
        kick(bodies, gravity, 0.0, 0.5 * dt)
        drift(bodies, dt)
        verdict = contact_forces(bodies, contacts, dt)
        kick(bodies, gravity, 0.0, 0.5 * dt)
        tried += 1
        if verdict and level < levels:
            for array, old in zip(state, before):
                array[...] = old
            level, good = level + 1, 0
            deepest = max(deepest, level)
            continue
        ticks += 2 ** (levels - level)
        good += 1
        if good >= 8 and level > 0 and ticks % 2 ** (levels - level + 1) == 0:
            level, good = level - 1, 0
    return tried, deepest


def axis_angle(axis, degrees):
    half = math.radians(degrees) / 2
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.array([math.cos(half), *(math.sin(half) * axis)])
