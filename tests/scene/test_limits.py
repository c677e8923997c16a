"""Keys beyond the limits of joints are warned of where it is sure that they are; what happens then shows it."""

import numpy as np
import pytest

from impel.scene import Scene
from impel.scene.advice import warnings
from impel.stage import simulate


def told(scene: Scene) -> list[str]:
    return [line for line in warnings(scene) if "beyond its limits" in line]


def door(keys: list[float], order: tuple[str, str] = ("frame", "leaf"), **turn: object) -> Scene:
    scene = Scene(seconds=4)
    scene.body("frame", box=[0.1, 0.1, 2], fixed=True, at=[0, 0, 1], collides=False)
    leaf = scene.body("leaf", box=[0.8, 0.04, 1.9], mass=20, at=[0.5, 0, 1], collides=False)
    scene.joint("hinges", hinge=list(order), at=[0.05, 0, 1], axis=[0, 0, 2], limits=[-20, 90])
    leaf.turn([{"euler": [0, 0, z]} for z in keys], **turn)
    return scene


def yaw(scene: Scene) -> float:
    take = simulate(scene)
    q = take.orientation[-1, take.index("leaf")]
    return float(np.degrees(2 * np.arctan2(q[3], q[0])))


def test_a_key_beyond_a_hinge_is_warned_of_and_not_reached() -> None:
    scene = door([0, 120])
    assert told(scene) == ["actors.leaf.turn.keys.1: asks joints.hinges for 120°, beyond its limits [-20, 90]"]
    assert yaw(scene) == pytest.approx(90, abs=0.5)
    assert not told(door([0, 89]))
    assert yaw(door([0, 89])) == pytest.approx(89, abs=0.5)


def test_limits_are_those_of_the_second_body() -> None:
    scene = door([0, 60], order=("leaf", "frame"))
    assert told(scene) == ["actors.leaf.turn.keys.1: asks joints.hinges for -60°, beyond its limits [-20, 90]"]
    assert yaw(scene) == pytest.approx(20, abs=0.5)
    assert not told(door([0, -60], order=("leaf", "frame")))


def test_a_way_round_is_counted_as_it_is_written() -> None:
    assert told(door([0, 80, 260])) == [
        "actors.leaf.turn.keys.2: asks joints.hinges for 260°, beyond its limits [-20, 90]"
    ]


def test_nothing_is_said_where_it_is_not_sure() -> None:
    loose = door([0, 120]).to_document()
    loose["bodies"]["frame"] = {"shape": {"box": [0.1, 0.1, 2]}, "mass": 50, "at": [0, 0, 1]}
    assert not told(Scene.model_validate(loose))  # the frame may turn along
    assert told(Scene.model_validate(loose | {"actors": door([0, 120], against="frame").to_document()["actors"]}))
    aslant = door([0, 120])
    aslant.actors["leaf"].turn.keys[1].euler = (30.0, 0.0, 120.0)
    assert not told(aslant)
    later = door([0, 120])
    later.joints["hinges"].until = 1.0
    assert not told(later)


def test_a_drawer_is_not_pulled_out_farther_than_it_goes() -> None:
    scene = Scene(seconds=3)
    drawer = scene.body("drawer", box=[0.4, 0.4, 0.1], mass=2, at=[0, 0, 1])
    scene.joint("rail", slide=["world", drawer], axis=[1, 0, 0], limits=[0, 0.3])
    drawer.move([[0.1, 0, 1], [0.6, 0, 1]], point=[0.1, 0, 0])
    assert told(scene) == ["actors.drawer.move.keys.1: asks joints.rail for 0.5 m, beyond its limits [0, 0.3]"]
    take = simulate(scene)
    assert take.position[-1, 0, 0] == pytest.approx(0.3, abs=1e-3)
