"""Springs, friction, slides and the limits of balls where the quick way of holding joints is not to be relied on."""

import copy

import numpy as np
import pytest
from jointed import GRAVITY, NOTHING_TOLD, advance, bodies_at, jointed

from impel.kernel import kernel
from impel.physics.bodies import kick
from impel.physics.breaking import drop
from impel.physics.closing import keep_limits, keep_places
from impel.physics.exact import hold_exactly
from impel.physics.gaps import measure_gaps
from impel.physics.joint_forces import keep_grip
from impel.physics.joint_specs import JointSpec
from impel.physics.joints import BROKEN
from impel.physics.rattle import give_way, hold_island, keep_motion, restore
from impel.physics.verdicts import IMPRECISE

DT = 1 / 240  # s
QUICK, EXACT, GIVEN_WAY = range(3)
FREE = {"axis": (0, 1, 0)}
KINDS = {
    "spring": JointSpec("hinge", 1, 2, (1, 0, 0), spring=(30.0, 0.5, 0.3), **FREE),
    "slip": JointSpec("hinge", 1, 2, (1, 0, 0), friction=1.0, **FREE),
    "stuck": JointSpec("hinge", 1, 2, (1, 0, 0), friction=200.0, **FREE),
    "ball spring": JointSpec("ball", 1, 2, (1, 0, 0), spring=(30.0, 0.5, 0.0)),
    "ball slip": JointSpec("ball", 1, 2, (1, 0, 0), friction=1.0),
    "cone": JointSpec("ball", 1, 2, (1, 0, 0), axis=(1, 0, 0), cone=0.2, twist=(-0.1, 0.1)),
    "slide": JointSpec("slide", 1, 2, (1, 0, 0), axis=(1, 0, 0), limits=(-0.1, 0.3)),
    "slide slip": JointSpec("slide", 1, 2, (1, 0, 0), axis=(1, 0, 0), friction=2.0),
    "slide spring": JointSpec("slide", 1, 2, (1, 0, 0), axis=(1, 0, 0), spring=(200.0, 1.0, 0.0)),
}


@kernel
def hold_by(bodies, joints, dt, way):
    kick(bodies, (0.0, 0.0, -9.81), 0.0, 0.5 * dt)
    keep_places(bodies, joints, 0)
    keep_motion(bodies, joints, 0)
    keep_limits(joints, 0, joints.spare.kept)
    keep_grip(joints, 0)
    if way == QUICK:
        return hold_island(bodies, joints, 0, dt) <= IMPRECISE
    if way == EXACT:
        return hold_exactly(bodies, joints, 0, dt, 1e-11, 1e-10, 1e-8)
    restore(bodies, joints, 0)
    give_way(bodies, joints, 0, dt)
    return True


def swung(spec, steps=60):
    """Two bodies that have swung from the world for a while, joined by this."""
    bodies = bodies_at([(0, 0, 0), (0.5, 0, 0), (1.5, 0, 0)], spin=[(0, 0, 0), (0, 0, 0), (2.0, 1.0, 0.5)])
    joints = jointed(bodies, JointSpec("ball", 0, 1, (0, 0, 0)), spec)
    assert advance(bodies, joints, GRAVITY, DT, steps, NOTHING_TOLD) == 0
    return bodies, joints


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [20, 60, 100])
def test_exact_steps_are_those_of_the_quick_way(kind, steps):
    ends = []
    for way in (QUICK, EXACT):
        bodies, joints = copy.deepcopy(swung(KINDS[kind], steps))
        assert hold_by(bodies, joints, DT, way)
        ends.append(np.c_[bodies.position, bodies.orientation, bodies.velocity, bodies.momentum])
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-7)  # the quick way ends 1e-10 m off, over the step


@pytest.mark.parametrize("kind", KINDS)
def test_joints_that_give_way_close_again_and_go_on(kind):
    bodies, joints = swung(KINDS[kind])
    assert hold_by(bodies, joints, DT, GIVEN_WAY)
    measure_gaps(bodies, joints)
    assert joints.apart.max() < 1e-8
    assert advance(bodies, joints, GRAVITY, DT, 100, NOTHING_TOLD) == 0


def test_what_slides_leans_or_is_broken_is_apart_by_what_it_oversteps():
    bodies = bodies_at([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 3, 0)])
    slide = JointSpec("slide", 0, 1, (0, 0, 0), axis=(1, 0, 0), limits=(-0.1, 0.2))
    cone = JointSpec("ball", 2, 3, (0, 2, 0), axis=(0, 1, 0), cone=0.3, twist=(-0.2, 0.1))
    joints = jointed(bodies, slide, cone)
    at, still = bodies.position.copy(), bodies.orientation.copy()
    size = joints.size[np.argsort([joints.each["index"][k] for k in joints.island[:-1, 0]])]

    def apart(body=0, shift=(0, 0, 0), turn=(0, 0, 0)):
        bodies.position[:], bodies.orientation[:] = at, still
        bodies.position[body] += shift
        bodies.orientation[body] = [np.sqrt(1 - 0.25 * np.dot(turn, turn)), *(0.5 * np.asarray(turn))]
        measure_gaps(bodies, joints)
        return joints.apart * np.c_[size, np.ones(2)]

    assert np.all(apart(1, (0.2, 0, 0)) < 1e-12)
    assert apart(1, (0.25, 0, 0))[0] == pytest.approx((0.05, 0), abs=1e-12)
    assert apart(1, (-0.1, 0, 0.03))[0] == pytest.approx((0.03, 0), abs=1e-12)
    assert apart(1, turn=(0, 2 * np.sin(0.1), 0))[0, 1] == pytest.approx(0.2)
    assert apart(2, turn=(2 * np.sin(0.2), 0, 0))[1] == pytest.approx((0, 0.1), abs=1e-9)
    assert apart(2, turn=(2 * np.sin(0.15), 0, 0))[1].max() < 1e-9
    assert apart(2, turn=(0, 2 * np.sin(0.1), 0))[1] == pytest.approx((0, 0), abs=1e-9)
    assert apart(2, turn=(0, 2 * np.sin(-0.1), 0))[1] == pytest.approx((0, 0.1), abs=1e-9)
    for k in range(2):
        drop(joints, k, BROKEN)
    assert np.all(apart(2, (1, 0, 0), (1, 0, 0)) == 0.0)
