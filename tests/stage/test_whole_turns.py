"""Angles that are half a turn or more apart are gone through as they were written, as in Blender."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel import Problem, Scene, simulate
from impel.motion.orientations import euler_from_quaternions, quaternion_from_euler
from impel.scene.following import followed
from impel.scene.turning import turn_path
from impel.takes import Take


def fan(**fields: object) -> Scene:
    scene = Scene(seconds=6, gravity=[0, 0, 0])
    scene.body("fan", box=[1, 0.1, 0.05], **fields)
    return scene


def turned(take: Take) -> np.ndarray:
    """The angle about z over time, without jumps, in degrees."""
    return euler_from_quaternions(take.orientation[:, 0])[:, 2]


@pytest.mark.parametrize("angles", [[0, 360], [0, 270], [0, -270], [0, 180], [0, -180], [10, 200, -400], [90, 180]])
def test_a_turn_goes_through_the_angles_written(angles: list[float]) -> None:
    scene = fan(euler=[0, 0, angles[0]])
    scene["fan"].turn([{"euler": [0, 0, angle]} for angle in angles], speed=180, base_angle=20)
    take = simulate(scene)
    way = turned(take) - turned(take)[0] + angles[0]
    assert way[-1] == pytest.approx(angles[-1], abs=1)
    assert max(angles) + 8 > way.max() > max(angles) - 25  # it overshoots a little, and turns back a little early
    assert min(angles) - 8 < way.min() < min(angles) + 25
    reached = [event["details"]["key"] for event in take.events if event["kind"] == "key passed"]
    assert reached == list(range(1, len(angles)))
    assert take.remarks() == []


def test_a_loop_of_a_whole_turn_goes_round_for_ever() -> None:
    scene = fan()
    scene["fan"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 360]}], speed=180, loop=True)
    take = simulate(scene)
    assert 900 < turned(take)[-1] < 1080
    assert [e["details"] for e in take.events if e["kind"] == "key passed"][:2] == [
        {"key": 0, "lap": 1},
        {"key": 0, "lap": 2},
    ]
    scene = fan()
    scene["fan"].turn([{"euler": [0, 0, angle]} for angle in (0, 120, 240)], speed=180, loop=True)
    assert 900 < turned(simulate(scene))[-1] < 1080


def test_quaternions_are_reached_the_shorter_way() -> None:
    scene = fan()
    there = quaternion_from_euler([0, 0, 270]).tolist()
    scene["fan"].turn([{"quaternion": [1, 0, 0, 0]}, {"quaternion": there}], speed=180)
    assert turned(simulate(scene))[-1] == pytest.approx(-90, abs=1)


def test_what_follows_turns_evenly_through_the_angles_written() -> None:
    keys = [{"time": 0}, {"time": 2, "euler": [0, 0, 720]}, {"time": 4, "euler": [0, 0, 450]}]
    take = simulate(fan(follows=keys, linear=True))
    expected = np.interp(take.time, [0, 2, 4], [0, 720, 450])
    np.testing.assert_allclose(turned(take), expected, atol=1e-9)


def test_what_follows_smoothly_stops_where_the_angles_turn_back() -> None:
    """Half the way at half the time, at rest at each of the keys, and at 3/2 of the mean speed in between."""
    keys = [{"time": 0}, {"time": 2, "euler": [0, 0, 720]}, {"time": 4, "euler": [0, 0, 450]}]
    take = simulate(fan(follows=keys))
    u = np.minimum(take.time, 4) / 2
    expected = np.where(u < 1, 720 * u**2 * (3 - 2 * u), 720 - 270 * (u - 1) ** 2 * (5 - 2 * u))
    np.testing.assert_allclose(turned(take), expected, atol=0.5)
    speed = np.gradient(turned(take), take.time)
    assert abs(speed[[0, 120, 240]]).max() < 12
    assert np.ptp(np.diff(speed)) < 60  # nowhere a jerk


angle = st.floats(-800, 800)


@settings(max_examples=50)
@given(st.lists(st.tuples(angle, angle, angle), min_size=1, max_size=5))
def test_every_way_through_angles_is_short_steps_from_key_to_key(keys: list[tuple[float, float, float]]) -> None:
    scene = fan(follows=[{"time": i, "at": [i, 0, 0], "euler": key} for i, key in enumerate(keys)], linear=True)
    times, positions, orientations = followed(scene.bodies["fan"])
    assert np.all(np.diff(times) > 0)
    np.testing.assert_allclose(np.array(positions)[:, 0], times, atol=1e-12)
    whole = {round(t): q for t, q in zip(times, orientations) if t == round(t)}
    for i, key in enumerate(keys):
        np.testing.assert_allclose(whole[i], quaternion_from_euler(key), atol=1e-12)
    other = fan()
    other["fan"].turn([{"euler": key} for key in keys])
    path, written = turn_path(other.actors["fan"].turn)
    np.testing.assert_array_equal(path, orientations)
    assert [key for key in written if key is not None] == list(range(len(keys)))


def test_more_turns_than_can_be_kept_are_refused_in_one_line() -> None:
    scene = fan(follows=[{"time": 0}, {"time": 1, "euler": [0, 0, 0]}, {"time": 2, "euler": [0, 0, 1e9]}])
    scene.body("other", sphere=1, at=[9, 0, 0]).turn([{"euler": [0, 0, 0]}, {"euler": [0, -1e12, 0]}])
    with pytest.raises(Problem) as problem:
        simulate(scene)
    assert problem.value.lines == [
        "scene: bodies.fan.follows: turn round too often; at most 4167 whole turns can be kept",
        "scene: actors.other.turn.keys: turn round too often; at most 4167 whole turns can be kept",
    ]
