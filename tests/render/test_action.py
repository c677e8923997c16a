"""What belongs to the action: who fell or went away for good does not, and no floor is drawn where there is none."""

from pathlib import Path

import numpy as np
import pytest
from test_camera import SIZE, seen_corners, take_of

from impel import load_scene, simulate
from impel.render.action import corners_of, heights_of, on_stage
from impel.render.picture import expose
from impel.render.scenery import prepare
from impel.render.sequences import moments
from impel.takes import Take

DESK = ({"box": [2.0, 1.0, 0.05]}, np.array([0, 0, -0.025]))


def falling(start, frames=151, fps=30.0, after=0.0):
    time = np.maximum(np.arange(frames) / fps - after, 0)
    return np.asarray(start) - 4.905 * time[:, None] ** 2 * [0, 0, 1]


def floor_height(take):
    """Of the floor that the studio adds after the bodies; NaN if it adds none."""
    film = prepare(take, SIZE)
    assert film.paint.endless[len(take.names)]
    return film.position[0, len(take.names), 2]


def test_heights_are_those_of_the_corners():
    rng = np.random.default_rng(5)
    q = rng.normal(size=(7, 3, 4))
    take = take_of(*(({"box": rng.uniform(0.1, 2, 3).tolist()}, rng.normal(size=(7, 3))) for _ in range(3)))
    take.orientation[:] = q / np.linalg.norm(q, axis=-1, keepdims=True)
    extents = np.array([[[-0.1, -0.2, -0.3], [0.3, 0.1, 0.2]]] * 3) * rng.uniform(1, 2, (3, 1, 1))
    corners = corners_of(take, extents, np.arange(3), np.arange(7))[..., 2]
    low, high = heights_of(take, extents, np.arange(3))
    assert np.allclose(low, corners.min(axis=-1))
    assert np.allclose(high, corners.max(axis=-1))


def test_a_ball_that_falls_for_ever_gets_no_floor_to_land_on():
    take = take_of(({"sphere": 0.2}, falling([0, 0, 1])))
    assert np.isnan(floor_height(take))
    last = expose(prepare(take, SIZE), len(take.time) - 1)
    assert np.ptp(last[-20:].reshape(-1, 3), axis=0).max() <= 2  # plain, where a floor and a shadow would be


def test_no_floor_is_drawn_where_things_fall_past_the_desk():
    lamp = np.stack([0.3 * np.sin(np.arange(151) / 10), np.zeros(151), np.full(151, 0.5)], axis=-1)
    take = take_of(({"sphere": 0.1}, lamp), ({"box": [0.1] * 3}, falling([1.2, 0, 0.1])), DESK)
    assert np.isnan(floor_height(take))


def test_a_floor_carries_what_stands_and_lies_below_what_hangs():
    swing = 0.8 * np.sin(np.arange(120) / 12)
    pendulum = np.stack([np.sin(swing), 0 * swing, 1 - np.cos(swing)], axis=-1)
    block = {"box": [0.2, 0.2, 0.2]}
    assert floor_height(take_of((block, pendulum), ({"box": [1, 1, 1]}, np.array([0, 0, -1])))) == -1.5
    assert -0.5 < floor_height(take_of((block, pendulum))) < -0.1
    assert -0.5 < floor_height(take_of((block, pendulum), (block, np.array([0, 0, 1])))) < -0.1


def test_a_floor_lies_below_ropes_that_hang_and_wires():
    take = take_of(({"sphere": 0.1}, rocking([0, 0, 2])), ({"box": [1, 1, 1]}, np.zeros(3)))
    assert floor_height(take) == -0.5
    take.wires = {"world.track": np.array([[-1.0, 0, 2], [1, 0, -1]])}
    assert -1.6 < floor_height(take) < -1
    take.wires, take.ropes = {}, {"rope": np.tile([[-0.5, 0, 2], [0.5, 0, 2]], (121, 1, 1))}
    assert floor_height(take) == -0.5
    take.channels = {"rope.slack": np.full(121, 6.0)}
    assert -2.5 < floor_height(take) < -1.2


def test_moments_do_not_follow_what_fell_off():
    """A lamp turns for two of six seconds; cubes fall from the desk and go on falling, faster and faster."""
    time = np.arange(181) / 30
    lamp = np.stack([0.4 * np.sin(3 * np.minimum(time, 2)), 0 * time, 0 * time + 0.4], axis=-1)
    cubes = [({"box": [0.08] * 3}, falling([0.9 + i / 5, 0, 0.1], 181, after=1.0)) for i in range(2)]
    take = take_of(({"sphere": 0.1}, lamp), *cubes, DESK)
    stage = prepare(take, SIZE).stage
    assert stage[:31].all()
    assert not stage[60:, 1:3].any()
    told = time[moments(take, 6, stage)]
    assert told[0] == 0
    assert told[-1] == 6
    assert np.sum(told < 2.5) >= 4
    assert np.sum(time[moments(take, 6)] < 2.5) < 4


def test_what_hangs_below_all_that_stands_stays_on_stage():
    swing = np.stack([np.sin(np.arange(60) / 9), np.zeros(60), np.full(60, -1.0)], axis=-1)
    take = take_of(({"sphere": 0.1}, swing), ({"box": [0.1, 0.1, 0.1]}, np.zeros(3)))
    film = prepare(take, SIZE)
    assert on_stage(take, film.meshes.extents[:2]).all()
    seen = seen_corners(take, film)[:, 0]
    assert seen[..., 1].min() > 0
    assert seen[..., 1].max() < SIZE[1]


def test_an_empty_take_has_nobody_on_stage():
    nothing = Take(np.zeros(1), [], np.zeros((1, 0, 3)), np.zeros((1, 0, 4)), [], [])
    assert on_stage(nothing, np.zeros((0, 2, 3))).shape == (1, 0)


def rocking(where, frames=121, size=0.5):
    """To and fro about a place."""
    return np.asarray(where) + size * np.sin(np.arange(frames) / 10)[:, None] * [1, 0, 0]


def test_a_shot_that_flies_off_leaves_the_catapult_large():
    arm = [({"box": [2, 0.2, 0.1]}, rocking([0, 0, 1])), ({"box": [0.1, 0.2, 0.2]}, rocking([-0.9, 0, 1.2]))]
    time = np.arange(121) / 30
    flight = np.stack([-0.9 + 0.2 * np.minimum(time, 1) + 15 * np.maximum(time - 1, 0), 0 * time, 0 * time + 1.3], -1)
    alone = prepare(take_of(*arm), SIZE).shot
    film = prepare(take_of(*arm, ({"sphere": 0.12}, flight)), SIZE)
    assert film.stage[:, :2].all()
    assert film.stage[:35].all()
    assert not film.stage[45:, 2].any()
    assert film.shot.radius < 2.5 * alone.radius
    assert flight[-1, 0] > 10 * film.shot.radius


def test_who_comes_from_afar_is_seen_coming_but_not_going():
    pins = [({"cylinder": {"radius": 0.05, "length": 0.4}}, rocking([x, y, 0.2], size=0.05)) for x, y in np.eye(2)]
    pins += [({"sphere": 0.1}, rocking([x, x, 0.2], size=0.05)) for x in (0.1, 0.4, 0.7)]
    ball = np.stack([np.linspace(-6, 9, 121), np.zeros(121), np.full(121, 0.2)], axis=-1)
    take = take_of(*pins, ({"sphere": 0.2}, ball))
    film = prepare(take, SIZE)
    assert film.stage[ball[:, 0] < 1].all()
    assert not film.stage[ball[:, 0] > 5, -1].any()
    seen = seen_corners(take, film)[ball[:, 0] < 1]
    assert seen[..., 0].min() >= 0
    assert seen[..., 0].max() <= SIZE[0]


def test_who_was_told_where_to_go_or_goes_with_the_others_never_leaves():
    crowd = [({"sphere": 0.1}, rocking([x, 0, 0.2])) for x in (-0.5, 0, 0.5)]
    away = np.linspace([0, 0, 0.2], [20, 0, 0.2], 121) ** 2 / 20
    stray = take_of(*crowd, ({"sphere": 0.1}, away))
    assert not prepare(stray, SIZE).stage.all()
    for way in ("body 3.move", "body 3"):
        stray.paths = {way: away}
        assert prepare(stray, SIZE).stage.all()
    stray.names[3], stray.paths = "cat.tail", {"cat.way": away}
    assert prepare(stray, SIZE).stage.all()
    together = take_of(*(({"sphere": 0.1}, path + away * [9, 0, 0]) for _, path in crowd))
    assert prepare(together, SIZE).stage.all()
    assert prepare(take_of(({"sphere": 0.1}, away)), SIZE).stage.all()


def test_nobody_is_cut_off_for_little():
    crowd = [({"sphere": 0.1}, rocking([x, 0, 0.2], size=2)) for x in (-4, -0.1, 0, 0.1, 4)]
    roll = np.linspace([0, 0, 0.2], [7, 0, 0.2], 121)
    assert prepare(take_of(*crowd, ({"sphere": 0.1}, roll)), SIZE).stage.all()


def test_lost_bodies_do_not_unsettle_the_stage():
    crowd = [({"sphere": 0.1}, rocking([x, 0, 0.2])) for x in (-0.5, 0, 0.5)]
    take = take_of(*crowd, ({"sphere": 0.1}, np.linspace([0, 0, 0.2], [30, 0, 0.2], 121)))
    take.position[50:, 0] = np.nan
    stage = on_stage(take, prepare(take, SIZE).meshes.extents[:4])
    assert stage[:, :3].all()
    assert not stage[-1, 3]
    take.position[:] = np.nan
    assert on_stage(take, np.zeros((4, 2, 3))).all()


def filled(take, names):
    """How much of the picture's height bodies fill together, half of the time at least."""
    film = prepare(take, SIZE)
    seen = seen_corners(take, film)[..., 1][:, [take.index(name) for name in names]]
    return np.median(np.ptp(seen.reshape(len(seen), -1), axis=1)) / SIZE[1], film.shot


def test_balls_that_roll_along_are_followed_and_who_stays_behind_is_left():
    """As three things on a floor: two roll six metres side by side, the third spins where it stands."""
    time = np.arange(241) / 30
    way = 1 - np.exp(-time / 3)
    rolls = [np.stack([6 * way, 0 * way, 0 * way + 0.1], -1), np.stack([7 * way, 0 * way + 1, 0 * way + 0.2], -1)]
    top = np.tile([0, 3, 0.25], (241, 1)) + 0.05 * np.stack([np.sin(time), np.cos(time), 0 * time], -1)
    take = take_of(({"sphere": 0.1}, rolls[0]), ({"sphere": 0.2}, rolls[1]), ({"sphere": 0.2}, top))
    large, shot = filled(take, ["body 0", "body 1"])
    assert large > 0.3
    assert np.ptp(shot.eye[:, 0]) > 3
    assert np.abs(np.diff(shot.eye, n=2, axis=0)).max() < 0.01  # and nobody is shaken


def test_who_was_told_is_not_made_tiny_by_two_balls_that_roll_off():
    time = np.arange(301) / 30
    arm = np.stack([0.3 * np.sin(2 * time), 0 * time, 0.4 + 0 * time], axis=-1)
    off = [np.stack([1.2 * time, (0.2 + 0.8 * time) * side, 0.1 + 0 * time], axis=-1) for side in (-1, 1)]
    take = take_of(({"box": [0.2, 0.2, 0.6]}, arm), *(({"sphere": 0.1}, way) for way in off))
    take.paths = {"body 0.move": arm}
    assert filled(take, ["body 0"])[0] > 0.25


def test_a_crowd_is_seen_whole_however_small_each_is():
    rng = np.random.default_rng(4)
    homes = rng.uniform([-5, -5, 0.1], [5, 5, 0.1], (60, 3))
    take = take_of(*(({"sphere": 0.1}, rocking(home, size=0.3)) for home in homes))
    assert not np.ptp(prepare(take, SIZE).shot.eye, axis=0).any()
    assert filled(take, take.names)[0] > 0.25


@pytest.mark.parametrize(
    ("scene", "names"),
    [
        ("puppet", ["chest", "hand_l", "hand_r", "shin_l", "shin_r"]),
        ("slope", ["plat", "rider", "man", "ice"]),
        ("roll", ["ball", "coin"]),
    ],
)
def test_what_acts_fills_a_quarter_of_the_height(scene, names):
    """Of a puppet, of things on a slope and a lift, of what rolls over a floor: scenes that newcomers wrote."""
    take = simulate(load_scene(Path(__file__).parent / "scenes" / f"{scene}.yaml"))
    film = prepare(take, SIZE)
    seen = seen_corners(take, film)[..., 1]
    seen = np.where(film.stage[..., None], seen, np.nan)[:, [take.index(name) for name in names]]
    heights = np.nanmax(seen, axis=(1, 2)) - np.nanmin(seen, axis=(1, 2))
    assert np.median(heights) > 0.25 * SIZE[1]
    assert np.abs(np.diff(film.shot.eye, n=2, axis=0)).max() * take.fps**2 < 2  # m/s²: a calm camera
