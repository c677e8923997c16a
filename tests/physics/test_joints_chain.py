"""Chains and loops against MuJoCo and a one-degree-of-freedom solution; what articulated bodies conserve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jointed import (
    GRAVITY,
    LENGTH,
    LINKS,
    MASS,
    NOTHING_TOLD,
    advance,
    bodies_at,
    chain,
    energy,
    follow,
    jointed,
    momenta,
    mujoco_chain,
    mujoco_positions,
)
from scipy.integrate import solve_ivp

from impel.motion.orientations import matrix_from_quaternion
from impel.physics.joint_specs import JointSpec


def distance_mm(ours, theirs):
    return 1e3 * np.linalg.norm(ours - theirs, axis=-1).max()


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_chain_released_straight_and_level_moves_as_in_mujoco(kind):
    positions, _, energies = follow(*chain(kind), 2.0)
    assert distance_mm(positions, mujoco_positions(mujoco_chain(kind), 2.0, 0.01)) < 0.2
    drift = np.abs(energies - energies[0]).max()
    assert drift < 1e-4 * (LINKS * MASS) * 9.81 * (LINKS * LENGTH)


def test_heavy_tip_pulls_the_chain_as_in_mujoco():
    positions, _, energies = follow(*chain("ball", tip=50.0), 2.0)
    assert distance_mm(positions, mujoco_positions(mujoco_chain("ball", tip=50.0), 2.0, 0.01)) < 1.0
    drift = np.abs(energies - energies[0]).max()
    assert drift < 1e-4 * ((LINKS - 1 + 50) * MASS) * 9.81 * (LINKS * LENGTH)


def test_halving_the_step_quarters_the_error():
    truth = mujoco_positions(mujoco_chain("ball"), 2.0, 0.01)
    coarse, fine = (distance_mm(follow(*chain("ball"), 2.0, dt=dt, every=n)[0], truth) for dt, n in
                    [(1e-3, 10), (5e-4, 20)])  # fmt: skip
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


# The four-bar: ground pivots at (0, 0) and (0.7, 0), crank 0.3 m, coupler 0.8 m, rocker 0.6 m, all in the x-z plane.
GROUND, CRANK, COUPLER, ROCKER = 0.7, 0.3, 0.8, 0.6
BARS = np.array([1.0, 1.5, 2.0])  # kg, rods


def four_bar(crank):
    """End points of the bars for a crank angle, the elbow up."""
    a = CRANK * np.array([np.cos(crank), np.sin(crank)])
    d = np.array([GROUND, 0.0])
    span = np.linalg.norm(d - a)
    along = (d - a) / span
    foot = (COUPLER**2 - ROCKER**2 + span**2) / (2 * span)
    b = a + foot * along + np.sqrt(COUPLER**2 - foot**2) * np.array([-along[1], along[0]])
    return np.array([[0, 0], a]), np.array([a, b]), np.array([d, b])


def four_bar_places(crank):
    """Centres and angles of the three bars."""
    bars = four_bar(crank)
    return np.array([[*bar.mean(0), np.arctan2(*(bar[1] - bar[0])[::-1])] for bar in bars])


def test_closed_loop_of_four_hinges_moves_as_its_single_freedom():
    lengths = np.array([CRANK, COUPLER, ROCKER])
    inertia = BARS * lengths**2 / 12

    weights = np.c_[BARS, BARS, inertia]

    def slope(crank, h=1e-4):
        turn = (four_bar_places(crank + h) - four_bar_places(crank - h) + np.pi) % (2 * np.pi) - np.pi
        return turn / (2 * h)

    def mass(crank):
        return np.sum(weights * slope(crank) ** 2)

    def rates(_, y, h=1e-4):
        curving = (mass(y[0] + h) - mass(y[0] - h)) / (4 * h)
        return y[1], (-9.81 * BARS @ slope(y[0])[:, 1] - curving * y[1] ** 2) / mass(y[0])

    start = np.pi / 2
    times = np.linspace(0, 2, 201)
    solution = solve_ivp(rates, (0, 2), (start, 0.0), t_eval=times, rtol=1e-8, atol=1e-8, method="DOP853")
    truth = np.array([four_bar_places(angle) for angle in solution.y[0]])

    places = four_bar_places(start)
    half = -places[:, 2] / 2  # a turn about y takes x towards -z
    bodies = bodies_at(
        [(0, 0, 0), *((x, 0, z) for x, z, _ in places)],
        mass=[np.inf, *BARS],
        inertia=[np.ones(3), *(np.array([0.05 * i, i, i]) for i in inertia)],
        orientations=np.array([[1, 0, 0, 0], *([np.cos(h), 0, np.sin(h), 0] for h in half)]),
    )
    (_, a), (_, b), (d, _) = four_bar(start)
    joints = jointed(
        bodies,
        *[
            JointSpec("hinge", i, j, (x, 0, z), axis=(0, 1, 0))
            for i, j, (x, z) in [(0, 1, (0, 0)), (1, 2, a), (2, 3, b), (3, 0, d)]
        ],
    )
    positions, _, energies = follow(bodies, joints, 2.0)
    assert distance_mm(positions[:, 1:, [0, 2]], truth[:, :, :2]) < 0.1
    assert np.abs(positions[:, 1:, 1]).max() < 1e-9
    assert np.abs(energies - energies[0]).max() < 1e-4 * BARS.sum() * 9.81 * (CRANK + COUPLER + ROCKER)


def a_floating_creature(rng, n=7, kinds=("ball", "hinge", "weld", "on_segment", "on_surface", "in_sphere", "on_curve")):
    """Bodies in a tree with one loop, joints of all kinds, thrown into space with any velocities."""
    turn = rng.normal(size=(n, 4))
    bodies = bodies_at(
        rng.normal(size=(n, 3)),
        mass=rng.uniform(0.5, 3, n),
        inertia=rng.uniform(0.8, 1.0, (n, 3)) * rng.uniform(0.02, 0.2, (n, 1)),
        velocity=rng.normal(size=(n, 3)),
        spin=3 * rng.normal(size=(n, 3)),
        orientations=turn / np.linalg.norm(turn, axis=1, keepdims=True),
        fixed=0,
    )
    specs = []
    for j in range(1, n):
        i = int(rng.integers(j))
        at = 0.5 * (bodies.position[i] + bodies.position[j]) + 0.1 * rng.normal(size=3)
        across = rng.normal(size=(5, 3))
        kind = kinds[int(rng.integers(len(kinds)))]
        points = {"on_segment": (at - across[0], at + across[0]), "on_curve": (at - across[0], at, at + across[1])}
        spec = JointSpec(
            kind,
            j,
            i,
            at,
            axis=across[2],
            points=points.get(kind, ()),
            limits=(-0.5, 0.5) if rng.random() < 0.5 else None,
            at_b=bodies.position[i] if kind == "in_sphere" else None,
            radius=1.2 * float(np.linalg.norm(at - bodies.position[i])),
        )
        specs.append(spec)
    return bodies, jointed(bodies, *specs)


@pytest.mark.parametrize("seed", range(6))
def test_floating_articulated_bodies_conserve_momentum_and_angular_momentum(seed):
    bodies, joints = a_floating_creature(np.random.default_rng(seed))
    before = momenta(bodies)
    assert advance(bodies, joints, (0.0, 0.0, 0.0), 1e-3, 2000, NOTHING_TOLD) == 0
    after = momenta(bodies)
    assert np.abs(after[0] - before[0]).max() < 1e-10
    assert np.abs(after[1] - before[1]).max() < 1e-10


def test_floating_articulated_bodies_without_limits_keep_their_energy():
    bodies, joints = a_floating_creature(np.random.default_rng(3), kinds=("ball", "on_surface"))
    before = energy(bodies, (0.0, 0.0, 0.0))
    assert advance(bodies, joints, (0.0, 0.0, 0.0), 1e-3, 2000, NOTHING_TOLD) == 0
    assert energy(bodies, (0.0, 0.0, 0.0)) == pytest.approx(before, rel=1e-4)


@given(seed=st.integers(0, 2**32 - 1), kinds=st.sampled_from([("ball",), ("ball", "hinge"), ("ball", "hinge", "weld")]))
@settings(max_examples=40, deadline=None)
def test_trees_of_joints_stay_together_whatever_the_motion(seed, kinds):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    turn = rng.normal(size=(n, 4))
    bodies = bodies_at(
        rng.normal(size=(n, 3)),
        mass=10 ** rng.uniform(-1, 1, n),
        inertia=rng.uniform(0.05, 0.1, (n, 3)),
        orientations=turn / np.linalg.norm(turn, axis=1, keepdims=True),
        velocity=rng.normal(size=(n, 3)),
        spin=rng.normal(size=(n, 3)),
    )
    specs = []
    for j in range(1, n):
        i = int(rng.integers(j))
        specs.append(JointSpec(str(rng.choice(kinds)), i, j, rng.normal(size=3), axis=rng.normal(size=3)))
    joints = jointed(bodies, *specs)
    anchors = [(s, local(bodies, s.a, s.at), local(bodies, s.b, s.at)) for s in specs]
    for _ in range(10):
        assert advance(bodies, joints, GRAVITY, 1e-3, 20, NOTHING_TOLD) == 0
        for s, in_a, in_b in anchors:
            assert np.linalg.norm(world(bodies, s.a, in_a) - world(bodies, s.b, in_b)) < 1e-8


def local(bodies, i, point):
    return matrix_from_quaternion(bodies.orientation[i]).T @ (point - bodies.position[i])


def world(bodies, i, point):
    return matrix_from_quaternion(bodies.orientation[i]) @ point + bodies.position[i]
