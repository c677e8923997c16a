"""Ball joints with limits: how far b may lean, and turn about its own axis."""

import numpy as np
import pytest
from jointed import GRAVITY, NOTHING_TOLD, advance, bodies_at, energy, jointed

from impel.motion.orientations import matrix_from_quaternion
from impel.physics.joint_specs import JointSpec

LENGTH, MASS, INERTIA = 0.5, 2.0, (0.03, 0.04, 0.02)
CONE, TWIST = 0.6, (-0.3, 0.5)
HELD = 1e-6  # rad


def top(spin, **fields):
    """A body below a ball joint to the world, its axis straight down."""
    bodies = bodies_at(
        [(0, 0, 0), (0, 0, -LENGTH)], mass=MASS, inertia=INERTIA, spin=[(0, 0, 0), spin],
        velocity=[(0, 0, 0), np.cross(spin, (0, 0, -LENGTH))],
    )  # fmt: skip
    return bodies, jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0), axis=(0, 0, -1), **fields))


def lean(orientation):
    """The angle of the body's axis from straight down, from its matrix."""
    return np.arccos(np.clip(matrix_from_quaternion(orientation)[2, 2], -1, 1))


@pytest.mark.parametrize("seed", range(4))
def test_lean_and_twist_stay_within_their_limits_whatever_the_swing(seed):
    spin = np.random.default_rng(seed).normal(size=3) * 15
    bodies, joints = top(spin, cone=CONE, twist=TWIST)
    first, met = energy(bodies), set()
    for _ in range(1440):
        assert advance(bodies, joints, GRAVITY, 1 / 480, 1, NOTHING_TOLD) == 0
        assert lean(bodies.orientation[1]) < CONE + HELD
        assert TWIST[0] - HELD < joints.coordinate[1] < TWIST[1] + HELD
        met |= set(zip(("lean", "twist"), joints.active))
    assert {("lean", 1.0), ("twist", 1.0 if spin[2] < 0 else -1.0)} <= met
    assert energy(bodies) < first + 1e-6


def test_pressed_against_its_cone_a_pendulum_goes_round_without_a_loss():
    """Whirled fast, it goes along the cone at a steady speed: the limit holds it and takes nothing from it."""
    tilt, rate = 0.4, 9.0
    place = LENGTH * np.array([np.sin(tilt), 0, -np.cos(tilt)])
    turned = [(1, 0, 0, 0), (np.cos(tilt / 2), 0, -np.sin(tilt / 2), 0)]
    bodies = bodies_at(
        [(0, 0, 0), place], mass=MASS, inertia=(0.03, 0.03, 0.02), spin=[(0, 0, 0), (0, 0, rate)],
        velocity=[(0, 0, 0), np.cross((0, 0, rate), place)], orientations=np.array(turned),
    )  # fmt: skip
    # The frames of both bodies agree at the start, so the cone is about the tilted axis.
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0), axis=(0, 0, -1), cone=CONE))
    kept = []
    for n in range(2000):
        assert advance(bodies, joints, GRAVITY, 1e-3, 1, NOTHING_TOLD) == 0
        if joints.active[0] == 1.0:
            assert joints.coordinate[0] == pytest.approx(CONE, abs=HELD)
            kept.append((n, energy(bodies)))
    runs = np.split(np.array(kept), np.flatnonzero(np.diff([n for n, _ in kept]) > 1) + 1)
    longest = max(runs, key=len)[2:]  # after the blow
    assert len(longest) > 50
    assert np.ptp(longest[:, 1]) < 1e-5 * np.abs(longest[:, 1]).max()


def test_twist_is_what_is_left_when_the_lean_is_taken_back_the_shortest_way():
    rng = np.random.default_rng(5)
    for _ in range(20):
        bodies, joints = top((0, 0, 0), twist=(-3.0, 3.0))
        direction = np.r_[rng.normal(size=2), 0]
        by, angle = rng.uniform(0, 2.5), rng.uniform(-2.5, 2.5)
        swing = np.r_[np.cos(by / 2), np.sin(by / 2) * direction / np.linalg.norm(direction)]
        # About the axis, which points down.
        turn = np.array([np.cos(angle / 2), 0, 0, -np.sin(angle / 2)])
        from impel.motion.orientations import multiply_quaternions
        from impel.physics.joint_rows import look

        bodies.orientation[1] = multiply_quaternions(swing, turn)
        bodies.position[1] = matrix_from_quaternion(bodies.orientation[1]) @ (0, 0, -LENGTH)
        joints.coordinate[1] = 0.9 * angle
        look(bodies, joints, 0, 1, False)
        assert joints.coordinate[0] == pytest.approx(by, abs=1e-9)
        assert joints.coordinate[1] == pytest.approx(angle, abs=1e-9)


def test_a_twist_stops_a_spin_at_its_limit_for_good():
    for rate, limit in ((4.0, TWIST[0]), (-4.0, TWIST[1])):  # the axis points down
        bodies, joints = top((0, 0, rate), twist=TWIST)
        assert advance(bodies, joints, GRAVITY, 1e-3, 500, NOTHING_TOLD) == 0
        assert joints.coordinate[1] == pytest.approx(limit, abs=1e-9)
        assert np.abs(bodies.spin[1]).max() < 1e-9
