"""Curves through keys: they meet every key, run smoothly, make no loops of their own, and their bounds hold."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from impel.kernel import replace
from impel.motion.follow import follow
from impel.motion.orientations import quaternion_from_euler
from impel.motion.paths import distance_to_path, make_paths, polyline, sample_path, skipped_loops
from impel.motion.splines import FASTEST, SHARPEST

coordinate = st.floats(-5, 5)
positions = st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=2, max_size=7).map(np.array)
degrees = st.floats(-180, 180)
orientations = st.lists(st.tuples(degrees, degrees, degrees), min_size=2, max_size=6).map(quaternion_from_euler)
any_keys = st.one_of(positions, orientations)
HERE = (0.0, 0.0, 0.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def one(keys, loop=False):
    return make_paths([keys], [loop])


def apart(a, b):
    """Distances between positions, angles between orientations."""
    if a.shape[-1] == 3:
        return np.linalg.norm(a - b, axis=-1)
    return 4 * np.arcsin(np.clip(np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)) / 2, 0, 1))


@settings(max_examples=100, deadline=None)
@given(any_keys, st.booleans())
def test_every_key_is_met(keys, loop):
    paths = one(keys, loop)
    points = polyline(paths, 0, 1)
    met = keys[: len(points)]
    assert apart(points[: len(met)], met).max() < 1e-7
    assert apart(points[-1], keys[0] if loop else keys[-1]) < 1e-7


@settings(max_examples=100, deadline=None)
@given(any_keys, st.booleans())
def test_velocity_is_continuous_at_keys(keys, loop):
    """By the centripetal parameter: per segment, u times the root of the chord."""
    paths = one(keys, loop)
    n = len(paths.segments)
    chords = apart(np.roll(keys, -1, axis=0), keys)[:n]
    assume(n > 1 and chords.min() > 1e-3)
    ends, starts = [], []
    for s in range(n):
        rows = sample_segment(paths, s)
        starts.append(rows[0] / math.sqrt(chords[s]))
        ends.append(rows[-1] / math.sqrt(chords[s]))
    for s in range(n if loop else n - 1):
        np.testing.assert_allclose(ends[s], starts[(s + 1) % n], atol=1e-6)


def sample_segment(paths, s):
    single = replace(paths, first_segment=np.array([s, s + 1]))
    return sample_path(single, 0, 4)[1]


@settings(max_examples=100, deadline=None)
@given(any_keys, st.booleans())
def test_bounds_hold_and_velocities_are_those_of_the_points(keys, loop):
    paths = one(keys, loop)
    fine = 256
    points, velocities = sample_path(paths, 0, fine)
    for s, row in enumerate(paths.segments):
        v = velocities[s * fine : (s + 1) * fine]
        assert np.linalg.norm(v, axis=1).max(initial=0) <= row[FASTEST] * (1 + 1e-9) + 1e-12
        bends = np.linalg.norm(np.diff(v, axis=0), axis=1) * fine
        assert bends.max(initial=0) <= row[SHARPEST] * (1 + 1e-6) + 1e-6
        steps = apart(points[s * fine + 1 : (s + 1) * fine + 1], points[s * fine : (s + 1) * fine])
        gone = np.linalg.norm(v, axis=1).mean()
        assert gone == pytest.approx(steps.sum(), rel=2e-3, abs=row[FASTEST] / fine + 1e-5)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate), min_size=4, max_size=4).map(np.array))
def test_uneven_keys_make_no_loop_within_a_segment(flat):
    """What the centripetal parameter is for: with uniform parameters many of these would cross themselves."""
    keys = np.column_stack([flat, np.zeros(4)])
    assume(np.linalg.norm(np.diff(keys, axis=0), axis=1).min() > 0.05)
    points = polyline(one(keys), 0, 40)[40:81, :2]
    assert not crosses_itself(points)


def crosses_itself(points):
    a, b = points[:-1], points[1:]

    def side(p, q, r):
        return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])

    i, j = np.triu_indices(len(a), 2)
    one_side = side(a[i], b[i], a[j]) * side(a[i], b[i], b[j])
    other = side(a[j], b[j], a[i]) * side(a[j], b[j], b[i])
    return bool(np.any((one_side < -1e-12) & (other < -1e-12)))


def test_the_check_for_crossings_sees_one():
    assert crosses_itself(np.array([[0.0, 0], [2, 0], [2, 1], [1, -1]]))


def test_two_keys_make_a_straight_line_at_even_speed():
    points = polyline(one([[0, 0, 0], [1, 2, 3]]), 0, 8)
    np.testing.assert_allclose(points, np.linspace(0, 1, 9)[:, None] * [1, 2, 3], atol=1e-14)


@pytest.mark.parametrize("angle", [10, 120, 180])
def test_two_orientations_make_an_even_turn(angle):
    points = polyline(one(quaternion_from_euler([[0, 0, 0], [0, 0, angle]])), 0, 6)
    expected = quaternion_from_euler([[0, 0, angle * k / 6] for k in range(7)])
    assert apart(points, expected).max() < 1e-7


def test_half_turns_go_on_the_way_they_came():
    """0, 90, 270, 450 degrees, with whatever signs the quaternions have: always onwards."""
    keys = quaternion_from_euler([[0, 0, 0], [0, 0, 90], [0, 0, 270], [0, 0, 450]])
    for signs in ((1, 1, 1, 1), (1, -1, 1, -1), (-1, 1, 1, 1), (1, 1, -1, 1)):
        _, spins = sample_path(one(keys * np.array(signs)[:, None]), 0, 8)
        assert spins[:, 2].min() > 0.5
        assert np.abs(spins[:, :2]).max() < 1e-6


def test_coincident_keys_survive():
    keys = [[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0]]
    for loop in (False, True):
        points, velocities = sample_path(one(keys, loop), 0, 8)
        assert np.isfinite(points).all()
        assert np.isfinite(velocities).all()
        np.testing.assert_allclose(points[8:25], np.tile([1, 0, 0], (17, 1)), atol=1e-12)
    still = polyline(one(quaternion_from_euler(np.zeros((3, 3)))), 0, 4)
    assert apart(still, np.array([1.0, 0, 0, 0])).max() < 1e-12
    assert np.isfinite(polyline(one([[1, 2, 3]], True), 0, 4)).all()


def test_a_loop_may_repeat_its_first_key_or_not():
    keys = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    np.testing.assert_array_equal(one(keys, True).segments, one([*keys, keys[0]], True).segments)


def test_distance_to_the_path():
    paths = make_paths(
        [[[0, 0, 0], [1, 0, 0], [2, 0, 0]], quaternion_from_euler([[0, 0, 0], [0, 0, 90]])], [False, False]
    )
    assert distance_to_path(paths, 0, (0.37, 0.3, 0.4), UPRIGHT, 0)[0] == pytest.approx(0.5, abs=1e-6)
    assert distance_to_path(paths, 0, (-1.0, 0.0, 0.0), UPRIGHT, 0)[0] == pytest.approx(1.0, abs=1e-9)
    q = tuple(quaternion_from_euler([20, 0, 0]).tolist())
    assert distance_to_path(paths, 1, HERE, q, 0)[0] == pytest.approx(math.radians(20), abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(positions, st.tuples(coordinate, coordinate, coordinate), st.integers(-1, 1000))
def test_distance_to_any_path_is_that_of_its_nearest_point_wherever_one_looks_first(keys, x, hint):
    paths = one(keys)
    nearest = np.linalg.norm(polyline(paths, 0, 500) - np.array(x), axis=1).min()
    step = paths.segments[:, FASTEST].max() / 500
    assert nearest - step - 1e-12 <= distance_to_path(paths, 0, x, UPRIGHT, hint)[0] <= nearest + 1e-3 * step + 1e-12


def circle(radius, n=12):
    return [[radius * math.cos(a), radius * math.sin(a), 0] for a in np.arange(n + 1) * math.tau / n]


def test_loops_that_will_be_skipped_are_found():
    lead = [[-3, 0.1, 0], [-1, 0.1, 0]]
    assert skipped_loops(one(lead + circle(0.1)), 0, base_distance=0.3)
    assert not skipped_loops(one(lead + circle(0.4)), 0, base_distance=0.3)
    corner = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert not skipped_loops(one(corner), 0, base_distance=0.3)
    assert not skipped_loops(one([[0, 0, 0], [1, 0, 0]]), 0, base_distance=0.3)


def test_following_is_linear_and_even():
    times = np.array([0.0, 1.0, 3.0])
    x = np.array([[0.0, 0, 0], [1, 0, 0], [1, 4, 0]])
    q = quaternion_from_euler([[0, 0, 0], [0, 0, 90], [0, 0, 90]])
    for t, where, angle in (
        (-1.0, [0, 0, 0], 0),
        (0.0, [0, 0, 0], 0),
        (0.25, [0.25, 0, 0], 22.5),
        (0.75, [0.75, 0, 0], 67.5),
        (1.0, [1, 0, 0], 90),
        (2.0, [1, 2, 0], 90),
        (3.0, [1, 4, 0], 90),
        (9.0, [1, 4, 0], 90),
    ):
        at, turned = follow(times, x, q, 0, 3, t)
        np.testing.assert_allclose(at, where, atol=1e-15)
        assert apart(np.array(turned), quaternion_from_euler([0, 0, angle])) < 1e-12
