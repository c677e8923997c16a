"""Triangles of skins: halved where they must be finer, and made well formed where they come from meshes."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.meshfiles import Surface
from impel.geometry.scatter import SHARP, facing_of, lengths, smooth_vertices

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

RELAXED, TURNS, LEVEL = 5, 30, 0.97  # rounds of relaxing; of turning edges in each; cosine of what is as good as flat
COLLAPSES, OVER = 30, 0.5  # rounds of taking out short edges; cosine of what has turned too far by that ...
TINY = 0.4  # ... share of the shortest edge that there may be, below which it may be a sharp one

# Points near the surface, the ways out of it there, and whether they belong on a sharp edge, to points on it.
Project = Callable[[Floats, Floats, NDArray[np.bool_]], Floats]


class Skin(NamedTuple):
    """A closed surface of W vertices; V corners where each vertex on a sharp edge counts once for each of its sides."""

    vertices: Floats  # (W, 3)
    triangles: Indices  # (T, 3) of vertices
    ways: Floats  # (W, 3) outwards, as if sharp edges were round: neighbours differ little
    colors: Floats | None  # (W, 3)
    edged: bool  # has sharp edges


def edges_of(triangles: Indices) -> tuple[Indices, Indices, Indices]:
    """(E, 2) all edges of a closed mesh, each once, and the triangles on both sides."""
    count = int(triangles.max()) + 1
    key = _keys(triangles, triangles[:, [1, 2, 0]], count).ravel()
    # Several times faster than to sort by two columns.
    key, order = np.divmod(np.sort(key * len(key) + np.arange(len(key))), len(key))
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    last = np.append(first[1:], len(key)) - 1
    return np.stack(np.divmod(key[first], count), axis=-1), order[first] // 3, order[last] // 3


def _keys(one: Indices, other: Indices, count: int) -> Indices:
    """A number for each edge between two of so many vertices, which grows with those that `edges_of` lists."""
    return np.minimum(one, other) * count + np.maximum(one, other)


def find_edges(ends: Indices, pairs: Indices) -> tuple[Indices, NDArray[np.bool_]]:
    """Which of the edges (E, 2) of `edges_of` have these ends (..., 2), and whether there is one at all."""
    count = int(ends.max()) + 1
    keys, wanted = _keys(ends[:, 0], ends[:, 1], count), _keys(pairs[..., 0], pairs[..., 1], count)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def sharp_edges(vertices: Floats, triangles: Indices) -> Indices:
    """(E, 2) the edges between triangles that face different ways."""
    facing, _ = facing_of(Surface(vertices, triangles))
    ends, one, other = edges_of(triangles)
    return ends[np.einsum("ij,ij->i", facing[one], facing[other]) < SHARP]


def vertex_normals(vertices: Floats, triangles: Indices) -> tuple[Floats, Floats]:
    """Of each vertex the mean of its triangles' normals, by area, and a third of their areas."""
    facing, double = facing_of(Surface(vertices, triangles))
    normal = sum_at_corners(triangles, double[:, None] * facing, len(vertices))
    area = sum_at_corners(triangles, double[:, None] / 6, len(vertices))[:, 0]
    return normal / np.maximum(lengths(normal), 1e-300)[:, None], area


def sum_at_corners(corners: Indices, values: Floats, count: int) -> Floats:
    """(C, K) what the triangles around each of so many corners have together, of values (T, K)."""
    of = corners.T.ravel()
    return np.stack([np.bincount(of, np.tile(column, 3), count) for column in values.T], axis=-1)


def split_at_edges(surface: Surface) -> tuple[Indices, Indices, Floats]:
    """What is drawn: corners (T, 3) of triangles, numbered so that a vertex on a sharp edge has one for each side; the
    vertex (V,) of each; and their normals (V, 3)."""
    corners, _, normals = smooth_vertices(surface)
    vertex = np.empty(len(normals), np.int64)
    vertex[corners.ravel()] = surface.triangles.ravel()
    return corners, vertex, normals


def refine(skin: Skin, level: Indices, project: Project, most: int) -> Skin:
    """Halve all edges of triangles that have a corner (W,) of level 1, those of level 2 once more; unless there would
    be too many vertices."""
    for depth in range(1, int(level.max(initial=0)) + 1):
        _, one, other = edges_of(skin.triangles)
        wanted = level[skin.triangles].max(axis=1) >= depth
        split = wanted[one] | wanted[other]
        if len(skin.vertices) + split.sum() > most:
            break
        skin, cut = halve(skin, split, project)
        level = np.concatenate([level, level[cut].min(axis=1)])
    return skin


def halve(skin: Skin, split: NDArray[np.bool_], project: Project) -> tuple[Skin, Indices]:
    """Put a vertex into the middle of some edges (of `edges_of`), brought on the surface by `project`; also which edges
    (C, 2) got one."""
    vertices, triangles, ways, colors, edged = skin
    ends, one, other = edges_of(triangles)
    cut = ends[split]
    number = np.full(len(ends), -1)
    number[split] = len(vertices) + np.arange(len(cut))
    out = ways[cut].sum(axis=1)
    out /= np.maximum(lengths(out), 1e-300)[:, None]
    facing, _ = facing_of(Surface(vertices, triangles))
    sharp = np.einsum("ij,ij->i", facing[one[split]], facing[other[split]]) < SHARP
    vertices = np.concatenate([vertices, project(vertices[cut].mean(axis=1), out, sharp)])
    if colors is not None:
        colors = np.concatenate([colors, colors[cut].mean(axis=1)])
    triangles = _cut(triangles, _numbers(triangles, ends, number))
    return Skin(vertices, triangles, np.concatenate([ways, out]), colors, edged), cut


def _numbers(triangles: Indices, ends: Indices, number: Indices) -> Indices:
    """(T, 3) what `number` tells of the edges of each triangle, the first from its first corner to its second."""
    return number[find_edges(ends, np.stack([triangles, triangles[:, [1, 2, 0]]], axis=-1))[0]]


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


def collapsed(vertices: Floats, triangles: Indices, shortest: float) -> tuple[Floats, Indices]:
    """Without edges that are shorter: their ends become one. Sharp edges and their corners stay, if they are not tiny,
    and so does whatever would not be closed, or turned over, without the edge."""
    from scipy.sparse import coo_array

    for _ in range(COLLAPSES):
        ends, _, _ = edges_of(triangles)
        length = lengths(vertices[ends[:, 0]] - vertices[ends[:, 1]])
        count = len(vertices)
        edged = sharp_edges(vertices, triangles)
        rank = np.bincount(edged.ravel(), minlength=count)
        rank = np.where(rank == 2, 1, np.where(rank > 0, 2, 0))  # on no sharp edge, on one, where some meet or end
        is_sharp = np.isin(ends[:, 0] * count + ends[:, 1], edged[:, 0] * count + edged[:, 1])
        low = rank[ends].min(axis=1)
        joined = coo_array((np.ones(2 * len(ends), np.int64), (ends.ravel(), ends[:, ::-1].ravel())), (count, count))
        joined = joined.tocsr()
        alike = np.asarray(joined[ends[:, 0]].multiply(joined[ends[:, 1]]).sum(axis=1)).ravel() == 2
        able = (length < shortest) & alike & ((low == 0) | (is_sharp & (low == 1)) | (length < TINY * shortest))
        short = ends[able][np.argsort(length[able], kind="stable")]
        chosen = _apart(short, ends, count)
        if not len(chosen):
            break
        keeps = np.where(rank[chosen[:, 0]] >= rank[chosen[:, 1]], chosen[:, 0], chosen[:, 1])
        goes = chosen.sum(axis=1) - keeps
        level = rank[keeps] == rank[goes]
        place = np.where(level[:, None], vertices[chosen].mean(axis=1), vertices[keeps])
        # Those that turn a triangle over are left out.
        number, moved = np.arange(count), vertices.copy()
        number[goes], moved[keeps], moved[goes] = keeps, place, place
        before = facing_of(Surface(vertices, triangles))[0]
        after, double = facing_of(Surface(moved, triangles))
        over = triangles[(np.einsum("ij,ij->i", before, after) < OVER) & (double > 1e-9 * shortest**2)]
        bad = np.isin(keeps, over) | np.isin(goes, over)
        if bad.all():
            break
        number, moved = np.arange(count), vertices.copy()
        number[goes[~bad]], moved[keeps[~bad]] = keeps[~bad], place[~bad]
        fewer = number[triangles]
        a, b, c = fewer.T
        fewer = fewer[(a != b) & (b != c) & (c != a)]
        used, fewer = np.unique(fewer, return_inverse=True)
        vertices, triangles = moved[used], fewer.reshape(-1, 3)
    return vertices, triangles


def _apart(short: Indices, ends: Indices, count: int) -> Indices:
    """Of edges, the worst first, those that have no neighbours in common: each vertex and all around it belong to one
    of them."""
    claimed = np.full(count, len(short))
    for k in (0, 1):
        np.minimum.at(claimed, short[:, k], np.arange(len(short)))
    around = claimed.copy()
    for one, other in ((0, 1), (1, 0)):
        np.minimum.at(around, ends[:, one], claimed[ends[:, other]])
    chosen: Indices = short[(around[short] == np.arange(len(short))[:, None]).all(axis=1)]
    return chosen


def relax(skin: Skin, project: Project) -> Skin:
    """Make triangles of a mesh well formed: edges that cut two triangles badly are turned, and vertices that lie on no
    sharp edge go to the middle of their neighbours."""
    still = np.zeros(len(skin.vertices), bool)
    still[sharp_edges(skin.vertices, skin.triangles).ravel()] = True
    for _ in range(RELAXED):
        skin = skin._replace(triangles=turned(skin.vertices, skin.triangles))
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


def turned(vertices: Floats, triangles: Indices) -> Indices:
    """Triangles whose edges are turned where the angles opposite to them add up to more than half a turn (Delaunay),
    on what is as good as flat."""
    for _ in range(TURNS):
        ends, one, other = edges_of(triangles)
        facing, double = facing_of(Surface(vertices, triangles))
        total, p, q = triangles.sum(axis=1), vertices[ends[:, 0]], vertices[ends[:, 1]]
        tips = [total[of] - ends[:, 0] - ends[:, 1] for of in (one, other)]
        angles = [
            np.arctan2(double[of], np.einsum("ij,ij->i", p - vertices[tip], q - vertices[tip]))
            for of, tip in zip((one, other), tips)
        ]
        level = np.einsum("ij,ij->i", facing[one], facing[other]) > LEVEL
        bad = np.flatnonzero(level & (angles[0] + angles[1] > math.pi + 1e-3) & (tips[0] != tips[1]))
        count = len(vertices)
        bad = bad[~find_edges(ends, np.stack(tips, axis=-1)[bad])[1]]
        bad = bad[np.argsort(-(angles[0] + angles[1])[bad], kind="stable")]
        # Of edges that share a triangle or would become the same one, only the worst is turned in this round.
        _, first = np.unique(_keys(tips[0], tips[1], count)[bad], return_index=True)
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
