"""Winners stay up for longer than they were searched for, and the file plays what was verified."""

import numpy as np
import pytest

from impel.toys.figure import figure_from, load_figure
from impel.toys.objectives import lasting
from impel.toys.synthesis import find_poses, objective_for
from impel.toys.toy import read_toy, run_toy, write_toy
from impel.toys.verify import LASTS, MOST, Verified, run_on, verify

LUXO = load_figure("luxo")
# A stick on its end: whatever it does, it falls.
STICK = {
    "figure": "stick",
    "links": {
        "rod": {"from": [0, 0], "to": [0, 0.3], "mass": 0.1},
        "top": {"from": [0, 0.3], "to": [0.05, 0.35], "mass": 0.1},
    },
    "joints": {
        "neck": {"links": ["rod", "top"], "at": [0, 0.3], "stiffness": 0.3, "damping": 0.01, "range": [-60, 60]}
    },
    "contacts": {"end": {"link": "rod", "at": [0, 0]}},
    "fall": 40,
}  # fmt: skip

HOPPER = {
    "figure": "hopper",
    "links": {
        "body": {"from": [0, 0.1], "to": [0.06, 0.22], "mass": 0.15},
        "leg": {"from": [0, 0.1], "to": [0.04, 0], "mass": 0.03},
    },
    "joints": {
        "hip": {
            "links": ["body", "leg"], "at": [0, 0.1], "stiffness": 1.2, "damping": 0.02, "range": [-50, 50],
            "limits": [-70, 70],
        }
    },
    "contacts": {
        "foot": {"link": "leg", "at": [0.04, 0]},
        "heel": {"link": "leg", "at": [-0.04, 0]},
        "head": {"link": "body", "at": [0.06, 0.22]},
    },
    "ground": {"stiffness": 1500, "damping": 10, "friction": 0.9},
    "cycle": {"poses": 3, "time": 0.12},
}  # fmt: skip


@pytest.mark.parametrize("name", ["luxo", "kangaroo"])
def test_the_winner_stays_up_for_twenty_seconds_at_a_quarter_of_the_step(name, tmp_path):
    objective = objective_for(load_figure(name))
    found = find_poses(objective, budget=400, seed=1)
    assert found.stays_up
    write_toy(tmp_path / "toy.yaml", found.toy(objective))
    toy, figure = read_toy(tmp_path / "toy.yaml")
    assert toy.step == objective.step / 4
    played = run_toy(toy, figure, seconds=LASTS, stride=1000)
    runs = objective.run(found.candidate[None], step=toy.step, seconds=LASTS)
    assert not played.fallen[0]
    assert played.distance[0] == runs.distance[0]  # to the bit: a toy is played as it was verified
    assert found.distance == runs.distance.min()


def test_a_winner_comes_as_far_at_a_converged_step():
    objective = objective_for(LUXO)
    candidate = find_poses(objective, budget=400, seed=2).candidate[None]
    searched, converged = (objective.run(candidate, step=step).distance.mean() for step in (1e-3, 1e-3 / 16))
    assert searched == pytest.approx(converged, rel=0.1)


def test_what_cannot_stay_up_is_kept_and_told():
    objective = objective_for(figure_from(STICK, subject="stick"), seconds=2.0)
    found = find_poses(objective, budget=128, strategy="generate")
    assert not found.stays_up
    assert 0 < found.time < LASTS
    longest = run_on(objective, found.outcome.candidates).time.max()
    assert found.time >= 0.95 * longest


def test_one_that_stays_up_is_found_among_many_that_do_not():
    """However far down the list it is."""
    objective = objective_for(LUXO)
    low, high = objective.bounds()
    wild = np.random.default_rng(0).uniform(low, high, (600, len(low)))
    lived = objective.run(wild, step=1e-3 / 4, seconds=LASTS).time.reshape(600, -1).min(axis=1)
    falling = wild[lived < LASTS - 1e-6]
    assert len(falling) > MOST
    still = np.zeros((1, len(low)))
    found = verify(objective, np.vstack([falling, still]))
    assert np.all(found.candidates[found.up] == still[0], axis=1).any()
    assert found.up[found.winner()]


def test_a_way_that_ends_in_a_fall_is_worth_less():
    objective = objective_for(LUXO)
    low, high = objective.bounds()
    runs = objective.run(np.random.default_rng(0).uniform(low, high, (60, len(low))))
    worth, share = lasting(runs), runs.time / 4.0
    fell = runs.fallen & (runs.distance > 0)
    assert fell.any()
    assert np.array_equal(worth[~runs.fallen], runs.distance[~runs.fallen])
    assert worth[fell] == pytest.approx(runs.distance[fell] * share[fell] ** 2)
    assert np.all(worth <= runs.distance)


def test_one_of_the_starts_runs_at_a_quarter_of_the_step():
    objective = objective_for(LUXO)
    some = np.random.default_rng(0).uniform(*objective.bounds(), (5, len(objective.bounds()[0])))
    mixed, coarse, fine = (objective.run(some, step=step).distance.reshape(5, 3) for step in (None, 1e-3, 0.25e-3))
    assert np.array_equal(mixed[:, [0, 2]], coarse[:, [0, 2]])
    assert np.array_equal(mixed[:, 1], fine[:, 1])


def test_a_winner_that_owes_nothing_to_the_step_is_preferred_unless_it_hardly_moves():
    def chosen(values, agrees, time=(LASTS, LASTS, LASTS)):
        off = np.where(agrees, 0.0, 0.5)
        return Verified(np.zeros((3, 1)), np.array(values), np.array(values), np.array(time), off).winner()

    assert chosen([2.5, 2.1, 0.1], [False, True, True]) == 1
    assert chosen([2.5, 0.1, 0.05], [False, True, True]) == 0
    assert chosen([-1.0, -1.5, -3.0], [False, True, True]) == 1
    assert chosen([2.5, 1.0, 0.1], [False] * 3, (3.0, 9.0, 4.0)) == 1


def test_where_none_of_the_best_is_good_the_search_goes_on():
    """Of what a search of a hopper of one motor finds, next to nothing stays up, and what does owes it to the step."""
    objective = objective_for(figure_from(HOPPER, subject="hopper"))
    found = find_poses(objective, budget=1200, seed=4)
    assert found.stays_up
    assert found.distance > 1.0
    step = found.toy(objective).step
    played, converged = (objective.run(found.candidate[None], step=s).distance.mean() for s in (step, step / 16))
    assert played == pytest.approx(converged, rel=0.1)
