"""The .csv files: what a spreadsheet shows is the motion."""

import csv
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parade import parade

from impel.motion.orientations import (
    euler_from_quaternions,
    matrix_from_quaternion,
    multiply_quaternions,
    quaternion_from_euler,
)
from impel.takes import write_channels_csv, write_csv


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_motion_table_holds_every_body_at_every_frame(tmp_path):
    take = parade(6, 40)
    take.names[2] = 'ball, the "red" one'
    write_csv(take, tmp_path / "take.csv")
    rows = rows_of(tmp_path / "take.csv")
    assert len(rows) == 6 * 40
    assert [row["body"] for row in rows[:6]] == take.names
    assert [int(row["frame"]) for row in rows] == np.repeat(np.arange(40), 6).tolist()
    assert np.allclose([float(row["time"]) for row in rows], np.repeat(take.time, 6), atol=1e-9)
    position = np.array([[float(row[c]) for c in "xyz"] for row in rows]).reshape(40, 6, 3)
    assert np.allclose(position, take.position, atol=1e-8)
    euler = np.array([[float(row[f"turn {c}"]) for c in "xyz"] for row in rows]).reshape(40, 6, 3)
    assert np.allclose(
        matrix_from_quaternion(quaternion_from_euler(euler)), matrix_from_quaternion(take.orientation), atol=1e-7
    )
    assert np.abs(np.diff(euler, axis=0)).max() < 90  # no jumps from 180 to -180


def test_a_somersault_is_one_smooth_column(tmp_path):
    """About y, as planar toys turn: through 90 degrees and on, where the usual angles flip by 180 about x and z."""
    take = parade(3, 41)
    told = np.zeros((41, 3, 3))
    told[:, 2, 1] = np.linspace(0, 720, 41)  # 90 degrees is a frame itself
    take.orientation = quaternion_from_euler(told)
    write_csv(take, tmp_path / "take.csv")
    rows = rows_of(tmp_path / "take.csv")
    euler = np.array([[float(row[f"turn {c}"]) for c in "xyz"] for row in rows]).reshape(41, 3, 3)
    np.testing.assert_allclose(euler, told, atol=1e-6)


def same_turn(euler, orientation):
    np.testing.assert_allclose(
        matrix_from_quaternion(quaternion_from_euler(euler)), matrix_from_quaternion(orientation), atol=1e-8
    )


def equals(triple):
    """Angles near by that turn a body just as these do."""
    turns = np.array(list(itertools.product((-720, -360, 0, 360, 720), repeat=3)))
    return np.concatenate([triple + turns, np.array([180, 180, 180]) + triple * [1, -1, 1] + turns])


ANGLES = st.floats(-180, 180)


@given(ANGLES, ANGLES, st.sampled_from([-90, 90]), st.floats(0.1, 80), st.integers(1, 10), st.integers(0, 2**31))
def test_turning_through_ninety_degrees_about_y_leaves_the_other_angles_alone(x, z, lock, step, frames, seed):
    """The middle angle alone moves, with one frame where the others cannot be told apart; rounding must not decide."""
    told = np.empty((2 * frames + 1, 3))
    told[:, 0], told[:, 1], told[:, 2] = x, lock + step * np.arange(-frames, frames + 1), z
    orientation = quaternion_from_euler(told) + np.random.default_rng(seed).normal(0, 1e-15, (len(told), 4))
    euler = euler_from_quaternions(orientation)
    same_turn(euler, orientation)
    assert np.ptp(euler[:, [0, 2]], axis=0).max() < 1e-5
    np.testing.assert_allclose(np.abs(np.diff(euler[:, 1])), step, atol=1e-5)


@given(st.tuples(ANGLES, st.floats(-180, 180) | st.floats(89, 91), ANGLES), st.integers(0, 2**31), st.floats(0, 60))
def test_of_all_angles_that_give_the_orientation_a_frame_has_the_nearest_to_the_one_before(start, seed, degrees):
    """A body turns steadily about any axis, by up to 60 degrees a frame, near or far from 90 degrees about y."""
    axis = np.random.default_rng(seed).normal(size=3)
    half = np.radians(degrees) / 2 * np.arange(12)[:, None]
    turning = np.concatenate([np.cos(half), np.sin(half) * axis / np.linalg.norm(axis)], axis=1)
    orientation = multiply_quaternions(turning, quaternion_from_euler(start))
    euler = euler_from_quaternions(orientation)
    same_turn(euler, orientation)
    assert np.abs(euler[0, 1]) <= 90 + 1e-6
    for before, now in itertools.pairwise(euler):
        assert np.linalg.norm(now - before) <= np.linalg.norm(equals(now) - before, axis=1).min() + 1e-6


def test_a_frame_without_an_orientation_does_not_spoil_those_after_it():
    told = np.array([[0.0, 80, 10], [0, 100, 10], [0, 120, 10]])
    orientation = quaternion_from_euler(told)
    orientation[1] = np.nan
    assert euler_from_quaternions(orientation)[2] == pytest.approx(told[2])


def test_channel_table_holds_every_channel_and_track(tmp_path):
    take = parade(6, 40)
    write_channels_csv(take, tmp_path / "take.csv")
    rows = rows_of(tmp_path / "take.csv")
    assert len(rows) == 40
    assert np.allclose([float(row["body 0.move.distance"]) for row in rows], take.channels["body 0.move.distance"])
    track = np.array([[float(row[f"body 0.move.target.{c}"]) for c in "xyz"] for row in rows])
    assert np.allclose(track, take.tracks["body 0.move.target"])


def test_channel_table_tells_orientations_in_degrees(tmp_path):
    take = parade(6, 40)
    told = np.stack([np.linspace(0, 200, 40), np.full(40, 30.0), np.linspace(0, -80, 40)], axis=-1)
    take.tracks = {"body 0.turn.target": quaternion_from_euler(told)}
    write_channels_csv(take, tmp_path / "take.csv")
    rows = rows_of(tmp_path / "take.csv")
    track = np.array([[float(row[f"body 0.turn.target.{c}"]) for c in "xyz"] for row in rows])
    assert np.allclose(track, told, atol=1e-6)


def test_channel_table_of_a_take_without_channels_still_has_its_frames(tmp_path):
    take = parade(6, 4)
    take.channels, take.tracks = {}, {}
    write_channels_csv(take, tmp_path / "take.csv")
    assert [row["frame"] for row in rows_of(tmp_path / "take.csv")] == ["0", "1", "2", "3"]
