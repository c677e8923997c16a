"""Cholesky factors of symmetric matrices that keep only the entries between the first one of a row and the diagonal.

Row r holds its columns `first[r]` to r in `data[start[r] + column]`. Factors stay inside this envelope, so the pattern
is laid out once and never changes.
"""

import math

from impel.kernel import kernel

REGULARISATION = 1e-9  # of each diagonal entry: redundant joints of closed loops share their load instead of failing


@kernel
def factor(data, first, start, begin, end, regularisation):
    """Turn rows begin to end, a block of their own, into their Cholesky factor; diagonals become reciprocals."""
    for r in range(begin, end):
        row = start[r]
        diagonal = data[row + r]
        pivot = diagonal * (1.0 + regularisation)
        for c in range(first[r], r):
            column = start[c]
            s = data[row + c]
            for k in range(max(first[r], first[c]), c):
                s -= data[row + k] * data[column + k]
            s *= data[column + c]
            data[row + c] = s
            pivot -= s * s
        # Rounding can eat the pivot of a redundant row; it is never smaller than its regularisation.
        data[row + r] = 1.0 / math.sqrt(max(pivot, regularisation * diagonal))


@kernel
def solve(data, first, start, begin, end, x):
    """Replace x by the solution, given the factor."""
    for r in range(begin, end):
        row = start[r]
        s = x[r]
        for c in range(first[r], r):
            s -= data[row + c] * x[c]
        x[r] = s * data[row + r]
    for r in range(end - 1, begin - 1, -1):
        row = start[r]
        s = x[r] * data[row + r]
        x[r] = s
        for c in range(first[r], r):
            x[c] -= data[row + c] * s
