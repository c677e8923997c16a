"""How jointed bodies answer to forces in their present pose: what moves along, and what holds them back.

The matrix of the last velocity projection is still there, factored, so an answer costs one solve. Limits do not count:
a force that presses against one would otherwise not know that it can pull away from it.
"""

from impel.kernel import kernel
from impel.motion.rotations import axpy, get3, get3_at
from impel.physics.joint_forces import heed_grip, ignore_grip
from impel.physics.joint_rows import weigh
from impel.physics.joints import JOINT, LINEAR, LIVE, TURNING_A


@kernel
def acceleration_of(bodies, joints, island, free, body):
    """Of a body, once `resist` has found what the joints do; without them it would be that in `free`."""
    force = (0.0, 0.0, 0.0)
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        if joint.a == body or joint.b == body:
            for r in range(joint.row, joint.row_end):
                along = joints.change[r] if joint.a == body else -joints.change[r]
                force = axpy(along, get3_at(joints.rows, r, LINEAR), force)
    return axpy(bodies.inverse_mass[body], force, get3(free, body))


@kernel
def turning_of(joints, island, free, body):
    """Angular acceleration of a body, likewise."""
    turning = get3(free, body)
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        if joint.a == body or joint.b == body:
            side = 0 if joint.a == body else 1
            for r in range(joint.row, joint.row_end):
                turning = axpy(joints.change[r], get3_at(joints.rows, r, TURNING_A + 3 * side), turning)
    return turning


@kernel
def ignore_limits(bodies, joints, island):
    """Take the limits that are met, and friction that holds, out of the matrix of an island; are there any?"""
    met = False
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        for r in range(joint.limit, joint.limit + joint.limits):
            met |= joints.rows[r, LIVE] != 0.0
            joints.rows[r, LIVE] = 0.0
        met |= ignore_grip(joints.soft, joints, joint.soft)
    if met:
        weigh(bodies, joints, island, 0.0)
    return met


@kernel
def heed_limits(bodies, joints, island):
    """Put them back."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        for n in range(joint.limits):
            joints.rows[joint.limit + n, LIVE] = abs(joints.active[joint.index if n == 0 else joint.second])
        heed_grip(joints.soft, joints, k, joint.soft)
    weigh(bodies, joints, island, 0.0)
