"""Toy files: written, edited, read back; mistakes named in plain lines."""

import numpy as np
import pytest

from impel.files import Problem, write_document
from impel.toys.figure import load_figure
from impel.toys.toy import Sensor, read_toy, run_toy, toy_of, write_toy

HOPPER = {
    "figure": "luxo",
    "poses": [{"ankle": -60, "elbow": -97.8}, {"ankle": -5.8, "elbow": 28.5}],
    "times": [0.14, 0.1],
    "interpolation": "hold",
}


def test_a_toy_survives_its_file(tmp_path):
    luxo = load_figure("luxo")
    toy = toy_of(luxo, np.radians([[-10.0, 20.0], [5.5, -7.25]]), 0.14, interpolation="linear")
    write_toy(tmp_path / "toy.yaml", toy)
    back, figure = read_toy(tmp_path / "toy.yaml")
    assert back == toy
    assert figure.figure == "luxo"
    assert back.angles(figure) == pytest.approx(np.radians([[-10.0, 20.0], [5.5, -7.25]]))


def test_sensors_are_read_and_used(tmp_path):
    poses = [{"ankle": -10, "elbow": 0}, {"ankle": 10, "elbow": 0}]  # rocks on its base
    document = HOPPER | {"poses": poses, "sensors": [None, {"touches": "toe"}], "times": [0.14, 5.0]}
    write_document(tmp_path / "toy.yaml", document)
    toy, figure = read_toy(tmp_path / "toy.yaml")
    assert toy.sensor_codes(figure).tolist() == [0, 2]
    write_toy(tmp_path / "again.yaml", toy)
    assert read_toy(tmp_path / "again.yaml")[0] == toy
    result = run_toy(toy, figure, seconds=1.0)
    changes = np.abs(np.diff(result.samples[0, :, result.rows.target.start])) > 0.1
    assert changes.sum() >= 3  # by the clock alone it would have changed once


def test_a_run_with_sensors_and_short_arcs_is_recorded_to_its_end():
    luxo = load_figure("luxo")
    at_once = [Sensor(touches="toe"), None]  # the base stands: the long arc ends after one step
    toy = toy_of(luxo, np.zeros((2, 2)), [0.5, 0.00101], sensors=at_once)
    result = run_toy(toy, luxo, seconds=2.0, step=2e-3)
    assert result.time[0] == pytest.approx(2.0)
    assert result.samples[0, -1, result.rows.time] == pytest.approx(2.0, abs=2e-3)


STRAIGHT = {"ankle": 0, "elbow": 0}
BROKEN = {
    "times": ({"times": [0.1]}, "times: needs one time for each of the 2 poses, got 1"),
    "negative time": ({"times": [0.1, -1]}, "times.1: must be greater than 0, got -1"),
    "joint": ({"poses": [{"ankle": 0, "knee": 0}, {"ankle": 0, "elbow": 0}]}, "poses.0.elbow: is missing"),
    "range": ({"poses": [{"ankle": 90, "elbow": 0}, STRAIGHT]}, "poses.0.ankle: must lie within the range -60 to 60"),
    "nan": ({"poses": [{"ankle": float("nan"), "elbow": 0}, STRAIGHT]}, "poses.0.ankle: must be a finite number"),
    "sensor": ({"sensors": [None, {"touches": "paw"}]}, "sensors.1: luxo has no contact point named 'paw'"),
    "both": ({"sensors": [None, {"touches": "toe", "leaves": "toe"}]}, "sensors.1: give either touches or leaves"),
    "figure": ({"figure": "lux"}, "lux: no such figure"),
    "short time": ({"times": [0.1, 1e-9]}, "times.1: must be at least 0.001, got 1e-09"),
    "interpolation": ({"interpolation": "smooth"}, "interpolation: must be 'hold' or 'linear', got 'smooth'"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_toys_are_refused(case, tmp_path):
    change, expected = BROKEN[case]
    write_document(tmp_path / "toy.yaml", HOPPER | change)
    with pytest.raises(Problem) as problem:
        read_toy(tmp_path / "toy.yaml")
    assert any(expected in line for line in problem.value.lines), problem.value.lines
