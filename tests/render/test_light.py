"""Light against closed forms: how much of a round sun a ball hides, and no shadow of anything on itself."""

import numpy as np
import pytest
from parade import parade

from impel.geometry.meshes import mesh_of
from impel.render import light
from impel.render.scenery import prepare
from impel.render.setting import canvas_for, set_up
from impel.takes import Take


def ball_over_plane(height, radius=0.3):
    return Take(
        time=np.arange(2) / 30,
        names=["ground", "ball"],
        position=np.array([[[0, 0, 0], [0, 0, height]], [[0, 0, 0], [0.5, 0, height]]], float),
        orientation=np.tile([1.0, 0, 0, 0], (2, 2, 1)),
        shapes=[{"plane": {}}, {"sphere": radius}],
        colors=["#c0c0c0", "#e4572e"],
    )


def sun_of(film):
    canvas = canvas_for(film.size)
    return set_up(film, 0, canvas).sun, canvas


def lit_at(take, points, normals):
    film = prepare(take, (320, 180))
    sun, canvas = sun_of(film)
    lit = np.empty(len(points), np.float32)
    light.sunlit(len(points), points, normals, sun, canvas.depth, canvas.coarse, lit)
    return sun, lit


def hidden_share(points, towards, center, radius):
    """The share of a disc of directions about `towards` that a ball hides, by looking in 2000 directions."""
    k = np.arange(2000) + 0.5
    r, angle = np.sqrt(k / 2000) * light.SOFTNESS, k * 2.399963
    side = np.cross(towards, [0, 0, 1.0])
    side /= np.linalg.norm(side)
    other = np.cross(towards, side)
    rays = towards + r[:, None] * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other)
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    offset = center - points
    along = offset @ rays.T
    away2 = np.sum(offset**2, axis=-1)[:, None] - along**2
    return np.mean((away2 < radius**2) & (along > 0), axis=1)


@pytest.mark.parametrize("height", [0.3, 0.45, 0.6])
def test_shadow_of_a_ball_is_that_of_a_round_sun(height):
    take = ball_over_plane(height)
    film = prepare(take, (320, 180))
    sun, _ = sun_of(film)
    towards = np.array(sun.towards)
    foot = -towards[:2] / towards[2] * height  # where the shadow's middle falls
    x, y = np.meshgrid(np.linspace(-0.8, 0.8, 41), np.linspace(-0.8, 0.8, 41))
    points = np.stack([x.ravel() + foot[0], y.ravel() + foot[1], 0 * x.ravel()], axis=-1)
    _, lit = lit_at(take, points, np.tile([0.0, 0, 1], (len(points), 1)))
    expected = 1 - hidden_share(points, towards, np.array([0, 0, height]), 0.3)
    assert np.abs(lit - expected).mean() < 0.02
    assert np.abs(lit - expected).max() < 0.45  # a texel's width at the sharp edge near the contact


def test_shadow_touches_the_ball_that_rests_on_the_floor():
    take = ball_over_plane(0.3)
    sun, _ = sun_of(prepare(take, (320, 180)))
    away = -np.array(sun.towards)[:2] / np.linalg.norm(np.array(sun.towards)[:2])
    points = np.array([[*(away * d), 0.0] for d in (0.03, 0.06, 0.1, 0.2)])
    _, lit = lit_at(take, points, np.tile([0.0, 0, 1], (4, 1)))
    assert np.all(lit == 0)


@pytest.mark.parametrize(
    "shape",
    [
        {"sphere": 0.5},
        {"box": [1.0, 0.6, 0.8]},
        {"capsule": {"radius": 0.3, "length": 0.6}},
        {"cylinder": {"radius": 0.4, "length": 0.7}},
    ],
)
def test_nothing_shadows_its_own_sunny_side(shape):
    take = ball_over_plane(2.0)
    take.shapes[1] = shape
    vertices, _, triangles = mesh_of(shape)
    corners = vertices[triangles]
    facets = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facets /= np.linalg.norm(facets, axis=-1, keepdims=True)
    sun, lit = lit_at(take, corners.mean(axis=1) + take.position[0, 1], facets)
    facing = facets @ np.array(sun.towards)
    assert lit[facing > 0.15].min() > 0.9
    assert lit[facing > 0.15].mean() > 0.995
    assert np.all(lit[facing < 0] == 0)


def openness_at(take, points, normals):
    film = prepare(take, (320, 180))
    everyone = np.arange(film.position.shape[1], dtype=np.int32)[None]
    opened = np.empty(len(points), np.float32)
    light.openness(
        len(points), points, normals, np.full(len(points), -1, np.int32), np.zeros(len(points), np.int32),
        film.outsides, film.position[0], np.tile(np.eye(3), (everyone.size, 1)),
        np.array([everyone.size], np.int32), everyone, opened,
    )  # fmt: skip
    return opened


def test_floor_is_darker_where_a_ball_touches_it_and_clear_far_away():
    take = ball_over_plane(0.3)
    points = np.array([[0.02 + 0.1 * k, 0, 0] for k in range(12)])
    take.shapes[0] = {"box": [20, 20, 0.01]}  # the floor itself darkens nothing
    take.position[:, 0, 2] = -10
    opened = openness_at(take, points, np.tile([0.0, 0, 1], (12, 1)))
    assert opened[0] < 0.35
    assert np.all(np.diff(opened) >= 0)
    assert opened[-1] == 1.0


def test_tiles_name_every_body_that_is_near_what_they_show():
    take = parade()
    film = prepare(take, (320, 180))
    from impel.render.camera import focal_length

    size = film.size
    seen = film.shot.seen(30, film.position[30], size)
    counts, lists = light.bodies_by_tile(film.outsides, seen, focal_length(film.shot.fov, size), size)
    columns = -(-size[0] // light.TILE)
    rng = np.random.default_rng(3)
    for body in range(len(take.names)):
        reach = film.outsides.bound[body] + film.outsides.reach
        directions = rng.normal(size=(50, 3))
        around = film.position[30, body] + reach * directions / np.linalg.norm(directions, axis=-1, keepdims=True)
        for x, y, _ in film.shot.seen(30, around, size) if body else []:
            if 0 <= x < size[0] and 0 <= y < size[1]:
                tile = int(y) // light.TILE * columns + int(x) // light.TILE
                assert body in lists[tile, : counts[tile]]


def test_the_coarse_map_is_the_highest_within_reach_whatever_was_drawn_before():
    film, canvas = prepare(parade(), (320, 180)), canvas_for((320, 180))
    for frame in (0, 60, 20):
        set_up(film, frame, canvas)
        size = len(canvas.coarse)
        cells = canvas.depth.reshape(size, light.COARSE, size, light.COARSE).max(axis=(1, 3))
        reach = round(light.SEARCH / light.COARSE)
        padded = np.pad(cells, reach, constant_values=-np.inf)
        around = np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1,) * 2).max(axis=(2, 3))
        assert np.array_equal(canvas.coarse, around)
        fresh = canvas_for(film.size)
        set_up(film, frame, fresh)
        assert np.array_equal(canvas.depth, fresh.depth)
