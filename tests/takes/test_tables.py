"""The .csv files: what a spreadsheet shows is the motion."""

import csv

import numpy as np
from parade import parade

from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
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


def test_channel_table_holds_every_channel_and_track(tmp_path):
    take = parade(6, 40)
    write_channels_csv(take, tmp_path / "take.csv")
    rows = rows_of(tmp_path / "take.csv")
    assert len(rows) == 40
    assert np.allclose([float(row["body 0.move.distance"]) for row in rows], take.channels["body 0.move.distance"])
    track = np.array([[float(row[f"body 0.move.target.{c}"]) for c in "xyz"] for row in rows])
    assert np.allclose(track, take.tracks["body 0.move.target"])


def test_channel_table_of_a_take_without_channels_still_has_its_frames(tmp_path):
    take = parade(6, 4)
    take.channels, take.tracks = {}, {}
    write_channels_csv(take, tmp_path / "take.csv")
    assert [row["frame"] for row in rows_of(tmp_path / "take.csv")] == ["0", "1", "2", "3"]
