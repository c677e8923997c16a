"""An arm of three links under gravity: stiff to what lasts, soft to what is sudden."""

import numpy as np
import pytest

from impel.gallery.entries import blow


@pytest.fixture(scope="module")
def played() -> blow.Blow:
    return blow.play()


def test_arm_does_not_sag_gives_way_and_comes_back(played: blow.Blow) -> None:
    found = blow.measure(played)
    assert found.sag < 0.01
    assert 0.34 < found.deflection < 0.42
    assert found.left < 0.001


def test_arm_is_as_long_as_is_measured_with(played: blow.Blow) -> None:
    """Straightened, its tip is an arm's length from the shoulder; the loop is a ring of 0.1 m or more."""
    scene = blow.gallery_scene("blow")
    ends = [scene.joints[name].at for name in ("shoulder", "elbow", "wrist")]
    tip = blow.tip(played.hit)[0]
    links = [np.subtract(b, a) for a, b in zip(ends, [*ends[1:], tip])]
    assert sum(np.linalg.norm(link) for link in links) == pytest.approx(blow.ARM, abs=1e-3)
    assert np.ptp(blow.tip(played.weightless), axis=0).min() > 0.1
