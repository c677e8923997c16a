"""Points with area on the surfaces of shapes: what presses into the field of another body.

Spheres, capsules and cylinders carry no fixed points: they are sampled where they touch, so that they roll without a
ripple. Boxes have a grid on each face, meshes what was baked for them, and all others the vertices of their mesh.
"""

import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.baking import bake
from impel.geometry.bends import mean_bends
from impel.geometry.blobs import surface_mesh
from impel.geometry.fields import Shapes
from impel.geometry.kinds import BOX, CYLINDER, INNER, MESH, PLANE
from impel.geometry.meshes import mesh_of
from impel.geometry.shapes import blob_in_principal_axes, make_extents, make_shapes
from impel.kernel import Floats2, Integers2, struct

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Cloud = tuple[Floats, Floats, Floats]  # points, normals and areas

INSET = 1e-3  # by which border points stand in, as a share of the size, so that equal shapes stacked flush still meet
BLOB_CELLS = 20  # along the longest side: about a thousand points on a compact blob
SEGMENTS = 24  # round a shape of a new kind
CLUSTER = 24  # points that are culled together ...
GROUP = 16  # ... and clusters of a mesh, where there are more than these


@struct
class Samples:
    """S surface points in C clusters; bodies of the same shape share theirs."""

    at: Floats2  # (S, 3)
    normal: Floats2  # (S, 3) outward
    area: Floats  # (S,)
    bend: Floats  # (S,) mean curvature of the surface, 1/m
    # Sharp edges of meshes are among them, in clusters of their own: their middle, half of their way, minus their area.
    range: Integers2  # (C, 2) first and last + 1 of a cluster's points; of a group of clusters, which comes before
    # them, -1 and the first row behind them
    box: Floats2  # (C, 6) lowest and highest corner of a box around a cluster
    radius: Floats  # (C,) of a ball about its middle that holds the cluster
    clusters: Integers2  # (N, 2) first and last + 1 of a body's clusters


def make_samples(shapes: list[dict[str, Any]], arrays: Shapes) -> Samples | None:
    """Fixed points of all bodies that carry any; None when there are none."""
    skins: list[Skin] = []
    known: dict[str, tuple[int, int]] = {}
    clusters = np.zeros((len(shapes), 2), np.int64)
    points, rows = 0, 0
    spans: list[Integers] = []
    for i, shape in enumerate(shapes):
        kind = int(arrays.kind[i])
        if not CYLINDER < kind < PLANE:
            continue
        text = json.dumps(shape)
        if text not in known:
            skin = _skin(text, kind, tuple(arrays.size[i].tolist()), bake(shape).key if kind == MESH else "")
            grouped = skin.span[:, :1] < 0
            spans.append(skin.span + np.where(grouped, [[0, rows]], points))
            known[text] = rows, rows + len(skin.span)
            points, rows = points + len(skin.area), rows + len(skin.span)
            skins.append(skin)
        clusters[i] = known[text]
    if not skins:
        return None
    at, normal, area, bend, _, box, radius = (np.concatenate(parts) for parts in zip(*skins))
    return Samples(at, normal, area, bend, np.concatenate(spans), box, radius, clusters)


class Skin(NamedTuple):
    """The points of one shape, and its clusters, counted from its own first."""

    at: Floats
    normal: Floats
    area: Floats
    bend: Floats
    span: Integers
    box: Floats
    radius: Floats


@lru_cache(256)
def _skin(text: str, kind: int, size: tuple[float, ...], content: str) -> Skin:
    """Of a shape as JSON, and what is in its files: scenes are laid out again and again with the same shapes."""
    if kind == BOX:
        new = box_clusters(np.array(size))
    else:
        new = baked_clusters(json.loads(text)) if kind == MESH else mesh_clusters(text)
    held: list[Floats] = []  # the points of each cluster, or of all clusters of a group
    spans: list[tuple[int, int]] = []
    count = 0
    for group in _groups(new):
        if kind == MESH and len(new) > GROUP:
            held.append(np.concatenate([_reached(cloud) for cloud in group]))
            spans.append((-1, len(held) + len(group)))
        for cloud in group:
            held.append(_reached(cloud))
            spans.append((count, count + len(cloud[2])))
            count += len(cloud[2])
    at, normal, area = (np.concatenate([cloud[k] for cloud in new]) for k in range(3))
    centre = np.array([(points.min(0) + points.max(0)) / 2 for points in held])
    radius = np.array([np.linalg.norm(points - c, axis=1).max() for points, c in zip(held, centre)])
    box = np.array([[*points.min(0), *points.max(0)] for points in held])
    alone, bend = make_shapes([json.loads(text)]), np.zeros(len(area))
    mean_bends(alone, 0, float(make_extents(alone)[0, INNER]), at, bend)
    return Skin(at, normal, area, bend, np.array(spans, np.int64), box, radius)


def _reached(cloud: Cloud) -> Floats:
    """The points of a cluster; of edges both ends."""
    at, normal, area = cloud
    return at if area[0] > 0.0 else np.concatenate([at - normal, at + normal])


def _groups(clouds: list[Cloud]) -> list[list[Cloud]]:
    """Neighbouring clusters, which halving has put side by side."""
    return [clouds[k : k + GROUP] for k in range(0, len(clouds), GROUP)]


def box_clusters(half: Floats) -> list[Cloud]:
    """A grid on each face, edges and corners included, with trapezoidal areas: a face that lies flat weighs exactly."""
    cells = np.clip(np.round(4 * half / np.prod(half) ** (1 / 3)), 2, 8).astype(int)
    faces = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        pu, wu = _trapezoid(half[u], cells[u])
        pv, wv = _trapezoid(half[v], cells[v])
        for side in (-1.0, 1.0):
            at = np.zeros((len(pu) * len(pv), 3))
            at[:, axis] = side * half[axis]
            at[:, u] = np.repeat(pu, len(pv))
            at[:, v] = np.tile(pv, len(pu))
            normal = np.zeros_like(at)
            normal[:, axis] = side
            faces.append((at, normal, np.outer(wu, wv).ravel()))
    return faces


def _trapezoid(half: float, cells: int) -> tuple[Floats, Floats]:
    at = np.linspace(-half, half, cells + 1)
    at[0] += 2 * INSET * half
    at[-1] -= 2 * INSET * half
    weight = np.full(cells + 1, 2 * half / cells)
    weight[[0, -1]] /= 2
    return at, weight


def baked_clusters(shape: dict[str, Any]) -> list[Cloud]:
    """The points of a mesh, neighbours together."""
    baked = bake(shape)
    clouds = [(baked.at[g], baked.normal[g], baked.area[g]) for g in _halve(np.arange(len(baked.at)), baked.at)]
    start, end = baked.edges[:, :3], baked.edges[:, 3:6]
    edges = (start + end) / 2, (end - start) / 2, -baked.edges[:, 6]
    groups = _halve(np.arange(len(start)), edges[0]) if len(start) else []
    return clouds + [(edges[0][g], edges[1][g], edges[2][g]) for g in groups]


@lru_cache(64)
def mesh_clusters(text: str) -> list[Cloud]:
    """The vertices of a shape's mesh with their shares of its area, neighbours together; of a shape as JSON."""
    shape = json.loads(text)
    if "blob" in shape:
        blob = shape["blob"]
        mesh: Any = surface_mesh(blob_in_principal_axes(blob), float(blob.get("blend", 0.0)), BLOB_CELLS)
    else:
        mesh = mesh_of(shape, segments=SEGMENTS)
    points, normals, triangles = mesh
    a, b, c = (points[triangles[:, k]] for k in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    area = np.zeros(len(points))
    for k in range(3):
        np.add.at(area, triangles[:, k], third)
    return [(points[g], normals[g], area[g]) for g in _halve(np.arange(len(points)), points)]


def _halve(group: NDArray[np.int64], points: Floats) -> list[NDArray[np.int64]]:
    """Split points along their longest side until the groups are small."""
    if len(group) <= CLUSTER:
        return [group]
    axis = int(np.ptp(points[group], axis=0).argmax())
    order = group[np.argsort(points[group, axis], kind="stable")]
    middle = len(order) // 2
    return _halve(order[:middle], points) + _halve(order[middle:], points)
