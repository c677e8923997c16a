"""Skins: the surfaces that soft bodies are drawn with, even all over, and finer where others press.

A drawing mesh is made for a few large triangles and rounded edges. A skin has triangles of one size, every vertex lies
on the body's field, sharp edges are edges of it, and it can be refined without end.
"""

import json
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.baking import bake
from impel.geometry.blobs import blob_elements, surface_mesh
from impel.geometry.meshfiles import Surface, surface_of
from impel.geometry.scatter import SHARP, facing_of, smooth_vertices

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

EVEN = 900  # vertices of a skin that nobody presses, about
SMOOTH = ("sphere", "capsule", "blob")  # have no sharp edges
RELAXED, TURNS, LEVEL = 5, 30, 0.97  # rounds of relaxing; of turning edges in each; cosine of what is as good as flat
SHORT = 0.2  # of the longest edge: shorter ones are taken out of meshes
BAKED = ("mesh", "convex", "compound")
SAME = 1e-7  # of the size: vertices closer than this are one
ROUNDED = 0.35  # of the half thickness: over how wide a strip sharp edges are taken for round


class Skin(NamedTuple):
    """A closed surface of W vertices; V corners where each vertex on a sharp edge counts once for each of its sides."""

    vertices: Floats  # (W, 3)
    triangles: Indices  # (T, 3) of vertices
    ways: Floats  # (W, 3) outwards, as if sharp edges were round: neighbours differ little
    colors: Floats | None  # (W, 3)
    edged: bool  # has sharp edges


# Points near the surface, the ways out of it there, and whether they belong on a sharp edge, to points on it.
Project = Callable[[Floats, Floats, NDArray[np.bool_]], Floats]


def make_skin(shape: dict[str, Any], inner: float) -> Skin:
    """The skin of a shape as written in a scene, before anything presses; `inner` is half its thickness."""
    (kind, _), *_ = shape.items()
    return _kept_skin(json.dumps(shape), inner, bake(shape).key if kind in BAKED else "")


@lru_cache(64)
def _kept_skin(text: str, inner: float, key: str) -> Skin:
    """`key` tells what is in the files of a mesh."""
    shape = json.loads(text)
    (kind, size), *_ = shape.items()
    colors = None
    if kind == "sphere":
        vertices, triangles = _octasphere(float(size), _steps(float(size) * math.pi / 2, 4 * math.pi * float(size) ** 2))
    elif kind == "capsule":
        vertices, triangles = _capsule(float(size["radius"]), float(size["length"]) / 2)
    elif kind == "cylinder":
        vertices, triangles = _cylinder(float(size["radius"]), float(size["length"]) / 2)
    elif kind == "box":
        vertices, triangles = _box(np.asarray(size, float))
    elif kind == "blob":
        vertices, triangles = _blob(size)
    else:
        vertices, triangles, colors = _baked(shape)
    vertices, triangles, kept = _welded(vertices, triangles)
    colors = None if colors is None else colors[kept]
    edged = kind not in SMOOTH and len(sharp_edges(vertices, triangles)) > 0
    ways = _round_ways(vertices, triangles, ROUNDED * inner) if edged else vertex_normals(vertices, triangles)[0]
    return Skin(vertices, triangles, ways, colors, edged)


def _baked(shape: dict[str, Any]) -> tuple[Floats, Indices, Floats | None]:
    """A mesh with about as many vertices as others have."""
    import manifold3d
    from scipy.spatial import KDTree

    baked = bake(shape)
    vertices, triangles, _ = _welded(baked.vertices, baked.triangles.astype(np.int64))
    size, longest = float(np.ptp(vertices, axis=0).max()), 1.4 * _edge(_area(vertices, triangles))
    whole = manifold3d.Manifold(manifold3d.Mesh(vertices.astype(np.float32), triangles.astype(np.uint32)))
    for bulge in size * np.array([1e-4, 3e-4, 1e-3, 3e-3]):
        if whole.status() != manifold3d.Error.NoError or len(triangles) < 4 * EVEN:
            break
        light = surface_of(whole.simplify(float(bulge)))
        vertices, triangles = light.vertices, light.triangles
    vertices, triangles = _collapsed(vertices, _turned(vertices, triangles), SHORT * longest)
    triangles = _turned(vertices, triangles)
    skin = _shortened(Skin(vertices, triangles, np.zeros_like(vertices), None, True), longest)
    skin = skin._replace(triangles=_turned(skin.vertices, skin.triangles))
    colors = baked.colors[KDTree(baked.vertices).query(skin.vertices)[1]] if len(baked.colors) else None
    return skin.vertices, skin.triangles, colors


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
    parts, sides = [], []
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
    cap = top + [0.0, 0.0, half], triangles
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


def vertex_normals(vertices: Floats, triangles: Indices) -> tuple[Floats, Floats]:
    """Of each vertex the mean of its triangles' normals, by area, and a third of their areas."""
    facing, double = facing_of(Surface(vertices, triangles))
    normal, area = np.zeros_like(vertices), np.zeros(len(vertices))
    for k in range(3):
        np.add.at(normal, triangles[:, k], double[:, None] * facing)
        np.add.at(area, triangles[:, k], double / 6)
    return normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None], area


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


def sharp_edges(vertices: Floats, triangles: Indices) -> Indices:
    """(E, 2) the edges between triangles that face different ways."""
    facing, _ = facing_of(Surface(vertices, triangles))
    ends, one, other = edges_of(triangles)
    return ends[np.einsum("ij,ij->i", facing[one], facing[other]) < SHARP]


def edges_of(triangles: Indices) -> tuple[Indices, Indices, Indices]:
    """(E, 2) all edges of a closed mesh, each once, and the triangles on both sides."""
    edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    edges.sort(axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    edges = edges[order]
    first = np.flatnonzero(np.append(True, np.any(edges[1:] != edges[:-1], axis=1)))
    last = np.append(first[1:], len(edges)) - 1
    return edges[first], order[first] // 3, order[last] // 3


def refine(skin: Skin, level: Indices, project: Project, most: int) -> Skin:
    """Halve all edges of triangles that have a corner (W,) of level 1, those of level 2 once more; unless there would be
    too many vertices."""
    for depth in range(1, int(level.max(initial=0)) + 1):
        ends, one, other = edges_of(skin.triangles)
        wanted = (level[skin.triangles] >= depth).any(axis=1)
        split = wanted[one] | wanted[other]
        if len(skin.vertices) + split.sum() > most:
            break
        skin, cut = halve(skin, split, project)
        level = np.concatenate([level, level[cut].min(axis=1)])
    return skin


def _collapsed(vertices: Floats, triangles: Indices, shortest: float) -> tuple[Floats, Indices]:
    """Without edges that are shorter: their ends become one, unless the surface were no longer closed then."""
    for _ in range(12):
        ends, _, _ = edges_of(triangles)
        length = np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1)
        short = ends[np.argsort(length, kind="stable")[: int((length < shortest).sum())]]
        # Not two that have neighbours in common: each vertex and all around it belong to one of them.
        claimed = np.full(len(vertices), len(short))
        for k in (0, 1):
            np.minimum.at(claimed, short[:, k], np.arange(len(short)))
        around = claimed.copy()
        for one, other in ((0, 1), (1, 0)):
            np.minimum.at(around, ends[:, one], claimed[ends[:, other]])
        chosen = short[(around[short] == np.arange(len(short))[:, None]).all(axis=1)]
        if not len(chosen):
            break
        number = np.arange(len(vertices))
        number[chosen[:, 1]] = chosen[:, 0]
        moved, fewer = vertices.copy(), number[triangles]
        moved[chosen[:, 0]] = vertices[chosen].mean(axis=1)
        a, b, c = fewer.T
        fewer = fewer[(a != b) & (b != c) & (c != a)]
        used, fewer = np.unique(fewer, return_inverse=True)
        fewer = fewer.reshape(-1, 3)
        edges = np.sort(np.stack([fewer, np.roll(fewer, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
        if np.any(np.unique(edges, axis=0, return_counts=True)[1] != 2):
            break
        vertices, triangles = moved[used], fewer
    return vertices, triangles


def _shortened(skin: Skin, longest: float) -> Skin:
    """Without edges that are longer, as far as a mesh can have that."""
    for _ in range(12):
        ends, _, _ = edges_of(skin.triangles)
        length = np.linalg.norm(skin.vertices[ends[:, 0]] - skin.vertices[ends[:, 1]], axis=1)
        if not (length > longest).any():
            break
        skin, _ = halve(skin, with_longest(skin.triangles, ends, length, length > longest), lambda at, *_: at)
    return skin


def relax(skin: Skin, project: Project) -> Skin:
    """Make triangles of a mesh well formed: edges that cut two triangles badly are turned, and vertices that lie on no
    sharp edge go to the middle of their neighbours."""
    still = np.zeros(len(skin.vertices), bool)
    still[sharp_edges(skin.vertices, skin.triangles).ravel()] = True
    for _ in range(RELAXED):
        skin = skin._replace(triangles=_turned(skin.vertices, skin.triangles))
        ends, _, _ = edges_of(skin.triangles)
        total, count = np.zeros_like(skin.vertices), np.zeros(len(skin.vertices))
        for one, other in ((0, 1), (1, 0)):
            np.add.at(total, ends[:, one], skin.vertices[ends[:, other]])
            np.add.at(count, ends[:, one], 1.0)
        middle = np.where(still[:, None], skin.vertices, total / np.maximum(count, 1.0)[:, None])
        away = 0.5 * (middle - skin.vertices)
        away -= np.einsum("ij,ij->i", away, skin.ways)[:, None] * skin.ways
        skin = skin._replace(vertices=project(skin.vertices + away, skin.ways, still))
    return skin


def _turned(vertices: Floats, triangles: Indices) -> Indices:
    """Triangles whose edges are turned where the angles opposite to them add up to more than half a turn (Delaunay),
    on what is as good as flat."""
    for _ in range(TURNS):
        ends, one, other = edges_of(triangles)
        facing, _ = facing_of(Surface(vertices, triangles))
        tips = [triangles[of].sum(axis=1) - ends.sum(axis=1) for of in (one, other)]
        angles = [_angle(vertices[tip], vertices[ends[:, 0]], vertices[ends[:, 1]]) for tip in tips]
        level = np.einsum("ij,ij->i", facing[one], facing[other]) > LEVEL
        bad = np.flatnonzero(level & (angles[0] + angles[1] > math.pi + 1e-3) & (tips[0] != tips[1]))
        count = len(vertices)
        new = np.minimum(*tips)[bad] * count + np.maximum(*tips)[bad]
        bad = bad[~np.isin(new, ends[:, 0] * count + ends[:, 1])]
        bad = bad[np.argsort(-(angles[0] + angles[1])[bad], kind="stable")]
        # Of edges that share a triangle or would become the same one, only the worst is turned in this round.
        _, first = np.unique(np.minimum(*tips)[bad] * count + np.maximum(*tips)[bad], return_index=True)
        bad = bad[np.sort(first)]
        rank = np.full(len(triangles), len(bad))
        for of in (one, other):
            np.minimum.at(rank, of[bad], np.arange(len(bad)))
        chosen = bad[(rank[one[bad]] == np.arange(len(bad))) & (rank[other[bad]] == np.arange(len(bad)))]
        if not len(chosen):
            break
        # The first triangle runs from a to b: then tip, a, other tip and tip, other tip, b do not turn over.
        corners = triangles[one[chosen]]
        a, b = ends[chosen].T
        forward = np.any((corners == a[:, None]) & (np.roll(corners, -1, axis=1) == b[:, None]), axis=1)
        a, b = np.where(forward, a, b), np.where(forward, b, a)
        tip, behind = tips[0][chosen], tips[1][chosen]
        triangles = triangles.copy()
        triangles[one[chosen]] = np.stack([tip, a, behind], -1)
        triangles[other[chosen]] = np.stack([tip, behind, b], -1)
    return triangles


def _angle(tip: Floats, a: Floats, b: Floats) -> Floats:
    """Of triangles at their tips."""
    p, q = a - tip, b - tip
    return np.arctan2(np.linalg.norm(np.cross(p, q), axis=1), np.einsum("ij,ij->i", p, q))


def halve(skin: Skin, split: NDArray[np.bool_], project: Project) -> tuple[Skin, Indices]:
    """Put a vertex into the middle of some edges (of `edges_of`), brought on the surface by `project`; also which edges
    (C, 2) got one."""
    vertices, triangles, ways, colors, edged = skin
    ends, one, other = edges_of(triangles)
    cut = ends[split]
    number = np.full(len(ends), -1)
    number[split] = len(vertices) + np.arange(len(cut))
    out = ways[cut].sum(axis=1)
    out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-300)
    facing, _ = facing_of(Surface(vertices, triangles))
    sharp = np.einsum("ij,ij->i", facing[one[split]], facing[other[split]]) < SHARP
    vertices = np.concatenate([vertices, project(vertices[cut].mean(axis=1), out, sharp)])
    if colors is not None:
        colors = np.concatenate([colors, colors[cut].mean(axis=1)])
    triangles = _cut(triangles, _numbers(triangles, ends, number))
    return Skin(vertices, triangles, np.concatenate([ways, out]), colors, edged), cut


def _numbers(triangles: Indices, ends: Indices, number: Indices) -> Indices:
    """(T, 3) what `number` tells of the edges of each triangle, the first from its first corner to its second."""
    count = int(triangles.max()) + 1
    keys = ends[:, 0] * count + ends[:, 1]
    after = np.roll(triangles, -1, axis=1)
    return number[np.searchsorted(keys, np.minimum(triangles, after) * count + np.maximum(triangles, after))]


def with_longest(triangles: Indices, ends: Indices, length: Floats, split: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Also the longest edge of each triangle of which any is split: so triangles stay well formed."""
    of = _numbers(triangles, ends, np.arange(len(ends)))
    longest = of[np.arange(len(of)), length[of].argmax(axis=1)]
    while True:
        more = split.copy()
        more[longest[split[of].any(axis=1)]] = True
        if np.array_equal(more, split):
            return split
        split = more


def _cut(triangles: Indices, middle: Indices) -> Indices:
    """Triangles cut where their edges are: `middle` (T, 3) is the new vertex on each edge, or -1."""
    count = (middle >= 0).sum(axis=1)
    done = [triangles[count == 0]]
    for k in range(3):  # turned so that the edge told of first comes first
        t, m = np.roll(triangles, -k, axis=1), np.roll(middle, -k, axis=1)
        a, b, c = t.T
        ab, bc, _ = m.T
        one = (count == 1) & (ab >= 0)
        done += [np.stack([a, ab, c], -1)[one], np.stack([ab, b, c], -1)[one]]
        two = (count == 2) & (ab >= 0) & (bc >= 0)
        done += [np.stack([a, ab, c], -1)[two], np.stack([ab, bc, c], -1)[two], np.stack([ab, b, bc], -1)[two]]
    a, b, c = triangles[count == 3].T
    ab, bc, ca = middle[count == 3].T
    done += [np.stack(t, -1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return np.concatenate(done)


def split_at_edges(skin: Skin) -> tuple[Indices, Indices, Floats]:
    """What is drawn: corners (T, 3) of triangles, numbered so that a vertex on a sharp edge has one for each side; the
    vertex (V,) of each; and their normals (V, 3)."""
    if not skin.edged:
        return skin.triangles, np.arange(len(skin.vertices)), vertex_normals(skin.vertices, skin.triangles)[0]
    corners, _, normals = smooth_vertices(Surface(skin.vertices, skin.triangles))
    vertex = np.empty(len(normals), np.int64)
    vertex[corners.ravel()] = skin.triangles.ravel()
    return corners, vertex, normals
