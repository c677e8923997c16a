"""The law of actuators where the structure is only known by how it answers (see actuators.py).

`answer[i, j]` is the acceleration at i by a force at j. All is made comparable first: forces and torques by what each
actuator has to move (its nominal inertia μ), so that 1 is what it is made for, far more what is easy, and nothing what
is blocked. Then N·v = Wᵀ(WWᵀ + λ²)⁻¹·v, refined many times: the inverse to rounding for whatever is not blocked, and
never more than about 1/λ of what the actuator is made for. N is a function of W alone, so that W·N has no eigenvalue
outside [0, 1]: no wish is ever answered with more than was asked for, which is why contradicting wishes do not blow up.
"""

import math

from impel.kernel import kernel

# λ: what takes 5 times the force that would accelerate the whole structure is not worth pulling at. At full stretch an
# arm's tip would need ever larger forces to go farther, and none of them would help.
BLOCKED = 0.2
REDUNDANT = 1e-9  # of its diagonal entry: a smaller pivot is rounding
REFINED = 16  # times; the error is (λ²/(w² + λ²))¹⁶, 3e-7 where four actuators together move the whole structure


@kernel
def factor_dense(matrix, n):
    """Turn the lower half of a symmetric matrix without negative eigenvalues into its Cholesky factor.

    Rows that say nothing new get a pivot of zero, and solutions a zero there.
    """
    for i in range(n):
        for j in range(i + 1):
            s = matrix[i, j]
            for k in range(j):
                s -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = math.sqrt(s) if s > REDUNDANT * matrix[i, i] else 0.0
            else:
                matrix[i, j] = s / matrix[j, j] if matrix[j, j] > 0.0 else 0.0


@kernel
def solve_dense(factor, n, x):
    """Replace x by the solution, given the factor."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= factor[i, k] * x[k]
        x[i] = s / factor[i, i] if factor[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= factor[k, i] * x[k]
        x[i] = s / factor[i, i] if factor[i, i] > 0.0 else 0.0


@kernel
def prepare(answer, n, square):
    """Leave the factor of WWᵀ + λ² in `square`."""
    for i in range(n):
        for j in range(i + 1):
            s = BLOCKED * BLOCKED if i == j else 0.0
            for k in range(n):
                s += answer[i, k] * answer[j, k]
            square[i, j] = s
    factor_dense(square, n)


@kernel
def forces_for(answer, square, n, rest, force, scratch):
    """Leave in `force` what gives the accelerations in `rest`, and in `rest` those that cannot be had."""
    for i in range(n):
        force[i] = 0.0
    for _ in range(REFINED):
        for i in range(n):
            scratch[i] = rest[i]
        solve_dense(square, n, scratch)
        for j in range(n):
            s = 0.0
            for i in range(n):
                s += answer[i, j] * scratch[i]
            force[j] += s
            scratch[n + j] = s
        for i in range(n):
            for j in range(n):
                rest[i] -= answer[i, j] * scratch[n + j]


@kernel
def accelerations_by(answer, n, force, acceleration):
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += answer[i, j] * force[j]
        acceleration[i] = s


@kernel
def write_out(answer, square, n, forces, spare, swap):
    """Write out N as a matrix to `forces`, for whoever needs it many times; `spare` and `swap` are scratch."""
    for j in range(n):
        column = swap[j]
        for i in range(n):
            column[i] = answer[i, j]
        solve_dense(square, n, column)
    for i in range(n):
        for j in range(n):
            forces[i, j] = swap[i, j]
    multiply_dense(forces, answer, n, spare)
    for i in range(n):
        for j in range(n):
            spare[i, j] = (1.0 if i == j else 0.0) - spare[i, j]
    count = 1
    while count < REFINED:  # each time twice as many: (1 + E)(1 + E²)(1 + E⁴)·N₀
        multiply_dense(spare, forces, n, swap)
        for i in range(n):
            for j in range(n):
                forces[i, j] += swap[i, j]
        multiply_dense(spare, spare, n, swap)
        for i in range(n):
            for j in range(n):
                spare[i, j] = swap[i, j]
        count *= 2


@kernel
def multiply_dense(a, b, n, product):
    for i in range(n):
        for j in range(n):
            product[i, j] = 0.0
        for k in range(n):
            factor = a[i, k]
            for j in range(n):
                product[i, j] += factor * b[k, j]
