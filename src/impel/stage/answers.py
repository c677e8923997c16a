"""Boxes 1.2 and 1.3 for structures that something touches, or that are no driven trees: they are asked how they answer.

Joints, limits and contacts are taken as holding, each as long as it can: a limit or a contact must not pull, friction
must not exceed what the load allows. What would have to is let go, and the rest asked again.

Why that is stable: with an inertia assumed in the place of the real one, r = real/assumed, an offset obeys
r·s³ + (γ + C)·s² + (K + Cγ)·s + Kγ = 0, and comes to rest if r < 1 + 4B² + 4B, which is 5.8 at B = 1/√2, in every
direction. A foot that is taken as floating where it stands makes r 14 to 70, and the figure sways itself over; taken
as standing, r is 1. Where r is small (what was taken as standing slips), the step bounds it: C·dt < 2·r; so damping is
evaluated anew in every step (`ease`), and all of control when what touches changes.
"""

import math

from impel.control.actuators import RESIDUAL, act, blend_of, limit_size, pull_at_base, rate_of, slow_down, steady_rate
from impel.control.law import (
    accelerations_by,
    factor_dense,
    forces_for,
    multiply_dense,
    prepare,
    solve_dense,
    write_out,
)
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, dot, get3, get3_at, get4, norm, scale, set3, set4, sub
from impel.physics.bodies import spin_of, turn_freely
from impel.physics.closing import keep_limits, keep_places, take_limits, take_places
from impel.physics.joint_forces import keep_grip, let_loose, take_grip
from impel.physics.joint_rows import lean, look, turned, weigh
from impel.physics.joints import ANGULAR_A, ANGULAR_B, JOINT, LINEAR, LIVE, MEMBER, TILE, TURNING_A, TURNING_B
from impel.physics.skyline import ZERO, solve
from impel.stage.handles import (
    ABOUT_A,
    ABOUT_B,
    ACTUATORS,
    ALIVE,
    ALONG,
    GRIP,
    HANDLES,
    ISLANDS,
    LIMIT,
    MEMBERS,
    PRESSED,
    PUSH,
    ROLL,
    TWIST,
    gather_cluster,
    lift_of,
    take_hold,
)

ROUNDS = 6  # of letting go
WHIRL = 4.0  # times the acceleration that a path asks for: what the motion there is may ask for, too
ALL, SMOOTH, NOTHING = range(3)  # what holds: all that is live, that without friction, nothing

STILL = 0.02  # of the speed that it should have: what friction holds stands still, and there ...
HUNTING = (
    0.1  # ... so much of what is learnt is forgotten again: an integral would slip and stick for ever. What remains,
)
# ten times its pull, is what an actor may gather to overcome friction.

GRASP = (
    2.0  # times the weight of what is loose: as hard as two sides must press to hold it by a friction of 0.5, and more
)
CLOSED = 0.1  # of the base distance: who is kept from its target by more presses as hard as it shall

# Rows of `vectors`.
FORCE, REST, ANYWAY, SCRATCH, BLOCKED, EXTRA, MOVING, MISSED, GAIN = range(9)


@kernel
def ask(bodies, joints, contacts, actuators, handles, s, gravity, dt, dt_last, in_parts):
    """Find what the actuators of the cluster of structure s ask for, unless a tree can tell; has it been done?

    `in_parts`: dt will be gone in several steps, in which `ease` is to damp.
    """
    touched = gather_cluster(bodies, joints, contacts, actuators, handles, s)
    if not touched and actuators.linkage.driven[s] == 1:
        return False
    for n in range(handles.count[ISLANDS]):
        look_ahead(bodies, joints, handles, handles.island[n], 0.5 * dt)
    take_hold(bodies, joints, contacts, actuators, handles, gravity)
    gravity_known = scale(gravity, 1.0 * actuators.knows[s])
    fall_freely(bodies, joints, actuators, handles, gravity_known, 0.5 * dt)
    for h in range(handles.count[HANDLES]):
        push_at(bodies, joints, handles, h)
    for n in range(handles.count[ISLANDS]):
        look_back(joints, handles, handles.island[n])
    settle(bodies, joints, actuators, handles, gravity, dt_last)
    if in_parts:
        note_damping(actuators, handles)
    for n in range(handles.count[ACTUATORS]):
        handles.done[actuators.structure[handles.actuator[n]]] = 1
    return True


@kernel
def note_damping(actuators, handles):
    """Keep which forces take the motion out of the actuators of the cluster: C times what their accelerations take."""
    count = handles.count[ACTUATORS]
    n = 3 * count
    held = handles.count[HANDLES] > n
    stuck, square = (handles.stuck, handles.square[ALL]) if held else (handles.free, handles.square[NOTHING])
    forces, spare, swap, other = handles.dense[0], handles.dense[1], handles.dense[2], handles.dense[3]
    write_out(stuck, square, n, forces, spare, swap)
    if held:  # and for what is in the way: (1 - N·W)·N_free·(1 - W·N)
        write_out(handles.free, handles.square[NOTHING], n, other, spare, swap)
        multiply_dense(forces, stuck, n, spare)
        for i in range(n):
            for j in range(n):
                spare[i, j] = (1.0 if i == j else 0.0) - spare[i, j]
        multiply_dense(spare, other, n, swap)
        for i in range(n):
            for j in range(n):
                s = 0.0
                for k in range(n):
                    s += swap[i, k] * spare[j, k]
                forces[i, j] += s
    for k in range(count):
        a = handles.actuator[k]
        handles.company[a] = count
        for m in range(count):
            b = handles.actuator[m]
            handles.partner[a, m] = b
            share = -math.sqrt(actuators.whole_inertia[a] * actuators.whole_inertia[b]) * actuators.damping[b]
            for i in range(3):
                for j in range(3):
                    handles.damper[3 * a + i, 3 * m + j] = share * forces[3 * k + i, 3 * m + j]


@kernel
def ease(bodies, actuators, handles):
    """Between two evaluations of control: damp what has come since. Contact may answer faster than control is asked."""
    for a in range(len(actuators.body)):
        force = get3(actuators.asked, a)
        for m in range(handles.company[a]):
            b = handles.partner[a, m]
            change = sub(rate_of(bodies, actuators, b), get3(actuators.last_rate, b))
            row = 3 * a
            force = (
                force[0] + dot(get3_at(handles.damper, row, 3 * m), change),
                force[1] + dot(get3_at(handles.damper, row + 1, 3 * m), change),
                force[2] + dot(get3_at(handles.damper, row + 2, 3 * m), change),
            )
        set3(handles.eased, a, force)
    act(bodies, actuators, handles.eased)


@kernel
def look_ahead(bodies, joints, handles, island, ahead):
    """Aim the joints of an island where its bodies will be half a step ahead, with no regard to limits, springs and
    friction: means over the coming step are taken there. Leaves in `impulse` how fast their rows open more and more."""
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    for r in range(3 * tile, 3 * tile_end):
        for c in range(18):
            handles.kept_rows[r, c] = joints.rows[r, c]
    last = tile_end - 1
    for t in range(joints.envelope[tile, ZERO] + tile, joints.envelope[last, ZERO] + last + 1):
        for k in range(3):
            set3(handles.kept_factor, 3 * t + k, get3(joints.factor, 3 * t + k))
    keep_limits(joints, island, joints.spare.kept)
    keep_grip(joints, island)
    for k in range(begin, end):
        joint = joints.each[k]
        for n in range(joint.limits):
            joints.rows[joint.limit + n, LIVE] = 0.0
        let_loose(joints.soft, joints, joint.soft)
    _rates(bodies.velocity, bodies.spin, joints, begin, end)
    for r in range(3 * tile, 3 * tile_end):
        joints.impulse[r] = joints.change[r]  # not zero where something key-framed pulls
    keep_places(bodies, joints, island)
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.position, i, axpy(ahead, get3(bodies.velocity, i), get3(bodies.position, i)))
        q = turn_freely(
            get4(bodies.orientation, i), get3(bodies.momentum, i), bodies.inverse_inertia[i], bodies.top[i], ahead
        )
        set4(bodies.orientation, i, q)
        set3(handles.turning, i, spin_of(bodies, i, get3(bodies.momentum, i)))
    look(bodies, joints, begin, end, True)
    lean(bodies, joints, island)
    weigh(bodies, joints, island, 0.0)
    take_places(bodies, joints, island)
    for k in range(begin, end):  # spins of what has none of its own in `turning` yet
        joint = joints.each[k]
        for i in (joint.a, joint.b):
            if bodies.inverse_mass[i] == 0.0:
                set3(handles.turning, i, get3(bodies.spin, i))
    _rates(bodies.velocity, handles.turning, joints, begin, end)
    for r in range(3 * tile, 3 * tile_end):
        now = joints.impulse[r]
        joints.impulse[r] = (joints.change[r] - now) / ahead + 0.5 * now / ahead


@kernel
def _rates(velocity, spin, joints, begin, end):
    """Leave in `change` how fast the rows of joints open."""
    rows = joints.rows
    for k in range(begin, end):
        joint = joints.each[k]
        v = sub(get3(velocity, joint.a), get3(velocity, joint.b))
        spin_a, spin_b = get3(spin, joint.a), get3(spin, joint.b)
        for r in range(joint.row, joint.row_end):
            rate = dot(v, get3_at(rows, r, LINEAR))
            rate += dot(spin_a, get3_at(rows, r, ANGULAR_A)) + dot(spin_b, get3_at(rows, r, ANGULAR_B))
            joints.change[r] = rate


@kernel
def look_back(joints, handles, island):
    """The joints as they were."""
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    take_limits(joints, island, joints.spare.kept)
    take_grip(joints, island)
    for r in range(3 * tile, 3 * tile_end):
        for c in range(18):
            joints.rows[r, c] = handles.kept_rows[r, c]
    last = tile_end - 1
    for t in range(joints.envelope[tile, ZERO] + tile, joints.envelope[last, ZERO] + last + 1):
        for k in range(3):
            set3(joints.factor, 3 * t + k, get3(handles.kept_factor, 3 * t + k))


@kernel
def fall_freely(bodies, joints, actuators, handles, gravity, ahead):
    """How each handle accelerates by gravity and by the motion there is, if only the joints hold.

    What the motion does is compensated up to some times what the path itself asks for, or what whirls would whirl
    faster and faster; and not at all by what turns a structure of which a part swings by itself: that would go on
    swinging for ever.
    """
    for n in range(handles.count[ISLANDS]):
        _hold_motion(bodies, joints, handles, handles.island[n], ahead)
    for n in range(handles.count[MEMBERS]):
        i = handles.member[n]
        if handles.island_of[i] < 0:
            q, momentum = get4(bodies.orientation, i), get3(bodies.momentum, i)
            set4(bodies.orientation, i, turn_freely(q, momentum, bodies.inverse_inertia[i], bodies.top[i], ahead))
            change = sub(spin_of(bodies, i, momentum), get3(bodies.spin, i))
            set3(handles.turning, i, scale(change, 1.0 / ahead))
            set4(bodies.orientation, i, q)
    for h in range(handles.count[HANDLES]):
        if handles.kind[h] == LIMIT:
            handles.bias[h] += _opening(joints, handles, h)
        if handles.kind[h] <= LIMIT:
            handles.bias[h] += _acceleration_at(handles, h)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        most = WHIRL * actuators.stiffness[a] * actuators.base[a]
        if actuators.paths.turns[a] == 1 and actuators.linkage.swings[actuators.structure[a]] == 1:
            most = 0.0
        motion = _three(handles.bias, k)
        _set_three(handles.bias, k, limit_size(motion, most))
        set3(actuators.spared, a, sub(motion, _three(handles.bias, k)))
    for n in range(handles.count[MEMBERS]):
        set3(handles.fall, handles.member[n], gravity)
        set3(handles.turning, handles.member[n], (0.0, 0.0, 0.0))
    for n in range(handles.count[ISLANDS]):
        _resist(bodies, joints, handles, handles.island[n])
    for h in range(handles.count[HANDLES]):
        handles.bias[h] += _acceleration_at(handles, h)
    for n in range(handles.count[MEMBERS]):
        set3(handles.fall, handles.member[n], (0.0, 0.0, 0.0))
        set3(handles.turning, handles.member[n], (0.0, 0.0, 0.0))


@kernel
def _hold_motion(bodies, joints, handles, island, ahead):
    """Leave in `fall` and `turning` what joints and inertia do about the motion there is."""
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        change = sub(get3(handles.turning, i), get3(bodies.spin, i))
        set3(handles.turning, i, scale(change, 1.0 / ahead))
    for k in range(begin, end):
        joint = joints.each[k]
        for i in (joint.a, joint.b):
            if bodies.inverse_mass[i] == 0.0:
                set3(handles.turning, i, (0.0, 0.0, 0.0))
        for r in range(joint.row, joint.row_end):
            joints.change[r] = -joints.impulse[r] * joints.rows[r, LIVE]
    _blank(joints, island)
    solve(joints.factor, joints.envelope, joints.island[island, TILE], joints.island[island + 1, TILE], joints.change)
    _give(bodies, joints, handles, island)


@kernel
def _blank(joints, island):
    """Rows that no joint fills take no part."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        for r in range(joint.row_end, 3 * joint.tile_end):
            joints.change[r] = 0.0


@kernel
def _opening(joints, handles, h):
    """What the motion there is does at a limit."""
    for n in range(handles.count[ISLANDS]):
        island = handles.island[n]
        for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
            joint = joints.each[k]
            if joint.index == handles.source[h]:
                return joints.impulse[joint.limit]
            if joint.second == handles.source[h]:
                return joints.impulse[joint.limit + 1]
    return 0.0


@kernel
def push_at(bodies, joints, handles, h):
    """Write one column: how all handles accelerate by a force of one at handle h."""
    push = handles.push
    for side in range(2):
        i = handles.body[h, side]
        if i >= 0 and bodies.inverse_mass[i] > 0.0:
            sign = bodies.inverse_mass[i] * (1.0 - 2.0 * side)
            set3(handles.fall, i, axpy(sign, get3_at(push, h, ALONG), get3(handles.fall, i)))
            torque = get3_at(push, h, ABOUT_A + 3 * side)
            # Where joints were looked at half a step ahead, so are inertias.
            about = spin_of(bodies, i, torque) if handles.island_of[i] < 0 else turned(joints.place, i, torque)
            set3(handles.turning, i, add(about, get3(handles.turning, i)))
    first = -1
    for side in range(2):
        i = handles.body[h, side]
        island = handles.island_of[i] if i >= 0 else -1
        if island >= 0 and island != first:
            _resist(bodies, joints, handles, island)
            first = island
    for k in range(handles.count[HANDLES]):
        handles.answer[k, h] = _acceleration_at(handles, k)
    for side in range(2):
        i = handles.body[h, side]
        if i >= 0:
            set3(handles.fall, i, (0.0, 0.0, 0.0))
            set3(handles.turning, i, (0.0, 0.0, 0.0))
            island = handles.island_of[i]
            if island >= 0:
                for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
                    set3(handles.fall, joints.members[k], (0.0, 0.0, 0.0))
                    set3(handles.turning, joints.members[k], (0.0, 0.0, 0.0))


@kernel
def _resist(bodies, joints, handles, island):
    """Let the joints of an island act on the accelerations there are."""
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    _rates(handles.fall, handles.turning, joints, begin, end)
    for k in range(begin, end):
        joint = joints.each[k]
        for r in range(joint.row, joint.row_end):
            joints.change[r] *= -joints.rows[r, LIVE]
    _blank(joints, island)
    solve(joints.factor, joints.envelope, joints.island[island, TILE], joints.island[island + 1, TILE], joints.change)
    _give(bodies, joints, handles, island)


@kernel
def _give(bodies, joints, handles, island):
    """Add what the joints' forces in `change` do to the accelerations."""
    rows, change = joints.rows, joints.change
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        force, turn_a, turn_b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for r in range(joint.row, joint.row_end):
            force = axpy(change[r], get3_at(rows, r, LINEAR), force)
            turn_a = axpy(change[r], get3_at(rows, r, TURNING_A), turn_a)
            turn_b = axpy(change[r], get3_at(rows, r, TURNING_B), turn_b)
        if bodies.inverse_mass[joint.a] > 0.0:
            set3(handles.fall, joint.a, axpy(bodies.inverse_mass[joint.a], force, get3(handles.fall, joint.a)))
            set3(handles.turning, joint.a, add(turn_a, get3(handles.turning, joint.a)))
        if bodies.inverse_mass[joint.b] > 0.0:
            set3(handles.fall, joint.b, axpy(-bodies.inverse_mass[joint.b], force, get3(handles.fall, joint.b)))
            set3(handles.turning, joint.b, add(turn_b, get3(handles.turning, joint.b)))


@kernel
def _acceleration_at(handles, h):
    a, b = handles.body[h, 0], handles.body[h, 1]
    row = handles.row
    along = get3(handles.fall, a)
    turn = dot(get3(handles.turning, a), get3_at(row, h, ABOUT_A))
    if b >= 0:
        along = sub(along, get3(handles.fall, b))
        turn += dot(get3(handles.turning, b), get3_at(row, h, ABOUT_B))
    return dot(along, get3_at(row, h, ALONG)) + turn


@kernel
def settle(bodies, joints, actuators, handles, gravity, dt_last):
    """The law on these answers: pull, press what is in the way, and learn (see control/actuators.py and law.py)."""
    n = 3 * handles.count[ACTUATORS]
    own, loose = _weights(bodies, actuators, handles, norm(gravity))
    held = handles.count[HANDLES] > n
    free, force = handles.free, handles.vectors[FORCE]
    hold_on(actuators, handles, NOTHING, free)
    prepare(free, n, handles.square[NOTHING])
    stuck, square = free, handles.square[NOTHING]
    if held:
        stuck, square = handles.stuck, handles.square[ALL]
    for _ in range(ROUNDS):
        if held:
            hold_on(actuators, handles, ALL, stuck)
            prepare(stuck, n, square)
        pull(actuators, handles, stuck, square, held, loose, gravity)
        if not held or not let_go(joints, actuators, handles):
            break
    if dt_last > 0.0:
        smooth, its_square = free, handles.square[NOTHING]
        if held:
            smooth, its_square = handles.smooth, handles.square[SMOOTH]
            hold_on(actuators, handles, SMOOTH, smooth)
            prepare(smooth, n, its_square)
        heavy = own + 2.0 * loose if held else math.inf
        learn(bodies, actuators, handles, stuck, square, smooth, its_square, heavy, dt_last)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        asked = scale(_three(force, k), math.sqrt(actuators.whole_inertia[a]))
        set3(actuators.asked, a, add(asked, get3(actuators.learnt, a)))


@kernel
def _weights(bodies, actuators, handles, gravity):
    """Of the structures of the actuators in the cluster, and of what can be put on them or pushed by them: the rest."""
    own, loose = 0.0, 0.0
    for n in range(handles.count[MEMBERS]):
        i = handles.member[n]
        acts = False
        for k in range(handles.count[ACTUATORS]):
            acts |= actuators.whole[actuators.body[handles.actuator[k]]] == actuators.whole[i]
        if acts:
            own += gravity * bodies.mass[i]
        else:
            loose += gravity * bodies.mass[i]
    return own, loose


@kernel(inline=True)
def _three(vector, k):
    return vector[3 * k], vector[3 * k + 1], vector[3 * k + 2]


@kernel(inline=True)
def _set_three(vector, k, v):
    vector[3 * k], vector[3 * k + 1], vector[3 * k + 2] = v


@kernel
def hold_on(actuators, handles, what, out):
    """Write to `out` how the actuators' handles answer while what is live holds: all of it, what needs no friction, or
    nothing; in the units of law.py. What they do anyway goes to `vectors`."""
    n, answer, alive, through = 3 * handles.count[ACTUATORS], handles.answer, handles.alive, handles.through
    m = 0
    if what != NOTHING:
        for h in range(n, handles.count[HANDLES]):
            gripping = handles.kind[h] == GRIP or handles.kind[h] == TWIST
            if handles.live[h] == 1 and not (gripping and what == SMOOTH):
                alive[m] = h
                m += 1
    handles.count[ALIVE] = m
    for i in range(m):
        for j in range(i + 1):
            handles.support[i, j] = answer[alive[i], alive[j]]
        handles.support[i, i] += handles.soft[alive[i]]
    factor_dense(handles.support, m)
    for j in range(n + 1):
        column = through[j]
        for i in range(m):
            column[i] = answer[alive[i], j] if j < n else handles.bias[alive[i]]
        solve_dense(handles.support, m, column)
    anyway = handles.vectors[ANYWAY]
    for i in range(n):
        size = math.sqrt(actuators.whole_inertia[handles.source[i]])
        for j in range(n + 1):
            value = answer[i, j] if j < n else handles.bias[i]
            for k in range(m):
                value -= answer[i, alive[k]] * through[j, k]
            if j < n:
                out[i, j] = size * value * math.sqrt(actuators.whole_inertia[handles.source[j]])
            else:
                anyway[i] = size * value


@kernel
def pull(actuators, handles, stuck, square, held, loose, gravity):
    """Leave in `vectors` the forces that the wishes take; and those that press what is in the way."""
    n = 3 * handles.count[ACTUATORS]
    force, rest, anyway, scratch = (
        handles.vectors[FORCE], handles.vectors[REST], handles.vectors[ANYWAY], handles.vectors[SCRATCH],
    )  # fmt: skip
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        _set_three(
            rest, k, sub(scale(get3(actuators.wish, a), math.sqrt(actuators.whole_inertia[a])), _three(anyway, k))
        )
    forces_for(stuck, square, n, rest, force, scratch)
    if not held:
        return
    blocked, extra = handles.vectors[BLOCKED], handles.vectors[EXTRA]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        size = math.sqrt(actuators.whole_inertia[a])
        wish = get3(actuators.wish, a)
        told = actuators.press[a] >= 0.0 and handles.count[PRESSED] == 1
        if told:  # its press is given; only its damping is left
            wish = axpy(-actuators.stiffness[a], get3(actuators.offset, a), wish)
        wish = axpy(-lift_of(actuators, a, gravity), _three(handles.bias, k), wish)
        _set_three(blocked, k, scale(wish, size))
    forces_for(stuck, square, n, blocked, extra, scratch)
    forces_for(handles.free, handles.square[NOTHING], n, blocked, extra, scratch)
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        most = GRASP * loose * actuators.arm[a]
        if actuators.press[a] >= 0.0:
            most = actuators.press[a] * handles.count[PRESSED]
        offset = get3(actuators.offset, a)
        share = most / (max(norm(offset), CLOSED * actuators.base[a]) * math.sqrt(actuators.whole_inertia[a]))
        _set_three(extra, k, axpy(share, offset, _three(extra, k)))
    keep_blocked(handles, stuck, square, extra)
    for i in range(n):
        force[i] += extra[i]


@kernel
def keep_blocked(handles, stuck, square, force):
    """Keep of forces only what moves nothing."""
    n = 3 * handles.count[ACTUATORS]
    rest, moving = handles.vectors[REST], handles.vectors[MOVING]
    accelerations_by(stuck, n, force, rest)
    forces_for(stuck, square, n, rest, moving, handles.vectors[SCRATCH])
    for i in range(n):
        force[i] -= moving[i]


@kernel
def let_go(joints, actuators, handles):
    """Let go of what would have to pull, or to grip or resist more than it can; is there anything?"""
    n, alive, through = 3 * handles.count[ACTUATORS], handles.alive, handles.through
    force, load, live = handles.vectors[SCRATCH], handles.load, handles.live
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        total = scale(_three(handles.vectors[FORCE], k), math.sqrt(actuators.whole_inertia[a]))
        _set_three(force, k, limit_size(add(total, get3(actuators.learnt, a)), actuators.strength[a]))
    for i in range(handles.count[ALIVE]):
        load[i] = -through[n, i]
        for j in range(n):
            load[i] -= through[j, i] * force[j]
    changed = False
    pressed = 0.0
    for i in range(handles.count[ALIVE]):
        h = alive[i]
        kind = handles.kind[h]
        if kind == LIMIT:
            gone = joints.active[handles.source[h]] * load[i] > 0.0
        elif kind == PUSH:
            pressed = load[i]
            gone = pressed < 0.0
        elif kind == ROLL:
            gone = False  # what rocks on its edge falls back by itself
        else:
            size = abs(load[i])
            if kind == GRIP and i + 1 < handles.count[ALIVE] and handles.kind[alive[i + 1]] == GRIP:
                size = math.hypot(load[i], load[i + 1])  # the first of two
            gone = size > handles.most_load[h] * max(pressed, 0.0)
        if gone and live[h] == 1:
            live[h] = 0
            changed = True
            if kind in (PUSH, GRIP):  # without load no friction; without grip no twist, nor the other grip
                _let_go_too(handles, h, kind)
    return changed


@kernel
def _let_go_too(handles, h, kind):
    for k in range(h + 1, handles.count[HANDLES]):
        if handles.kind[k] <= PUSH or handles.source[k] != handles.source[h]:
            return
        if kind == PUSH or handles.kind[k] != ROLL:
            handles.live[k] = 0


@kernel
def learn(bodies, actuators, handles, stuck, square, smooth, its_square, heavy, dt_last):
    """What is missing of the last wishes is learnt, as far as it could be had were it not for friction; what cannot be
    had is forgotten, so that nothing gathers behind an obstacle. `heavy` is what could weigh on the actuators; infinite
    where nothing touches."""
    n = 3 * handles.count[ACTUATORS]
    missed, rest, gain, extra = (
        handles.vectors[MISSED], handles.vectors[REST], handles.vectors[GAIN], handles.vectors[EXTRA],
    )  # fmt: skip
    scratch, blocked = handles.vectors[SCRATCH], handles.vectors[BLOCKED]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        _set_three(missed, k, scale(get3(actuators.missed, a), math.sqrt(actuators.whole_inertia[a])))
        _set_three(rest, k, _three(missed, k))
        _set_three(extra, k, scale(get3(actuators.learnt, a), 1.0 / math.sqrt(actuators.whole_inertia[a])))
    forces_for(smooth, its_square, n, rest, gain, scratch)
    for i in range(n):
        blocked[i] = missed[i] - rest[i]
    keep_blocked(handles, smooth, its_square, extra)
    for i in range(n):
        missed[i] = -extra[i]  # what is forgotten
    forces_for(stuck, square, n, blocked, gain, scratch)
    if heavy < math.inf:
        forces_for(handles.free, handles.square[NOTHING], n, blocked, extra, scratch)
        for k in range(handles.count[ACTUATORS]):
            if actuators.press[handles.actuator[k]] >= 0.0:  # it is told with how much to press, and learns no more
                _set_three(extra, k, (0.0, 0.0, 0.0))
        keep_blocked(handles, stuck, square, extra)
        for i in range(n):
            gain[i] += extra[i]
    for k in range(handles.count[ACTUATORS]):
        a = handles.actuator[k]
        change = scale(add(_three(gain, k), _three(missed, k)), math.sqrt(actuators.whole_inertia[a]))
        change = add(change, sub(get3(actuators.applied, a), get3(actuators.asked, a)))
        blend = blend_of(actuators, a, dt_last)
        rate = rate_of(bodies, actuators, a)
        if heavy < math.inf and norm(rate) < STILL * steady_rate(actuators, a):
            change = axpy(-HUNTING, get3(actuators.learnt, a), change)
        learnt = axpy(blend, change, get3(actuators.learnt, a))
        room = min(actuators.room[a], RESIDUAL * pull_at_base(actuators, a) + heavy * actuators.arm[a])
        learnt = slow_down(learnt, rate, actuators, a, blend)
        set3(actuators.learnt, a, limit_size(learnt, room))
