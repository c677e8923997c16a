"""Overlays of turns: the body's outline as it should stand, and the arc on which its tip goes."""

import numpy as np
import pytest
from test_camera import take_of

from impel.motion.orientations import matrix_from_quaternion, quaternion_from_euler
from impel.render.ghosts import _grown, ghost, pivot_of, pointed_at
from impel.render.overlays import chosen_overlays
from impel.render.picture import expose
from impel.render.sequences import film_of

SIZE = (320, 180)
HINGE = np.array([0.0, 0, 1])


def bridge(frames=31, hinged=True):
    """A plank of two metres that should rise by 80 degrees about its end, and has risen by 40."""
    turned = quaternion_from_euler([[0, -angle, 0] for angle in np.linspace(0, 40, frames)])
    take = take_of(({"box": [2, 0.6, 0.1]}, np.zeros((frames, 3))))
    take.orientation[:, 0] = turned
    take.position[:, 0] = HINGE + matrix_from_quaternion(turned) @ [1, 0, 0]
    if not hinged:
        take.position[:, 0] = np.linspace([1, 0, 1], [1, 0, 3], frames)
    take.names = ["plank"]
    take.paths = {"plank.turn": quaternion_from_euler([[0, -angle, 0] for angle in np.linspace(0, 80, 33)])}
    take.tracks = {"plank.turn.target": quaternion_from_euler([[0, -angle, 0] for angle in np.linspace(0, 80, frames)])}
    return take


def test_a_hinge_is_found_and_a_free_body_has_none():
    extents = np.array([[-1, -0.3, -0.05], [1, 0.3, 0.05]])
    pivot = pivot_of(bridge(), 0, extents)
    assert pivot[[0, 2]] == pytest.approx([-1, 0], abs=1e-6)
    assert np.array_equal(pivot_of(bridge(hinged=False), 0, extents), np.zeros(3))
    assert np.array_equal(pivot_of(bridge(1), 0, extents), np.zeros(3))


def test_the_tip_goes_round_the_hinge_to_where_the_last_key_points():
    take = bridge()
    arc = pointed_at(film_of(take, SIZE), 30, "plank.turn", take.paths["plank.turn"])
    away = np.linalg.norm(arc - HINGE, axis=-1)
    assert np.allclose(away, away[0])
    assert away[0] > 2
    angle = np.degrees(np.arctan2(arc[:, 2] - 1, arc[:, 0]))
    assert angle[[0, -1]] == pytest.approx([0, 80], abs=1e-3)


def test_a_body_that_only_spins_about_its_length_has_its_tip_on_its_side():
    take = bridge()
    take.paths = {"plank.turn": quaternion_from_euler([[angle, 0, 0] for angle in np.linspace(0, 90, 9)])}
    arc = pointed_at(film_of(take, SIZE), 0, "plank.turn", take.paths["plank.turn"])
    assert np.linalg.norm(np.diff(arc, axis=0), axis=-1).sum() > 0.4


def test_ghost_and_arc_are_drawn_where_the_body_should_be():
    take = bridge()
    film = film_of(take, SIZE, True)
    change = np.abs(expose(film, 30, chosen_overlays(True)).astype(int) - expose(film, 30)).max(axis=-1)

    def at(x, z, reach=2):
        i, j, _ = film.shot.seen(30, np.array([x, 0.0, z]), SIZE)
        return change[int(j) - reach : int(j) + reach + 1, int(i) - reach : int(i) + reach + 1].max()

    up = np.radians(80)
    assert at(1.9 * np.cos(up), 1 + 1.9 * np.sin(up)) > 10  # the plank as it should stand
    assert at(2.15 * np.cos(0.3), 1 + 2.15 * np.sin(0.3)) > 30  # the arc
    assert at(1.0, 0.5) == 0
    inside, rim = ghost(film, 30, "plank.turn.target", take.tracks["plank.turn.target"][30], 2.0)
    assert inside.sum() > 10 * inside.max()
    assert not np.any((inside == 1) & (rim > 0))
    assert rim.sum() > 30


def test_the_arc_is_in_the_picture():
    take = bridge()
    film = film_of(take, SIZE, True)
    seen = film.shot.seen(0, pointed_at(film, 0, "plank.turn", take.paths["plank.turn"]), SIZE)
    assert seen[:, :2].min() > 0
    assert (seen[:, :2].max(axis=0) < SIZE).all()


def test_turns_of_nobody_known_are_left_out():
    take = bridge()
    take.paths = {"stranger.turn": take.paths["plank.turn"]}
    take.tracks = {"stranger.turn.target": take.tracks["plank.turn.target"]}
    film = film_of(take, SIZE, True)
    assert np.array_equal(expose(film, 5, chosen_overlays(True)), expose(film, 5))


def test_growing_reaches_as_far_as_asked_and_stops_at_the_border():
    mask = np.zeros((20, 30), bool)
    mask[0, 15] = True
    rows, columns = np.ogrid[:20, :30]
    assert np.array_equal(_grown(mask, 3.2), np.hypot(rows, columns - 15) <= 3.2)
    assert not _grown(np.zeros((4, 4), bool), 2).any()
