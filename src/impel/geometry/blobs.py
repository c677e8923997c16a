"""Blobs: shapes that flow together around a skeleton of points and segments."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELLS = 48  # along the longest side of the grid on which a blob is integrated and meshed


def blob_elements(blob: dict[str, Any]) -> Floats:
    """The skeleton as rows (from, to, radius); a point is a segment of no length."""
    rows = [[*p["at"], *p["at"], p["radius"]] for p in blob.get("points") or []]
    rows += [[*s["from"], *s["to"], s["radius"]] for s in blob.get("segments") or []]
    return np.array(rows, float).reshape(-1, 7)


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
        row[:] = np.sqrt((v * v).sum(1)) - e[6]
    nearest = distance.min(0)
    return nearest - t * np.log(np.exp((nearest - distance) / t).sum(0))


def blob_grid(elements: Floats, blend: float, cells: int = CELLS) -> tuple[Floats, float, Floats]:
    """The field on a cubic grid around the blob: lowest corner, spacing, values (X, Y, Z)."""
    t = 0.25 * blend
    reach = elements[:, 6:7] + t * np.log(len(elements))  # how far blending can swell the surface
    low = np.minimum(elements[:, 0:3], elements[:, 3:6]) - reach
    high = np.maximum(elements[:, 0:3], elements[:, 3:6]) + reach
    low, high = low.min(0), high.max(0)
    spacing = float((high - low).max()) / cells
    low = low - 1.5 * spacing
    count = np.ceil((high - low) / spacing + 1.5).astype(int)
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
    """Vertices, outward normals and triangles of a blob's surface, in the frame it was written in."""
    return surface_mesh(blob_elements(blob), float(blob.get("blend", 0.0)), cells)


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
