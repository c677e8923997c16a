"""Forces that do not lead: the tip of an arm, several hands on one structure, wishes that contradict each other."""

import math

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import simulate

LENGTH = 0.5  # m, of a link


def links(scene: Scene, masses: list[float], kind: str = "hinge", *, held: bool = True) -> list:
    """A row of links along x, 1.5 m high, jointed end to end and, if it is held, to the world."""
    row = []
    for i, mass in enumerate(masses):
        at = [LENGTH * (i + 0.5), 0, 1.5]
        link = scene.body(f"link{i}", capsule={"radius": 0.05, "length": 0.4}, mass=mass, at=at, euler=[0, 90, 0])
        if row or held:
            axis = {"axis": [0, 1, 0]} if kind == "hinge" else {}
            before = row[-1] if row else "world"
            scene.joint(f"joint{i}", **{kind: [before, link]}, at=[LENGTH * i, 0, 1.5], **axis)
        row.append(link)
    return row


@pytest.mark.parametrize("masses", [[1, 1], [1, 1, 1], [2, 1.5, 0.5], [1, 1, 1, 1, 1]])
@pytest.mark.parametrize("kind", ["hinge", "ball"])
def test_an_arm_follows_its_tip(masses: list[float], kind: str) -> None:
    scene = Scene(seconds=8)
    tip = links(scene, masses, kind)[-1]
    x = LENGTH * (len(masses) - 0.5)
    tip.move(
        [[x, 0, 1.5], [x - 0.3, 0, 1.9], [x - 0.5, 0, 1.5], [x - 0.3, 0, 1.1]],
        loop=True, base_distance=0.15, speed=0.6,
    )  # fmt: skip
    take = simulate(scene)
    away = take.channels[f"link{len(masses) - 1}.move.distance"]
    assert away.max() < 0.1  # while the links without a wish fall into place
    assert away[120:].max() < 0.05
    assert sum(event["kind"] == "key reached" for event in take.events) >= 8


@pytest.mark.parametrize("mass", [0.5, 2])
def test_a_tip_that_holds_its_place_carries_the_arm_from_the_start(mass: float) -> None:
    scene = Scene(seconds=3)
    upper = scene.body("upper", box=[0.1, 0.1, 0.7], mass=2, at=[0, 0, 0.95])
    fore = scene.body("fore", box=[0.6, 0.08, 0.08], mass=1.5, at=[0.3, 0, 1.3])
    tip = scene.body("tip", sphere=0.06, mass=mass, at=[0.62, 0, 1.3])
    scene.joint("shoulder", hinge=["world", upper], at=[0, 0, 0.6], axis=[0, 1, 0])
    scene.joint("elbow", hinge=[upper, fore], at=[0, 0, 1.3], axis=[0, 1, 0])
    scene.joint("wrist", weld=[fore, tip])
    tip.move([[0.62, 0, 1.3]])
    assert np.abs(simulate(scene).position[:, 2] - [0.62, 0, 1.3]).max() < 1e-3


def test_a_grip_that_drags_what_is_two_hundred_times_as_heavy_is_not_thrown() -> None:
    """The force on it is that of 20 kg: held for a step, it throws 100 g as soon as they have turned a little. Where it
    and the trunk ask for more than they have, neither drives the other on."""
    scene = Scene(seconds=3)
    grip = scene.body("grip", capsule={"radius": 0.008, "length": 0.08}, mass=0.1, at=[0, 0, 1])
    trunk = scene.body("trunk", capsule={"radius": 0.04, "length": 0.4}, mass=20, at=[0.25, 0, 0.95], euler=[0, 90, 0])
    scene.joint("wrist", ball=[grip, trunk], at=[0, 0, 0.95])
    grip.move([[0, 0, 1], [0.3, 0.2, 1.2], [-0.2, 0.3, 0.8], [-0.2, -0.2, 1.1]], loop=True, speed=1, base_distance=0.02)
    trunk.turn([{"euler": [0, 90, 0]}, {"euler": [40, 50, 30]}], loop=True, base_angle=5, speed=90)
    take = simulate(scene)
    assert take.channels["grip.speed"].max() < 2.5
    assert take.channels["grip.move.distance"].max() < 0.05


@pytest.mark.parametrize("masses", [[0.5] * 5, [0.1, 2, 2, 2, 0.1], [2, 0.1, 0.1, 0.1, 2]])
@pytest.mark.parametrize("hands", [(0, 4), (0, 2, 4)])
def test_hands_carry_a_rope_together(masses: list[float], hands: tuple[int, ...]) -> None:
    scene = Scene(seconds=8)
    rope = links(scene, masses, "ball", held=False)
    for hand in hands:
        x = LENGTH * (hand + 0.5)
        closer = {0: 0.15, 4: -0.15}.get(hand, 0.0)
        way = [[x, 0, 1.5], [x + 0.3 + closer, 0, 1.9], [x + 0.6, 0.2, 1.5], [x + 0.3 + closer, 0, 1.1]]
        rope[hand].move(way, loop=True, base_distance=0.2, speed=0.8)
    take = simulate(scene)
    for hand in hands:
        assert take.channels[f"link{hand}.move.distance"][120:].max() < 0.2
    assert sum(event["kind"] == "key reached" for event in take.events) >= 9 * len(hands)


def test_an_arm_whose_links_are_turned_and_whose_tip_is_moved_serves_both() -> None:
    """The first link's pose is a wish of its own that the way of the tip leaves room for."""
    scene = Scene(seconds=6)
    row = links(scene, [1, 1, 1, 1])
    row[0].turn([{"euler": [0, 90, 0]}, {"euler": [0, 50, 0]}], base_angle=15, speed=40)
    row[-1].move([[1.75, 0, 1.5], [1.2, 0, 1.6], [1.0, 0, 1.9]], base_distance=0.15, speed=0.4)
    take = simulate(scene)
    assert take.channels["link3.move.distance"].max() < 0.05
    np.testing.assert_allclose(take.position[-1, take.index("link3")], [1.0, 0, 1.9], atol=0.02)
    pitch = np.degrees(2 * np.arctan2(take.orientation[-1, 0, 2], take.orientation[-1, 0, 0]))
    assert pitch == pytest.approx(50, abs=2)


def test_a_tip_pulls_away_from_a_limit() -> None:
    scene = Scene(seconds=4)
    upper = scene.body("upper", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.25, 0, 1.5], euler=[0, 90, 0])
    lower = scene.body("lower", capsule={"radius": 0.05, "length": 0.4}, mass=1, at=[0.75, 0, 1.5], euler=[0, 90, 0])
    scene.joint("shoulder", hinge=["world", upper], at=[0, 0, 1.5], axis=[0, 1, 0], limits=[0, 60])
    scene.joint("elbow", hinge=[upper, lower], at=[0.5, 0, 1.5], axis=[0, 1, 0], limits=[-90, 0])
    radius, angle = 0.5, math.radians(30)
    lower.move([[0.75, 0, 1.5], [radius * math.cos(angle) + 0.25, 0, 1.5 - radius * math.sin(angle)]], speed=0.3)
    take = simulate(scene)
    end = take.position[-1, take.index("lower")]
    np.testing.assert_allclose(end, [radius * math.cos(angle) + 0.25, 0, 1.5 - radius * math.sin(angle)], atol=0.02)


@pytest.mark.parametrize("seed", range(24))
def test_wishes_that_contradict_each_other_tear_nothing_apart(seed: int) -> None:
    """Random arms and chains whose actors of unlimited strength all want something else."""
    random = np.random.default_rng(seed)
    scene = Scene(seconds=3)
    masses = (10 ** random.uniform(-1, 1, random.integers(2, 6))).tolist()
    row = links(scene, masses, ["ball", "hinge"][seed % 2], held=seed % 3 > 0)
    for i, link in enumerate(row):
        keys = np.array([LENGTH * (i + 0.5), 0, 1.5]) + random.uniform(-0.6, 0.6, (3, 3))
        if i == len(row) - 1 or random.random() < 0.5:
            link.move(keys.tolist(), loop=True, base_distance=0.3, speed=1.5, strength="unlimited")
        if random.random() < 0.5:
            turns = [{"euler": euler} for euler in random.uniform(-90, 90, (3, 3)).tolist()]
            link.turn(turns, loop=True, base_angle=30, speed=90, strength="unlimited")
    take = simulate(scene)
    speed = np.linalg.norm(np.diff(take.position, axis=0), axis=2) * 60
    assert speed.max() < 30


def test_what_cannot_move_at_all_is_not_pulled_ever_harder() -> None:
    """Rounding is all that a body welded to the world answers with, and no measure of how heavy it is."""
    scene = Scene(seconds=2)
    stump = scene.body("stump", box=[0.2, 0.3, 0.1], mass=1, at=[0.3, 0.2, 1.1], euler=[10, 20, 30])
    arm = scene.body("arm", box=[0.2, 0.3, 0.1], mass=1, at=[0.7, 0.2, 1.1], euler=[10, 20, 30])
    scene.joint("root", weld=[stump, "world"], at=[0, 0.1, 1])
    scene.joint("elbow", ball=[stump, arm], at=[0.4, 0.2, 1.1])
    stump.move([[0.3, 0.2, 1.1], [1, 0, 1]], base_distance=0.2, speed=1)
    arm.move([[0.7, 0.2, 1.1], [0.4, 0.2, 1.4]], base_distance=0.1, speed=0.5)
    take = simulate(scene)
    assert take.channels["stump.move.force"].max() < 1000  # N; it was 2e15
    assert np.linalg.norm(take.position[-1, take.index("arm")] - [0.4, 0.2, 1.4]) < 0.02
    assert not any(event["kind"] == "step rejected" for event in take.events)


def test_a_turn_that_a_rope_holds_back_does_not_gather_torque() -> None:
    scene = Scene(seconds=8, gravity=[0, 0, 0])
    plate = scene.body("plate", box=[0.4, 0.4, 0.1], mass=3, at=[0.5, 0, 1])
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1])
    scene.joint("tether", in_sphere=[plate, ball], at=[0.5, 0, 1], center=[0, 0, 1], radius=0.6)
    scene.joint("rope", in_sphere=[plate, "world"], at=[0.7, 0, 1], center=[0.7, -0.05, 1], radius=0.1)
    ball.move([[0, 0, 1]])
    plate.move([[0.5, 0, 1]], base_distance=0.2, speed=1)
    plate.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 100]}], base_angle=20, speed=60)
    torque = simulate(scene).channels["plate.turn.torque"]
    assert torque[-1] < 1.2 * torque[60]


@pytest.mark.parametrize("strength", ["auto", 300])
def test_a_hand_at_an_arm_lifts_a_crate_from_below(strength: float | str) -> None:
    scene = Scene(seconds=8)
    for name, y in (("left", 0.35), ("right", -0.35)):
        scene.body(name, box=[0.3, 0.3, 0.1], fixed=True, at=[0.85, y, 1.4])
    scene.body("crate", box=[0.3, 0.8, 0.1], mass=3, at=[0.85, 0, 1.5])
    upper = scene.body("upper", capsule={"radius": 0.04, "length": 0.5}, mass=1, at=[0.15, 0, 1], euler=[0, 143.13, 0])
    fore = scene.body("fore", capsule={"radius": 0.04, "length": 0.64}, mass=1, at=[0.55, 0, 1], euler=[0, 51.34, 0])
    hand = scene.body("hand", sphere=0.08, mass=0.5, at=[0.85, 0, 1.24])
    scene.joint("shoulder", hinge=["world", upper], at=[0, 0, 1.2], axis=[0, 1, 0])
    scene.joint("elbow", hinge=[upper, fore], at=[0.3, 0, 0.8], axis=[0, 1, 0])
    scene.joint("wrist", weld=[fore, hand])
    hand.move([[0.85, 0, 1.24], [0.85, 0, 1.36], [0.85, 0, 1.6]], speed=0.3, strength=strength)
    take = simulate(scene)
    assert take.position[-1, take.index("hand"), 2] == pytest.approx(1.6, abs=0.02)
    assert take.position[:, take.index("crate"), 2].max() > 1.6  # from 1.5; on a ball it does not stay for ever


def test_a_gram_that_turns_300_kg_does_so_beside_what_takes_short_steps() -> None:
    """A torque of 1300 N·m would turn the gram alone a hundred times round in a step."""
    scene = Scene(seconds=3)
    scene.body("ground", plane={}, fixed=True)
    rod = scene.body("rod", capsule={"radius": 0.01, "length": 0.5}, mass=1e-3, at=[0.25, 0, 1.5], euler=[0, 90, 0])
    safe = scene.body("safe", box=[0.5, 0.5, 0.5], mass=300, at=[0.75, 0, 1.5])
    foot = scene.body("foot", box=[0.8, 0.8, 0.04], mass=0.5, at=[0, 4, 0.02])
    post = scene.body("post", capsule={"radius": 0.02, "length": 0.5}, mass=1e-3, at=[0, 4, 0.27])
    block = scene.body("block", box=[0.4, 0.4, 0.4], mass=300, at=[0, 4, 0.72])
    scene.joint("shoulder", hinge=["world", rod], at=[0, 0, 1.5], axis=[0, 1, 0])
    scene.joint("wrist", ball=[rod, safe], at=[0.5, 0, 1.5])
    scene.joint("sole", weld=[foot, post], at=[0, 4, 0.04])
    scene.joint("top", ball=[post, block], at=[0, 4, 0.52])
    rod.turn([{"euler": [0, 90, 0]}, {"euler": [0, 60, 0], "time": 2}])
    for body in (safe, block):
        body.turn([{"euler": [0, 0, 0]}])
    take = simulate(scene)
    assert take.position[-1, take.index("rod")] == pytest.approx([0.25 * math.sqrt(0.75), 0, 1.625], abs=2e-3)
    assert take.position[-1, take.index("block")] == pytest.approx([0, 4, 0.72], abs=2e-3)
    torques = np.array([take.channels[f"{name}.turn.torque"][-1] for name in ("rod", "safe")])
    levers = 9.81 * 300 * np.array([0.5 * math.sqrt(0.75), 0.25])  # of the safe's weight about its joints
    assert torques == pytest.approx(levers, rel=0.01)
