"""Soft bodies in takes: who is pressed in is seen to be, at any time and rate; all others stay as they were."""

import numpy as np
import pytest

from impel import Scene, play, simulate
from impel.takes import load_npz, resampled, save_npz
from impel.takes.soft import soft_bodies, surface_at
from impel.takes.take import SOFT_VERSION, VERSION

SOFT = {"stiffness": 6e4, "thickness": 0.15, "damping": 0.3}


def bouncing(**coating) -> Scene:
    scene = Scene(seconds=0.6, fps=30)
    scene.body("floor", plane={}, fixed=True)
    scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 0.5], euler=[10, 20, 30], coating=SOFT | coating)
    return scene


def lowest(take, name, frame):
    """The lowest vertex of a surface, in the world."""
    from impel.motion.orientations import matrix_from_quaternion

    i = take.index(name)
    turn = matrix_from_quaternion(take.orientation[frame, i])
    return float((surface_at(take, name, frame)[0] @ turn.T + take.position[frame, i])[:, 2].min())


def test_a_soft_ball_never_goes_through_the_floor():
    take = simulate(bouncing())
    assert soft_bodies(take) == ["ball"]
    assert take.version == SOFT_VERSION
    height = take.position[:, take.index("ball"), 2]
    assert height.min() < 0.17  # pressed in deep
    for frame in range(len(take.time)):
        assert lowest(take, "ball", frame) > min(height[frame] - 0.2, 0.0) - 1e-7 or height[frame] > 0.2
        assert lowest(take, "ball", frame) > -1e-7
    touching = np.flatnonzero(height < 0.195)
    assert all(abs(lowest(take, "ball", frame)) < 1e-7 for frame in touching)
    free = int(np.argmax(height))
    rows = take.soft["ball.first"]
    assert rows[free] == rows[free + 1]  # nothing has moved where nothing presses


def test_who_was_not_told_to_be_soft_leaves_no_trace():
    scene = bouncing()
    scene.bodies["ball"].coating.stiffness = None
    take = simulate(scene)
    assert take.soft == {}
    assert take.version == VERSION
    hard = simulate(bouncing(stiffness=1e9))  # told, but nobody would see it
    assert hard.soft == {}


def test_a_take_may_be_asked_for_at_any_time():
    show = play(bouncing())
    whole = simulate(bouncing())
    taken = None
    for frame in show:
        if frame.number == 9:
            taken = show.take()
    assert taken is not None
    shown = min(len(taken.time), 9)
    for f in range(shown):
        np.testing.assert_allclose(lowest(taken, "ball", f) if taken.soft else 0.0, lowest(whole, "ball", f), atol=1e-3)
    assert soft_bodies(show.take()) == ["ball"]
    np.testing.assert_array_equal(show.take().soft["ball.shift"], whole.soft["ball.shift"])


def test_another_frame_rate_has_its_own_surfaces(tmp_path):
    exact, between = simulate(bouncing(), fps=50), resampled(simulate(bouncing()), 50)
    for take in (exact, between):
        assert len(take.soft["ball.first"]) == len(take.time) + 1
    for frame in range(len(exact.time)):
        assert lowest(exact, "ball", frame) > -1e-7
    save_npz(exact, tmp_path / "take.npz")
    np.testing.assert_array_equal(load_npz(tmp_path / "take.npz").soft["ball.shift"], exact.soft["ball.shift"])


def held(**joint) -> Scene:
    """Two soft balls that overlap, held where they are."""
    scene = Scene(seconds=0.1, fps=20)
    scene.body("left", sphere=0.2, mass=1, at=[0, 0, 1], coating=SOFT)
    scene.body("right", sphere=0.2, mass=1, at=[0.36, 0, 1], coating=SOFT)
    scene.world.gravity = (0.0, 0.0, 0.0)
    if joint:
        scene.joint("weld", weld=["left", "right"], **joint)
    return scene


def test_what_a_joint_ties_together_does_not_press():
    assert soft_bodies(simulate(held())) == ["left", "right"]
    assert simulate(held(at=[0.18, 0, 1])).soft == {}


def test_what_does_not_collide_does_not_press():
    scene = held()
    scene.bodies["left"].collides = False
    assert simulate(scene).soft == {}


def test_keyed_bodies_press_soft_ones_too():
    scene = Scene(seconds=0.2, fps=20)
    scene.body("floor", plane={}, fixed=True)
    scene.body("ball", sphere=0.2, at=[0, 0, 0.3], coating=SOFT, follows=[
        {"time": 0, "at": [0, 0, 0.3]}, {"time": 0.2, "at": [0, 0, 0.12]},
    ])  # fmt: skip
    take = simulate(scene)
    assert soft_bodies(take) == ["ball"]
    assert abs(lowest(take, "ball", len(take.time) - 1)) < 1e-7


PEAR = {"points": [{"at": [0.1, 0, 0], "radius": 0.1}, {"at": [0.3, 0, 0], "radius": 0.08}], "blend": 0.05}


@pytest.mark.parametrize(
    "shape", [{"box": [0.3, 0.2, 0.2]}, {"cylinder": {"radius": 0.1, "length": 0.3}}, {"blob": PEAR}]
)
def test_frames_and_axes_are_those_of_the_shape(shape):
    """Blobs have their centre of mass elsewhere than their origin: in the world all of them end at the floor."""
    scene = Scene(seconds=0.05, fps=20)
    scene.body("floor", plane={}, fixed=True)
    scene.body("thing", **shape, at=[0, 0, 0.09], euler=[0, 0, 40], fixed=True, coating={"stiffness": 1e5})
    take = simulate(scene)
    assert soft_bodies(take) == ["thing"]
    assert abs(lowest(take, "thing", 0)) < 1e-6 or "cylinder" in shape
    assert lowest(take, "thing", 0) > -1e-6
