"""Friction that is in the way of an actor is overcome, as far as its strength goes; a wall is not."""

import re

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take

KG, FRICTION = 10.0, 0.6


def box_on_the_floor(mass: float = KG, **wish: object) -> Scene:
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True, coating={"friction": FRICTION})
    box = scene.body("box", box=[0.4, 0.4, 0.4], mass=mass, at=[0, 0, 0.2], coating={"friction": FRICTION})
    for kind, fields in wish.items():
        getattr(box, kind)(**fields)
    return scene


def yaw(take: Take) -> np.ndarray:
    q = take.orientation[:, take.index("box")]
    return np.degrees(2 * np.arctan2(q[:, 3], q[:, 0]))


def cubic(time: np.ndarray, seconds: float) -> np.ndarray:
    """From rest to rest."""
    s = np.clip(time / seconds, 0, 1)
    return 3 * s**2 - 2 * s**3


@pytest.mark.parametrize("way", [1.0, 0.1])
@pytest.mark.parametrize("mass", [0.5, KG, 200])
def test_a_slow_slide_is_on_time_and_takes_the_force_of_friction(way: float, mass: float) -> None:
    take = simulate(box_on_the_floor(mass, move={"keys": [[0, 0, 0.2], {"at": [way, 0, 0.2], "time": 4}]}))
    x = take.position[:, take.index("box"), 0]
    assert np.abs(x - way * cubic(take.time, 4)).max() < 0.01 * way + 0.002
    force = take.channels["box.move.force"]
    assert force[120] == pytest.approx(FRICTION * mass * 9.81, rel=0.1)
    assert force[-1] < 0.3 * force[120]  # at rest nothing is pushed at


def test_a_slow_turn_on_the_floor_is_on_time() -> None:
    take = simulate(box_on_the_floor(turn={"keys": [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 4}]}))
    assert np.abs(yaw(take) - 90 * cubic(take.time, 4)).max() < 1
    assert np.ptp(take.position[:, take.index("box"), 2]) < 1e-3


@pytest.mark.parametrize("speed", [0.05, 0.25])
def test_without_times_it_slides_at_its_speed(speed: float) -> None:
    take = simulate(box_on_the_floor(move={"keys": [[0, 0, 0.2], [2, 0, 0.2]], "speed": speed, "base_distance": 0.1}))
    assert take.channels["box.speed"][-60:].mean() == pytest.approx(speed, rel=0.1)
    assert take.channels["box.speed"].max() < 1.3 * speed


def test_what_is_too_weak_for_friction_stays_and_says_so() -> None:
    keys = [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 4}]
    take = simulate(box_on_the_floor(turn={"keys": keys, "strength": 3}))
    assert abs(yaw(take)[-1]) < 1
    torque = take.channels["box.turn.torque"][120:]
    assert torque.max() < 1.03 * torque.min()
    (line,) = take.remarks()
    told = re.fullmatch(r'.*friction holds it, against its strength of 3 N·m: strength: (.*) or "unlimited".*', line)
    assert told
    enough = simulate(box_on_the_floor(turn={"keys": keys, "strength": float(told[1])}))
    assert yaw(enough)[-1] == pytest.approx(90, abs=0.1)
    assert float(told[1]) < 2 * 6.8  # N·m, with which the friction of the box holds it


def test_a_box_is_tilted_over_its_rim_on_time() -> None:
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    box = scene.body("box", box=[0.4, 0.3, 0.6], mass=KG, at=[0, 0, 0.3])
    box.turn([{"euler": [0, 0, 0]}, {"euler": [0, 90, 0], "time": 4}])
    take = simulate(scene)
    q = take.orientation[:, 1]
    pitch = np.degrees(2 * np.arctan2(q[:, 2], q[:, 0]))
    assert np.abs(pitch - 90 * cubic(take.time, 4)).max() < 2
    assert take.position[-1, 1] == pytest.approx([0.5, 0, 0.2], abs=2e-3)  # about the lower edge


@pytest.mark.parametrize("speed", [0.2, 0.45, 1.0])
@pytest.mark.parametrize(("pusher", "crate"), [(1, 1), (5, 5), (5, 1), (20, 5)])
@pytest.mark.parametrize("height", [0.15, 0.25])
def test_a_pusher_pushes_a_crate_and_does_not_climb(speed: float, pusher: float, crate: float, height: float) -> None:
    scene = Scene(seconds=2 + 1.2 / speed)
    scene.body("ground", plane={}, fixed=True)
    body = scene.body("pusher", box=[0.3, 0.3, 0.3], mass=pusher, at=[0, 0, height])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=crate, at=[0.65, 0, 0.15])
    body.move([[0, 0, height], [1, 0, height]], speed=speed)
    take = simulate(scene)
    place = take.position[:, take.index("pusher")]
    assert place[-1, 0] == pytest.approx(1, abs=0.05)
    assert place[:, 2].max() < height + 0.03
    assert take.position[-1, take.index("crate"), 0] > 1.2


def test_a_box_turns_on_a_wagon() -> None:
    """What is loose holds by friction as well as the ground does."""
    scene = Scene(seconds=5)
    scene.body("ground", plane={}, fixed=True)
    scene.body("wagon", box=[2, 1, 0.2], mass=100, at=[0, 0, 0.1])
    box = scene.body("box", box=[0.4, 0.4, 0.4], mass=KG, at=[0, 0, 0.4])
    box.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 3}])
    assert yaw(simulate(scene))[-1] == pytest.approx(90, abs=1)
