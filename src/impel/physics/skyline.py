"""Cholesky factors of symmetric matrices that keep only the entries between the first one of a row and the diagonal.

Row r of `envelope` says in which column the row begins, and where its column 0 would be in `data`. Factors stay inside this envelope, so the pattern
is laid out once and never changes.
"""

import math

from impel.kernel import kernel

REGULARISATION = 1e-9  # of each diagonal entry: redundant joints of closed loops share their load instead of failing


@kernel(inner=True)
def factor(data, envelope, begin, end, regularisation):
    """Turn rows begin to end, a block of their own, into their Cholesky factor; diagonals become reciprocals."""
    for r in range(begin, end):
        first, row = envelope[r, 0], envelope[r, 1]
        diagonal = data[row + r]
        pivot = diagonal * (1.0 + regularisation)
        for c in range(first, r):
            first_c, column = envelope[c, 0], envelope[c, 1]
            s = data[row + c]
            for k in range(max(first, first_c), c):
                s -= data[row + k] * data[column + k]
            s *= data[column + c]
            data[row + c] = s
            pivot -= s * s
        # Rounding can eat the pivot of a redundant row; it is never smaller than its regularisation.
        data[row + r] = 1.0 / math.sqrt(max(pivot, regularisation * diagonal))


@kernel(inner=True)
def solve(data, envelope, begin, end, x):
    """Replace x by the solution, given the factor."""
    for r in range(begin, end):
        first, row = envelope[r, 0], envelope[r, 1]
        s = x[r]
        for c in range(first, r):
            s -= data[row + c] * x[c]
        x[r] = s * data[row + r]
    for r in range(end - 1, begin - 1, -1):
        first, row = envelope[r, 0], envelope[r, 1]
        s = x[r] * data[row + r]
        x[r] = s
        for c in range(first, r):
            x[c] -= data[row + c] * s
