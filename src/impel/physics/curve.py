"""Curves that a jointed point slides on: cubic splines with continuous curvature, so that its force never jumps."""

import math

import numpy as np
from numpy.typing import NDArray

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, norm, scale, sub

Floats = NDArray[np.float64]

FOOT_ITERATIONS = 20  # Newton needs 2 or 3; more only at the first call, from a far start


def make_spline(points: "list[Floats]", *, closed: bool) -> tuple[Floats, Floats]:
    """Knots and cubic coefficients (K, 4, 3) of the spline through the points: periodic if closed, else natural.

    Knots are spaced by the square root of distance (centripetal), which keeps uneven points free of loops.
    The last entry of the coefficients is the end point and its tangent.
    """
    p = np.array([*points, points[0]] if closed else points, float)
    h = np.sqrt(np.linalg.norm(np.diff(p, axis=0), axis=1))
    h *= np.linalg.norm(np.diff(p, axis=0), axis=1).sum() / h.sum()  # so that the parameter is roughly a length
    n = len(h)
    slopes = np.diff(p, axis=0) / h[:, None]
    matrix = np.zeros((n + 1, n + 1))
    right = np.zeros((n + 1, 3))
    for i in range(1, n):
        matrix[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        right[i] = 6 * (slopes[i] - slopes[i - 1])
    matrix[0, 0] = matrix[n, n] = 1.0
    if closed:
        matrix[0, n] = -1.0  # the same curvature, and the same slope, where the ends meet
        matrix[n] = 0.0
        matrix[n, [0, n - 1]] += 2 * h[0], h[n - 1]
        matrix[n, [1, n]] += h[0], 2 * h[n - 1]
        right[n] = 6 * (slopes[0] - slopes[n - 1])
    m = np.linalg.solve(matrix, right)
    pieces = np.zeros((n + 1, 4, 3))
    pieces[:n, 0] = p[:-1]
    pieces[:n, 1] = slopes - h[:, None] * (2 * m[:-1] + m[1:]) / 6
    pieces[:n, 2] = m[:-1] / 2
    pieces[:n, 3] = np.diff(m, axis=0) / (6 * h[:, None])
    pieces[n, 0] = p[-1]
    pieces[n, 1] = slopes[-1] + h[-1] * (m[-2] + 2 * m[-1]) / 6
    return np.concatenate([[0.0], np.cumsum(h)]), pieces


@kernel(inline=True)
def _vector(pieces, i, order):
    return pieces[i, order, 0], pieces[i, order, 1], pieces[i, order, 2]


@kernel
def curve_at(knots, pieces, first, last, t):
    """Point, first and second derivative; straight on beyond the ends, with unit speed."""
    if t <= knots[first] or t >= knots[last]:
        i = first if t <= knots[first] else last
        tangent = _vector(pieces, i, 1)
        if t != knots[i]:
            tangent = scale(tangent, 1.0 / norm(tangent))
        return axpy(t - knots[i], tangent, _vector(pieces, i, 0)), tangent, (0.0, 0.0, 0.0)
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= t:
            low = middle
        else:
            high = middle
    u = t - knots[low]
    c0, c1, c2, c3 = _vector(pieces, low, 0), _vector(pieces, low, 1), _vector(pieces, low, 2), _vector(pieces, low, 3)
    return (
        axpy(u, axpy(u, axpy(u, c3, c2), c1), c0),
        axpy(u, axpy(3.0 * u, c3, scale(c2, 2.0)), c1),
        axpy(6.0 * u, c3, scale(c2, 2.0)),
    )


@kernel
def foot_on_curve(knots, pieces, first, last, closed, point, t):
    """Parameter, point and unit tangent where the curve is nearest to a point, searched from t on."""
    period = knots[last] - knots[first]
    for _ in range(FOOT_ITERATIONS):
        at, tangent, bend = curve_at(knots, pieces, first, last, t)
        away = sub(point, at)
        speed2 = dot(tangent, tangent)
        # Never less than half of the stiffness of a straight line: far from a bend Newton would run to a maximum.
        step = dot(away, tangent) / max(speed2 - dot(away, bend), 0.5 * speed2)
        t += step
        if closed:
            t -= period * math.floor((t - knots[first]) / period)
        if abs(step) < 1e-13 * period:
            break
    at, tangent, bend = curve_at(knots, pieces, first, last, t)
    return t, at, scale(tangent, 1.0 / norm(tangent))
