"""Points with area on the surfaces of shapes: what presses into the field of another body.

Spheres, capsules and cylinders carry no fixed points: they are sampled where they touch, so that they roll without a
ripple. Boxes have a grid on each face, and all others the vertices of their mesh.
"""

import json
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.blobs import surface_mesh
from impel.geometry.fields import Shapes
from impel.geometry.kinds import BOX, CYLINDER, PLANE
from impel.geometry.meshes import mesh_of
from impel.geometry.shapes import blob_in_principal_axes
from impel.kernel import Floats2, Integers2, struct

Floats = NDArray[np.float64]

INSET = 1e-3  # by which border points stand in, as a share of the size, so that equal shapes stacked flush still meet
BLOB_CELLS = 20  # along the longest side: about a thousand points on a compact blob
SEGMENTS = 24  # round a shape of a new kind
CLUSTER = 24  # points of a mesh that are culled together


@struct
class Samples:
    """S surface points in C clusters; bodies of the same shape share theirs."""

    at: Floats2  # (S, 3)
    normal: Floats2  # (S, 3) outward
    area: Floats  # (S,)
    range: Integers2  # (C, 2) first and last + 1 of a cluster's points
    box: Floats2  # (C, 6) lowest and highest corner of a box around a cluster
    radius: Floats  # (C,) of a ball about its middle that holds the cluster
    clusters: Integers2  # (N, 2) first and last + 1 of a body's clusters


def make_samples(shapes: list[dict[str, Any]], arrays: Shapes) -> Samples | None:
    """Fixed points of all bodies that carry any; None when there are none."""
    clouds: list[tuple[Floats, Floats, Floats]] = []
    known: dict[str, tuple[int, int]] = {}
    clusters = np.zeros((len(shapes), 2), np.int64)
    for i, shape in enumerate(shapes):
        if not CYLINDER < arrays.kind[i] < PLANE:
            continue
        text = json.dumps(shape)
        if text not in known:
            new = box_clusters(arrays.size[i]) if arrays.kind[i] == BOX else mesh_clusters(text)
            known[text] = len(clouds), len(clouds) + len(new)
            clouds += new
        clusters[i] = known[text]
    if not clouds:
        return None
    at, normal, area = (np.concatenate([cloud[k] for cloud in clouds]) for k in range(3))
    ends = np.cumsum([len(cloud[2]) for cloud in clouds])
    centre = np.array([(cloud[0].min(0) + cloud[0].max(0)) / 2 for cloud in clouds])
    radius = np.array([np.linalg.norm(cloud[0] - c, axis=1).max() for cloud, c in zip(clouds, centre)])
    spans = np.stack([np.concatenate([[0], ends[:-1]]), ends], -1).astype(np.int64)
    box = np.array([[*cloud[0].min(0), *cloud[0].max(0)] for cloud in clouds])
    return Samples(at, normal, area, spans, box, radius, clusters)


def box_clusters(half: Floats) -> list[tuple[Floats, Floats, Floats]]:
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


@lru_cache(64)
def mesh_clusters(text: str) -> list[tuple[Floats, Floats, Floats]]:
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
