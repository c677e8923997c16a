"""Trajectory control on whole scenes, from file to take: the closed forms of paper 003, as corrected."""

import math

import numpy as np
import pytest

from impel.scene import Scene
from impel.scene.derived import drive, sag
from impel.stage import Performance, simulate

SPACE, EARTH = (0.0, 0.0, 0.0), (0.0, 0.0, -9.81)
BASE = 0.3  # m
FAR = 100.0  # m: where level paths end


def level(gravity=SPACE, *, seconds=4.0, fps=120, **wish):
    """A ball on a straight, level path."""
    scene = Scene(gravity=gravity, seconds=seconds, fps=fps)
    ball = scene.body("ball", sphere=0.1, mass=1, at=[0, 0, 1])
    ball.move([[0, 0, 1], [FAR, 0, 1]], **{"base_distance": BASE, **wish})
    return scene


def numbers_of(scene):
    return drive(scene.actors["ball"].move)


def test_paths_point_the_way_and_speed_is_reached_exactly():
    for wish in ({"alpha": 0.1, "relaxation": 0.06, "elasticity": 0.7}, {"alpha": 0.3, "elasticity": 1.2}):
        scene = level(**wish)
        numbers = numbers_of(scene)
        expected = BASE * math.sqrt(numbers.alpha / 2) / (numbers.elasticity * numbers.relaxation)
        speed = simulate(scene).channels["ball.speed"]
        assert speed[-60:] == pytest.approx(expected, rel=1e-3)


def test_speed_asked_for_is_speed_reached_under_gravity():
    speed = simulate(level(EARTH, speed=1.7)).channels["ball.speed"]
    assert speed[-60:] == pytest.approx(1.7, rel=1e-3)


def test_overshoot_at_elasticity_07():
    scene = Scene(gravity=SPACE, seconds=2, fps=240)
    ball = scene.body("ball", sphere=0.1, mass=1, at=[1, 0, 0])
    ball.move([[0, 0, 0], [0, 0, 0]], base_distance=2, elasticity=0.7, strength="unlimited")
    left = simulate(scene).position[:, 0, 0]
    assert -left.min() == pytest.approx(0.046, abs=0.003)


@pytest.mark.parametrize(("alpha", "relaxation"), [(0.1, 0.06), (0.2, 0.1)])
def test_uncorrected_sag(alpha, relaxation):
    scene = level(EARTH, alpha=alpha, relaxation=relaxation, adaptation=0)
    height = simulate(scene).position[:, 0, 2]
    assert 1 - height[-1] == pytest.approx(9.81 * relaxation**2 / (2 * alpha), rel=0.01)


@pytest.mark.parametrize("swing", [4.5, 10.0])  # ω_n, 1/s
@pytest.mark.parametrize("strength", [2 * 9.81, "auto"])
@pytest.mark.parametrize("knows", [True, False])
def test_correction_removes_the_sag(swing, strength, knows):
    """Whether an actor knows its weight from the start, as it does, or has to learn it."""
    relaxation = math.sqrt(0.2) / swing
    scene = level(EARTH, alpha=0.1, relaxation=relaxation, adaptation=5, strength=strength)
    performance = Performance(scene)
    if not knows:
        performance.stage.actuators.knows[:] = 0
    below = []
    for _ in range(performance.compiled.frames - 1):
        performance.next_frame()
        below.append(abs(1 - performance.stage.bodies.position[0, 2]))
    below = np.array(below) / sag(numbers_of(scene), scene.world)
    assert below[120:].max() < 0.10
    assert below[360:].max() < 0.01
    if not knows:
        assert below.max() > 0.10


@pytest.mark.slow
@pytest.mark.parametrize("relaxation", [0.04, 0.06, 0.08, 0.1])
@pytest.mark.parametrize("gravity", [EARTH, SPACE])
@pytest.mark.parametrize("adaptation", [5, 20])
def test_blocked_actor_does_not_shoot_off_when_released(relaxation, gravity, adaptation):
    """A wall stands in the way for over a second, then it is drawn away ahead of the ball."""
    scene = level(gravity, seconds=5, relaxation=relaxation, adaptation=adaptation)
    release = 3.0
    wall = [
        {"time": 0, "at": [1.6, 0, 1]},
        {"time": release, "at": [1.6, 0, 1]},
        {"time": release + 0.5, "at": [30, 0, 1]},
    ]
    scene.body("wall", box=[1, 2, 2], at=[1.6, 0, 1], follows=wall, linear=True)
    take = simulate(scene)
    time, x, speed = take.time, take.position[:, 0, 0], take.channels["ball.speed"]
    nominal = numbers_of(scene).speed
    second = (time > release - 1.1) & (time < release)
    assert np.ptp(x[second]) < 0.01
    assert speed[second].max() < 0.05 * nominal
    assert x[second].max() < 1.03  # the wall's face is at 1.1, and the ball's radius 0.1
    assert speed[time > release].max() < 1.3 * nominal
    assert speed[-30:] == pytest.approx(nominal, rel=0.05)
    assert np.abs(take.position[time > release, 0, 2] - 1).max() < 0.1


@pytest.mark.parametrize("degrees", [10.0, 90.0, 179.9, 180.0])
def test_turns_settle_in_the_same_time(degrees):
    scene = Scene(gravity=SPACE, seconds=1.5, fps=480)
    rod = scene.body("rod", box=[0.6, 0.2, 0.1], mass=1, at=[0, 0, 1])
    rod.turn(
        [{"euler": [0, 0, 0]}, {"euler": [0, 0, degrees]}], base_angle=185, elasticity=0.7, relaxation=0.06,
        strength="unlimited",
    )  # fmt: skip
    take = simulate(scene)
    turned = np.degrees(2 * np.arctan2(take.orientation[:, 0, 3], take.orientation[:, 0, 0])) % 360
    left = np.abs((degrees - turned + 180) % 360 - 180)
    settled = take.time[np.flatnonzero(left > 0.05 * degrees)[-1]]
    rate = math.sqrt(0.2) / 0.06
    assert settled == pytest.approx(2.9 / rate, rel=0.05)  # the closed form for a damping ratio of 0.7


@pytest.mark.parametrize("elasticity", [math.sqrt(0.5), 2.0, 5.0])
def test_a_fast_actor_with_much_damping_flies_at_its_speed_in_steps_of_no_less_than_half_its_base(elasticity):
    """Its damping, up to 260 000 per second, would ask for steps of 4 µs."""
    speed, base = 27.4, 0.0042
    scene = Scene(seconds=0.12, fps=100, gravity=[0, 0, 0])
    dart = scene.body("dart", sphere=0.05, mass=1)
    dart.move([[0, 0, 0], [2, 0, 0]], speed=speed, base_distance=base, elasticity=elasticity)
    pace = Performance(scene).compiled.pace
    assert pace.frame_seconds / pace.steps > 0.99 * 0.5 * base / speed
    take = simulate(scene)
    flight = (take.time > 0.005) & (take.time < 0.065)
    np.testing.assert_allclose(np.diff(take.position[flight, 0, 0]), 0.01 * speed, rtol=1e-6)
    assert np.all(take.position[:, 0, 0] < 2 + base)
    np.testing.assert_allclose(take.position[-1, 0], [2, 0, 0], atol=1e-3)
