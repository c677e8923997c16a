"""Blobs: shapes that flow together around a skeleton of points, segments and curves."""

import functools
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem

Floats = NDArray[np.float64]

PIECES = 8  # of a curve, from one of its points to the next
THIN = 0.8  # of the spacing: what is thinner asks for a finer grid ...
MOST_POINTS = 4_000_000  # ... of no more than these
CELLS = 48  # along the longest side of the grid on which a blob is integrated and meshed


def blob_elements(blob: dict[str, Any]) -> Floats:
    """The skeleton as rows (from, to, radius); a point is a segment of no length. A curve is many segments, of which
    all but the first have their radius with a minus: they are one part, and do not blend with each other."""
    rows = [[*p["at"], *p["at"], p["radius"]] for p in blob.get("points") or []]
    rows += [[*s["from"], *s["to"], s["radius"]] for s in blob.get("segments") or []]
    for curve in blob.get("curves") or []:
        along = _curve(np.array(curve["points"], float), bool(curve.get("loop")))
        signs = [1.0] + [-1.0] * (len(along) - 2)
        rows += [[*a, *b, sign * curve["radius"]] for a, b, sign in zip(along[:-1], along[1:], signs)]
    return np.array(rows, float).reshape(-1, 7)


def _curve(points: Floats, loop: bool) -> Floats:
    """Places along a smooth curve through points: a centripetal Catmull-Rom spline, as paths are."""
    if len(points) == 2:
        return points
    if loop:
        points = np.concatenate([points[-1:], points, points[:2]])
    else:
        points = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    places = []
    for p in np.lib.stride_tricks.sliding_window_view(points, 4, axis=0).swapaxes(1, 2):
        t = np.concatenate([[0.0], np.cumsum(np.maximum(np.linalg.norm(np.diff(p, axis=0), axis=1), 1e-12) ** 0.5)])
        for s in t[1] + (t[2] - t[1]) * np.arange(PIECES) / PIECES:
            rows = p
            for low, high in (([0, 1, 2], [1, 2, 3]), ([0, 1], [2, 3]), ([1], [2])):  # Barry and Goldman 1988
                share = ((s - t[low]) / (t[high] - t[low]))[:, None]
                rows = (1 - share) * rows[:-1] + share * rows[1:]
            places.append(rows[0])
    return np.array([*places, points[-2]])


def blob_parts(elements: Floats) -> Floats:
    """Rows of elements with radii as they are."""
    rows = elements.copy()
    rows[:, 6] = np.abs(rows[:, 6])
    return rows


def blob_field(elements: Floats, blend: float, points: Floats) -> Floats:
    """The field of `fields.field` for many points at once, in the frame of the elements."""
    t = max(0.25 * blend, 1e-12)
    distance = np.empty((len(elements), len(points)))
    for row, e in zip(distance, elements):
        along = e[3:6] - e[0:3]
        square = along @ along
        v = points - e[0:3]
        if square > 0.0:
            v = v - np.clip(v @ along / square, 0.0, 1.0)[:, None] * along
        row[:] = np.sqrt((v * v).sum(1)) - abs(e[6])
    distance = np.minimum.reduceat(distance, np.flatnonzero(elements[:, 6] > 0), axis=0)
    nearest = distance.min(0)
    return nearest - t * np.log(np.exp((nearest - distance) / t).sum(0))


def blob_grid(elements: Floats, blend: float, cells: int = CELLS) -> tuple[Floats, float, Floats]:
    """The field on a cubic grid around the blob: lowest corner, spacing, values (X, Y, Z)."""
    t = 0.25 * blend
    reach = np.abs(elements[:, 6:7]) + t * np.log(len(elements))  # how far blending can swell the surface
    low = np.minimum(elements[:, 0:3], elements[:, 3:6]) - reach
    high = np.maximum(elements[:, 0:3], elements[:, 3:6]) + reach
    low, high = low.min(0), high.max(0)
    size = float((high - low).max())
    spacing = float((high - low).max()) / cells
    thinnest = float(np.abs(elements[:, 6]).min())
    if thinnest < THIN * spacing:  # it would fall between the points
        spacing = 0.5 * thinnest
    low = low - 1.5 * spacing
    count = np.ceil((high - low) / spacing + 1.5).astype(int)
    if np.prod(count.astype(float)) > MOST_POINTS:
        raise Problem(f"shape.blob: is too thin for its size: parts of radius {thinnest:.3g} m that reach {size:.3g} m")
    axes = [low[k] + spacing * np.arange(count[k]) for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    return low, spacing, blob_field(elements, blend, points).reshape(count)


def blob_moments(elements: Floats, blend: float) -> tuple[float, Floats, Floats]:
    """Volume, centre of mass and inertia tensor (3, 3) about it for unit density, by summing a grid.

    A cell that the surface cuts counts with the part that lies inside if the surface were flat there, so that
    the error falls with the square of the spacing.
    """
    low, spacing, values = blob_grid(elements, blend)
    weight = np.clip(0.5 - values / spacing, 0.0, 1.0) * spacing**3
    inside = np.nonzero(weight)
    w = weight[inside]
    x = low + spacing * np.stack(inside, -1)
    volume = float(w.sum())
    centre = (w[:, None] * x).sum(0) / volume
    x = x - centre
    square = (x * x).sum(1) + spacing**2 / 4  # second moments of the cells themselves: h²/12 an axis
    second = (w[:, None, None] * x[:, :, None] * x[:, None, :]).sum(0) + np.eye(3) * w.sum() * spacing**2 / 12
    return volume, centre, np.eye(3) * (w * square).sum() - second


def blob_mesh(blob: dict[str, Any], cells: int = CELLS) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Vertices, outward normals and triangles of a blob's surface, in its frame; shared: to be copied, not changed."""
    return _kept_mesh(json.dumps(blob), cells)


@functools.lru_cache(maxsize=32)  # a body takes up to 2 s and 1 MB, and is drawn again with every toy, take and picture
def _kept_mesh(written: str, cells: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    blob = json.loads(written)
    mesh = surface_mesh(blob_elements(blob), float(blob.get("blend", 0.0)), cells)
    for array in mesh:
        array.flags.writeable = False
    return mesh


def surface_mesh(elements: Floats, blend: float, cells: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Surface nets: one vertex in every cell that the surface cuts, one quad across every edge it cuts."""
    low, spacing, values = blob_grid(elements, blend, cells)
    inside = values < 0.0
    shape = np.array(values.shape) - 1
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    window = [tuple(slice(c, c + n) for c, n in zip(corner, shape)) for corner in corners]
    filled = np.sum([inside[w] for w in window], axis=0)
    cut: NDArray[np.bool_] = (filled > 0) & (filled < 8)
    number = np.full(shape, -1)
    number[cut] = np.arange(cut.sum())
    cell = np.stack(np.nonzero(cut), -1)
    corner_value = np.stack([values[w][cut] for w in window], -1)
    vertex = _net_vertices(cell, corner_value, corners)
    points = low + spacing * vertex
    for _ in range(3):  # Newton steps bring the vertices from the net onto the surface itself
        value, gradient = _value_and_gradient(elements, blend, points, 1e-4 * spacing)
        points = points - (value / (gradient * gradient).sum(1))[:, None] * gradient
    _, normals = _value_and_gradient(elements, blend, points, 1e-4 * spacing)
    normals /= np.sqrt((normals * normals).sum(1))[:, None]
    return points, normals, _net_triangles(inside, number)


def _net_vertices(cell: NDArray[np.int64], corner_value: Floats, corners: list[tuple[int, int, int]]) -> Floats:
    """The mean of the points where the surface cuts a cell's edges, in units of the grid."""
    total = np.zeros((len(cell), 3))
    count = np.zeros(len(cell))
    for i, a in enumerate(corners):
        for j, b in enumerate(corners):
            if i < j and sum(abs(p - q) for p, q in zip(a, b)) == 1:
                va, vb = corner_value[:, i], corner_value[:, j]
                crosses = (va < 0.0) != (vb < 0.0)
                share = np.where(crosses, va / np.where(crosses, va - vb, 1.0), 0.0)
                point = np.array(a, float) + share[:, None] * (np.array(b, float) - np.array(a, float))
                total += crosses[:, None] * point
                count += crosses
    return cell + total / count[:, None]


def _net_triangles(inside: NDArray[np.bool_], number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two triangles across every grid edge that the surface cuts, outward side counter-clockwise."""
    triangles = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        inner = np.moveaxis(inside, [axis, u, v], [0, 1, 2])
        cells = np.moveaxis(number, [axis, u, v], [0, 1, 2])
        start, end = inner[:-1, 1:-1, 1:-1], inner[1:, 1:-1, 1:-1]
        edge = np.nonzero(start != end)
        leaves = start[edge]
        i, j, k = edge
        a, b, c, d = cells[i, j, k], cells[i, j + 1, k], cells[i, j + 1, k + 1], cells[i, j, k + 1]
        b, d = np.where(leaves, b, d), np.where(leaves, d, b)
        triangles += [np.stack([a, b, c], -1), np.stack([a, c, d], -1)]
    return np.concatenate(triangles)


def _value_and_gradient(elements: Floats, blend: float, points: Floats, step: float) -> tuple[Floats, Floats]:
    gradient = np.empty_like(points)
    for k in range(3):
        shift = np.zeros(3)
        shift[k] = step
        ahead, behind = blob_field(elements, blend, points + shift), blob_field(elements, blend, points - shift)
        gradient[:, k] = (ahead - behind) / (2 * step)
    return blob_field(elements, blend, points), gradient
