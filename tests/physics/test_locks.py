"""Joints that lock each other by a hair are found, with the least change that frees them; others are left alone."""

import numpy as np
import pytest
from jointed import bodies_at, jointed

from impel.physics.joint_specs import JointSpec
from impel.physics.locks import locks

GRAVITY = (0.0, 0.0, -9.81)
UP, ALONG = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


def found(positions, *specs, gravity=GRAVITY):
    """What joints lock of bodies of which the first cannot move."""
    bodies = bodies_at(positions)
    return locks(bodies, jointed(bodies, *specs), gravity)


def door(*hinges):
    """Body 1 hangs on body 0 by hinges given as at, axis."""
    return found([[0, 0, 1], [0.5, 0, 1]], *(JointSpec("hinge", 0, 1, at, axis=axis) for at, axis in hinges))


def lines_apart(at, axis, other, direction):
    """How far apart two lines are where the second's point is, and the angle between them, by solid geometry."""
    axis, direction = (np.asarray(v, float) / np.linalg.norm(v) for v in (axis, direction))
    away = np.asarray(other, float) - at
    return np.linalg.norm(away - (away @ axis) * axis), np.arccos(min(1.0, abs(axis @ direction)))


@pytest.mark.parametrize("off", [1e-7, 1e-5, 1e-3, 5e-3])
@pytest.mark.parametrize("tilt", [0.0, 2e-4])
def test_the_change_of_one_of_two_hinges_is_how_far_their_lines_are_apart(off, tilt):
    lower = ((off, 0, 0.3), (0, tilt, 1))
    (lock,) = door(((0, 0, 1.9), UP), lower)
    (change,) = lock.changes
    apart, angle = lines_apart((0, 0, 1.9), UP, *lower)
    assert (change.joint, lock.bodies, lock.turns) == (1, [1], True)
    np.testing.assert_allclose(np.linalg.norm(change.shift), apart, rtol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(change.turn), angle, atol=1e-3 * angle + 1e-10)


def rows_of(hinges, turned=0.0):
    """The Jacobian of a door's hinges, from first principles: its point and two axes across, as speed and spin of a
    body about the origin, once that is turned about z."""
    found = []
    c, s = np.cos(turned), np.sin(turned)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    for at, axis in hinges:
        r, n = turn @ at, np.asarray(axis, float) / np.linalg.norm(axis)
        across = np.linalg.svd(n[None])[2][1:]
        cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        found += [np.hstack([np.eye(3), -cross]), np.hstack([np.zeros((2, 3)), across])]
    return np.vstack(found)


def test_the_changes_of_three_hinges_make_them_hold_as_two():
    """The rank of the rows, by numpy's singular values: 6 before, 5 after."""
    hinges = [((0, 0, 1.9), UP), ((1e-3, 0, 1.1), UP), ((0, -2e-3, 0.3), (1e-3, 0, 1))]
    (lock,) = door(*hinges)
    assert np.linalg.matrix_rank(rows_of(hinges), tol=1e-6) == 6
    for change in lock.changes:
        at, axis = hinges[change.joint]
        hinges[change.joint] = np.add(at, change.shift), np.add(axis, np.cross(change.turn, axis))
    assert np.linalg.matrix_rank(rows_of(hinges), tol=1e-6) == 5
    assert len(lock.changes) < 3  # one may stay as it is


def test_hinges_on_one_line_or_far_from_it_lock_nothing_by_a_hair():
    assert not door(((0, 0, 1.9), UP), ((0, 0, 0.3), UP))
    assert not door(((0, 0, 1.9), UP), ((0.1, 0, 0.3), UP))
    assert not door(((0, 0, 1.9), UP), ((0, 0, 0.3), ALONG))


def four_bar(*tilts):
    specs = [((-0.5, 0, 1.5), 0, 1), ((-0.5, 0, 0.5), 1, 2), ((0.5, 0, 0.5), 2, 3), ((0.5, 0, 1.5), 3, 0)]
    hinges = (JointSpec("hinge", a, b, at, axis=np.add(ALONG, tilt)) for (at, a, b), tilt in zip(specs, tilts))
    return found([[0, 0, 2], [-0.5, 0, 1], [0, 0, 0.5], [0.5, 0, 1]], *hinges)


def test_the_axes_of_a_four_bar_that_are_off_are_named():
    straight = (0, 0, 0)
    (one,) = four_bar((0, 0, 1e-3), straight, straight, straight)
    assert [change.joint for change in one.changes] == [0]
    np.testing.assert_allclose(one.changes[0].turn, [-1e-3, 0, 0], atol=1e-6)
    (two,) = four_bar((0, 0, 0.01), straight, straight, (5e-3, 0, 0))
    assert [change.joint for change in two.changes] == [0, 3]
    assert sorted(two.bodies) == [1, 2, 3]
    assert not four_bar(straight, straight, straight, straight)


def triangle(height, gravity=GRAVITY):
    """Two bars that meet at a height over the line between their fixed ends."""
    ends = [((-1, 0, 0), 0, 1), ((0, 0, height), 1, 2), ((1, 0, 0), 2, 0)]
    hinges = (JointSpec("hinge", a, b, at, axis=ALONG) for at, a, b in ends)
    return found([[0, 0, 0], [-0.5, 0, height / 2], [0.5, 0, height / 2]], *hinges, gravity=gravity)


def test_a_flat_triangle_is_no_lock_but_two_bars_in_line_are_taut():
    assert not triangle(1e-3)
    (lock,) = triangle(0.0)
    assert (lock.changes, sorted(lock.bodies), sorted(lock.joints)) == ([], [1, 2], [0, 1, 2])
    assert not triangle(0.0, (0.0, 0.0, 0.0))  # nothing pulls at it
    assert not triangle(0.0, (9.81, 0.0, 0.0))  # or only along


def test_folded_linkages_can_go_on_either_way():
    """A parallelogram that lies flat has more ways to go there than elsewhere, and none of them is taut."""
    ends = [((-1, 0, 0), 0, 1), ((0, 0, 0), 1, 2), ((1, 0, 0), 2, 3), ((0, 0, 0), 3, 0)]
    hinges = (JointSpec("hinge", a, b, at, axis=ALONG) for at, a, b in ends)
    assert not found([[0, 0, 0], [-0.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0]], *hinges)
