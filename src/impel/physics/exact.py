"""Newton's method with true derivatives, for steps in which the quick one of `rattle` gets nowhere.

The quick one keeps the matrix of the start of the step. That works as long as the turn of a step, times how unequally
the joints' rows feel their bodies, is small: 12 g that carry a ton turn too far in any step. Here the matrix is that
of the trial: the rows at the end of the step, times how places there change with the momenta of the step, times the
rows at its start. It is full, not symmetric, and may be nearly singular, so it is scaled and eliminated with full
pivoting. Impulses start from those that stop what the joints forbid: with none, or with the forces of the last step,
light bodies would be set spinning.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import (
    axpy,
    cross,
    dot,
    exponential,
    get3,
    get3_at,
    get4,
    get4_at,
    multiply,
    rotate,
    scale,
    set3,
    set3_at,
    set4,
    sub,
)
from impel.physics.bodies import turn_freely
from impel.physics.closing import meet_limits, turn_back
from impel.physics.joint_forces import begin_again, draw, let_slip, rounds_of
from impel.physics.joint_rows import axes_of, look, weigh
from impel.physics.joints import (
    ANGULAR_A,
    ANGULAR_B,
    EARLIER,
    EARLIER_SIDE,
    FRAME_A,
    FRAME_B,
    GIVE,
    HINGE,
    JOINT,
    KEPT_MOMENTUM,
    KEPT_ORIENTATION,
    KEPT_POSITION,
    KEPT_VELOCITY,
    LATER,
    LATER_SIDE,
    LINEAR,
    LIVE,
    MEMBER,
    NORMAL,
    PAIR,
    SHARED,
    SLIDE,
    TILE,
    WELD,
    YIELD,
)
from impel.physics.soft_rows import is_held

ITERATIONS = 24  # of Newton's method; 3 to 6 are usual
HALVINGS = 5  # of one of its steps, where the gaps grow
ROUNDS = 8  # changes of the set of limits that are met
SURE = 1e-9  # a scaled pivot that is as good as any: the largest of its row and column is, unless it is noise
SINGULAR = 1e-12  # scaled pivot below which rows say nothing new, ...
FAINT = 1e-14  # ... unless they stay open then: a gram that ties tons together makes rows as faint as that
STALLED = 0.25  # of the sum of squares: what leaves more of it has come down to rounding


@kernel
def hold_exactly(bodies, joints, island, dt, tolerance, acceptable, tolerable):
    """Find the impulses with which the joints of an island hold at the end of the step; are there any?

    Starts from the start of the step, which is also kept, and from `impulse`; leaves the impulses there, and takes rows
    for good that are met within `tolerance`, or within `acceptable` where they get no nearer; redundant `tolerable`.
    """
    spare, rows = joints.spare, joints.rows
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    first, last = 3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]
    if last - first > len(spare.matrix):
        return False
    draw(joints.soft, bodies, joints, island, dt)
    for r in range(first, last):
        for c in range(9):
            spare.start[r, c] = rows[r, c]
    _start_slipping(bodies, joints, island)
    held = False
    more = rounds_of(joints.soft)
    for n in range(ROUNDS + more):
        held = _iterate(bodies, joints, island, dt, tolerance, acceptable, tolerable)
        for r in range(first, last):
            for c in range(9):
                rows[r, c] = spare.start[r, c]
        if not held:
            break
        changed = meet_limits(joints, begin, end)
        changed |= let_slip(joints.soft, bodies, joints, begin, end, dt, n < ROUNDS // 2 + more)
        if n < ROUNDS // 2 + more:
            changed |= _leave_limits(joints, begin, end)
        if not changed:
            break
        _start_slipping(bodies, joints, island)
        held = False
    for k in range(begin, end):
        j = joints.each[k].index
        set3(joints.normal, j, get3_at(spare.kept, j, NORMAL))
    return held


@kernel
def _start_slipping(bodies, joints, island):
    """Begin with what slips as it will, and with what the others must do to hold it: by itself friction would turn a
    light body millions of times, and no derivative there tells the way back."""
    if joints.soft is not None:
        weigh(bodies, joints, island, 0.0)
        begin_again(joints.soft, bodies, joints, island)


@kernel
def _iterate(bodies, joints, island, dt, tolerance, acceptable, tolerable):
    """Newton's method with a fixed set of limits; did it get there?"""
    spare, impulse = joints.spare, joints.impulse
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    first, last = 3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]
    count = 0
    for r in range(first, last):
        spare.slot[r] = -1
        spare.step[r] = 0.0
    for k in range(begin, end):
        for r in range(joints.each[k].row, joints.each[k].row_end):
            if joints.rows[r, LIVE] != 0.0:
                spare.slot[r] = count
                count += 1
    rank, halvings, least = count, 0, SINGULAR
    nearest = math.inf
    for _ in range(ITERATIONS):
        _try_impulses(bodies, joints, island, dt)
        _look_exactly(bodies, joints, begin, end)
        error, distance = _errors(joints, first, last, count, rank, tolerance / tolerable)
        if error <= tolerance:
            return True
        if distance > STALLED * nearest and halvings == 0:
            error, _ = _errors(joints, first, last, count, rank, acceptable / tolerable)
            if error <= acceptable:
                return True
            error, _ = _errors(joints, first, last, count, rank, 0.0)
            if error <= acceptable and least > FAINT:  # only rows that were taken as redundant are open
                least, nearest = FAINT, math.inf
        if distance < nearest:
            halvings = 0
        elif halvings < HALVINGS:
            halvings += 1
            for r in range(first, last):
                spare.step[r] *= 0.5
                impulse[r] -= spare.step[r]
            continue
        else:  # back to the nearest
            for r in range(first, last):
                impulse[r] -= spare.step[r]
            _try_impulses(bodies, joints, island, dt)
            _look_exactly(bodies, joints, begin, end)
            break
        nearest = distance
        _write_matrix(bodies, joints, island, dt, count)
        spare.work[0] += 1.0
        rank = _eliminate(joints, first, last, count, least)
        for r in range(first, last):
            impulse[r] += spare.step[r]
    error, _ = _errors(joints, first, last, count, rank, acceptable / tolerable)
    return error <= acceptable


@kernel
def _leave_limits(joints, begin, end):
    """Let go of the limits that would have to pull; is there one?"""
    changed = False
    for k in range(begin, end):
        joint = joints.each[k]
        if joint.soft >= 0 and joint.limits == 1:  # where more than the limit acts, see `let_slip`
            continue
        for n in range(joint.limits):
            j, r = joint.index if n == 0 else joint.second, joint.limit + n
            if joints.active[j] * joints.impulse[r] > 0.0:
                joints.active[j] = 0.0
                joints.rows[r, LIVE] = joints.impulse[r] = 0.0
                changed = True
    return changed


@kernel
def _try_impulses(bodies, joints, island, dt):
    """Move the bodies by the step with the present impulses, from where they were at its start."""
    place, start, impulse = joints.place, joints.spare.start, joints.impulse
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.velocity, i, get3_at(place, i, KEPT_VELOCITY))
        set3(bodies.momentum, i, get3_at(place, i, KEPT_MOMENTUM))
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    turn_back(joints, begin, end)
    for k in range(begin, end):
        joint = joints.each[k]
        for side in range(2):
            i = joint.a if side == 0 else joint.b
            m = bodies.inverse_mass[i] if side == 0 else -bodies.inverse_mass[i]
            if m != 0.0:
                v, momentum = get3(bodies.velocity, i), get3(bodies.momentum, i)
                for r in range(joint.row, joint.row_end):
                    v = axpy(m * impulse[r], get3_at(start, r, LINEAR), v)
                    momentum = axpy(impulse[r], get3_at(start, r, ANGULAR_A + 3 * side), momentum)
                set3(bodies.velocity, i, v)
                set3(bodies.momentum, i, momentum)
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        x, q = get3_at(place, i, KEPT_POSITION), get4_at(place, i, KEPT_ORIENTATION)
        set3(bodies.position, i, axpy(dt, get3(bodies.velocity, i), x))
        momentum = get3(bodies.momentum, i)
        set4(bodies.orientation, i, turn_freely(q, momentum, bodies.inverse_inertia[i], bodies.top[i], dt))


@kernel
def _look_exactly(bodies, joints, begin, end):
    """As `look`, with rows that are the derivatives of the gaps also where these are open."""
    look(bodies, joints, begin, end, True)
    rows, gap, fixed = joints.rows, joints.change, joints.fixed
    for k in range(begin, end):
        joint = joints.each[k]
        r = joint.row
        if joint.kind <= WELD:
            x, y, z = gap[r], gap[r + 1], gap[r + 2]
            set3_at(rows, r, ANGULAR_B, sub(get3_at(rows, r, ANGULAR_B), (0.0, -z, y)))
            set3_at(rows, r + 1, ANGULAR_B, sub(get3_at(rows, r + 1, ANGULAR_B), (z, 0.0, -x)))
            set3_at(rows, r + 2, ANGULAR_B, sub(get3_at(rows, r + 2, ANGULAR_B), (-y, x, 0.0)))
        if joint.kind == WELD or joint.kind == SLIDE:
            x, y, z = 0.5 * gap[r + 3], 0.5 * gap[r + 4], 0.5 * gap[r + 5]
            w = math.sqrt(max(1.0 - x * x - y * y - z * z, 0.0))
            for side in range(2):
                along = w if side == 0 else -w
                set3_at(rows, r + 3, ANGULAR_A + 3 * side, (along, z, -y))
                set3_at(rows, r + 4, ANGULAR_A + 3 * side, (-z, along, x))
                set3_at(rows, r + 5, ANGULAR_A + 3 * side, (y, -x, along))
        elif joint.kind == HINGE and joint.limit >= 0:
            x_a, y_a, _ = axes_of(multiply(get4(bodies.orientation, joint.a), get4_at(fixed, k, FRAME_A)))
            x_b, _, _ = axes_of(multiply(get4(bodies.orientation, joint.b), get4_at(fixed, k, FRAME_B)))
            c, s = dot(x_b, x_a), dot(x_b, y_a)
            couple = scale(cross(axpy(c, y_a, scale(x_a, -s)), x_b), 1.0 / max(c * c + s * s, 1e-12))
            set3_at(rows, joint.limit, ANGULAR_A, couple)
            set3_at(rows, joint.limit, ANGULAR_B, scale(couple, -1.0))


@kernel
def _errors(joints, first, last, count, rank, redundant):
    """The largest gap, those of redundant rows weighted, and the sum of their squares; infinite for a NaN."""
    spare = joints.spare
    worst, total = 0.0, 0.0
    for n in range(count):
        spare.right[n] = 1.0
    for n in range(rank, count):
        spare.right[spare.row[n]] = redundant
    for r in range(first, last):
        if spare.slot[r] >= 0:
            gap = abs(joints.change[r]) * spare.right[spare.slot[r]]
            total += gap * gap
            if not gap <= worst:
                worst = gap
    if not total < math.inf:
        return math.inf, math.inf
    return worst, total


@kernel
def _write_matrix(bodies, joints, island, dt, count):
    """How the gaps at the end of the step change with the impulses."""
    spare, pairs, place = joints.spare, joints.pairs, joints.place
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        _write_turning(bodies, spare.turning, i, get4_at(place, i, KEPT_ORIENTATION), dt)
    for n in range(count):
        for m in range(count):
            spare.matrix[n, m] = 0.0
    for p in range(joints.island[island, PAIR], joints.island[island + 1, PAIR]):
        late, early = pairs[p, LATER], pairs[p, EARLIER]
        side, early_side, body = pairs[p, LATER_SIDE], pairs[p, EARLIER_SIDE], pairs[p, SHARED]
        _add_meeting(bodies, joints, late, early, side, early_side, body, dt)
        if late != early:
            _add_meeting(bodies, joints, early, late, early_side, side, body, dt)
    _add_yielding(joints.soft, joints, island)


@kernel
def _add_yielding(soft, joints, island):
    """What springs and friction that slips make of it: their rows yield (see soft_rows.py)."""
    if soft is None:
        return
    spare, grip = joints.spare, joints.grip
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        g = joints.each[k].soft
        if g >= 0 and spare.slot[soft[g].row] >= 0 and not is_held(joints, k, g):
            for i in range(soft[g].count):
                for n in range(soft[g].count):
                    yielding = grip[g, YIELD] * grip[g, GIVE + 3 * i + n]
                    spare.matrix[spare.slot[soft[g].row + i], spare.slot[soft[g].row + n]] += yielding


@kernel
def _add_meeting(bodies, joints, k, other, side, other_side, body, dt):
    """What the impulses of another joint do to the gaps of joint k by way of a body that both hold."""
    spare, rows = joints.spare, joints.rows
    shift = dt * bodies.inverse_mass[body]
    if side != other_side:
        shift = -shift
    one, two = joints.each[k], joints.each[other]
    for s in range(two.row, two.row_end):
        if spare.slot[s] >= 0:
            direction, couple = get3_at(spare.start, s, LINEAR), get3_at(spare.start, s, ANGULAR_A + 3 * other_side)
            u, v, w = get3_at(spare.turning, body, 0), get3_at(spare.turning, body, 3), get3_at(spare.turning, body, 6)
            turn = (dot(u, couple), dot(v, couple), dot(w, couple))
            for r in range(one.row, one.row_end):
                if spare.slot[r] >= 0:
                    moved = shift * dot(get3_at(rows, r, LINEAR), direction)
                    moved += dot(get3_at(rows, r, ANGULAR_A + 3 * side), turn)
                    spare.matrix[spare.slot[r], spare.slot[s]] += moved


@kernel
def _write_turning(bodies, turning, i, q, dt):
    """How a body's orientation after `turn_freely` changes with its angular momentum: a matrix, three rows."""
    momentum, inverse, top = get3(bodies.momentum, i), bodies.inverse_inertia[i], bodies.top[i]
    even = inverse[top[1]]
    rest, along = 0.5 * dt * (inverse[top[0]] - even), dt * (inverse[top[2]] - even)
    turn = scale(momentum, dt * even)
    a = _axis(q, top[0])
    q = multiply(exponential(scale(a, rest * dot(a, momentum))), q)
    c = _axis(q, top[2])
    q = multiply(exponential(turn), multiply(exponential(scale(c, along * dot(c, momentum))), q))
    last = _axis(q, top[0])
    big_turn = exponential(turn)
    angle2 = dot(turn, turn)
    angle = math.sqrt(angle2)
    if angle < 1e-3:
        f, g, h = 1.0 - angle2 / 6.0, 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
    else:
        f, g = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle2
        h = (1.0 - f) / angle2
    for n in range(3):
        d = (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0)
        t = scale(a, rest * dot(a, d))
        t = axpy(along * (dot(c, d) + dot(momentum, cross(t, c))), c, t)
        spread = axpy(f, d, axpy(g, cross(turn, d), scale(turn, h * dot(turn, d))))
        t = axpy(dt * even, spread, rotate(big_turn, t))
        t = axpy(rest * (dot(last, d) + dot(momentum, cross(t, last))), last, t)
        turning[i, n], turning[i, 3 + n], turning[i, 6 + n] = t


@kernel(inline=True)
def _axis(q, n):
    return rotate(q, (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0))


@kernel
def _find_pivot(a, row, k, count):
    """An entry that is the largest of its row and of its column (a rook's pivot); of all, where that says nothing."""
    at, across = _largest_below(a, row, k, count, k), k
    while True:
        best = across
        for m in range(k, count):
            if abs(a[row[at], m]) > abs(a[row[at], best]):
                best = m
        if best == across:
            break
        across = best
        other = _largest_below(a, row, k, count, across)
        if abs(a[row[other], across]) <= abs(a[row[at], across]):
            break
        at = other
    if abs(a[row[at], across]) < SURE:
        for n in range(k, count):
            for m in range(k, count):
                if abs(a[row[n], m]) > abs(a[row[at], across]):
                    at, across = n, m
    return at, across


@kernel
def _largest_below(a, row, k, count, m):
    at = k
    for n in range(k + 1, count):
        if abs(a[row[n], m]) > abs(a[row[at], m]):
            at = n
    return at


@kernel
def _eliminate(joints, first, last, count, least):
    """Solve for the change of the impulses that closes the gaps, with pivots from all over; return the matrix's rank.

    Rows and columns are scaled first. What lies beyond the rank, where pivots are below the `least`, is redundant:
    those impulses do not change.
    """
    spare = joints.spare
    a, right, row, column = spare.matrix, spare.right, spare.row, spare.column
    for r in range(first, last):
        if spare.slot[r] >= 0:
            right[spare.slot[r]] = -joints.change[r]
    for n in range(count):
        row[n] = column[n] = n
        largest = 0.0
        for m in range(count):
            largest = max(largest, abs(a[n, m]))
        if largest > 0.0:
            right[n] /= largest
            for m in range(count):
                a[n, m] /= largest
    for m in range(count):
        largest = 0.0
        for n in range(count):
            largest = max(largest, abs(a[n, m]))
        spare.scale[m] = 1.0 / largest if largest > 0.0 else 1.0
        for n in range(count):
            a[n, m] *= spare.scale[m]
    rank = count
    for k in range(count):
        at, across = _find_pivot(a, row, k, count)
        if abs(a[row[at], across]) < least:
            rank = k
            break
        row[k], row[at] = row[at], row[k]
        column[k], column[across] = column[across], column[k]
        if across != k:
            for n in range(count):
                a[n, k], a[n, across] = a[n, across], a[n, k]
        one = row[k]
        for n in range(k + 1, count):
            other = row[n]
            factor = a[other, k] / a[one, k]
            if factor != 0.0:
                right[other] -= factor * right[one]
                for m in range(k + 1, count):
                    a[other, m] -= factor * a[one, m]
    for k in range(rank - 1, -1, -1):
        x = right[row[k]]
        for m in range(k + 1, rank):
            x -= a[row[k], m] * right[row[m]]
        right[row[k]] = x / a[row[k], k]
    for k in range(count):
        spare.scale[column[k]] *= right[row[k]] if k < rank else 0.0
    for r in range(first, last):
        spare.step[r] = spare.scale[spare.slot[r]] if spare.slot[r] >= 0 else 0.0
    return rank
