"""Period classification on made-up series, and the cascade of the notes' Luxo controller."""

import numpy as np
import pytest

from impel.files import Problem
from impel.toys.figure import load_figure
from impel.toys.mechanism import rows_of
from impel.toys.periods import CHAOS, FALLEN, bifurcate, period_name, period_of_toy, periods_of, run_cycles
from impel.toys.toy import Sensor, toy_of

LUXO = load_figure("luxo")
ROWS = rows_of(LUXO)
NOTES = toy_of(LUXO, np.radians([(-60, -97.8), (-53.8, -88.1), (-6.7, -140), (-5.8, 28.5)]), 0.14)


def made_up(sequence):
    """States whose height follows a sequence while x runs away."""
    samples = np.zeros((1, len(sequence), ROWS.saved))
    samples[0, :, 0] = np.arange(len(sequence)) * 0.3
    samples[0, :, 1] = 0.1 * np.asarray(sequence)
    return samples


def logistic(r, count=400):
    x, out = 0.3, []
    for _ in range(count):
        x = r * x * (1 - x)
        out.append(x)
    return out[-80:]


@pytest.mark.parametrize(
    ("r", "period"), [(2.8, 1), (3.2, 2), (3.5, 4), (3.555, 8), (3.9, CHAOS), (3.835, 3), (3.845, 6)]
)  # the logistic map's known windows
def test_the_logistic_maps_periods_are_told_apart(r, period):
    assert periods_of(LUXO, made_up(logistic(r)), ROWS)[0] == period


def test_a_fall_is_no_period():
    samples = made_up(np.ones(60))
    samples[0, 40:] = np.nan
    assert periods_of(LUXO, samples, ROWS)[0] == FALLEN
    assert [period_name(p) for p in (FALLEN, CHAOS, 3)] == ["fallen", "chaos", "period 3"]


def test_the_notes_controller_goes_through_period_doubling_chaos_a_window_of_three_and_back_to_one():
    """002, figure 13 and claim 002.10, at 0.25 ms: in this order as the third transition time shrinks."""
    spans = [(0.12, 0.085, 8), (0.0848, 0.0792, 29), (0.079, 0.036, 87)]
    values = np.concatenate([np.linspace(*span) for span in spans])
    diagram = bifurcate(NOTES, LUXO, "times.2", values, cycles=200)
    wanted = [1, 2, 4, CHAOS, 3, CHAOS, 1]
    for period in diagram.periods:
        if wanted and period == wanted[0]:
            wanted.pop(0)
    assert not wanted, diagram.windows()
    windows = diagram.windows()
    assert max(low - high for period, low, high in windows if period == 3) >= 0.002
    assert max(low - high for period, low, high in windows if period == 1 and low < 0.08) >= 0.004
    assert diagram.periods[0] == 1


def test_periods_do_not_depend_on_a_still_smaller_step():
    for time, period in ((0.13, 1), (0.05, 2), (0.077, 3)):
        toy = NOTES.model_copy(update={"times": [0.14, 0.14, time, 0.14]})
        assert period_of_toy(toy, LUXO, seconds=120.0, step=0.25e-3) == period
        assert period_of_toy(toy, LUXO, seconds=120.0, step=0.125e-3) == period


def test_any_parameter_can_be_varied():
    for parameter, values in (
        ("times.0", [0.13, 0.14]),
        ("poses.1.elbow", [-90.0, -88.1]),
        ("joints.elbow.stiffness", [0.6, 0.7]),
        ("joints.ankle.damping", [0.02, 0.0251]),
        ("ground.friction", [0.7, 0.8]),
    ):
        diagram = bifurcate(NOTES, LUXO, parameter, values, cycles=40, keep=30, step=1e-3)
        assert diagram.states.shape == (2, 30, ROWS.saved)
        assert not np.array_equal(diagram.states[0], diagram.states[1]), parameter
        unchanged = bifurcate(NOTES, LUXO, "times.1", [0.14], cycles=40, keep=30, step=1e-3)
        assert np.allclose(diagram.states[1], unchanged.states[0], atol=1e-6), parameter


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        ("times.0", np.nan, "be 0.001 or more, got nan"),
        ("times.0", 1e-9, "be 0.001 or more, got 1e-09"),
        ("poses.1.elbow", 141.0, "lie within the range -140 to 140, got 141"),
        ("joints.elbow.damping", -0.1, "be 0 or more, got -0.1"),
        ("ground.friction", np.inf, "be 0 or more, got inf"),
    ],
)
def test_values_that_a_toy_cannot_take_are_refused(parameter, value, allowed):
    with pytest.raises(Problem, match=f"{parameter}: must {allowed}"):
        bifurcate(NOTES, LUXO, parameter, [0.1, value])


def test_a_figure_without_motors_has_no_poses_to_vary():
    limp = LUXO.model_copy(deep=True)
    for joint in limp.joints.values():
        joint.active = False
    with pytest.raises(Problem, match=r"foo: no such parameter; write times.0 to times.0, joints.ankle.stiffness"):
        bifurcate(toy_of(limp, np.zeros((1, 0)), 0.1), limp, "foo", [1.0])


def test_unknown_parameters_and_sensors_are_refused():
    for parameter in ("times.9", "poses.0.knee", "joints.knee.stiffness", "mass", "times.x"):
        with pytest.raises(Problem, match=f"{parameter}: no such parameter; write times.0 to times.3"):
            bifurcate(NOTES, LUXO, parameter, [1.0])
    sensing = NOTES.model_copy(update={"sensors": [Sensor(touches="toe"), None, None, None]})
    with pytest.raises(Problem, match="has sensors"):
        bifurcate(sensing, LUXO, "times.0", [0.1])


@pytest.mark.parametrize("slope", [-3.0, -1.0, 1.0, 3.0])
def test_a_hop_that_repeats_along_a_slope_is_periodic(slope):
    """Against the plain definition: states counted from the ground that repeat to 1e-6 after so many cycles."""
    figure = LUXO.model_copy(deep=True)
    figure.ground.slope = slope
    result = run_cycles(NOTES, figure, [NOTES.times], cycles=220)
    samples = result.samples[0, -60:]
    assert not result.fallen[0]
    states = samples[:, 1 : result.rows.velocity.stop].copy()
    states[:, 0] -= samples[:, 0] * np.tan(np.radians(slope))
    repeats = [p for p in range(1, 17) if np.abs(states[p:] - states[:-p]).max() < 1e-6]
    assert repeats
    assert periods_of(figure, result.samples[:, -64:], result.rows, exact=True)[0] == repeats[0]
    assert periods_of(figure, result.samples[:, -64:], result.rows)[0] != CHAOS
    assert abs(np.ptp(samples[:, 1])) > 0.1  # it has climbed or descended all the while
