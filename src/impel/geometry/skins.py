"""Skins: the surfaces that soft bodies are drawn with, even all over, and finer where others press.

A drawing mesh is made for a few large triangles and rounded edges. A skin has triangles of one size, every vertex lies
on the body's field, sharp edges are edges of it, and it can be refined without end.
"""

import json
import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.baking import bake
from impel.geometry.blobs import blob_elements, surface_mesh
from impel.geometry.meshes import exact_mesh
from impel.geometry.meshfiles import Surface, surface_of
from impel.geometry.remeshing import Skin, collapsed, sharp_edges, turned, vertex_normals
from impel.geometry.scatter import facing_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

EVEN = 900  # vertices of a skin that nobody presses, about
SMOOTH = ("sphere", "capsule", "blob")  # have no sharp edges
SHORT = 0.4  # of the longest edge: shorter ones are taken out of meshes
BAKED = ("mesh", "convex", "compound")
SAME = 1e-7  # of the size: vertices closer than this are one
GRAIN, NORMAL_GRAIN = 2.0**-25, 2.0**-9  # of the size, and of 1: takes tell in such steps how a skin has moved
ROUNDED = 0.35  # of the half thickness: over how wide a strip sharp edges are taken for round


def make_skin(shape: dict[str, Any], inner: float) -> Skin:
    """The skin of a shape as written in a scene, before anything presses; `inner` is half its thickness."""
    (kind, _), *_ = shape.items()
    return _kept_skin(json.dumps(shape), inner, bake(shape).key if kind in BAKED else "")


def grain_of(size: float) -> float:
    """In which steps a take tells how far a skin of that size has moved: a power of two, so that no digit is lost."""
    return GRAIN * 2.0 ** math.floor(math.log2(max(size, 1e-9)))


@lru_cache(64)
def _kept_skin(text: str, inner: float, key: str) -> Skin:
    """`key` tells what is in the files of a mesh."""
    shape = json.loads(text)
    (kind, size), *_ = shape.items()
    colors = None
    if kind == "sphere":
        vertices, triangles = _octasphere(
            float(size), _steps(float(size) * math.pi / 2, 4 * math.pi * float(size) ** 2)
        )
    elif kind == "capsule":
        vertices, triangles = _capsule(float(size["radius"]), float(size["length"]) / 2)
    elif kind == "cylinder":
        vertices, triangles = _cylinder(float(size["radius"]), float(size["length"]) / 2)
    elif kind == "box":
        vertices, triangles = _box(np.asarray(size, float))
    elif kind == "blob":
        vertices, triangles = _blob(size)
    elif kind in BAKED:
        vertices, triangles, colors = _baked(shape)
    else:
        vertices, triangles = _meshed(*exact_mesh(shape))
    vertices, triangles, kept = _welded(vertices, triangles)
    colors = None if colors is None else colors[kept]
    edged = kind not in SMOOTH and len(sharp_edges(vertices, triangles)) > 0
    ways = _round_ways(vertices, triangles, ROUNDED * inner) if edged else vertex_normals(vertices, triangles)[0]
    return Skin(vertices, triangles, ways, colors, edged)


def _baked(shape: dict[str, Any]) -> tuple[Floats, Indices, Floats | None]:
    from scipy.spatial import KDTree

    baked = bake(shape)
    vertices, triangles = _meshed(baked.vertices, baked.triangles.astype(np.int64))
    colors = baked.colors[KDTree(baked.vertices).query(vertices)[1]] if len(baked.colors) else None
    return vertices, triangles, colors


def _meshed(vertices: Floats, triangles: Indices) -> tuple[Floats, Indices]:
    """A mesh with about as many vertices as other skins have, in even triangles."""
    import manifold3d

    vertices, triangles, _ = _welded(vertices, triangles)
    size, longest = float(np.ptp(vertices, axis=0).max()), 1.4 * _edge(_area(vertices, triangles))
    whole = manifold3d.Manifold(manifold3d.Mesh(vertices.astype(np.float32), triangles.astype(np.uint32)))
    for bulge in size * np.array([1e-4, 3e-4, 1e-3, 3e-3]):
        if whole.status() != manifold3d.Error.NoError or len(triangles) < 4 * EVEN:
            break
        light = surface_of(whole.simplify(float(bulge)))
        vertices, triangles = light.vertices, light.triangles
    vertices, triangles = _even(vertices, triangles, SHORT * longest)
    for _ in range(2):
        whole = manifold3d.Manifold(manifold3d.Mesh(vertices.astype(np.float32), triangles.astype(np.uint32)))
        if whole.status() == manifold3d.Error.NoError:
            fine = surface_of(whole.refine_to_length(longest))
            vertices, triangles, _ = _welded(fine.vertices, fine.triangles)
        vertices, triangles = _even(vertices, triangles, SHORT * longest)
    return vertices, triangles


def _even(vertices: Floats, triangles: Indices, shortest: float) -> tuple[Floats, Indices]:
    vertices, triangles = collapsed(vertices, turned(vertices, triangles), shortest)
    return vertices, turned(vertices, triangles)


def _edge(area: float) -> float:
    """How long the edges of even triangles on an area are."""
    return math.sqrt(area / (0.866 * EVEN))


def _steps(length: float, area: float) -> int:
    """How many edges a length has."""
    return max(2, round(length / _edge(area)))


def _area(vertices: Floats, triangles: Indices) -> float:
    return float(facing_of(Surface(vertices, triangles))[1].sum()) / 2


def _octant(n: int) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """The points i + j + k = n of a triangle, and its small triangles."""
    points = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
    number = {p: m for m, p in enumerate(points)}
    triangles = []
    for i in range(n):
        for j in range(n - i):
            k = n - i - j
            triangles.append((number[i, j, k], number[i + 1, j, k - 1], number[i, j + 1, k - 1]))
            if k > 1:
                triangles.append((number[i + 1, j, k - 1], number[i + 1, j + 1, k - 2], number[i, j + 1, k - 1]))
    return points, triangles


def _octahedron(n: int, half: bool = False) -> tuple[Floats, Indices]:
    """Points with |x| + |y| + |z| = 1, and triangles; only those above z = 0 of a half. Its edges lie where the tones
    of balls and wheels change."""
    points, triangles = _octant(n)
    at, around = np.array(points, float) / n, np.array(triangles, np.int64)
    parts: list[Floats] = []
    sides: list[Indices] = []
    for x in (1, -1):
        for y in (1, -1):
            for z in (1,) if half else (1, -1):
                sides.append((around if x * y * z > 0 else around[:, ::-1]) + len(parts) * len(at))
                parts.append(at * [x, y, z])
    return np.concatenate(parts), np.concatenate(sides)


def _octasphere(radius: float, n: int, half: bool = False) -> tuple[Floats, Indices]:
    """A ball: the sides of an octahedron, blown up so that their edges have even angles."""
    at, triangles = _octahedron(n, half)
    # Along a side of the octahedron the angle grows with atan(t/(1 - t)); sines of even angles undo that.
    at = np.sign(at) * np.sin(np.abs(at) * math.pi / 2)
    return radius * at / np.linalg.norm(at, axis=1, keepdims=True), triangles


def _tube(ring: Floats, half: float, steps: int) -> tuple[Floats, Indices]:
    """The side of a cylinder over a ring (R, 2) of points, counter-clockwise."""
    count = len(ring)
    z = np.linspace(-half, half, steps + 1)
    at = np.concatenate([np.tile(ring, (steps + 1, 1)), np.repeat(z, count)[:, None]], axis=1)
    row, k = np.meshgrid(np.arange(steps), np.arange(count), indexing="ij")
    a, b = (row * count + k).ravel(), (row * count + (k + 1) % count).ravel()
    c, d = a + count, b + count
    odd = ((row + k) % 2 == 1).ravel()  # diagonals that alternate favour no direction
    one = np.where(odd[:, None], np.stack([a, b, c], -1), np.stack([a, b, d], -1))
    other = np.where(odd[:, None], np.stack([b, d, c], -1), np.stack([a, d, c], -1))
    return at, np.concatenate([one, other])


def _ring(radius: float, count: int) -> Floats:
    angle = 2 * math.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), np.sin(angle)], -1)


def _joined(*parts: tuple[Floats, Indices]) -> tuple[Floats, Indices]:
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] + f for p, f in zip(parts, first)])


def _mirrored(vertices: Floats, triangles: Indices) -> tuple[Floats, Indices]:
    return vertices * [1, 1, -1], triangles[:, ::-1]


def _capsule(radius: float, half: float) -> tuple[Floats, Indices]:
    area = 4 * math.pi * radius * (radius + half)
    n = _steps(radius * math.pi / 2, area)
    top, triangles = _octasphere(radius, n, half=True)
    tube = _tube(_ring(radius, 4 * n), half, _steps(2 * half, area))
    cap = top + np.array([0.0, 0.0, half]), triangles
    return _joined(cap, tube, _mirrored(*cap))


def _cylinder(radius: float, half: float) -> tuple[Floats, Indices]:
    area = 2 * math.pi * radius * (radius + 2 * half)
    n = _steps(radius * math.pi / 2, area)
    at, triangles = _octahedron(n, half=True)
    # Points with |x| + |y| = t lie on the circle of radius t.
    out = np.abs(at[:, :2]).sum(axis=1)
    angle = np.arctan2(at[:, 1], at[:, 0])
    quarter = np.floor(angle / (math.pi / 2))
    share = np.abs(np.where(quarter % 2 == 0, at[:, 1], at[:, 0])) / np.where(out > 0, out, 1.0)
    turned = math.pi / 2 * (quarter + share)
    disc = radius * out[:, None] * np.stack([np.cos(turned), np.sin(turned)], -1)
    cap = np.column_stack([disc, np.full(len(disc), half)]), triangles
    return _joined(cap, _tube(_ring(radius, 4 * n), half, _steps(2 * half, area)), _mirrored(*cap))


def _box(sides: Floats) -> tuple[Floats, Indices]:
    area = 2 * float(sides[0] * sides[1] + sides[1] * sides[2] + sides[2] * sides[0])
    counts = [_steps(float(side), area) for side in sides]
    parts = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        p, q = (sides[k] * (np.arange(counts[k] + 1) / counts[k] - 0.5) for k in (u, v))
        at = np.empty((len(p), len(q), 3))
        at[..., axis], at[..., u], at[..., v] = sides[axis] / 2, p[:, None], q[None, :]
        i, j = np.meshgrid(np.arange(counts[u]), np.arange(counts[v]), indexing="ij")
        a, b = (i * len(q) + j).ravel(), (i * len(q) + j + 1).ravel()
        d, c = a + len(q), b + len(q)
        odd = ((i + j) % 2 == 1).ravel()[:, None]
        one = np.where(odd, np.stack([a, d, b], -1), np.stack([a, d, c], -1))
        other = np.where(odd, np.stack([d, c, b], -1), np.stack([a, c, b], -1))
        face = at.reshape(-1, 3), np.concatenate([one, other])
        away = np.ones(3)
        away[axis] = -1.0
        parts += [face, (face[0] * away, face[1][:, ::-1])]
    return _joined(*parts)


def _blob(blob: dict[str, Any]) -> tuple[Floats, Indices]:
    elements, blend = blob_elements(blob), float(blob.get("blend", 0.0))
    low, high = elements[:, :6].reshape(-1, 3).min(0), elements[:, :6].reshape(-1, 3).max(0)
    size = float((high - low).max()) + 2 * float(np.abs(elements[:, 6]).max())
    cells = 24
    for _ in range(2):  # a net has about 2.2 vertices for each cell's face on the surface
        vertices, _, triangles = surface_mesh(elements, blend, cells)
        cells = int(np.clip(1.05 * size / _edge(_area(vertices, triangles)), 32, 64))
    vertices, _, triangles = surface_mesh(elements, blend, cells)
    return vertices, triangles


def _welded(vertices: Floats, triangles: Indices) -> tuple[Floats, Indices, Indices]:
    """Without vertices at the same place, and without triangles that have no area for that; which were kept."""
    size = float(np.ptp(vertices, axis=0).max())
    _, kept, number = np.unique(np.round(vertices / (SAME * size)), axis=0, return_index=True, return_inverse=True)
    triangles = number.ravel()[triangles]
    a, b, c = triangles.T
    return vertices[kept], triangles[(a != b) & (b != c) & (c != a)], kept


def _round_ways(vertices: Floats, triangles: Indices, width: float) -> Floats:
    """The normals, those of sharp edges smoothed with a Gaussian of that width."""
    normal, area = vertex_normals(vertices, triangles)
    total = np.zeros_like(normal)
    weighted = area[:, None] * normal
    for first in range(0, len(vertices), 512):
        apart = vertices[first : first + 512, None] - vertices
        total[first : first + 512] = np.exp(-0.5 * (apart**2).sum(-1) / width**2) @ weighted
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-3 * area.mean(), total / np.maximum(length, 1e-300), normal)
