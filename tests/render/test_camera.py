"""The camera: everything that moves is in the picture, far travellers are followed, and nothing hides the action."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parade import parade

from impel.render.action import corners_of
from impel.render.camera import focal_length, rested, shot_of
from impel.render.picture import expose
from impel.render.scenery import prepare
from impel.render.sequences import exposures
from impel.takes import Take

SIZE = (640, 360)


def take_of(*bodies, fps=30.0, **fields):
    """Bodies as (shape, path (F, 3))."""
    frames = max(len(path) for _, path in bodies)
    position = np.stack([np.broadcast_to(path, (frames, 3)) for _, path in bodies], axis=1).astype(float)
    return Take(
        time=np.arange(frames) / fps,
        names=[f"body {i}" for i in range(len(bodies))],
        position=position,
        orientation=np.tile([1.0, 0, 0, 0], (frames, len(bodies), 1)),
        shapes=[shape for shape, _ in bodies],
        colors=["#888888"] * len(bodies),
        **fields,
    )


def seen_corners(take, film):
    """Pixel coordinates of every body's corners at every frame."""
    frames = np.arange(len(take.time))
    corners = corners_of(take, film.meshes.extents, np.arange(len(take.names)), frames)
    return np.stack([film.shot.seen(f, corners[f], film.size) for f in frames])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    spread=st.tuples(*[st.floats(0.01, 20.0)] * 3),
    size=st.sampled_from([(640, 360), (360, 640), (300, 300)]),
)
def test_all_the_action_is_in_the_picture_all_the_time(seed, spread, size):
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(50, 3, 3)).cumsum(axis=0) * spread * 0.1
    take = take_of(*(({"sphere": rng.uniform(0.05, 1.0)}, steps[:, i]) for i in range(3)))
    film = prepare(take, size)
    assert film.stage[0].all()
    seen = seen_corners(take, film)[film.stage]
    assert seen[..., 2].min() > 0
    assert seen[..., 0].min() >= 0
    assert seen[..., 0].max() <= size[0]
    assert seen[..., 1].min() >= 0
    assert seen[..., 1].max() <= size[1]


def test_the_action_fills_the_picture():
    take = parade()
    film = prepare(take, SIZE)
    seen = seen_corners(take, film)[:, 2:]
    wide, high = np.ptp(seen[..., 0]) / SIZE[0], np.ptp(seen[..., 1]) / SIZE[1]
    assert max(wide, high) > 0.75
    assert np.ptp(film.shot.eye, axis=0).max() == 0


def test_a_far_traveller_is_followed_smoothly_and_stays_large():
    time = np.arange(301) / 30
    steps = np.stack([1.5 * time, 0 * time, 1 + 0.05 * np.sin(12 * time)], axis=-1)
    take = take_of(({"capsule": {"radius": 0.2, "length": 0.8}}, steps))
    film = prepare(take, SIZE)
    seen = seen_corners(take, film)
    assert seen[..., 0].min() > 0
    assert seen[..., 0].max() < SIZE[0]
    assert np.median(np.ptp(seen[..., 1], axis=2)) > 0.4 * SIZE[1]
    speed = np.diff(film.shot.eye, axis=0) * 30
    assert np.allclose(speed[:, 0], 1.5, atol=0.02)  # glides along, from the first frame to the last
    assert np.abs(speed[:, 2]).max() < 0.1  # and does not bob


def test_a_given_camera_is_used_as_it_is():
    camera = {"from": [1, -6, 2], "to": [0.5, 0, 1], "fov": 50}
    take = take_of(({"sphere": 0.3}, np.linspace([0, 0, 1], [1, 0, 1], 20)), camera=camera)
    shot = prepare(take, SIZE).shot
    assert np.allclose(shot.eye, camera["from"])
    x, y, distance = shot.seen(0, np.array(camera["to"]), SIZE)
    assert (x, y) == pytest.approx((320, 180))
    assert distance == pytest.approx(np.linalg.norm(np.subtract(camera["to"], camera["from"])))
    edge = np.array(camera["to"]) + shot.up * distance * np.tan(np.radians(25))
    assert shot.seen(0, edge, SIZE)[1] == pytest.approx(0)


def hopper(**fields):
    """A ball hops along x, four times a second, past a block."""
    time = np.arange(181) / 30
    way = np.stack([2 * time, 0 * time, 0.5 + 0.2 * np.abs(np.sin(4 * np.pi * time))], axis=-1)
    take = take_of(({"sphere": 0.3}, way), ({"box": [1, 1, 1]}, np.array([6, 2, 0.5])), **fields)
    take.names = ["ball", "block"]
    return take


def test_a_camera_that_follows_goes_along_calmly_and_keeps_its_place_beside_the_body():
    take = hopper(camera={"follow": "ball", "from": [0, -6, 2], "fov": 30})
    film = prepare(take, SIZE)
    assert np.allclose(film.shot.eye[0], [0, -6, 2])
    assert np.allclose(np.diff(film.shot.eye[:, 0]) * 30, 2, atol=1e-6)
    assert np.ptp(film.shot.eye[:, 2]) < 0.15  # does not hop along
    seen = seen_corners(take, film)[:, 0]
    assert seen[..., :2].min() > 0
    assert (seen[..., :2].max(axis=(0, 1)) < SIZE).all()
    alone = prepare(hopper(camera={"follow": "ball"}), SIZE)  # no place told: near enough to see it well
    heights = np.ptp(seen_corners(take, alone)[:, 0, :, 1], axis=1)
    assert 0.15 * SIZE[1] < heights.min()
    assert heights.max() < 0.5 * SIZE[1]


def test_a_lost_body_does_not_take_the_camera_with_it():
    take = hopper(camera={"follow": "ball"})
    take.position[60:90, 0] = np.nan
    assert np.isfinite(prepare(take, SIZE).shot.eye).all()
    take.position[:, 0] = np.nan
    assert np.isfinite(prepare(take, SIZE).shot.eye).all()


def test_cuts_go_from_camera_to_camera_at_their_times():
    stands = {"from": [6, -8, 3], "to": [6, 0, 0.5], "fov": 35}
    take = hopper(cameras=[{"time": 1, **stands}, {"time": 3, "follow": "ball"}, {"time": 5}])
    film = prepare(take, SIZE)
    framed = prepare(hopper(), SIZE)
    own, close = (prepare(hopper(camera=camera), SIZE) for camera in (stands, {"follow": "ball"}))
    for first, last, other in ((0, 29, framed), (30, 89, own), (90, 149, close), (150, 180, framed)):
        for frame in (first, last):
            assert film.shot_at(frame).eye[frame] == pytest.approx(other.shot.eye[frame])
            assert film.shot_at(frame).fov == other.shot.fov
    frames = range(20, 110, 2)  # plates do not outlast a cut
    drawn = dict(zip(frames, exposures(film, frames)))
    for frame in (28, 30, 60, 88, 90):
        assert np.array_equal(drawn[frame], expose(film, frame))


def test_x_runs_to_the_right_and_y_away_from_the_viewer():
    shot = prepare(parade(), SIZE).shot
    assert shot.right[0] > 0.5
    assert shot.forward[1] > 0.5
    assert -0.5 < shot.forward[2] < -0.2


def test_a_long_action_is_seen_broadside():
    take = take_of(({"sphere": 0.3}, np.linspace([0, 0, 1], [0, 3.5, 1], 50)))
    shot = prepare(take, SIZE).shot
    assert abs(shot.right[1]) > 0.8


def test_camera_moves_to_where_the_wall_does_not_hide_the_action():
    path = np.linspace([-1, 0, 0.3], [1, 0, 0.3], 30)
    open_air = prepare(take_of(({"sphere": 0.3}, path)), SIZE).shot
    wall = ({"box": [6, 0.1, 3]}, open_air.eye[0] * [0, 0.3, 0] + [0, 0, 1.5])
    shot = prepare(take_of(({"sphere": 0.3}, path), wall), SIZE).shot
    side = np.sign(open_air.eye[0, 1])
    assert shot.eye[0, 1] * side < 0 or shot.forward[2] < open_air.forward[2] - 0.2


def test_a_body_that_falls_off_the_floor_does_not_take_the_camera_with_it():
    time = np.arange(90) / 30
    fall = np.stack([time, 0 * time, 0.3 - 4.9 * np.maximum(time - 1, 0) ** 2], axis=-1)
    floor = ({"box": [2, 2, 0.1]}, np.array([0, 0, -0.05]))
    take = take_of(({"sphere": 0.3}, fall), ({"sphere": 0.3}, fall * [-0.3, 1, 0] + [0, 0.7, 0.3]), floor)
    shot = prepare(take, SIZE).shot
    assert np.linalg.norm(shot.middle[0]) < 2
    assert shot.radius < 3


def test_lost_bodies_are_ignored():
    take = parade()
    expected = prepare(take, SIZE).shot
    take.position[30:, 5] = np.nan
    shot = prepare(take, SIZE).shot
    assert np.isfinite(shot.eye).all()
    assert np.linalg.norm(shot.eye[0] - expected.eye[0]) < 0.5


def test_without_a_judge_the_first_view_is_taken():
    take = parade()
    film = prepare(take, SIZE)
    shot = shot_of(take, film.meshes.extents, SIZE)
    assert np.allclose(shot.forward, film.shot.forward)


def course(length, hoops):
    """A ball flies through frames of four bars, which stand still."""
    time = np.linspace(0, 1, 240)
    way = np.stack([length * time, 0 * time, 1.2 + 0.3 * np.sin(2 * np.pi * hoops * time)], axis=-1)
    take = [({"sphere": 0.15}, way)]
    for i in range(hoops):
        middle = way[round(240 * (i + 0.5) / hoops)]
        take += [({"box": [0.04, 0.04, 0.7]}, middle + np.array([0, y, 0])) for y in (-0.35, 0.35)]
        take += [({"box": [0.04, 0.7, 0.04]}, middle + np.array([0, 0, z])) for z in (-0.35, 0.35)]
    return take_of(*take), way


def test_a_short_course_is_seen_as_a_whole():
    take, way = course(5.5, 3)
    assert np.ptp(prepare(take_of(({"sphere": 0.15}, way)), SIZE).shot.eye, axis=0).max() > 1  # alone it is followed
    film = prepare(take, SIZE)
    assert np.ptp(film.shot.eye, axis=0).max() == 0
    seen = seen_corners(take, film)
    assert seen[..., :2].min() > 0
    assert (seen[..., :2].max(axis=(0, 1, 2)) < SIZE).all()


def test_on_a_long_course_what_is_passed_is_in_the_picture_when_it_is():
    take, _ = course(30.0, 12)
    film = prepare(take, SIZE)
    assert np.ptp(film.shot.eye, axis=0).max() > 10
    seen = seen_corners(take, film)
    for i in range(12):
        bars = seen[round(240 * (i + 0.5) / 12), 1 + 4 * i : 5 + 4 * i, :, :2]
        assert bars.min() > 0
        assert (bars.max(axis=(0, 1)) < SIZE).all()
    assert np.median(np.ptp(seen[:, 0, :, 1], axis=1)) > 0.1 * SIZE[1]  # and the ball is not lost among them


def test_a_wall_that_is_passed_does_not_widen_the_picture():
    way = np.linspace([0, 0, 0.3], [20, 0, 0.3], 100)
    open_air = prepare(take_of(({"sphere": 0.3}, way)), SIZE).shot
    shot = prepare(take_of(({"sphere": 0.3}, way), ({"box": [15, 0.1, 3]}, np.array([10, 1, 1.5]))), SIZE).shot
    assert shot.radius == open_air.radius


def test_a_camera_that_comes_to_rest_stands_still_as_soon_as_nobody_sees_it_move():
    """The way left halves every 2 frames: from 1 m away to a hair takes some 26, to nothing at all a hundred."""
    way = np.outer(0.5 ** (np.arange(120) / 2), [1.0, 0, 0])
    shot = prepare(take_of(({"sphere": 0.5}, np.zeros((120, 3)))), SIZE).shot
    moving = shot._replace(eye=shot.eye + way, middle=shot.middle + way)
    still = rested(moving, SIZE)
    pixel = np.linalg.norm(shot.middle[0] - shot.eye[0]) / focal_length(shot.fov, SIZE)
    assert np.abs(still.eye - moving.eye).max() <= 0.02 * pixel
    assert len(np.unique(still.eye[:15], axis=0)) == 15
    assert len(np.unique(still.eye[40:], axis=0)) == 1
