"""Joints that let go: rows are dropped for good, and the two bodies may touch from then on."""

import math

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, get3, get3_at, get4, norm, rotate, set3_at, sub
from impel.physics.broadphase import BUILT
from impel.physics.joint_rows import weigh
from impel.physics.joints import (
    ANGULAR_A,
    AT_A,
    AT_B,
    BEFORE,
    FORCE,
    JOINT,
    LINEAR,
    LIVE,
    SLIDE,
    SLIP,
    STUCK,
)

BLOW = 0.01  # s: loads are felt over about this time, so that a blow does much the same whatever the step


@kernel
def let_go(breaks, bodies, joints, dt):
    """After a step: feel the load of each joint that can break, and drop those that bear too much."""
    if breaks is None:
        return
    for island in range(len(joints.island) - 1):
        broke = False
        for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
            j = joints.each[k].index
            if joints.broken[j] == 0.0 and min(breaks[j, 0], breaks[j, 1]) < math.inf:
                force, torque = load_of(bodies, joints, k, dt)
                share = -math.expm1(-dt / BLOW)
                joints.load[j, 0] += share * (force - joints.load[j, 0])
                joints.load[j, 1] += share * (torque - joints.load[j, 1])
                if joints.load[j, 0] > breaks[j, 0] or joints.load[j, 1] > breaks[j, 1]:
                    drop(joints, k)
                    broke = True
        if broke:
            weigh(bodies, joints, island, 0.0)


@kernel
def load_of(bodies, joints, k, dt):
    """The force and the torque about its point with which a joint held its bodies in a step that has just ended.

    Both halves of the step count: what held the places, and what `hold_velocities` left in `change`.
    """
    joint, rows = joints.each[k], joints.rows
    force, couple = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(joint.row, joint.row_end):
        load = rows[r, LIVE] * (rows[r, FORCE] + joints.change[r] / dt)
        force = axpy(load, get3_at(rows, r, LINEAR), force)
        couple = axpy(load, get3_at(rows, r, ANGULAR_A), couple)
    arm = rotate(get4(bodies.orientation, joint.a), get3_at(joints.fixed, k, AT_A))
    if joint.kind == SLIDE:
        arm = rotate(get4(bodies.orientation, joint.b), get3_at(joints.fixed, k, AT_B))
        arm = add(arm, sub(get3(bodies.position, joint.b), get3(bodies.position, joint.a)))
    return norm(force), norm(sub(couple, cross(arm, force)))


@kernel
def drop(joints, k):
    joint, rows = joints.each[k], joints.rows
    joints.broken[joint.index] = 1.0
    for r in range(joint.row, joint.row_end):
        rows[r, LIVE] = rows[r, FORCE] = rows[r, BEFORE] = 0.0
    for n in range(joint.limits):
        joints.active[joint.index if n == 0 else joint.second] = 0.0
    if joint.soft >= 0:
        joints.grip[joint.soft, STUCK] = 0.0
        set3_at(joints.grip, joint.soft, SLIP, (0.0, 0.0, 0.0))


@kernel
def part(joints, before, contacts):
    """Let the bodies of joints that broke in an accepted step touch each other."""
    if contacts is None or joints is None:
        return
    for k in range(len(joints.each)):
        joint = joints.each[k]
        if joints.broken[joint.index] != before.broken[joint.index]:
            tied = False
            for m in range(len(joints.each)):
                other = joints.each[m]
                same = (other.a == joint.a and other.b == joint.b) or (other.a == joint.b and other.b == joint.a)
                tied |= same and joints.broken[other.index] == 0.0 and other.collides == 0
            if not tied:
                include(contacts.near, len(contacts.near.margin), joint.a, joint.b)


@kernel
def include(near, n, a, b):
    """Take a pair of bodies out of those that never touch. The list stays sorted: another pair is in it twice."""
    key = min(a, b) * n + max(a, b)
    for i in range(len(near.excluded)):
        if near.excluded[i] == key:
            near.excluded[i] = near.excluded[i - 1] if i > 0 else -1
            near.info[BUILT] = 0
