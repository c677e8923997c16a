import numpy as np
import pytest
from making import verdicts_of

from impel.gallery.entries import steps


def test_entry_shows_random_steps_and_schemes(tmp_path):
    assert verdicts_of("steps", tmp_path) == [("003.9", "holds"), ("003.15", "holds corrected")]


def test_errors_fall_with_the_step():
    errors = steps.errors_by_step(np.array([0.01, 0.02]))["pulled"]
    for scheme in ("Euler", "Newton", "impel"):
        assert errors[scheme][1] / errors[scheme][0] == pytest.approx(2, rel=0.1)  # first order: control is held
