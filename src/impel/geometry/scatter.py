"""Points on the surface of a closed mesh: as fine as it is curved, on both sides of its sharp edges."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.meshfiles import Surface, surface_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SHARP = np.cos(np.radians(30))  # of the angle between faces, from which on an edge has points of both sides
INSET = 1e-3  # of the size, by which points on sharp edges stand in: equal shapes stacked flush still meet
SAGITTA = 1e-4  # m, and ...
SAGITTA_SHARE = 1e-3  # ... of the size, whichever is less: points are so dense that their triangles bulge by no more
EVEN = 160  # points on a surface that is flat all over, about
MOST_POINTS = 3500
HEIRS = 8  # points to which one that is left out hands on its area
NARROW = 4.0  # over the half thickness of a body: what is curved more counts as narrow


def scatter(solid: Any, size: float) -> tuple[Surface, Floats, Floats, Floats, Floats]:
    """A triangulation that is as fine as it is curved, and its vertices as points with normals, areas and curvatures:
    that of a sharp edge is 0.

    Thirds of triangles as areas integrate linear functions exactly, so that a face that lies flat weighs exactly; on
    sharp edges there is a point for each of the sides.
    """
    longest = float(np.sqrt(solid.surface_area() / EVEN)) * 1.2
    bulge = min(SAGITTA, SAGITTA_SHARE * size)
    light = surface_of(solid.simplify(bulge).refine_to_length(longest))
    number, corner_area, normal = smooth_vertices(light)
    at, area, inwards = _corners(light, number, corner_area)
    smooth = np.logical_not(inwards.any(axis=1))
    curvature = np.where(smooth, _curvatures(number, at, normal), 0.0)
    kept, along = np.arange(len(at)), 0.0
    while len(kept) > MOST_POINTS:
        kept, area_of_kept = _thinned(curvature, at, normal, area, smooth, bulge, longest, along)
        if len(kept) <= MOST_POINTS:
            at, normal, inwards, curvature = at[kept], normal[kept], inwards[kept], curvature[kept]
            area = area_of_kept
        elif np.count_nonzero(smooth[kept]) > MOST_POINTS / 2:
            bulge, longest = 1.5 * bulge, 1.1 * longest
        else:  # it is sharp all over
            along = max(1.2 * along, 0.3 * np.sqrt(area.sum() / MOST_POINTS))
    return light, at + INSET * size * inwards, normal, area, curvature


def counted(area: Floats, curvature: Floats, inner: float) -> Floats:
    """What points count for: where a body is curved more than its thickness asks for, points are finest, and would
    yield most; these count as much as half of all smooth ones."""
    smooth, narrow = curvature > 0.0, curvature > NARROW / inner
    return np.where(narrow, np.maximum(area, np.median(area[smooth])), area) if narrow.any() else area


def _curvatures(number: Indices, at: Floats, normal: Floats) -> Floats:
    """The largest curvature towards any neighbour."""
    ends = np.concatenate([number[:, [0, 1]], number[:, [1, 2]], number[:, [2, 0]]])
    bend = np.linalg.norm(normal[ends[:, 0]] - normal[ends[:, 1]], axis=1)
    bend /= np.maximum(np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1), 1e-300)
    curvature = np.full(len(at), 1e-9)
    np.maximum.at(curvature, ends.ravel(), np.repeat(bend, 2))
    return curvature


def _thinned(
    curvature: Floats,
    at: Floats,
    normal: Floats,
    area: Floats,
    smooth: NDArray[np.bool_],
    bulge: float,
    longest: float,
    along: float,
) -> tuple[Indices, Floats]:
    """Which points to keep of a dense mesh, and their areas: on sharp edges those that far from each other, all if that
    is 0; of the others so many that the surface bulges by no more than that between them."""
    from scipy.spatial import KDTree

    apart = np.where(smooth, np.minimum(np.sqrt(4 * bulge / np.maximum(curvature, 1e-9)), longest), along)
    goes = smooth | (along > 0.0)
    near = KDTree(at).query_ball_point(at, apart)
    gone = np.zeros(len(at), bool)
    for i in np.argsort(apart, kind="stable").tolist():
        if not gone[i]:
            may_go = smooth if smooth[i] else goes  # a flat face does not take the points of its border
            others = [j for j in near[i] if may_go[j] and j != i and normal[i] @ normal[j] > 0.0]
            gone[others] = True
    kept: Indices = np.flatnonzero(~gone).astype(np.int64)
    way = 2 * float(np.median(apart[goes]))  # a face does not lend its area to the one behind it
    near_by, heirs = KDTree(np.concatenate([at[kept], way * normal[kept]], axis=1)).query(
        np.concatenate([at, way * normal], axis=1), min(HEIRS, len(kept))
    )
    return kept, _handed_on(at, area, at[kept], near_by.reshape(len(at), -1), heirs.reshape(len(at), -1))


def _handed_on(at: Floats, area: Floats, kept: Floats, near_by: Floats, heirs: Indices) -> Floats:
    """The areas of kept points, to which all points hand on theirs: to the nearest ones so that linear functions are
    integrated as before (moving least squares, Lancaster and Salkauskas 1981)."""
    wide = np.maximum(near_by[:, -1:], 1e-300)
    weight = (1.0 - np.minimum(near_by / wide, 0.999) ** 2) ** 2
    rows = np.concatenate([np.ones((*heirs.shape, 1)), (kept[heirs] - at[:, None]) / wide[..., None]], axis=2)
    moments = np.einsum("ik,ikm,ikn->imn", weight, rows, rows) + np.diag([0.0, 1e-4, 1e-4, 1e-4])
    share = weight * np.einsum("ikm,im->ik", rows, np.linalg.inv(moments)[:, :, 0])
    share /= share.sum(axis=1, keepdims=True)
    total = np.bincount(heirs.ravel(), (area[:, None] * share).ravel(), len(kept))
    plain = np.bincount(heirs[:, 0], area, len(kept))  # beside edges shares may be negative
    return np.asarray(np.maximum(total, 0.3 * plain), float)


def _corners(surface: Surface, number: Indices, corner_area: Floats) -> tuple[Floats, Floats, Floats]:
    """Where smooth vertices are, what area each has, and which way leads inwards from a sharp edge."""
    vertices, group = surface.vertices, number.ravel()
    count = int(group.max()) + 1
    area = np.bincount(group, np.repeat(corner_area, 3), count).astype(float)
    at: Floats = np.empty((count, 3))
    at[group] = vertices[surface.triangles.ravel()]
    # Where a vertex has several sides, each looks towards the middle of its own triangles.
    of_vertex = np.empty(count, np.int64)
    of_vertex[group] = surface.triangles.ravel()
    sharp = np.bincount(of_vertex)[of_vertex] > 1
    middle = vertices[surface.triangles].mean(1)
    towards = np.zeros((count, 3))
    np.add.at(towards, group, np.repeat(corner_area[:, None] * middle, 3, axis=0))
    towards = towards / np.maximum(area, 1e-300)[:, None] - at
    length = np.linalg.norm(towards, axis=1, keepdims=True)
    inwards: Floats = np.where(sharp[:, None] & (length > 0), towards / np.maximum(length, 1e-300), 0.0)
    return at, area, inwards


def sharp_edges(surface: Surface) -> Floats:
    """(E, 7) edges that stick out sharply: from, to, and a third of the triangles on both sides as their area."""
    vertices, triangles, _ = surface
    facing, double = facing_of(surface)
    one, other = _sides(triangles)
    ends = np.stack([triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()], -1)[one]
    opposite = vertices[triangles].sum(1)[other // 3] - vertices[ends].sum(1)  # the third vertex of the other side
    sticks_out = np.einsum("ij,ij->i", facing[one // 3], opposite - vertices[ends[:, 0]]) < 0
    sharp = sticks_out & (np.einsum("ij,ij->i", facing[one // 3], facing[other // 3]) < SHARP)
    area = (double[one // 3] + double[other // 3]) / 6
    return np.column_stack([vertices[ends[:, 0]], vertices[ends[:, 1]], area])[sharp]


def facing_of(surface: Surface) -> tuple[Floats, Floats]:
    """The normals of triangles, and twice their areas."""
    across = across_of(surface)
    double = lengths(across)
    return across / np.maximum(double, 1e-300)[:, None], double


def across_of(surface: Surface) -> Floats:
    """The normals of triangles, as long as twice their areas."""
    a, b, c = (surface.vertices[of] for of in surface.triangles.T)
    return crossed(b - a, c - a)


def crossed(u: Floats, v: Floats) -> Floats:
    """The cross products of rows, in a third of the time that `np.cross` takes."""
    (a, b, c), (x, y, z) = u.T, v.T
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def lengths(rows: Floats) -> Floats:
    """How long they are, several times as fast as `np.linalg.norm`."""
    squares: Floats = np.einsum("...j,...j->...", rows, rows)
    return np.sqrt(squares)


def _sides(triangles: Indices) -> tuple[Indices, Indices]:
    """The two sides of each edge of a closed mesh, as numbers 3·triangle + corner where the edge begins."""
    edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    order = np.argsort(edges.min(1) * (int(triangles.max()) + 1) + edges.max(1), kind="stable")
    return order[0::2], order[1::2]


def smooth_vertices(surface: Surface) -> tuple[Indices, Floats, Floats]:
    """For each triangle's corners (T, 3) the number of a smooth vertex; thirds of the triangles' areas; the normals
    of the smooth vertices."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    vertices, triangles, _ = surface
    facing, double = facing_of(surface)
    one, other = _sides(triangles)
    level = np.einsum("ij,ij->i", facing[one // 3], facing[other // 3]) > SHARP
    one, other = one[level], other[level]
    ahead = 3 * (np.arange(3 * len(triangles)) // 3) + (np.arange(3 * len(triangles)) + 1) % 3  # an edge's other end
    rows = np.concatenate([one, ahead[one]])
    columns = np.concatenate([ahead[other], other])
    count = 3 * len(triangles)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), (count, count))
    _, number = connected_components(graph, directed=False)
    normal = np.zeros((int(number.max()) + 1, 3))
    for k in range(3):
        # By the angle of each corner, so that a face counts once however it is cut into triangles.
        u, v, w = (vertices[triangles[:, (k + s) % 3]] for s in range(3))
        p, q = v - u, w - u
        angle = np.arctan2(double, np.einsum("ij,ij->i", p, q))
        np.add.at(normal, number.reshape(-1, 3)[:, k], angle[:, None] * facing)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    return number.reshape(-1, 3), double / 6, normal
