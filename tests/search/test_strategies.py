"""Strategies: alike in use, repeatable under a seed, within bounds, and better than chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import Problem
from impel.search import STRATEGIES, search, strategy_named
from impel.search.strategies import Anneal, Modify

LOW, HIGH = np.array([-1.0, 2.0, -3.0, 0.0]), np.array([1.0, 5.0, 3.0, 0.5])
PEAK = np.array([0.3, 4.0, -1.0, 0.4])


def hill(candidates):
    """One broad hill, 0 at its top; coupled parameters."""
    u = (candidates - PEAK) / (HIGH - LOW)
    return -(u**2).sum(1) - 3 * (u[:, 0] + u[:, 1]) ** 2


@pytest.mark.parametrize("name", STRATEGIES)
def test_same_seed_same_bits_and_other_seed_other_ones(name):
    runs = [search(strategy_named(name, LOW, HIGH, seed=s, budget=200), hill, budget=200) for s in (1, 1, 2)]
    assert np.array_equal(runs[0].candidates, runs[1].candidates)
    assert not np.array_equal(runs[0].candidates[:5], runs[2].candidates[:5])


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_do_not_touch_the_global_generator(name):
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    search(strategy_named(name, LOW, HIGH, seed=1, budget=60), hill, budget=60)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("name", ["modify", "anneal", "genetic", "cma"])
def test_learning_beats_chance(name):
    def median(name):
        runs = [search(strategy_named(name, LOW, HIGH, seed=s, budget=400), hill, budget=400) for s in range(5)]
        return np.median([run.best_value for run in runs])

    assert median(name) > median("generate") / 4  # both negative: at most a quarter of the loss


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(sorted(STRATEGIES)), seed=st.integers(0, 10**6), data=st.data())
def test_candidates_stay_within_bounds_whatever_the_values(name, seed, data):
    strategy = strategy_named(name, LOW, HIGH, seed=seed, budget=120, start=data.draw(st.sampled_from([None, HIGH])))
    rng = np.random.default_rng(seed)
    for _ in range(4):
        candidates = strategy.ask()
        assert candidates.ndim == 2
        assert np.all((candidates >= LOW) & (candidates <= HIGH))
        values = rng.standard_normal(len(candidates))
        values[rng.random(len(values)) < 0.2] = -np.inf
        strategy.tell(candidates, values)
    assert strategy.told > 0
    assert strategy.best is not None


@pytest.mark.parametrize("delta", ["wide", "shrinking-fixed", "shrinking-random"])
@pytest.mark.parametrize("several", [1, 3])
def test_modify_changes_as_many_parameters_as_asked_and_shrinks(delta, several):
    strategy = Modify(LOW, HIGH, seed=3, budget=100, start=(LOW + HIGH) / 2, delta=delta, several=several)
    strategy.tell(strategy.ask(), np.array([0.0]))
    moves = []
    for _ in range(99):
        candidate = strategy.ask()
        moves.append(np.abs(candidate[0] - (LOW + HIGH) / 2) / (HIGH - LOW))
        strategy.tell(candidate, np.array([-1.0]))  # never accepted
    moves = np.array(moves)
    assert np.all((moves > 0).sum(1) == several)
    if delta != "wide":
        assert moves[-20:].max() <= 0.5 * 0.22
    if delta == "shrinking-fixed":
        assert moves[0][moves[0] > 0] == pytest.approx(0.5 * 0.99)


def test_modify_keeps_the_better_and_annealing_sometimes_the_worse():
    for kind, expected in ((Modify, 0), (Anneal, 1)):
        worse = 0
        strategy = kind(LOW, HIGH, seed=1, budget=400, start=PEAK)
        for _ in range(200):
            candidates = strategy.ask()
            before = strategy.current_value
            strategy.tell(candidates, hill(candidates))
            worse += strategy.current_value < before
        assert (worse > 0) == expected


def test_wrong_arguments_name_themselves():
    for arguments, name in (
        ({"low": HIGH, "high": LOW}, "low, high"),
        ({"start": [1.0]}, "start"),
        ({"budget": 0}, "budget"),
    ):
        with pytest.raises(Problem, match=name):
            strategy_named("cma", **({"low": LOW, "high": HIGH, "seed": 1} | arguments))
    with pytest.raises(Problem, match="no such strategy"):
        strategy_named("luck", LOW, HIGH, seed=1)
    with pytest.raises(Problem, match="several"):
        strategy_named("modify", LOW, HIGH, seed=1, several=9)
    with pytest.raises(Problem, match="generate: does not know"):
        strategy_named("generate", LOW, HIGH, seed=1, several=2)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("budget", [1, 10, 37, 130])
def test_no_search_evaluates_more_than_its_budget(name, budget):
    evaluated = []

    def counted(candidates):
        evaluated.append(len(candidates))
        return hill(candidates)

    outcome = search(strategy_named(name, LOW, HIGH, seed=1, budget=budget), counted, budget=budget)
    assert sum(evaluated) == len(outcome.values) == len(outcome.candidates) == budget
    longer = search(strategy_named(name, LOW, HIGH, seed=1, budget=budget), hill, budget=budget + 64)
    assert np.array_equal(longer.values[:budget], outcome.values)


@pytest.mark.parametrize("name", ["modify", "anneal", "cma"])
def test_the_start_is_evaluated_before_a_first_phase_of_chance(name):
    engine = strategy_named(name, LOW, HIGH, seed=1, budget=100, start=PEAK, first=64)
    outcome = search(engine, hill, budget=100)
    assert np.array_equal(outcome.candidates[0], PEAK)
    assert outcome.best_value == 0.0  # nothing beats the top of the hill


def test_cma_says_that_it_needs_two_parameters():
    with pytest.raises(Problem, match="cma: learns how parameters belong together, and there is only one"):
        strategy_named("cma", LOW[:1], HIGH[:1], seed=1)


def test_of_few_parameters_a_relay_also_climbs_from_the_best():
    for count, climbs in ((3, True), (4, True), (5, False)):
        relay = strategy_named("relay", np.zeros(count), np.ones(count), seed=0, budget=200)
        while relay.told < 150:
            best, asked = relay.best, relay.ask()
            relay.tell(asked, -((asked - 0.3) ** 2).sum(axis=1))
        changed = (asked != best).sum(axis=1)
        assert (changed <= 1).sum() == (8 if climbs else 0)
        assert changed.max() == count
