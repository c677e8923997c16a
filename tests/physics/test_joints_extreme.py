"""Joints between bodies of very unequal masses, loops that hold more than they need, and gaps seen from outside."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jointed import GRAVITY, NOTHING_TOLD, advance, bodies_at, energy, follow, jointed
from scipy.spatial.transform import Rotation

from impel.kernel import kernel
from impel.physics.assembly import assemble
from impel.physics.bodies import turn_freely
from impel.physics.exact import _write_turning
from impel.physics.gaps import measure_gaps
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import FORCE, make_joints
from impel.physics.rattle import hold_positions
from impel.physics.verdicts import GOOD
from impel.scene import Scene
from impel.stage.simulate import simulate


@kernel
def turned_and_slope(bodies, turning, dt):
    q = (bodies.orientation[0, 0], bodies.orientation[0, 1], bodies.orientation[0, 2], bodies.orientation[0, 3])
    m = (bodies.momentum[0, 0], bodies.momentum[0, 1], bodies.momentum[0, 2])
    _write_turning(bodies, turning, 0, q, dt)
    return turn_freely(q, m, bodies.inverse_inertia[0], bodies.top[0], dt)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_how_a_turn_changes_with_the_momentum_is_its_derivative(seed):
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4)
    bodies = bodies_at(np.zeros((1, 3)), inertia=rng.uniform(0.5, 1.0, 3), spin=rng.normal(0, 3, 3), fixed=0,
                       orientations=turn[None] / np.linalg.norm(turn))  # fmt: skip
    turning, ignored = np.zeros((1, 9)), np.zeros((1, 9))
    turned_and_slope(bodies, turning, 0.2)
    h, momentum = 1e-5, bodies.momentum[0].copy()
    for n in range(3):
        ends = []
        for sign in (1, -1):
            bodies.momentum[0] = momentum
            bodies.momentum[0, n] += sign * h
            w, x, y, z = turned_and_slope(bodies, ignored, 0.2)
            ends.append(Rotation.from_quat([x, y, z, w]))
        slope = (ends[0] * ends[1].inv()).as_rotvec() / (2 * h)
        assert turning[0].reshape(3, 3)[:, n] == pytest.approx(slope, abs=1e-8)


def test_grams_that_carry_a_ton_hold():
    """A double pendulum of 10 g and 1000 kg with arms of 0.5 m, in steps of 1 ms: the quick way alone comes apart."""
    bodies = bodies_at(
        [(0, 0, 0), (0.25, 0, 0), (1, 0, 0)],
        mass=[np.inf, 0.01, 1000.0],
        inertia=[(1,) * 3, (1e-6,) * 3, (10.0,) * 3],
        velocity=[(0, 0, 0), (0, 0.3, 0), (0, 1.0, 0)],
    )
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)), JointSpec("hinge", 1, 2, (0.5, 0, 0), axis=(0, 1, 0)))
    before = energy(bodies)
    for _ in range(500):
        assert advance(bodies, joints, GRAVITY, 1e-3, 1, NOTHING_TOLD) <= 1
        measure_gaps(bodies, joints)
        assert joints.apart.max() < 1e-8
    assert energy(bodies) == pytest.approx(before, abs=1e-3 * 1000 * 9.81)


def test_a_disc_of_12_g_that_carries_957_kg_keeps_the_energy_of_both():
    """Wherever it whips round it takes steps of microseconds, at any time of a frame."""
    scene = Scene(seconds=1, fps=120)
    disc = scene.body("disc", cylinder={"radius": 0.019, "length": 0.011}, at=[-0.649, 0.539, 0.883])
    load = scene.body("load", capsule={"radius": 0.005, "length": 0.01}, mass=957, at=[1.021, -0.082, 0.294])
    scene.joint("ball", ball=[disc, "world"], at=[-0.508, 0.561, 0.849])
    axis = [0.219, 0.692, -0.688]
    scene.joint("hinge", hinge=[disc, load], at=[-0.147, 0.352, 0.705], axis=axis, limits=[-54, 94])
    take = simulate(scene)
    energy, height = take.channels["energy"], take.position[:, take.index("load"), 2]
    assert np.ptp(energy) < 1e-3 * 957 * 9.81 * np.ptp(height)


@pytest.mark.parametrize("degrees", [60, 120, 179])
def test_weld_is_closed_from_any_angle_to_the_one_place_where_it_holds(degrees):
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)])
    joints = make_joints([JointSpec("weld", 0, 1, (0, 0, 0))], bodies)
    half = np.radians(degrees) / 2
    bodies.orientation[1] = [np.cos(half), *(np.sin(half) * np.ones(3) / np.sqrt(3))]
    assert assemble(bodies, joints) < 1e-9
    assert abs(bodies.orientation[1, 0]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("degrees", [100, 150, 179])
def test_hinge_is_closed_from_any_tilt_with_its_axis_the_right_way_round(degrees):
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)])
    joints = make_joints([JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 0, 1))], bodies)
    half = np.radians(degrees) / 2
    bodies.orientation[1] = [np.cos(half), np.sin(half), 0, 0]
    assert assemble(bodies, joints) < 1e-9
    w, x, y, z = bodies.orientation[1]
    assert Rotation.from_quat([x, y, z, w]).apply([0, 0, 1]) == pytest.approx((0, 0, 1), abs=1e-9)


def test_loop_with_more_joints_than_it_needs_gathers_no_stress_in_itself():
    """Two bodies welded twice and hung on a hinge: forces stay those of the weight for 20 s."""
    bodies = bodies_at([(0, 0, 0), (0, 0, -0.5), (0.3, 0, -0.5)], inertia=(0.05,) * 3)
    joints = jointed(
        bodies,
        JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0)),
        JointSpec("weld", 1, 2, (0.1, 0, -0.5)),
        JointSpec("weld", 1, 2, (0.2, 0, -0.5)),
        JointSpec("hinge", 1, 2, (0.15, 0, -0.5), axis=(0, 1, 0)),
    )
    follow(bodies, joints, 20.0, dt=2e-3, every=100)
    assert np.abs(joints.rows[:, FORCE]).max() < 100.0


def test_loop_written_with_rounded_numbers_is_taken_as_closed():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)])
    specs = [JointSpec("weld", 0, 1, (0.5, 0, 0)), JointSpec("ball", 0, 1, (0, 1, 0), at_b=(0, 1.0000004, 0))]
    joints = make_joints(specs, bodies)
    assert assemble(bodies, joints) < 1e-6
    assert hold_positions(bodies, joints, (0.0, 0.0, 0.0), 1e-3, False) == GOOD
    measure_gaps(bodies, joints)
    assert joints.apart.max() < 1e-9


def test_gaps_are_measured_over_the_size_of_their_own_structure():
    bodies = bodies_at([(0, 0, 0), (0.01, 0, 0), (5, 0, 0), (15, 0, 0)], inertia=(1e-6,) * 3)
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)), JointSpec("hinge", 2, 3, (5, 0, 0), axis=(0, 0, 1)))
    bodies.position[1, 0] += 1e-7
    bodies.position[3, 0] += 1e-7
    measure_gaps(bodies, joints)
    assert joints.apart[0, 0] > 5e-6
    assert joints.apart[1, 0] < 2e-8
    bodies.orientation[3] = [np.cos(0.01), np.sin(0.01), 0, 0]
    measure_gaps(bodies, joints)
    assert joints.apart[1, 1] == pytest.approx(0.02)


def test_heavy_end_is_pulled_where_turning_the_light_elbow_does_not_help():
    """A stretched arm whose heavy end is too far away: by mass the light elbow would only ever be turned."""
    bodies = bodies_at([(0, 0, 0), (0.5, 0, 0), (2.0, 0, 0)], mass=[np.inf, 1e-3, 1e3],
                       inertia=[(1,) * 3, (1e-6,) * 3, (1e3,) * 3])  # fmt: skip
    specs = [JointSpec("ball", 0, 1, (0, 0, 0)), JointSpec("ball", 1, 2, (1, 0, 0), at_b=(1.5, 0, 0))]
    assert assemble(bodies, make_joints(specs, bodies)) < 1e-9
