"""Joints that let go, and joints that are made: rows are dropped or act, and the two bodies may touch, or not."""

import math

from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    get3,
    get3_at,
    get4,
    get4_at,
    multiply,
    norm,
    rotate,
    set3_at,
    set4_at,
    sub,
    unrotate,
)
from impel.physics.broadphase import BUILT
from impel.physics.joint_forces import respin
from impel.physics.joint_rows import lean, look, resist, strike, weigh
from impel.physics.joints import (
    ANGULAR_A,
    AT_A,
    AT_B,
    BEFORE,
    BROKEN,
    FORCE,
    FRAME_A,
    FRAME_B,
    GRIP,
    HOLDS,
    JOINT,
    LINEAR,
    LIVE,
    LONG_BEFORE,
    SLIDE,
    SLIP,
    STUCK,
    WELD,
)
from impel.physics.rattle import ROUNDS, leave_limits

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
            if joints.broken[j] == HOLDS and min(breaks[j, 0], breaks[j, 1]) < math.inf:
                force, torque = load_of(bodies, joints, k, dt)
                share = -math.expm1(-dt / BLOW)
                joints.load[j, 0] += share * (force - joints.load[j, 0])
                joints.load[j, 1] += share * (torque - joints.load[j, 1])
                if joints.load[j, 0] > breaks[j, 0] or joints.load[j, 1] > breaks[j, 1]:
                    drop(joints, k, BROKEN)
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
def drop(joints, k, why):
    joint, rows = joints.each[k], joints.rows
    joints.broken[joint.index] = why
    for r in range(joint.row, joint.row_end):
        rows[r, LIVE] = rows[r, FORCE] = rows[r, BEFORE] = rows[r, LONG_BEFORE] = 0.0
    for n in range(joint.limits):
        joints.active[joint.index if n == 0 else joint.second] = 0.0
    if joint.soft >= 0:
        joints.grip[joint.soft, STUCK] = 0.0
        set3_at(joints.grip, joint.soft, SLIP, (0.0, 0.0, 0.0))


@kernel
def let_act(joints, k):
    """Let those rows of a joint act that are not for limits, springs or friction, if it holds."""
    joint, firm = joints.each[k], joints.each[k].firm
    for r in range(joint.row, joint.row_end):
        live = joints.broken[joint.index] == HOLDS and r != joint.limit and firm > 0
        joints.rows[r, LIVE] = 1.0 if live else 0.0
        firm -= r != joint.limit


@kernel
def make(bodies, joints, k):
    """Make a joint that is open, between two steps, as its bodies are now. A weld or a slide takes the second where it
    is; others take that place of the second which is at their point of the first.

    What the two do against each other is stopped at once, as by a blow without a bounce.
    """
    joint, fixed = joints.each[k], joints.fixed
    q_a, q_b = get4(bodies.orientation, joint.a), get4(bodies.orientation, joint.b)
    apart = sub(get3(bodies.position, joint.b), get3(bodies.position, joint.a))
    if joint.kind == WELD or joint.kind == SLIDE:
        set3_at(fixed, k, AT_A, unrotate(q_a, add(apart, rotate(q_b, get3_at(fixed, k, AT_B)))))
    else:
        set3_at(fixed, k, AT_B, unrotate(q_b, sub(rotate(q_a, get3_at(fixed, k, AT_A)), apart)))
    set4_at(fixed, k, FRAME_B, multiply(conjugate(q_b), multiply(q_a, get4_at(fixed, k, FRAME_A))))
    joints.broken[joint.index] = HOLDS
    for n in range(joint.limits):
        slot = joint.index if n == 0 else joint.second
        joints.active[slot] = joints.coordinate[slot] = 0.0
    joints.load[joint.index, 0] = joints.load[joint.index, 1] = 0.0
    for c in range(GRIP if joint.soft >= 0 else 0):
        joints.grip[joint.soft, c] = 0.0
    let_act(joints, k)
    for island in range(len(joints.island) - 1):
        begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
        if not begin <= k < end:
            continue
        look(bodies, joints, begin, end, True)
        lean(bodies, joints, island)
        for _ in range(ROUNDS):
            weigh(bodies, joints, island, 0.0)
            resist(joints, island, bodies.velocity, bodies.spin)
            if not leave_limits(joints, begin, end, joints.change, 0.0):
                break
        strike(bodies, joints, begin, end, joints.change)
        respin(bodies, joints, island)


@kernel
def release(bodies, joints, k, why):
    """Let go of a joint between two steps."""
    drop(joints, k, why)
    for island in range(len(joints.island) - 1):
        if joints.island[island, JOINT] <= k < joints.island[island + 1, JOINT]:
            weigh(bodies, joints, island, 0.0)


@kernel
def part(joints, before, contacts):
    """Let the bodies of joints that broke in an accepted step touch each other."""
    if contacts is None or joints is None:
        return
    for k in range(len(joints.each)):
        j = joints.each[k].index
        if joints.broken[j] != before.broken[j]:
            see_who_touches(joints, contacts, k)


@kernel
def see_who_touches(joints, contacts, k):
    """After the bodies of a joint were tied or parted: may they touch each other?"""
    joint, tied = joints.each[k], False
    for m in range(len(joints.each)):
        other = joints.each[m]
        same = (other.a == joint.a and other.b == joint.b) or (other.a == joint.b and other.b == joint.a)
        tied |= same and joints.broken[other.index] == HOLDS and other.collides == 0
    if tied:
        exclude(contacts.near, len(contacts.near.margin), joint.a, joint.b)
    else:
        include(contacts.near, len(contacts.near.margin), joint.a, joint.b)


@kernel
def include(near, n, a, b):
    """Take a pair of bodies out of those that never touch. The list stays sorted: another pair is in it twice."""
    key = min(a, b) * n + max(a, b)
    for i in range(len(near.excluded)):
        if near.excluded[i] == key:
            near.excluded[i] = near.excluded[i - 1] if i > 0 else -1
            near.info[BUILT] = 0


@kernel
def exclude(near, n, a, b):
    """Put a pair of bodies among those that never touch, in the place of one that is in the list twice."""
    key, spare = min(a, b) * n + max(a, b), -1
    for i in range(len(near.excluded)):
        if near.excluded[i] == key:
            return
        if near.excluded[i] == -1 or (i > 0 and near.excluded[i] == near.excluded[i - 1]):
            spare = i
    if spare < 0:
        return
    while spare > 0 and near.excluded[spare - 1] > key:
        near.excluded[spare] = near.excluded[spare - 1]
        spare -= 1
    while spare + 1 < len(near.excluded) and near.excluded[spare + 1] < key:
        near.excluded[spare] = near.excluded[spare + 1]
        spare += 1
    near.excluded[spare] = key
    near.info[BUILT] = 0
