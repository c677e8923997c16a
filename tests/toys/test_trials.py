"""Trials: lanes and threads do not leak into each other, arcs last as long as they say, the ground is where it is."""

import numpy as np
import pytest

from impel.files import Problem
from impel.toys.figure import figure_from, load_figure
from impel.toys.generate import source_of
from impel.toys.mechanism import ground_at, mechanism_of
from impel.toys.synthesis import objective_for
from impel.toys.trials import chunks, contact_points, gains_of, heights_above, run_trials, start_state


def random_poses(figure, count, poses=4, seed=0):
    low, high = np.radians(np.array(figure.ranges())).T
    return np.random.default_rng(seed).uniform(low, high, (count, poses, len(low)))


LUXO = load_figure("luxo")


def test_a_trial_does_not_depend_on_its_neighbours_or_on_threads():
    poses = random_poses(LUXO, 300)
    times = np.random.default_rng(1).uniform(0.05, 0.2, (300, 4))
    alone = [run_trials(LUXO, poses[i : i + 1], times[i : i + 1], seconds=1.0).final[0] for i in (0, 7, 130, 299)]
    one = run_trials(LUXO, poses, times, seconds=1.0, threads=1)
    two = run_trials(LUXO, poses, times, seconds=1.0, threads=2)
    assert np.array_equal(one.final, two.final)
    assert np.array_equal(one.final[[0, 7, 130, 299]], alone)


def test_trials_last_exactly_as_long_as_asked():
    poses = random_poses(LUXO, 64)
    seconds = np.linspace(0.1, 2.0, 64)
    result = run_trials(LUXO, poses, [0.0813, 0.1, 0.057, 0.14], seconds=seconds)
    stood = ~result.fallen
    assert stood.sum() > 5
    assert result.time[stood] == pytest.approx(seconds[stood], abs=1e-12)
    assert np.all(result.time[~stood] <= seconds[~stood] + 1e-12)


def test_arcs_that_are_no_multiple_of_the_step_are_not_rounded():
    times = [0.0703, 0.0111]
    result = run_trials(LUXO, random_poses(LUXO, 1, poses=2) * 0.2, times, seconds=0.5, samples=7)
    starts = result.samples[0, :, result.rows.time]
    assert starts[~np.isnan(starts)] == pytest.approx(np.arange(7)[: (~np.isnan(starts)).sum()] * sum(times), abs=1e-12)
    assert (~np.isnan(starts)).sum() == 7


def test_hold_and_linear_targets_are_what_they_say():
    poses = np.radians([[[10.0, 0.0], [-20.0, 40.0]]])
    for interpolation in ("hold", "linear"):
        result = run_trials(LUXO, poses, 0.1, seconds=0.2, interpolation=interpolation, samples=201, stride=1)
        time = result.samples[0, :-1, result.rows.time]
        target = np.degrees(result.samples[0, :-1, result.rows.target])
        if interpolation == "hold":
            expected = np.where(time[:, None] < 0.0999, [10.0, 0.0], [-20.0, 40.0])
        else:
            expected = np.stack([np.interp(time, [0, 0.1, 0.2], [a, b, a]) for a, b in ((10, -20), (0, 40))], 1)
        assert target == pytest.approx(expected, abs=1e-9)


def test_a_fall_ends_the_trial_and_keeps_what_was_reached():
    result = run_trials(LUXO, random_poses(LUXO, 16), 0.14, seconds=2.0, samples=2001, stride=1)
    assert result.fallen.sum() > 4
    for final, tilt in zip(result.final[result.fallen], result.samples[result.fallen, :, 2]):
        lived = ~np.isnan(tilt)
        assert lived.sum() == pytest.approx(final[result.rows.time] / 1e-3, abs=1)
        assert np.abs(tilt[lived]).max() <= np.radians(LUXO.fall) < abs(final[2])


def test_falling_freely_takes_the_time_of_a_stone():
    start = start_state(LUXO, clearance=1.0)
    result = run_trials(LUXO, np.zeros((1, 1, 2)), 1.0, seconds=0.3, starts=start)
    assert result.final[0, 1] - start[1] == pytest.approx(-0.5 * 9.81 * 0.3**2, rel=4e-3)  # first order in 1 ms


def test_at_rest_the_ground_carries_the_weight():
    figure = load_figure("worm")
    result = run_trials(figure, np.zeros((1, 1, 4)), 1.0, seconds=3.0)
    assert result.final[0, result.rows.force].sum() == pytest.approx(5 * 0.02 * 9.81, rel=1e-6)


@pytest.mark.parametrize("ground", [{"slope": 20.0}, {"profile": [(-1.0, 0.0), (0.1, 0.0), (1.0, 0.3), (2.0, 0.3)]}])
def test_on_a_slope_friction_holds_or_gives_way_at_its_angle(ground):
    """The tangent of the slope decides: 20° is 0.364, and the rise of 0.3 over 0.9 is 0.333."""
    figure = load_figure("worm").model_copy(deep=True)
    for name, value in ground.items():
        setattr(figure.ground, name, value)
    rise = (ground_at(figure, 0.7) - ground_at(figure, 0.3)) / 0.4
    start = start_state(figure)
    start[0] += 0.5
    start[2:7] = np.arctan(rise)
    points = contact_points(mechanism_of(figure), start[None])[0]
    start[1] -= min(z - ground_at(figure, x) for x, z in points)
    gains = np.tile(gains_of(figure), (2, 1))
    gains[:, -1] = 0.1, 0.6
    result = run_trials(figure, np.zeros((2, 1, 4)), 1.0, seconds=[0.3, 0.5], starts=start, gains=gains)
    slid = -result.distance * np.sqrt(1 + rise**2)
    # Below the tangent it slides at g(sin - μ cos); above it creeps at the speed where friction is enough.
    pull = 9.81 / np.sqrt(1 + rise**2)
    assert slid[0] == pytest.approx(0.5 * pull * (rise - 0.1) * 0.3**2, rel=0.08)
    share = rise / 0.6
    assert slid[1] == pytest.approx(figure.ground.slip_speed * share / np.sqrt(1 - share**2) * 0.5, rel=0.08)


@pytest.mark.parametrize("ground", [{"slope": -20.0}, {"profile": [(-1.0, 0.2), (0.1, 0.2), (1.0, 0.5), (2.0, 0.5)]}])
def test_mean_height_is_above_the_ground_under_the_root(ground):
    figure = load_figure("worm").model_copy(deep=True)
    for name, value in ground.items():
        setattr(figure.ground, name, value)
    result = run_trials(figure, np.zeros((1, 1, 4)), 1.0, seconds=0.5, samples=501, stride=1)
    x, z = result.samples[0, 1:, :2].T  # one sample a step, and the first is the start
    above = np.mean([height - ground_at(figure, at) for at, height in zip(x, z)])
    assert result.mean_height[0] == pytest.approx(above, rel=1e-9)
    assert heights_above(figure, x, z).mean() == pytest.approx(above, rel=1e-9)


def test_a_sensor_leaves_early_and_the_time_out_leaves_anyway():
    poses = np.radians([[[0.0, 0.0], [20.0, 0.0]]])
    drop = start_state(LUXO, clearance=0.05)  # falls for about 0.1 s
    touches = [[1, 0]]
    result = run_trials(LUXO, poses, 1.0, seconds=0.3, starts=drop, sensors=touches, samples=301, stride=1)
    rows = result.rows
    target, force, time = (result.samples[0, :-1, r] for r in (rows.target.start, rows.force.start, rows.time))
    changed = time[np.argmax(target > 0)]
    assert changed == pytest.approx(np.sqrt(2 * 0.05 / 9.81), abs=0.003)
    assert changed == pytest.approx(time[np.argmax(force > 0)], abs=0.0011)
    assert result.time[0] == pytest.approx(0.3, abs=1e-9)
    waits = run_trials(LUXO, poses, 0.05, seconds=0.08, starts=drop, sensors=touches, samples=81, stride=1)
    moved_on = np.argmax(waits.samples[0, :, waits.rows.target.start] > 0)
    assert waits.samples[0, moved_on, waits.rows.time] == pytest.approx(0.05)
    leaves = run_trials(LUXO, poses, 0.05, seconds=0.04, starts=drop, sensors=[[-1, 0]], samples=40, stride=1)
    assert leaves.samples[0, 2, leaves.rows.target.start] > 0  # in the air already


def test_work_and_effort_add_up_from_the_samples():
    result = run_trials(LUXO, random_poses(LUXO, 1) * 0.2, 0.1, seconds=0.4, samples=401, stride=1)
    rows, samples = result.rows, result.samples[0]
    torque = samples[1:, rows.torque]
    velocity = samples[1:, rows.velocity]
    speed = np.diff(velocity[:, 2:], axis=1)
    assert result.effort[0] == pytest.approx((torque**2).sum(0) * 1e-3, rel=1e-9)
    assert result.work[0] == pytest.approx(np.abs(torque * speed).sum(0) * 1e-3, rel=1e-9)


def test_chunks_cover_everything_once():
    for count in (0, 1, 63, 64, 65, 1000, 100_000):
        for threads in (1, 2, 7):
            parts = chunks(count, threads)
            assert [i for part in parts for i in range(*part)] == list(range(count))


def test_wrong_shapes_and_times_are_refused():
    with pytest.raises(Problem, match="2 active joints"):
        run_trials(LUXO, np.zeros((1, 4, 3)), 0.1)
    with pytest.raises(Problem, match="greater than 0"):
        run_trials(LUXO, np.zeros((1, 4, 2)), 0.0)


def test_names_never_reach_the_generated_code():
    figure = load_figure("luxo").model_copy(update={"figure": 'lamp"""; import os; """'})
    assert source_of(figure) == source_of(LUXO)


def test_a_figure_without_joints_is_a_falling_stick():
    document = {
        "figure": "stick",
        "links": {"stick": {"from": [0, 0], "to": [0.2, 0], "mass": 0.1}},
        "contacts": {"a": {"link": "stick", "at": [0, 0]}, "b": {"link": "stick", "at": [0.2, 0]}},
    }
    stick = figure_from(document, subject="stick")
    result = run_trials(stick, np.zeros((1, 1, 0)), 1.0, seconds=2.0, starts=start_state(stick, clearance=0.05))
    assert result.final[0, result.rows.force].sum() == pytest.approx(0.1 * 9.81, rel=1e-6)
    with pytest.raises(Problem, match="none is active"):
        objective_for(stick)


def test_what_explodes_is_worth_nothing_and_does_not_disturb_the_rest():
    brittle = LUXO.model_copy(deep=True)
    brittle.ground.stiffness, brittle.ground.damping = 1e12, 0.0  # far beyond what 1 ms can follow
    objective = objective_for(brittle, {"distance": 1.0, "effort": -1.0, "periodicity": 1.0})
    values = objective(random_poses(brittle, 20).reshape(20, -1))
    assert not np.isnan(values).any()


def test_a_figure_that_may_turn_over_never_falls():
    """Nor does it live on when it has exploded."""
    document = LUXO.model_dump(by_alias=True, exclude_none=True)
    tumbling = figure_from(document | {"fall": "none"}, subject="lamp")
    poses = random_poses(LUXO, 64)
    upright, free = (run_trials(figure, poses, 0.14, seconds=3.0) for figure in (LUXO, tumbling))
    assert upright.fallen.any()
    assert not free.fallen.any()
    assert np.abs(free.final[:, 2]).max() > np.radians(LUXO.fall)
    start = start_state(tumbling)
    start[len(start) // 2 + 2] = 1e200
    assert run_trials(tumbling, poses[:1], 0.14, seconds=0.1, starts=start).fallen[0]
