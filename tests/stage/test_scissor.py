"""Scissor lifts: loops of hinges hold more than they need to, and an actor on the platform raises them."""

import math

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import simulate

WIDE, LOW = 0.5 * math.cos(math.radians(20)), math.sin(math.radians(20))  # m: half a bar across, a stage's height
Y = [0, 1, 0]


def lift(stages: int) -> Scene:
    scene = Scene(seconds=3)
    scene.body("base", box=[1.4, 0.4, 0.1], fixed=True, at=[0, 0, 0.05])
    for n in range(stages):
        z = 0.15 + LOW * (n + 0.5)
        for name, tilt in (("a", 70), ("b", 110)):
            bar = {"radius": 0.03, "length": 0.94}
            scene.body(f"{name}{n}", capsule=bar, mass=1, at=[0, 0, z], euler=[0, tilt, 0], collides=False)
        scene.joint(f"middle{n}", hinge=[f"a{n}", f"b{n}"], at=[0, 0, z], axis=Y)
        if n > 0:
            scene.joint(f"left{n}", hinge=[f"b{n - 1}", f"a{n}"], at=[-WIDE, 0, z - LOW / 2], axis=Y)
            scene.joint(f"right{n}", hinge=[f"a{n - 1}", f"b{n}"], at=[WIDE, 0, z - LOW / 2], axis=Y)
    high = 0.15 + LOW * stages
    top = scene.body("top", box=[1.4, 0.4, 0.1], mass=5, at=[0, 0, high + 0.05], collides=False)
    scene.joint("foot left", hinge=["base", "a0"], at=[-WIDE, 0, 0.15], axis=Y)
    scene.joint("foot right", on_segment=["b0", "base"], at=[WIDE, 0, 0.15], segment=[[-5, 0, 0.15], [5, 0, 0.15]])
    scene.joint("top left", hinge=["top", f"b{stages - 1}"], at=[-WIDE, 0, high], axis=Y)
    rail = [[-5, 0, high], [5, 0, high]]
    scene.joint("top right", on_segment=[f"a{stages - 1}", "top"], at=[WIDE, 0, high], segment=rail)
    top.move([[0, 0, high + 0.05], [0, 0, high + 0.05 + 0.1 * stages]], speed=0.4)
    return scene


@pytest.mark.parametrize("stages", range(1, 7))
def test_a_lift_rises_and_its_joints_hold(stages: int) -> None:
    take = simulate(lift(stages))
    top = take.position[:, take.index("top")]
    np.testing.assert_allclose(top[-1] - top[0], [0, 0, 0.1 * stages], atol=0.003)
    weight = 9.81 * (5 + 2 * stages)
    assert take.channels["top.move.force"].max() < 2.5 * weight
    assert not [event for event in take.events if event["kind"] == "joint apart"]  # by more than 1e-6 of its size
