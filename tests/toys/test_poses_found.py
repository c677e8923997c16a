"""Finding gaits: objectives mean what they say, searches resume, palettes differ, winners are no luck."""

import functools
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from impel.files import Problem
from impel.search import search, strategy_named
from impel.toys.figure import load_figure
from impel.toys.objectives import TERMS, Objective
from impel.toys.periods import period_of_toy
from impel.toys.synthesis import DIFFERENT, describe, find_poses, objective_for, palette, refine, run_sampled
from impel.toys.toy import Sensor, read_toy, run_toy, write_toy
from impel.toys.verify import LASTS, as_kept

LUXO = load_figure("luxo")


def candidates(count, objective, seed=0):
    low, high = objective.bounds()
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))


def test_a_candidate_is_worth_its_worst_run_over_the_start_heights():
    objective = objective_for(LUXO, {"distance": 1.0})
    some = candidates(40, objective)
    runs = objective.run(some)
    worst = runs.distance.reshape(40, 3).min(axis=1)
    assert np.array_equal(objective(some), worst)
    assert len(set(np.round(runs.distance[:3], 6))) == 3  # the starts really differ


def test_terms_combine_by_weight_and_accept_the_animators_own():
    def lean(results):
        return -np.abs(results.final[:, 2])

    some = candidates(10, objective_for(LUXO))
    parts = {name: objective_for(LUXO, {name: 1.0}, heights=(0.0,))(some) for name in ("distance", "effort", "work")}
    mixed = objective_for(LUXO, {"distance": 2.0, "effort": -0.5, "work": 0.1, lean: 3.0}, heights=(0.0,))
    own = -np.abs(mixed.run(some).final[:, 2])
    expected = 2 * parts["distance"] - 0.5 * parts["effort"] + 0.1 * parts["work"] + 3 * own
    assert mixed(some) == pytest.approx(expected)


def test_each_term_is_what_its_runs_say():
    """Against the samples of the same runs, step by step."""
    some = candidates(12, objective_for(LUXO))
    some[::2] *= 0.1  # hardly moves, so it stays up
    runs = run_sampled(objective_for(LUXO), some, seconds=4.0, samples=4001, stride=1)
    rows = runs.rows
    values = {name: objective_for(LUXO, {name: 1.0}, heights=(0.0,))(some) for name in TERMS}
    assert 2 < runs.fallen.sum() < 10
    for i, samples in enumerate(runs.samples):
        lived = samples[~np.isnan(samples[:, 0])]
        time = runs.time[i]
        expected = {
            "distance": runs.final[i, 0] - lived[0, 0],
            "speed": (runs.final[i, 0] - lived[0, 0]) / time,
            "effort": (lived[1:, rows.torque] ** 2).sum() * 1e-3,
            "work": np.abs(lived[1:, rows.torque] * np.diff(lived[1:, rows.velocity][:, 2:], axis=1)).sum() * 1e-3,
            "height": lived[1:, 1].sum() * 1e-3 / time,
            "upright": time / 4.0,
        }
        expected["lasting"] = min(expected["distance"], expected["distance"] * expected["upright"] ** 2)
        assert set(expected) == set(TERMS) - {"periodicity"}  # which has a test of its own
        for name, value in expected.items():
            # The last step before a fall is in the sums but not among the samples.
            assert values[name][i] == pytest.approx(value, rel=2e-2, abs=2e-3), name


def test_upright_is_the_share_of_the_time_asked_for():
    objective = objective_for(LUXO, {"upright": 1.0}, heights=(0.0,))
    some = candidates(40, objective)
    some[::2] *= 0.1  # hardly moves, so it stays up
    runs = objective.run(some)
    assert 5 < runs.fallen.sum() < 35
    worth = objective(some)
    assert worth[~runs.fallen] == pytest.approx(1.0)
    assert worth[runs.fallen] == pytest.approx(runs.time[runs.fallen] / 4.0)
    first = int(np.argmax(runs.fallen))
    assert objective(some[first : first + 1])[0] == worth[first] < 1.0


def test_a_term_that_gives_nan_never_wins():
    def moody(results):
        return np.where(results.distance > 0.05, np.nan, results.distance)

    objective = objective_for(LUXO, {moody: 1.0})
    gait = find_poses(objective, strategy="generate", budget=64, seed=1)
    assert np.isfinite(gait.verified)
    assert not np.isnan(objective.robust(objective.run(candidates(64, objective)))).any()


def test_a_study_needs_named_terms(tmp_path):
    def lean(results):
        return results.final[:, 2]

    named = objective_for(LUXO, {lean: 1.0, "distance": 1.0})
    find_poses(named, budget=16, study=tmp_path / "named")
    for term in (lambda results: results.distance, functools.partial(np.multiply, 2.0)):
        with pytest.raises(Problem, match="a study needs a name for every term"):
            find_poses(objective_for(LUXO, {term: 1.0}), budget=16, study=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_sensors_take_part_in_a_search_and_stay_in_the_toy():
    sensors = (Sensor(touches="toe"), None, None, None)
    plain, sensing = objective_for(LUXO), objective_for(LUXO, sensors=sensors)
    some = candidates(20, plain)
    assert not np.array_equal(plain(some), sensing(some))
    gait = find_poses(sensing, strategy="generate", budget=64)
    toy = gait.toy(sensing)
    assert toy.sensors == list(sensors)
    # The file keeps six decimals of a degree, so only a short run is the same.
    again = run_toy(toy, LUXO, seconds=0.3, step=sensing.step).distance[0]
    one = sensing.run(gait.candidate[None], seconds=0.3).distance[0]
    assert again == pytest.approx(one, abs=1e-4)
    with pytest.raises(Problem, match="sensors: needs one"):
        objective_for(LUXO, sensors=sensors[:3])
    with pytest.raises(Problem, match="periodicity is for timed pose graphs"):
        objective_for(LUXO, {"periodicity": 1.0}, sensors=sensors)


def test_a_search_may_vary_what_ends_a_pose_too(tmp_path):
    objective = objective_for(LUXO, vary_times=(0.08, 0.2), vary_sensors=True)
    low, high = objective.bounds()
    assert len(low) == 4 * 2 + 4 + 4
    assert (low[-4:].tolist(), high[-4:].tolist()) == ([0.0] * 4, [1.0] * 4)
    found = find_poses(objective, budget=64, study=tmp_path / "s")
    toy = found.toy(objective)
    assert toy.sensors == list(objective.sensed(found.candidate))
    write_toy(tmp_path / "toy.yaml", toy)
    assert run_toy(*read_toy(tmp_path / "toy.yaml"), seconds=20.0, stride=1000).distance[0] >= found.distance - 1e-9
    # Every contact point may end a pose, by touching or by leaving, and about half of the poses go by time alone.
    drawn = np.concatenate([objective.sensed(one) for one in candidates(400, objective)])
    assert {sensor and (sensor.touches, sensor.leaves) for sensor in drawn} == {
        None, *((name, None) for name in LUXO.contacts), *((None, name) for name in LUXO.contacts)
    }  # fmt: skip
    assert 0.4 < np.mean([sensor is None for sensor in drawn]) < 0.6
    # A candidate with the sensors of a plain objective is worth the same.
    sensors = (None, Sensor(touches="shade back"), None, Sensor(leaves="heel"))
    plain, varied = (objective_for(LUXO, sensors=sensors, vary_sensors=varies) for varies in (False, True))
    some = candidates(8, plain)
    same = np.stack([varied.candidate(angles) for angles in plain.shaped(some)])
    assert varied.sensed(same[0]) == sensors
    assert np.array_equal(varied(same), plain(some))
    with pytest.raises(Problem, match="periodicity is for timed pose graphs"):
        objective_for(LUXO, {"periodicity": 1.0}, vary_sensors=True)


def test_a_search_may_vary_the_times_too(tmp_path):
    objective = objective_for(LUXO, {"distance": 1.0, "periodicity": 1.0}, vary_times=(0.08, 0.2))
    low, high = objective.bounds()
    assert low[-4:] == pytest.approx(0.08)
    assert high[-4:] == pytest.approx(0.2)
    assert len(low) == 4 * 2 + 4
    gait = find_poses(objective, budget=96, study=tmp_path / "s")
    toy = gait.toy(objective)
    assert toy.times == gait.candidate[-4:].tolist()
    assert len(set(toy.times)) == 4
    assert all(0.08 <= time <= 0.2 for time in toy.times)
    # A candidate with the times of a plain objective is worth the same.
    some = candidates(8, objective_for(LUXO))
    times = np.tile([0.14, 0.1, 0.12, 0.14], (8, 1))
    plain = objective_for(LUXO, dict(objective.terms), times=(0.14, 0.1, 0.12, 0.14))
    assert np.array_equal(objective(np.hstack([some, times])), plain(some))
    for wrong in ((0.0, 0.1), (0.2, 0.1), (0.1, np.nan)):
        with pytest.raises(Problem, match=r"times: must vary from at least 0.001 s upwards"):
            objective_for(LUXO, vary_times=wrong)


def test_times_must_fit_the_poses():
    with pytest.raises(Problem, match="times: needs one for each of the 4 poses, got 3"):
        objective_for(LUXO, times=(0.1, 0.1, 0.1))
    with pytest.raises(Problem, match=r"times: must be at least 0.001 s, got 1e-09"):
        objective_for(LUXO, times=1e-9)


def test_wrong_terms_are_named():
    with pytest.raises(Problem, match="flair: no such term; there are lasting, distance"):
        Objective(LUXO, {"flair": 1.0})
    with pytest.raises(Problem, match="periodicity needs at least 4 cycles"):
        objective_for(LUXO, {"periodicity": 1.0}, seconds=1.0)(candidates(2, objective_for(LUXO)))


def test_periodicity_tells_a_repeating_gait_from_chaos():
    """The notes' controller: period 1 at 0.14 s, chaos at 0.06 s."""
    poses = np.radians([(-60, -97.8), (-53.8, -88.1), (-6.7, -140), (-5.8, 28.5)]).reshape(1, -1)
    steady, wild = (
        objective_for(LUXO, {"periodicity": 1.0}, times=(0.14, 0.14, t, 0.14), seconds=20.0, heights=(0.0,))(poses)[0]
        for t in (0.14, 0.06)
    )
    assert steady == 1.0
    assert wild < 0.7


def test_the_winner_is_chosen_after_verification_at_a_quarter_of_the_step():
    objective = objective_for(LUXO)
    gait = find_poses(objective, strategy="generate", budget=256, seed=3)
    kept = as_kept(objective, gait.outcome.top(48))
    long = objective.run(kept, step=objective.step / 4, seconds=LASTS)
    stood = ~long.fallen.reshape(48, 3).any(axis=1)
    best = np.where(stood, objective.robust(long), -np.inf)
    assert np.array_equal(gait.candidate, kept[np.argmax(best)])
    assert gait.distance == long.distance.reshape(48, 3).min(axis=1)[np.argmax(best)]
    assert gait.verified == objective.verified(gait.candidate[None])[0]
    assert gait.value == objective(gait.candidate[None])[0]


def test_refining_improves_a_gait_and_stays_near_it():
    objective = objective_for(LUXO)
    first = find_poses(objective, strategy="generate", budget=256, seed=1)
    better = refine(objective, first.candidate, budget=160)
    low, high = objective.bounds()
    assert better.outcome.best_value > first.value
    assert np.abs((better.candidate - first.candidate) / (high - low)).max() < 0.5


def test_refining_never_gives_a_worse_gait_than_it_began_with():
    """A well-tuned gait and far too few evaluations to improve it."""
    objective = objective_for(LUXO)
    first = find_poses(objective, budget=640, seed=1)
    again = refine(objective, first.candidate, budget=16)
    assert again.outcome.best_value < first.value
    assert again.verified >= first.verified
    assert again.value == objective(again.candidate[None])[0]


KILLED = """
import sys
from impel.toys.figure import load_figure
from impel.toys.synthesis import find_poses, objective_for
find_poses(objective_for(load_figure("luxo")), seed=5, budget=480, study=sys.argv[1],
          progress=lambda count, best: print(count, flush=True))
"""


def test_a_killed_search_resumes_to_the_same_toy_bit_for_bit(tmp_path):
    objective = objective_for(LUXO)
    whole = find_poses(objective, seed=5, budget=480)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "s")], stdout=subprocess.PIPE, text=True)
    while int(process.stdout.readline()) < 160:
        pass
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    reported = []
    resumed = find_poses(objective, seed=5, budget=480, study=tmp_path / "s", progress=lambda n, b: reported.append(n))
    assert resumed.candidate.tobytes() == whole.candidate.tobytes()
    assert (resumed.value, resumed.verified) == (whole.value, whole.verified)
    assert np.array_equal(resumed.outcome.values, whole.outcome.values)


def test_a_palette_kept_in_a_study_resumes_without_repeating_work(tmp_path):
    objective = objective_for(LUXO)
    whole = palette(objective, seed=2, budget=320, size=3)
    assert len(whole) > 0
    told, checked = [], []

    def interrupted(count, best):
        told.append(count)
        if count >= 128:
            raise KeyboardInterrupt

    palette(objective, seed=2, budget=320, size=3, study=tmp_path / "s", progress=interrupted)
    with sqlite3.connect(tmp_path / "s") as connection:
        assert connection.execute("SELECT count(*) FROM trial").fetchone()[0] == told[-1] == 128
    connection.close()
    kept = {"study": tmp_path / "s", "verifying": lambda done, total: checked.append((done, total))}
    resumed = palette(objective, seed=2, budget=320, size=3, **kept)
    assert [g.candidate.tobytes() for g in resumed] == [g.candidate.tobytes() for g in whole]
    assert checked[-1][0] == checked[-1][1] > 0


def test_a_study_of_another_figure_is_refused(tmp_path):
    find_poses(objective_for(LUXO), budget=16, study=tmp_path / "s")
    with pytest.raises(Problem, match="was made with other settings: figure"):
        find_poses(objective_for(load_figure("bounder")), budget=16, study=tmp_path / "s")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("luxo", 2.8), ("bounder", 4.0), ("cheetah", 2.0), ("kangaroo", 2.5)])
def test_the_default_search_finds_far_and_robust_gaits(name, least):
    """1500 evaluations, 3 seeds: they go far, stay up for 20 s, and come as far at a quarter of the step."""
    objective = objective_for(load_figure(name))
    gaits = [find_poses(objective, seed=seed) for seed in range(3)]
    assert all(len(gait.outcome.values) == 1500 for gait in gaits)
    assert all(gait.stays_up for gait in gaits)
    assert np.median([gait.value for gait in gaits]) >= least
    assert sum(gait.verified >= 0.8 * gait.value for gait in gaits) >= 2


def test_a_study_is_extended_by_a_larger_budget(tmp_path):
    """What was tried before stays as it was, and a search in one go with the same legs tries the same."""
    objective = objective_for(LUXO)
    first = find_poses(objective, budget=100, study=tmp_path / "s")
    longer = find_poses(objective, budget=180, study=tmp_path / "s")
    assert np.array_equal(longer.outcome.candidates[:100], first.outcome.candidates)
    assert len(longer.outcome.values) == 180
    assert longer.outcome.best_value >= first.outcome.best_value
    told = []
    again = find_poses(objective, budget=180, study=tmp_path / "s", progress=lambda n, best: told.append(n))
    assert np.array_equal(again.outcome.candidates, longer.outcome.candidates)
    with pytest.raises(Problem, match="was planned for 180 evaluations; ask for as many, or for more"):
        find_poses(objective, budget=150, study=tmp_path / "s")


def test_a_description_does_not_change_with_the_way_up_a_slope():
    sloping = load_figure("worm").model_copy(deep=True)
    sloping.ground.slope = 10.0
    objective = objective_for(sloping)
    runs = run_sampled(objective, np.zeros((1, len(objective.bounds()[0]))), seconds=0.5, samples=500, stride=1)
    up = runs.samples.copy()
    up[:, :, 0] += 3.0
    up[:, :, 1] += 3.0 * np.tan(np.radians(10.0))
    assert describe(objective, replace(runs, samples=up)) == pytest.approx(describe(objective, runs), abs=1e-9)
    half = np.where(np.arange(500)[:, None] < 250, runs.samples, up)  # moved on, as a gait would
    assert describe(objective, replace(runs, samples=half)) == pytest.approx(describe(objective, runs), abs=1e-9)


@pytest.mark.slow
def test_luxos_palette_has_three_clearly_different_gaits_that_hold_up():
    objective = objective_for(LUXO)
    gaits = palette(objective, seed=0)
    assert len(gaits) >= 3
    chosen = np.stack([gait.candidate for gait in gaits])
    long = objective.run(chosen, step=objective.step / 4, seconds=10.0)
    assert not long.fallen.any()
    assert np.all(long.distance > 0)
    looks = describe(objective, run_sampled(objective, chosen, seconds=10.0, samples=2000, stride=5))
    apart = np.linalg.norm(looks[:, None] - looks[None], axis=-1)[np.triu_indices(len(gaits), 1)]
    assert apart.min() >= DIFFERENT


@pytest.mark.slow
def test_with_the_periodicity_term_most_seeds_give_a_steady_gait():
    objective = objective_for(LUXO, {"distance": 1.0, "periodicity": 4.0}, seconds=8.0)
    periods = [period_of_toy(find_poses(objective, seed=s).toy(objective), LUXO, seconds=30.0) for s in range(8)]
    assert sum(period in (1, 2) for period in periods) >= 6, periods


@pytest.mark.slow
def test_strategies_of_the_paper_all_beat_their_own_first_phase():
    """002, figures 6 and 7: every way to choose the change, one parameter or several, improves on random search."""
    objective = objective_for(load_figure("bounder"))
    low, high = objective.bounds()
    start = search(strategy_named("generate", low, high, seed=0), objective, budget=256)
    for delta in ("wide", "shrinking-fixed", "shrinking-random"):
        for several in (1, 4):
            engine = strategy_named(
                "modify", low, high, seed=0, budget=120, start=start.best, delta=delta, several=several
            )
            assert search(engine, objective, budget=120).best_value > 1.05 * start.best_value, (delta, several)
