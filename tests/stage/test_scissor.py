"""Scissor lifts: loops of hinges hold more than they need to, and an actor on the platform raises them."""

import math

import numpy as np
import pytest

from impel.scene import Scene
from impel.stage import simulate
from impel.stage.opening import strengths

WIDE, LOW = 0.5 * math.cos(math.radians(20)), math.sin(math.radians(20))  # m: half a bar across, a stage's height
Y = [0, 1, 0]


def cross_bars(scene: Scene, stages: int, bar: dict[str, float]) -> None:
    """Two bars a stage, hinged in the middle and to those below."""
    for n in range(stages):
        z = 0.15 + LOW * (n + 0.5)
        for name, tilt in (("a", 70), ("b", 110)):
            scene.body(f"{name}{n}", capsule=bar, mass=1, at=[0, 0, z], euler=[0, tilt, 0], collides=False)
        scene.joint(f"middle{n}", hinge=[f"a{n}", f"b{n}"], at=[0, 0, z], axis=Y)
        if n > 0:
            scene.joint(f"left{n}", hinge=[f"b{n - 1}", f"a{n}"], at=[-WIDE, 0, z - LOW / 2], axis=Y)
            scene.joint(f"right{n}", hinge=[f"a{n - 1}", f"b{n}"], at=[WIDE, 0, z - LOW / 2], axis=Y)


def lift(stages: int) -> Scene:
    scene = Scene(seconds=3)
    scene.body("base", box=[1.4, 0.4, 0.1], fixed=True, at=[0, 0, 0.05])
    cross_bars(scene, stages, {"radius": 0.03, "length": 0.94})
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


def driven(stages: int, strength: float | str, load: float = 0.0) -> Scene:
    """A lift whose cart on a rail draws the lower ends of its bars together: at 20° the platform goes 2.7 times as fast
    as the cart for each stage."""
    scene = Scene(seconds=5)
    scene.body("base", box=[1.6, 0.4, 0.1], fixed=True, at=[0, 0, 0.05])
    cross_bars(scene, stages, {"radius": 0.02, "length": 1.0})
    high = 0.15 + LOW * stages
    scene.body("top", box=[1.3, 0.4, 0.06], mass=3, at=[0, 0, high + 0.05])
    cart = scene.body("cart", box=[0.1, 0.1, 0.06], mass=1, at=[WIDE, 0, 0.15], collides=False)
    scene.joint("foot", hinge=["base", "a0"], at=[-WIDE, 0, 0.15], axis=Y)
    scene.joint("rail", slide=["base", cart], at=[WIDE, 0, 0.15], axis=[1, 0, 0], limits=[-0.6, 0.1])
    scene.joint("drive", hinge=[cart, "b0"], at=[WIDE, 0, 0.15], axis=Y)
    scene.joint("top left", hinge=["top", f"b{stages - 1}"], at=[-WIDE, 0, high], axis=Y)
    scene.joint(
        "top right", on_segment=[f"a{stages - 1}", "top"], at=[WIDE, 0, high], segment=[[0, 0, high], [1, 0, high]]
    )
    if load > 0.0:
        scene.body("load", box=[0.3, 0.3, 0.2], mass=load, at=[-0.2, 0, high + 0.182])
    keys = [[WIDE, 0, 0.15], {"at": [WIDE - 0.15, 0, 0.15], "time": 1.5}, {"at": [WIDE, 0, 0.15], "time": 3.5}]
    cart.move(keys, strength=strength)
    return scene


def holds(stages: int, load: float = 0.0) -> float:
    """N: what holds such a lift at its cart, by virtual work."""
    raised = sum(2 * (n + 0.5) for n in range(stages)) + (3 + load) * stages  # kg that rise by a stage's height
    return 9.81 * raised / math.tan(math.radians(20))


@pytest.mark.parametrize(("stages", "strength"), [(2, "auto"), (3, "auto"), (6, "auto"), (3, "unlimited")])
def test_a_lift_is_driven_by_its_cart(stages: int, strength: str) -> None:
    take = simulate(driven(stages, strength))
    cart = take.position[:, take.index("cart"), 0]
    assert abs(cart[90] - cart[0] + 0.15) < 0.005
    assert abs(cart[-1] - cart[0]) < 0.002
    assert take.channels["cart.move.force"][-1] == pytest.approx(holds(stages), rel=0.01)
    assert take.remarks() == []


def test_what_auto_comes_to_for_a_lift_is_what_it_takes_at_its_cart() -> None:
    (line,) = strengths(driven(3, "auto"))
    still = float(line.split("3 times ")[1].split()[0])
    assert still == pytest.approx(holds(3), rel=0.002)


def test_auto_knows_what_the_lowest_pose_on_its_way_takes() -> None:
    """At 8° a lift takes 2.6 times as much as at 20°."""
    scene = driven(2, "auto")
    foot = math.cos(math.radians(20)) / 2
    scene["cart"].move([[foot, 0, 0.15], [math.cos(math.radians(8)) - foot, 0, 0.15]])
    (line,) = strengths(scene)
    still = holds(2) * math.tan(math.radians(20)) / math.tan(math.radians(8))
    assert float(line.split("3 times ")[1].split()[0]) == pytest.approx(still, rel=0.005)


def test_a_load_on_a_lift_shows_and_the_strength_of_the_remark_or_no_limit_raises_it() -> None:
    take = simulate(driven(1, "auto", load=20))
    (remark,) = take.remarks()
    assert take.position[-1, take.index("top"), 2] < take.position[0, take.index("top"), 2] - 0.1
    enough = float(remark.split("strength: ")[1].split()[0])
    assert enough > holds(1, load=20)
    for strength in (enough, "unlimited"):
        take = simulate(driven(1, strength, load=20))
        cart = take.position[:, take.index("cart"), 0]
        assert abs(cart[-1] - cart[0]) < 0.002
        assert take.channels["cart.move.force"][225] == pytest.approx(holds(1, load=20), rel=0.01)
        assert take.remarks() == []
