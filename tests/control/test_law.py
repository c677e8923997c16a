"""The law on how structures answer, against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.control.law import (
    BLOCKED,
    PRESSING,
    REFINED,
    factor_dense,
    force_towards,
    forces_for,
    invert,
    solve_dense,
    within,
)
from impel.stage.holding import YIELDS


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20), missing=st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_dense_matrices_are_solved_and_what_is_redundant_shares_the_load_in_any_order(seed, n, missing):
    rng = np.random.default_rng(seed)
    rank = max(n - missing, 1)
    rows = np.linalg.qr(rng.normal(size=(n, n)))[0][:, :rank] * rng.uniform(0.5, 2.0, rank)
    wanted = rng.normal(size=rank)

    def solved(order):
        matrix = rows[order] @ rows[order].T
        matrix_and_more = np.full((n + 1, n + 2), np.nan)
        matrix_and_more[:n, :n] = np.triu(matrix + YIELDS * np.diag(np.diag(matrix)))  # the lower half is not read
        x = rows[order] @ wanted
        factor_dense(matrix_and_more, n)
        solve_dense(matrix_and_more, n, x)
        return x

    order, load = rng.permutation(n), solved(np.arange(n))
    assert rows.T @ load == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    assert solved(order) == pytest.approx(load[order], rel=1e-4, abs=1e-4)


@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([3, 6, 9, 12]))
@settings(max_examples=50, deadline=None)
def test_forces_are_those_of_the_refined_inverse(seed, n):
    """In the basis of singular values w: (1 - (l2 / (w2 + l2)) ** 16) / w, and nothing for what is blocked."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    size = rng.choice([0.0, 0.1, 1.0, 10.0], n)
    answer = left @ np.diag(size) @ right
    lack = (BLOCKED**2 / (size**2 + BLOCKED**2)) ** REFINED
    share = np.divide(1.0 - lack, size, out=np.zeros(n), where=size > 0.0)
    wish = rng.normal(size=n)
    forces, spare, swap, force, rest = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), wish.copy()
    invert(answer, n, forces, spare, swap)
    forces_for(answer, forces, n, rest, force)
    assert force == pytest.approx(right.T @ (share * (left.T @ wish)), abs=1e-9)
    assert rest == pytest.approx(left @ (lack * (left.T @ wish)), abs=1e-9)


@given(seed=st.integers(0, 2**32 - 1), size=st.floats(1e-3, 0.999))
@settings(max_examples=50, deadline=None)
def test_a_force_that_is_too_large_gives_up_what_achieves_least(seed, size):
    """Of all forces of that size the one that misses least of the accelerations, by the multiplier of its size."""
    rng = np.random.default_rng(seed)
    answer = rng.normal(size=(3, 3)) * 10 ** rng.uniform(-2, 2, 3)
    force = rng.normal(size=3)
    most = size * np.linalg.norm(force)
    found = np.array(within(answer, 0, tuple(force), most))
    gram = answer.T @ answer + PRESSING**2 * np.trace(answer.T @ answer) * np.eye(3)
    pulled = gram @ (force - found)  # along `found`, as a multiplier has it, and outwards
    assert np.linalg.norm(found) == pytest.approx(most, rel=1e-9)
    assert np.cross(pulled, found) == pytest.approx(np.zeros(3), abs=1e-8 * np.linalg.norm(gram) * most)
    assert pulled @ found >= 0.0


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 2))
@settings(max_examples=30, deadline=None)
def test_what_one_actuator_pulls_with_is_damped_least_squares(seed, k):
    rng = np.random.default_rng(seed)
    answer, wish = rng.normal(size=(9, 9)), rng.normal(size=3)
    own = answer[3 * k : 3 * k + 3, 3 * k : 3 * k + 3]
    wanted = np.linalg.solve(own.T @ own + BLOCKED**2 * np.eye(3), own.T @ wish)
    assert force_towards(answer, k, tuple(wish)) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
