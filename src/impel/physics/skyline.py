"""Factors of symmetric matrices of 3x3 tiles that keep only the tiles between the first one of a row and the diagonal.

Row r of `envelope` says in which column that row of tiles begins (FIRST), and where its column 0 would be (ZERO) in
`tiles`, which holds nine numbers a tile. Factors stay inside this envelope, so the pattern is laid out
once and for all. They are lower triangles of tiles, with ones on the diagonal and the inverses of the pivots, which are
tiles too, in their place.
"""

from impel.kernel import kernel
from impel.motion.rotations import axpy, scale, transform

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
            begins = max(first, envelope[c, FIRST])
            if begins < c:
                s = get_tile(tiles, row + c)
                for k in range(begins, c):
                    s = _less(s, get_tile(tiles, row + k), get_tile(tiles, column + k))
                set_tile(tiles, row + c, s)
        diagonal = get_tile(tiles, row + r)
        rest = diagonal
        for c in range(first, r):
            s = get_tile(tiles, row + c)
            lower = product(s, get_tile(tiles, envelope[c, ZERO] + c))
            rest = _less(rest, s, lower)
            set_tile(tiles, row + c, lower)
        set_tile(tiles, row + r, _inverse(rest, diagonal, damping))


@kernel
def solve(tiles, envelope, begin, end, x):
    """Replace x, three numbers for each row of tiles, by the solution, given the factor.

    In a chain each row waits for the one before: that is at hand, and not only in x.
    """
    last = (0.0, 0.0, 0.0)
    for r in range(begin, end):
        first, row = envelope[r, FIRST], envelope[r, ZERO]
        v = three(x, r)
        for c in range(first, r - 1):
            v = _minus(v, get_tile(tiles, row + c), three(x, c))
        if first < r:
            v = _minus(v, get_tile(tiles, row + r - 1), last)
        set_three(x, r, v)
        last = v
    for r in range(begin, end):
        set_three(x, r, transform(get_tile(tiles, envelope[r, ZERO] + r), three(x, r)))
    last = three(x, end - 1)
    for r in range(end - 1, begin, -1):
        first, row = envelope[r, FIRST], envelope[r, ZERO]
        v, last = last, three(x, r - 1)
        if first < r:
            last = _minus(last, transposed(get_tile(tiles, row + r - 1)), v)
            set_three(x, r - 1, last)
        for c in range(first, r - 1):
            set_three(x, c, _minus(three(x, c), transposed(get_tile(tiles, row + c)), v))


@kernel
def solve_many(tiles, envelope, begin, end, x, count):
    """The same for the first `count` columns of x, along which all goes at once."""
    for r in range(begin, end):
        row = envelope[r, ZERO]
        for c in range(envelope[r, FIRST], r):
            _take_off(x, 3 * r, get_tile(tiles, row + c), 3 * c, count)
    for r in range(begin, end):
        a, b, c = get_tile(tiles, envelope[r, ZERO] + r)
        for j in range(count):
            u, v, w = x[3 * r, j], x[3 * r + 1, j], x[3 * r + 2, j]
            x[3 * r, j] = a[0] * u + a[1] * v + a[2] * w
            x[3 * r + 1, j] = b[0] * u + b[1] * v + b[2] * w
            x[3 * r + 2, j] = c[0] * u + c[1] * v + c[2] * w
    for r in range(end - 1, begin, -1):
        row = envelope[r, ZERO]
        for c in range(envelope[r, FIRST], r):
            _take_off(x, 3 * c, transposed(get_tile(tiles, row + c)), 3 * r, count)


@kernel
def _take_off(x, row, tile, others, count):
    """Take a tile times three rows off three others."""
    a, b, c = tile
    for j in range(count):
        u, v, w = x[others, j], x[others + 1, j], x[others + 2, j]
        x[row, j] -= a[0] * u + a[1] * v + a[2] * w
        x[row + 1, j] -= b[0] * u + b[1] * v + b[2] * w
        x[row + 2, j] -= c[0] * u + c[1] * v + c[2] * w


@kernel(inline=True)
def get_tile(tiles, i):
    return three(tiles, 3 * i), three(tiles, 3 * i + 1), three(tiles, 3 * i + 2)


@kernel(inline=True)
def set_tile(tiles, i, tile):
    set_three(tiles, 3 * i, tile[0])
    set_three(tiles, 3 * i + 1, tile[1])
    set_three(tiles, 3 * i + 2, tile[2])


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
def _less(s, a, b):
    """s - a·bᵀ"""
    return _minus(s[0], b, a[0]), _minus(s[1], b, a[1]), _minus(s[2], b, a[2])


@kernel(inline=True)
def _minus(v, a, x):
    """v - a·x, in steps that are fused."""
    return (
        v[0] - a[0][0] * x[0] - a[0][1] * x[1] - a[0][2] * x[2],
        v[1] - a[1][0] * x[0] - a[1][1] * x[1] - a[1][2] * x[2],
        v[2] - a[2][0] * x[0] - a[2][1] * x[1] - a[2][2] * x[2],
    )


@kernel(inline=True)
def transposed(a):
    return (a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2])


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
def _inverse(rest, diagonal, damping):
    """Of a tile of the diagonal, once everything before it is taken away; with zeros for rows that say nothing new.

    From the pivots p of its rows, and what of one is in another. As a rule these are taken from its minors, which
    need not wait for each other.
    """
    (a, _, _), (b, c, _), (d, e, f) = rest
    u, v, w = diagonal[0][0], diagonal[1][1], diagonal[2][2]
    a, c, f = a + damping * u, c + damping * v, f + damping * w
    ac, af, bd = a * c - b * b, a * f - d * d, a * e - b * d
    if a > REDUNDANT * u and ac > REDUNDANT * v * a:
        whole = ac * af - bd * bd
        p0, p1 = 1.0 / a, 1.0 / ac
        p2 = a * ac / whole if whole > REDUNDANT * w * a * ac else 0.0
        in_1, in_2, of_1 = b * p0, d * p0, bd * p1
        p1 *= a
    else:
        p0 = _reciprocal(a, u)
        in_1, in_2 = b * p0, d * p0
        p1 = _reciprocal(c - b * in_1, v)
        mixed = e - d * in_1
        of_1 = mixed * p1
        p2 = _reciprocal(f - d * in_2 - mixed * of_1, w)
    in_2 = in_1 * of_1 - in_2
    xy, xz, yz = -in_1 * p1 - of_1 * in_2 * p2, in_2 * p2, -of_1 * p2
    return (p0 + in_1 * in_1 * p1 + in_2 * xz, xy, xz), (xy, p1 - of_1 * yz, yz), (xz, yz, p2)


@kernel(inline=True)
def _reciprocal(pivot, diagonal):
    return 1.0 / pivot if pivot > REDUNDANT * diagonal else 0.0
