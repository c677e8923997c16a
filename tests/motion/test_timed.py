"""Curves through keys with times: on time at every key, at rest where they should be, and nowhere beyond a key."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.motion.orientations import quaternion_from_euler
from impel.motion.splines import pose_at
from impel.motion.timed import timed_positions, timed_segments

spans = st.floats(0.05, 3)
coordinate = st.floats(-5, 5)
degrees = st.floats(-80, 80)


@st.composite
def timed(draw, key):
    keys = draw(st.lists(key, min_size=2, max_size=7))
    steps = draw(st.lists(spans, min_size=len(keys) - 1, max_size=len(keys) - 1))
    return np.array(keys), np.cumsum([0.0, *steps])


positions = timed(st.tuples(coordinate, coordinate, coordinate))
orientations = timed(st.tuples(degrees, degrees, degrees).map(lambda e: tuple(quaternion_from_euler(e))))


def velocities(keys, times):
    """At the start and at the end of every segment."""
    rows, turns = timed_segments(keys, times), keys.shape[1] == 4
    return np.array([[pose_at(row, u, turns)[1] for u in (0.0, 1.0)] / h for row, h in zip(rows, np.diff(times))])


@settings(max_examples=100, deadline=None)
@given(st.one_of(positions, orientations))
def test_keys_are_met_on_time_with_one_velocity_and_the_ends_at_rest(motion):
    keys, times = motion
    rows, turns = timed_segments(keys, times), keys.shape[1] == 4
    for i, row in enumerate(rows):
        for end, u in enumerate((0.0, 1.0)):
            met = np.array(pose_at(row, u, turns)[0])
            wanted = keys[i + end] if turns else [*keys[i + end], 0.0]
            assert min(abs(met - wanted).max(), abs(met + wanted).max() if turns else np.inf) < 1e-9
    speeds = velocities(keys, times)
    np.testing.assert_allclose(speeds[:-1, 1], speeds[1:, 0], atol=1e-7)
    assert abs(speeds[[0, -1], [0, -1]]).max() < 1e-12


@settings(max_examples=100, deadline=None)
@given(timed(coordinate.map(lambda x: (x, 0.0, 0.0))))
def test_on_a_line_nothing_goes_beyond_the_keys(motion):
    keys, times = motion
    for i in range(len(times) - 1):
        x = timed_positions(keys, times, np.linspace(times[i], times[i + 1], 50))[:, 0]
        low, high = sorted(keys[i : i + 2, 0])
        assert x.min() >= low - 1e-9
        assert x.max() <= high + 1e-9


def test_a_repeated_key_holds():
    keys, times = [[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 1, 0]], [0.0, 1.0, 2.0, 3.0]
    np.testing.assert_array_equal(timed_positions(keys, times, np.linspace(1, 2, 20)), np.tile([1, 0, 0], (20, 1)))
    assert abs(velocities(np.array(keys, float), np.array(times))[1:3, 0]).max() == 0.0


def test_uneven_keys_of_an_even_motion_are_passed_evenly():
    times = np.array([0.0, 1.0, 1.1, 1.7, 2.0, 3.0])
    speeds = velocities(np.column_stack([times, 2 * times, 0 * times]), times)
    np.testing.assert_allclose(speeds[1:-1, :, 0], 1.0, atol=1e-12)


def test_the_way_turns_back_at_rest():
    keys, times = np.array([[0, 0, 0], [1.0, 0, 0], [0, 0, 0]]), np.array([0.0, 0.2, 3.0])
    assert abs(velocities(keys, times)[0, 1]).max() < 1e-12


def test_orientations_ease_like_positions():
    """About one axis they are the same cubic."""
    angles, times = np.array([0.0, 40, 100, 60]), np.array([0.0, 1.0, 1.5, 4.0])
    rows = timed_segments(quaternion_from_euler(np.column_stack([0 * angles, 0 * angles, angles])), times)
    for i, row in enumerate(rows):
        for u in np.linspace(0, 1, 9):
            q = pose_at(row, u, True)[0]
            now = times[i] + u * (times[i + 1] - times[i])
            at = timed_positions(np.column_stack([angles, 0 * angles, 0 * angles]), times, [now])
            assert np.degrees(2 * np.arctan2(q[3], q[0])) == pytest.approx(at[0, 0], abs=1e-9)
