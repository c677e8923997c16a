"""How jointed bodies answer to forces, against MuJoCo's mass matrix and jacobians."""

import mujoco
import numpy as np
import pytest
from jointed import GRAVITY, LINKS, NOTHING_TOLD, advance, bodies_at, chain, jointed, mujoco_chain

from impel.kernel import kernel
from impel.physics.joint_rows import resist
from impel.physics.joints import LIVE, JointSpec
from impel.physics.response import acceleration_of, heed_limits, ignore_limits, turning_of


@kernel
def answer(bodies, joints, free, free_turning, acceleration, turning):
    """The acceleration and angular acceleration of all bodies."""
    resist(joints, 0, free, free_turning)
    for i in range(len(bodies.mass)):
        acceleration[i] = acceleration_of(bodies, joints, 0, free, i)
        turning[i] = turning_of(joints, 0, free_turning, i)


def answers(bodies, joints, free):
    found = np.zeros((2, len(bodies.mass), 3))
    answer(bodies, joints, free[:, :3].copy(), free[:, 3:].copy(), *found)
    return found


@pytest.fixture
def swung():
    """A chain of hinges that has swung for a while, and the same pose in MuJoCo, at rest."""
    bodies, joints = chain("hinge", 5.0)
    assert advance(bodies, joints, GRAVITY, 1e-3, 370, NOTHING_TOLD) == 0
    model = mujoco_chain("hinge", 5.0)
    data = mujoco.MjData(model)
    pitch = 2 * np.arctan2(bodies.orientation[:, 2], bodies.orientation[:, 0])
    data.qpos[:] = np.diff(pitch)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(bodies.position[1:], data.xipos[1:], atol=1e-9)
    return bodies, joints, model, data


def theirs(model, data, rates):
    """What joint rates do to the centres of mass and spins of all links."""
    linear, angular = np.zeros((2, LINKS + 1, 3))
    for i in range(1, LINKS + 1):
        moves, turns = np.zeros((2, 3, model.nv))
        mujoco.mj_jacBodyCom(model, data, moves, turns, i)
        linear[i], angular[i] = moves @ rates, turns @ rates
    return linear, angular


@pytest.mark.parametrize("link", [1, 5, LINKS])
@pytest.mark.parametrize("turned", [False, True])
def test_answers_to_a_push_or_a_twist_are_mujocos(swung, link, turned):
    bodies, joints, model, data = swung
    load = np.array([0.0, 0.7, 0.0] if turned else [0.3, 0.8, -0.5])
    free = np.zeros((LINKS + 1, 6))
    if turned:
        free[link, 3:] = load / bodies.inertia[link, 1]
    else:
        free[link, :3] = load / bodies.mass[link]
    moves, turns = np.zeros((2, 3, model.nv))
    mujoco.mj_jacBodyCom(model, data, moves, turns, link)
    rates = np.zeros((1, model.nv))
    mujoco.mj_solveM(model, data, rates, ((turns if turned else moves).T @ load)[None])
    for ours, other in zip(answers(bodies, joints, free), theirs(model, data, rates[0])):
        np.testing.assert_allclose(ours, other, atol=1e-7 * np.abs(other).max())


def test_chain_falls_as_mujocos_does(swung):
    bodies, joints, model, data = swung
    free = np.zeros((LINKS + 1, 6))
    free[1:, :3] = GRAVITY
    for ours, other in zip(answers(bodies, joints, free), theirs(model, data, data.qacc)):
        np.testing.assert_allclose(ours, other, atol=1e-7 * np.abs(other).max())


def test_limits_do_not_count_and_are_put_back_to_the_bit():
    bodies = bodies_at([(0, 0, 0), (0.5, 0, 0)])
    joints = jointed(bodies, JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0), limits=(-0.5, 0.1)))
    assert advance(bodies, joints, GRAVITY, 1e-3, 400, NOTHING_TOLD) == 0
    limit = joints.each[0]["limit"]
    assert joints.rows[limit, LIVE] == 1.0
    kept = joints.factor.copy()
    free = np.zeros((2, 6))
    free[1, :3] = GRAVITY
    held, _ = answers(bodies, joints, free)
    assert np.abs(held[1]).max() < 1e-9
    assert ignore_limits(bodies, joints, 0)
    fallen, _ = answers(bodies, joints, free)
    expected = 0.5 * 9.81 * 0.5 * np.cos(0.1) / (0.02 + 0.5**2)  # a rod about its end, 1 kg
    assert np.linalg.norm(fallen[1]) == pytest.approx(expected, rel=1e-6)
    heed_limits(bodies, joints, 0)
    np.testing.assert_array_equal(joints.factor, kept)
