"""Orientations outside kernels: one form turned into another and back."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from impel.motion.orientations import matrix_from_quaternion, quaternion_from_matrix

number = st.floats(-1, 1).map(lambda x: round(x, 3))  # with zeros and equals among them, where branches meet


@settings(max_examples=300, deadline=None)
@given(st.tuples(number, number, number, number))
def test_a_matrix_tells_its_quaternion(written):
    size = np.linalg.norm(written)
    assume(size > 0.01)
    q = np.array(written) / size
    found = quaternion_from_matrix(matrix_from_quaternion(q))
    assert found[0] >= 0
    np.testing.assert_allclose(found * np.sign(found @ q), q, atol=1e-12)
