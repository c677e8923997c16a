"""Free bodies: what they conserve, and their motion against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from impel.kernel import kernel
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.bodies import drift, kick, kinetic_energy, make_bodies


@kernel
def fly(bodies, gravity, drag, dt, steps):
    for _ in range(steps):
        kick(bodies, gravity, drag, 0.5 * dt)
        drift(bodies, dt)
        kick(bodies, gravity, drag, 0.5 * dt)


def one_body(*, inertia=(0.1, 0.2, 0.3), spin=(0, 0, 0), velocity=(0, 0, 0), orientation=(1, 0, 0, 0), mass=2.0):
    return make_bodies(
        np.zeros((1, 3)), np.array([orientation]), np.array([velocity]), np.array([spin]), np.array([mass]),
        np.array([inertia]),
    )  # fmt: skip


def rotation_about(axis, angle):
    a = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


WEIGHTLESS = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("inertia", [(0.1, 0.1, 0.3), (0.3, 0.1, 0.1), (0.2, 0.05, 0.2), (0.2, 0.2, 0.2)])
def test_symmetric_top_tumbles_as_in_closed_form_whatever_the_step(inertia):
    """R(t) = precession about the momentum · R(0) · spin about its own axis."""
    spin, q = np.array([3.0, -7.0, 5.0]), np.array([0.5, 0.1, -0.7, 0.5])
    q /= np.linalg.norm(q)
    body = one_body(inertia=inertia, spin=spin, orientation=q)
    start = matrix_from_quaternion(q)
    momentum, energy = body.momentum.copy(), kinetic_energy(body)
    assert momentum[0] == pytest.approx(start @ np.diag(inertia) @ start.T @ spin, rel=1e-14)
    fly(body, WEIGHTLESS, 0.0, 0.01, 300)
    c = next(k for k in range(3) if inertia.count(inertia[k]) in (1, 3))
    even = inertia[(c + 1) % 3]
    own = (start.T @ momentum[0])[c] * (1 / inertia[c] - 1 / even)
    m = momentum[0]
    expected = rotation_about(m, 3.0 * np.linalg.norm(m) / even) @ start @ rotation_about(np.eye(3)[c], 3.0 * own)
    assert np.abs(matrix_from_quaternion(body.orientation[0]) - expected).max() < 1e-11
    assert np.abs(body.momentum - momentum).max() <= 1e-12
    assert kinetic_energy(body) == pytest.approx(energy, rel=1e-12)


def tumbled(dt):
    body = one_body(inertia=(0.1, 0.2, 0.27), spin=(1.0, 8.0, 2.0))
    energy = kinetic_energy(body)
    worst = 0.0
    for _ in range(100):
        fly(body, WEIGHTLESS, 0.0, dt, round(0.02 / dt))
        worst = max(worst, abs(kinetic_energy(body) / energy - 1))
    return matrix_from_quaternion(body.orientation[0]), worst


def test_asymmetric_top_converges_with_the_square_of_the_step():
    inertia = np.array([0.1, 0.2, 0.27])

    def rates(_, y):
        w, r = y[:3], y[3:].reshape(3, 3)
        return np.r_[np.cross(inertia * w, w) / inertia, (r @ np.cross(w, np.eye(3)).T).ravel()]

    y = solve_ivp(rates, (0, 2), np.r_[1.0, 8.0, 2.0, np.eye(3).ravel()], rtol=1e-12, atol=1e-13, method="DOP853").y
    truth = y[3:, -1].reshape(3, 3)
    coarse, fine = (np.abs(tumbled(dt)[0] - truth).max() for dt in (2e-3, 1e-3))
    assert fine < 1e-3
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_asymmetric_top_neither_gains_nor_loses_energy():
    body = one_body(inertia=(0.1, 0.2, 0.27), spin=(1.0, 8.0, 2.0))
    energy, momentum = kinetic_energy(body), body.momentum.copy()
    errors = []
    for _ in range(100):
        fly(body, WEIGHTLESS, 0.0, 1e-3, 1000)
        errors.append(abs(kinetic_energy(body) / energy - 1))
    assert max(errors) < 1e-4
    assert max(errors[50:]) < 2 * max(errors[:50])  # bounded: it does not grow over 100 s
    assert np.array_equal(body.momentum, momentum)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_free_tumbling_keeps_angular_momentum_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.1, 1, 2)
    inertia = np.sort([a, b, rng.uniform(abs(a - b) + 1e-3, a + b)])
    body = one_body(inertia=inertia, spin=10 * rng.normal(size=3))
    momentum = body.momentum.copy()
    fly(body, WEIGHTLESS, 0.0, 1e-3, 500)
    assert np.array_equal(body.momentum, momentum)
    turn = matrix_from_quaternion(body.orientation[0])
    assert np.abs(turn @ np.diag(inertia) @ turn.T @ body.spin[0] - momentum[0]).max() < 1e-12 * np.abs(momentum).max()


def test_drag_slows_by_its_exponential_whatever_the_step():
    for dt in (1e-3, 1e-2, 0.1):
        body = one_body(velocity=(3.0, -1.0, 2.0), spin=(0, 0, 5.0))
        fly(body, WEIGHTLESS, 0.7, dt, round(2 / dt))
        assert body.velocity[0] == pytest.approx(np.array([3.0, -1.0, 2.0]) * math.exp(-1.4), rel=1e-12)
        assert body.spin[0] == pytest.approx([0, 0, 5.0 * math.exp(-1.4)], rel=1e-12, abs=1e-15)


def test_falling_body_reaches_the_speed_at_which_drag_holds_its_weight():
    body = one_body()
    fly(body, (0.0, 0.0, -9.81), 2.0, 1e-3, 10_000)
    assert body.velocity[0, 2] == pytest.approx(-9.81 / 2.0, rel=1e-3)


def test_thrown_body_flies_a_parabola():
    body = one_body(velocity=(3.0, 0.0, 4.0))
    fly(body, (0.0, 0.0, -9.81), 0.0, 0.01, 100)
    assert body.position[0] == pytest.approx((3.0, 0.0, 4.0 - 9.81 / 2), abs=1e-12)


def test_push_and_force_accelerate_alike_and_twist_and_torque_turn_alike():
    body = one_body(inertia=(0.2, 0.2, 0.2))
    body.force[0], body.push[0] = (2.0, 0, 0), (0, 4.0, 0)
    body.torque[0], body.twist[0] = (0, 0, 0.1), (0, 0, 0.3)
    fly(body, WEIGHTLESS, 0.0, 0.01, 100)
    assert body.velocity[0] == pytest.approx((1.0, 2.0, 0.0))
    assert body.spin[0] == pytest.approx((0, 0, 2.0))


def test_bodies_that_cannot_give_way_stay_as_told():
    bodies = make_bodies(
        np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), np.array([[1.0, 0, 0], [0, 0, 0]]), np.zeros((2, 3)),
        np.array([np.inf, 1.0]), np.ones((2, 3)),
    )  # fmt: skip
    fly(bodies, (0.0, 0.0, -9.81), 0.5, 1e-2, 100)
    assert np.array_equal(bodies.position[0], (0, 0, 0))  # the stage moves it
    assert np.array_equal(bodies.velocity[0], (1, 0, 0))
    assert np.isfinite(kinetic_energy(bodies))
