"""Curves that a jointed point slides on: cubic splines with continuous curvature, so that its force never jumps."""

import math

import numpy as np
from numpy.typing import NDArray

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3_at, norm, scale, sub

Floats = NDArray[np.float64]

# Columns of a curve, a row for each piece: the parameter where it begins, then the coefficients of its cubic.
KNOT, POINT, SLOPE, SQUARE, CUBE, COLUMNS = 0, 1, 4, 7, 10, 13

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
    curve = np.zeros((n + 1, COLUMNS))
    curve[1:, KNOT] = np.cumsum(h)
    curve[:, POINT:SLOPE] = p
    curve[:n, SLOPE:SQUARE] = slopes - h[:, None] * (2 * bend[:-1] + bend[1:]) / 6
    curve[n, SLOPE:SQUARE] = slopes[-1] + h[-1] * (bend[-2] + 2 * bend[-1]) / 6
    curve[:n, SQUARE:CUBE] = bend[:-1] / 2
    curve[:n, CUBE:] = np.diff(bend, axis=0) / (6 * h[:, None])
    return curve


@kernel(inline=True)
def knot_point(curves, i):
    return get3_at(curves, i, POINT)


@kernel
def curve_at(curves, first, last, t):
    """Point, first and second derivative; straight on beyond the ends, with unit speed."""
    if t <= curves[first, KNOT] or t >= curves[last, KNOT]:
        i = first if t <= curves[first, KNOT] else last
        tangent = get3_at(curves, i, SLOPE)
        beyond = t - curves[i, KNOT]
        if beyond != 0.0:
            tangent = scale(tangent, 1.0 / norm(tangent))
        return axpy(beyond, tangent, get3_at(curves, i, POINT)), tangent, (0.0, 0.0, 0.0)
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if curves[middle, KNOT] <= t:
            low = middle
        else:
            high = middle
    u = t - curves[low, KNOT]
    square, cube = get3_at(curves, low, SQUARE), get3_at(curves, low, CUBE)
    slope = get3_at(curves, low, SLOPE)
    return (
        axpy(u, axpy(u, axpy(u, cube, square), slope), get3_at(curves, low, POINT)),
        axpy(u, axpy(3.0 * u, cube, scale(square, 2.0)), slope),
        axpy(6.0 * u, cube, scale(square, 2.0)),
    )


@kernel
def foot_on_curve(curves, first, last, closed, point, t):
    """Parameter, point and unit tangent where the curve is nearest to a point, searched from t on."""
    period = curves[last, KNOT]
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
