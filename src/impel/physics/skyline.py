"""Cholesky factors of symmetric matrices that keep only the entries between the first one of a row and the diagonal.

Row r of `envelope` says in which column the row begins, and where its column 0 would be in `data`. Factors stay inside
this envelope, so the pattern is laid out once and never changes.
"""

import math

from impel.kernel import kernel

REDUNDANT = 1e-9  # pivot over diagonal entry below which a row says nothing new, as some joints of closed loops do


@kernel
def factor(data, envelope, begin, end, damping):
    """Turn rows begin to end, a block of their own, into their Cholesky factor.

    Diagonals are increased by this share and become reciprocals; that of a redundant row becomes zero, so that
    solutions have a zero there. (Increasing all diagonals a little would do as well for one solve, but leaves large
    loads that cancel, and these do not stay in balance when the bodies have turned.)
    """
    for r in range(begin, end):
        first, row = envelope[r, 0], envelope[r, 1]
        diagonal = data[row + r]
        pivot = diagonal * (1.0 + damping)
        for c in range(first, r):
            first_c, column = envelope[c, 0], envelope[c, 1]
            s = data[row + c]
            for k in range(max(first, first_c), c):
                s -= data[row + k] * data[column + k]
            s *= data[column + c]
            data[row + c] = s
            pivot -= s * s
        data[row + r] = 1.0 / math.sqrt(pivot) if pivot > REDUNDANT * diagonal else 0.0


@kernel
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
