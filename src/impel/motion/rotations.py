"""Vectors as (x, y, z) and quaternions as (w, x, y, z), plain tuples inside kernels: no allocation, no copies."""

import math

from impel.kernel import kernel


@kernel(inline=True)
def get3(array, i):
    return array[i, 0], array[i, 1], array[i, 2]


@kernel(inline=True)
def get4(array, i):
    return array[i, 0], array[i, 1], array[i, 2], array[i, 3]


@kernel(inline=True)
def set3(array, i, v):
    array[i, 0], array[i, 1], array[i, 2] = v


@kernel(inline=True)
def set4(array, i, q):
    array[i, 0], array[i, 1], array[i, 2], array[i, 3] = q


@kernel(inline=True)
def get3_at(array, i, column):
    """A vector among other columns of a row."""
    return array[i, column], array[i, column + 1], array[i, column + 2]


@kernel(inline=True)
def get4_at(array, i, column):
    return array[i, column], array[i, column + 1], array[i, column + 2], array[i, column + 3]


@kernel(inline=True)
def set3_at(array, i, column, v):
    array[i, column], array[i, column + 1], array[i, column + 2] = v


@kernel(inline=True)
def set4_at(array, i, column, q):
    array[i, column], array[i, column + 1], array[i, column + 2], array[i, column + 3] = q


@kernel(inline=True)
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel(inline=True)
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel(inline=True)
def scale(a, s):
    return a[0] * s, a[1] * s, a[2] * s


@kernel(inline=True)
def axpy(s, a, b):
    """s·a + b."""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@kernel(inline=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel(inline=True)
def transform(rows, v):
    """A matrix, given by its rows, times a vector."""
    return dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)


@kernel(inline=True)
def norm(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel(inline=True)
def multiply(p, q):
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel(inline=True)
def conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


@kernel(inline=True)
def normalize(q):
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] * s, q[1] * s, q[2] * s, q[3] * s


@kernel(inline=True)
def renormalize(q):
    """Take out the rounding errors of a unit quaternion: a step of Newton's method, cheaper than a root."""
    s = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] * s, q[1] * s, q[2] * s, q[3] * s


@kernel(inline=True)
def rotate(q, v):
    """From the body's frame to the world's."""
    tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
    ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
    tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
    return (
        v[0] + q[0] * tx + q[2] * tz - q[3] * ty,
        v[1] + q[0] * ty + q[3] * tx - q[1] * tz,
        v[2] + q[0] * tz + q[1] * ty - q[2] * tx,
    )


@kernel(inline=True)
def unrotate(q, v):
    """From the world's frame to the body's."""
    return rotate(conjugate(q), v)


@kernel(inline=True)
def half_turn(angle2):
    """The cosine of half an angle, and its sine over the angle, from the angle's square."""
    if angle2 < 0.04:  # as in nearly all steps: series, whose next terms are below 1e-16
        x = 0.25 * angle2
        c = 1.0 - x * (1.0 / 2.0 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x / 40320.0)))
        s = 0.5 - x * (1.0 / 12.0 - x * (1.0 / 240.0 - x * (1.0 / 10080.0 - x / 725760.0)))
    else:
        angle = math.sqrt(angle2)
        c = math.cos(0.5 * angle)
        s = math.sin(0.5 * angle) / angle
    return c, s


@kernel(inline=True)
def exponential(w):
    """The rotation by |w| radians about w."""
    c, s = half_turn(dot(w, w))
    return c, s * w[0], s * w[1], s * w[2]


@kernel(inline=True)
def logarithm(q):
    """The rotation vector of q along the shorter way; |result| ≤ π."""
    sign = 1.0 if q[0] >= 0.0 else -1.0
    sine = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if sine < 1e-12:
        s = 2.0 * sign
    else:
        s = 2.0 * math.atan2(sine, abs(q[0])) / sine * sign
    return s * q[1], s * q[2], s * q[3]


@kernel(inline=True)
def angle_between(p, q):
    """How far apart two orientations are, in [0, π]."""
    r = multiply(p, conjugate(q))
    return 2.0 * math.atan2(math.sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]), abs(r[0]))
