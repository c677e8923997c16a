"""Curves that a jointed point slides on: cubic splines with continuous curvature, so that its force never jumps."""

import math

import numpy as np
from numpy.typing import NDArray

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, norm, scale, sub

Floats = NDArray[np.float64]

FOOT_ITERATIONS = 20  # Newton needs 2 or 3; more only at the first call, from a far start


def make_curve(points: Floats, *, closed: bool) -> Floats:
    """The spline through the points, periodic if closed, else natural: (K, 13) knots, each with its cubic coefficients.

    Knots are spaced by the square root of distance (centripetal), which keeps uneven points free of loops.
    The last row is the end point and its tangent.
    """
    p = np.concatenate([points, points[:1]]) if closed else points
    distance = np.linalg.norm(np.diff(p, axis=0), axis=1)
    h = np.sqrt(distance)
    h *= distance.sum() / h.sum()  # so that the parameter is roughly a length
    n = len(h)
    slopes = np.diff(p, axis=0) / h[:, None]
    matrix = np.zeros((n + 1, n + 1))
    right = np.zeros((n + 1, 3))
    for i in range(1, n):
        matrix[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        right[i] = 6 * (slopes[i] - slopes[i - 1])
    matrix[0, 0] = matrix[n, n] = 1.0
    if closed:  # the same curvature and the same slope where the ends meet
        matrix[0, n] = -1.0
        matrix[n] = 0.0
        matrix[n, [0, 1]] += 2 * h[0], h[0]
        matrix[n, [n - 1, n]] += h[-1], 2 * h[-1]
        right[n] = 6 * (slopes[0] - slopes[-1])
    bend = np.linalg.solve(matrix, right)
    curve = np.zeros((n + 1, 13))
    curve[1:, 0] = np.cumsum(h)
    curve[:, 1:4] = p
    curve[:n, 4:7] = slopes - h[:, None] * (2 * bend[:-1] + bend[1:]) / 6
    curve[n, 4:7] = slopes[-1] + h[-1] * (bend[-2] + 2 * bend[-1]) / 6
    curve[:n, 7:10] = bend[:-1] / 2
    curve[:n, 10:13] = np.diff(bend, axis=0) / (6 * h[:, None])
    return curve


@kernel(inline=True)
def _coefficient(curves, i, order):
    k = 1 + 3 * order
    return curves[i, k], curves[i, k + 1], curves[i, k + 2]


@kernel(inline=True)
def knot_point(curves, i):
    if curves is None:
        return 0.0, 0.0, 0.0
    return curves[i, 1], curves[i, 2], curves[i, 3]


@kernel
def curve_at(curves, first, last, t):
    """Point, first and second derivative; straight on beyond the ends, with unit speed."""
    if curves is None:
        return (t, t, t), (t, t, t), (t, t, t)
    if t <= curves[first, 0] or t >= curves[last, 0]:
        i = first if t <= curves[first, 0] else last
        tangent = _coefficient(curves, i, 1)
        beyond = t - curves[i, 0]
        if beyond != 0.0:
            tangent = scale(tangent, 1.0 / norm(tangent))
        return axpy(beyond, tangent, _coefficient(curves, i, 0)), tangent, (0.0, 0.0, 0.0)
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if curves[middle, 0] <= t:
            low = middle
        else:
            high = middle
    u = t - curves[low, 0]
    square, cube = _coefficient(curves, low, 2), _coefficient(curves, low, 3)
    slope = _coefficient(curves, low, 1)
    return (
        axpy(u, axpy(u, axpy(u, cube, square), slope), _coefficient(curves, low, 0)),
        axpy(u, axpy(3.0 * u, cube, scale(square, 2.0)), slope),
        axpy(6.0 * u, cube, scale(square, 2.0)),
    )


@kernel
def foot_on_curve(curves, first, last, closed, point, t):
    """Parameter, point and unit tangent where the curve is nearest to a point, searched from t on."""
    if curves is None:  # never called, and nothing of it compiled
        return t, point, point
    period = curves[last, 0]
    step = period
    iteration = 0
    while True:
        at, tangent, bend = curve_at(curves, first, last, t)
        if abs(step) < 1e-13 * period or iteration == FOOT_ITERATIONS:
            return t, at, scale(tangent, 1.0 / norm(tangent))
        away = sub(point, at)
        speed2 = dot(tangent, tangent)
        # Never less than half of the stiffness of a straight line: far from a bend Newton would run to a maximum.
        step = dot(away, tangent) / max(speed2 - dot(away, bend), 0.5 * speed2)
        t += step
        if closed != 0:
            t -= period * math.floor(t / period)
        iteration += 1
