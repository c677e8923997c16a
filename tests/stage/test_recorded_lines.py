"""What is drawn beside the bodies is in the take: wires in the frame of their body, ropes with their slack, aims."""

import numpy as np
import pytest

from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take


@pytest.fixture(scope="module")
def take() -> Take:
    """A bead on a ring, a trolley on the rail of a boom that swings round, and a load that falls into its rope."""
    scene = Scene(seconds=0.6, fps=60)
    boom = {
        "points": [{"at": [0.4, 0, 0], "radius": 0.3}],
        "segments": [{"from": [0, 0, 0], "to": [2, 0, 0], "radius": 0.1}],
    }
    turn = [{"time": 0, "at": [0, 0, 3], "euler": [0, 10, 0]}, {"time": 1, "euler": [0, 10, 60]}]
    scene.body("boom", blob=boom, follows=turn, collides=False)
    scene.body("trolley", sphere=0.1, mass=1, at=[1, 0, 3], collides=False)
    scene.body("load", box=[0.2, 0.2, 0.2], mass=2, at=[1, 0.3, 2.9], collides=False)
    scene.body("bead", sphere=0.1, mass=1, at=[-3, 0, 2], velocity=[1, 0, 0], collides=False)
    circle = [[-3 + np.sin(a), 0, 1 + np.cos(a)] for a in 2 * np.pi * np.arange(8) / 8]
    scene.joint("ring", on_curve=["bead", "world"], at=[-3, 0, 2], curve=circle, loop=True)
    rail = [[0.2, 0, 3], [1.8, 0, 3]]
    scene.joint("rail", on_segment=["trolley", "boom"], at=[1, 0, 3], segment=rail)
    scene.joint("rope", in_sphere=["load", "trolley"], at=[1, 0.3, 3], center=[1, 0, 3], radius=0.6)
    return simulate(scene)


def away_from(line: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance (F,) of points (F, 3) from polylines (F, P, 3)."""
    a, step = line[:, :-1], np.diff(line, axis=1)
    share = np.clip(np.sum((points[:, None] - a) * step, axis=-1) / np.sum(step**2, axis=-1), 0, 1)
    return np.linalg.norm(a + share[..., None] * step - points[:, None], axis=-1).min(axis=1)


def test_wires_are_where_the_joints_hold(take: Take) -> None:
    assert list(take.wires) == ["world.ring", "boom.rail"]
    frames = len(take.time)
    ring = np.tile(take.wires["world.ring"], (frames, 1, 1))
    assert np.array_equal(ring[0, 0], ring[0, -1])
    assert np.abs(np.hypot(ring[..., 0] + 3, ring[..., 2] - 1) - 1).max() < 0.01
    assert away_from(ring, take.position[:, take.index("bead")]).max() < 0.01
    boom = take.index("boom")
    turn = matrix_from_quaternion(take.orientation[:, boom])
    rail = take.position[:, boom][:, None] + np.einsum("fij,pj->fpi", turn, take.wires["boom.rail"])
    assert np.allclose(rail[0], [[0.2, 0, 3], [1.8, 0, 3]])
    assert np.linalg.norm(rail[-1] - rail[0], axis=-1).max() > 0.5
    assert away_from(rail, take.position[:, take.index("trolley")]).max() < 1e-4


def test_ropes_know_their_ends_and_their_slack(take: Take) -> None:
    ends, slack = take.ropes["rope"], take.channels["rope.slack"]
    load, trolley = take.index("load"), take.index("trolley")
    hook = take.position[:, load] + matrix_from_quaternion(take.orientation[:, load]) @ [0, 0, 0.1]
    assert np.allclose(ends[:, 0], hook, atol=1e-9)
    assert np.allclose(ends[:, 1], take.position[:, trolley], atol=1e-9)
    assert slack[0] == pytest.approx(0.3)
    assert slack[-1] < 1e-3  # it has fallen into the rope
    assert np.allclose(slack + np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1), 0.6, atol=1e-3)


def test_turns_tell_where_the_shape_should_point() -> None:
    """A blob's principal axes are not those of its shape, and a take is about shapes."""
    scene = Scene(seconds=3, gravity=[0, 0, 0])
    lopsided = {
        "points": [{"at": [0, 0, 0], "radius": 0.2}],
        "segments": [{"from": [0, 0, 0], "to": [0.5, 0.3, 0], "radius": 0.1}],
    }
    hand = scene.body("hand", blob=lopsided, mass=1, collides=False)
    keys = [[0, 0, 0], [0, 0, 80], [60, 0, 80]]
    hand.turn([{"euler": key} for key in keys], speed=90)
    take = simulate(scene)
    path, target = (matrix_from_quaternion(q) for q in (take.paths["hand.turn"], take.tracks["hand.turn.target"]))
    told = matrix_from_quaternion(quaternion_from_euler(keys))
    assert np.allclose(path[[0, 16, 32]], told, atol=1e-9)
    assert np.allclose(target[-1], told[-1], atol=1e-9)
    assert np.allclose(matrix_from_quaternion(take.orientation[-1, 0]), told[-1], atol=0.02)
    between = np.linalg.norm(target[:, None] - path, axis=(2, 3)).min(axis=1)
    assert between.max() < 0.1  # the target runs on its path
