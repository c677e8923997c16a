"""Takes at another frame rate: every frame where it was asked for, and the motion what it was."""

import numpy as np
import pytest
from parade import parade
from test_glb import accessor, read_glb

from impel.files import Problem
from impel.motion.orientations import matrix_from_quaternion
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import load_npz, resampled, save_npz, write_glb


def test_a_thrown_body_is_where_gravity_puts_it_between_frames():
    take = parade(3, 61, fps=60)
    take.position[:, 2] = np.stack([3 * take.time, 0 * take.time, 4 * take.time - 9.81 / 2 * take.time**2], axis=-1)
    at = resampled(take, 24)
    np.testing.assert_allclose(at.time, np.arange(25) / 24)
    there = np.stack([3 * at.time, 0 * at.time, 4 * at.time - 9.81 / 2 * at.time**2], axis=-1)
    np.testing.assert_allclose(at.position[:, 2], there, atol=1e-12)


def test_a_steady_turn_stays_steady_whatever_the_signs_of_the_quaternions():
    take = parade(3, 61, fps=60)
    half = np.radians(200) * take.time
    take.orientation[:, 2] = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)
    take.orientation[::2, 2] *= -1
    at = resampled(take, 24)
    angle = 2 * np.radians(200) * at.time
    turn = matrix_from_quaternion(at.orientation[:, 2])
    np.testing.assert_allclose(turn[:, 0, 0], np.cos(angle), atol=1e-12)
    np.testing.assert_allclose(turn[:, 1, 0], np.sin(angle), atol=1e-12)


def test_a_bounce_does_not_swing_over():
    take = parade(3, 61, fps=60)
    take.position[:, 2] = 0
    take.position[:, 2, 2] = np.abs(take.time - 0.5)
    assert resampled(take, 240).position[:, 2, 2].min() >= -1e-12


def test_whole_frames_are_kept_as_they_are_and_everything_has_as_many(tmp_path):
    take = parade(5, 61, fps=60)
    take.paths["body 1.move"] = np.zeros((61, 4, 3)) + take.time[:, None, None]
    take.ropes["cord"] = take.position[:, [1, 2]]
    at = resampled(take, 20)
    assert np.array_equal(at.position, take.position[::3])
    assert np.array_equal(at.channels["body 0.move.distance"], take.channels["body 0.move.distance"][::3])
    save_npz(resampled(take, 25), tmp_path / "take.npz")
    assert len(load_npz(tmp_path / "take.npz").time) == 26
    with pytest.raises(Problem, match="fps"):
        resampled(take, 1e9)


def bouncing() -> Scene:
    scene = Scene(seconds=1.5)
    scene.body("ground", plane={}, fixed=True)
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 0.6], velocity=[1, 0, 0])
    scene.body("stick", capsule={"radius": 0.05, "length": 0.5}, mass=1, at=[1, 0, 0.5], euler=[30, 20, 0])
    scene.body("bell", sphere=0.1, mass=1, at=[3, 0, 1])
    scene.joint("cord", in_sphere=["world", "bell"], at=[3, 0, 1], radius=0.4)
    ball.move([[0, 0, 0.6], [1, 0, 0.0]], strength=20)
    return scene


def test_the_same_motion_is_simulated_whatever_rate_is_asked_for(tmp_path):
    """With blows between the frames; frames that both have are the same, and the GLB has its own on whole frames."""
    take, film, fine = simulate(bouncing()), simulate(bouncing(), fps=24), simulate(bouncing(), fps=240)
    assert any(event["kind"] == "contact begins" and event["time"] > 0.1 for event in take.events)
    np.testing.assert_allclose(fine.position[::4], take.position, atol=1e-12)
    np.testing.assert_allclose(fine.position[::10], film.position, atol=1e-12)
    np.testing.assert_allclose(fine.ropes["cord"][::4], take.ropes["cord"], atol=1e-12)
    assert np.abs(np.diff(fine.position[:, 1:], axis=0)).max() < 0.05  # nothing jumps in between
    assert (film.events, film.keys) == (take.events, take.keys)
    write_glb(film, tmp_path / "film.glb")
    document, binary = read_glb(tmp_path / "film.glb")
    clock = accessor(document, binary, document["animations"][0]["samplers"][0]["input"]).astype(float)
    np.testing.assert_allclose(clock * 24, np.arange(37), atol=1e-5)
    for channel in document["animations"][0]["channels"]:
        body = channel["target"]["node"] - 1
        if channel["target"]["path"] == "translation" and body < len(film.names):
            keys = accessor(document, binary, document["animations"][0]["samplers"][channel["sampler"]]["output"])
            np.testing.assert_allclose(keys, fine.position[::10, body], atol=1e-3)


@pytest.mark.parametrize("fps", [0, -24, float("nan"), "24", None])
def test_a_rate_that_is_none_is_refused(fps):
    with pytest.raises(Problem, match=r"^fps: must be a number greater than 0"):
        resampled(parade(3, 4), fps)


def test_what_sleeps_is_there_at_every_moment():
    scene = Scene(seconds=2)
    scene.body("ground", plane={}, fixed=True)
    scene.body("box", box=[0.2, 0.2, 0.2], mass=1, at=[0, 0, 0.1])
    assert np.abs(simulate(scene, fps=24).position[:, 1] - [0, 0, 0.1]).max() < 1e-3


def test_contacts_tell_where():
    scene = Scene(seconds=1)
    scene.body("ground", plane={}, fixed=True)
    scene.body("ball", sphere=0.1, mass=1, at=[0.3, -0.2, 0.5])
    (first, *_) = [event for event in simulate(scene).events if event["kind"] == "contact begins"]
    np.testing.assert_allclose(first["details"]["at"], [0.3, -0.2, 0.0], atol=0.01)
