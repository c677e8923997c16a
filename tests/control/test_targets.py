"""What the base distance promises: every path point that a target passes was within reach, and it never goes back."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.control.targets import CLOSE, advance_target, reach_of
from impel.kernel import kernel
from impel.motion.paths import make_paths, sample_path
from impel.motion.splines import pose_at

POINTS_PER_SEGMENT = 400


@kernel
def advance(segments, loops, turns, target, pose, tangent, position, orientation, limit, enough):
    target, pose, tangent, _ = advance_target(
        segments, loops, turns, target, pose, tangent, position, orientation, limit, enough
    )
    return target, pose, tangent


coordinate = st.floats(-2, 2)
position_keys = st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=2, max_size=6)
axis_and_angle = st.tuples(coordinate, coordinate, coordinate, st.floats(0, 2 * math.pi))


def quaternion(x, y, z, angle):
    size = math.sqrt(x * x + y * y + z * z)
    if size < 1e-3:
        return (1.0, 0.0, 0.0, 0.0)
    s = math.sin(angle / 2) / size
    return (math.cos(angle / 2), s * x, s * y, s * z)


orientation_keys = st.lists(axis_and_angle.map(lambda v: quaternion(*v)), min_size=2, max_size=5)


def passed_between(before, after, count):
    """Indices of the sampled points that lie between two targets (segment, u, lap)."""
    low = (before[2] * count + before[0] + before[1]) * POINTS_PER_SEGMENT
    high = (after[2] * count + after[0] + after[1]) * POINTS_PER_SEGMENT
    assert high >= low  # never back
    passed = np.arange(math.ceil(low), math.floor(high) + 1)
    return np.where(passed > count * POINTS_PER_SEGMENT, passed % (count * POINTS_PER_SEGMENT), passed)


def check_promise(keys, loop, reach, walk, distances):
    paths = make_paths([np.array(keys, float)], [loop])
    turns = bool(paths.turns[0])
    points, _ = sample_path(paths, 0, POINTS_PER_SEGMENT)
    count = len(paths.segments)
    target = (0, 0.0, 0.0)
    pose, tangent = pose_at(paths.segments[0], 0.0, turns)
    for position, orientation in walk:
        before = target
        at = pose, tangent, position, orientation
        way = paths.segments, bool(paths.loops[0]), turns
        target, pose, tangent = advance(*way, target, *at, *reach_of(reach, turns))
        passed = points[passed_between(before, target, count)]
        if len(passed) and before != target:
            assert distances(passed, position, orientation).max() <= reach * (1 + 1e-9) + 1e-9
    return paths, target


@settings(max_examples=200, deadline=None)
@given(position_keys, st.booleans(), st.floats(0.05, 2), st.integers(0, 10**6))
def test_no_passed_point_was_out_of_reach(keys, loop, reach, seed):
    rng = np.random.default_rng(seed)
    x, v = np.array(keys[0]), np.zeros(3)
    walk = []
    for _ in range(40):  # a body that roams at random near the keys, jolts included
        v = 0.8 * v + rng.normal(0, 0.15, 3) + 0.1 * (np.array(keys[rng.integers(len(keys))]) - x)
        x = x + v
        walk.append((tuple(x.tolist()), (1.0, 0.0, 0.0, 0.0)))

    check_promise(keys, loop, reach, walk, lambda points, x, _: np.linalg.norm(points - x, axis=1))


@settings(max_examples=200, deadline=None)
@given(orientation_keys, st.booleans(), st.floats(0.05, 3), st.integers(0, 10**6))
def test_no_passed_orientation_was_out_of_reach(keys, loop, reach, seed):
    rng = np.random.default_rng(seed)
    q = np.array(keys[0])
    walk = []
    for _ in range(40):
        q = q + rng.normal(0, 0.1, 4) + 0.1 * np.array(keys[rng.integers(len(keys))])
        q /= np.linalg.norm(q)
        walk.append(((0.0, 0.0, 0.0), tuple(q.tolist())))

    def angles(points, _, q):
        return 2 * np.arccos(np.clip(np.abs(points @ np.array(q)), 0, 1 - 1e-16))

    check_promise(keys, loop, reach, walk, angles)


@settings(max_examples=100, deadline=None)
@given(position_keys, st.floats(0.1, 1))
def test_target_runs_as_far_as_it_may(keys, reach):
    """The first crossing, not less: just behind the target the path leaves the reach, or the path ends."""
    paths, target = check_promise(
        keys, False, reach, [((*map(float, keys[0]),), (1.0, 0.0, 0.0, 0.0))] * 20,
        lambda points, x, _: np.linalg.norm(points - x, axis=1),
    )  # fmt: skip
    count = len(paths.segments)
    points, _ = sample_path(paths, 0, 1)
    if target[0] == count - 1 and target[1] == 1.0:
        return
    i, u = int(target[0]), target[1]
    row = paths.segments[i]
    x = row[0:3] + u * (row[3:6] + u * (row[6:9] + u * row[9:12]))
    assert np.linalg.norm(x - points[0]) >= reach * (1 - CLOSE)


def first_target(paths, loops, reach):
    """Where the target of a body at the origin goes in its first step."""
    pose, tangent = pose_at(paths.segments[0], 0.0, False)
    here = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    return advance(paths.segments, loops, False, (0, 0.0, 0.0), pose, tangent, *here, *reach_of(reach, False))[0]


def test_target_waits_where_bisection_would_jump():
    """A hairpin: the far side is near, but the bend between is out of reach."""
    keys = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0.2, 0], [1, 0.2, 0], [0, 0.2, 0]])
    paths = make_paths([keys], [False])
    target = first_target(paths, False, 0.5)
    assert target[0] == 0
    assert 0.3 < target[1] < 0.6


def test_a_loop_within_reach_goes_round_at_most_once_a_step():
    keys = np.array([[0.1, 0, 0], [0, 0.1, 0], [-0.1, 0, 0]])
    paths = make_paths([keys], [True])
    target = first_target(paths, True, 0.5)
    assert target[2] == 1.0
