"""The behaviour equation of sequential goals against a plain integration of it, and its branches against each other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from impel.control.courses import (
    axes_for,
    inverse_left_jacobian,
    left_jacobian,
    paper_ending,
    rate_after,
    shape_of,
    smooth_ending,
    solve_shape,
)
from impel.motion.orientations import matrix_from_quaternion
from impel.motion.rotations import exponential


def plain_way(d, rate, alpha, beta2, seconds):
    """Eq. 3 by a general integrator."""

    def change(_, y):
        return [y[1], 2 * alpha * y[1] - (alpha**2 + beta2) * y[0]]

    return solve_ivp(change, (0, seconds), [d, rate], rtol=1e-11, atol=1e-13).y[:, -1]


@pytest.mark.parametrize(
    ("d", "rate", "left", "ending"),
    [
        (1.0, -1.0, 1.0, -1.0),  # straight on, evenly
        (2.0, 0.0, 0.7, -3.0),  # from rest
        (-0.4, 1.5, 0.5, 0.3),  # from the other side, slowing down
        (1.0, -2.6, 1.0, -1.2),  # so fast that only the hyperbolic branch ends in time
        (1.0, 2.0, 1.0, -0.5),  # away from the goal first
    ],
)
def test_the_equation_leads_to_nothing_in_time_with_the_velocity_that_was_asked_for(d, rate, left, ending):
    k, growth = -ending * left / d, rate * left / d
    s = solve_shape(growth - math.log(k) + 1, 0.0)
    b = math.sqrt(abs(s))
    turn = 1 - s / 3 if b < 1e-3 else b / (math.tan(b) if s > 0 else math.tanh(b))
    alpha = (growth + turn) / left
    x, v = plain_way(d, rate, alpha, s / left**2, left)
    assert abs(x) < 1e-8 * abs(d)
    assert v == pytest.approx(ending, rel=1e-6)
    found, cubic, bend = rate_after(d, rate, left, ending, 0.3 * left, 0.0, 0.0)
    assert bend == pytest.approx(s / left**2)
    assert cubic == 0.0
    assert found == pytest.approx(plain_way(d, rate, alpha, s / left**2, 0.3 * left)[1], rel=1e-7)


def test_a_body_that_is_all_but_there_and_in_motion_goes_by_a_cubic():
    for d in (2e-12, -2e-12, 1e-9):
        found, cubic, _ = rate_after(d, 30.0, 0.3, -5.0, 0.004, 0.0, 0.0)
        assert math.isfinite(found)
        assert cubic == 1.0


@pytest.mark.parametrize("ending", [0.0, -0.02, 0.5])  # at rest, hardly moving, turning back
def test_what_the_equation_cannot_do_a_cubic_does(ending):
    d, rate, left, h = 1.0, 0.5, 2.0, 1e-3
    x, v, t = d, rate, 0.0
    while t < left - 1e-9:
        soon, cubic, _ = rate_after(x, v, left - t, ending, h, 1.0 if t > 0 else 0.0, 0.0)
        assert cubic == 1.0
        x, v, t = x + h * (v + soon) / 2, soon, t + h
    assert abs(x) < 1e-5
    assert v == pytest.approx(ending, abs=1e-2)


def test_the_shape_grows_from_branch_to_branch_without_a_step():
    s = np.concatenate([np.linspace(-144, 9.8, 20001), np.linspace(-3e-4, 3e-4, 2001)])
    s.sort()
    values, slopes = np.array([shape_of(x) for x in s]).T
    assert np.all(np.diff(values) > 0)
    assert np.all(slopes > 0)
    assert np.abs(np.diff(values[s < 4])).max() < 0.01  # towards π² it becomes infinite
    for y, guess in itertools.product((-2.1, -0.3, -1e-7, 0.0, 1e-9, 0.5, 3.0, 40.0), (-100.0, 0.0, 0.1, 9.0)):
        assert shape_of(solve_shape(y, guess))[0] == pytest.approx(y, rel=1e-9, abs=1e-12)


vectors = st.tuples(*[st.floats(-3, 3)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3)


@given(vectors, vectors)
@example((1.0, 2.0, 3.0), (1.0 + 1e-8, 2.0, 3.0))
@settings(max_examples=50, deadline=None)
def test_in_its_own_axes_a_course_has_three_equal_components(way, onward):
    axes = np.array(axes_for(way, onward))
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(axes @ way, np.linalg.norm(way) / math.sqrt(3), rtol=1e-9)
    y, z = (axes @ onward)[1:]
    assert y == pytest.approx(z, abs=1e-6)  # onward lies in the plane of (1, 1, 1) and (1, 0, 0)


def test_endings_lie_between_the_means_and_rest_before_a_rest():
    slow, fast = (1.0, 0.0, 0.0), (2.0, 0.2, 0.0)
    assert smooth_ending(slow, 1.0, fast, 3.0) == pytest.approx((1.25, 0.05, 0.0))
    assert smooth_ending(slow, 1.0, (0.0, 0.0, 0.0), 1.0) == (0.0, 0.0, 0.0)
    for one, other in ((slow, fast), (fast, slow)):
        ending = np.array(paper_ending(one, 1.0, other, 1.0, other))
        assert 0.8 < np.linalg.norm(ending) < 2.1
        assert min(np.linalg.norm(one), np.linalg.norm(other)) * 0.8 < np.linalg.norm(ending)


@given(vectors, vectors)
@settings(max_examples=50, deadline=None)
def test_the_spin_of_a_rotation_whose_vector_changes(d, change):
    h = 1e-6
    before, after = (matrix_from_quaternion(exponential(tuple(np.add(d, s * h * np.array(change))))) for s in (-1, 1))
    spin_matrix = (after - before) / (2 * h) @ matrix_from_quaternion(exponential(d)).T
    spin = np.array([spin_matrix[2, 1], spin_matrix[0, 2], spin_matrix[1, 0]])
    np.testing.assert_allclose(left_jacobian(d, change), spin, atol=1e-7)
    if np.linalg.norm(d) < 3:
        np.testing.assert_allclose(inverse_left_jacobian(d, tuple(spin)), change, atol=1e-6)
