"""Joints that rub: an actor reckons with their friction, and where it has not the strength, that is told."""

import pytest

from impel.scene import Scene
from impel.stage import simulate
from impel.takes.remarks import remarks


def rusty(friction: float, kind: str, **wish) -> Scene:
    """An arm of 1 kg on a hinge, which is to rise by 60°."""
    scene = Scene(seconds=6)
    arm = scene.body("arm", capsule={"radius": 0.04, "length": 0.5}, mass=1, at=[0.25, 0, 1], euler=[0, 90, 0])
    scene.joint("pin", hinge=["world", arm], at=[0, 0, 1], axis=[0, 1, 0], friction=friction)
    if kind == "turn":
        arm.turn([{"euler": [0, 90, 0]}, {"euler": [0, 30, 0]}], speed=45, **wish)
    else:
        arm.move([[0.25, 0, 1], [0.2165, 0, 1.125], [0.125, 0, 1.2165]], speed=0.2, **wish)
    return scene


@pytest.mark.parametrize("kind", ["turn", "move"])
@pytest.mark.parametrize("strength", ["auto", "unlimited"])
@pytest.mark.parametrize("friction", [5, 20])
def test_an_arm_overcomes_the_friction_of_its_joint(friction: float, strength: str, kind: str) -> None:
    """5 N·m is four times what holds the arm, 20 N·m fifty times its pull."""
    take = simulate(rusty(friction, kind, strength=strength))
    assert take.channels[f"arm.{kind}.progress"][-1] == pytest.approx(60 if kind == "turn" else 0.262, rel=0.02)
    assert remarks(take) == []


def test_friction_that_is_too_much_is_named_with_a_strength_that_does() -> None:
    take = simulate(rusty(5, "turn", strength=3))
    (remark,) = (line for line in remarks(take) if "held up" in line)
    assert "the friction of joints.pin holds it, against its strength of 3 N·m" in remark
    enough = float(remark.split("strength: ")[1].split(" ")[0])
    assert simulate(rusty(5, "turn", strength=enough)).channels["arm.turn.progress"][-1] > 58
