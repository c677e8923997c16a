"""From triangles to a picture of depths: which triangle is seen at every sample, by the camera or by the sun.

Triangles are drawn by their homogeneous edge functions (Olano and Greer 1997), so that those reaching behind the
camera, a floor for one, need no clipping.
"""

import math

import numpy as np

from impel.kernel import kernel
from impel.motion.rotations import get3


@kernel
def rasterise(vertices, triangles, shown, matrix, clip, depth, ids):
    """Keep, at every sample, the nearest front-facing triangle of those `shown`.

    `matrix` (4, 4) gives (x, y, z, w): the sample is (x/w, y/w), its depth z/w, larger is nearer. `depth` and `ids`
    come filled with what lies behind everything; `clip` (V, 4) is room to work in.
    """
    height, width = depth.shape
    for i in range(len(vertices)):
        x, y, z = get3(vertices, i)
        for k in range(4):
            clip[i, k] = matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] * z + matrix[k, 3]
    edge = np.empty((3, 3))
    for t in range(len(triangles)):
        if not shown[t]:
            continue
        left, right, top, bottom = np.inf, -np.inf, np.inf, -np.inf
        in_front = 0
        for k in range(3):
            i = triangles[t, k]
            a, b = triangles[t, (k + 1) % 3], triangles[t, (k + 2) % 3]
            edge[k, 0] = clip[a, 1] * clip[b, 3] - clip[a, 3] * clip[b, 1]
            edge[k, 1] = clip[a, 3] * clip[b, 0] - clip[a, 0] * clip[b, 3]
            edge[k, 2] = clip[a, 0] * clip[b, 1] - clip[a, 1] * clip[b, 0]
            if clip[i, 3] > 1e-6:
                in_front += 1
                x, y = clip[i, 0] / clip[i, 3], clip[i, 1] / clip[i, 3]
                left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
        i = triangles[t, 0]
        determinant = edge[0, 0] * clip[i, 0] + edge[0, 1] * clip[i, 1] + edge[0, 2] * clip[i, 3]
        if in_front == 0 or not determinant < 0.0:  # behind the camera, or seen from inside
            continue
        if in_front < 3:
            left, right, top, bottom = 0.0, float(width), 0.0, float(height)
        first_row, last_row = max(0, math.ceil(top - 0.5)), min(height - 1, math.floor(bottom - 0.5))
        left, right = max(left, 0.0), min(right, float(width))
        if first_row > last_row or not left <= right:
            continue
        zx = zy = z0 = 0.0
        for k in range(3):
            z = clip[triangles[t, k], 2] / determinant
            zx += z * edge[k, 0]
            zy += z * edge[k, 1]
            z0 += z * edge[k, 2]
        for row in range(first_row, last_row + 1):
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
            # A hair wider than exact: samples on a shared edge must not fall between two triangles.
            start, stop = math.ceil(low - 0.5 - 1e-7), math.floor(high - 0.5 + 1e-7)
            base = zy * y + z0 + 0.5 * zx
            for column in range(max(start, 0), min(stop, width - 1) + 1):
                z = np.float32(base + zx * column)
                if z > depth[row, column]:
                    depth[row, column] = z
                    ids[row, column] = t
