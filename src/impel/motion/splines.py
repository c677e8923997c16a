"""Smooth curves through keys, one row of coefficients per segment, for positions and for orientations.

Both are centripetal Catmull-Rom curves: the parameter between two keys grows with the square root of their
distance (or angle), so that uneven keys make neither loops nor cusps. A place on a curve is (segment, u) with
u in [0, 1].

Positions are cubics. Orientations are products of three turns, in the cumulative Bézier form of Kim, Kim and
Shin (1995): q(u) = q0 · exp(β1·ω1) · exp(β2·ω2) · exp(β3·ω3). The rates of the three β are the quadratic Bernstein
polynomials, so the angular velocity is bounded by 3·max|ω| just as a cubic's velocity is by its control polygon.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    dot,
    exponential,
    get3,
    get4,
    logarithm,
    multiply,
    norm,
    normalize,
    rotate,
    scale,
    set4,
    sub,
)

# Columns of a segment. The first 16 are a, b, c, d of a cubic; or q0 and three times (unit axis, half angle).
FASTEST = 16  # no smaller than |C'| anywhere on the segment
SHARPEST = 17  # no smaller than |C''|
COLUMNS = 18

# From this closeness to half a turn on (w of the quaternion), both ways round count as equally short.
HALF_TURN = 1e-6
STILL = 1e-12  # rad: where a curve turns back or rests, what is left of its velocity is rounding


@kernel
def align_signs(keys):
    """Give orientation keys the sign that makes each turn the shorter one; half turns go on the way they came."""
    came = (0.0, 0.0, 0.0)
    q = normalize(get4(keys, 0))
    set4(keys, 0, q)
    for i in range(1, len(keys)):
        following = normalize(get4(keys, i))
        turn = multiply(conjugate(q), following)
        way = (turn[1], turn[2], turn[3])
        if turn[0] < -HALF_TURN or (turn[0] <= HALF_TURN and dot(way, came) < 0.0):
            following = (-following[0], -following[1], -following[2], -following[3])
            way = scale(way, -1.0)
        if dot(way, way) > 0.0:
            came = way
        q = following
        set4(keys, i, q)


@kernel
def chord(keys, i, j, turns):
    """The straight way from key i to key j: a displacement, or a rotation vector in the frame of either key."""
    if not turns:
        return sub(get3(keys, j), get3(keys, i))
    r = multiply(conjugate(get4(keys, i)), get4(keys, j))
    if r[0] < 0.0 and (r[0] < -HALF_TURN or j < i):  # j < i: a loop closes, where signs may disagree
        r = (-r[0], -r[1], -r[2], -r[3])
    way = (r[1], r[2], r[3])
    sine = norm(way)
    if sine < 1e-12:
        return scale(way, 2.0)
    return scale(way, 2.0 * math.atan2(sine, r[0]) / sine)


@kernel(inline=True)
def tangent(before, after, span):
    """The curve's velocity at a key, times `span`, from the chords on both sides."""
    h0 = math.sqrt(norm(before))
    h1 = math.sqrt(norm(after))
    if h0 == 0.0 or h1 == 0.0:  # the limit of keys that draw together: the curve stops there
        return 0.0, 0.0, 0.0
    s = span / (h0 + h1)
    return add(scale(before, s * h1 / h0), scale(after, s * h0 / h1))


@kernel
def fit_positions(row, start, whole, t0, t1):
    """Fill the cubic from `start`, over the chord `whole`, with the end velocities t0 and t1."""
    c = sub(scale(whole, 3.0), axpy(2.0, t0, t1))
    d = sub(add(t0, t1), scale(whole, 2.0))
    for k in range(3):
        row[k] = start[k]
        row[3 + k] = t0[k]
        row[6 + k] = c[k]
        row[9 + k] = d[k]
    middle = sub(scale(whole, 3.0), add(t0, t1))
    row[FASTEST] = max(norm(t0), norm(middle), norm(t1))
    row[SHARPEST] = 2.0 * max(norm(sub(middle, t0)), norm(sub(t1, middle)))


@kernel
def fit_orientations(row, start, whole, t0, t1):
    """Fill the three turns from `start`, over the rotation `whole`."""
    w1 = scale(t0, 1.0 / 3.0)
    w3 = scale(t1, 1.0 / 3.0)
    guess = sub(whole, add(w1, w3))
    w2 = logarithm(multiply(multiply(conjugate(exponential(w1)), exponential(whole)), conjugate(exponential(w3))))
    angle = norm(w2)
    if angle > 0.0:  # of the two ways round, the one that continues the other two turns
        other = scale(w2, 1.0 - 2.0 * math.pi / angle)
        if norm(sub(other, guess)) < norm(sub(w2, guess)):
            w2 = other
    for k in range(4):
        row[k] = start[k]
    turns = (w1, w2, w3)
    for n in range(3):
        w = turns[n]
        angle = norm(w)
        for k in range(3):
            row[4 + 4 * n + k] = w[k] / angle if angle > STILL else 0.0
        row[7 + 4 * n] = 0.5 * angle if angle > STILL else 0.0
    row[FASTEST] = 3.0 * max(norm(w1), norm(w2), norm(w3))
    # dω/du: the differences of the Bernstein form, and the turning of each ω by the turns before it.
    # 1.9 and 0.5625 bound the products of the rates of β.
    swerve = 1.9 * (norm(cross(w1, w2)) + norm(cross(w2, w3)))
    swerve += 0.5625 * (norm(cross(w1, w3)) + norm(w1) * norm(cross(w2, w3)))
    row[SHARPEST] = 6.0 * max(norm(sub(w2, w1)), norm(sub(w3, w2))) + swerve


@kernel(inline=True)
def position_at(row, u):
    """Point and derivative by u."""
    return (
        (
            row[0] + u * (row[3] + u * (row[6] + u * row[9])),
            row[1] + u * (row[4] + u * (row[7] + u * row[10])),
            row[2] + u * (row[5] + u * (row[8] + u * row[11])),
        ),
        (
            row[3] + u * (2.0 * row[6] + u * 3.0 * row[9]),
            row[4] + u * (2.0 * row[7] + u * 3.0 * row[10]),
            row[5] + u * (2.0 * row[8] + u * 3.0 * row[11]),
        ),
    )


@kernel(inline=True)
def _axis_and_turn(row, first, beta):
    """One of the three turns of an orientation segment; `first` is the column of its axis."""
    axis = (row[first], row[first + 1], row[first + 2])
    half = row[first + 3] * beta
    s = math.sin(half)
    return axis, (math.cos(half), s * axis[0], s * axis[1], s * axis[2])


@kernel
def orientation_at(row, u):
    """Orientation and angular velocity by u, in the world's frame."""
    v = 1.0 - u
    if row[7] == 0.0 and row[15] == 0.0:  # at rest at both ends: of the three turns one is left
        axis, turn = _axis_and_turn(row, 8, u * u * (3.0 - 2.0 * u))
        q = multiply((row[0], row[1], row[2], row[3]), turn)
        return q, scale(rotate(q, axis), 12.0 * row[11] * u * v)
    a1, e1 = _axis_and_turn(row, 4, 1.0 - v * v * v)
    a2, e2 = _axis_and_turn(row, 8, u * u * (3.0 - 2.0 * u))
    a3, e3 = _axis_and_turn(row, 12, u * u * u)
    q1 = multiply((row[0], row[1], row[2], row[3]), e1)
    q2 = multiply(q1, e2)
    spin = scale(rotate(q1, a1), 6.0 * row[7] * v * v)
    spin = axpy(12.0 * row[11] * u * v, rotate(q2, a2), spin)
    return multiply(q2, e3), axpy(6.0 * row[15] * u * u, rotate(q2, a3), spin)


@kernel
def pose_at(row, u, turns):
    """The place on a segment, (x, y, z, 0) or a quaternion, and its velocity by u."""
    if turns:
        return orientation_at(row, u)
    x, velocity = position_at(row, u)
    return (x[0], x[1], x[2], 0.0), velocity
