"""One body, one path: the closed forms of paper 003, as corrected."""

import math

import numpy as np
import pytest
from control_loop import EARTH, ORIENTATION, POSITION, TARGET, VELOCITY, move, one_body, run, turn

from impel.control.actuators import Actuators
from impel.control.specs import ActuatorSpec, auto_strength, largest_stable_step
from impel.physics.bodies import Bodies

FAR = [[0, 0, 0], [1000, 0, 0]]


def rate(alpha: float, relaxation: float) -> float:
    return math.sqrt(2 * alpha) / relaxation


def steady_speed(spec: ActuatorSpec) -> float:
    """On a straight path: d·√(α/2)/(B·Δt), metres or radians alike."""
    return spec.base * math.sqrt(spec.alpha / 2) / (spec.elasticity * spec.relaxation)


def about(axis, degrees):
    half = math.radians(degrees) / 2
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return [math.cos(half), *(math.sin(half) * axis)]


@pytest.mark.parametrize(("alpha", "elasticity", "relaxation"), [(0.1, 0.7, 0.06), (0.3, 1.0, 0.1), (0.05, 0.5, 0.04)])
def test_runs_at_the_steady_speed_on_a_straight_path(alpha, elasticity, relaxation):
    spec = move(FAR, alpha=alpha, elasticity=elasticity, relaxation=relaxation)
    _, trace = run(*one_body(spec), seconds=5)
    assert trace[-1, 3] == pytest.approx(steady_speed(spec), rel=1e-3)


def test_turns_at_the_steady_speed():
    spec = turn([about([0, 0, 1], d) for d in np.arange(0, 3000, 100)], 0.4, alpha=0.05, elasticity=0.7)
    bodies, actuators = one_body(spec, inertia=(0.01, 0.02, 0.04))
    run(bodies, actuators, seconds=5)
    assert bodies.spin[0, 2] == pytest.approx(steady_speed(spec), rel=1e-3)


def response(elasticity, wn, t):
    """A damped oscillator released at 1: the curves of figure 2."""
    b = elasticity
    if b < 1:
        wd = wn * math.sqrt(1 - b * b)
        return np.exp(-b * wn * t) * (np.cos(wd * t) + b * wn / wd * np.sin(wd * t))
    if b == 1:
        return np.exp(-wn * t) * (1 + wn * t)
    s1, s2 = (-b + math.sqrt(b * b - 1)) * wn, (-b - math.sqrt(b * b - 1)) * wn
    return (s1 * np.exp(s2 * t) - s2 * np.exp(s1 * t)) / (s1 - s2)


@pytest.mark.parametrize("elasticity", [2.0, 1.0, 0.7, 0.3])
def test_damping_curves_of_figure_2(elasticity):
    spec = move([[0, 0, 0]], base=2.0, alpha=0.1, relaxation=0.1, elasticity=elasticity, adaptation=0)
    t, trace = run(*one_body(spec, at=(1, 0, 0)), seconds=3, dt=2e-4)
    np.testing.assert_allclose(trace[:, 0], response(elasticity, rate(0.1, 0.1), t), atol=5e-4)


def test_overshoot_at_elasticity_07():
    bodies, actuators = one_body(move([[0, 0, 0]], base=2.0, elasticity=0.7), at=(1, 0, 0))
    _, trace = run(bodies, actuators, seconds=2)
    assert -trace[:, 0].min() == pytest.approx(0.046, abs=0.003)


@pytest.mark.parametrize("inertia", [(0.02, 0.02, 0.02), (0.002, 0.01, 0.011)])
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3)])
def test_turns_of_any_angle_settle_in_the_same_time(inertia, axis):
    settled = []
    for degrees in (10, 90, 179.9, 180):
        spec = turn([about(axis, 0), about(axis, degrees)], base=math.radians(190), elasticity=0.7)
        t, trace = run(*one_body(spec, inertia=inertia), seconds=3, dt=5e-4)
        left = 2 * np.arccos(np.clip(np.abs(trace[:, ORIENTATION] @ about(axis, degrees)), 0, 1))
        settled.append(t[np.flatnonzero(left > 0.05 * math.radians(degrees))[-1]])
    assert max(settled) < 1.05 * min(settled)


def test_a_first_turn_by_180_degrees_goes_the_way_the_path_does():
    for sign in (1, -1):
        keys = [about([0, 0, 1], d) for d in (0, sign * 90, sign * 180)]
        bodies, actuators = one_body(turn(keys, base=math.radians(190)))
        run(bodies, actuators, seconds=0.2)
        assert sign * bodies.spin[0, 2] > 1.0


@pytest.mark.parametrize(("alpha", "relaxation"), [(0.1, 0.06), (0.2, 0.1)])
def test_uncorrected_sag(alpha, relaxation):
    spec = move([[0, 0, 0]], base=1.0, alpha=alpha, relaxation=relaxation, adaptation=0)
    _, trace = run(*one_body(spec), seconds=4, gravity=EARTH)
    assert -trace[-1, 2] == pytest.approx(9.81 * relaxation**2 / (2 * alpha), rel=0.01)


@pytest.mark.parametrize("wn", [4.5, 10.0, 20.0])
@pytest.mark.parametrize("strength", [2.0, math.inf])
def test_correction_removes_the_sag(wn, strength):
    relaxation = math.sqrt(0.2) / wn
    spec = move(FAR, alpha=0.1, relaxation=relaxation, adaptation=5, strength=strength * 9.81)
    t, trace = run(*one_body(spec), seconds=4, gravity=EARTH)
    sag = 9.81 * relaxation**2 / 0.2
    assert np.abs(trace[t > 1, 2]).max() < 0.10 * sag
    assert np.abs(trace[t > 3, 2]).max() < 0.01 * sag


def test_correction_invents_no_torque():
    """Free of any load, an uneven body on a turning path learns nothing: eqs. 7 and 8 are exact."""
    keys = [about([0, 0, 1], 0), about([0, 1, 1], 90), about([1, 0, 0], 170)]
    bodies, actuators = one_body(turn(keys, 0.5), inertia=(0.002, 0.01, 0.011))
    run(bodies, actuators, seconds=1, dt=1 / 240)
    assert np.abs(actuators.learnt).max() < 1e-12


@pytest.mark.parametrize(("alpha", "elasticity"), [(0.1, 0.5), (0.1, 1.2)])
def test_random_steps_stay_within_twice_the_error_of_even_ones(alpha, elasticity):
    """The paper's test: a resting target, steps at random between 0.1 and 1.9 times the mean."""
    rng = np.random.default_rng(7)
    dt, relaxation = 0.01, 0.1
    spec = move([[0, 0, 0]], base=2.0, alpha=alpha, relaxation=relaxation, elasticity=elasticity, adaptation=0)

    def error(steps):
        t, trace = run(*one_body(spec, at=(1, 0, 0)), seconds=0, steps=steps)
        return np.abs(trace[:, 0] - response(elasticity, rate(alpha, relaxation), t)).max()

    even = error(np.full(150, dt))
    uneven = [error(dt * rng.uniform(0.1, 1.9, 150)) for _ in range(20)]
    assert np.median(uneven) < 2 * even
    assert max(uneven) < 2.5 * even


def test_last_key_is_reached_and_kept():
    spec = move([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    bodies, actuators = one_body(spec)
    t, trace = run(bodies, actuators, seconds=4)
    assert actuators.done[0] == 1.0
    assert np.linalg.norm(trace[-1, POSITION] - [1, 1, 0]) < 1e-3 * spec.base
    at_end = t[np.flatnonzero((trace[:, TARGET] == [1, 1, 0]).all(1))[0]]
    near = t[np.flatnonzero(np.linalg.norm(trace[:, POSITION] - [1, 1, 0], axis=1) > 0.01 * spec.base)[-1]]
    assert near - at_end < 14 * spec.relaxation  # 12.8 was measured


def test_loops_go_round_at_steady_speed():
    circle = [[math.cos(a), math.sin(a), 0] for a in np.arange(12) * math.tau / 12]
    spec = move(circle, loop=True)
    bodies, actuators = one_body(spec, at=(1, 0, 0))
    _, trace = run(bodies, actuators, seconds=12)
    radius = np.linalg.norm(trace[2000:, POSITION], axis=1)
    assert actuators.lap[0] >= 2
    assert actuators.done[0] == 0
    # With elasticity 1/√2 the radius is right to d⁴; the polygon of keys itself is off by 0.1 %.
    assert np.abs(radius - 1).max() < 0.005
    speed = np.linalg.norm(trace[2000:, VELOCITY], axis=1)
    assert speed.mean() == pytest.approx(steady_speed(spec), rel=0.03)


def test_strength_is_never_exceeded_and_saturation_is_told():
    spec = move(FAR, strength=3.0)
    bodies, actuators = one_body(spec, at=(-5, 0, 0))
    run(bodies, actuators, seconds=0.1)
    assert np.linalg.norm(bodies.push[0]) == pytest.approx(3.0)
    assert actuators.saturated[0] == 1.0
    bodies, actuators = one_body(move(FAR, strength=auto_strength(9.81, 1.0, spec.stiffness, spec.base)))
    for _ in range(100):
        run(bodies, actuators, seconds=0.02, gravity=EARTH, dt_last=1e-3)
        assert actuators.saturated[0] == 0.0


def test_restored_state_continues_with_the_same_bits():
    keys = [[0, 0, 0], [1, 0.3, 0], [1.5, 1, 0.5]]
    specs = (move(keys), turn([about([0, 0, 1], 0), about([1, 0, 1], 170)], 0.4))
    bodies, actuators = one_body(*specs, inertia=(0.002, 0.01, 0.011))

    def state():
        return [getattr(bodies, n) for n in Bodies.STATE] + [getattr(actuators, n) for n in Actuators.STATE]

    run(bodies, actuators, seconds=0.3, gravity=EARTH)
    saved = [array.copy() for array in state()]
    first = run(bodies, actuators, seconds=0.3, gravity=EARTH, dt_last=1e-3)[1]
    after = [array.copy() for array in state()]
    for array, was in zip(state(), saved, strict=True):
        array[...] = was
    for name in ("room", "missed"):  # scratch carries nothing over
        getattr(actuators, name)[...] = np.nan
    for name in ("acceleration", "turning", "force", "torque"):
        getattr(actuators.linkage, name)[...] = np.nan
    second = run(bodies, actuators, seconds=0.3, gravity=EARTH, dt_last=1e-3)[1]
    assert np.array_equal(first, second)
    for array, was in zip(state(), after, strict=True):
        assert np.array_equal(array, was)


def test_largest_stable_step():
    spec = move(FAR, alpha=0.1, relaxation=0.08, elasticity=0.7)
    assert largest_stable_step([spec]) == pytest.approx(0.02)
    stiff = move(FAR, alpha=32.0, relaxation=0.08, elasticity=0.625)
    assert largest_stable_step([spec, stiff]) == pytest.approx(0.08 / 5 / 2)  # β = 5: half of Δt/β
    damped = move(FAR, alpha=32.0, relaxation=0.08, elasticity=1.25)
    assert largest_stable_step([spec, damped]) == pytest.approx(10 * 0.08 / 32 / 2)  # β = 10: half of βΔt/α
    assert largest_stable_step([]) == math.inf


def test_one_actuator_of_a_kind_per_body():
    with pytest.raises(ValueError, match="already has a move actuator"):
        one_body(move(FAR), move(FAR))
