"""Meshes of all shapes: closed, facing out, of the right size."""

import numpy as np
import pytest

from impel.files import Problem
from impel.geometry.meshes import marks_of, mesh_of

SOLIDS = [
    ({"sphere": 0.5}, 4 / 3 * np.pi * 0.5**3, [1, 1, 1]),
    ({"box": [1.0, 2.0, 0.5]}, 1.0, [1, 2, 0.5]),
    ({"capsule": {"radius": 0.3, "length": 1.0}}, np.pi * 0.3**2 * (1 + 0.4), [0.6, 0.6, 1.6]),
    ({"cylinder": {"radius": 0.3, "length": 1.0}}, np.pi * 0.3**2, [0.6, 0.6, 1.0]),
]


@pytest.mark.parametrize(("shape", "volume", "sides"), SOLIDS)
@pytest.mark.parametrize("segments", [24, 48])
def test_volume_and_sides_are_those_of_the_shape(shape, volume, sides, segments):
    vertices, _, triangles = mesh_of(shape, segments=segments)
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(volume, rel=0.03)
    assert np.ptp(vertices, axis=0) == pytest.approx(sides, rel=1e-12)


@pytest.mark.parametrize(("shape", "volume", "sides"), SOLIDS)
def test_triangles_face_out_and_normals_are_theirs(shape, volume, sides):
    vertices, normals, triangles = mesh_of(shape)
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    facets = np.cross(b - a, c - a)
    area = np.linalg.norm(facets, axis=-1)
    assert area.min() > 0
    assert np.linalg.norm(normals, axis=-1) == pytest.approx(np.ones(len(normals)))
    assert np.min(np.einsum("tj,tkj->tk", facets / area[:, None], normals[triangles])) > 0.85


@pytest.mark.parametrize(("shape", "volume", "sides"), SOLIDS)
def test_surface_is_closed(shape, volume, sides):
    """Every edge between two places is walked once each way (vertices at one place count as one)."""
    vertices, _, triangles = mesh_of(shape)
    _, place = np.unique(np.round(vertices, 9) + 0.0, axis=0, return_inverse=True)
    corners = place.ravel()[triangles]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    forth, back = ({tuple(edge) for edge in way.tolist()} for way in (edges, edges[:, ::-1]))
    assert len(forth) == len(edges)
    assert forth == back


def test_marks_are_half_of_a_ball_or_wheel_and_nothing_else():
    for shape in ({"sphere": 0.5}, {"cylinder": {"radius": 0.3, "length": 1.0}}):
        mesh = mesh_of(shape)
        corners = mesh[0][mesh[2]]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=-1)
        assert area[marks_of(shape, mesh)].sum() / area.sum() == pytest.approx(0.5, abs=0.01)
    assert not marks_of({"box": [1, 1, 1]}, mesh_of({"box": [1, 1, 1]})).any()


def test_unknown_shapes_are_refused():
    for shape in ({"teapot": 1}, {}):
        with pytest.raises(Problem, match="expected sphere"):
            mesh_of(shape)
