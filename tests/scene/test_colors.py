"""Colours of bodies, as a scene writes them."""

import pytest

from impel.files import Problem
from impel.scene import Scene


def test_colours_may_say_how_much_is_seen_through_them():
    scene = Scene()
    scene.body("pane", box=[1, 1, 0.01], color="#8FC1D640")
    assert scene.bodies["pane"].color == "#8fc1d640"
    for wrong in ("#8fc1d64", "#8fc1d6400", "8fc1d640"):
        with pytest.raises(Problem, match="for glass"):
            scene.body("other", box=[1, 1, 0.01], color=wrong)
