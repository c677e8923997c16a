import numpy as np
import pytest
from making import verdicts_of

from impel.gallery.entries import damping


def test_entry_shows_what_damping_does(tmp_path):
    assert verdicts_of("damping", tmp_path) == [("003.2", "holds corrected"), ("003.3", "holds"), ("003.4", "holds")]


def test_undamped_swing_grows_with_the_step():
    coarse, fine = (damping.growth(*damping.undamped(dt, 3.0)) for dt in (0.04, 0.01))
    assert coarse == pytest.approx(4 * fine, rel=0.03)


def test_a_wrong_curve_would_be_noticed():
    scene, take = damping.released()
    take.position[:, take.index("lively"), 2] += 0.01 * np.sin(take.time)
    elasticities = np.array([0.5, 1.0])
    assert damping.critical(scene, take, elasticities, np.array([0.16, 0.0])).verdict == "does not hold"
