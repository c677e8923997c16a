"""How jointed bodies answer to forces in their present pose: what moves along, and what holds them back.

The matrix of the last velocity projection is still there, factored, so an answer costs one solve. Limits do not count:
a force that presses against one would otherwise not know that it can pull away from it.
"""

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, get3_at, sub
from impel.physics.joint_rows import weigh
from impel.physics.joints import ANGULAR_A, ANGULAR_B, JOINT, LINEAR, LIVE, TILE, TURNING_A
from impel.physics.skyline import factor, solve


@kernel
def hold_back(joints, island, free):
    """Leave in `change` the forces with which the joints of an island act, given the acceleration and angular
    acceleration that each body would have without them."""
    change, rows = joints.change, joints.rows
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    for r in range(3 * tile, 3 * tile_end):
        change[r] = 0.0
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        apart = sub(get3(free, joint.a), get3(free, joint.b))
        turning_a, turning_b = get3_at(free, joint.a, 3), get3_at(free, joint.b, 3)
        for r in range(joint.row, joint.row_end):
            rate = dot(apart, get3_at(rows, r, LINEAR))
            rate += dot(turning_a, get3_at(rows, r, ANGULAR_A)) + dot(turning_b, get3_at(rows, r, ANGULAR_B))
            change[r] = -rate * rows[r, LIVE]
    solve(joints.factor, joints.envelope, tile, tile_end, change)


@kernel
def acceleration_of(bodies, joints, island, free, body):
    """Of a body, once `hold_back` has found what the joints do."""
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
    """Angular acceleration of a body, once `hold_back` has found what the joints do."""
    turning = get3_at(free, body, 3)
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        if joint.a == body or joint.b == body:
            side = 0 if joint.a == body else 1
            for r in range(joint.row, joint.row_end):
                turning = axpy(joints.change[r], get3_at(joints.rows, r, TURNING_A + 3 * side), turning)
    return turning


@kernel
def ignore_limits(bodies, joints, island):
    """Take the limits that are met out of the matrix of an island; are there any?"""
    met = False
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        if joint.limit >= 0 and joints.rows[joint.limit, LIVE] != 0.0:
            joints.rows[joint.limit, LIVE] = 0.0
            met = True
    if met:
        _again(bodies, joints, island)
    return met


@kernel
def heed_limits(bodies, joints, island):
    """Put them back."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        if joint.limit >= 0:
            joints.rows[joint.limit, LIVE] = abs(joints.active[joint.index])
    _again(bodies, joints, island)


@kernel
def _again(bodies, joints, island):
    weigh(bodies, joints, island)
    factor(joints.factor, joints.envelope, joints.island[island, TILE], joints.island[island + 1, TILE], 0.0)
