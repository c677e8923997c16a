"""What the texts of the fields say about physics is so."""

import numpy as np
import pytest

from impel import Scene, simulate
from impel.motion.orientations import multiply_quaternions, quaternion_from_euler


def test_spin_is_about_the_axes_of_the_world() -> None:
    scene = Scene(seconds=1, gravity=[0, 0, 0])
    scene.body("die", box=[1, 1, 1], euler=[90, 0, 0], spin=[0, 0, 60])
    turned = multiply_quaternions(quaternion_from_euler([0, 0, 60]), quaternion_from_euler([90, 0, 0]))
    assert abs(simulate(scene).orientation[-1, 0] @ turned) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("one", "other"), [(0.0, 1.0), (0.1, 0.9), (0.4, 0.4)])
def test_two_that_touch_grip_by_the_root_of_the_product(one: float, other: float) -> None:
    scene = Scene(seconds=0.5)
    scene.body("ground", plane={}, fixed=True, coating={"friction": one})
    scene.body(
        "sledge", box=[0.4, 0.4, 0.05], mass=1, at=[0, 0, 0.025], velocity=[3, 0, 0], coating={"friction": other}
    )
    take = simulate(scene)
    slowing = (take.channels["sledge.speed"][3] - take.channels["sledge.speed"][-1]) / (take.time[-1] - take.time[3])
    assert slowing == pytest.approx(9.81 * np.sqrt(one * other), rel=0.02, abs=0.01)


def test_limits_are_of_the_second_body_against_the_first_right_handed_about_the_axis() -> None:
    """A rod on a nail is driven round: about the axis as far as the upper limit, against it as far as the lower one."""
    for spin, limit in ((90, 40), (-90, -20)):
        scene = Scene(seconds=2, gravity=[0, 0, 0])
        scene.body("rod", box=[1, 0.1, 0.1], mass=1, spin=[0, 0, spin])
        scene.joint("nail", hinge=["world", "rod"], at=[0, 0, 0], axis=[0, 0, 1], limits=[-20, 40])
        expected = quaternion_from_euler([0, 0, limit])
        nearest = np.abs(simulate(scene).orientation[:, 0] @ expected).max()
        assert nearest == pytest.approx(1, abs=1e-4)


def test_drag_takes_its_share_of_motion_and_of_spin_each_second() -> None:
    scene = Scene(seconds=1, gravity=[0, 0, 0], drag=0.1)
    scene.body("die", box=[1, 1, 1], velocity=[2, 0, 0], spin=[0, 0, 60])
    take = simulate(scene)
    assert take.channels["die.speed"][-1] == pytest.approx(2 * np.exp(-0.1))
    turned = quaternion_from_euler([0, 0, 60 * -np.expm1(-0.1) / 0.1])
    assert abs(take.orientation[-1, 0] @ turned) == pytest.approx(1, abs=1e-7)
