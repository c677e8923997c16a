"""The equations of the joints: how far each is from being met, and along which directions it acts.

A row says: the velocity of a along `linear`, less that of b, plus both spins along `angular`, is zero (or is not
negative, at a limit). Its impulse acts on both bodies at the same point, so whatever the gaps, momentum and
angular momentum are conserved to the last bit.
"""

import math

from impel.geometry.fields import rounded_field
from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    axpy,
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
    scale,
    set3,
    set3_at,
    sub,
    transform,
    unrotate,
)
from impel.physics.curve import foot_on_curve, knot_point
from impel.physics.joints import (
    AGAIN,
    ANCHOR,
    ANGULAR_A,
    ANGULAR_B,
    AT_A,
    AT_B,
    BALL,
    BLANK,
    EARLIER,
    EARLIER_SIDE,
    FRAME_A,
    FRAME_B,
    FROM,
    HINGE,
    IN_SPHERE,
    INVERSE,
    JOINT,
    LATER,
    LATER_SIDE,
    LINEAR,
    LIVE,
    LOWER,
    MEMBER,
    NOW,
    ON_CURVE,
    ON_SEGMENT,
    PAIR,
    SHARED,
    SIZE,
    SLIDE,
    STUCK,
    TILE,
    TURNING_A,
    UPPER,
    WELD,
)
from impel.physics.skyline import (
    ZERO,
    factor,
    get_tile,
    plus,
    plus_diagonal,
    product,
    scaled,
    set_three,
    set_tile,
    solve,
    three,
    transposed,
)
from impel.physics.soft_rows import soft_residual, soften
from impel.physics.turns import lean_of, lean_rate, turn_near, turn_rate, twist_of, twist_rate


@kernel(inline=True)
def axes_of(q):
    """The columns of the rotation matrix."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel(inline=True)
def _aim_force(rows, r, direction, arm_a, arm_b):
    set3_at(rows, r, LINEAR, direction)
    set3_at(rows, r, ANGULAR_A, cross(arm_a, direction))
    set3_at(rows, r, ANGULAR_B, cross(direction, arm_b))


@kernel(inline=True)
def _aim_couple(rows, r, direction):
    set3_at(rows, r, ANGULAR_A, direction)
    set3_at(rows, r, ANGULAR_B, scale(direction, -1.0))


@kernel(inline=True)
def nearest_turn(angle, last):
    """The same angle, without jumps: of all that differ by full turns, the one nearest to the last."""
    return angle + 2.0 * math.pi * math.floor((last - angle) / (2.0 * math.pi) + 0.5)


@kernel(inline=True)
def twist_between(q_a, q_b):
    """How a is turned against b: twice the sine of half the angle, along the axis, the shorter way.

    Zero only where they agree. (Three right angles between their axes would also hold at 120° and 180°.)
    """
    w, x, y, z = multiply(q_a, conjugate(q_b))
    s = 2.0 if w >= 0.0 else -2.0
    return s * x, s * y, s * z


@kernel(inline=True)
def _unfolded(x, y):
    """Of two axes more than a right angle apart: the sine falls again, and two minus the sine takes its place."""
    sine = math.sqrt(x * x + y * y)
    if sine == 0.0:
        return 2.0, 0.0
    return x * (2.0 - sine) / sine, y * (2.0 - sine) / sine


@kernel(inline=True)
def _unfolded_couples(x, y, couple_x, couple_y):
    """The couples that go with `_unfolded`, given those of the sine."""
    sine = max(math.sqrt(x * x + y * y), 1e-9)
    along = axpy(x / sine, couple_x, scale(couple_y, y / sine))
    grown, less = (2.0 - sine) / sine, 2.0 / (sine * sine)
    return axpy(-less * x, along, scale(couple_x, grown)), axpy(-less * y, along, scale(couple_y, grown))


@kernel
def look(bodies, joints, begin, end, aim):
    """Write how far each row of the joints begin to end is from being met to `change`.

    Also updates the coordinates, and, to `aim`, the directions in which the rows act at the present places.
    Rows of limits that are not met count as met.
    """
    residual, rows, fixed = joints.change, joints.rows, joints.fixed
    for k in range(begin, end):
        joint = joints.each[k]
        kind, r, limit, j = joint.kind, joint.row, joint.limit, joint.index
        q_a, q_b = get4(bodies.orientation, joint.a), get4(bodies.orientation, joint.b)
        arm_a = rotate(q_a, get3_at(fixed, k, AT_A))
        arm_b = sub(add(get3(bodies.position, joint.a), arm_a), get3(bodies.position, joint.b))
        gap = sub(arm_b, rotate(q_b, get3_at(fixed, k, AT_B)))
        active = joints.active[j]
        if kind <= WELD:
            set_three(residual, joint.tile, gap)
            if aim:
                _aim_force(rows, r, (1.0, 0.0, 0.0), arm_a, arm_b)
                _aim_force(rows, r + 1, (0.0, 1.0, 0.0), arm_a, arm_b)
                _aim_force(rows, r + 2, (0.0, 0.0, 1.0), arm_a, arm_b)
        if kind != BALL:
            coordinate, direction = joints.coordinate[j], (0.0, 0.0, 0.0)  # along and about the limit
            frame_a, frame_b = multiply(q_a, get4_at(fixed, k, FRAME_A)), multiply(q_b, get4_at(fixed, k, FRAME_B))
            if kind == HINGE:
                coordinate, direction = _look_at_tilt(joints, k, frame_a, frame_b, aim)
            elif kind == WELD:
                residual[r + 3], residual[r + 4], residual[r + 5] = twist_between(frame_a, frame_b)
                if aim:
                    _aim_couple(rows, r + 3, (1.0, 0.0, 0.0))
                    _aim_couple(rows, r + 4, (0.0, 1.0, 0.0))
                    _aim_couple(rows, r + 5, (0.0, 0.0, 1.0))
            elif kind == SLIDE:
                x_a, y_a, z_a = axes_of(frame_a)
                coordinate = -dot(gap, z_a)
                residual[r], residual[r + 1] = dot(gap, x_a), dot(gap, y_a)
                residual[r + 3], residual[r + 4], residual[r + 5] = twist_between(frame_a, frame_b)
                arm_a, arm_b = sub(arm_a, gap), sub(arm_b, gap)  # it acts where the point of b is
                direction = scale(z_a, -1.0)
                if aim:
                    _aim_force(rows, r, x_a, arm_a, arm_b)
                    _aim_force(rows, r + 1, y_a, arm_a, arm_b)
                    _aim_couple(rows, r + 3, (1.0, 0.0, 0.0))
                    _aim_couple(rows, r + 4, (0.0, 1.0, 0.0))
                    _aim_couple(rows, r + 5, (0.0, 0.0, 1.0))
            elif kind == ON_SEGMENT:
                x_b, y_b, direction = axes_of(frame_b)
                residual[r], residual[r + 1], coordinate = dot(gap, x_b), dot(gap, y_b), dot(gap, direction)
                if aim:
                    _aim_force(rows, r, x_b, arm_a, arm_b)
                    _aim_force(rows, r + 1, y_b, arm_a, arm_b)
            elif kind == ON_CURVE:
                local = unrotate(q_b, arm_b)
                coordinate, at, tangent = foot_on_curve(
                    joints.curves, joint.knot, joint.last_knot, joint.closed, local, coordinate
                )
                normal = get3(joints.normal, j)
                if aim:
                    normal = axpy(-dot(normal, tangent), tangent, normal)
                    normal = scale(normal, 1.0 / norm(normal))
                    set3(joints.normal, j, normal)
                    _aim_force(rows, r, rotate(q_b, normal), arm_a, arm_b)
                    _aim_force(rows, r + 1, rotate(q_b, cross(tangent, normal)), arm_a, arm_b)
                away = sub(local, at)
                residual[r], residual[r + 1] = dot(away, normal), dot(away, cross(tangent, normal))
                direction = rotate(q_b, tangent)
                if active != 0.0:  # measured along the tangent: the parameter is a length only beyond the ends
                    tip = knot_point(joints.curves, joint.knot if active < 0.0 else joint.last_knot)
                    coordinate = dot(sub(local, tip), tangent) + fixed[k, LOWER if active < 0.0 else UPPER]
            elif kind == IN_SPHERE:
                coordinate = norm(gap)
                direction = scale(gap, 1.0 / coordinate) if coordinate > 0.0 else (0.0, 0.0, 1.0)
            else:
                x_b, y_b, z_b = axes_of(frame_b)
                local = (dot(gap, x_b), dot(gap, y_b), dot(gap, z_b))
                residual[r], normal = rounded_field(joints.surfaces[k], get4_at(fixed, k, SIZE), local)
                if aim:
                    direction = axpy(normal[0], x_b, axpy(normal[1], y_b, scale(z_b, normal[2])))
                    _aim_force(rows, r, direction, arm_a, arm_b)
            joints.coordinate[j] = coordinate
            if limit >= 0:
                residual[limit] = 0.0
                if joint.soft >= 0:
                    joints.grip[joint.soft, NOW] = coordinate
                    residual[limit] = soft_residual(joints.soft, joints, joint.soft, 0)
                if active != 0.0:
                    residual[limit] = coordinate - fixed[k, LOWER if active < 0.0 else UPPER]
                if aim and kind == HINGE:
                    _aim_couple(rows, limit, direction)
                elif aim:
                    _aim_force(rows, limit, direction, arm_a, arm_b)
        elif joint.partial != 0:
            _look_at_turn(joints, k, q_a, q_b, aim)
        if joint.partial != 0 and joints.broken[j] != 0.0:
            for i in range(r, joint.row_end):
                residual[i] = 0.0


@kernel(inline=True)
def _look_at_tilt(joints, k, frame_a, frame_b, aim):
    """The same for what a hinge has besides its point: its axes agree. Returns its angle, if it has limits, and to
    `aim` what these are about."""
    joint, residual, rows = joints.each[k], joints.change, joints.rows
    r, coordinate, about = joint.row, joints.coordinate[joint.index], (0.0, 0.0, 0.0)
    w, x, y, z = multiply(conjugate(frame_a), frame_b)
    tilt_x, tilt_y = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)  # the axis of a along x and y of b
    folded = x * x + y * y > 0.5
    residual[r + 3], residual[r + 4] = _unfolded(tilt_x, tilt_y) if folded else (tilt_x, tilt_y)
    if aim:
        _, _, z_a = axes_of(frame_a)
        x_b, y_b, _ = axes_of(frame_b)
        couple_x, couple_y = cross(z_a, x_b), cross(z_a, y_b)
        if folded:
            couple_x, couple_y = _unfolded_couples(tilt_x, tilt_y, couple_x, couple_y)
        _aim_couple(rows, r + 3, couple_x)
        _aim_couple(rows, r + 4, couple_y)
        about = scale(z_a, -1.0)
    if joint.limit >= 0:  # an arc tangent is dear, and only limits ask for it
        coordinate = nearest_turn(math.atan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z)), coordinate)
    return coordinate, about


@kernel
def _look_at_turn(joints, k, q_a, q_b, aim):
    """The same for what a ball joint has besides its point: limits of lean and twist, a spring, friction."""
    joint, residual, rows = joints.each[k], joints.change, joints.rows
    frame_a = multiply(q_a, get4_at(joints.fixed, k, FRAME_A))
    frame_b = multiply(q_b, get4_at(joints.fixed, k, FRAME_B))
    q = multiply(conjugate(frame_a), frame_b)
    for n in range(joint.limits):
        slot, at = joint.index if n == 0 else joint.second, joint.limit + n
        angle = lean_of(q)
        if n == 1:  # no twist is a full turn beyond its limits, wherever it was when it was turned over
            low, high = joints.fixed[k, LOWER + 2] - math.pi, joints.fixed[k, UPPER + 2] + math.pi
            angle = nearest_turn(twist_of(q), min(max(joints.coordinate[slot], low), high))
        joints.coordinate[slot] = angle
        active = joints.active[slot]
        residual[at] = 0.0
        if active != 0.0:
            residual[at] = angle - joints.fixed[k, (LOWER if active < 0.0 else UPPER) + 2 * n]
        if aim:
            _, _, z_a = axes_of(frame_a)
            _, _, z_b = axes_of(frame_b)
            _aim_couple(rows, at, lean_rate(z_a, z_b) if n == 0 else twist_rate(z_a, z_b))
    g = joint.soft
    if g >= 0:
        last = get3_at(joints.grip, g, ANCHOR if joints.grip[g, STUCK] != 0.0 else FROM)
        turn = turn_near(q, (0.0, 0.0, 0.0) if aim and joints.grip[g, STUCK] == 0.0 else last)
        set3_at(joints.grip, g, NOW, turn)
        for i in range(3):
            at = joint.row_end - 3 + i
            residual[at] = soft_residual(joints.soft, joints, g, i)
            if aim:
                _aim_couple(rows, at, scale(turn_rate(frame_a, turn, i), -1.0))


@kernel(inline=True)
def worst_row(joints, tile, tile_end, redundant):
    """The largest of the residuals that `look` has written, those of redundant rows weighted; infinite for a NaN."""
    worst = 0.0
    for t in range(tile, tile_end):
        for i in range(3):
            residual = abs(joints.change[3 * t + i])
            if not residual <= worst and joints.factor[9 * (joints.envelope[t, ZERO] + t) + 4 * i] == 0.0:
                residual *= redundant
            if not residual <= worst:
                worst = residual
                if not worst < math.inf:
                    return math.inf
    return worst


@kernel
def lean(bodies, joints, island):
    """How the rows that `look` has aimed act on the spins; leaves the inverse inertias in `place`."""
    place, rows = joints.place, joints.rows
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        axes, (u, v, w) = axes_of(get4(bodies.orientation, i)), get3(bodies.inverse_inertia, i)
        inverse = product(transposed(axes), transposed((scale(axes[0], u), scale(axes[1], v), scale(axes[2], w))))
        set3_at(place, i, INVERSE, inverse[0])
        set3_at(place, i, INVERSE + 3, (inverse[1][1], inverse[1][2], inverse[2][2]))
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        for side in range(2):
            i = joint.a if side == 0 else joint.b
            if bodies.inverse_mass[i] > 0.0:
                inverse = _inverse_inertia(place, i)
                for r in range(joint.row, joint.row_end):
                    set3_at(rows, r, TURNING_A + 3 * side, transform(inverse, get3_at(rows, r, ANGULAR_A + 3 * side)))


@kernel
def weigh(bodies, joints, island, damping):
    """The matrix of an island, rows·inverse mass·rows and ones for rows that are out, factored (see there)."""
    rows, data, envelope = joints.rows, joints.factor, joints.envelope
    for k in range(joints.island[island, BLANK], joints.island[island + 1, BLANK]):
        set_tile(data, joints.blank[k], ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    for p in range(joints.island[island, PAIR], joints.island[island + 1, PAIR]):
        late, early = joints.each[joints.pairs[p, LATER]], joints.each[joints.pairs[p, EARLIER]]
        side, early_side = joints.pairs[p, LATER_SIDE], joints.pairs[p, EARLIER_SIDE]
        m = bodies.inverse_mass[joints.pairs[p, SHARED]]
        if side != early_side:
            m = -m
        partial, again = late.partial != 0 or early.partial != 0, joints.pairs[p, AGAIN] != 0
        along_world = late.kind <= WELD and early.kind <= WELD
        first, first_early, end_early = late.tile, early.tile, early.tile_end
        for t in range(first, late.tile_end):
            couples, row = _three_rows(rows, t, ANGULAR_A + 3 * side), envelope[t, ZERO]
            for c in range(first_early, min(end_early, t + 1)):
                tile = product(couples, _three_rows(rows, c, TURNING_A + 3 * early_side))
                if t == first and c == first_early:  # all further rows are couples
                    if along_world:
                        tile = plus_diagonal(tile, (m, m, m))
                    else:
                        tile = plus(tile, m, product(_three_rows(rows, t, LINEAR), _three_rows(rows, c, LINEAR)))
                if partial:
                    tile = scaled(tile, _live_rows(rows, t), _live_rows(rows, c))
                if again:
                    tile = plus(tile, 1.0, get_tile(data, row + c))
                elif t == c:
                    tile = plus_diagonal(tile, sub((1.0, 1.0, 1.0), _live_rows(rows, t)))
                set_tile(data, row + c, tile)
    soften(joints.soft, joints, island)
    factor(data, envelope, joints.island[island, TILE], joints.island[island + 1, TILE], damping)


@kernel(inline=True)
def _three_rows(rows, t, column):
    return get3_at(rows, 3 * t, column), get3_at(rows, 3 * t + 1, column), get3_at(rows, 3 * t + 2, column)


@kernel(inline=True)
def _live_rows(rows, t):
    return rows[3 * t, LIVE], rows[3 * t + 1, LIVE], rows[3 * t + 2, LIVE]


@kernel(inline=True)
def turned(place, i, m):
    """The spin that goes with an angular momentum, by the inverse inertia that `lean` left in `place`."""
    return transform(_inverse_inertia(place, i), m)


@kernel(inline=True)
def _inverse_inertia(place, i):
    (xx, xy, xz), (yy, yz, zz) = get3_at(place, i, INVERSE), get3_at(place, i, INVERSE + 3)
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


@kernel(inline=True)
def _arm(rows, r, column):
    """From the centre of a body to where three rows act along the world's axes, as `_aim_force` wrote them."""
    return rows[r + 1, column + 2], -rows[r, column + 2], rows[r, column + 1]


@kernel
def resist(joints, island, velocity, spin):
    """Leave in `change` the impulses with which the joints of an island stop bodies that move so."""
    change, rows = joints.change, joints.rows
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        first = joint.row
        v = sub(get3(velocity, joint.a), get3(velocity, joint.b))
        spin_a, spin_b = get3(spin, joint.a), get3(spin, joint.b)
        if joint.kind <= WELD:  # the same in fewer words: forces along the world's axes, then couples
            at_a, at_b = cross(_arm(rows, first, ANGULAR_A), spin_a), cross(_arm(rows, first, ANGULAR_B), spin_b)
            set_three(change, joint.tile, scale(sub(add(at_a, at_b), v), rows[first, LIVE]))
            first += 3
        for r in range(first, joint.row_end):
            rate = dot(v, get3_at(rows, r, LINEAR))
            rate += dot(spin_a, get3_at(rows, r, ANGULAR_A)) + dot(spin_b, get3_at(rows, r, ANGULAR_B))
            change[r] = -rate * rows[r, LIVE]
        for r in range(joint.row_end, 3 * joint.tile_end):  # what no joint fills may hold what a failed step left
            change[r] = 0.0
    solve(joints.factor, joints.envelope, joints.island[island, TILE], joints.island[island + 1, TILE], change)


@kernel
def strike(bodies, joints, begin, end, impulse):
    """Let the rows of the joints begin to end act with these impulses on velocity and angular momentum."""
    rows = joints.rows
    for k in range(begin, end):
        joint = joints.each[k]
        first = joint.row
        force, couple_a, couple_b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if joint.kind <= WELD:
            force = three(impulse, joint.tile)
            couple_a = cross(_arm(rows, first, ANGULAR_A), force)
            couple_b = cross(_arm(rows, first, ANGULAR_B), force)
            first += 3
        for r in range(first, joint.row_end):
            force = axpy(impulse[r], get3_at(rows, r, LINEAR), force)
            couple_a = axpy(impulse[r], get3_at(rows, r, ANGULAR_A), couple_a)
            couple_b = axpy(impulse[r], get3_at(rows, r, ANGULAR_B), couple_b)
        if bodies.inverse_mass[joint.a] > 0.0:
            v = axpy(bodies.inverse_mass[joint.a], force, get3(bodies.velocity, joint.a))
            set3(bodies.velocity, joint.a, v)
            set3(bodies.momentum, joint.a, add(couple_a, get3(bodies.momentum, joint.a)))
        if bodies.inverse_mass[joint.b] > 0.0:
            v = axpy(-bodies.inverse_mass[joint.b], force, get3(bodies.velocity, joint.b))
            set3(bodies.velocity, joint.b, v)
            set3(bodies.momentum, joint.b, add(couple_b, get3(bodies.momentum, joint.b)))
