"""The broad phase: no pair is missed, memory survives, and room is made when it runs out."""

import numpy as np
import pytest
from contact_rig import FLOOR, GRAVITY, make_world, run
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.physics.broadphase import BUILDS, BUILT, COUNT, COUNTS, UNLISTED, WANTED, find_pairs, grow
from impel.physics.contact import contact_forces
from impel.physics.verdicts import GOOD, TOO_FAR

BALL = {"sphere": 0.1}


def scatter(rng, count, side):
    kinds = [
        BALL,
        {"box": [0.1, 0.2, 0.5]},
        {"capsule": {"radius": 0.05, "length": 0.4}},
        {"cylinder": {"radius": 0.1, "length": 0.3}},
    ]
    turns = rng.normal(size=(count, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    return [
        {
            "shape": kinds[k],
            "at": rng.uniform(-side, side, 3),
            "orientation": turn,
            "mass": 1.0 if k else 2.0,
            "velocity": rng.normal(0, 2, 3),
            "spin": rng.normal(0, 5, 3),
        }
        for k, turn in zip(rng.integers(0, 4, count), turns)
    ]


def listed(contacts):
    return {frozenset(pair) for pair in contacts.pair[: contacts.near.info[COUNT]].tolist()}


def memories(contacts):
    """Of each pair that touches: friction, where it touches and along which normal."""
    rows = np.concatenate([contacts.friction, contacts.place], axis=1)
    return {tuple(p): row for p, row, touches in zip(contacts.pair, rows, contacts.touching) if touches}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.3, 2.0))
def test_pairs_that_touch_are_always_listed(seed, side):
    """The list, kept over many steps, holds whatever a list made anew would find touching."""
    items = [FLOOR, *scatter(np.random.default_rng(seed), 20, side)]
    bodies, contacts = make_world(*items, capacity=600)
    for _ in range(5):
        assert run(bodies, contacts, GRAVITY, 1e-3, 20) >= 0
        kept = {frozenset(p) for p, t in zip(contacts.pair.tolist(), contacts.touching) if t}
        contacts.near.info[BUILT] = 0
        find_pairs(bodies, contacts, 1e-3)
        contact_forces(bodies, contacts, 0.0)
        fresh = {frozenset(p) for p, t in zip(contacts.pair.tolist(), contacts.touching) if t}
        assert kept == fresh


def test_bodies_at_rest_cost_no_rebuilds():
    balls = [{"shape": BALL, "mass": 1.0, "at": [0.25 * i, 0, 0.0995]} for i in range(10)]
    bodies, contacts = make_world(FLOOR, *balls)
    run(bodies, contacts, GRAVITY, 1 / 480, 1000)
    assert contacts.near.info[BUILDS] == 1


def test_a_full_list_is_reported_and_grows_without_losing_memory():
    balls = [{"shape": BALL, "mass": 1.0, "at": [0.1999 * i, 0, 0.0995], "velocity": [0.1, 0, 0]} for i in range(8)]
    bodies, contacts = make_world(FLOOR, *balls, capacity=15)
    assert run(bodies, contacts, GRAVITY, 1 / 960, 5) == 0
    assert len(contacts.touching) == 15
    bodies.position[1:9, 0] *= 0.3  # pressed together: more pairs than there is room for
    remembered = memories(contacts)
    assert remembered
    before = contacts.friction.copy()
    assert not find_pairs(bodies, contacts, 1 / 960)
    assert (contacts.friction == before).all()
    assert contacts.near.info[WANTED] > 15
    contacts = grow(contacts)
    assert find_pairs(bodies, contacts, 1 / 960)
    assert len(contacts.touching) >= contacts.near.info[WANTED]
    kept = memories(contacts)
    assert kept.keys() == remembered.keys()
    assert all((kept[p] == remembered[p]).all() for p in kept)
    assert contacts.friction.any()


def test_tied_fixed_and_ghostly_pairs_never_touch():
    here = [{"shape": BALL, "mass": 1.0, "at": [0.01 * i, 0, 0]} for i in range(4)]
    fixed = [{"shape": BALL, "at": [0, 0.01 * i, 0.05]} for i in range(2)]
    bodies, contacts = make_world(*here, *fixed, tied=[(1, 0)], collides=[True] * 3 + [False] + [True] * 5)
    assert listed(contacts) == {frozenset(p) for p in [(0, 2), (1, 2), (0, 4), (0, 5), (1, 4), (1, 5), (2, 4), (2, 5)]}
    assert not bodies.force[3].any()


def test_a_pair_forgets_when_it_parts():
    bodies, contacts = make_world(FLOOR, {"shape": BALL, "mass": 1.0, "at": [0, 0, 0.099], "velocity": [1, 0, 0]})
    run(bodies, contacts, GRAVITY, 1e-3, 5)
    assert contacts.friction[0].any()
    assert contacts.touching[0] == 1.0
    bodies.position[1, 2] = 0.2
    contact_forces(bodies, contacts, 1e-3)
    assert contacts.touching[0] == 0.0
    assert not contacts.friction[0].any()


@pytest.mark.parametrize("shape", [BALL, {"box": [0.2, 0.2, 0.2]}], ids=["ball", "box"])
def test_passing_through_a_thin_wall_in_one_step_is_noticed(shape):
    wall = {"shape": {"box": [0.02, 2, 2]}}
    bodies, contacts = make_world(wall, {"shape": shape, "mass": 1.0, "at": [-0.4, 0, 0], "velocity": [30, 0, 0]})
    dt = 0.02
    assert find_pairs(bodies, contacts, dt)
    bodies.position[1] += dt * bodies.velocity[1]
    assert contact_forces(bodies, contacts, dt) == TOO_FAR
    # A slow passer-by at the same place is nothing to worry about.
    bodies.velocity[1] = [0.1, 0, 0]
    assert contact_forces(bodies, contacts, dt) == GOOD


def test_the_same_run_gives_the_same_bits():
    def final():
        bodies, contacts = make_world(FLOOR, *scatter(np.random.default_rng(5), 15, 0.6), capacity=600)
        run(bodies, contacts, GRAVITY, 1e-3, 300)
        return bodies.position.tobytes() + bodies.momentum.tobytes() + contacts.friction.tobytes()

    assert final() == final()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_points_of_boxes_listed_earlier_press_as_those_listed_now(seed):
    """Boxes of all sizes tumble in a bin; what was listed steps ago leaves nothing out, to the last bit."""
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(12, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    grid = [[0.22 * x, 0.22 * y, 0.18 + 0.25 * z] for x in range(3) for y in range(2) for z in range(2)]
    boxes = [
        {"shape": {"box": rng.uniform(0.05, 0.14, 3).tolist()}, "mass": 1.0, "at": at, "orientation": turn}
        | {"velocity": [*rng.normal(0, 1, 2), -1.0], "spin": rng.normal(0, 5, 3)}
        for at, turn in zip(grid, turns)
    ]
    walls = [{"shape": {"box": [2, 2, 0.2]}, "at": [0, 0, -0.1]}, {"shape": {"box": [0.2, 2, 2]}, "at": [0.7, 0, 1]}]
    bodies, contacts = make_world(*walls, *boxes, capacity=400)
    kept = 0
    for _ in range(10):
        assert run(bodies, contacts, GRAVITY, 2e-4, 150) >= 0
        contact_forces(bodies, contacts, 0.0)
        force, torque, seen = bodies.force.copy(), bodies.torque.copy(), contacts.seen.copy()
        contacts.seen[:, COUNTS] = UNLISTED
        contact_forces(bodies, contacts, 0.0)
        assert (bodies.force == force).all()
        assert (bodies.torque == torque).all()
        kept += np.sum((seen[:, COUNTS] > 0) & (seen[:, :COUNTS] != contacts.seen[:, :COUNTS]).any(axis=1))
    assert kept > 0
