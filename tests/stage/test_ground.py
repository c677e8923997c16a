"""Actors and what they stand on, push and carry: weight, friction, loads on ropes."""

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take


def grounded(seconds: float, **ground: object) -> Scene:
    scene = Scene(seconds=seconds)
    scene.body("ground", plane={}, fixed=True, **ground)
    return scene


def keys_reached(take: Take) -> int:
    return sum(event["kind"] == "key reached" for event in take.events)


@pytest.mark.parametrize("gap", [0.0, 0.0005, -0.0005])
def test_a_ball_that_is_moved_along_the_ground_rolls(gap: float) -> None:
    scene = grounded(4)
    ball = scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 0.2 + gap])
    ball.move([[0, 0, 0.2], [1.5, 0, 0.2], [3, 0, 0.2]], speed=1)
    take = simulate(scene)
    q = take.orientation[:, take.index("ball")]
    turned = np.unwrap(2 * np.arctan2(q[:, 2], q[:, 0]), period=2 * np.pi)
    way = take.position[:, take.index("ball"), 0]
    assert turned[-1] == pytest.approx(way[-1] / 0.2, rel=0.03)
    assert keys_reached(take) == 2


def test_a_crate_that_is_moved_along_the_ground_feels_its_friction() -> None:
    def force(friction: float) -> float:
        scene = grounded(6, coating={"friction": friction})
        crate = scene.body("crate", box=[0.4, 0.4, 0.4], mass=2, at=[0, 0, 0.2], coating={"friction": friction})
        crate.move([[0, 0, 0.2], [4, 0, 0.2]], speed=1)
        take = simulate(scene)
        way = take.position[:, take.index("crate"), 0]
        assert keys_reached(take) == 1
        return float(take.channels["crate.move.force"][(way > 1.5) & (way < 3)].mean())

    assert force(0.0) < 0.5
    assert force(0.4) == pytest.approx(0.4 * 2 * 9.81, rel=0.1)


def test_what_stands_on_the_ground_leaps_without_a_dip_when_its_path_rises() -> None:
    scene = grounded(2)
    ball = scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 0.2])
    ball.move([[0, 0, 0.2], [0, 0, 1.2]], speed=1, base_distance=0.3)
    take = simulate(scene)
    height = take.position[:, take.index("ball"), 2]
    assert height.min() > 0.195
    assert height[-1] == pytest.approx(1.2, abs=0.01)
    assert (height > 0.7).argmax() < 75  # 0.5 m at 1 m/s, and a start


def test_a_level_path_over_an_edge_goes_on_in_the_air() -> None:
    scene = Scene(seconds=5)
    scene.body("table", box=[2, 1, 0.1], fixed=True, at=[0, 0, 0.95])
    ball = scene.body("ball", sphere=0.1, mass=1, at=[-0.5, 0, 1.1])
    ball.move([[-0.5, 0, 1.1], [3, 0, 1.1]], speed=1, base_distance=0.2)
    take = simulate(scene)
    assert take.position[:, take.index("ball"), 2].min() > 1.0
    assert keys_reached(take) == 1


@pytest.mark.parametrize("strength", [60, "unlimited"])
def test_a_slow_pusher_learns_to_push(strength: float | str) -> None:
    scene = grounded(8)
    scene.body("crate", box=[0.4, 0.4, 0.4], mass=1.5, at=[1, 0, 0.2])
    pusher = scene.body("pusher", box=[0.4, 0.4, 0.4], mass=2, at=[0, 0, 0.2])
    pusher.move([[0, 0, 0.2], [2, 0, 0.2]], speed=0.5, strength=strength)
    take = simulate(scene)
    assert keys_reached(take) == 1
    assert take.position[-1, take.index("crate"), 0] > 2.35


def test_friction_about_the_normal_can_be_overcome() -> None:
    scene = grounded(6)
    pillar = scene.body("pillar", box=[0.4, 0.4, 1], mass=5, at=[0, 0, 0.5])
    pillar.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90]}], speed=45, strength="unlimited")
    take = simulate(scene)
    q = take.orientation[-1, take.index("pillar")]
    assert np.degrees(2 * np.arctan2(q[3], q[0])) == pytest.approx(90, abs=3)


def test_a_wall_is_not_pressed_ever_harder() -> None:
    """The force against a wall stays below 1.3 times the pull at base distance, however long it lasts."""
    scene = Scene(seconds=8, gravity=[0, 0, 0])
    scene.body("wall", box=[0.2, 2, 2], fixed=True, at=[1, 0, 0])
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 0])
    ball.move([[0, 0, 0], [3, 0, 0]], speed=1, base_distance=0.3, strength="unlimited")
    force = simulate(scene).channels["ball.move.force"]
    stiffness = (2 * np.sqrt(0.5) * 1 / 0.3) ** 2
    assert 0.9 * stiffness * 0.3 < force[-1] < 1.35 * stiffness * 0.3


def test_a_joint_alone_does_not_keep_an_actor_from_learning() -> None:
    """A steady wind pushes a ball that has a bead welded to it."""
    scene = Scene(seconds=8)
    ball = scene.body("ball", sphere=0.15, mass=1, at=[0, 0, 1])
    bead = scene.body("bead", sphere=0.03, mass=0.01, at=[0, 0, 1.2])
    scene.joint("glue", weld=[ball, bead])
    ball.move([[0, 0, 1], [2, 0, 1]], speed=0.5)
    take = simulate(scene, controller=lambda moment: moment.push("ball", [0, 3, 0]))
    assert take.channels["ball.move.distance"][-1] < 0.02
    assert keys_reached(take) == 1


def test_a_load_on_a_rope_is_carried() -> None:
    scene = Scene(seconds=8)
    drone = scene.body("drone", box=[0.5, 0.5, 0.1], mass=1.7, at=[0, 0, 2])
    parcel = scene.body("parcel", box=[0.2, 0.2, 0.2], mass=0.5, at=[0, 0, 1])
    scene.joint("rope", in_sphere=[parcel, drone], at=[0, 0, 1], center=[0, 0, 2], radius=1.0)
    drone.move([[0, 0, 2], [1.5, 0, 2.5], [3, 0, 2]], speed=0.6)
    take = simulate(scene)
    assert keys_reached(take) == 2
    assert take.channels["drone.move.distance"][-1] < 0.02


def test_a_tray_carries_half_its_weight_by_default() -> None:
    scene = Scene(seconds=5)
    tray = scene.body("tray", box=[0.8, 0.8, 0.1], mass=2, at=[0, 0, 1])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=1, at=[0, 0, 1.2])
    tray.move([[0, 0, 1], [0, 0, 2]], speed=0.5)
    tray.turn([{"euler": [0, 0, 0]}])
    take = simulate(scene)
    assert take.position[-1, take.index("crate"), 2] == pytest.approx(2.2, abs=0.02)
    assert take.remarks() == []


def test_strength_that_the_load_alone_uses_up_is_told() -> None:
    scene = Scene(seconds=4)
    tray = scene.body("tray", box=[0.8, 0.8, 0.1], mass=2, at=[0, 0, 1])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=2, at=[0, 0, 1.2])
    tray.move([[0, 0, 1], [0, 0, 2]], speed=0.5, strength=39.25)  # 39.24 N hold both
    tray.turn([{"euler": [0, 0, 0]}])
    (line,) = [line for line in simulate(scene).remarks() if line.startswith("tray.move")]
    assert "all its strength of 39.2 N is used" in line


@pytest.mark.parametrize("rise", [0.15, 0.3])
def test_a_low_rise_lifts_what_rolled_before(rise: float) -> None:
    scene = grounded(12)
    ball = scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 0.2])
    ball.move([[0, 0, 0.2], [8, 0, 0.2 + rise]], speed=1)
    take = simulate(scene)
    assert take.position[-1, take.index("ball"), 2] == pytest.approx(0.2 + rise, abs=0.03)
    assert keys_reached(take) == 1


def test_legs_that_fold_do_not_carry_who_is_moved() -> None:
    """A torso on two passive legs with knees, moved at the height where its feet just touch the ground."""
    scene = grounded(4)
    torso = scene.body("torso", box=[0.2, 0.4, 0.5], mass=4, at=[0, 0, 1.15])
    for name, y in (("left", 0.1), ("right", -0.1)):
        thigh = scene.body(f"{name} thigh", capsule={"radius": 0.05, "length": 0.35}, mass=1, at=[0, y, 0.675])
        shin = scene.body(f"{name} shin", capsule={"radius": 0.05, "length": 0.35}, mass=0.8, at=[0, y, 0.225])
        scene.joint(f"{name} hip", ball=[torso, thigh], at=[0, y, 0.9])
        scene.joint(f"{name} knee", hinge=[thigh, shin], at=[0, y, 0.45], axis=[0, 1, 0], limits=[0, 140])
    torso.move([[0, 0, 1.15], [0, 0, 1.15]], base_distance=0.2)
    torso.turn([{"euler": [0, 0, 0]}])
    take = simulate(scene)
    assert take.position[:, take.index("torso"), 2].min() > 1.1


def test_an_actor_does_not_shoot_off_when_what_it_pushes_slips_aside() -> None:
    scene = grounded(6)
    scene.body("crate", box=[0.6, 0.6, 0.6], mass=6, at=[1, 0, 0.3])
    ball = scene.body("ball", sphere=0.2, mass=2, at=[0, -0.2, 0.2])
    ball.move([[0, -0.2, 0.2], [3, -0.2, 0.2]], speed=1, strength="unlimited")
    assert simulate(scene).channels["ball.speed"].max() < 1.5


def test_a_light_plank_on_the_ground_is_stood_on() -> None:
    scene = grounded(3)
    scene.body("plank", box=[4, 1, 0.1], mass=1.5, at=[0, 0, 0.05])
    ball = scene.body("ball", sphere=0.2, mass=2, at=[-1, 0, 0.3])
    ball.move([[-1, 0, 0.3], [1, 0, 0.3]], speed=1)
    take = simulate(scene)
    q = take.orientation[:, take.index("ball")]
    turned = np.unwrap(2 * np.arctan2(q[:, 2], q[:, 0]), period=2 * np.pi)[-1]
    way = take.position[-1, take.index("ball"), 0] - take.position[-1, take.index("plank"), 0] + 1
    assert turned == pytest.approx(way / 0.2, rel=0.1)


def test_a_wall_that_is_welded_to_the_world_is_a_wall() -> None:
    def force(**wall: object) -> float:
        scene = Scene(seconds=4, gravity=[0, 0, 0])
        scene.body("wall", box=[0.2, 2, 2], at=[1, 0, 0], **wall)
        if "mass" in wall:
            scene.joint("nail", weld=["wall", "world"])
        ball = scene.body("ball", sphere=0.1, mass=1)
        ball.move([[0, 0, 0], [3, 0, 0]], speed=1, base_distance=0.3, strength="unlimited")
        return float(simulate(scene).channels["ball.move.force"][-1])

    assert force(mass=1) == pytest.approx(force(fixed=True), rel=0.05)
