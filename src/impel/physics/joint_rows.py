"""The equations of the joints: how far each is from being met, and along which directions it acts.

A row says: the velocity of a along `linear`, less that of b, plus both spins along `angular`, is zero (or is not
negative, at a limit). Its impulse acts on both bodies at the same point, so whatever the gaps, momentum and
angular momentum are conserved to the last bit.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, get4, multiply, norm, rotate, scale, set3, sub, unrotate
from impel.physics.curve import foot_on_curve
from impel.physics.joints import BALL, HINGE, IN_SPHERE, ON_CURVE, ON_SEGMENT, WELD
from impel.physics.surface import distance_to_surface


@kernel(inline=True)
def _axes(q):
    """The columns of the rotation matrix."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@kernel(inline=True)
def _hinge_angle(joints, j, x_a, y_a, x_b):
    """The angle of b relative to a, without jumps: the turn nearest to the last one."""
    angle = math.atan2(dot(x_b, y_a), dot(x_b, x_a))
    turn = 2.0 * math.pi
    return angle + turn * math.floor((joints.coordinate[j] - angle) / turn + 0.5)


@kernel
def measure(bodies, joints, begin, end):
    """Write how far each row of the joints begin to end is from being met to `change`; return the largest.

    Also updates the coordinates. Rows of limits that are not met count as met.
    """
    g = joints.change
    worst = 0.0
    for k in range(begin, end):
        j = joints.sequence[k]
        a, b = joints.a[j], joints.b[j]
        kind = joints.kind[j]
        r = joints.row[j]
        q_a, q_b = get4(bodies.orientation, a), get4(bodies.orientation, b)
        point = add(get3(bodies.position, a), rotate(q_a, get3(joints.at_a, j)))
        gap = sub(point, add(get3(bodies.position, b), rotate(q_b, get3(joints.at_b, j))))
        coordinate = joints.coordinate[j]
        beyond = 0.0
        if kind <= WELD:
            g[r], g[r + 1], g[r + 2] = gap
            if kind != BALL:
                x_a, y_a, z_a = _axes(multiply(q_a, get4(joints.frame_a, j)))
                x_b, y_b, z_b = _axes(multiply(q_b, get4(joints.frame_b, j)))
                if kind == HINGE:
                    g[r + 3], g[r + 4] = dot(z_a, x_b), dot(z_a, y_b)
                    coordinate = _hinge_angle(joints, j, x_a, y_a, x_b)
                else:
                    g[r + 3], g[r + 4], g[r + 5] = dot(x_a, y_b), dot(y_a, z_b), dot(z_a, x_b)
        elif kind == ON_SEGMENT:
            x_b, y_b, z_b = _axes(multiply(q_b, get4(joints.frame_b, j)))
            g[r], g[r + 1] = dot(gap, x_b), dot(gap, y_b)
            coordinate = dot(gap, z_b)
        elif kind == ON_CURVE:
            first, last, closed = joints.curve[j, 0], joints.curve[j, 1], joints.curve[j, 2]
            local = unrotate(q_b, sub(point, get3(bodies.position, b)))
            coordinate, at, tangent = foot_on_curve(
                joints.knots, joints.pieces, first, last, closed, local, coordinate
            )
            away = sub(local, at)
            normal = get3(joints.normal, j)
            g[r], g[r + 1] = dot(away, normal), dot(away, cross(tangent, normal))
            if joints.active[j] != 0.0:  # a curve's parameter is a length only beyond its ends
                i = first if joints.active[j] < 0.0 else last
                tip = (joints.pieces[i, 0, 0], joints.pieces[i, 0, 1], joints.pieces[i, 0, 2])
                beyond = dot(sub(local, tip), tangent)
        elif kind == IN_SPHERE:
            coordinate = norm(gap)
        else:
            local = unrotate(multiply(q_b, get4(joints.frame_b, j)), gap)
            g[r], _ = distance_to_surface(joints.surface[j], joints.size[j], local)
        joints.coordinate[j] = coordinate
        limit = joints.limit[j]
        if limit >= 0:
            active = joints.active[j]
            if active == 0.0:
                beyond = 0.0
            elif kind != ON_CURVE:
                beyond = coordinate - (joints.lower[j] if active < 0.0 else joints.upper[j])
            g[limit] = beyond
        for i in range(r, joints.row_end[j]):
            if not abs(g[i]) <= worst:  # also when it is not a number
                worst = abs(g[i])
                if not worst < math.inf:
                    return math.inf
    return worst


@kernel(inline=True)
def _set_force(joints, r, direction, arm_a, arm_b):
    set3(joints.linear, r, direction)
    t = cross(arm_a, direction)
    joints.angular[r, 0], joints.angular[r, 1], joints.angular[r, 2] = t
    t = cross(direction, arm_b)
    joints.angular[r, 3], joints.angular[r, 4], joints.angular[r, 5] = t


@kernel(inline=True)
def _set_couple(joints, r, direction):
    set3(joints.linear, r, (0.0, 0.0, 0.0))
    joints.angular[r, 0], joints.angular[r, 1], joints.angular[r, 2] = direction
    joints.angular[r, 3], joints.angular[r, 4], joints.angular[r, 5] = -direction[0], -direction[1], -direction[2]


@kernel
def aim(bodies, joints, begin, end):
    """Set the directions in which the rows of the joints begin to end act at the present places."""
    for k in range(begin, end):
        j = joints.sequence[k]
        a, b = joints.a[j], joints.b[j]
        kind = joints.kind[j]
        r = joints.row[j]
        limit = joints.limit[j]
        q_a, q_b = get4(bodies.orientation, a), get4(bodies.orientation, b)
        arm_a = rotate(q_a, get3(joints.at_a, j))
        point = add(get3(bodies.position, a), arm_a)
        arm_b = sub(point, get3(bodies.position, b))
        gap = sub(arm_b, rotate(q_b, get3(joints.at_b, j)))
        if kind <= WELD:
            for axis in range(3):
                direction = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
                _set_force(joints, r + axis, direction, arm_a, arm_b)
            if kind != BALL:
                x_a, y_a, z_a = _axes(multiply(q_a, get4(joints.frame_a, j)))
                x_b, y_b, z_b = _axes(multiply(q_b, get4(joints.frame_b, j)))
                if kind == HINGE:
                    _set_couple(joints, r + 3, cross(z_a, x_b))
                    _set_couple(joints, r + 4, cross(z_a, y_b))
                    if limit >= 0:
                        _set_couple(joints, limit, scale(z_a, -1.0))
                else:
                    _set_couple(joints, r + 3, cross(x_a, y_b))
                    _set_couple(joints, r + 4, cross(y_a, z_b))
                    _set_couple(joints, r + 5, cross(z_a, x_b))
        elif kind == ON_SEGMENT:
            x_b, y_b, z_b = _axes(multiply(q_b, get4(joints.frame_b, j)))
            _set_force(joints, r, x_b, arm_a, arm_b)
            _set_force(joints, r + 1, y_b, arm_a, arm_b)
            _set_force(joints, limit, z_b, arm_a, arm_b)
        elif kind == ON_CURVE:
            first, last, closed = joints.curve[j, 0], joints.curve[j, 1], joints.curve[j, 2]
            t, _, tangent = foot_on_curve(
                joints.knots, joints.pieces, first, last, closed, unrotate(q_b, arm_b), joints.coordinate[j]
            )
            normal = get3(joints.normal, j)
            normal = axpy(-dot(normal, tangent), tangent, normal)
            normal = scale(normal, 1.0 / norm(normal))
            set3(joints.normal, j, normal)
            _set_force(joints, r, rotate(q_b, normal), arm_a, arm_b)
            _set_force(joints, r + 1, rotate(q_b, cross(tangent, normal)), arm_a, arm_b)
            if limit >= 0:
                _set_force(joints, limit, rotate(q_b, tangent), arm_a, arm_b)
        elif kind == IN_SPHERE:
            distance = norm(gap)
            direction = scale(gap, 1.0 / distance) if distance > 0.0 else (1.0, 0.0, 0.0)
            _set_force(joints, limit, direction, arm_a, arm_b)
        else:
            q = multiply(q_b, get4(joints.frame_b, j))
            _, normal = distance_to_surface(joints.surface[j], joints.size[j], unrotate(q, gap))
            _set_force(joints, r, rotate(q, normal), arm_a, arm_b)


@kernel
def weigh(bodies, joints, island):
    """The matrix of an island, rows·inverse mass·rows, from the directions set by `aim`; also sets `turning`."""
    inverse, angular, turning, linear = joints.inverse, joints.angular, joints.turning, joints.linear
    for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
        i = joints.members[k]
        x, y, z = _axes(get4(bodies.orientation, i))
        u, v, w = get3(bodies.inverse_inertia, i)
        inverse[i, 0] = u * x[0] * x[0] + v * y[0] * y[0] + w * z[0] * z[0]
        inverse[i, 1] = u * x[0] * x[1] + v * y[0] * y[1] + w * z[0] * z[1]
        inverse[i, 2] = u * x[0] * x[2] + v * y[0] * y[2] + w * z[0] * z[2]
        inverse[i, 3] = u * x[1] * x[1] + v * y[1] * y[1] + w * z[1] * z[1]
        inverse[i, 4] = u * x[1] * x[2] + v * y[1] * y[2] + w * z[1] * z[2]
        inverse[i, 5] = u * x[2] * x[2] + v * y[2] * y[2] + w * z[2] * z[2]
    for k in range(joints.island[island, 0], joints.island[island + 1, 0]):
        j = joints.sequence[k]
        for side in range(2):
            i = joints.a[j] if side == 0 else joints.b[j]
            if bodies.inverse_mass[i] > 0.0:
                for r in range(joints.row[j], joints.row_end[j]):
                    x, y, z = angular[r, 3 * side], angular[r, 3 * side + 1], angular[r, 3 * side + 2]
                    turning[r, 3 * side] = inverse[i, 0] * x + inverse[i, 1] * y + inverse[i, 2] * z
                    turning[r, 3 * side + 1] = inverse[i, 1] * x + inverse[i, 3] * y + inverse[i, 4] * z
                    turning[r, 3 * side + 2] = inverse[i, 2] * x + inverse[i, 4] * y + inverse[i, 5] * z
    fill(bodies, joints, island)


@kernel
def fill(bodies, joints, island):
    """The same, when only the set of limits that are met has changed."""
    data, start, first, live = joints.factor, joints.start, joints.first, joints.live
    angular, turning, linear = joints.angular, joints.turning, joints.linear
    for r in range(joints.island[island, 1], joints.island[island + 1, 1]):
        for c in range(first[r], r + 1):
            data[start[r] + c] = 0.0
    for p in range(joints.island[island, 3], joints.island[island + 1, 3]):
        late, early = joints.pairs[p, 0], joints.pairs[p, 1]
        s, t = 3 * joints.pairs[p, 2], 3 * joints.pairs[p, 3]
        m = bodies.inverse_mass[joints.pairs[p, 4]]
        if s != t:
            m = -m
        for r in range(joints.row[late], joints.row_end[late]):
            if live[r] != 0.0:
                x, y, z = angular[r, s], angular[r, s + 1], angular[r, s + 2]
                u, v, w = m * linear[r, 0], m * linear[r, 1], m * linear[r, 2]
                for c in range(joints.row[early], min(joints.row_end[early], r + 1)):
                    if live[c] != 0.0:
                        data[start[r] + c] += (
                            u * linear[c, 0] + v * linear[c, 1] + w * linear[c, 2]
                            + x * turning[c, t] + y * turning[c, t + 1] + z * turning[c, t + 2]
                        )  # fmt: skip
    for r in range(joints.island[island, 1], joints.island[island + 1, 1]):
        if live[r] == 0.0:
            data[start[r] + r] = 1.0


@kernel
def push_apart(bodies, joints, begin, end, impulse):
    """Let the rows of the joints begin to end act with these impulses on velocity and angular momentum."""
    for k in range(begin, end):
        j = joints.sequence[k]
        px, py, pz = 0.0, 0.0, 0.0
        ax, ay, az = 0.0, 0.0, 0.0
        bx, by, bz = 0.0, 0.0, 0.0
        for r in range(joints.row[j], joints.row_end[j]):
            s = impulse[r]
            px += s * joints.linear[r, 0]
            py += s * joints.linear[r, 1]
            pz += s * joints.linear[r, 2]
            ax += s * joints.angular[r, 0]
            ay += s * joints.angular[r, 1]
            az += s * joints.angular[r, 2]
            bx += s * joints.angular[r, 3]
            by += s * joints.angular[r, 4]
            bz += s * joints.angular[r, 5]
        i = joints.a[j]
        m = bodies.inverse_mass[i]
        if m > 0.0:
            set3(bodies.velocity, i, axpy(m, (px, py, pz), get3(bodies.velocity, i)))
            set3(bodies.momentum, i, add((ax, ay, az), get3(bodies.momentum, i)))
        i = joints.b[j]
        m = bodies.inverse_mass[i]
        if m > 0.0:
            set3(bodies.velocity, i, axpy(-m, (px, py, pz), get3(bodies.velocity, i)))
            set3(bodies.momentum, i, add((bx, by, bz), get3(bodies.momentum, i)))
