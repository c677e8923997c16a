import numpy as np
from making import verdicts_of

from impel.gallery.entries import smoothing


def test_entry_shows_what_each_parameter_does(tmp_path):
    assert verdicts_of("smoothing", tmp_path) == [("003.8", "holds")]


def test_distances_to_a_polyline():
    line = np.array([[0.0, 0], [1, 0], [1, 1]])
    points = np.array([[0.5, 0.2], [1.5, 0.5], [-3, 4], [1, 2]])
    np.testing.assert_allclose(smoothing.distances(points, line), [0.2, 0.5, 5, 1])
