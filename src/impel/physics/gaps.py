"""How far joints are apart, seen from the places of their bodies alone: a check on whatever is meant to hold them."""

import math

from impel.geometry.fields import rounded_field
from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    angle_between,
    conjugate,
    cross,
    dot,
    get3,
    get3_at,
    get4,
    get4_at,
    multiply,
    norm,
    rotate,
    sub,
    unrotate,
)
from impel.physics.curve import curve_at, foot_on_curve
from impel.physics.joint_rows import nearest_turn
from impel.physics.joints import (
    AT_A,
    AT_B,
    BALL,
    FRAME_A,
    FRAME_B,
    HINGE,
    IN_SPHERE,
    JOINT,
    LOWER,
    ON_CURVE,
    ON_SEGMENT,
    SIZE,
    SLIDE,
    UPPER,
    WELD,
)
from impel.physics.turns import lean_of, twist_of

APART = 1e-6  # of the size of the structure, and rad: what is farther apart does not hold


@kernel
def measure_gaps(bodies, joints):
    """Write to `apart` how far each joint is apart, limits included: over the size of its structure, and in rad."""
    for island in range(len(joints.island) - 1):
        for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
            gap, angle = _gap(bodies, joints, k)
            j = joints.each[k].index
            joints.apart[j, 0], joints.apart[j, 1] = gap / joints.size[island], angle


@kernel
def _gap(bodies, joints, k):
    """How far a joint is apart, in m and in rad. Springs and friction hold nothing together."""
    joint, fixed = joints.each[k], joints.fixed
    if joints.broken[joint.index] != 0.0:
        return 0.0, 0.0
    lower, upper = fixed[k, LOWER], fixed[k, UPPER]
    q_a, q_b = get4(bodies.orientation, joint.a), get4(bodies.orientation, joint.b)
    point = add(get3(bodies.position, joint.a), rotate(q_a, get3_at(fixed, k, AT_A)))
    away = sub(point, add(get3(bodies.position, joint.b), rotate(q_b, get3_at(fixed, k, AT_B))))
    frame_a, frame_b = multiply(q_a, get4_at(fixed, k, FRAME_A)), multiply(q_b, get4_at(fixed, k, FRAME_B))
    local = unrotate(frame_b, away)
    if joint.kind == BALL:
        return norm(away), _leant_too_far(joints, k, frame_a, frame_b)
    if joint.kind == HINGE:
        z_a, z_b = rotate(frame_a, (0.0, 0.0, 1.0)), rotate(frame_b, (0.0, 0.0, 1.0))
        tilt = math.atan2(norm(cross(z_a, z_b)), dot(z_a, z_b))
        if joint.limit < 0:
            return norm(away), tilt
        along = unrotate(frame_a, rotate(frame_b, (1.0, 0.0, 0.0)))
        angle = nearest_turn(math.atan2(along[1], along[0]), joints.coordinate[joint.index])
        return norm(away), max(tilt, lower - angle, angle - upper)
    if joint.kind == WELD:
        return norm(away), angle_between(frame_a, frame_b)
    if joint.kind == SLIDE:
        x, y, z = unrotate(frame_a, away)
        return norm((x, y, z + min(max(-z, lower), upper))), angle_between(frame_a, frame_b)
    if joint.kind == ON_SEGMENT:
        return norm((local[0], local[1], local[2] - min(max(local[2], lower), upper))), 0.0
    if joint.kind == ON_CURVE:
        inside = unrotate(q_b, sub(point, get3(bodies.position, joint.b)))
        near = min(max(joints.coordinate[joint.index], lower), upper)
        t, at, _ = foot_on_curve(joints.curves, joint.knot, joint.last_knot, joint.closed, inside, near)
        if not lower <= t <= upper:
            at, _, _ = curve_at(joints.curves, joint.knot, joint.last_knot, min(max(t, lower), upper))
        return norm(sub(inside, at)), 0.0
    if joint.kind == IN_SPHERE:
        return max(norm(away) - upper, 0.0), 0.0
    distance, _ = rounded_field(joints.surfaces[k], get4_at(fixed, k, SIZE), local)
    return abs(distance), 0.0


@kernel
def _leant_too_far(joints, k, frame_a, frame_b):
    """By how much the second body of a ball joint is beyond its limits of lean and twist, in rad."""
    joint, fixed = joints.each[k], joints.fixed
    if joint.limits == 0:
        return 0.0
    q = multiply(conjugate(frame_a), frame_b)
    lower, upper = fixed[k, LOWER + 2], fixed[k, UPPER + 2]
    last = min(max(joints.coordinate[joint.second], lower - math.pi), upper + math.pi)
    twist = nearest_turn(twist_of(q), last)
    return max(0.0, lean_of(q) - fixed[k, UPPER], lower - twist, twist - upper)
