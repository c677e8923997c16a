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

from impel.control.actuators import overtaxed
from impel.control.goals import has_goals
from impel.control.law import limit_size
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, dot, get3, get3_at, get4, scale, set3, set4, sub
from impel.physics.bodies import spin_of, turn_freely
from impel.physics.closing import keep_limits, keep_places, take_limits, take_places
from impel.physics.joint_forces import keep_grip, let_loose, take_grip
from impel.physics.joint_rows import lean, look, resist, turned, weigh
from impel.physics.joints import ANGULAR_A, ANGULAR_B, FORCE, JOINT, LINEAR, LIVE, MEMBER, TILE, TURNING_A, TURNING_B
from impel.physics.skyline import ZERO, set_three, solve, solve_many, three
from impel.stage.handles import (
    ABOUT_A,
    ABOUT_B,
    ACTUATORS,
    ALONG,
    HANDLES,
    ISLANDS,
    LIMIT,
    MEMBERS,
    SLACK,
    gather_cluster,
    is_touched,
    note_asked,
    rate_at,
    still_answers,
    take_hold,
)
from impel.stage.holding import SLOWED, feel_levers, note_yields
from impel.stage.limbs import bending_at, foresee_slack
from impel.stage.settling import note_damping, settle

WHIRL = 4.0  # times the acceleration that a path asks for: what the motion there is may ask for, too


@kernel
def ask(bodies, joints, contacts, actuators, handles, s, gravity, dt, dt_last, in_parts):
    """Find what the actuators of the cluster of structure s ask for, unless a tree can tell; has it been done?

    `in_parts`: dt will be gone in several steps, in which `ease` is to damp.
    """
    told = actuators.linkage.driven[s] == 1 and not overtaxed(actuators, s)
    if told and not is_touched(joints, contacts, actuators, s):
        return False
    gather_cluster(bodies, joints, contacts, actuators, handles, s)
    if handles.count[ACTUATORS] == 0:  # all their goals are behind them
        return True
    for n in range(handles.count[ISLANDS]):
        look_ahead(bodies, joints, handles, handles.island[n], 0.5 * dt)
    take_hold(bodies, joints, contacts, actuators, handles, 0.5 * dt)
    gravity_known = scale(gravity, 1.0 * actuators.knows[s])
    fall_freely(bodies, joints, actuators, handles, gravity_known, 0.5 * dt)
    if not still_answers(bodies, actuators, handles, s):
        push_all(bodies, joints, handles)
        note_yields(bodies, handles)
        note_asked(actuators, handles, s)
        feel_levers(bodies, actuators, handles)
    for n in range(handles.count[ISLANDS]):
        look_back(joints, handles, handles.island[n])
    settle(bodies, joints, actuators, handles, gravity, dt_last)
    if in_parts:
        note_damping(actuators, handles, dt)
    for n in range(handles.count[ACTUATORS]):
        handles.done[actuators.structure[handles.actuator[n]]] = 1
    return True


@kernel
def look_ahead(bodies, joints, handles, island, ahead):
    """Aim the joints of an island where its bodies will be half a step ahead, with no regard to limits, springs and
    friction: means over the coming step are taken there. Leaves in `impulse` how fast their rows open more and more."""
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    for r in range(3 * tile, 3 * tile_end):
        for c in range(FORCE):
            handles.kept_rows[r, c] = joints.rows[r, c]
    last = tile_end - 1
    for t in range(9 * (joints.envelope[tile, ZERO] + tile), 9 * (joints.envelope[last, ZERO] + last + 1)):
        handles.kept_factor[t] = joints.factor[t]
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
        for c in range(FORCE):
            joints.rows[r, c] = handles.kept_rows[r, c]
    last = tile_end - 1
    for t in range(9 * (joints.envelope[tile, ZERO] + tile), 9 * (joints.envelope[last, ZERO] + last + 1)):
        joints.factor[t] = handles.kept_factor[t]


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
        if has_goals(actuators.goals, a):  # which are to be met exactly, and on which nothing builds up
            most = math.inf
        motion = three(handles.bias, k)
        set_three(handles.bias, k, limit_size(motion, most))
        set3(actuators.spared, a, sub(motion, three(handles.bias, k)))
    for n in range(handles.count[MEMBERS]):
        set3(handles.fall, handles.member[n], gravity)
        set3(handles.turning, handles.member[n], (0.0, 0.0, 0.0))
    for n in range(handles.count[ISLANDS]):
        _resist(bodies, joints, handles, handles.island[n])
    for h in range(handles.count[HANDLES]):
        handles.bias[h] += _acceleration_at(handles, h)
    _lie_still(handles)
    handles.count[SLACK] = 0
    if foresee_slack(bodies, actuators, handles.limbs, handles.seen, handles.fall, handles.turning):
        handles.count[SLACK] = 1
        for n in range(handles.count[ISLANDS]):
            _resist(bodies, joints, handles, handles.island[n])
        for h in range(handles.count[HANDLES]):
            slowed = _acceleration_at(handles, h)
            handles.bias[h] += slowed
            if h < 3 * handles.count[ACTUATORS]:
                handles.vectors[SLOWED, h] = slowed
        _lie_still(handles)
    for h in range(3 * handles.count[ACTUATORS], handles.count[HANDLES]):
        if handles.kind[h] == LIMIT:
            handles.bias[h] += bending_at(handles.bending[handles.source[h]], rate_at(bodies, handles, h), ahead)


@kernel
def _lie_still(handles):
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
def push_all(bodies, joints, handles):
    """Write how all handles accelerate by a force of one at each."""
    count, answer = handles.count[HANDLES], handles.answer
    for k in range(count):
        for h in range(count):
            answer[k, h] = 0.0
    _push_alone(bodies, joints, handles)
    for n in range(handles.count[ISLANDS]):
        _brace(bodies, joints, handles, handles.island[n])


@kernel
def _push_alone(bodies, joints, handles):
    """As if there were no joints: a handle answers to those on the same body."""
    count, push, row, last, previous = handles.count[HANDLES], handles.push, handles.row, handles.last, handles.previous
    for n in range(handles.count[MEMBERS]):
        last[handles.member[n]] = -1
    for h in range(count):  # some push off what is no member
        for side in range(2):
            if handles.body[h, side] >= 0:
                last[handles.body[h, side]] = -1
    for h in range(count):
        for side in range(2):
            i = handles.body[h, side]
            if i >= 0 and bodies.inverse_mass[i] > 0.0:
                previous[h, side] = last[i]
                last[i] = 2 * h + side
    for h in range(count):
        for side in range(2):
            i = handles.body[h, side]
            if i >= 0 and bodies.inverse_mass[i] > 0.0:
                along = scale(get3_at(push, h, ALONG), bodies.inverse_mass[i] * (1.0 - 2.0 * side))
                torque = get3_at(push, h, ABOUT_A + 3 * side)
                # Where joints were looked at half a step ahead, so are inertias.
                about = spin_of(bodies, i, torque) if handles.island_of[i] < 0 else turned(joints.place, i, torque)
                other = last[i]
                while other >= 0:
                    k, its_side = other // 2, other % 2
                    forth = dot(along, get3_at(row, k, ALONG)) * (1.0 - 2.0 * its_side)
                    handles.answer[k, h] += forth + dot(about, get3_at(row, k, ABOUT_A + 3 * its_side))
                    other = previous[k, its_side]


@kernel
def _brace(bodies, joints, handles, island):
    """Add what the joints of an island do about forces at handles; of what holds, which answers as it pushes, only one
    half."""
    count, bracing = handles.count[HANDLES], handles.bracing
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    for r in range(3 * tile, 3 * tile_end):
        for h in range(count):
            bracing[r, h] = 0.0
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    for k in range(begin, end):
        joint = joints.each[k]
        for i in (joint.a, joint.b):
            push = handles.last[i] if bodies.inverse_mass[i] > 0.0 else -1
            while push >= 0:  # see _push_alone
                h, side = push // 2, push % 2
                for r in range(joint.row, joint.row_end):
                    opened = _opened(bodies, joints, joint.b == i, r, handles.push, h, side, i)
                    bracing[r, h] -= opened * joints.rows[r, LIVE]
                push = handles.previous[h, side]
    solve_many(joints.factor, joints.envelope, tile, tile_end, bracing, count)
    for k in range(begin, end):
        joint = joints.each[k]
        for i in (joint.a, joint.b):
            push = handles.last[i] if bodies.inverse_mass[i] > 0.0 else -1
            while push >= 0:
                h, side = push // 2, push % 2
                for r in range(joint.row, joint.row_end, 3):
                    shares = (
                        _opened(bodies, joints, joint.b == i, r, handles.row, h, side, i),
                        _opened(bodies, joints, joint.b == i, r + 1, handles.row, h, side, i),
                        _opened(bodies, joints, joint.b == i, r + 2, handles.row, h, side, i),
                    )
                    _answer(handles, h, r, shares)
                push = handles.previous[h, side]


@kernel
def _answer(handles, h, r, shares):
    """Add shares of three rows of `bracing` to how a handle answers."""
    count, bracing, answer = handles.count[HANDLES], handles.bracing, handles.answer
    a, b, c = shares
    for other in range(min(h, 3 * handles.count[ACTUATORS])):
        answer[h, other] += a * bracing[r, other] + b * bracing[r + 1, other] + c * bracing[r + 2, other]
    for other in range(h, count):
        answer[h, other] += a * bracing[r, other] + b * bracing[r + 1, other] + c * bracing[r + 2, other]


@kernel
def _opened(bodies, joints, second, r, push, h, side, i):
    """How row r opens by what a force of one at a handle does to body i, the second one of that joint or the first; and
    as much does a force of that row at the handle."""
    along = dot(get3_at(push, h, ALONG), get3_at(joints.rows, r, LINEAR)) * (1.0 - 2.0 * side)
    along *= -bodies.inverse_mass[i] if second else bodies.inverse_mass[i]
    return along + dot(
        get3_at(push, h, ABOUT_A + 3 * side), get3_at(joints.rows, r, TURNING_B if second else TURNING_A)
    )


@kernel
def _resist(bodies, joints, handles, island):
    """Let the joints of an island act on the accelerations there are."""
    resist(joints, island, handles.fall, handles.turning)
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
