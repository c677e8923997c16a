"""Springs and friction in joints, in both halves of a step.

Friction holds or slips. While it holds, its rows are held like those of a weld, exactly and at the place where it got
stuck, so that nothing creeps; when it would have to hold with more than it can, it slips, and acts with all it can
against the slip until that has come to an end. A limit in the same row is held in the same way, only that it holds
on one side with any force. What a spring does meanwhile is known from where the joint is, and is not counted.

In a ball joint friction acts against the spin, whose direction changes: sideways it is a damper, the stronger the
slower the slip, and as such implicit. (With the direction of the start alone, light links rattle about their own axes.)
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, get3_at, norm, scale, set3, set3_at, sub
from impel.physics.joint_rows import resist, strike, turned, weigh
from impel.physics.joints import (
    AIM,
    ANCHOR,
    ANGULAR_A,
    ANGULAR_B,
    BOUND,
    DAMP,
    FROM,
    GIVE,
    GIVEN,
    GRIP,
    JOINT,
    KEPT_MOMENTUM,
    KEPT_SPIN,
    KEPT_VELOCITY,
    LINEAR,
    LIVE,
    MEMBER,
    NOW,
    PUSH,
    SLIP,
    SPEED,
    STUCK,
    TILE,
    TURNING_A,
    TURNING_B,
    YIELD,
)
from impel.physics.soft_rows import is_held

STILL = 1e-9  # rad/s or m/s: what slips no faster has stopped
ALONG = 1e-6  # of sideways: what friction damps along the slip too, so that all rows yield by a finite amount
STIFF = 1.0  # of its speed: damping that would take more from a free body in a step must not overshoot


# In a joint with one row, vectors stand for one number; in a ball they are couples, turns and spins in the world.


@kernel(inline=True)
def _gather(joints, r, count, p):
    """The couple that the impulses of three rows make together."""
    if count == 1:
        return p[0], 0.0, 0.0
    rows = joints.rows
    couple = scale(get3_at(rows, r, ANGULAR_B), p[0])
    return axpy(p[2], get3_at(rows, r + 2, ANGULAR_B), axpy(p[1], get3_at(rows, r + 1, ANGULAR_B), couple))


@kernel(inline=True)
def _turn_of(joints, r, count, change):
    """The turn that changes the coordinates of three rows so."""
    if count == 1:
        return change[0], 0.0, 0.0
    rows = joints.rows
    u, v, w = get3_at(rows, r, ANGULAR_B), get3_at(rows, r + 1, ANGULAR_B), get3_at(rows, r + 2, ANGULAR_B)
    whole = dot(u, cross(v, w))
    turn = axpy(change[0], cross(v, w), axpy(change[1], cross(w, u), scale(cross(u, v), change[2])))
    return scale(turn, 1.0 / whole)


@kernel(inline=True)
def _spread(joints, r, count, couple):
    """The impulses of three rows that make this couple together."""
    if count == 1:
        return couple[0], 0.0, 0.0
    rows = joints.rows
    u, v, w = get3_at(rows, r, ANGULAR_B), get3_at(rows, r + 1, ANGULAR_B), get3_at(rows, r + 2, ANGULAR_B)
    whole = dot(u, cross(v, w))
    return scale((dot(couple, cross(v, w)), dot(couple, cross(w, u)), dot(couple, cross(u, v))), 1.0 / whole)


@kernel(inline=True)
def _rate(bodies, joints, k, r, count):
    """How fast b moves against a along what is free."""
    joint, rows = joints.each[k], joints.rows
    spin_a, spin_b = get3(bodies.spin, joint.a), get3(bodies.spin, joint.b)
    if count == 3:
        return sub(spin_b, spin_a)
    v = sub(get3(bodies.velocity, joint.a), get3(bodies.velocity, joint.b))
    rate = dot(v, get3_at(rows, r, LINEAR))
    return rate + dot(spin_a, get3_at(rows, r, ANGULAR_A)) + dot(spin_b, get3_at(rows, r, ANGULAR_B)), 0.0, 0.0


@kernel(inline=True)
def _answer(bodies, joints, k, r):
    """How fast a row becomes for an impulse of one, if nothing but itself held its bodies."""
    joint, rows = joints.each[k], joints.rows
    along = get3_at(rows, r, LINEAR)
    answer = (bodies.inverse_mass[joint.a] + bodies.inverse_mass[joint.b]) * dot(along, along)
    if bodies.inverse_mass[joint.a] > 0.0:
        answer += dot(get3_at(rows, r, ANGULAR_A), get3_at(rows, r, TURNING_A))
    if bodies.inverse_mass[joint.b] > 0.0:
        answer += dot(get3_at(rows, r, ANGULAR_B), get3_at(rows, r, TURNING_B))
    return answer


@kernel(inline=True)
def _set_live(joints, r, count, live):
    for i in range(count):
        joints.rows[r + i, LIVE] = 1.0 if live else 0.0


@kernel(inline=True)
def _spring_impulses(soft, joints, g, damping, dt):
    """Of a spring along its rows in half the step, with this damping, if the joint stays where it is."""
    one, now, start = soft[g], get3_at(joints.grip, g, NOW), get3_at(joints.grip, g, FROM)
    rest = (one.rest, one.rest, one.rest)
    pull = scale(sub(rest, scale(add(now, start), 0.5)), 0.5 * dt * one.stiffness)
    turn = _turn_of(joints, one.row, one.count, sub(now, start))
    return add(pull, _spread(joints, one.row, one.count, scale(turn, -0.5 * damping)))


@kernel
def _damp(soft, bodies, joints, k, g, damping, sideways):
    """Write how strongly soft rows hold what moves: by damping, and a ball's by friction sideways to its slip."""
    r, count, grip = soft[g].row, soft[g].count, joints.grip
    if count == 1:
        grip[g, GIVE] = damping
        return
    slip, speed = get3_at(grip, g, SLIP), grip[g, SPEED]
    for i in range(3):
        speed = max(speed, grip[g, BOUND] * _answer(bodies, joints, k, r + i))  # no slower than friction could stop it
    sideways *= grip[g, BOUND] * norm(slip) / max(speed, 1e-300)
    for i in range(3):
        one = _turn_of(joints, r, 3, (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0))
        for n in range(3):
            other = _turn_of(joints, r, 3, (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0))
            along = (1.0 - ALONG) * dot(one, slip) * dot(other, slip)
            grip[g, GIVE + 3 * i + n] = (damping + sideways) * dot(one, other) - sideways * along


@kernel(inline=True)
def _invert(grip, g, count):
    """Turn how strongly soft rows hold into how far they yield; do they hold at all?"""
    if not grip[g, GIVE] > 0.0:
        return False
    if count == 1:
        grip[g, GIVE] = 1.0 / grip[g, GIVE]
        return True
    a, b, c = get3_at(grip, g, GIVE), get3_at(grip, g, GIVE + 3), get3_at(grip, g, GIVE + 6)
    bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
    whole = 1.0 / dot(a, bc)
    set3_at(grip, g, GIVE, scale(bc, whole))
    set3_at(grip, g, GIVE + 3, scale(ca, whole))
    set3_at(grip, g, GIVE + 6, scale(ab, whole))
    return True


@kernel
def _stretch(soft, bodies, joints, k, g, dt):
    """For the first half of a step: how soft rows yield to spring and friction, and where they would rest."""
    grip, one = joints.grip, soft[g]
    slip = scale(get3_at(grip, g, SLIP), -grip[g, BOUND])
    set3_at(grip, g, GIVEN, _spread(joints, one.row, one.count, slip))
    _damp(soft, bodies, joints, k, g, 0.5 * one.damping, 1.0 / dt)
    for i in range(one.count):
        grip[g, GIVE + 4 * i] += 0.25 * dt * one.stiffness
    grip[g, YIELD] = dt if _invert(grip, g, one.count) else 0.0
    for i in range(one.count):
        grip[g, AIM + i] = grip[g, FROM + i]
        for n in range(one.count):
            pull = 0.5 * dt * one.stiffness * (one.rest - grip[g, FROM + n])
            grip[g, AIM + i] += grip[g, GIVE + 3 * i + n] * pull
            grip[g, GIVE + 3 * i + n] *= 1.0 / dt


@kernel
def _drag(soft, bodies, joints, k, g):
    """The same for the second half, where only dampers yield."""
    joints.grip[g, YIELD] = 0.0
    _damp(soft, bodies, joints, k, g, joints.grip[g, DAMP], 1.0)
    _invert(joints.grip, g, soft[g].count)


@kernel
def freeze(soft, joints, begin, end):
    """Hold all springs and frictions where they are, but for those at a limit."""
    if soft is None:
        return
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0:
            at_limit = soft[g].count == 1 and joints.active[joints.each[k].index] != 0.0
            joints.grip[g, STUCK] = 0.0 if at_limit else 1.0
            set3_at(joints.grip, g, ANCHOR, get3_at(joints.grip, g, NOW))
            _set_live(joints, soft[g].row, soft[g].count, True)


@kernel
def loosen(soft, bodies, joints, begin, end):
    """Let go of all that springs and friction do in this step; is there something?"""
    if soft is None:
        return False
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0:
            joints.grip[g, STUCK] = joints.grip[g, YIELD] = joints.grip[g, DAMP] = joints.grip[g, BOUND] = 0.0
            _drag(soft, bodies, joints, k, g)
            set3_at(joints.grip, g, PUSH, (0.0, 0.0, 0.0))
            _set_live(joints, soft[g].row, soft[g].count, is_held(joints, k, g))
    return True


@kernel
def draw(soft, bodies, joints, island, dt):
    """Before the first half of a step: draw the springs, and take hold of what slips."""
    if soft is None:
        return
    grip = joints.grip
    sprung = False
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0:
            one = soft[g]
            set3_at(grip, g, FROM, get3_at(grip, g, NOW))
            grip[g, BOUND] = 0.5 * dt * one.friction
            if one.friction > 0.0 and not is_held(joints, k, g) and _stops(soft, bodies, joints, k, g):
                grip[g, STUCK] = 1.0
                set3_at(grip, g, ANCHOR, get3_at(grip, g, FROM))
                sprung = True
            _stretch(soft, bodies, joints, k, g, dt)
            sprung |= grip[g, YIELD] > 0.0
            _set_live(joints, one.row, one.count, grip[g, YIELD] > 0.0 or is_held(joints, k, g))
    if sprung:
        weigh(bodies, joints, island, 0.0)


@kernel(inline=True)
def _stops(soft, bodies, joints, k, g):
    """Could friction stop what slips in half a step? Then it is held at first: if that is too much it slips on, but to
    find out that it should have been held, after it was thrown back, can be too late."""
    answer = 0.0
    for i in range(soft[g].count):
        answer = max(answer, _answer(bodies, joints, k, soft[g].row + i))
    return joints.grip[g, SPEED] <= joints.grip[g, BOUND] * answer


@kernel
def stored(soft, joints, island):
    """Twice the energy of an island's springs at the start of the step."""
    if soft is None:
        return 0.0
    total = 0.0
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0:
            for i in range(soft[g].count):
                total += soft[g].stiffness * (joints.grip[g, FROM + i] - soft[g].rest) ** 2
    return total


@kernel
def yield_more(soft, joints, begin, end):
    """Begin with what slips as it will: nothing else would tell its rows, which are out."""
    if soft is None:
        return
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and joints.rows[soft[g].row, LIVE] == 0.0 and joints.broken[joints.each[k].index] == 0.0:
            for i in range(soft[g].count):
                joints.change[soft[g].row + i] = joints.impulse[soft[g].row + i] = joints.grip[g, GIVEN + i]


@kernel
def let_slip(soft, bodies, joints, begin, end, dt, may_go):
    """In the first half of a step: let go of what is held by more than it bears, hold what has slipped back; is there
    one? Unless it `may_go`, nothing is let go."""
    if soft is None:
        return False
    changed = False
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0:
            changed |= _slip_one(soft, bodies, joints, k, g, dt, may_go)
    return changed


@kernel
def _slip_one(soft, bodies, joints, k, g, dt, may_go):
    grip, impulse, r, count = joints.grip, joints.impulse, soft[g].row, soft[g].count
    if is_held(joints, k, g):
        total = (impulse[r], 0.0, 0.0)
        if count == 3:
            total = (impulse[r], impulse[r + 1], impulse[r + 2])
        spring = _spring_impulses(soft, joints, g, soft[g].damping, dt)
        couple = _gather(joints, r, count, sub(total, spring))
        if not may_go or not _is_too_much(soft, joints, k, g, couple):
            return False
        _begin_to_slip(joints, k, g, count, couple)
        _stretch(soft, bodies, joints, k, g, dt)
        _set_live(joints, r, count, grip[g, YIELD] > 0.0)
        return True
    moved = _turn_of(joints, r, count, sub(get3_at(grip, g, NOW), get3_at(grip, g, FROM)))
    if soft[g].friction > 0.0 and dot(moved, get3_at(grip, g, SLIP)) < 0.0:
        grip[g, STUCK] = 1.0
        set3_at(grip, g, ANCHOR, get3_at(grip, g, FROM))
        _set_live(joints, r, count, True)
        return True
    return False


@kernel
def begin_again(soft, bodies, joints, island):
    """Begin the first half of a step again after something began to slip or got stuck, with the impulses that would be
    right if nothing moved: those of the slip, and what the others must do to hold them. (To take back what no longer
    acts, and nothing else, would throw light bodies about.) Needs the new matrix; leaves spins as they are. Did it?"""
    if soft is None:
        return False
    change, impulse = joints.change, joints.impulse
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        set3_at(joints.place, joints.members[k], KEPT_SPIN, get3(bodies.spin, joints.members[k]))
    for k in range(begin, end):
        for r in range(joints.each[k].row, joints.each[k].row_end):
            impulse[r] = 0.0
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0 and not is_held(joints, k, g):
            for i in range(soft[g].count):
                impulse[soft[g].row + i] = joints.grip[g, GIVEN + i]
    _to_kept_motion(bodies, joints, island)
    strike(bodies, joints, begin, end, impulse)
    respin(bodies, joints, island)
    resist(joints, island, bodies.velocity, bodies.spin)
    _to_kept_motion(bodies, joints, island)
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        set3(bodies.spin, joints.members[k], get3_at(joints.place, joints.members[k], KEPT_SPIN))
    for k in range(begin, end):
        for r in range(joints.each[k].row, joints.each[k].row_end):
            impulse[r] += change[r]
            change[r] = impulse[r]
    return True


@kernel
def _to_kept_motion(bodies, joints, island):
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.velocity, i, get3_at(joints.place, i, KEPT_VELOCITY))
        set3(bodies.momentum, i, get3_at(joints.place, i, KEPT_MOMENTUM))
    respin(bodies, joints, island)


@kernel(inline=True)
def _is_too_much(soft, joints, k, g, couple):
    """Whether what holds a joint, friction or a limit, would have to hold with more than it can."""
    bound = joints.grip[g, BOUND]
    if joints.grip[g, STUCK] != 0.0:
        return norm(couple) > bound
    return joints.active[joints.each[k].index] * couple[0] > bound


@kernel(inline=True)
def _begin_to_slip(joints, k, g, count, couple):
    joints.grip[g, STUCK] = joints.grip[g, SPEED] = 0.0
    if count == 1:
        joints.active[joints.each[k].index] = 0.0
    set3_at(joints.grip, g, SLIP, scale(couple, -1.0 / max(norm(couple), 1e-300)))


@kernel
def foresee(soft, bodies, joints, begin, end, dt):
    """After the first half of a step: what the springs will do in the second half is known.

    But damping that would do too much, and turn the motion round, follows the speed at the end of the step instead.
    """
    if soft is None:
        return
    grip = joints.grip
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0:
            one = soft[g]
            answer = 0.0
            for i in range(one.count):
                answer = max(answer, _answer(bodies, joints, k, one.row + i))
            stiff = one.damping * dt * answer > STIFF
            grip[g, DAMP] = 0.5 * dt * one.damping if stiff else 0.0
            set3_at(grip, g, PUSH, _spring_impulses(soft, joints, g, 0.0 if stiff else one.damping, dt))


@kernel
def push_back(soft, bodies, joints, begin, end):
    """In the second half of a step: springs act as in the first one, and friction against what slips."""
    if soft is None:
        return
    grip = joints.grip
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0:
            r, count = soft[g].row, soft[g].count
            _drag(soft, bodies, joints, k, g)
            _set_live(joints, r, count, grip[g, GIVE] > 0.0 or is_held(joints, k, g))
            push = get3_at(grip, g, PUSH)
            if not is_held(joints, k, g):
                slip = scale(get3_at(grip, g, SLIP), -grip[g, BOUND])
                push = add(push, _spread(joints, r, count, slip))
            _act(bodies, joints, k, r, count, push)


@kernel
def _act(bodies, joints, k, r, count, p):
    """Let soft rows act at once with these impulses."""
    joint, rows = joints.each[k], joints.rows
    for i in range(count):
        one = p[0] if i == 0 else p[1] if i == 1 else p[2]
        for side in range(2):
            body = joint.a if side == 0 else joint.b
            if bodies.inverse_mass[body] > 0.0:
                along = (one if side == 0 else -one) * bodies.inverse_mass[body]
                set3(bodies.velocity, body, axpy(along, get3_at(rows, r + i, LINEAR), get3(bodies.velocity, body)))
                couple = get3_at(rows, r + i, ANGULAR_A + 3 * side)
                set3(bodies.momentum, body, axpy(one, couple, get3(bodies.momentum, body)))
                turning = get3_at(rows, r + i, TURNING_A + 3 * side)
                set3(bodies.spin, body, axpy(one, turning, get3(bodies.spin, body)))


@kernel
def let_slide(soft, bodies, joints, begin, end):
    """In the second half of a step: let go of what would be held by more than it bears; is there one?"""
    if soft is None:
        return False
    changed = False
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and joints.broken[joints.each[k].index] == 0.0 and is_held(joints, k, g):
            couple = _resistance(joints, soft[g].row, soft[g].count)
            if _is_too_much(soft, joints, k, g, couple):
                _slide(soft, bodies, joints, k, g, couple, joints.grip[g, BOUND])
                changed = True
    return changed


@kernel(inline=True)
def _resistance(joints, r, count):
    change = joints.change
    if count == 1:
        return change[r], 0.0, 0.0
    return _gather(joints, r, count, (change[r], change[r + 1], change[r + 2]))


@kernel(inline=True)
def _slide(soft, bodies, joints, k, g, couple, bound):
    r, count = soft[g].row, soft[g].count
    _begin_to_slip(joints, k, g, count, couple)
    _drag(soft, bodies, joints, k, g)
    _set_live(joints, r, count, joints.grip[g, GIVE] > 0.0)
    _act(bodies, joints, k, r, count, _spread(joints, r, count, scale(get3_at(joints.grip, g, SLIP), -bound)))


@kernel(inline=True)
def rounds_of(soft):
    """How often something could begin to slip, one after the other."""
    if soft is None:
        return 0
    return len(soft)


@kernel
def stick(soft, bodies, joints, island):
    """After a step: what slips no more gets stuck, unless it is driven back at once by more than friction holds."""
    if soft is None:
        return
    grip = joints.grip
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    stopped = False
    for k in range(begin, end):
        g = joints.each[k].soft
        if g < 0 or joints.broken[joints.each[k].index] != 0.0:
            continue
        if soft[g].friction > 0.0 and not is_held(joints, k, g):
            rate = _rate(bodies, joints, k, soft[g].row, soft[g].count)
            speed = norm(rate)
            if speed <= STILL or dot(rate, get3_at(grip, g, SLIP)) <= 0.0:
                grip[g, STUCK] = 3.0 if speed <= STILL else 2.0
                set3_at(grip, g, ANCHOR, get3_at(grip, g, NOW))
                set3_at(grip, g, GIVEN, (0.0, 0.0, 0.0))
                _set_live(joints, soft[g].row, soft[g].count, True)
                stopped = True
            else:
                set3_at(grip, g, SLIP, scale(rate, 1.0 / speed))
                grip[g, SPEED] = speed
    while stopped:
        keep_impulses(joints, island)
        weigh(bodies, joints, island, 0.0)
        resist(joints, island, bodies.velocity, bodies.spin)
        stopped = _stop_till_one_slips(soft, bodies, joints, island)
        add_impulses(joints, island)
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and grip[g, STUCK] > 1.0:
            grip[g, STUCK] = 1.0


@kernel
def _stop_till_one_slips(soft, bodies, joints, island):
    """Let what `resist` has found act as far as all that is driven back can be held, and let the first one slip that
    can not; is there one?

    So each part of it takes energy out. Frictions with a light body between them push against each other: to let all
    slip at once that would have to hold with more than they can would leave that to the strongest, which throws it.
    """
    grip, change = joints.grip, joints.change
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    share, first = 1.0, -1
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and grip[g, STUCK] == 2.0:
            room = _room(get3_at(grip, g, GIVEN), _resistance(joints, soft[g].row, soft[g].count), 2.0 * grip[g, BOUND])
            if room < share:
                share, first = room, k
    for k in range(begin, end):
        g = joints.each[k].soft
        if g >= 0 and grip[g, STUCK] == 2.0:
            couple = _resistance(joints, soft[g].row, soft[g].count)
            set3_at(grip, g, GIVEN, axpy(share, couple, get3_at(grip, g, GIVEN)))
        for r in range(joints.each[k].row, joints.each[k].row_end):
            change[r] *= share
    strike(bodies, joints, begin, end, change)
    respin(bodies, joints, island)
    if first < 0:
        return False
    g = joints.each[first].soft
    _begin_to_slip(joints, first, g, soft[g].count, get3_at(grip, g, GIVEN))
    _drag(soft, bodies, joints, first, g)
    _set_live(joints, soft[g].row, soft[g].count, grip[g, GIVE] > 0.0)
    return True


@kernel(inline=True)
def _room(given, more, bound):
    """What share of an impulse can be added to one before both together are as long as `bound`."""
    a, b, c = dot(more, more), dot(given, more), dot(given, given) - bound * bound
    if a == 0.0 or a + 2.0 * b + c <= 0.0:
        return 1.0
    return max((math.sqrt(max(b * b - a * c, 0.0)) - b) / a, 0.0)


@kernel(inline=True)
def respin(bodies, joints, island):
    """Set the spins of an island by its momenta."""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.spin, i, turned(joints.place, i, get3(bodies.momentum, i)))


@kernel
def keep_impulses(joints, island):
    """Keep what is in `change`, while more impulses are found there."""
    for r in range(3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]):
        joints.impulse[r] = joints.change[r]


@kernel
def add_impulses(joints, island):
    """Add what was kept to what has been found since."""
    for r in range(3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]):
        joints.change[r] += joints.impulse[r]


@kernel
def keep_grip(joints, island):
    """Note what the springs and the friction of an island know."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        g = joints.each[k].soft
        if g >= 0:
            for c in range(GRIP):
                joints.spare.grip[g, c] = joints.grip[g, c]


@kernel
def take_grip(joints, island):
    """Back to what was noted."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        g = joints.each[k].soft
        if g >= 0:
            for c in range(GRIP):
                joints.grip[g, c] = joints.spare.grip[g, c]


@kernel
def let_loose(soft, joints, g):
    """Take a spring and friction out of the rows, until these are put back."""
    if soft is None:
        return
    if g >= 0:
        _set_live(joints, soft[g].row, soft[g].count, False)


@kernel
def spring_energy(joints):
    """What the springs of joints that are whole hold, in joules; after a step."""
    if joints is None:
        return 0.0
    return stored_now(joints.soft, joints, 0, len(joints.each))


@kernel
def stored_now(soft, joints, begin, end):
    """The same of the joints begin to end."""
    if soft is None:
        return 0.0
    total = 0.0
    for k in range(begin, end):
        joint = joints.each[k]
        if joint.soft >= 0 and joints.broken[joint.index] == 0.0:
            one = soft[joint.soft]
            for n in range(one.count):
                way = joints.grip[joint.soft, NOW + n] - one.rest
                total += 0.5 * one.stiffness * way * way
    return total
