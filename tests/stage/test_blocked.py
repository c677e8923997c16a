"""What cannot go on presses with a force that stays as it is, and does not shoot off when it is let go."""

import numpy as np
import pytest

from impel.scene import Scene
from impel.scene.derived import drive
from impel.scene.spans import Span
from impel.stage import simulate

SECONDS = 20  # long enough for anything that gathers to show


def arm_at_its_limit(scene: Scene, feather: bool) -> str:
    upper = scene.body("upper", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.25, 0, 1.5], euler=[0, 90, 0])
    lower = scene.body("lower", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.75, 0, 1.5], euler=[0, 90, 0])
    scene.joint("shoulder", hinge=["world", upper], at=[0, 0, 1.5], axis=[0, 1, 0], limits=[-20, 20])
    scene.joint("elbow", hinge=[upper, lower], at=[0.5, 0, 1.5], axis=[0, 1, 0], limits=[-20, 20])
    lower.move([[0.75, 0, 1.5], [0.5, 0, 2.3]], speed=0.5, strength="unlimited")
    if feather:
        scene.body("feather", box=[0.05, 0.05, 0.01], mass=0.001, at=[0.75, 0, 1.556])
    return "lower.move.force"


def door_at_its_limit(scene: Scene, feather: bool) -> str:
    door = scene.body("door", box=[0.8, 0.05, 1.5], mass=8, at=[0.4, 0, 1])
    scene.joint("hinge", hinge=["world", door], at=[0, 0, 1], axis=[0, 0, 1], limits=[-30, 30])
    door.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 80]}], speed=40, strength="unlimited")
    if feather:
        scene.body("feather", box=[0.05, 0.05, 0.01], mass=0.001, at=[0.5, 0, 1.756])
    return "door.turn.torque"


def ball_before_a_wall(scene: Scene, crate: bool) -> str:
    scene.body("ground", plane={}, fixed=True)
    scene.body("wall", box=[0.2, 2, 2], fixed=True, at=[1.0, 0, 1])
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 0.2])
    ball.move([[0, 0, 0.2], [3, 0, 0.2]], speed=1, base_distance=0.3, strength="unlimited")
    if crate:
        scene.body("crate", box=[0.3, 0.3, 0.3], mass=2, at=[0.74, 0, 0.15])
    return "ball.move.force"


def arm_before_a_wall(scene: Scene, crate: bool) -> str:
    upper = scene.body("upper", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0, 0, 1.25])
    lower = scene.body("lower", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.25, 0, 1], euler=[0, 90, 0])
    hand = scene.body("hand", sphere=0.08, mass=0.5, at=[0.5, 0, 1])
    scene.joint("shoulder", hinge=["world", upper], at=[0, 0, 1.5], axis=[0, 1, 0])
    scene.joint("elbow", hinge=[upper, lower], at=[0, 0, 1], axis=[0, 1, 0])
    scene.joint("wrist", weld=[lower, hand])
    scene.body("wall", box=[0.2, 2, 2], fixed=True, at=[0.9, 0, 1])
    hand.move([[0.5, 0, 1], [2, 0, 1]], speed=0.5, base_distance=0.15, strength="unlimited")
    if crate:
        scene.body("table", box=[0.3, 0.6, 0.9], fixed=True, at=[0.7, 0, 0.45])
        scene.body("crate", box=[0.12, 0.2, 0.2], mass=2, at=[0.73, 0, 1.0])
    return "hand.move.force"


@pytest.mark.slow
@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("case", [arm_at_its_limit, door_at_its_limit, ball_before_a_wall, arm_before_a_wall])
def test_what_blocks_an_actor_is_pressed_with_a_constant_force(case, loose: bool) -> None:
    scene = Scene(seconds=SECONDS)
    channel = case(scene, loose)
    force = simulate(scene).channels[channel][2 * 60 :]
    assert force.max() < 1.03 * force.min()


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("case", [ball_before_a_wall, arm_before_a_wall])
def test_who_was_blocked_goes_on_at_its_speed_when_the_way_is_free(case, loose: bool) -> None:
    """The wall, and what stood before it, are gone after 4 s."""
    scene = Scene(seconds=6)
    name = case(scene, loose).split(".")[0]
    for gone in ("wall", "crate"):
        if gone in scene.bodies:
            scene.bodies[gone].collides = Span(until=4.0)
    take = simulate(scene)
    speed = take.channels[f"{name}.speed"]
    assert speed[take.time > 4.0].max() < 1.3 * drive(scene.actors[name].move).speed
    assert speed[take.time > 4.0].max() > 0.8 * drive(scene.actors[name].move).speed


@pytest.mark.parametrize("kind", ["door", "arm"])
def test_who_was_latched_goes_on_at_its_speed_when_it_is_let_go(kind: str) -> None:
    scene = Scene(seconds=6)
    if kind == "door":
        door = scene.body("door", box=[0.8, 0.05, 1.5], mass=8, at=[0.4, 0, 1])
        scene.joint("hinge", hinge=["world", door], at=[0, 0, 1], axis=[0, 0, 1])
        scene.joint("latch", weld=["world", door], at=[0.8, 0, 1], until=4)
        door.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 80]}], speed=40, strength="unlimited")
        channel, nominal = "door.speed", np.radians(40) * 0.4
    else:
        arm_at_its_limit(scene, False)
        scene.joint("latch", ball=["world", "lower"], at=[0.98, 0, 1.5], until=4)
        channel, nominal = "lower.speed", 0.5
    take = simulate(scene)
    assert take.channels[channel][take.time > 4.0].max() < 1.3 * nominal


def test_a_press_is_as_hard_as_it_is_told_to_be() -> None:
    for press in (2.0, 20.0):
        scene = Scene(seconds=6, gravity=[0, 0, 0])
        scene.body("wall", box=[0.2, 2, 2], fixed=True, at=[1, 0, 0])
        ball = scene.body("ball", sphere=0.1, mass=1)
        ball.move([[0, 0, 0], [3, 0, 0]], speed=1, base_distance=0.3, press=press, strength="unlimited")
        take = simulate(scene)
        assert take.channels["ball.move.force"][-1] == pytest.approx(press, rel=0.02)
        slide = take.position[-1, take.index("ball")]
        assert np.abs(slide[1:]).max() < 1e-6  # along what is blocked only


def gripper(mass: float = 2, **wish: object) -> Scene:
    """Two fingers close on a box of 1 kg, then their palm rises."""
    scene = Scene(seconds=14)
    scene.body("ground", plane={}, fixed=True)
    rise = [{"time": 0, "at": [0, 0, 0.46]}, {"time": 1.5, "at": [0, 0, 0.46]}, {"time": 4, "at": [0, 0, 1.2]}]
    scene.body("palm", box=[0.5, 0.2, 0.06], at=[0, 0, 0.46], follows=rise)
    scene.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, 0.1], coating={"friction": 0.6})
    for name, x in (("left", -0.22), ("right", 0.22)):
        finger = scene.body(name, box=[0.04, 0.12, 0.4], mass=mass, at=[x, 0, 0.22], coating={"friction": 0.6})
        scene.joint(f"{name} knuckle", hinge=["palm", finger], at=[x, 0, 0.42], axis=[0, 1, 0], limits=[-60, 60])
        angle = -25 if x < 0 else 25
        finger.turn([{"euler": [0, 0, 0]}, {"euler": [0, angle, 0]}], speed=20, **wish)
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("mass", [0.3, 2])
def test_a_gripper_grips_by_default_and_slips_with_a_tenth_of_the_press(mass: float) -> None:
    take = simulate(gripper(mass))
    held = take.position[:, take.index("box"), 2] - take.position[:, take.index("palm"), 2]
    assert np.ptp(held[take.time > 4]) < 1e-3
    assert take.position[-1, take.index("box"), 2] > 0.7
    torque = float(take.channels["left.turn.torque"][take.time > 5].max())
    take = simulate(gripper(mass, press=torque / 10))
    assert take.position[-1, take.index("box"), 2] < 0.15


def test_a_hand_pushes_on_when_what_it_pressed_against_goes() -> None:
    """What it cannot press for want of strength is not learnt as a load in the way."""
    scene = Scene(seconds=6)
    scene.body("ground", plane={}, fixed=True)
    away = [{"time": 0, "at": [0.85, 0, 0.5]}, {"time": 3, "at": [0.85, 0, 0.5]}, {"time": 3.2, "at": [0.85, 3, 0.5]}]
    scene.body("gate", box=[0.1, 1, 1], at=[0.85, 0, 0.5], follows=away, coating={"friction": 0})
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=2, at=[0.6, 0, 0.15])
    hand = scene.body("hand", sphere=0.1, mass=1, at=[0, 0, 0.15])
    hand.move([[0, 0, 0.15], [2, 0, 0.15]], speed=0.8)
    x = simulate(scene).position[:, 3, 0]
    assert x[180] == pytest.approx(0.4, abs=0.01)
    assert x[180:].min() > x[180] - 0.01
    assert x[-1] > 1.2


def test_a_carrier_comes_to_its_key() -> None:
    """Nothing firm holds it: its grip on what it carries is no reason to forget the load."""
    scene = Scene(seconds=6)
    tray = scene.body("tray", box=[0.6, 0.6, 0.1], mass=3, at=[0, 0, 1])
    scene.body("crate", box=[0.3, 0.3, 0.3], mass=20, at=[0, 0, 1.2])
    tray.move([[0, 0, 1]], strength="unlimited")
    tray.turn([{"euler": [0, 0, 0]}], strength="unlimited")
    assert simulate(scene).position[-1, 0, 2] == pytest.approx(1, abs=0.003)


def test_a_lid_that_lies_on_its_chest_opens() -> None:
    scene = Scene(seconds=3)
    scene.body("chest", box=[0.6, 0.4, 0.4], fixed=True, at=[0, 0, 0.2])
    lid = scene.body("lid", box=[0.6, 0.4, 0.05], mass=3, at=[0, 0, 0.426])
    scene.joint("hinge", hinge=["world", lid], at=[0, 0.2, 0.426], axis=[1, 0, 0])
    scene.body("apple", sphere=0.05, mass=0.2, at=[0, 0, 0.502])
    lid.turn([{"euler": [0, 0, 0]}, {"euler": [-80, 0, 0]}], speed=60)
    q = simulate(scene).orientation[-1, 1]
    assert np.degrees(2 * np.arccos(abs(q[0]))) == pytest.approx(80, abs=1)


def test_a_box_slides_off_at_once() -> None:
    scene = Scene(seconds=1)
    scene.body("ground", plane={}, fixed=True)
    box = scene.body("box", box=[0.4, 0.4, 0.4], mass=2, at=[0, 0, 0.2])
    box.move([[0, 0, 0.2], [2, 0, 0.2]], speed=0.5)
    assert simulate(scene).position[-1, 1, 0] > 0.1
