"""Soft bodies in pictures: drawn as they are pressed, in films as in single pictures."""

from dataclasses import replace

import numpy as np
import pytest

from impel import Scene, simulate
from impel.render.picture import expose
from impel.render.sequences import exposures, film_of

SIZE = (240, 160)


@pytest.fixture(scope="module")
def take():
    """A ball is pressed on the floor by its keys, and let go; another stands still, pressed in all the time."""
    scene = Scene(seconds=0.5, fps=20, camera={"from": [0, -2.5, 0.3], "to": [0, 0, 0.2], "fov": 30})
    scene.body("floor", plane={}, fixed=True)
    soft = {"stiffness": 1e5}
    keys = [{"time": 0.1, "at": [-0.3, 0, 0.3]}, {"time": 0.3, "at": [-0.3, 0, 0.12]}]
    scene.body("pressed", sphere=0.2, follows=keys, coating=soft, color="#2e86ab")
    scene.body("standing", sphere=0.2, at=[0.3, 0, 0.14], fixed=True, coating=soft, color="#e4572e")
    return simulate(scene)


def seen_of(picture, red):
    """How many pixels show a body that is red, or blue."""
    r, b = picture[..., 0].astype(int), picture[..., 2].astype(int)
    return int(((r - b > 40) if red else (b - r > 40)).sum())


def test_more_is_seen_of_a_ball_that_is_squashed_than_of_one_that_sinks_in(take):
    film, hard = film_of(take, SIZE), film_of(replace(take, soft={}), SIZE)
    last = len(take.time) - 1
    assert seen_of(expose(film, last), red=False) > 1.05 * seen_of(expose(hard, last), red=False)
    assert seen_of(expose(film, 0), red=True) > 1.02 * seen_of(expose(hard, 0), red=True)
    # As long as nothing presses both are the same, but for triangles of other sizes.
    assert seen_of(expose(film, 0), red=False) == pytest.approx(seen_of(expose(hard, 0), red=False), rel=0.02)


def test_films_show_what_single_pictures_do(take):
    film, frames = film_of(take, SIZE), list(range(len(take.time)))
    for frame, shown in zip(frames, exposures(film, frames)):
        differs = np.abs(shown.astype(int) - expose(film, frame).astype(int)).max(axis=-1) > 2
        assert differs.mean() < 1e-3
