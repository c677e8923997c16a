import numpy as np
import pytest

from impel.gallery.entries import toys_back, toys_springs
from impel.toys.measures import Sweep

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
    optimum, tripping = toys_springs.own_spring(stiffness)
    assert (optimum.verdict, tripping.verdict) == ("holds", "does not hold")


def test_verdicts_follow_the_figures():
    values = np.geomspace(0.001, 1.0, 31)
    flat = np.ones((31, 2))
    made_up = Sweep(values, 6, flat.copy(), flat.copy(), 0.28 * flat, 0 * flat)
    made_up.distance[:6], made_up.distance[7:] = 1.2, 0.8
    made_up.effort[:6], made_up.effort[7:] = 0.9, 1.3
    made_up.share[-1] = 0.0
    share, effort = toys_springs.stiffer(made_up)
    assert (share.verdict, effort.verdict) == ("holds", "holds")
    assert "0 of 24 stiffer backs are faster" in share.measured
    less = toys_springs.less_damping(made_up)
    assert less.verdict == "holds"
    assert less.measured.endswith(": cheaper, and faster")


def test_what_verdicts_say_follows_the_figures_too():
    values = np.geomspace(0.001, 1.0, 31)
    flat = np.ones((31, 2))
    made_up = Sweep(values, 6, flat.copy(), flat.copy(), 0.28 * flat, 0.8 * flat)
    made_up.distance[:6], made_up.distance[10:13] = 0.9, 1.5
    made_up.effort[:6] = 1.1
    made_up.fallen[7:9] = 0.0
    assert "3 of 24 stiffer backs are faster" in toys_springs.stiffer(made_up)[0].measured
    assert toys_springs.less_damping(made_up).measured.endswith(": not cheaper, and not faster")
    made_up.effort[:6] = 0.9
    assert toys_springs.less_damping(made_up).measured.endswith(": cheaper, but not faster")
    _, tripping = toys_springs.own_spring(made_up)
    assert tripping.verdict == "holds"
    assert "falls in " in tripping.measured
    assert "feet" not in tripping.measured
