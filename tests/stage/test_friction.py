"""Friction that is in the way of a body that lies by itself is overcome, as far as its strength goes; a wall is not."""

import re

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take

KG, FRICTION = 10.0, 0.6
WEIGHT = KG * 9.81


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
    place = take.position[:, take.index("box")]
    assert np.abs(place[:, 0] - way * cubic(take.time, 4)).max() < 0.005 * way + 0.002
    assert np.ptp(place[:, 2]) < 1e-3
    force = take.channels["box.move.force"]
    assert force[120] == pytest.approx(FRICTION * mass * 9.81, rel=0.1)
    assert force[-1] < 0.5 * force[120]  # at rest there is nothing to push at


def test_a_slow_turn_on_the_floor_is_on_time_and_takes_the_torque_of_friction() -> None:
    take = simulate(box_on_the_floor(turn={"keys": [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 4}]}))
    assert np.abs(yaw(take) - 90 * cubic(take.time, 4)).max() < 1
    assert np.ptp(take.position[:, take.index("box")], axis=0).max() < 1e-3
    gyration = 0.4 / np.sqrt(6)  # of its square sole; the torque is 2/3 of what acts there
    assert take.channels["box.turn.torque"][120] == pytest.approx(2 / 3 * FRICTION * WEIGHT * gyration, rel=0.1)


@pytest.mark.parametrize("side", [0.01, 0.02, 0.05, 0.4])
def test_dice_that_slide_and_turn_stay_flat(side: float) -> None:
    """The smaller, the farther they lean forward on what rubs on them, until only a rim presses."""
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True)
    die = scene.body("box", box=[side] * 3, mass=2500 * side**3, at=[0, 0, side / 2])
    die.move([[0, 0, side / 2], {"at": [0.2, 0, side / 2], "time": 4}])
    die.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 4}])
    take = simulate(scene)
    place, q = take.position[:, take.index("box")], take.orientation[:, take.index("box")]
    leaning = np.degrees(2 * np.arcsin(np.hypot(q[:, 1], q[:, 2])))
    assert leaning.max() < 1
    assert np.abs(place[:, 0] - 0.2 * cubic(take.time, 4)).max() < 0.003
    assert abs(yaw(take)[-1] - 90) < 6


@pytest.mark.parametrize("times", [True, False])
def test_a_chessman_that_slides_and_turns_does_not_topple(times: bool) -> None:
    """What rubs on its foot would just tilt it over."""
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True, coating={"friction": FRICTION})
    man = scene.body("box", cylinder={"radius": 0.015, "length": 0.05}, mass=0.03, at=[0, 0, 0.025])
    last = {"time": 4} if times else {}
    man.move([[0, 0, 0.025], {"at": [0.2, 0, 0.025], **last}])
    man.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], **last}])
    take = simulate(scene)
    q = take.orientation[:, take.index("box")]
    leaning = np.degrees(2 * np.arcsin(np.hypot(q[:, 1], q[:, 2])))
    assert leaning.max() < (2 if times else 8)
    assert leaning[-1] < 1
    assert abs(yaw(take)[-1] - 90) < 6


@pytest.mark.parametrize("speed", [0.05, 0.25])
def test_without_times_it_slides_at_its_speed(speed: float) -> None:
    take = simulate(box_on_the_floor(move={"keys": [[0, 0, 0.2], [2, 0, 0.2]], "speed": speed, "base_distance": 0.1}))
    assert take.channels["box.speed"][-60:].mean() == pytest.approx(speed, rel=0.05)
    assert take.channels["box.speed"].max() < 1.1 * speed


def test_what_is_too_weak_for_friction_stays_and_is_told_which_strength_would_do() -> None:
    def turned(strength: float) -> Take:
        keys = [{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 4}]
        return simulate(box_on_the_floor(turn={"keys": keys, "strength": strength}))

    weak = turned(3)
    assert abs(yaw(weak)[-1]) < 1
    torque = weak.channels["box.turn.torque"][120:]
    assert torque.max() < 1.03 * torque.min()
    (line,) = weak.remarks()
    told = re.fullmatch(r'.*friction holds it, against its strength of 3 N·m: strength: (.*) or "unlimited".*', line)
    assert told
    assert yaw(turned(float(told[1])))[-1] == pytest.approx(90, abs=0.2)
    assert abs(yaw(turned(0.5 * float(told[1])))[-1]) < 1


def test_a_wall_is_not_pressed_with_what_friction_would_take() -> None:
    """A box that stands at a wall presses that as hard as on ice, within what its pull is."""
    forces = []
    for friction in (0.0, FRICTION):
        scene = Scene(seconds=4)
        scene.body("ground", plane={}, fixed=True, coating={"friction": friction})
        scene.body("wall", box=[0.2, 2, 1], fixed=True, at=[0.3, 0, 0.5], coating={"friction": 0})
        box = scene.body("box", box=[0.4, 0.4, 0.4], mass=KG, at=[0, 0, 0.2], coating={"friction": friction})
        box.move([[0, 0, 0.2], [1, 0, 0.2]], speed=0.3)
        force = simulate(scene).channels["box.move.force"][120:]
        assert force.max() < 1.03 * force.min()
        forces.append(force[-1])
    assert forces[1] < forces[0] + 0.5 * FRICTION * WEIGHT


@pytest.mark.parametrize("speed", [0.2, 0.45, 1.0])
@pytest.mark.parametrize(("pusher", "crate"), [(1, 1), (5, 5), (5, 1), (20, 5)])
def test_a_pusher_pushes_a_crate_and_neither_climbs_nor_floats(speed: float, pusher: float, crate: float) -> None:
    scene = Scene(seconds=2 + 1.2 / speed)
    scene.body("ground", plane={}, fixed=True)
    body = scene.body("pusher", box=[0.3, 0.3, 0.3], mass=pusher, at=[0, 0, 0.15])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=crate, at=[0.65, 0, 0.15])
    body.move([[0, 0, 0.15], [1, 0, 0.15]], speed=speed)
    take = simulate(scene)
    place = take.position[:, take.index("pusher")]
    assert place[-1, 0] == pytest.approx(1, abs=0.015)
    assert place[:, 2].max() < 0.15 + 0.002
    assert take.position[-1, take.index("crate"), 0] > 1.28


@pytest.mark.parametrize("press", [None, 500])
def test_who_is_told_to_press_hard_pushes_what_is_loose(press: float | None) -> None:
    """It takes 120 N to push the crate, of which an automatic strength knows nothing."""
    scene = Scene(seconds=4)
    scene.body("ground", plane={}, fixed=True)
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=20, at=[0.6, 0, 0.15])
    pusher = scene.body("pusher", box=[0.3, 0.3, 0.3], mass=5, at=[0, 0, 0.15])
    pusher.move([[0, 0, 0.15], [1, 0, 0.15]], speed=0.5, press=press)
    take = simulate(scene)
    assert take.position[-1, take.index("crate"), 0] > 1.0
    assert take.position[:, take.index("pusher"), 2].max() < 0.155
