"""From triangles to a picture of depths: which triangle is seen at every sample, by the camera or by the sun.

Triangles are drawn by their homogeneous edge functions (Olano and Greer 1997), so that those reaching behind the
camera, a floor for one, need no clipping.
"""

import math
from typing import Any

import numpy as np

from impel.kernel import kernel
from impel.takes.take import Floats

NEAREST = 1e-6  # what is not farther than this before the camera counts as behind it


def rasterise(vertices: Floats, triangles: Any, shown: Any, matrix: Floats, depth: Any, ids: Any) -> None:
    """Keep, at every sample, the nearest front-facing triangle of those `shown`.

    `matrix` (4, 4) gives (x, y, z, w): the sample is (x/w, y/w), its depth z/w, larger is nearer. `depth` and `ids`
    come filled with what lies behind everything.
    """
    height, width = depth.shape
    clip, window = clipped(vertices, matrix), np.array([0, height, 0, width])
    fill(0, len(triangles), triangles, shown, clip, window, np.empty((3, 3)), depth, ids)


def clipped(vertices: Floats, matrix: Floats) -> Floats:
    """The vertices' (x, y, z, w), for `fill`."""
    return np.asarray(vertices @ matrix[:, :3].T + matrix[:, 3])


def bounds_of(clip: Floats, starts: Any) -> Floats:
    """Within which samples (N, 4) bodies are seen: first and last row, first and last column.

    `starts` (N + 1,) are their first vertices. One that reaches behind the camera may be seen anywhere, one that is
    lost nowhere.
    """
    behind = clip[:, 3] <= NEAREST
    seen = clip[:, 1::-1] / np.where(behind, 1.0, clip[:, 3])[:, None]
    low, high = (np.where(behind[:, None], limit, seen) for limit in (-np.inf, np.inf))
    ends = np.minimum.reduceat(low, starts[:-1]), np.maximum.reduceat(high, starts[:-1])
    return np.stack(ends, axis=-1).reshape(-1, 4)


@kernel
def fill(first, last, triangles, shown, clip, window, edge, depth, ids):
    """Draw the triangles from `first` to before `last`, whose corners are at `clip` (V, 4), into a window.

    The window holds samples from a row to before a row, from a column to before a column; `depth` and `ids` have room
    for it. `edge` (3, 3) is room for the edge functions.
    """
    rows, columns = window[0], window[2]
    for t in range(first, last):
        if not shown[t]:
            continue
        left, right, top, bottom = np.inf, -np.inf, np.inf, -np.inf
        in_front, size = 0, 1.0
        for k in range(3):
            i = triangles[t, k]
            a, b = triangles[t, (k + 1) % 3], triangles[t, (k + 2) % 3]
            edge[k, 0] = clip[a, 1] * clip[b, 3] - clip[a, 3] * clip[b, 1]
            edge[k, 1] = clip[a, 3] * clip[b, 0] - clip[a, 0] * clip[b, 3]
            edge[k, 2] = clip[a, 0] * clip[b, 1] - clip[a, 1] * clip[b, 0]
            size *= abs(clip[i, 0]) + abs(clip[i, 1]) + abs(clip[i, 3])
            if clip[i, 3] > NEAREST:
                in_front += 1
                x, y = clip[i, 0] / clip[i, 3], clip[i, 1] / clip[i, 3]
                left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
        i = triangles[t, 0]
        determinant = edge[0, 0] * clip[i, 0] + edge[0, 1] * clip[i, 1] + edge[0, 2] * clip[i, 3]
        # Behind the camera, or seen from inside, or so exactly edge-on that the sign is only rounding.
        if in_front == 0 or not determinant < -2e-15 * size:
            continue
        if in_front < 3:
            left, right, top, bottom = -np.inf, np.inf, -np.inf, np.inf
        left, right = max(left, float(window[2])), min(right, float(window[3]))
        top, bottom = max(top, float(window[0])), min(bottom, float(window[1]))
        if not (left <= right and top <= bottom):
            continue
        zx = zy = z0 = 0.0
        for k in range(3):
            z = clip[triangles[t, k], 2] / determinant
            zx += z * edge[k, 0]
            zy += z * edge[k, 1]
            z0 += z * edge[k, 2]
        for row in range(math.ceil(top - 0.5), math.floor(bottom - 0.5) + 1):
            y = row + 0.5
            low, high = left, right
            for k in range(3):  # inside is where all three edge functions have the determinant's sign
                slope = edge[k, 0]
                rest = edge[k, 1] * y + edge[k, 2]
                if slope < 0.0:
                    low = max(low, -rest / slope)
                elif slope > 0.0:
                    high = min(high, -rest / slope)
                elif rest > 0.0:
                    high = -1.0
            if not low <= high:  # also keeps what is far outside from overflowing an integer
                continue
            # A hair wider than exact: samples on a shared edge must not fall between two triangles.
            start, stop = math.ceil(low - 0.5 - 1e-7), math.floor(high - 0.5 + 1e-7)
            base = zy * y + z0 + 0.5 * zx
            for column in range(max(start, columns) - columns, min(stop + 1, window[3]) - columns):
                z = np.float32(base + zx * (column + columns))
                nearer = z > depth[row - rows, column]  # written without a branch, several samples at once
                depth[row - rows, column] = z if nearer else depth[row - rows, column]
                ids[row - rows, column] = t if nearer else ids[row - rows, column]
