"""Keys with times: be there then, stay so long, pass so fast; and what becomes of it when something is in the way."""

from typing import Any

import numpy as np
import pytest
from rewinding import differences

from impel import Scene, play
from impel.gallery.entries import blow
from impel.gallery.loading import gallery_scene
from impel.scene import parse_scene
from impel.stage import Performance, simulate
from impel.takes import Take


def travel(keys: list[Any], seconds: float, **fields: Any) -> Take:
    scene = Scene(seconds=seconds)
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1]).move(keys, **fields)
    return simulate(scene)


def at(take: Take, time: float) -> np.ndarray:
    return take.position[round(60 * time), 0]


def test_body_is_at_its_keys_at_their_times_and_stays_where_it_holds() -> None:
    keys = [[0, 0, 1], {"at": [1, 0, 1], "time": 1, "hold": 0.5}, [1, 1, 1.5], {"at": [0, 1, 1], "time": 3}]
    take = travel(keys, 4)
    for time, place in ((1, [1, 0, 1]), (1.5, [1, 0, 1]), (3, [0, 1, 1]), (4, [0, 1, 1])):
        assert np.linalg.norm(at(take, time) - place) < 1e-3
    assert np.ptp(take.position[60:91, 0], axis=0).max() < 1e-3
    told = [(event["details"]["key"], event["time"]) for event in take.events if event["kind"] == "key reached"]
    assert [key for key, _ in told] == [1, 2, 3]
    assert told[0][1] == pytest.approx(1, abs=0.02)
    assert told[2][1] == pytest.approx(3, abs=0.02)


def test_extremes_of_a_swing_are_reached_on_time() -> None:
    scene = Scene(seconds=3)
    arm = scene.body("arm", capsule={"radius": 0.05, "length": 0.5}, mass=1, at=[0.25, 0, 1.5], euler=[0, 90, 0])
    scene.joint("shoulder", hinge=["world", arm], at=[0, 0, 1.5], axis=[0, 1, 0])
    times = {0.5: 50, 1.1: 130, 1.8: 50, 2.8: 130}
    arm.turn([{"euler": [0, 90, 0]}, *({"euler": [0, angle, 0], "time": time} for time, angle in times.items())])
    q = simulate(scene).orientation[:, 0]
    angles = np.degrees(2 * np.arctan2(q[:, 2], q[:, 0]))
    for time, angle in times.items():
        assert angles[round(60 * time)] == pytest.approx(angle, abs=0.2)
    assert angles.min() > 49.8
    assert angles.max() < 130.2


def test_uneven_keys_of_an_even_motion_give_an_even_motion() -> None:
    times = [0, 0.3, 0.9, 1.1, 2.5, 3, 3.5]
    keys = [{"at": [t, 0, 1], "time": t} for t in times]
    keys[0]["speed"] = 1
    speed = travel(keys, 3).channels["ball.speed"][60:170]
    assert np.abs(speed - 1).max() < 0.005


def test_body_does_not_go_beyond_the_key_where_it_turns_back() -> None:
    take = travel([[0, 0, 1], {"at": [1, 0, 1], "time": 0.5}, {"at": [0, 0, 1], "time": 2.5}], 3)
    assert take.position[:, 0, 0].max() == pytest.approx(1, abs=1e-3)
    assert take.position[:, 0, 0].min() > -1e-3


@pytest.mark.parametrize("speed", [2.0, 0.3])
def test_key_is_passed_as_fast_as_it_says(speed: float) -> None:
    take = travel([[0, 0, 1], {"at": [1, 0, 1], "speed": speed}, [2, 0, 1]], 4, speed=1)
    assert np.interp(1, take.position[:, 0, 0], take.channels["ball.speed"]) == pytest.approx(speed, rel=0.05)


def test_key_is_passed_in_the_direction_that_it_says() -> None:
    take = travel([[0, 0, 1], {"at": [1, 0, 1], "time": 1, "speed": 1, "direction": [0, 1, 0]}, [2, 0, 1]], 3)
    velocity = 30 * (at(take, 1 + 1 / 60) - at(take, 1 - 1 / 60))
    assert velocity == pytest.approx([0, 1, 0], abs=0.05)


def test_keys_without_times_share_the_time_between_their_neighbours() -> None:
    take = travel([[0, 0, 1], [1, 0, 1], [2, 0, 1], {"at": [4, 0, 1], "time": 4}], 4)
    target = take.tracks["ball.move.target"][:, 0]
    assert target[-1] == pytest.approx(4, abs=1e-3)
    assert (np.diff(target) > 0).all()
    assert np.diff(target).max() * 60 < 1.6


def held_up(seconds: float, late: str, until: float) -> np.ndarray:
    """Time, speed and lateness of a ball that a wall holds up from 2 s on, on a straight way of 1 m/s."""
    scene = Scene(seconds=until, gravity=[0, 0, 0])
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1])
    ball.move([{"at": [0, 0, 1], "speed": 1}, {"at": [until, 0, 1], "time": until, "speed": 1}], late=late)
    away = 1.9 + seconds
    wall = [{"time": 0, "at": [2.2, 0, 1]}, {"time": away, "at": [2.2, 0, 1]}, {"time": away + 0.05, "at": [2.2, 0, 9]}]
    scene.body("wall", box=[0.2, 1, 1], follows=wall, linear=True)
    performance, rows = Performance(scene), []
    while performance.time < until - 1e-9:
        performance.next_frame()
        stage = performance.stage
        assert stage.actuators is not None
        rows.append((performance.time - away, stage.bodies.velocity[0, 0], stage.actuators.clocks.late[0]))
    return np.array(rows)


@pytest.mark.parametrize(("seconds", "late", "until", "peak"), [(1, "wait", 5, 1.15), (10, "wait", 14, 1.15)])
def test_who_was_held_up_does_not_shoot_off(seconds: float, late: str, until: float, peak: float) -> None:
    rows = held_up(seconds, late, until)
    assert rows[rows[:, 0] > 0, 1].max() < peak
    assert rows[-1, 2] == pytest.approx(seconds, abs=0.2)  # and stays late


def test_who_catches_up_hurries_a_little_and_is_punctual_again() -> None:
    rows = held_up(1, "catch_up", 8)
    assert rows[rows[:, 0] > 0, 1].max() < 1.4
    assert rows[rows[:, 0] > 4.5, 2].max() < 0.02


def test_who_was_held_up_for_long_is_punctual_again_too() -> None:
    rows = held_up(10, "catch_up", 60)
    assert rows[rows[:, 0] > 0, 1].max() < 1.4
    assert rows[rows[:, 0] > 45, 2].max() < 0.02


def test_with_times_an_arm_gives_way_to_a_blow_as_without(monkeypatch) -> None:
    """As stiff as without, and once round in the time that it takes without."""
    without = blow.measure(blow.play())
    stiffness = {"alpha": 0.04, "relaxation": 0.05, "base_angle": 3}  # 2α/Δt² is (2·B·speed/base_angle)²

    def with_times(name: str, **world: Any) -> Scene:
        document = gallery_scene(name, **world).to_document()
        for link, turn in ((link, actor["turn"]) for link, actor in document["actors"].items()):
            keys = [*turn["keys"], turn["keys"][0]] if link == "upper" else turn["keys"]
            timed = [keys[0], *({**key, "time": 2.0 * k} for k, key in enumerate(keys[1:], 1))]
            document["actors"][link]["turn"] = {"keys": timed, "loop": link == "upper", **stiffness}
        return parse_scene(document)

    monkeypatch.setattr(blow, "gallery_scene", with_times)
    found = blow.measure(blow.play())
    assert found.deflection == pytest.approx(without.deflection, rel=0.05)
    assert found.left < 0.002


def test_loop_with_times_goes_round_in_its_period() -> None:
    keys = [{"at": [0, 0, 1]}, {"at": [1, 0, 1], "time": 0.5, "hold": 0.25}, {"at": [0, 0, 1], "time": 1.5}]
    take = travel(keys, 5, loop=True)
    x = take.position[:, 0, 0]
    assert x[120:180] == pytest.approx(x[210:270], abs=2e-3)
    assert x[120] == pytest.approx(1, abs=2e-3)
    assert np.abs(np.diff(x[120:135])).max() < 1e-3


def test_times_can_be_changed_while_it_plays() -> None:
    scene = Scene(seconds=4)
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1]).move([[0, 0, 1], {"at": [2, 0, 1], "time": 2}])
    show = play(scene)
    for frame in show:
        if frame.number == 30:
            show.change("actors.ball.move.keys.1.time", 3.5)
    take = show.take()
    assert at(take, 3.5) == pytest.approx([2, 0, 1], abs=2e-3)
    assert at(take, 2)[0] < 1.5
    assert (simulate(show.to_scene()).position == take.position).all()


def test_clocks_are_part_of_a_snapshot() -> None:
    scene = Scene(seconds=1.5)
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1]).move(
        [[0, 0, 1], {"at": [1, 0, 1], "time": 0.5, "hold": 0.2}, {"at": [0, 0.5, 1], "time": 1.4}]
    )
    scene.body("crate", box=[0.2, 0.2, 0.2], mass=3, at=[0.7, 0, 1.4])
    assert differences(scene, 6) == []
