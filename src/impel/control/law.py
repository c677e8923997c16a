"""The law of actuators where the structure is only known by how it answers (see actuators.py).

`answer[i, j]` is the acceleration at i by a force at j. All is made comparable first: forces and torques by what each
actuator has to move (its nominal inertia μ), so that 1 is what it is made for, far more what is easy, and nothing what
is blocked. Then N·v = Wᵀ(WWᵀ + λ²)⁻¹·v, refined many times: the inverse to rounding for whatever is not blocked, and
never more than about 1/λ of what the actuator is made for. N is a function of W alone, so that W·N has no eigenvalue
outside [0, 1]: no wish is ever answered with more than was asked for, which is why contradicting wishes do not blow up.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3_at, norm, scale, set3_at, transform

TINY = 1e-300
NOTHING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

# λ: what takes 5 times the force that would accelerate the whole structure is not worth pulling at. At full stretch an
# arm's tip would need ever larger forces to go farther, and none of them would help.
BLOCKED = 0.2
# Times the mass of its structure, or its inertia about itself: what an actuator feels at a lever at most. Which levers
# are worth pulling at its own easiest direction tells: a scissor lift of six stages feels like 120 times its mass. What
# has to go √(LEVERS/λ) = 70 times as fast as what drives it is as good as at a dead centre, where no force is enough.
LEVERS = 1000.0
REDUNDANT = 1e-9  # of its diagonal entry: a smaller pivot is rounding (what holds yields by more, see settling.py)
REFINED = 16  # times; the error is (λ²/(w² + λ²))¹⁶, 3e-7 where four actuators together move the whole structure
PRESSING = 0.01  # of the easiest direction: as much counts a force that presses what is in the way
NEARER, ROUNDING = 40, 1e-12  # steps to μ, of which 4 to 8 are usual, and how near it is enough


@kernel
def factor_dense(matrix, n):
    """Turn a symmetric matrix without negative eigenvalues, of which only the upper half is read, into its Cholesky
    factor: there, and mirrored in the lower half, so that whatever uses it goes along rows.

    On the diagonal stand the inverses of its entries, so that solving need not divide; and zeros for rows that say
    nothing new, where solutions then are zero.
    """
    factor_rows(matrix, 0, n, n)


@kernel
def factor_rows(matrix, begin, end, n):
    """Do so for some rows of n, if those before are done."""
    for i in range(begin, end):
        diagonal = matrix[i, i]
        for k in range(0, i - 3, 4):  # four at a time: what is summed up is read and written less often
            a, b, c, d = matrix[i, k], matrix[i, k + 1], matrix[i, k + 2], matrix[i, k + 3]
            for j in range(i, n):
                less = a * matrix[k, j] + b * matrix[k + 1, j] + c * matrix[k + 2, j] + d * matrix[k + 3, j]
                matrix[i, j] -= less
        for k in range(i - i % 4, i):
            factor = matrix[i, k]
            for j in range(i, n):
                matrix[i, j] -= factor * matrix[k, j]
        share = 1.0 / math.sqrt(matrix[i, i]) if matrix[i, i] > REDUNDANT * diagonal else 0.0
        matrix[i, i] = share
        for j in range(i + 1, n):
            matrix[i, j] *= share
        for j in range(i + 1, n):
            matrix[j, i] = matrix[i, j]


@kernel
def solve_dense(factor, n, x):
    """Replace x by the solution, given the factor."""
    solve_half(factor, 0, n, x)
    i = n - 1
    while i >= 3:
        a = x[i] * factor[i, i]
        b = (x[i - 1] - a * factor[i, i - 1]) * factor[i - 1, i - 1]
        c = (x[i - 2] - a * factor[i, i - 2] - b * factor[i - 1, i - 2]) * factor[i - 2, i - 2]
        less = a * factor[i, i - 3] + b * factor[i - 1, i - 3] + c * factor[i - 2, i - 3]
        d = (x[i - 3] - less) * factor[i - 3, i - 3]
        x[i], x[i - 1], x[i - 2], x[i - 3] = a, b, c, d
        for k in range(i - 3):
            x[k] -= a * factor[i, k] + b * factor[i - 1, k] + c * factor[i - 2, k] + d * factor[i - 3, k]
        i -= 4
    while i >= 0:
        x[i] = x[i] * factor[i, i]
        for k in range(i):
            x[k] -= x[i] * factor[i, k]
        i -= 1


@kernel
def solve_half(factor, first, n, x):
    """Halfway: x by the inverse of the lower factor, where x is zero before `first`. Four at a time, as above."""
    i = first
    while i + 3 < n:
        a = x[i] * factor[i, i]
        b = (x[i + 1] - a * factor[i, i + 1]) * factor[i + 1, i + 1]
        c = (x[i + 2] - a * factor[i, i + 2] - b * factor[i + 1, i + 2]) * factor[i + 2, i + 2]
        less = a * factor[i, i + 3] + b * factor[i + 1, i + 3] + c * factor[i + 2, i + 3]
        d = (x[i + 3] - less) * factor[i + 3, i + 3]
        x[i], x[i + 1], x[i + 2], x[i + 3] = a, b, c, d
        for k in range(i + 4, n):
            x[k] -= a * factor[i, k] + b * factor[i + 1, k] + c * factor[i + 2, k] + d * factor[i + 3, k]
        i += 4
    while i < n:
        x[i] = x[i] * factor[i, i]
        for k in range(i + 1, n):
            x[k] -= x[i] * factor[i, k]
        i += 1


@kernel
def felt_inertia(ease, whole):
    """By what to measure the forces of an actuator that moves its body with such ease, summed over all directions:
    by its structure's inertia, or, where a lever leaves less than λ of the ease of that, by the lever's."""
    return whole if ease * whole >= BLOCKED else min(BLOCKED / max(ease, TINY), LEVERS * whole)


@kernel
def invert(answer, n, forces, spare, swap):
    """Write N to `forces`; `spare` and `swap` are scratch. Products go by tiles, as actuators have three directions."""
    for i in range(n // 3):
        for j in range(i, n // 3):
            tile = NOTHING
            for k in range(n // 3):
                tile = _add_product(tile, _tile(answer, i, k), _transposed(_tile(answer, j, k)))
            _set_tile(spare, i, j, _add_diagonal(tile, BLOCKED * BLOCKED) if i == j else tile)
    factor_dense(spare, n)
    for j in range(n):
        for i in range(n):
            forces[j, i] = answer[i, j]
        solve_dense(spare, n, forces[j])
    lack_of(forces, answer, n, spare)
    count = 1
    while count < REFINED:  # each time twice as many: (1 + E)(1 + E²)(1 + E⁴)·N₀
        multiply_dense(spare, forces, n, swap)
        for i in range(n):
            for j in range(n):
                forces[i, j] += swap[i, j]
        count *= 2
        if count < REFINED:
            multiply_dense(spare, spare, n, swap)
            for i in range(n):
                for j in range(n):
                    spare[i, j] = swap[i, j]


@kernel(inline=True)
def _tile(matrix, i, j):
    return get3_at(matrix, 3 * i, 3 * j), get3_at(matrix, 3 * i + 1, 3 * j), get3_at(matrix, 3 * i + 2, 3 * j)


@kernel(inline=True)
def _set_tile(matrix, i, j, tile):
    set3_at(matrix, 3 * i, 3 * j, tile[0])
    set3_at(matrix, 3 * i + 1, 3 * j, tile[1])
    set3_at(matrix, 3 * i + 2, 3 * j, tile[2])


@kernel(inline=True)
def _transposed(a):
    return (a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2])


@kernel(inline=True)
def _add_diagonal(a, d):
    return (a[0][0] + d, a[0][1], a[0][2]), (a[1][0], a[1][1] + d, a[1][2]), (a[2][0], a[2][1], a[2][2] + d)


@kernel(inline=True)
def _add_product(s, a, b):
    """s + a·b"""
    return _add_row(s[0], a[0], b), _add_row(s[1], a[1], b), _add_row(s[2], a[2], b)


@kernel(inline=True)
def _add_row(s, a, b):
    return axpy(a[2], b[2], axpy(a[1], b[1], axpy(a[0], b[0], s)))


@kernel
def lack_of(forces, answer, n, lack):
    """1 - N·W: of forces, what moves nothing."""
    multiply_dense(forces, answer, n, lack)
    for i in range(n):
        for j in range(n):
            lack[i, j] = (1.0 if i == j else 0.0) - lack[i, j]


@kernel
def forces_for(answer, forces, n, rest, force):
    """Leave in `force` what gives the accelerations in `rest`, and there those that cannot be had; `forces` is N."""
    accelerations_by(forces, n, rest, force)
    for i in range(n):
        for j in range(n):
            rest[i] -= answer[i, j] * force[j]


@kernel
def within(answer, k, force, most):
    """Of the forces of actuator k that are not larger than `most`, the one that accelerates most nearly as `force`.

    Where it is stronger in one direction than in another, the hopeless ones go first: cut to length as it is, a force
    would spend itself where it achieves nothing. What is left of (AᵀA + μ)⁻¹AᵀA·f has the length that is asked for.
    """
    size2 = dot(force, force)
    if size2 <= most * most:
        return force
    xx, yy, zz, xy, xz, yz = _squared(answer, k)
    largest = xx + yy + zz
    if largest == 0.0 or most == 0.0:
        return scale(force, most / math.sqrt(size2))
    little = PRESSING * PRESSING * largest
    xx, yy, zz = xx + little, yy + little, zz + little
    x, y, z = force
    goal = (xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)
    more, found = 0.0, force
    for _ in range(NEARER):  # the inverse of its length grows ever more slowly with μ: so Newton never goes too far
        length = norm(found)
        if length <= (1.0 + ROUNDING) * most:
            break
        steep = dot(found, _solve3(xx + more, yy + more, zz + more, xy, xz, yz, found))
        more += length * length / steep * (length / most - 1.0)
        found = _solve3(xx + more, yy + more, zz + more, xy, xz, yz, goal)
    return limit_size(found, most)


@kernel
def force_towards(answer, k, acceleration):
    """What actuator k alone pulls with for an acceleration of its own; it is worth as much as in N."""
    xx, yy, zz, xy, xz, yz = _squared(answer, k)
    more, pulled = BLOCKED * BLOCKED, transform(_transposed(_tile(answer, k, k)), acceleration)
    return _solve3(xx + more, yy + more, zz + more, xy, xz, yz, pulled)


@kernel(inline=True)
def _squared(answer, k):
    """AᵀA of how actuator k answers itself: xx, yy, zz, xy, xz, yz."""
    x, y, z = _transposed(_tile(answer, k, k))
    return dot(x, x), dot(y, y), dot(z, z), dot(x, y), dot(x, z), dot(y, z)


@kernel(inline=True)
def _solve3(xx, yy, zz, xy, xz, yz, v):
    """By a symmetric matrix."""
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    share = 1.0 / (xx * a + xy * b + xz * c)
    return (
        share * (a * v[0] + b * v[1] + c * v[2]),
        share * (b * v[0] + d * v[1] + e * v[2]),
        share * (c * v[0] + e * v[1] + f * v[2]),
    )


@kernel(inline=True)
def limit_size(v, most):
    size2 = dot(v, v)
    if size2 <= most * most:
        return v
    return scale(v, most / math.sqrt(size2))


@kernel
def accelerations_by(answer, n, force, acceleration):
    """What forces do; or, by N, what forces accelerations take."""
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += answer[i, j] * force[j]
        acceleration[i] = s


@kernel
def multiply_dense(a, b, n, product):
    """By tiles of three: that saves short loops."""
    for i in range(n // 3):
        for j in range(n // 3):
            tile = NOTHING
            for k in range(n // 3):
                tile = _add_product(tile, _tile(a, i, k), _tile(b, k, j))
            _set_tile(product, i, j, tile)
