"""The rasteriser against a slow plain reference: rays through samples, one triangle at a time."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from impel.render.raster import rasterise

SIZE = 24  # samples each way


def drawn(vertices, triangles, matrix, empty=0.0):
    depth, ids = np.full((SIZE, SIZE), empty, np.float32), np.full((SIZE, SIZE), -1, np.int32)
    shown = np.ones(len(triangles), bool)
    rasterise(vertices, np.asarray(triangles, np.int32), shown, matrix, depth, ids)
    return depth, ids


def looking_along_y():
    """A camera at the origin: x to the right, z up, half a picture per unit at distance one."""
    half = SIZE / 2
    return np.array([[half, half, 0, 0], [0, half, -half, 0], [0, 0, 0, 1], [0, 1, 0, 0]], float)


def hit(corners, row, column):
    """Distance along y at which the ray through a sample meets a triangle's front, or None."""
    ray = np.array([(column + 0.5) / (SIZE / 2) - 1, 1.0, 1 - (row + 0.5) / (SIZE / 2)])
    a, b, c = corners
    normal = np.cross(b - a, c - a)
    if normal @ ray >= 0:
        return None
    distance = (normal @ a) / (normal @ ray)
    inside = [np.cross(q - p, ray * distance - p) @ normal for p, q in ((a, b), (b, c), (c, a))]
    scale = np.abs(corners).max() ** 4
    if distance <= 0 or min(inside) < -1e-9 * scale:
        return None
    return np.nan if min(inside) < 1e-9 * scale else distance  # NaN: on the edge, either answer is right


EDGE_ON = np.array([[[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, -1.5, 0], [0, 1.62, 0]]], float)


@settings(max_examples=80, deadline=None)
@example(corners=EDGE_ON)
@given(corners=arrays.arrays(float, (2, 3, 3), elements=st.floats(-4, 4).map(lambda v: round(v, 2))))
def test_nearest_front_face_is_seen_even_when_triangles_reach_behind_the_camera(corners):
    depth, ids = drawn(corners.reshape(-1, 3), [[0, 1, 2], [3, 4, 5]], looking_along_y())
    for row in range(0, SIZE, 3):
        for column in range(1, SIZE, 4):
            hits = [hit(triangle, row, column) for triangle in corners]
            if any(h is not None and np.isnan(h) for h in hits):
                continue
            distances = [np.inf if h is None else h for h in hits]
            nearest = min(distances)
            if nearest == np.inf:
                assert ids[row, column] == -1
            elif abs(distances[0] - distances[1]) > 1e-5 * nearest and nearest > 1e-3:
                assert ids[row, column] == int(np.argmin(distances))
                assert depth[row, column] == pytest.approx(1 / nearest, rel=1e-4)


def test_a_closed_surface_has_no_holes():
    """A fan of slivers about the middle covers its square: every sample seen, each by one triangle."""
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    rim = np.stack([3 * np.cos(angle), np.full(200, 2.0), 3 * np.sin(angle)], axis=-1)
    vertices = np.concatenate([[[0.0, 2.0, 0.0]], rim])
    triangles = [[0, 1 + k, 1 + (k + 1) % 200] for k in range(200)]
    depth, ids = drawn(vertices, triangles, looking_along_y())
    assert ids.min() >= 0
    assert np.allclose(depth, 0.5)


def test_straight_down_a_map_the_highest_surface_wins():
    """The sun's matrix: no perspective, depth is height."""
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    vertices = np.concatenate([square * 4, square * 0.5 + [0, 0, 1.5]])
    matrix = np.array([[8, 0, 0, 12], [0, -8, 0, 12], [0, 0, 1, 0], [0, 0, 0, 1]], float)
    depth, _ = drawn(vertices, [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]], matrix, empty=-np.inf)
    assert depth[12, 12] == 1.5
    assert depth[2, 2] == 0.0
    assert np.count_nonzero(depth == 1.5) == 8 * 8
