"""The paper's displacement joints: what converges as printed, and corrected (claim 003.14)."""

import numpy as np
import pytest
from jointed import GRAVITY, LENGTH, LINKS, MASS, NOTHING_TOLD, advance, bodies_at, chain, energy, jointed, momenta

from impel.kernel import kernel
from impel.physics.bodies import drift, kick
from impel.physics.displacement import THRESHOLD, hold_positions_displacement, hold_positions_paper, tunings
from impel.physics.joint_specs import JointSpec
from impel.physics.rattle import hold_velocities


@kernel
def advance_displacement(bodies, joints, gravity, dt, steps, printed):
    """Returns the number of steps taken before the gaps grew without bound."""
    for n in range(steps):
        kick(bodies, gravity, 0.0, 0.5 * dt)
        if printed:
            verdict = hold_positions_paper(bodies, joints, dt)
        else:
            verdict = hold_positions_displacement(bodies, joints, dt)
        if verdict != 0:
            return n
        kick(bodies, gravity, 0.0, 0.5 * dt)
        if not printed:
            hold_velocities(bodies, joints)
    return steps


def square():
    """A closed loop of four links, hanging by one corner."""
    middles = [(0.5, 0, 0), (1, 0, -0.5), (0.5, 0, -1), (0, 0, -0.5)]
    bodies = bodies_at([(0, 0, 0), *middles], inertia=(0.09, 0.09, 0.09))
    corners = [(1, 0, 0), (1, 0, -1), (0, 0, -1), (0, 0, 0)]
    specs = [JointSpec("ball", i, i % 4 + 1, at) for i, at in zip((1, 2, 3, 4), corners)]
    return bodies, jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)), *specs)


def disturbed(scene):
    """The places after a step that no joint holds, from the middle of a motion."""
    bodies, joints = scene
    assert advance(bodies, joints, GRAVITY, 1e-3, 400, NOTHING_TOLD) == 0
    drift(bodies, 1e-2)
    return bodies, joints


@pytest.mark.parametrize("scene", [lambda: chain("ball", full=True), square], ids=["chain", "loop"])
def test_corrected_displacements_converge_and_printed_ones_do_not(scene):
    gaps = tunings(*disturbed(scene()), printed=False)
    assert gaps[0] > 1e-4
    assert gaps[10] < 0.5 * gaps[0]
    assert np.all(np.diff(gaps[1:]) < 0)
    assert gaps[-1] < 0.03 * gaps[0]
    printed = tunings(*disturbed(scene()), printed=True)
    assert printed[-1] > 10 * printed[0]


def test_single_gap_closes_in_one_round_only_if_it_is_one_impulse():
    def pinned():
        bodies = bodies_at([(0, 0, 0), (0.5, 0, 0.01)], inertia=(1e-3, 0.08, 0.08))
        joints = jointed(bodies_at([(0, 0, 0), (0.5, 0, 0)]), JointSpec("ball", 0, 1, (0, 0, 0)))
        return bodies, joints

    assert tunings(*pinned(), printed=False)[1] < 1e-4
    bodies, joints = pinned()
    tunings(bodies, joints, printed=True, rounds=2)
    tilt = -2 * bodies.orientation[1, 2]
    bodies, joints = pinned()
    tunings(bodies, joints, printed=False, rounds=2)
    felt = 0.08 + 0.5**2  # inertia about the pin
    assert -2 * bodies.orientation[1, 2] == pytest.approx(0.01 * 0.5 / felt, rel=0.01)
    assert tilt > 2 * 0.01 * 0.5 / felt  # as printed it turns more than twice as far


def test_corrected_displacements_follow_the_chain_roughly_and_lose_energy():
    truth, true_joints = chain("ball", full=True)
    assert advance(truth, true_joints, GRAVITY, 1e-3, 1000, NOTHING_TOLD) == 0
    bodies, joints = chain("ball", full=True)
    before = energy(bodies)
    assert advance_displacement(bodies, joints, GRAVITY, 1e-3, 1000, False) == 1000
    assert np.linalg.norm(bodies.position - truth.position, axis=1).max() < 0.05
    assert abs(energy(bodies) - before) < 0.02 * LINKS * MASS * 9.81 * LINKS * LENGTH


def test_printed_displacements_blow_the_chain_up():
    bodies, joints = chain("ball", full=True)
    before = energy(bodies)
    steps = advance_displacement(bodies, joints, GRAVITY, 1e-3, 1000, True)
    assert steps < 1000 or energy(bodies) - before > 10 * LINKS * MASS * 9.81 * LINKS * LENGTH


@pytest.mark.parametrize("kind", ["ball", "hinge", "weld", "on_segment", "on_curve", "on_surface", "in_sphere"])
def test_corrected_displacements_hold_every_kind_and_conserve_momentum(kind):
    bodies = bodies_at(
        [(0, 0, 0), (1, 0, 0)], fixed=0, velocity=[(0, 0, 0), (0, 0.4, 0.3)], spin=[(0, 0, 1), (0, 1, 0)]
    )
    points = {"on_segment": [(0.5, -0.3, 0), (0.5, 0.3, 0)], "on_curve": [(0.4, -1, 0), (0.5, 0, 0), (0.3, 1, 0.2)]}
    joints = jointed(
        bodies,
        JointSpec(kind, 1, 0, (0.5, 0, 0), at_b=(0.3, 0, 0) if kind == "in_sphere" else None, radius=0.25,
                  points=points.get(kind, ()), axis=(0, 0, 1), limits=(-0.2, 0.2)),
    )  # fmt: skip
    before = momenta(bodies)
    assert advance_displacement(bodies, joints, (0.0, 0.0, 0.0), 1e-3, 1000, False) == 1000
    after = momenta(bodies)
    assert after[0] == pytest.approx(before[0], abs=1e-9)
    assert after[1] == pytest.approx(before[1], abs=1e-4)  # to first order in the step
    assert tunings(bodies, joints, printed=False)[0] <= 2 * THRESHOLD
