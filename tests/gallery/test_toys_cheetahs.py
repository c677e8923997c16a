import numpy as np
import pytest

from impel.gallery.entries import toys_back, toys_springs

SEEDS = 3  # the page takes more


@pytest.mark.slow
def test_a_stiff_back_needs_a_pose_graph_of_its_own_and_then_wins():
    backs = toys_back.compare(SEEDS)
    assert [(v.claim, v.verdict) for v in toys_back.verdicts(backs)] == [("002.6", "holds"), ("002.6", "does not hold")]


@pytest.mark.slow
def test_the_back_works_its_own_spring_suits_it_and_less_damping_is_no_faster():
    damping, stiffness = toys_springs.sweeps(SEEDS)
    share, effort = toys_springs.stiffer(damping)
    assert (share.verdict, effort.verdict) == ("holds", "does not hold")
    assert toys_springs.less_damping(damping).verdict == "does not hold"
    _, tripping = toys_springs.own_spring(stiffness)
    assert tripping.verdict == "does not hold"
    home = stiffness.nominal
    far = np.median(stiffness.distance, axis=1)
    assert far[home] > 0.9 * far.max()


def test_verdicts_follow_the_figures():
    values = np.geomspace(0.001, 1.0, 31)
    flat = np.ones((31, 2))
    made_up = toys_springs.Sweep(values, 6, flat.copy(), flat.copy(), 0.28 * flat, 0 * flat)
    made_up.distance[:6], made_up.distance[7:] = 1.2, 0.8
    made_up.effort[:6], made_up.effort[7:] = 0.9, 1.3
    made_up.share[-1] = 0.0
    assert [v.verdict for v in toys_springs.stiffer(made_up)] == ["holds", "holds"]
    assert toys_springs.less_damping(made_up).verdict == "holds"
