"""RATTLE: jointed bodies move so that the joints hold at the end of every step, and their velocities agree with them.

The impulses of a step act along the directions of the joints at its start, which makes the method symplectic:
energy does not drift. They are found by Newton's method with one direct solve of each island an iteration. The matrix
is that of the velocity projection at the end of the last step, kept in the state together with the directions:
nothing is computed twice, and key-framed bodies, which are moved before the joints, act from where they were.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, get3_at, get4_at, norm, set3, set3_at, set4, sub
from impel.physics.bodies import drift_one, spin_of, turn_freely
from impel.physics.closing import close_gaps, keep_places, meet_limits
from impel.physics.joint_forces import (
    begin_again,
    draw,
    freeze,
    let_slide,
    let_slip,
    loosen,
    push_back,
    respin,
    rounds_of,
    settle,
    stick,
    stored,
    yield_more,
)
from impel.physics.joint_rows import lean, look, resist, strike, weigh, worst_row
from impel.physics.joints import (
    BEFORE,
    FORCE,
    JOINT,
    KEPT_MOMENTUM,
    KEPT_ORIENTATION,
    KEPT_POSITION,
    KEPT_VELOCITY,
    LIVE,
    MEMBER,
    TILE,
)
from impel.physics.skyline import solve
from impel.physics.verdicts import DIVERGED, GOOD

TOLERANCE = 1e-10  # m or rad: where the iterations stop
ACCEPTABLE = 1e-8  # m or rad: what is still good when they get no further (over-determined loops, rounding)
ITERATIONS = 8  # at 1 ms one or two are usual; a step that needs more is too long
ROUNDS = 4  # changes of the set of limits that are met, within one step
TOLERABLE = 1e-6  # m or rad, in rows that are redundant: a loop that was written with rounded numbers
LEAP = 1.0  # rad: by how much a turn in one step may differ from the last; joints also close again after a full turn
RAISED = 1.25  # joints do no work: energy that grows by more in a step, beyond what is slow, is wrong
SLOW = 1e-3  # m/s


@kernel
def hold_positions(bodies, joints, dt):
    """Move all bodies by a step so that the joints hold. Velocities hold the first half-kick before, and stay at
    half time after; key-framed bodies are already in place. Returns the verdict."""
    verdict = GOOD
    for k in range(len(joints.loose)):
        drift_one(bodies, joints.loose[k], dt)
    for island in range(len(joints.island) - 1):
        keep_places(bodies, joints, island)
        keep_motion(bodies, joints, island)
        if not hold_island(bodies, joints, island, dt):
            give_way(bodies, joints, island, dt)
            verdict = DIVERGED
    return verdict


@kernel
def hold_island(bodies, joints, island, dt):
    """Find the impulses with which the joints of an island hold at the end of the step; are there any?"""
    impulse, change, rows = joints.impulse, joints.change, joints.rows
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    draw(joints.soft, bodies, joints, island, dt)
    for r in range(3 * tile, 3 * tile_end):
        # Forces change little from step to step: start with the line through the last two.
        change[r] = dt * (2.0 * rows[r, FORCE] - rows[r, BEFORE]) * rows[r, LIVE]
        impulse[r] = change[r]
    yield_more(joints.soft, joints, begin, end)
    iteration, rounds, most_rounds = 0, 0, ROUNDS + rounds_of(joints.soft)
    last_error = math.inf
    while True:
        strike(bodies, joints, begin, end, change)
        move_freely(bodies, joints, island, dt)
        look(bodies, joints, begin, end, False)
        error = worst_row(joints, tile, tile_end, TOLERANCE / TOLERABLE)
        done = error <= TOLERANCE
        # The set of limits is settled before the iterations and checked after them, frozen in between.
        if done or iteration == 0:
            changed, left = meet_limits(joints, begin, end), False
            if done:
                left = let_slip(joints.soft, bodies, joints, begin, end, dt, rounds < most_rounds - 1)
            if done and rounds < most_rounds - 1:
                left |= leave_limits(joints, begin, end, impulse, dt)
            if changed or left:
                if rounds == most_rounds:
                    return False
                done = False
                iteration = 0
                rounds += 1
                last_error, error = math.inf, 1.0  # of the new set nothing is known yet
                weigh(bodies, joints, island, 0.0)
                if left and begin_again(joints.soft, bodies, joints, island):
                    continue
        if done:
            break
        if iteration == ITERATIONS or not error < 100.0 * last_error:
            if error > ACCEPTABLE or meet_limits(joints, begin, end):
                return False
            break
        iteration += 1
        last_error = error
        solve(joints.factor, joints.envelope, tile, tile_end, change)
        for r in range(3 * tile, 3 * tile_end):
            change[r] *= -1.0 / dt
            impulse[r] += change[r]
    for r in range(3 * tile, 3 * tile_end):
        force = impulse[r] / dt
        rows[r, BEFORE] = rows[r, FORCE] if rounds == 0 else force  # a blow says nothing about the next step
        rows[r, FORCE] = force
    settle(joints.soft, bodies, joints, begin, end, dt)
    return credible(bodies, joints, island, dt)


@kernel(inline=True)
def credible(bodies, joints, island, dt):
    """Set the spins of an island by its momenta; is that a motion that joints can have caused? They do no work but by
    their springs."""
    held = True
    before, after, mass = stored(joints.soft, joints, island), 0.0, 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        v, momentum, spin = get3(bodies.velocity, i), get3(bodies.momentum, i), get3(bodies.spin, i)
        new_spin = spin_of(bodies, i, momentum)
        held &= dt * norm(sub(new_spin, spin)) < LEAP
        set3(bodies.spin, i, new_spin)
        kept, kept_momentum = get3_at(joints.place, i, KEPT_VELOCITY), get3_at(joints.place, i, KEPT_MOMENTUM)
        before += bodies.mass[i] * dot(kept, kept) + dot(kept_momentum, spin)
        after += bodies.mass[i] * dot(v, v) + dot(momentum, new_spin)
        mass += bodies.mass[i]
    return held and (after < RAISED * before + mass * SLOW * SLOW or driven(bodies, joints, island))


@kernel
def driven(bodies, joints, island):
    """Does something key-framed that moves pull at these joints?"""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        for side in range(2):
            i = joint.a if side == 0 else joint.b
            if bodies.inverse_mass[i] == 0.0 and norm(get3(bodies.velocity, i)) + norm(get3(bodies.spin, i)) > 0.0:
                return True
    return False


@kernel
def move_freely(bodies, joints, island, dt):
    """From the places that were kept, with the present velocities."""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        x, q = get3_at(joints.place, i, KEPT_POSITION), get4_at(joints.place, i, KEPT_ORIENTATION)
        set3(bodies.position, i, axpy(dt, get3(bodies.velocity, i), x))
        momentum = get3(bodies.momentum, i)
        set4(bodies.orientation, i, turn_freely(q, momentum, bodies.inverse_inertia[i], bodies.top[i], dt))


@kernel
def give_way(bodies, joints, island, dt):
    """What happens in a step, if it must be taken, that no impulses can hold: a loop folds flat, limits contradict.

    All move as if they were free, then the gaps are closed without regard to time. The velocities, which will be
    projected on the joints, can only lose by it. Springs, if they can, stay as long as they were: to stretch a stiff
    one would be work.
    """
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.velocity, i, get3_at(joints.place, i, KEPT_VELOCITY))
        set3(bodies.momentum, i, get3_at(joints.place, i, KEPT_MOMENTUM))
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    freeze(joints.soft, joints, begin, end)
    move_freely(bodies, joints, island, dt)
    gap = close_gaps(bodies, joints, island, ITERATIONS)
    if loosen(joints.soft, bodies, joints, begin, end) and gap > TOLERABLE:
        close_gaps(bodies, joints, island, ITERATIONS)
    for r in range(3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]):
        joints.rows[r, FORCE] = joints.rows[r, BEFORE] = 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.spin, i, spin_of(bodies, i, get3(bodies.momentum, i)))


@kernel
def keep_motion(bodies, joints, island):
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3_at(joints.place, i, KEPT_VELOCITY, get3(bodies.velocity, i))
        set3_at(joints.place, i, KEPT_MOMENTUM, get3(bodies.momentum, i))


@kernel
def leave_limits(joints, begin, end, impulse, dt):
    """Let go of the limits that would have to pull; is there one?"""
    changed = False
    for k in range(begin, end):
        joint = joints.each[k]
        if joint.soft >= 0 and joint.limits == 1:  # where more than the limit acts, see `let_slip`
            continue
        for n in range(joint.limits):
            j, r = joint.index if n == 0 else joint.second, joint.limit + n
            if joints.active[j] * impulse[r] > 0.0:
                joints.active[j] = 0.0
                joints.rows[r, LIVE] = 0.0
                joints.change[r] = dt * impulse[r]  # which takes back what it did
                changed = True
    return changed


@kernel
def hold_velocities(bodies, joints):
    """Take from the velocities what the joints forbid at the present places; limits only stop what runs into them."""
    for island in range(len(joints.island) - 1):
        begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
        look(bodies, joints, begin, end, True)
        lean(bodies, joints, island)
        push_back(joints.soft, bodies, joints, begin, end)
        for _ in range(ROUNDS + rounds_of(joints.soft)):
            weigh(bodies, joints, island, 0.0)
            resist(joints, island, bodies.velocity, bodies.spin)
            changed = leave_limits(joints, begin, end, joints.change, 0.0)
            changed |= let_slide(joints.soft, bodies, joints, begin, end)
            if not changed:
                break
        strike(bodies, joints, begin, end, joints.change)
        respin(bodies, joints, island)
        stick(joints.soft, bodies, joints, island)
