"""What a gait does: the claims of paper 002 on the body, footfalls, phase curves, takes and charts."""

from pathlib import Path

import numpy as np
import pytest

from impel.analysis.plots import color
from impel.analysis.toys import (
    period_ink,
    write_bifurcation,
    write_footfalls,
    write_joints,
    write_phase,
    write_tracking,
)
from impel.files import Problem
from impel.motion.orientations import matrix_from_quaternion
from impel.takes import EVENT_KINDS
from impel.toys.figure import load_figure
from impel.toys.measures import compare_interpolations, footfalls, joint_table, phase, series, sweep_gain, tracking
from impel.toys.mechanism import ground_at, mechanism_of
from impel.toys.performance import record, take_of
from impel.toys.periods import bifurcate, period_name
from impel.toys.toy import read_toy, run_toy, toy_of
from impel.toys.trials import contact_points, gains_of, run_trials, start_state

LUXO = load_figure("luxo")
NOTES = toy_of(LUXO, np.radians([(-60, -97.8), (-53.8, -88.1), (-6.7, -140), (-5.8, 28.5)]), 0.14)
RUN, CHEETAH = read_toy(Path(__file__).with_name("cheetah_run.yaml"))


def sweep_cheetah(gain, values):
    return sweep_gain(CHEETAH, RUN.angles(CHEETAH)[None], RUN.times, gain, values)


def test_the_cheetahs_back_does_about_28_percent_of_the_work_and_none_when_stiff():
    """Claim 002.7: the share, and that a stiffer back is slower for the same controller."""
    sweep = sweep_cheetah("damping", [0.004, 0.05, 1.0])
    assert sweep.nominal == 0
    assert 0.2 <= sweep.share[0] <= 0.36
    assert sweep.share[2] < 0.05
    assert sweep.distance[0] > 2.0
    assert sweep.distance[1:].max() < 0.8 * sweep.distance[0]


def test_less_damping_than_nominal_is_not_faster():
    """Claim 002.8 does not hold."""
    sweep = sweep_cheetah("damping", [0.002, 0.003, 0.004])
    assert sweep.distance[2] > sweep.distance[:2].max()


def test_the_backs_own_stiffness_suits_its_controller():
    """Claim 002.9: 0.12 is near the optimum, a soft back trips or is slow."""
    sweep = sweep_cheetah("stiffness", [0.06, 0.08, 0.12, 0.2, 0.4, 1.0])
    assert np.argmax(sweep.distance) == 2
    assert sweep.distance[:2].max() < 0.6 * sweep.distance[2]


def test_held_poses_are_about_twice_as_energetic_as_linear_ones():
    """Claim 002.1, over random pose graphs of the bounder that stay up both ways."""
    bounder = load_figure("bounder")
    low, high = np.radians(np.array(bounder.ranges())).T
    poses = np.random.default_rng(0).uniform(low, high, (96, 4, len(low)))
    both = compare_interpolations([toy_of(bounder, p, 0.1) for p in poses], bounder, step=1e-3)
    stood = ~both["hold"].fallen & ~both["linear"].fallen
    ratio = both["hold"].work[stood].sum(1) / both["linear"].work[stood].sum(1)
    assert stood.sum() > 30
    assert 1.4 <= np.median(ratio) <= 2.8


def test_a_sweep_changes_only_the_joints_it_names():
    """Two toys from two heights: every one as if run alone, and the worst of its starts counts."""
    poses = np.stack([NOTES.angles(LUXO), 0.5 * NOTES.angles(LUXO)])
    heights = (0.0, 0.02)
    sweep = sweep_gain(
        LUXO, poses, NOTES.times, "damping", [0.0251, 0.03], joints=["elbow"], heights=heights, seconds=1.0
    )
    gains = gains_of(LUXO)
    gains[3] = 0.03
    for i in range(2):
        starts = [start_state(LUXO, clearance=height) for height in heights]
        alone = run_trials(LUXO, poses[[i, i]], NOTES.times, seconds=1.0, step=0.25e-3, gains=gains, starts=starts)
        assert sweep.distance[1, i] == alone.distance.min()
        assert sweep.share[1, i] == pytest.approx((alone.work[:, 1] / alone.work.sum(1)).mean())
        assert sweep.effort[1, i] == pytest.approx((alone.effort.sum(1) / alone.time).mean())
    assert np.array_equal(sweep.change(sweep.distance)[:1], [1.0])
    with pytest.raises(Problem, match="luxo has no such joints to sweep; there are ankle, elbow"):
        sweep_gain(LUXO, poses, NOTES.times, "damping", [1.0])


def test_footfalls_say_when_the_ground_carries():
    result = run_toy(NOTES, LUXO, seconds=2.0)
    spans = footfalls(LUXO, result)
    time, force = result.samples[0, :, result.rows.time], result.samples[0, :, result.rows.force]
    for k, name in enumerate(LUXO.contacts):
        within = np.zeros(len(time), bool)
        for a, b in spans[name]:
            within |= (time >= a - 1e-12) & (time < b - 1e-12)
        assert np.array_equal(within[:-1], force[:-1, k] > 0)
    assert len(spans["toe"]) >= 3


def test_phase_curves_close_when_the_gait_repeats():
    curve = phase(NOTES, LUXO, settle=10.0, cycles=4)
    assert curve.period == 1
    assert np.ptp(curve.marks, axis=0).max() < 1e-3
    assert curve.curve[:, 1].max() > 0.02  # it hops


def test_series_are_in_the_units_they_say():
    result = run_toy(NOTES, LUXO, seconds=0.3)
    states, rows = result.samples[0], result.rows
    elbow = series(LUXO, rows, states, "angle elbow")
    assert elbow == pytest.approx(np.degrees(states[:, 4] - states[:, 3]))
    assert set(np.round(series(LUXO, rows, states, "target elbow"), 6)) == {-97.8, -88.1, -140.0}
    with pytest.raises(Problem, match="flair: no such quantity; there are x, height"):
        series(LUXO, rows, states, "flair")


def test_a_joint_named_after_a_tilt_keeps_its_torque_in_newton_metres():
    figure = LUXO.model_copy(deep=True)
    figure.joints = {"tilter": figure.joints["ankle"], "elbow": figure.joints["elbow"]}
    poses = [{"tilter": pose["ankle"], "elbow": pose["elbow"]} for pose in NOTES.poses]
    result = run_toy(NOTES.model_copy(update={"poses": poses}), figure, seconds=0.1)
    states, rows = result.samples[0], result.rows
    assert np.array_equal(series(figure, rows, states, "torque tilter"), states[:, rows.torque.start])
    assert np.array_equal(series(figure, rows, states, "target tilter"), np.degrees(states[:, rows.target.start]))
    assert np.array_equal(series(figure, rows, states, "speed tilt"), np.degrees(states[:, rows.velocity.start + 2]))


@pytest.mark.parametrize("name", ["luxo", "cheetah"])
def test_a_take_shows_the_figure_where_the_simulator_has_it(name):
    toy, figure = (NOTES, LUXO) if name == "luxo" else (RUN, CHEETAH)
    result = run_toy(toy, figure, seconds=1.0)
    take = record(figure, result, fps=100.0)
    assert take.position.shape[0] == 101
    assert {*figure.links, "ground"} <= set(take.names)
    assert np.linalg.norm(take.orientation, axis=-1) == pytest.approx(1.0)
    assert {event["kind"] for event in take.events} <= set(EVENT_KINDS)
    # Contact points drawn at a link's end must be where that end of the drawing has gone.
    states, rows = result.samples[0], result.rows
    at = np.array([np.argmin(np.abs(states[:, rows.time] - t)) for t in take.time])
    points = contact_points(mechanism_of(figure), states[at])
    checked = 0
    for k, contact in enumerate(figure.contacts.values()):
        link = figure.links[contact.link]
        if contact.at not in (link.start, link.end):
            continue
        i = take.index(contact.link)
        half = np.array([link.end[0] - link.start[0], 0.0, link.end[1] - link.start[1]]) / 2
        axis = matrix_from_quaternion(take.orientation[:, i]) @ half
        ends = np.stack([take.position[:, i] + axis, take.position[:, i] - axis])[:, :, [0, 2]]
        assert np.linalg.norm(ends - points[:, k], axis=-1).min(axis=0).max() < 5e-3
        checked += 1
    assert checked >= 3


def test_a_take_of_a_fall_ends_there_and_says_so():
    tipping = toy_of(LUXO, np.radians([[-60.0, -140.0], [60.0, 140.0]]), 0.3)
    result = run_toy(tipping, LUXO, seconds=10.0)
    assert result.fallen[0]
    take = take_of(tipping, LUXO, seconds=10.0)
    assert take.time[-1] <= result.time[0]
    assert take.events[-1]["kind"] == "fall"


def test_a_profile_is_drawn_where_it_is():
    figure = LUXO.model_copy(deep=True)
    figure.ground.profile = [(-1.0, 0.0), (0.2, 0.0), (0.6, 0.05), (5.0, 0.05)]
    take = take_of(NOTES, figure, seconds=0.5)
    pieces = [i for i, name in enumerate(take.names) if name.startswith("ground")]
    assert len(pieces) >= 2
    for i in pieces:
        size = take.shapes[i]["box"]
        turn = matrix_from_quaternion(take.orientation[0, i])
        top = take.position[0, i] + turn @ [0, 0, size[2] / 2 + 0.008]  # drawn one skin lower, the arm's
        assert top[2] == pytest.approx(ground_at(figure, top[0]), abs=1e-9)


def test_charts_and_tables_show_what_was_computed(tmp_path, pixels_of):
    result = run_toy(NOTES, LUXO, seconds=1.0)
    curve = phase(NOTES, LUXO, settle=2.0, cycles=2, step=1e-3)
    diagram = bifurcate(NOTES, LUXO, "times.2", np.linspace(0.1, 0.14, 5), cycles=40, keep=30, step=1e-3)
    heights = series(LUXO, diagram.rows, diagram.states, "height")
    kinds = [period_name(period) for period in diagram.periods]
    for suffix in ("png", "csv", "svg"):
        write_phase(tmp_path / f"phase.{suffix}", curve.curve, curve.marks, labels=("tilt (°)", "height (m)"))
        write_bifurcation(tmp_path / f"bifurcation.{suffix}", diagram.values, heights, kinds, labels=("times.2", "z"))
        write_footfalls(tmp_path / f"footfalls.{suffix}", footfalls(LUXO, result))
        write_tracking(tmp_path / f"tracking.{suffix}", *tracking(LUXO, result, "elbow"), joint="elbow")
        write_joints(tmp_path / f"joints.{suffix}", joint_table(LUXO, result))
    assert len(list(tmp_path.iterdir())) == 15
    inks = {"phase": color(1), "footfalls": color(1), "tracking": color(0), "joints": color(0)}
    inks["bifurcation"] = period_ink(kinds[-1])
    for name, ink in inks.items():  # an empty chart has none of them
        assert pixels_of(tmp_path / f"{name}.png", ink) > 100, name
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
    rows = (tmp_path / "bifurcation.csv").read_text().splitlines()
    assert len(rows) == 1 + 5 * 30
    assert sum(row["share of work"] for row in joint_table(LUXO, result)) == pytest.approx(1.0)
    with pytest.raises(Problem, match="expected a picture"):
        write_phase(tmp_path / "phase.docx", curve.curve, curve.marks, labels=("a", "b"))
