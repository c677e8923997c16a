"""Joints that lock their bodies by a hair are told of; what rounded numbers lock is freed."""

import math
import re

import numpy as np
import pytest

from impel import Scene, simulate
from impel.stage import Performance
from impel.stage.opening import opening_doubts

HEIGHT, THICK = 0.8, 0.04  # m


def flap(off: float, tilt: float = 0.0) -> Scene:
    """Hangs from two hinges, the second off the line of the first, and swings."""
    scene = Scene(seconds=8, fps=100)
    moving = {"spin": [0, math.degrees(0.1), 0], "velocity": [-0.1 * HEIGHT / 2, 0, 0]}
    scene.body("flap", box=[THICK, 1, HEIGHT], mass=3, at=[0, 0, -HEIGHT / 2], **moving)
    scene.joint("left", hinge=["world", "flap"], at=[0, -0.4, 0], axis=[0, 1, 0])
    scene.joint("right", hinge=["world", "flap"], at=[off, 0.4, 0], axis=[tilt, 1, 0])
    return scene


@pytest.mark.parametrize(("off", "tilt"), [(0.0, 0.0), (1e-6, 0.0), (1e-5, 0.0), (1e-4, 0.0), (0.0, 1e-4)])
@pytest.mark.filterwarnings("ignore:scene. joints.right")
def test_a_flap_whose_hinges_are_off_by_rounding_swings_like_a_pendulum(off: float, tilt: float) -> None:
    take = simulate(flap(off, tilt))
    x = take.position[:, 0, 0]
    inertia = (HEIGHT**2 + THICK**2) / 12 + (HEIGHT / 2) ** 2  # over the mass, about the line of the hinges
    rate = math.sqrt(9.81 * (HEIGHT / 2) / inertia)
    np.testing.assert_allclose(x, -HEIGHT / 2 * 0.1 / rate * np.sin(rate * take.time), atol=2e-4)
    assert not any(event["kind"] in ("joint apart", "smallest step", "step rejected") for event in take.events)


def test_what_rounding_locks_is_told_with_the_amount_and_how_it_is_taken() -> None:
    expected = (
        "joints.right: is 0.1 mm off the line of joints.left, which would leave flap no way to turn: "
        "it is taken as if it were written at: [0, 0.4, 0]"
    )
    assert opening_doubts(flap(1e-4)) == [expected] == Performance(flap(1e-4)).doubts
    assert opening_doubts(flap(0.0)) == opening_doubts(flap(1e-7)) == []


def test_hinges_that_are_farther_off_stay_as_they_are_and_what_would_be_right_is_told() -> None:
    scene = flap(2e-3, 1e-3)
    (line,) = opening_doubts(scene)
    # The line of the right one is 1.2 mm off where the left one is, which is less than the other way round.
    assert line.startswith(
        "joints.left: leaves flap no way to turn: it is 1.2 mm and 0.057° off the line of joints.right;"
    )
    at, axis = (list(map(float, numbers.split(","))) for numbers in re.findall(r"\[(.*?)\]", line))
    with pytest.warns(UserWarning, match="no way to turn"):
        assert abs(simulate(scene).position[:, 0, 0]).max() < 1e-4
    scene.joints["left"].at, scene.joints["left"].axis = tuple(at), tuple(axis)
    assert opening_doubts(scene) == []
    assert abs(simulate(scene).position[:, 0, 0]).max() > 5e-3


def linkage(tilt: float) -> Scene:
    scene = Scene(seconds=2)
    scene.body("left", box=[0.05, 0.05, 1], mass=2, at=[-0.5, 0, 1])
    scene.body("right", box=[0.05, 0.05, 1], mass=2, at=[0.5, 0, 1])
    scene.body("bar", box=[1.2, 0.05, 0.05], mass=5, at=[0, 0, 0.5])
    scene.joint("a", hinge=["world", "left"], at=[-0.5, 0, 1.5], axis=[0, 1, tilt])
    scene.joint("b", hinge=["world", "right"], at=[0.5, 0, 1.5], axis=[0, 1, 0])
    scene.joint("c", hinge=["left", "bar"], at=[-0.5, 0, 0.5], axis=[0, 1, 0])
    scene.joint("d", hinge=["right", "bar"], at=[0.5, 0, 0.5], axis=[0, 1, 0])
    scene["left"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 30, 0]}])
    return scene


def test_an_actor_whose_joints_lock_it_is_told_so_and_not_to_push_harder() -> None:
    with pytest.warns(UserWarning, match=r"joints.a: leaves left, right and bar no way to move: .* axis: \[0, 1, 0\]"):
        (remark,) = simulate(linkage(1e-3)).remarks()
    assert "joints.a leaves it no way to turn: it is 0.057° off what joints.b, joints.c and joints.d ask" in remark
    assert simulate(linkage(0.0)).remarks() == []


def test_an_actor_that_is_held_by_design_is_told_which_joints_hold_it() -> None:
    scene = linkage(0.0)
    scene.body("brace", box=[0.02, 0.02, 1.4], mass=1, at=[0, 0, 1], euler=[0, 45, 0], collides=False)
    scene.joint("e", hinge=["world", "brace"], at=[0.5, 0, 1.5], axis=[0, 1, 0])
    scene.joint("f", hinge=["brace", "bar"], at=[-0.5, 0, 0.5], axis=[0, 1, 0])
    assert opening_doubts(scene) == []
    (remark,) = simulate(scene).remarks()
    assert "joints.a and joints.c leave it no way to turn, and no strength would" in remark


def bridge(slack: float) -> Scene:
    """Planks in a row between two walls, the second so much nearer than they are long."""
    scene = Scene(seconds=1)
    for n in range(6):
        scene.body(f"p{n}", box=[0.2, 0.5, 0.04], mass=3, at=[0.25 * n, 0, 1])
        before = "world" if n == 0 else f"p{n - 1}"
        scene.joint(f"h{n}", hinge=[before, f"p{n}"], at=[0.25 * n - 0.125, 0, 1], axis=[0, 1, 0])
    scene.joint("last", hinge=["p5", "world"], at=[1.375, 0, 1], at_b=[1.375 - slack, 0, 1], axis=[0, 1, 0])
    return scene


def test_planks_without_slack_are_taut_and_with_a_millimetre_they_sag() -> None:
    (line,) = opening_doubts(bridge(0.0))
    assert line.startswith(
        "joints.h0: is taut, and so are joints.h1, joints.h2, joints.h3 and 3 more: p0, p1, p2 and 3 "
    )
    assert opening_doubts(bridge(1e-3)) == []
    latched = bridge(0.0)
    latched.joints["last"].until = 0.5
    assert opening_doubts(latched) == []  # it is meant to hold
    take = simulate(bridge(1e-3))
    assert not any(event["kind"] == "smallest step" for event in take.events)
