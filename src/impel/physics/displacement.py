"""The joints of paper 003, section 3.1: bodies move freely, then small displacements close the gaps, round by round.

For comparison with RATTLE: `joints: paper` is what is printed, `joints: displacement` the same idea put right. As
printed, rotation and translation (eqs. 5 and 6) are not those of one impulse: a pinned rod swings twice too fast,
angular momentum is not conserved, and structures of several joints diverge. Here one impulse, the gap over the
effective mass that the point feels, gives both. And v = 2dx/dt - v rings undamped, so `hold_velocities` follows.
"""

import math

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import rounded_field
from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    dot,
    exponential,
    get3,
    get3_at,
    get4,
    get4_at,
    multiply,
    norm,
    normalize,
    rotate,
    scale,
    set3,
    set3_at,
    set4,
    sub,
    unrotate,
)
from impel.physics.bodies import Bodies, drift, spin_of, weighted
from impel.physics.closing import keep_places
from impel.physics.curve import curve_at, foot_on_curve
from impel.physics.joint_rows import axes_of, nearest_turn
from impel.physics.joints import (
    AT_A,
    AT_B,
    BALL,
    FRAME_A,
    FRAME_B,
    IN_SPHERE,
    INVERSE,
    KEPT_ORIENTATION,
    KEPT_POSITION,
    LIVE,
    LOWER,
    ON_CURVE,
    ON_SEGMENT,
    SIZE,
    UPPER,
    WEIGHT,
    WELD,
    Joints,
)
from impel.physics.verdicts import DIVERGED, GOOD

THRESHOLD = 1e-6  # m or rad: gaps at which the rounds stop
ROUNDS = 200  # the most in a step; a chain of nine takes about 100 when it whips
SHIFT, TURN = INVERSE, INVERSE + 3  # columns of `place` where a round is summed up; `lean` writes there later


@kernel
def hold_positions_displacement(bodies, joints, dt):
    """Move all bodies by a step and close the gaps by impulses; velocities change with them. Returns the verdict."""
    drift(bodies, dt)
    worst = tune(bodies, joints, dt, False, ROUNDS, joints.change)
    for i in range(len(bodies.mass)):
        if bodies.inverse_mass[i] > 0.0:
            set3(bodies.spin, i, spin_of(bodies, i, get3(bodies.momentum, i)))
    return GOOD if worst < math.inf else DIVERGED


@kernel
def hold_positions_paper(bodies, joints, dt):
    """The same as printed: eqs. 5 and 6, then the speeds that follow from the places. Returns the verdict."""
    for island in range(len(joints.island) - 1):
        keep_places(bodies, joints, island)
    drift(bodies, dt)
    worst = tune(bodies, joints, dt, True, ROUNDS, joints.change)
    for k in range(len(joints.members)):
        i = joints.members[k]
        v = scale(sub(get3(bodies.position, i), get3_at(joints.place, i, KEPT_POSITION)), 2.0 / dt)
        set3(bodies.velocity, i, sub(v, get3(bodies.velocity, i)))
        # The part of R(t+dt)·R(t)⁻¹ - I that is a rotation vector is that of the sine.
        q = get4(bodies.orientation, i)
        turn = multiply(q, conjugate(get4_at(joints.place, i, KEPT_ORIENTATION)))
        spin = sub(scale((turn[1], turn[2], turn[3]), 4.0 * turn[0] / dt), get3(bodies.spin, i))
        set3(bodies.spin, i, spin)
        set3(bodies.momentum, i, weighted(q, get3(bodies.inertia, i), spin))
    return GOOD if worst < math.inf else DIVERGED


def tunings(bodies: Bodies, joints: Joints, *, printed: bool, rounds: int = ROUNDS) -> NDArray[np.float64]:
    """The largest gap before each round, from the present places on: does it converge, and how fast? (claim 003.14)"""
    gaps = np.full(rounds, np.nan)
    tune(bodies, joints, 1.0, printed, rounds, gaps)
    return gaps[~np.isnan(gaps)]


@kernel
def tune(bodies, joints, dt, printed, rounds, gaps):
    """Displace the bodies round by round until no gap is left; return the largest that is, infinite if they grow.

    `gaps` notes the largest gap before each round, as far as it has room.
    """
    place = joints.place
    worst, allowed = 0.0, math.inf
    for n in range(rounds):
        for k in range(len(joints.members)):
            set3_at(place, joints.members[k], SHIFT, (0.0, 0.0, 0.0))
            set3_at(place, joints.members[k], TURN, (0.0, 0.0, 0.0))
        worst = 0.0
        for k in range(len(joints.each)):
            joint = joints.each[k]
            gap, twist = gap_of(bodies, joints, k)
            size = max(norm(gap), norm(twist))
            if not size < allowed:
                return math.inf
            worst = max(worst, size)
            if size > 0.0:
                weight, at_a = joints.fixed[k, WEIGHT], get3_at(joints.fixed, k, AT_A)
                if printed:
                    _displace_as_printed(bodies, place, joint.a, joint.b, weight, at_a, gap, twist)
                else:
                    _displace(bodies, place, joint.a, joint.b, weight, at_a, gap, twist, joint.kind <= WELD)
        if n < len(gaps):
            gaps[n] = worst
        if worst <= THRESHOLD:
            break
        if n == 0:
            allowed = 10.0 * worst + 1e-2  # m or rad
        for k in range(len(joints.members)):
            i = joints.members[k]
            shift, turn = get3_at(place, i, SHIFT), get3_at(place, i, TURN)
            set3(bodies.position, i, add(shift, get3(bodies.position, i)))
            q = get4(bodies.orientation, i)
            set4(bodies.orientation, i, normalize(multiply(exponential(turn), q)))
            if not printed:
                set3(bodies.velocity, i, axpy(2.0 / dt, shift, get3(bodies.velocity, i)))
                blow = weighted(q, get3(bodies.inertia, i), turn)
                set3(bodies.momentum, i, axpy(2.0 / dt, blow, get3(bodies.momentum, i)))
    return worst


@kernel(inline=True)
def _sum(place, i, shift, turn, weight):
    set3_at(place, i, SHIFT, axpy(weight, shift, get3_at(place, i, SHIFT)))
    set3_at(place, i, TURN, axpy(weight, turn, get3_at(place, i, TURN)))


@kernel(inline=True)
def _arms(bodies, a, b, at_a):
    arm_a = rotate(get4(bodies.orientation, a), at_a)
    return arm_a, sub(add(get3(bodies.position, a), arm_a), get3(bodies.position, b))


@kernel(inline=True)
def _felt(bodies, i, arm, direction):
    """How a point of the body moves for an impulse at it."""
    turn = weighted(get4(bodies.orientation, i), get3(bodies.inverse_inertia, i), cross(arm, direction))
    return axpy(bodies.inverse_mass[i], direction, cross(turn, arm))


@kernel
def _displace(bodies, place, a, b, weight, at_a, gap, twist, all_ways):
    """One impulse, and one couple, that would close the gap and the twist of a joint alone."""
    arm_a, arm_b = _arms(bodies, a, b, at_a)
    q_a, q_b = get4(bodies.orientation, a), get4(bodies.orientation, b)
    inverse_a, inverse_b = get3(bodies.inverse_inertia, a), get3(bodies.inverse_inertia, b)
    impulse = (0.0, 0.0, 0.0)
    if all_ways:
        x = add(_felt(bodies, a, arm_a, (1.0, 0.0, 0.0)), _felt(bodies, b, arm_b, (1.0, 0.0, 0.0)))
        y = add(_felt(bodies, a, arm_a, (0.0, 1.0, 0.0)), _felt(bodies, b, arm_b, (0.0, 1.0, 0.0)))
        z = add(_felt(bodies, a, arm_a, (0.0, 0.0, 1.0)), _felt(bodies, b, arm_b, (0.0, 0.0, 1.0)))
        yz, zx, xy = cross(y, z), cross(z, x), cross(x, y)
        impulse = scale((dot(yz, gap), dot(zx, gap), dot(xy, gap)), 1.0 / dot(x, yz))
    elif dot(gap, gap) > 0.0:
        felt = add(_felt(bodies, a, arm_a, gap), _felt(bodies, b, arm_b, gap))
        impulse = scale(gap, dot(gap, gap) / dot(gap, felt))
    couple = (0.0, 0.0, 0.0)
    if dot(twist, twist) > 0.0:
        felt = add(weighted(q_a, inverse_a, twist), weighted(q_b, inverse_b, twist))
        couple = scale(twist, dot(twist, twist) / dot(twist, felt))
    if bodies.inverse_mass[a] > 0.0:
        turn = weighted(q_a, inverse_a, add(couple, cross(arm_a, impulse)))
        _sum(place, a, scale(impulse, bodies.inverse_mass[a]), turn, weight)
    if bodies.inverse_mass[b] > 0.0:
        turn = weighted(q_b, inverse_b, add(couple, cross(arm_b, impulse)))
        _sum(place, b, scale(impulse, -bodies.inverse_mass[b]), scale(turn, -1.0), weight)


@kernel
def _displace_as_printed(bodies, place, a, b, weight, at_a, gap, twist):
    """Eq. 5 turns the bodies, eq. 6 then closes what is left of the gap by moving them."""
    arm_a, arm_b = _arms(bodies, a, b, at_a)
    arm_b = add(arm_b, gap)  # to the point of b
    q_a, q_b = get4(bodies.orientation, a), get4(bodies.orientation, b)
    inverse_a, inverse_b = get3(bodies.inverse_inertia, a), get3(bodies.inverse_inertia, b)
    mass = 1.0 / (bodies.inverse_mass[a] + bodies.inverse_mass[b])  # m1·m2/(m1 + m2), also beside a fixed body
    turn_a = scale(weighted(q_a, inverse_a, cross(arm_a, gap)), mass)
    turn_b = scale(weighted(q_b, inverse_b, cross(gap, arm_b)), mass)
    left = sub(add(gap, sub(rotate(exponential(turn_b), arm_b), arm_b)), sub(rotate(exponential(turn_a), arm_a), arm_a))
    if dot(twist, twist) > 0.0:  # "split according to their respective inertia for this axis"
        felt_a, felt_b = weighted(q_a, inverse_a, twist), weighted(q_b, inverse_b, twist)
        share = dot(twist, felt_a) / (dot(twist, felt_a) + dot(twist, felt_b))
        turn_a = axpy(share, twist, turn_a)
        turn_b = axpy(share - 1.0, twist, turn_b)
    if bodies.inverse_mass[a] > 0.0:
        _sum(place, a, scale(left, mass * bodies.inverse_mass[a]), turn_a, weight)
    if bodies.inverse_mass[b] > 0.0:
        _sum(place, b, scale(left, -mass * bodies.inverse_mass[b]), turn_b, weight)


@kernel
def gap_of(bodies, joints, k):
    """How the point of a has to move, and how a has to turn, to meet the joint; updates its coordinate and limit."""
    joint = joints.each[k]
    j, kind = joint.index, joint.kind
    lower, upper = joints.fixed[k, LOWER], joints.fixed[k, UPPER]
    q_a, q_b = get4(bodies.orientation, joint.a), get4(bodies.orientation, joint.b)
    arm = add(get3(bodies.position, joint.a), rotate(q_a, get3_at(joints.fixed, k, AT_A)))
    arm = sub(arm, get3(bodies.position, joint.b))
    gap = sub(rotate(q_b, get3_at(joints.fixed, k, AT_B)), arm)
    twist = (0.0, 0.0, 0.0)
    coordinate = joints.coordinate[j]
    if BALL < kind <= WELD:
        x_a, y_a, z_a = axes_of(multiply(q_a, get4_at(joints.fixed, k, FRAME_A)))
        x_b, y_b, z_b = axes_of(multiply(q_b, get4_at(joints.fixed, k, FRAME_B)))
        twist = cross(z_a, z_b)
        if kind == WELD:
            twist = scale(add(add(cross(x_a, x_b), cross(y_a, y_b)), twist), 0.5)
        else:
            coordinate = nearest_turn(math.atan2(dot(x_b, y_a), dot(x_b, x_a)), coordinate)
            twist = axpy(coordinate - min(max(coordinate, lower), upper), z_a, twist)
    elif kind == ON_SEGMENT:
        _, _, z_b = axes_of(multiply(q_b, get4_at(joints.fixed, k, FRAME_B)))
        coordinate = -dot(gap, z_b)
        gap = axpy(min(max(coordinate, lower), upper), z_b, gap)
    elif kind == ON_CURVE:
        local = unrotate(q_b, arm)
        coordinate, at, _ = foot_on_curve(joints.curves, joint.knot, joint.last_knot, joint.closed, local, coordinate)
        if not lower <= coordinate <= upper:
            end = min(max(coordinate, lower), upper)
            at, _, _ = curve_at(joints.curves, joint.knot, joint.last_knot, end)
        gap = rotate(q_b, sub(at, local))
    elif kind == IN_SPHERE:
        coordinate = norm(gap)
        gap = scale(gap, 1.0 - upper / coordinate) if coordinate > upper else (0.0, 0.0, 0.0)
    elif kind > WELD:
        q = multiply(q_b, get4_at(joints.fixed, k, FRAME_B))
        local = unrotate(q, scale(gap, -1.0))
        distance, normal = rounded_field(joints.surfaces[k], get4_at(joints.fixed, k, SIZE), local)
        gap = rotate(q, scale(normal, -distance))
    joints.coordinate[j] = coordinate
    if joint.limit >= 0:
        # A limit that is just met still stops what runs into it in `hold_velocities`.
        joints.active[j] = 0.0
        if coordinate <= lower + THRESHOLD:
            joints.active[j] = -1.0
        elif coordinate >= upper - THRESHOLD:
            joints.active[j] = 1.0
        joints.rows[joint.limit, LIVE] = abs(joints.active[j])
    return gap, twist
