"""Each kind of joint against a closed form or an independent solution."""

import numpy as np
import pytest
from jointed import GRAVITY, NOTHING_TOLD, advance, bodies_at, follow, jointed
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from impel.motion.orientations import matrix_from_quaternion
from impel.physics.joint_specs import JointSpec

WEIGHTLESS = (0.0, 0.0, 0.0)
TINY = (1e-3, 1e-3, 1e-3)  # inertia of what is meant as a point held at its centre
FRAMES = np.linspace(0, 2, 201)


def truth(rates, start, seconds=2.0):
    times = np.linspace(0, seconds, round(100 * seconds) + 1)
    return solve_ivp(rates, (0, seconds), start, t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853").y


def test_ball_is_a_spherical_pendulum():
    """A body on a ball joint at distance l from its centre, against a point mass with the inertia it feels."""
    length, mass, across = 0.5, 2.0, 0.05
    bodies = bodies_at(
        [(0, 0, 0), (length, 0, 0)], mass=mass, inertia=(1e-12, across, across), velocity=[(0, 0, 0), (0, 1, 0)],
        spin=[(0, 0, 0), (0, 0, 1 / length)],
    )  # fmt: skip
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)))
    positions, _, _ = follow(bodies, joints, 2.0)
    pull = 9.81 * mass * length / (mass * length**2 + across)  # of a direction u: u'' = -pull·z + tension·u

    def rates(_, y):
        u, w = y[:3], y[3:]
        down = pull * np.array([0, 0, -1.0])
        return np.r_[w, down - (down @ u + w @ w) * u]

    expected = truth(rates, (1, 0, 0, 0, 1 / length, 0))[:3].T * length
    assert np.abs(positions[:, 1] - expected).max() < 1e-4


def test_hinge_is_a_physical_pendulum_whose_angle_counts_turns():
    length, mass, inertia = 0.5, 2.0, (0.03, 0.05, 0.04)
    rate = 12.0  # fast enough to go over the top
    bodies = bodies_at(
        [(0, 0, 0), (0, 0, -length)], mass=mass, inertia=inertia, velocity=[(0, 0, 0), (-rate * length, 0, 0)],
        spin=[(0, 0, 0), (0, rate, 0)],
    )  # fmt: skip
    joints = jointed(bodies, JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0), limits=(-99, 99)))
    positions, _, _ = follow(bodies, joints, 2.0)
    pull = 9.81 * mass * length / (mass * length**2 + inertia[1])
    angle = truth(lambda _, y: (y[1], -pull * np.sin(y[0])), (0.0, rate))[0]
    expected = length * np.c_[-np.sin(angle), 0 * angle, -np.cos(angle)]
    assert np.abs(positions[:, 1] - expected).max() < 1e-3
    assert angle[-1] > 4 * np.pi
    assert joints.coordinate[0] == pytest.approx(angle[-1], abs=2e-3)


def test_weld_makes_two_bodies_tumble_as_one_symmetric_top():
    mass, half, inertia = 1.5, 0.3, np.array([0.02, 0.03, 0.03])
    one = 2 * inertia + np.array([0, 1, 1]) * 2 * mass * half**2
    spin = np.array([4.0, 1.0, 0.0])
    places = np.array([(-half, 0, 0), (half, 0, 0)])
    bodies = bodies_at(
        places, mass=mass, inertia=inertia, fixed=0, velocity=np.cross(spin, places), spin=spin
    )  # fmt: skip
    joints = jointed(bodies, JointSpec("weld", 0, 1, (0, 0, 0)))
    _, orientations, energies = follow(bodies, joints, 2.0, gravity=WEIGHTLESS)
    momentum = one * spin
    precession = np.linalg.norm(momentum) / one[1]  # the axis turns about the momentum at this rate
    axis = matrix_from_quaternion(orientations)[:, :, :, 0]
    m = momentum / np.linalg.norm(momentum)
    x = np.array([1.0, 0, 0])
    c, s = np.cos(precession * FRAMES)[:, None], np.sin(precession * FRAMES)[:, None]
    expected = c * x + s * np.cross(m, x) + (1 - c) * (m @ x) * m
    for i in range(2):
        assert np.abs(axis[:, i] - expected).max() < 1e-4
    assert np.ptp(energies) < 1e-6 * energies[0]


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_limit_stops_a_pendulum_for_good(turn):
    """Released level, it falls for the time of a pendulum and then rests at its limit, exactly."""
    length, mass, across = 0.4, 1.0, 0.02
    bodies = bodies_at([(0, 0, 0), (turn * length, 0, 0)], mass=mass, inertia=(across,) * 3)
    limits = (-0.1, 0.5) if turn > 0 else (-0.5, 0.1)
    joints = jointed(bodies, JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0), limits=limits))
    pull = 9.81 * mass * length / (mass * length**2 + across)
    fall = solve_ivp(
        lambda _, y: (y[1], pull * np.cos(y[0])), (0, 2), (0.0, 0.0), events=lambda _, y: y[0] - 0.5, rtol=1e-10
    ).t_events[0][0]
    met = []
    for _ in range(1000):
        assert advance(bodies, joints, GRAVITY, 1e-3, 1, NOTHING_TOLD) == 0
        met.append(joints.active[0])
    assert np.argmax(np.array(met) != 0) * 1e-3 == pytest.approx(fall, abs=2e-3)
    assert met[-1] == turn
    assert all(m == turn for m in met[round(fall / 1e-3) + 2 :])  # no flutter
    assert joints.coordinate[0] == pytest.approx(turn * 0.5, abs=1e-9)
    assert np.abs(bodies.spin[1]).max() < 1e-9
    assert advance(bodies, joints, (0.0, 0.0, 9.81), 1e-3, 50, NOTHING_TOLD) == 0  # it does not stick
    assert joints.active[0] == 0.0
    assert abs(joints.coordinate[0]) < 0.495


def test_elbow_that_meets_its_limit_keeps_the_angular_momentum_about_the_shoulder():
    bodies = bodies_at(
        [(0, 0, 0), (0.5, 0, 0), (1.5, 0, 0)], inertia=(0.1,) * 3,
        velocity=[(0, 0, 0), (0, 0, 0), (0, 0.5, 0)], spin=[(0, 0, 0), (0, 0, 0), (0, 0, 1.0)],
    )  # fmt: skip
    joints = jointed(
        bodies,
        JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 0, 1)),
        JointSpec("hinge", 1, 2, (1, 0, 0), axis=(0, 0, 1), limits=(-0.2, 0.3)),
    )

    def momentum():
        return bodies.momentum[1:, 2].sum() + np.cross(bodies.position[1:], bodies.velocity[1:])[:, 2].sum()

    before = momentum()
    for _ in range(1500):
        assert advance(bodies, joints, WEIGHTLESS, 1e-3, 1, NOTHING_TOLD) == 0
        if joints.active[1] != 0.0:
            break
    assert joints.active[1] == 1.0
    assert momentum() == pytest.approx(before, abs=1e-11)
    # Stopped at 0.3 rad the two turn as one body about the shoulder, before it straightens again.
    shoulder = 0.2 + (bodies.position[1:, :2] ** 2).sum()
    assert bodies.spin[1:, 2] == pytest.approx(np.full(2, before / shoulder), abs=1e-9)


def test_bead_slides_down_a_segment_and_stops_at_its_end():
    start, end = np.array([0.0, 0, 0]), np.array([3.0, 0, -4.0])
    bodies = bodies_at([(0, 0, 0), (0, 0, 0)], inertia=TINY)
    joints = jointed(bodies, JointSpec("on_segment", 1, 0, start, points=(start, end)))
    positions, _, _ = follow(bodies, joints, 2.0)
    along = np.minimum(0.5 * 9.81 * 0.8 * FRAMES**2, 5.0)
    expected = start + along[:, None] * (end - start) / 5.0
    moving = along < 4.9
    assert np.abs(positions[moving, 1] - expected[moving]).max() < 1e-9
    assert np.abs(positions[-1, 1] - end).max() < 1e-9
    assert joints.active[0] == 1.0


def test_pendulum_that_hangs_on_a_rail_falls_straight_down():
    """A level rail gives no horizontal force, so the centre of mass keeps its x: one equation for the angle is left."""
    length, mass, across = 0.5, 1.0, 0.03
    tilt = 1.2
    bodies = bodies_at(
        [(0, 0, 0), (length * np.sin(tilt), 0, -length * np.cos(tilt))], mass=mass, inertia=(0.02, across, 0.02)
    )
    joints = jointed(bodies, JointSpec("on_segment", 1, 0, (0, 0, 0), points=((-2, 0, 0), (2, 0, 0))))
    positions, _, _ = follow(bodies, joints, 2.0)

    def rates(_, y):
        s, c = np.sin(y[0]), np.cos(y[0])
        felt = across + mass * length**2 * s * s
        return y[1], (-mass * 9.81 * length * s - mass * length**2 * s * c * y[1] ** 2) / felt

    angle = truth(rates, (tilt, 0.0))[0]
    assert np.abs(positions[:, 1, 0] - positions[0, 1, 0]).max() < 1e-12
    assert np.abs(positions[:, 1, 2] + length * np.cos(angle)).max() < 1e-4


@pytest.mark.parametrize("closed", [False, True])
def test_bead_on_a_bent_wire(closed):
    points = np.array([(0, 0, 1), (1, 0.3, 0.2), (1.5, 1, 0.4), (0.6, 1.6, 0.1), (-0.5, 0.9, 1.3)])
    ring = np.r_[points, points[:1]] if closed else points
    root = np.sqrt(np.linalg.norm(np.diff(ring, axis=0), axis=1))
    wire = CubicSpline(np.r_[0, np.cumsum(root)], ring, bc_type="periodic" if closed else "natural")
    bodies = bodies_at([(0, 0, 0), points[0]], inertia=TINY)
    joints = jointed(bodies, JointSpec("on_curve", 1, 0, points[0], points=points, closed=closed))
    positions, _, energies = follow(bodies, joints, 2.0)

    def rates(_, y):
        slope, bend = wire(y[0], 1), wire(y[0], 2)
        return y[1], (slope @ np.array(GRAVITY) - slope @ bend * y[1] ** 2) / (slope @ slope)

    s = truth(rates, (0.0, 0.0))[0]
    assert np.ptp(s) > 1.0
    assert np.abs(positions[:, 1] - wire(s)).max() < 2e-5
    assert np.ptp(energies) < 1e-4


def test_bead_stops_at_the_end_of_an_open_wire():
    points = [(0, 0, 0), (1, 0, -0.3), (2, 0, -1)]
    bodies = bodies_at([(0, 0, 0), (0, 0, 0)], inertia=TINY)
    joints = jointed(bodies, JointSpec("on_curve", 1, 0, points[0], points=points))
    follow(bodies, joints, 2.0)
    assert np.abs(bodies.position[1] - points[-1]).max() < 1e-9
    assert joints.active[0] == 1.0
    assert np.abs(bodies.velocity[1]).max() < 1e-9


def test_puck_on_a_sphere_is_a_spherical_pendulum():
    radius = 0.8
    bodies = bodies_at([(0, 0, 0), (radius, 0, 0)], inertia=TINY, velocity=[(0, 0, 0), (0, 1.5, 0)])
    joints = jointed(bodies, JointSpec("on_surface", 1, 0, (radius, 0, 0), at_b=(0, 0, 0), surface={"sphere": radius}))
    positions, _, _ = follow(bodies, joints, 2.0)

    def rates(_, y):
        x, v = y[:3], y[3:]
        g = np.array(GRAVITY)
        return np.r_[v, g - (g @ x + v @ v) / radius**2 * x]

    expected = truth(rates, (radius, 0, 0, 0, 1.5, 0))[:3].T
    assert np.abs(positions[:, 1] - expected).max() < 2e-4


def test_puck_on_a_tilted_plane_slides_with_the_share_of_gravity():
    half = np.radians(30) / 2
    bodies = bodies_at([(0, 0, 0), (0, 0, 0)], inertia=TINY)
    joints = jointed(bodies, JointSpec("on_surface", 1, 0, (0, 0, 0), at_b=(0, 0, 0),
                                       orientation=(np.cos(half), 0, np.sin(half), 0)))  # fmt: skip
    positions, _, _ = follow(bodies, joints, 2.0)
    along = 0.5 * 9.81 * np.sin(2 * half) * FRAMES**2
    expected = along[:, None] * np.array([np.cos(2 * half), 0, -np.sin(2 * half)])
    assert np.abs(positions[:, 1] - expected).max() < 1e-9


def test_puck_on_a_cylinder_runs_along_a_helix():
    bodies = bodies_at([(0, 0, 0), (0.5, 0, 0)], inertia=TINY, velocity=[(0, 0, 0), (0, 1.0, 0.4)])
    joints = jointed(
        bodies,
        JointSpec(
            "on_surface", 1, 0, (0.5, 0, 0), at_b=(0, 0, 0), surface={"cylinder": {"radius": 0.5, "length": 4.0}}
        ),
    )
    positions, _, _ = follow(bodies, joints, 2.0, gravity=WEIGHTLESS)
    angle = FRAMES / 0.5
    expected = np.c_[0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.4 * FRAMES]
    assert np.abs(positions[:, 1] - expected).max() < 2e-5


@pytest.mark.parametrize(("surface", "start", "run"), [
    ({"box": (1.0, 0.8, 0.6)}, (0.0, 0.0, 0.3), (1.0, 0.6, 0.0)),
    ({"capsule": {"radius": 0.3, "length": 0.6}}, (0.3, 0.0, 0.0), (0.0, 0.4, 1.0)),
    ({"cylinder": {"radius": 0.5, "length": 0.8}}, (0.0, 0.1, 0.4), (1.0, 0.0, 0.0)),
])  # fmt: skip
def test_puck_runs_round_edges_and_caps_without_losing_speed(surface, start, run):
    bodies = bodies_at([(0, 0, 0), start], inertia=TINY, velocity=[(0, 0, 0), run])
    joints = jointed(bodies, JointSpec("on_surface", 1, 0, start, at_b=(0, 0, 0), surface=surface))
    positions, _, energies = follow(bodies, joints, 4.0, gravity=WEIGHTLESS, every=20)
    assert np.ptp(energies) < 2e-2 * energies[0]  # round an edge of 15 mm in about 25 steps
    p = np.abs(positions[:, 1])
    if "box" in surface:
        half = np.array(surface["box"]) / 2
        outside = (p - half).max(axis=1)
        edge = 0.05 * half.min()
        assert np.all((p > half - edge).sum(axis=1) >= 1)
    elif "capsule" in surface:
        outside = np.linalg.norm(np.c_[p[:, :2], np.maximum(p[:, 2] - 0.3, 0)], axis=1) - 0.3
        assert np.abs(outside).max() < 1e-9
    else:
        outside = np.maximum(np.hypot(p[:, 0], p[:, 1]) - 0.5, p[:, 2] - 0.4)
    assert outside.max() < 1e-9
    assert outside.min() > -0.01  # at most the rounding of an edge
    assert np.ptp(positions[:, 1], axis=0).max() > 0.9 * (
        1.0 if "box" in surface else 0.6
    )  # it has been on the other side


def test_point_in_a_sphere_flies_free_until_the_wall_and_then_runs_along_it():
    speed = np.array([1.0, 0.8, 0.0])
    bodies = bodies_at([(0, 0, 0), (0, -0.3, 0)], inertia=TINY, velocity=[(0, 0, 0), speed])
    joints = jointed(bodies, JointSpec("in_sphere", 1, 0, (0, -0.3, 0), at_b=(0, 0, 0), radius=0.5))
    positions, _, _ = follow(bodies, joints, 1.5, gravity=WEIGHTLESS)
    times = np.linspace(0, 1.5, 151)
    start = np.array([0, -0.3, 0])
    hit = np.roots([speed @ speed, 2 * start @ speed, start @ start - 0.25]).max()
    free = times < hit - 1e-3
    assert np.abs(positions[free, 1] - start - times[free, None] * speed).max() < 1e-12
    at = start + hit * speed
    run = (at[0] * speed[1] - at[1] * speed[0]) / 0.5  # what is left: the speed along the wall
    angle = np.arctan2(at[1], at[0]) + run / 0.5 * (times - hit)
    expected = 0.5 * np.c_[np.cos(angle), np.sin(angle), 0 * angle]
    assert np.abs(positions[~free, 1] - expected[~free]).max() < 2e-3  # the hit is within a step
    assert np.linalg.norm(bodies.velocity[1]) == pytest.approx(abs(run), rel=2e-3)


def test_pendulum_follows_a_pivot_that_is_moved():
    """The pivot swings sideways as told; the pendulum feels its acceleration."""
    length, sway, rate = 0.5, 0.3, 5.0
    times = np.arange(1, 2001) * 1e-3
    told = np.zeros((2000, 13))
    told[:, 0] = sway * np.sin(rate * times)
    told[:, 3] = 1.0
    told[:, 7] = sway * rate * np.cos(rate * times)
    bodies = bodies_at(
        [(0, 0, 0), (0, 0, -length)], inertia=(0.02,) * 3, velocity=[(sway * rate, 0, 0)] * 2, spin=(0, 0, 0)
    )
    joints = jointed(bodies, JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 1, 0)))
    positions, _, _ = follow(bodies, joints, 2.0, told=told)
    felt = length**2 + 0.02

    def rates(t, y):  # x of the body = pivot + length·sin, and so on
        pivot = -sway * rate**2 * np.sin(rate * t)
        return y[1], (-9.81 * length * np.sin(y[0]) - pivot * length * np.cos(y[0])) / felt

    angle = truth(rates, (0.0, 0.0))[0]
    expected = np.c_[sway * np.sin(rate * FRAMES) + length * np.sin(angle), 0 * angle, -length * np.cos(angle)]
    assert np.abs(positions[:, 1] - expected).max() < 1e-4


def test_turning_hand_carries_a_welded_tool_exactly():
    rate = 3.0
    times = np.arange(1, 1001) * 1e-3
    told = np.zeros((1000, 13))
    told[:, 3], told[:, 6] = np.cos(rate * times / 2), np.sin(rate * times / 2)
    told[:, 12] = rate
    bodies = bodies_at([(0, 0, 0), (0.4, 0, 0)], velocity=[(0, 0, 0), (0, 0.4 * rate, 0)], spin=(0, 0, rate))
    joints = jointed(bodies, JointSpec("weld", 0, 1, (0.2, 0, 0)))
    positions, orientations, _ = follow(bodies, joints, 1.0, told=told)
    t = np.linspace(0, 1, 101)
    assert np.abs(positions[:, 1] - 0.4 * np.c_[np.cos(rate * t), np.sin(rate * t), 0 * t]).max() < 1e-9
    assert np.abs(orientations[:, 1] - orientations[:, 0]).max() < 1e-9
