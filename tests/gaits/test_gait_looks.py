"""What walkers look like, which must not change how they walk."""

import copy

import numpy as np
import pytest

from impel import Scene
from impel.gaits.looks import looks_of
from impel.gaits.mood import load_moods
from impel.gaits.posing import parts_of
from impel.gaits.record import as_take
from impel.gaits.walk import walk
from impel.gaits.walker import load_walker, walker_names
from impel.geometry.meshes import limb_mesh
from impel.stage import simulate
from impel.stage.compile import compile_scene
from impel.takes.looks import WHITE
from impel.takes.pieces import Piece, painted_mesh
from impel.takes.take import linear_color


def _depth(points, piece):
    """How far points are outside a limb, by trying 4000 balls along it."""
    share = np.linspace(0, 1, 4000)[:, None]
    middle = (1 - share) * np.array(piece.start) + share * np.array(piece.end)
    radius = (1 - share[:, 0]) * piece.radius + share[:, 0] * piece.last
    return np.array([(np.linalg.norm(point - middle, axis=1) - radius).min() for point in points])


@pytest.mark.parametrize("ends", [(0.1, 0.1), (0.2, 0.05), (0.05, 0.2), (0.5, 0.05)], ids=str)
def test_a_limb_is_the_hull_of_its_balls(ends):
    piece = Piece((0.1, 0.2, 0.4), (0.1, -0.1, 0.1), *ends, 0.0, WHITE)
    (vertices, normals, triangles), _ = painted_mesh((piece,))
    assert np.abs(_depth(vertices, piece)).max() < 1e-4
    middle, corners = vertices[triangles].mean(axis=1), vertices[triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ij,ij->i", facing, normals[triangles].mean(axis=1)) > 0).all()
    assert np.einsum("ij,ij->i", facing, middle).sum() > 0
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)


def test_a_limb_of_even_thickness_has_the_volume_of_a_capsule():
    vertices, _, triangles = limb_mesh(0.1, 0.1, 0.5, 96)
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(np.pi * 0.01 * 0.5 + 4 / 3 * np.pi * 0.001, rel=0.005)


def test_a_wide_limb_is_its_halves_moved_apart():
    piece = Piece((0.0, 0.0, 0.3), (0.0, 0.0, 0.0), 0.1, 0.05, 0.4, WHITE)
    (vertices, _, _), _ = painted_mesh((piece,))
    inner = vertices - [0.0, 0.2, 0.0] * np.sign(vertices[:, 1:2])
    there = np.abs(vertices[:, 1]) > 1e-9
    assert np.abs(_depth(inner[there], piece)).max() < 1e-4
    assert np.ptp(vertices[:, 1]) == pytest.approx(0.4 + 2 * 0.1, rel=0.01)


@pytest.mark.parametrize("name", walker_names())
def test_a_walker_has_eyes_and_stands_on_its_paws(name):
    walker = load_walker(name)
    seen = looks_of(walker)
    assert len(seen) == len(parts_of(walker))
    (body, _, _), colors = painted_mesh(seen[0])
    white = body[(colors == linear_color(WHITE)).all(axis=1)]
    assert white[:, 0].min() > 0, "they look ahead"
    assert white[:, 1].min() == pytest.approx(-white[:, 1].max())
    for paw in seen[3::3]:
        (vertices, _, _), _ = painted_mesh(paw)
        assert vertices[:, 2].min() == pytest.approx(-walker.sole, rel=0.01)


def test_looks_change_nothing_of_a_walk():
    moods = load_moods("hexapod")
    plain = copy.copy(moods)
    plain.walker = moods.walker.model_copy(update={"looks": []})
    dressed, bare = (as_take(walk(each, path=[(0, 0), (2, 0)], seconds=2), fps=60) for each in (moods, plain))
    np.testing.assert_array_equal(dressed.position, bare.position)
    np.testing.assert_array_equal(dressed.orientation, bare.orientation)
    assert (dressed.names, dressed.events) == (bare.names, bare.events)
    assert [next(iter(shape)) for shape in bare.shapes[:4]] == ["box", "capsule", "capsule", "sphere"]
    assert all(shape["mesh"]["painted"] for shape in dressed.shapes[:19])


def test_on_the_stage_a_walker_wears_the_colour_of_the_scene_and_bumps_as_before():
    scene = Scene(world={"seconds": 0.2})
    scene.body("ground", plane={}, fixed=True)
    scene.walker("spider", walker="creature", color="#123456", path=[[0, 0, 0], [2, 0, 0]])
    take = simulate(scene)
    body = take.shapes[take.index("spider.body")]["mesh"]["surface"]
    assert (take.surfaces[f"{body}.colors"] == linear_color("#123456")).all(axis=1).any()
    (vertices, _, _), _ = painted_mesh(looks_of(load_walker("creature"), "#123456")[0])
    np.testing.assert_array_equal(take.surfaces[f"{body}.vertices"], vertices)
    parts = compile_scene(scene)[1].cast
    assert parts["spider.body"].shape.to_document() == {"sphere": 0.55}
