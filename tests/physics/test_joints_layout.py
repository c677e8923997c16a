"""How joints are laid out, put together before time 0, and refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jointed import GRAVITY, NOTHING_TOLD, advance, bodies_at, energy, jointed, momenta
from scipy.linalg import cho_factor, cho_solve

from impel.files import Problem
from impel.kernel import kernel
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.assembly import assemble
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import LINEAR, make_joints
from impel.physics.skyline import factor, solve, solve_many
from impel.physics.verdicts import DIVERGED


@kernel
def solve_skyline(tiles, envelope, x):
    factor(tiles, envelope, 0, len(envelope), 0.0)
    solve(tiles, envelope, 0, len(envelope), x)


@kernel
def solve_columns(tiles, envelope, x, count):
    factor(tiles, envelope, 0, len(envelope), 0.0)
    solve_many(tiles, envelope, 0, len(envelope), x, count)


def skyline(matrix, first):
    """Tiles and envelope of a matrix whose rows of tiles begin in these columns."""
    n = len(first)
    widths = np.arange(n) - first + 1
    envelope = np.stack([first, np.cumsum(widths) - widths - first], axis=1)
    tiles = matrix.reshape(n, 3, n, 3).swapaxes(1, 2)
    return np.concatenate([tiles[r, first[r] : r + 1].ravel() for r in range(n)]), envelope


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_skyline_solves_as_the_dense_matrix(seed, n):
    rng = np.random.default_rng(seed)
    first = np.array([rng.integers(r + 1) for r in range(n)])
    kept = np.kron(np.arange(n)[None, :] >= first[:, None], np.ones((3, 3)))
    lower = np.tril(rng.normal(size=(3 * n, 3 * n))) * kept
    matrix = lower @ lower.T + 3 * n * np.eye(3 * n)
    reached = np.abs(matrix).reshape(n, 3, n, 3).max(axis=(1, 3)) > 1e-12
    tiles, envelope = skyline(matrix, reached.argmax(axis=1))
    right = rng.normal(size=(3 * n, 5))
    x, columns = right[:, 0].copy(), right.copy()
    solve_skyline(tiles.copy(), envelope, x)
    solve_columns(tiles, envelope, columns, 4)
    expected = cho_solve(cho_factor(matrix), right)
    assert x == pytest.approx(expected[:, 0], rel=1e-9)
    assert columns[:, :4] == pytest.approx(expected[:, :4], rel=1e-9)
    assert np.array_equal(columns[:, 4], right[:, 4])


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 1, 2, 0, 4, 3), (3, 4, 5, 2, 1, 0)])
def test_skyline_leaves_redundant_rows_without_load(order):
    """Six rows of which the last two add nothing to the others, written in any order: those that come last go."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(6, 4))
    rows[4], rows[5] = rows[0] + rows[1], rows[2] - 2 * rows[3]
    rows = rows[list(order)]
    tiles, envelope = skyline(rows @ rows.T, np.array([0, 0]))
    wanted = np.array([3.0, 4.0, -1.0, 2.0])
    x = rows @ wanted
    solve_skyline(tiles, envelope, x)
    assert np.count_nonzero(x) == 4
    assert rows.T @ x == pytest.approx(wanted)


def test_joints_of_a_chain_written_in_any_order_are_solved_in_a_narrow_band():
    n = 30
    bodies = bodies_at([(i, 0, 0) for i in range(n + 1)])
    specs = [JointSpec("ball", i, i + 1, (i + 0.5, 0, 0)) for i in range(n)]
    shuffled = [specs[i] for i in np.random.default_rng(1).permutation(n)]
    assert len(make_joints(shuffled, bodies).factor) == len(make_joints(specs, bodies).factor)
    assert len(make_joints(specs, bodies).factor) == 9 * (2 * n - 1)  # tiles on the diagonal and beside it


def test_structures_that_share_only_fixed_bodies_are_islands_of_their_own():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0), (2, 0, 0), (-1, 0, 0), (5, 0, 0)])
    joints = make_joints(
        [JointSpec("ball", 0, 1, (0, 0, 0)), JointSpec("ball", 0, 3, (0, 0, 0)), JointSpec("ball", 1, 2, (1, 0, 0))],
        bodies,
    )
    assert len(joints.island) - 1 == 2
    assert sorted(joints.members) == [1, 2, 3]
    assert list(joints.loose) == [4]


def test_loose_bodies_beside_joints_fly_free():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0), (5, 0, 0)], velocity=[(0, 0, 0), (0, 0, 0), (1, 0, 2)])
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)))
    assert advance(bodies, joints, GRAVITY, 1e-3, 1000, NOTHING_TOLD) == 0
    assert bodies.position[2] == pytest.approx((6, 0, 2 - 9.81 / 2))


def test_joints_that_start_apart_are_brought_together():
    rng = np.random.default_rng(4)
    bodies = bodies_at([(i, 0, 0) for i in range(5)], inertia=(0.05, 0.06, 0.07))
    specs = [
        JointSpec(kind, i, i + 1, (i + 0.5, 0, 0), at_b=(i + 0.5, 0, 0) + 0.3 * rng.normal(size=3), axis=(0, 1, 0))
        for i, kind in enumerate(["ball", "hinge", "weld", "ball"])
    ]
    joints = make_joints(specs, bodies)
    in_a, in_b = zip(*[(np.asarray(s.at) - (s.a, 0, 0), np.asarray(s.at_b) - (s.b, 0, 0)) for s in specs])
    assert assemble(bodies, joints) < 1e-12
    turn = matrix_from_quaternion(bodies.orientation)
    for s, a, b in zip(specs, in_a, in_b):
        gap = bodies.position[s.a] + turn[s.a] @ a - bodies.position[s.b] - turn[s.b] @ b
        assert np.abs(gap).max() < 1e-11
    assert np.array_equal(bodies.position[0], (0, 0, 0))
    assert turn[1][:, 1] == pytest.approx(turn[2][:, 1], abs=1e-11)  # the hinge's axis
    assert turn[2] == pytest.approx(turn[3], abs=1e-11)  # the weld


def test_heavy_bodies_hardly_move_in_assembly():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)], mass=[1000.0, 1.0], inertia=[(100,) * 3, (0.1,) * 3], fixed=0)
    joints = make_joints([JointSpec("ball", 0, 1, (0, 0, 0), at_b=(1, 0, 0))], bodies)
    assert assemble(bodies, joints) < 1e-12
    assert bodies.position[0, 0] == pytest.approx(1 / 1001, rel=1e-6)


def test_gap_that_cannot_be_closed_is_reported():
    """Two pins 1 m apart cannot both hold a rod of 0.6 m."""
    bodies = bodies_at([(0, 0, 0), (0.5, 0.1, 0)])
    specs = [
        JointSpec("ball", 0, 1, (0, 0, 0), at_b=(0.2, 0.1, 0)),
        JointSpec("ball", 0, 1, (1, 0, 0), at_b=(0.8, 0.1, 0)),
    ]
    gap = assemble(bodies, make_joints(specs, bodies))
    assert gap == pytest.approx(0.2, rel=1e-3)


def test_a_point_on_the_axis_of_a_cylinder_is_brought_to_its_surface():
    bodies = bodies_at([(0, 0, 0), (0, 0, 0.1)], inertia=(1e-3,) * 3)
    spec = JointSpec(
        "on_surface", 1, 0, (0, 0, 0.1), at_b=(0, 0, 0), surface={"cylinder": {"radius": 0.5, "length": 2.0}}
    )
    assert assemble(bodies, make_joints([spec], bodies)) < 1e-12
    assert np.linalg.norm(bodies.position[1, :2]) == pytest.approx(0.5)


def test_point_outside_its_sphere_or_segment_is_brought_to_the_edge():
    bodies = bodies_at([(0, 0, 0), (2, 0, 0), (0, 3, 1)], inertia=(1e-3,) * 3)
    joints = jointed(
        bodies,
        JointSpec("in_sphere", 1, 0, (2, 0, 0), at_b=(0, 0, 0), radius=1.5),
        JointSpec("on_segment", 2, 0, (0, 3, 1), points=((0, 0, 1), (0, 2, 1))),
    )
    assert bodies.position[1] == pytest.approx((1.5, 0, 0))
    assert bodies.position[2] == pytest.approx((0, 2, 1))
    assert list(joints.active) == [1.0, 1.0]


def test_assembly_takes_from_the_velocities_what_the_joints_forbid():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)], velocity=[(0, 0, 0), (3, 1, 0)], spin=(0, 0, 0), inertia=(0.5,) * 3)
    jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)))
    assert bodies.velocity[1] == pytest.approx((0, 1 / 1.5, 0))
    assert bodies.spin[1] == pytest.approx((0, 0, 1 / 1.5))
    assert bodies.momentum[1] == pytest.approx(0.5 * bodies.spin[1])


def test_hinge_without_freedom_is_a_weld():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)])
    joints = jointed(bodies, JointSpec("hinge", 0, 1, (0, 0, 0), limits=(0.0, 0.0)))
    before = bodies.position.copy()
    assert advance(bodies, joints, GRAVITY, 1e-3, 500, NOTHING_TOLD) == 0
    assert np.abs(bodies.position - before).max() < 1e-9


def test_step_that_is_much_too_long_is_refused():
    bodies = bodies_at([(0, 0, 0), (0.1, 0, 0)], inertia=(1e-3, 2e-3, 2e-3), spin=[(0, 0, 0), (0, 300, 0)],
                       velocity=[(0, 0, 0), (0, 0, -30)])  # fmt: skip
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)))
    assert advance(bodies, joints, GRAVITY, 1 / 60, 1, NOTHING_TOLD) == DIVERGED


def test_state_is_all_that_a_step_needs():
    """From restored state arrays, and any rubbish elsewhere, the same step gives the same bits."""
    rng = np.random.default_rng(2)
    bodies = bodies_at(rng.normal(size=(4, 3)), spin=rng.normal(size=(4, 3)))
    specs = [
        JointSpec("hinge", 0, 1, rng.normal(size=3), axis=rng.normal(size=3), limits=(-0.05, 0.1)),
        JointSpec("on_curve", 2, 1, (0.1, 0, 0), points=((0, 0, 0), (1, 0, 0.5), (2, 1, 0))),
        JointSpec("ball", 2, 3, rng.normal(size=3)),
    ]
    joints = jointed(bodies, *specs)
    assert advance(bodies, joints, GRAVITY, 1e-3, 100, NOTHING_TOLD) == 0
    kept = [(array, array.copy()) for t in (bodies, joints) for array in (getattr(t, name) for name in t.STATE)]
    assert advance(bodies, joints, GRAVITY, 1e-3, 150, NOTHING_TOLD) == 0
    first = [array.copy() for array, _ in kept]
    for array, copy in kept:
        array[:] = copy
    for name in ("change", "impulse", "place"):
        getattr(joints, name)[:] = np.nan
    assert advance(bodies, joints, GRAVITY, 1e-3, 150, NOTHING_TOLD) == 0
    assert all(np.array_equal(array, result) for (array, _), result in zip(kept, first))


@pytest.mark.parametrize(("spec", "says"), [
    (JointSpec("glue", 0, 1, (0, 0, 0)), "kind: must be one of"),
    (JointSpec("ball", 1, 1, (0, 0, 0)), "two different bodies"),
    (JointSpec("ball", 0, 7, (0, 0, 0)), "two different bodies"),
    (JointSpec("ball", 0, 2, (0, 0, 0)), "cannot give way"),
    (JointSpec("hinge", 0, 1, (0, 0, 0), axis=(0, 0, 0)), "axis: must not be zero"),
    (JointSpec("hinge", 0, 1, (0, 0, 0), limits=(1, -1)), "limits: the first must not be greater"),
    (JointSpec("hinge", 0, 1, (0, 0, 0), limits=(0.5, 0.5)), "limits: are equal"),
    (JointSpec("on_segment", 1, 0, (0, 0, 0), points=[(0, 0, 0)]), "two ends"),
    (JointSpec("on_segment", 1, 0, (0, 0, 0), points=[(0, 0, 0)] * 2), "same place"),
    (JointSpec("on_curve", 1, 0, (0, 0, 0), points=[(0, 0, 0), (1, 0, 0)], closed=True), "at least 3"),
    (JointSpec("on_surface", 1, 0, (0, 0, 0), surface={"torus": 1.0}), "surface: must be one of"),
    (JointSpec("on_surface", 1, 0, (0, 0, 0), surface={"box": [1, 1]}), "sizes greater than 0"),
    (JointSpec("on_surface", 1, 0, (0, 0, 0), surface={"box": [1, 1, -1]}), "sizes greater than 0"),
    (JointSpec("on_surface", 1, 0, (0, 0, 0), surface={"capsule": {"radius": 1}}), "sizes greater than 0"),
    (JointSpec("in_sphere", 1, 0, (0, 0, 0)), "radius: must be greater than 0"),
])  # fmt: skip
def test_impossible_joints_are_refused_in_one_line(spec, says):
    bodies = bodies_at([(0, 0, 0), (1, 0, 0), (2, 0, 0)], mass=[np.inf, 1.0, np.inf])
    with pytest.raises(Problem) as caught:
        make_joints([spec._replace(name="elbow")], bodies)
    assert len(caught.value.lines) == 1
    assert caught.value.lines[0].startswith("elbow: ")
    assert says in caught.value.lines[0]


def test_blow_on_a_jointed_body_is_shared_at_once():
    """hold_velocities alone: a free two-link body that is struck keeps momentum and loses energy."""
    bodies = bodies_at([(0, 0, 0), (1, 0, 0)], fixed=0, velocity=[(0, 0, 0), (0, 2, 1)])
    before, blow = momenta(bodies), energy(bodies, (0, 0, 0))
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0.5, 0, 0)))
    assert joints.rows[:, LINEAR : LINEAR + 3] == pytest.approx(np.eye(3))
    after = momenta(bodies)
    assert after[0] == pytest.approx(before[0])
    assert after[1] == pytest.approx(before[1])
    assert energy(bodies, (0, 0, 0)) < 0.97 * blow
