"""Factors of symmetric matrices of 3x3 tiles that keep only the tiles between the first one of a row and the diagonal.

Row r of `envelope` says in which column that row of tiles begins (FIRST), and where its column 0 would be (ZERO) in
`tiles`, which holds three rows of numbers a tile. Factors stay inside this envelope, so the pattern is laid out once
and for all. They are lower triangles with ones on the diagonal, and the reciprocals of the pivots in the place of these
ones: no root is taken, and what is summed up stays in registers, nine numbers at a time.
"""

from impel.kernel import kernel
from impel.motion.rotations import axpy, get3, scale, set3, sub, transform

FIRST, ZERO = 0, 1  # columns of `envelope`
REDUNDANT = 1e-11  # pivot over diagonal entry below which a row says nothing new, as some joints of closed loops do


@kernel
def factor(tiles, envelope, begin, end, damping):
    """Turn rows begin to end of tiles, a block of their own, into their factor.

    Diagonals are increased by this share. The reciprocal of a redundant row becomes zero, so that solutions have a
    zero there. (Increasing all diagonals a little would do as well for one solve, but leaves large loads that cancel,
    and these do not stay in balance when the bodies have turned.)
    """
    for r in range(begin, end):
        first, row = envelope[r, FIRST], envelope[r, ZERO]
        for c in range(first, r):
            column = envelope[c, ZERO]
            s = get_tile(tiles, row + c)
            for k in range(max(first, envelope[c, FIRST]), c):
                s = plus(s, -1.0, product(get_tile(tiles, row + k), get_tile(tiles, column + k)))
            set_tile(tiles, row + c, _unmixed(s, get_tile(tiles, column + c)))
        diagonal = get_tile(tiles, row + r)
        rest = diagonal
        for c in range(first, r):
            (p0, _, _), (_, p1, _), (_, _, p2) = get_tile(tiles, envelope[c, ZERO] + c)
            s = get_tile(tiles, row + c)
            lower = scaled(s, (1.0, 1.0, 1.0), (p0, p1, p2))
            rest = plus(rest, -1.0, product(s, lower))
            set_tile(tiles, row + c, lower)
        set_tile(tiles, row + r, _factored(rest, diagonal, damping))


@kernel
def solve(tiles, envelope, begin, end, x):
    """Replace x, three numbers for each row of tiles, by the solution, given the factor."""
    for r in range(begin, end):
        row = envelope[r, ZERO]
        v = three(x, r)
        for c in range(envelope[r, FIRST], r):
            v = sub(v, transform(get_tile(tiles, row + c), three(x, c)))
        _, (l10, _, _), (l20, l21, _) = get_tile(tiles, row + r)
        second = v[1] - l10 * v[0]
        set_three(x, r, (v[0], second, v[2] - l20 * v[0] - l21 * second))
    for r in range(begin, end):
        (p0, _, _), (_, p1, _), (_, _, p2) = get_tile(tiles, envelope[r, ZERO] + r)
        v = three(x, r)
        set_three(x, r, (v[0] * p0, v[1] * p1, v[2] * p2))
    for r in range(end - 1, begin - 1, -1):
        row = envelope[r, ZERO]
        _, (l10, _, _), (l20, l21, _) = get_tile(tiles, row + r)
        v = three(x, r)
        second = v[1] - l21 * v[2]
        v = (v[0] - l10 * second - l20 * v[2], second, v[2])
        set_three(x, r, v)
        for c in range(envelope[r, FIRST], r):
            a, b, d = get_tile(tiles, row + c)
            set_three(x, c, axpy(-v[0], a, axpy(-v[1], b, axpy(-v[2], d, three(x, c)))))


@kernel
def solve_many(tiles, envelope, begin, end, x, count):
    """The same for the first `count` columns of x, along which all goes at once."""
    for r in range(begin, end):
        row = envelope[r, ZERO]
        for c in range(envelope[r, FIRST], r):
            for k in range(3):
                _less(x, 3 * r + k, get3(tiles, 3 * (row + c) + k), 3 * c, count)
        _, (l10, _, _), (l20, l21, _) = get_tile(tiles, row + r)
        for j in range(count):
            second = x[3 * r + 1, j] - l10 * x[3 * r, j]
            x[3 * r + 1, j] = second
            x[3 * r + 2, j] -= l20 * x[3 * r, j] + l21 * second
    for r in range(3 * begin, 3 * end):
        pivot = tiles[3 * (envelope[r // 3, ZERO] + r // 3) + r % 3, r % 3]
        for j in range(count):
            x[r, j] *= pivot
    for r in range(end - 1, begin - 1, -1):
        row = envelope[r, ZERO]
        _, (l10, _, _), (l20, l21, _) = get_tile(tiles, row + r)
        for j in range(count):
            second = x[3 * r + 1, j] - l21 * x[3 * r + 2, j]
            x[3 * r + 1, j] = second
            x[3 * r, j] -= l10 * second + l20 * x[3 * r + 2, j]
        for c in range(envelope[r, FIRST], r):
            a, b, d = get_tile(tiles, row + c)
            _less(x, 3 * c, (a[0], b[0], d[0]), 3 * r, count)
            _less(x, 3 * c + 1, (a[1], b[1], d[1]), 3 * r, count)
            _less(x, 3 * c + 2, (a[2], b[2], d[2]), 3 * r, count)


@kernel
def _less(x, row, shares, others, count):
    """Take shares of three rows off another one."""
    for j in range(count):
        x[row, j] -= shares[0] * x[others, j] + shares[1] * x[others + 1, j] + shares[2] * x[others + 2, j]


@kernel(inline=True)
def get_tile(tiles, i):
    return get3(tiles, 3 * i), get3(tiles, 3 * i + 1), get3(tiles, 3 * i + 2)


@kernel(inline=True)
def set_tile(tiles, i, tile):
    set3(tiles, 3 * i, tile[0])
    set3(tiles, 3 * i + 1, tile[1])
    set3(tiles, 3 * i + 2, tile[2])


@kernel(inline=True)
def three(x, i):
    return x[3 * i], x[3 * i + 1], x[3 * i + 2]


@kernel(inline=True)
def set_three(x, i, v):
    x[3 * i], x[3 * i + 1], x[3 * i + 2] = v


@kernel(inline=True)
def product(a, b):
    """a·bᵀ"""
    return transform(b, a[0]), transform(b, a[1]), transform(b, a[2])


@kernel(inline=True)
def plus(a, factor, b):
    return axpy(factor, b[0], a[0]), axpy(factor, b[1], a[1]), axpy(factor, b[2], a[2])


@kernel(inline=True)
def plus_diagonal(a, d):
    return (a[0][0] + d[0], a[0][1], a[0][2]), (a[1][0], a[1][1] + d[1], a[1][2]), (a[2][0], a[2][1], a[2][2] + d[2])


@kernel(inline=True)
def scaled(a, rows, columns):
    """A tile with its rows and its columns scaled."""
    u, v, w = _times(a[0], columns), _times(a[1], columns), _times(a[2], columns)
    return scale(u, rows[0]), scale(v, rows[1]), scale(w, rows[2])


@kernel(inline=True)
def _times(a, b):
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@kernel(inline=True)
def _unmixed(s, pivot):
    """s·l⁻ᵀ, where l is the triangle of a factored tile."""
    _, (l10, _, _), (l20, l21, _) = pivot
    a, b, c = s
    a1, b1, c1 = a[1] - a[0] * l10, b[1] - b[0] * l10, c[1] - c[0] * l10
    return (
        (a[0], a1, a[2] - a[0] * l20 - a1 * l21),
        (b[0], b1, b[2] - b[0] * l20 - b1 * l21),
        (c[0], c1, c[2] - c[0] * l20 - c1 * l21),
    )


@kernel(inline=True)
def _factored(rest, diagonal, damping):
    """A tile of the diagonal, once everything before it is taken away."""
    (r00, _, _), (r10, r11, _), (r20, r21, r22) = rest
    p0 = _reciprocal(r00, diagonal[0][0], damping)
    l10, l20 = r10 * p0, r20 * p0
    p1 = _reciprocal(r11 - r10 * l10, diagonal[1][1], damping)
    mixed = r21 - r20 * l10
    l21 = mixed * p1
    p2 = _reciprocal(r22 - r20 * l20 - mixed * l21, diagonal[2][2], damping)
    return (p0, 0.0, 0.0), (l10, p1, 0.0), (l20, l21, p2)


@kernel(inline=True)
def _reciprocal(pivot, diagonal, damping):
    pivot += damping * diagonal
    return 1.0 / pivot if pivot > REDUNDANT * diagonal else 0.0
