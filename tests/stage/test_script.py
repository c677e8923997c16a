"""What the script changes: strengths, joints that are made and let go, who touches whom; and cues of walkers."""

from typing import Any

import numpy as np
import pytest
from rewinding import differences

from impel import Problem, Scene, simulate
from impel.scene.checks import problems
from impel.takes import Take


def happened(take: Take, kind: str) -> dict[str, float]:
    return {event["subject"]: event["time"] for event in take.events if event["kind"] == kind}


def test_actor_whose_strength_fades_holds_on_as_long_as_it_can_and_then_falls_freely() -> None:
    scene = Scene(seconds=3)
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 20])
    ball.move([[0, 0, 20]], strength=[[0, 60], [1, 60], [2, 0]])
    take = simulate(scene)
    height = take.position[:, 0, 2]
    gives_way = 2 - 9.81 / 60  # when its strength is its weight
    assert np.abs(height[take.time < gives_way - 0.02] - 20).max() < 1e-3
    fallen = np.diff(height[take.time > 2.02], n=2) * 60**2
    assert fallen == pytest.approx(np.full(len(fallen), -9.81), abs=1e-6)


def test_limp_arm_hangs_like_a_pendulum_and_wakes_up_again() -> None:
    scene = Scene(seconds=6)
    arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.5}, mass=1, at=[0.25, 0, 1], euler=[0, 90, 0])
    scene.joint("shoulder", hinge=["world", arm], at=[0, 0, 1], axis=[0, 1, 0], friction=0.3)
    arm.turn([{"euler": [0, 90, 0]}], strength=[[0, "auto"], [1, "auto"], [1, 0], [4, 0], [4, "60 %"]])
    x, _, z = simulate(scene).position[:, 0].T
    assert z[:60] == pytest.approx(np.ones(60), abs=1e-3)
    assert (x[235], z[235]) == pytest.approx((0, 0.75), abs=0.1)
    assert z[-1] == pytest.approx(1, abs=1e-3)


def two_in_space(**joint: Any) -> Scene:
    scene = Scene(seconds=2, gravity=[0, 0, 0])
    scene.body("left", sphere=0.1, mass=1, at=[0, 0, 0], velocity=[1, 0, 0], collides=False)
    scene.body("right", box=[0.2, 0.2, 0.2], mass=3, at=[1, 0.5, 0], velocity=[-0.2, 0.4, 0], collides=False)
    scene.joint("tie", **joint)
    return scene


def test_weld_that_is_made_takes_bodies_as_they_are_and_keeps_momentum() -> None:
    scene = two_in_space(weld=["left", "right"], from_=0.5, until=1.5)
    take = simulate(scene)
    assert happened(take, "joint made") == {"tie": pytest.approx(0.5)}
    assert happened(take, "joint let go") == {"tie": pytest.approx(1.5)}
    left, right = take.position[:, 0], take.position[:, 1]
    apart = np.linalg.norm(right - left, axis=1)
    assert apart[30] == pytest.approx(np.linalg.norm([0.4, 0.7, 0]), abs=1e-9)  # as they came
    assert np.ptp(apart[30:91]) < 1e-6
    middle = (left + 3 * right) / 4
    assert np.diff(middle, axis=0) * 60 == pytest.approx(np.tile([0.1, 0.3, 0], (120, 1)), abs=1e-6)
    whole = [
        np.cross(left, np.gradient(left, 1 / 60, axis=0)) + 3 * np.cross(right, np.gradient(right, 1 / 60, axis=0))
    ]
    assert np.abs(np.diff(take.orientation[31:90, 1], axis=0)).max() > 1e-3  # it goes on turning ...
    assert np.ptp(whole[0][95:119, 2]) < 1e-6  # ... until each goes its own way
    assert take.remarks() == []


def test_hinge_that_is_made_turns_about_its_point_of_the_first_body() -> None:
    take = simulate(two_in_space(hinge=["left", "right"], at=[0.2, 0, 0], axis=[0, 0, 1], from_=0.5))
    made = take.position[30, 0] + [0.2, 0, 0]  # of the left one, which has not turned yet
    local = made - take.position[30, 1]
    for frame in range(31, 120):
        angle = 2 * np.arctan2(take.orientation[frame, :, 3], take.orientation[frame, :, 0])
        points = [
            take.position[frame, i] + [np.cos(a) * p[0] - np.sin(a) * p[1], np.sin(a) * p[0] + np.cos(a) * p[1], 0]
            for i, (a, p) in enumerate(zip(angle, ([0.2, 0, 0], local)))
        ]
        assert np.linalg.norm(points[0] - points[1]) < 1e-6


def gripper() -> Scene:
    """A hand that takes a cup from the table by appointment, and lets go of it at a time."""
    scene = Scene(seconds=3)
    scene.body("table", box=[1, 1, 0.5], fixed=True, at=[0, 0, 0.25])
    scene.body("cup", cylinder={"radius": 0.05, "length": 0.12}, mass=0.3, at=[0, 0, 0.56])
    hand = scene.body("hand", box=[0.2, 0.1, 0.04], mass=1, at=[0, 0, 1])
    hand.move([[0, 0, 1], {"at": [0, 0, 0.65], "time": 0.8, "hold": 0.2}, {"at": [0, 0, 1], "time": 2}])
    hand.turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 0], "time": 0.9}, {"euler": [0, 0, 40], "time": 2}])
    scene.appointment("grasp", ["hand.move.1", "hand.turn.1"])
    scene.joint("grip", weld=["hand", "cup"], from_="grasp", until=2.2)
    return scene


def test_hand_takes_a_cup_by_appointment_and_lets_it_fall() -> None:
    take = simulate(gripper())
    kept, made, let_go = (happened(take, k) for k in ("appointment kept", "joint made", "joint let go"))
    assert made["grip"] == pytest.approx(kept["grasp"], abs=0.01)
    assert let_go["grip"] == pytest.approx(2.2, abs=0.01)
    hand, cup = take.position[:, take.index("hand"), 2], take.position[:, take.index("cup"), 2]
    assert cup[40] == pytest.approx(0.56, abs=1e-3)
    assert hand[125] == pytest.approx(1, abs=2e-3)  # it bears the cup
    assert np.ptp((hand - cup)[65:131]) < 1e-6
    assert cup[-1] < 0.6
    assert take.remarks() == []


def test_script_is_part_of_a_snapshot() -> None:
    assert differences(gripper(), 8) == []


def test_arm_reckons_with_a_joint_that_has_broken() -> None:
    scene = Scene(seconds=3)
    for k, name in enumerate(("upper", "lower")):
        link = {"radius": 0.05, "length": 0.4}
        scene.body(name, capsule=link, mass=1, at=[0.4 * k + 0.2, 0, 1.5], euler=[0, 90, 0], collides=False)
        scene[name].turn([{"euler": [0, 90, 0]}])
    scene.joint("shoulder", hinge=["world", "upper"], at=[0, 0, 1.5], axis=[0, 1, 0])
    scene.joint("elbow", hinge=["upper", "lower"], at=[0.4, 0, 1.5], axis=[0, 1, 0], until=1)
    take = simulate(scene)
    assert np.abs(take.position[:, 0] - [0.2, 0, 1.5]).max() < 2e-3
    assert take.position[-1, 1, 2] < -10


def test_bodies_touch_only_as_long_as_the_script_says() -> None:
    scene = Scene(seconds=2)
    scene.body("plate", box=[2, 2, 0.1], fixed=True, at=[0, 0, 0], collides={"until": 1})
    scene.body("floor", box=[2, 2, 0.1], fixed=True, at=[0, 0, -1], collides={"from": 1.2})
    scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 0.15])
    height = simulate(scene).position[:, 2, 2]
    assert height[59] == pytest.approx(0.15, abs=2e-3)
    assert height[-1] == pytest.approx(-0.85, abs=0.02)


def bell() -> Scene:
    scene = Scene(seconds=3)
    scene.walker("spider", path=[[0, 0, 0], [3, 0, 0]])
    scene.body("bell", sphere=0.1, mass=1, at=[0, 3, 1]).move([[0, 3, 1], [1, 3, 1], [2, 3, 1]], speed=2)
    return scene


def test_others_wait_for_the_footfall_of_a_walker() -> None:
    scene = bell()
    scene.appointment("stamp", ["bell.move.1", "spider.step.4"])
    take = simulate(scene)
    falls = [event["time"] for event in take.events if event["kind"] == "footfall"]
    passed = [event["time"] for event in take.events if event["kind"] == "key passed" and event["details"]["key"] == 1]
    assert passed == [pytest.approx(falls[4], abs=1 / 240)]
    assert happened(take, "appointment kept")["stamp"] == pytest.approx(falls[4], abs=1 / 60)


@pytest.mark.parametrize(
    ("cues", "line"),
    [
        (["bell.move.1", "spider.step.900"], r"cues\.1: spider\.step counts from 0 to \d+ within the take, got 900"),
        (["bell.move.1", "spidr.step.1"], r"cues\.1: there is no walker called 'spidr'; did you mean spider\?"),
        (["spider.step.1", "spider.step.2"], r"cues\.1: .* cannot happen together"),
        (["bell.move.1", "bell.step.1"], r"cues\.1: there is no walker called 'bell'"),
    ],
)
def test_cues_of_walkers_that_there_are_not_are_told(cues: list[str], line: str) -> None:
    scene = bell()
    scene.appointment("stamp", cues)
    with pytest.raises(Problem, match=line):
        simulate(scene)


@pytest.mark.parametrize(
    ("joint", "line"),
    [
        ({"from_": "grasp", "until": "grasp"}, "joints.grip.until: must come after it begins, got 'grasp', which it"),
        ({"from_": "later", "until": "grasp"}, "joints.grip.until: must come after it begins, got 'grasp', which is"),
        ({"from_": 2, "until": 1.5}, "joints.grip.until: must be later than 2, when it begins, got 1.5"),
        ({"until": 0}, "joints.grip.until: must be later than 0, when it begins, got 0"),
        ({"from_": "grsp"}, "joints.grip.from: there is no appointment called 'grsp'; did you mean grasp?"),
    ],
)
def test_joint_that_is_let_go_before_it_holds_is_told_in_one_line(joint: dict[str, Any], line: str) -> None:
    scene = gripper()
    del scene.joints["grip"]
    scene.appointment("later", ["hand.move.2", "hand.turn.2"], after=["grasp"])
    scene.joint("grip", weld=["hand", "cup"], **joint)
    (found,) = problems(scene)
    assert found.startswith(line)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"on_segment": ["hand", "cup"], "at": [0, 0, 1], "segment": [[0, 0, 0], [0, 0, 1]], "from": 1},
            "from does not",
        ),
        ({"weld": ["hand", "cup"], "from": -1}, "must be a time in seconds"),
    ],
)
def test_joints_that_cannot_be_made_later_are_told(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(Problem, match=line):
        Scene(joints={"grip": fields})


@pytest.mark.parametrize(
    ("strength", "line"),
    [
        ([[0, 60], [2, "auto"]], "must be numbers throughout"),
        ([[2, 60], [1, 0]], "must not go back"),
        ([[0, 60, 1]], r"must be pairs \[\[seconds, strength\], \.\.\.\]"),
        ([[0, "unlimited"]], "must be numbers throughout"),
        ([[0, -1]], "must be a number greater than 0"),
    ],
)
def test_strengths_that_cannot_be_are_told(strength: Any, line: str) -> None:
    scene = Scene()
    with pytest.raises(Problem, match=line):
        scene.body("ball", sphere=0.1, mass=1).move([[0, 0, 0]], strength=strength)


def test_remark_on_a_hand_that_takes_more_than_it_can_turn_names_a_strength_that_does() -> None:
    def lines(strength: Any) -> list[str]:
        scene = Scene(seconds=2)
        hand = scene.body("hand", box=[0.1, 0.1, 0.1], mass=1, at=[0, 0, 1])
        hand.move([[0, 0, 1]])
        hand.turn([{"euler": [0, 0, 0]}], strength=strength)
        scene.body("cup", sphere=0.05, mass=0.5, at=[0.2, 0, 1])
        scene.joint("grip", weld=["hand", "cup"], **{"from": 0.01})
        return simulate(scene).remarks()

    assert not [line for line in lines("auto") if line.startswith("hand.turn")]  # which knows of the grip to come
    (line,) = [line for line in lines(0.3) if line.startswith("hand.turn")]
    assert "(it carries cup)" in line
    enough = float(line.split("strength: ")[-1].split()[0])
    assert not [line for line in lines(enough) if line.startswith("hand.turn")]
