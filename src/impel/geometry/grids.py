"""A closed mesh as a grid of distances, read through a spline: smooth, and its gradient is that of its values.

Near the triangles distances are exact; from there the nearest triangle is handed on from point to point (Zhao 2005,
fast sweeping), and rays along x that count the triangles they cross tell inside from outside. The spline is quadratic
and goes through the distances (27 coefficients a look). Flat faces stay exact; edges are rounded by a third of a
cell.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, scale, sub

Floats = NDArray[np.float64]

CELLS = 48  # along the longest side: the surface of a ball is right to 4e-5 of its size, of a box to 5e-4 (edges)
BORDER = 2.5  # cells around the mesh, so that the spline has values on all sides of the surface
FADED = 8  # points: what a spline has that far away counts for a millionth, (3 - 2√2)⁸
ASIDE = 1e-7  # cells by which rays pass beside the points of the grid, where vertices like to lie
GUESSES = 4  # at where a mesh is nearest: right to 1e-4 of the distance for a ball
ROUGH = 1.2  # cells: by how much the nearest value can be off, half a diagonal and what makes it a spline
# Columns: lowest corner, 1/spacing, points along each axis, first value, half the thickness of thin parts, extent.
LOW, PER, COUNT, FIRST, THINNEST, PLACE = 0, 3, 4, 7, 8, 9


class Grid(NamedTuple):
    low: Floats  # (3,) lowest corner, m
    spacing: float  # m
    values: NDArray[np.float32]  # (X, Y, Z) coefficients of the spline


def make_grid(vertices: Floats, triangles: NDArray[np.int64], cells: int = CELLS) -> Grid:
    """The distances from a closed mesh, negative inside."""
    from scipy.ndimage import spline_filter

    low, high = vertices.min(0), vertices.max(0)
    spacing = float((high - low).max()) / cells
    count = np.ceil((high - low) / spacing + 2 * BORDER).astype(int) + 1
    low = (low + high) / 2 - spacing * (count - 1) / 2
    points = np.ascontiguousarray((vertices - low) / spacing)
    distance = np.full(count, math.inf)
    nearest = np.full(count, -1, np.int64)
    crossed = np.zeros(count, np.int64)
    measure(points, np.ascontiguousarray(triangles, np.int64), distance, nearest, crossed)
    # Distances go on straight beyond the border: a mirror there would make the spline wrong by a tenth of a cell.
    wider = np.pad(spacing * distance, FADED, mode="reflect", reflect_type="odd")
    coefficients = spline_filter(wider, order=2, mode="mirror", output=np.float64)
    within = slice(FADED, -FADED)
    return Grid(low, spacing, coefficients[within, within, within].astype(np.float32))


def place_row(grid: Grid, first: int) -> list[float]:
    """(8,) LOW ... of a grid whose values begin at `first`."""
    return [*grid.low.tolist(), 1.0 / grid.spacing, *map(float, grid.values.shape), float(first)]


@kernel
def grid_field(grid, place, row, p):
    """The spline at p and its gradient; beyond the grid no more than the distance, and continuous."""
    per = place[row, PER]
    y = scale(sub(p, (place[row, LOW], place[row, LOW + 1], place[row, LOW + 2])), per)
    nx, ny, nz = int(place[row, COUNT]), int(place[row, COUNT + 1]), int(place[row, COUNT + 2])
    # NaN and what is far away both end up on the border.
    x = (_within(y[0], nx), _within(y[1], ny), _within(y[2], nz))
    i, j, k = min(int(x[0] + 0.5), nx - 2), min(int(x[1] + 0.5), ny - 2), min(int(x[2] + 0.5), nz - 2)
    wx, sx = _weights(x[0] - i)
    wy, sy = _weights(x[1] - j)
    wz, sz = _weights(x[2] - k)
    first = int(place[row, FIRST]) + ((i - 1) * ny + j - 1) * nz + k - 1
    phi, gx, gy, gz = 0.0, 0.0, 0.0, 0.0
    for a in range(3):
        value, along_y, along_z = 0.0, 0.0, 0.0
        for b in range(3):
            at = first + (a * ny + b) * nz
            c0, c1, c2 = grid[at], grid[at + 1], grid[at + 2]
            line = wz[0] * c0 + wz[1] * c1 + wz[2] * c2
            value += wy[b] * line
            along_y += sy[b] * line
            along_z += wy[b] * (sz[0] * c0 + sz[1] * c1 + sz[2] * c2)
        phi += wx[a] * value
        gx += sx[a] * value
        gy += wx[a] * along_y
        gz += wx[a] * along_z
    g = (per * gx, per * gy, per * gz)
    beyond = scale(sub(y, x), 1.0 / per)
    square = dot(beyond, beyond)
    if square > 0.0:
        # The mesh lies inside the grid's box: what is nearest to p is at least this far, by Pythagoras.
        length = math.sqrt(square + phi * phi)
        return length, scale(axpy(phi, g, beyond), 1.0 / length)
    return phi, g


@kernel
def beyond_grid(grid, place, row, p):
    """As `grid_field`, but beyond the grid the distance from where the mesh is nearest: straight up from there one
    comes through the grid, where that place can be told, so that each guess at it gives a better one."""
    low = (place[row, LOW], place[row, LOW + 1], place[row, LOW + 2])
    per = place[row, PER]
    y = scale(sub(p, low), per)
    nx, ny, nz = int(place[row, COUNT]), int(place[row, COUNT + 1]), int(place[row, COUNT + 2])
    x = (_within(y[0], nx), _within(y[1], ny), _within(y[2], nz))
    if x[0] == y[0] and x[1] == y[1] and x[2] == y[2]:
        return grid_field(grid, place, row, p)
    length, way = 0.0, (0.0, 0.0, 1.0)
    for _ in range(GUESSES):
        phi, g = grid_field(grid, place, row, axpy(1.0 / per, x, low))
        foot = axpy(-phi * per / max(math.sqrt(dot(g, g)), 1e-3), g, x)
        way = sub(y, foot)
        length = math.sqrt(dot(way, way))
        t = min(_leaves(foot[0], way[0], nx), _leaves(foot[1], way[1], ny), _leaves(foot[2], way[2], nz))
        x = axpy(t, way, foot)
        x = (_within(x[0], nx), _within(x[1], ny), _within(x[2], nz))
    return length / per, scale(way, 1.0 / length)


@kernel(inline=True)
def _leaves(x, way, count):
    """The share of a way after which it leaves what the spline covers along one axis."""
    end = count - 1.5 if way > 0.0 else 0.5
    return min(max((end - x) / way, 0.0), 1.0) if abs(way) > 1e-12 else 1.0


@kernel
def surely_beyond(grid, place, row, p, far):
    """Whether the nearest value of the grid alone tells that p is farther from the mesh than `far`."""
    per = place[row, PER]
    nx, ny, nz = int(place[row, COUNT]), int(place[row, COUNT + 1]), int(place[row, COUNT + 2])
    x = scale(sub(p, (place[row, LOW], place[row, LOW + 1], place[row, LOW + 2])), per)
    if not (0.0 <= x[0] < nx - 1.0 and 0.0 <= x[1] < ny - 1.0 and 0.0 <= x[2] < nz - 1.0):
        return False
    at = (int(x[0] + 0.5) * ny + int(x[1] + 0.5)) * nz + int(x[2] + 0.5)
    return grid[int(place[row, FIRST]) + at] - ROUGH / per > far


@kernel(inline=True)
def _within(x, count):
    if x > 0.5:
        return x if x < count - 1.5 else count - 1.5
    return 0.5


@kernel(inline=True)
def _weights(t):
    """Of three neighbours in a quadratic B-spline, and their slopes."""
    early, late = 0.5 - t, 0.5 + t
    return (0.5 * early * early, 0.75 - t * t, 0.5 * late * late), (-early, -2.0 * t, late)


@kernel
def half_thickness(grid, place, points, normal, step, longest, out):
    """Half of the way straight through from each point to where one comes out again."""
    for i in range(len(points)):
        p, n = get3(points, i), get3(normal, i)
        way = 2.0 * step
        while way < longest and grid_field(grid, place, 0, axpy(-way, n, p))[0] < 0.0:
            way += step
        out[i] = 0.5 * way


@kernel
def measure(points, triangles, distance, nearest, crossed):
    """Fill in the signed distances from triangles whose points are in units of the grid."""
    shape = distance.shape
    for t in range(len(triangles)):
        a, b, c = get3(points, triangles[t, 0]), get3(points, triangles[t, 1]), get3(points, triangles[t, 2])
        first = (_start(a[0], b[0], c[0]), _start(a[1], b[1], c[1]), _start(a[2], b[2], c[2]))
        for i in range(first[0], min(int(max(a[0], b[0], c[0])) + 2, shape[0] - 1) + 1):
            for j in range(first[1], min(int(max(a[1], b[1], c[1])) + 2, shape[1] - 1) + 1):
                for k in range(first[2], min(int(max(a[2], b[2], c[2])) + 2, shape[2] - 1) + 1):
                    d = _distance((float(i), float(j), float(k)), a, b, c)
                    if d < distance[i, j, k]:
                        distance[i, j, k] = d
                        nearest[i, j, k] = t
        _cross(a, b, c, crossed)
    for _ in range(2):
        for way in range(8):
            _sweep(points, triangles, distance, nearest, 1 - 2 * (way & 1), 1 - (way & 2), 1 - (way & 4) // 2)
    for j in range(shape[1]):
        for k in range(shape[2]):
            count = 0
            for i in range(shape[0]):
                count += crossed[i, j, k]
                if count % 2 == 1:
                    distance[i, j, k] = -distance[i, j, k]


@kernel(inline=True)
def _start(a, b, c):
    return max(int(min(a, b, c)) - 1, 0)


@kernel
def _sweep(points, triangles, distance, nearest, di, dj, dk):
    """Hand nearest triangles on, along the three axes and diagonally, in one direction of eight."""
    ni, nj, nk = distance.shape
    for i in range(1, ni) if di > 0 else range(ni - 2, -1, -1):
        for j in range(1, nj) if dj > 0 else range(nj - 2, -1, -1):
            for k in range(1, nk) if dk > 0 else range(nk - 2, -1, -1):
                p = (float(i), float(j), float(k))
                for step in range(1, 8):
                    u, v, w = i - (step & 1) * di, j - (step >> 1 & 1) * dj, k - (step >> 2 & 1) * dk
                    t = nearest[u, v, w]
                    # A neighbour's distance differs by at most the way to it.
                    if t < 0 or t == nearest[i, j, k] or distance[u, v, w] - 1.7321 > distance[i, j, k]:
                        continue
                    a, b = get3(points, triangles[t, 0]), get3(points, triangles[t, 1])
                    d = _distance(p, a, b, get3(points, triangles[t, 2]))
                    if d < distance[i, j, k]:
                        distance[i, j, k] = d
                        nearest[i, j, k] = t


@kernel
def _cross(a, b, c, crossed):
    """Note which rays along x cross a triangle, at the first point of each behind it."""
    ni, nj, nk = crossed.shape
    for j in range(max(math.ceil(min(a[1], b[1], c[1]) - 1e-3), 0), min(int(max(a[1], b[1], c[1])), nj - 1) + 1):
        for k in range(max(math.ceil(min(a[2], b[2], c[2]) - 1e-3), 0), min(int(max(a[2], b[2], c[2])), nk - 1) + 1):
            y, z = j + ASIDE, k + 1.618 * ASIDE
            u = (b[1] - y) * (c[2] - z) - (b[2] - z) * (c[1] - y)
            v = (c[1] - y) * (a[2] - z) - (c[2] - z) * (a[1] - y)
            w = (a[1] - y) * (b[2] - z) - (a[2] - z) * (b[1] - y)
            if (u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0):
                x = (u * a[0] + v * b[0] + w * c[0]) / (u + v + w)
                crossed[min(max(math.ceil(x), 0), ni - 1), j, k] += 1


@kernel
def _distance(p, a, b, c):
    """From a point to a triangle (Ericson 2004, section 5.1.5)."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return math.sqrt(dot(ap, ap))
    bp = sub(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return math.sqrt(dot(bp, bp))
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = axpy(-d1 / (d1 - d3), ab, ap)
        return math.sqrt(dot(v, v))
    cp = sub(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return math.sqrt(dot(cp, cp))
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        v = axpy(-d2 / (d2 - d6), ac, ap)
        return math.sqrt(dot(v, v))
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        v = add(bp, scale(sub(b, c), (d4 - d3) / ((d4 - d3) + (d5 - d6))))
        return math.sqrt(dot(v, v))
    normal = cross(ab, ac)
    return abs(dot(normal, ap)) / math.sqrt(dot(normal, normal))
