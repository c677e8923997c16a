"""RATTLE: jointed bodies move so that the joints hold at the end of every step, and their velocities agree with them.

The impulses of a step act along the directions of the joints at its start, which makes the method symplectic:
energy does not drift. They are found by Newton's method with one direct solve of each island an iteration. The matrix
is that of the velocity projection at the end of the last step, kept in the state together with the directions:
nothing is computed twice, and key-framed bodies, which are moved before the joints, act from where they were.
Where that does not converge, `exact` takes over, and where there is no solution, bodies give way.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import (
    axpy,
    conjugate,
    dot,
    get3,
    get3_at,
    get4,
    get4_at,
    logarithm,
    multiply,
    norm,
    scale,
    set3,
    set3_at,
    set4,
    sub,
    unrotate,
)
from impel.physics.bodies import drift_one, spin_of, turn_freely, weighted
from impel.physics.closing import (
    close_evenly,
    close_gaps,
    keep_limits,
    keep_places,
    meet_limits,
    take_limits,
    turn_back,
)
from impel.physics.exact import hold_exactly
from impel.physics.joint_forces import (
    add_impulses,
    begin_again,
    draw,
    foresee,
    freeze,
    keep_grip,
    keep_impulses,
    let_slide,
    let_slip,
    loosen,
    push_back,
    respin,
    rounds_of,
    stick,
    stored,
    take_grip,
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
    LINEAR,
    LIVE,
    LONG_BEFORE,
    MEMBER,
    ON_SURFACE,
    TILE,
)
from impel.physics.skyline import ZERO, solve
from impel.physics.verdicts import DIVERGED, GOOD, IMPRECISE

TOLERANCE = 1e-10  # m or rad: where the iterations stop
ACCEPTABLE = 1e-8  # of the size, at most 1 m, or rad: what is still good when they get no further (rounding)
ITERATIONS = 8  # at 1 ms one or two are usual; a step that needs more is too long
ROUNDS = 4  # changes of the set of limits that are met, within one step
ROUNDING = 1e-6  # of what a limit did in this step: a pull of less is none
TOLERABLE = 5e-7  # likewise in rows that are redundant: a loop that was written with rounded numbers
LEAP = 1.0  # rad: by how much a turn in one step may differ from the last; joints also close again after a full turn
RAISED = 1.25  # joints do no work: energy that grows by more in a step, beyond what is slow, is wrong
SLOW = 1e-3  # m/s
EXACT_LEAP, EXACT_RAISED = 0.1, 1.01  # the same for exact steps, which converge also where they are far too long ...
FINE_LEAP, FINE_RAISED = 0.02, 1.001  # ... and where these, and quick ones that took long, are precise
FINE_LOST = 2e-6  # over all motion: what joints may take more of it at the end of such a step than at its start
BURST = 2.0  # times the energy there was: what joints leave more of is rounding, in loops that are jammed
GAVE_WAY = 1e300  # J: the effort of joints that nothing can hold, which is beyond comparison
EDGE = 0.05  # rad: by how much a surface may turn under a point in a step; 0.3 at an edge made 2 % more motion
EASY = 3  # iterations that do not take long
CLOSINGS = 40  # iterations in a step that must be taken ...
CLOSED = 1e-11  # m or rad: ... and where no more is tried: what is left is a blow in the next step, which is short
CALM = 4e-4  # s: how fast motion dies that cannot go on


@kernel
def hold_positions(bodies, joints, gravity, dt, shorter):
    """Move all bodies by a step so that the joints hold. Velocities hold the first half-kick before, and stay at
    half time after; key-framed bodies are already in place. Returns the verdict; at once, if a `shorter` step can be
    tried instead of one in which they do not hold."""
    verdict = GOOD
    for k in range(len(joints.loose)):
        drift_one(bodies, joints.loose[k], dt)
    for island in range(len(joints.island) - 1):
        keep_places(bodies, joints, island)
        keep_motion(bodies, joints, island)
        keep_limits(joints, island, joints.spare.kept)
        keep_grip(joints, island)
        held = hold_island(bodies, joints, island, dt)
        if held == DIVERGED:
            held = hold_or_give_way(bodies, joints, island, gravity, dt, shorter)
            if held == DIVERGED and shorter:
                return DIVERGED
        joints.poor[island] = 1.0 if held > GOOD else 0.0
        verdict = max(verdict, held)
    return verdict


@kernel
def hold_island(bodies, joints, island, dt):
    """Find the impulses with which the joints of an island hold at the end of the step. Returns the verdict."""
    impulse, change, rows = joints.impulse, joints.change, joints.rows
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    size = min(joints.size[island], 1.0)
    draw(joints.soft, bodies, joints, island, dt)
    start_impulses(joints, tile, tile_end, dt)
    yield_more(joints.soft, joints, begin, end)
    iteration, rounds, most_rounds = 0, 0, ROUNDS + rounds_of(joints.soft)
    last_error = math.inf
    while True:
        strike(bodies, joints, begin, end, change)
        move_freely(bodies, joints, island, dt)
        if iteration > 0 or rounds > 0:
            turn_back(joints, begin, end)
        look(bodies, joints, begin, end, False)
        error = worst_row(joints, tile, tile_end, TOLERANCE / (TOLERABLE * size))
        done = error <= TOLERANCE
        if not done and (iteration == ITERATIONS or not error < 100.0 * last_error):
            if not worst_row(joints, tile, tile_end, ACCEPTABLE / TOLERABLE) <= ACCEPTABLE * size:
                return DIVERGED
            done = True
        # The set of limits is settled before the iterations and checked after them, frozen in between.
        if done or iteration == 0:
            changed, left = meet_limits(joints, begin, end), False
            if done:
                left = let_slip(joints.soft, bodies, joints, begin, end, dt, rounds < most_rounds - 1)
            if done and rounds < most_rounds - 1:
                left |= leave_limits(joints, begin, end, impulse, dt)
            if changed or left:
                if rounds == most_rounds:
                    return DIVERGED
                done = False
                iteration = 0
                rounds += 1
                last_error, error = math.inf, 1.0  # of the new set nothing is known yet
                weigh(bodies, joints, island, 0.0)
                if left and begin_again(joints.soft, bodies, joints, island):
                    continue
        if done:
            break
        iteration += 1
        last_error = error
        solve(joints.factor, joints.envelope, tile, tile_end, change)
        for r in range(3 * tile, 3 * tile_end):
            change[r] *= -1.0 / dt
            impulse[r] += change[r]
    for r in range(3 * tile, 3 * tile_end):
        force = impulse[r] / dt
        rows[r, LONG_BEFORE] = rows[r, BEFORE] if rounds == 0 else force  # a blow says nothing about the next step
        rows[r, BEFORE] = rows[r, FORCE] if rounds == 0 else force
        rows[r, FORCE] = force
    foresee(joints.soft, bodies, joints, begin, end, dt)
    turn, growth = settle(bodies, joints, island, dt)
    if not (turn < LEAP and growth < RAISED):
        return DIVERGED
    joints.effort[island] = math.inf
    if rounds > 0:  # a blow, or what began to slip: motion may be lost, but none is won
        joints.effort[island] = GAVE_WAY
        return GOOD if growth < FINE_RAISED else IMPRECISE
    if iteration <= EASY:
        return GOOD
    joints.effort[island] = effort(bodies, joints, island)
    return GOOD if turn < FINE_LEAP and growth < FINE_RAISED else IMPRECISE


@kernel
def start_impulses(joints, tile, tile_end, dt):
    """Forces change little from step to step: start with the parabola through the last three.

    Where it bends more than it rises, they only go up and down, by rounding: a parabola would make seven times as much
    of that, where their mean lets it die away. Rows that say nothing new start from zero. No solution changes them, and
    so the parabola would go on for ever, and with it a stress of the loop in itself, until its rounding breaks it.
    """
    rows = joints.rows
    for t in range(tile, tile_end):
        for i in range(3):
            r = 3 * t + i
            force, last = rows[r, FORCE], rows[r, BEFORE]
            rise, bend = force - last, force - 2.0 * last + rows[r, LONG_BEFORE]
            impulse = dt * (force + rise + bend if abs(bend) < abs(rise) else 0.5 * (force + last)) * rows[r, LIVE]
            if joints.factor[9 * (joints.envelope[t, ZERO] + t) + 4 * i] == 0.0:
                impulse = 0.0
            joints.change[r] = joints.impulse[r] = impulse


@kernel(inline=True)
def settle(bodies, joints, island, dt):
    """Set the spins of an island by its momenta.

    Returns by how much a turn in this step differs most from the last, in rad, and how the energy has grown: joints do
    no work but by their springs. (Unless something key-framed pulls; what is slow does not count. Where an actor's kick
    was stopped, see `stop_kick`, what was before may be anything.)
    """
    turn = 0.0
    before, after, mass = stored(joints.soft, joints, island), 0.0, 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        v, momentum, spin = get3(bodies.velocity, i), get3(bodies.momentum, i), get3(bodies.spin, i)
        new_spin = spin_of(bodies, i, momentum)
        turned = sub(new_spin, spin)
        turn = max(turn, dot(turned, turned))
        set3(bodies.spin, i, new_spin)
        kept, kept_momentum = get3_at(joints.place, i, KEPT_VELOCITY), get3_at(joints.place, i, KEPT_MOMENTUM)
        before += bodies.mass[i] * dot(kept, kept) + dot(kept_momentum, spin)
        after += bodies.mass[i] * dot(v, v) + dot(momentum, new_spin)
        mass += bodies.mass[i]
    turn = dt * math.sqrt(turn)
    after -= mass * SLOW * SLOW
    if after <= before or not before > 0.0 or driven(bodies, joints, island):
        return turn, 1.0
    return turn, after / before


@kernel
def effort(bodies, joints, island):
    """The energy of what the joints did to the velocities of an island, in J."""
    total = 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        v = sub(get3(bodies.velocity, i), get3_at(joints.place, i, KEPT_VELOCITY))
        momentum = sub(get3(bodies.momentum, i), get3_at(joints.place, i, KEPT_MOMENTUM))
        total += 0.5 * bodies.mass[i] * dot(v, v) + 0.5 * dot(momentum, spin_of(bodies, i, momentum))
    return total


@kernel
def hold_or_give_way(bodies, joints, island, gravity, dt, shorter):
    """What happens in a step in which the quick way fails. Returns the verdict; nobody gives way where a `shorter` step
    can be tried."""
    size = min(joints.size[island], 1.0)
    restore(bodies, joints, island)
    stop_kick(bodies, joints, island)
    if hold_exactly(bodies, joints, island, dt, TOLERANCE, ACCEPTABLE * size, TOLERABLE * size):
        for r in range(3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]):
            force = joints.impulse[r] / dt
            joints.rows[r, FORCE] = joints.rows[r, BEFORE] = joints.rows[r, LONG_BEFORE] = force
        begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
        foresee(joints.soft, bodies, joints, begin, end, dt)
        turn, growth = settle(bodies, joints, island, dt)
        joints.effort[island] = effort(bodies, joints, island)
        # That it converges does not make a step accurate: it must be shorter, if it can.
        if turn < FINE_LEAP and growth < FINE_RAISED:
            return GOOD
        if turn < EXACT_LEAP and growth < EXACT_RAISED:
            return IMPRECISE
        if turn < LEAP and growth < RAISED:  # if it must be taken, it gains nothing by it
            slow_down(bodies, joints, island, math.sqrt(1.0 / growth))
            return DIVERGED
    if shorter:
        return DIVERGED
    joints.effort[island] = GAVE_WAY
    restore(bodies, joints, island)
    give_way(bodies, joints, island, dt)
    if not driven(bodies, joints, island):
        pay_for_lift(bodies, joints, island, gravity, dt)
    return DIVERGED


@kernel
def stop_kick(bodies, joints, island):
    """Leave in `impulse` what takes from the velocities what the joints forbid; and, where actors push, in the spins
    what is left of them.

    A gram that an actor turns with a ton on it would spin a hundred times round in a step: neither do impulses get
    anywhere from there, nor does such a spin tell how far a turn may differ from it.
    """
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    weigh(bodies, joints, island, 0.0)
    resist(joints, island, bodies.velocity, bodies.spin)
    for r in range(3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]):
        joints.impulse[r] = joints.change[r]
    if not pushed(bodies, joints, island):
        return
    strike(bodies, joints, begin, end, joints.change)
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.spin, i, spin_of(bodies, i, get3(bodies.momentum, i)))


@kernel
def pushed(bodies, joints, island):
    """Does an actor, or a hand, push or twist a body of an island?"""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        push, twist = get3(bodies.push, i), get3(bodies.twist, i)
        if dot(push, push) + dot(twist, twist) > 0.0:
            return True
    return False


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

    All move as if they were free, then the gaps are closed without regard to time: by mass, or else with equal masses
    after all of the way, a quarter of it, or none; but nobody goes farther than it can get. The velocities, which will
    be projected, only lose by it. Springs, if they can, keep their lengths: to stretch a stiff one would be work.
    """
    closed = ACCEPTABLE * min(joints.size[island], 1.0)
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    freeze(joints.soft, joints, begin, end)
    most = _farthest(bodies, joints, island, dt)
    move_freely(bodies, joints, island, dt)
    gap = close_gaps(bodies, joints, island, CLOSINGS, CLOSED)
    if loosen(joints.soft, bodies, joints, begin, end) and not gap <= closed:
        gap = close_gaps(bodies, joints, island, CLOSINGS, CLOSED)
    if gap <= closed and _way(bodies, joints, island) <= most:
        follow_way(bodies, joints, island, dt)
    else:
        for n in range(3):
            restore(bodies, joints, island)
            loosen(joints.soft, bodies, joints, begin, end)
            move_freely(bodies, joints, island, dt if n == 0 else 0.25 * dt if n == 1 else 0.0)
            gap = close_evenly(bodies, joints, island, CLOSINGS, CLOSED)
            if gap <= closed and _way(bodies, joints, island) <= most:
                break
        lost = not gap < math.inf or _way(bodies, joints, island) > most  # it is infinite where that is not a number
        if lost and not driven(bodies, joints, island):
            restore(bodies, joints, island)  # and stay where they were
        slow_down(bodies, joints, island, math.exp(-dt / CALM))
    for r in range(3 * joints.island[island, TILE], 3 * joints.island[island + 1, TILE]):
        joints.rows[r, FORCE] = joints.rows[r, BEFORE] = joints.rows[r, LONG_BEFORE] = 0.0


@kernel
def pay_for_lift(bodies, joints, island, gravity, dt):
    """Take from the velocities of an island what it rose beyond them while its gaps were closed, which is a jump and no
    motion that gravity will brake. What cannot pay for it stays where it was."""
    lift = 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        jump = sub(get3(bodies.position, i), get3_at(joints.place, i, KEPT_POSITION))
        lift -= bodies.mass[i] * dot(gravity, axpy(-dt, get3(bodies.velocity, i), jump))
    if lift > 0.0:
        energy = motion(bodies, joints, island)
        if lift < energy:
            slow_down(bodies, joints, island, math.sqrt(1.0 - lift / energy))
        else:
            restore(bodies, joints, island)
            slow_down(bodies, joints, island, math.exp(-dt / CALM))


@kernel
def _farthest(bodies, joints, island, dt):
    """How far a body of an island can get in a step, in m: where the ends of a stretched linkage of length L come
    nearer by δ, its elbow goes √(L·δ/2) aside. Gaps could also be closed by far jumps, of a ton by metres."""
    size, fastest = joints.size[island], 0.0
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        for i in (joint.a, joint.b):
            fastest = max(fastest, norm(get3(bodies.velocity, i)) + size * norm(get3(bodies.spin, i)))
    way = 2.0 * dt * fastest  # of two ends
    return way + math.sqrt(0.5 * size * way)


@kernel
def _way(bodies, joints, island):
    """How far the body of an island that has gone farthest in this step has gone, in m."""
    most = 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        most = max(most, norm(sub(get3(bodies.position, i), get3_at(joints.place, i, KEPT_POSITION))))
    return most


@kernel
def follow_way(bodies, joints, island, dt):
    """Give the bodies of an island the velocities that take them where they came, unless energy would grow."""
    before, after = 0.0, 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        q = get4(bodies.orientation, i)
        turned = multiply(q, conjugate(get4_at(joints.place, i, KEPT_ORIENTATION)))
        spin = scale(logarithm(turned), 1.0 / dt)
        v = scale(sub(get3(bodies.position, i), get3_at(joints.place, i, KEPT_POSITION)), 1.0 / dt)
        momentum = weighted(q, get3(bodies.inertia, i), spin)
        kept, kept_momentum = get3_at(joints.place, i, KEPT_VELOCITY), get3_at(joints.place, i, KEPT_MOMENTUM)
        before += bodies.mass[i] * dot(kept, kept) + dot(kept_momentum, get3(bodies.spin, i))
        after += bodies.mass[i] * dot(v, v) + dot(momentum, spin)
        set3(bodies.velocity, i, v)
        set3(bodies.momentum, i, momentum)
    grown = after > before and not driven(bodies, joints, island)
    slow_down(bodies, joints, island, math.sqrt(before / after) if grown else 1.0)


@kernel
def slow_down(bodies, joints, island, share):
    """Leave this share of their velocities to the bodies of an island; none also of what is not a number."""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        if share == 0.0:
            set3(bodies.velocity, i, (0.0, 0.0, 0.0))
            set3(bodies.momentum, i, (0.0, 0.0, 0.0))
        set3(bodies.velocity, i, scale(get3(bodies.velocity, i), share))
        set3(bodies.momentum, i, scale(get3(bodies.momentum, i), share))
        set3(bodies.spin, i, spin_of(bodies, i, get3(bodies.momentum, i)))


@kernel
def restore(bodies, joints, island):
    """Back to the start of the step."""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.position, i, get3_at(joints.place, i, KEPT_POSITION))
        set4(bodies.orientation, i, get4_at(joints.place, i, KEPT_ORIENTATION))
        set3(bodies.velocity, i, get3_at(joints.place, i, KEPT_VELOCITY))
        momentum = get3_at(joints.place, i, KEPT_MOMENTUM)
        set3(bodies.momentum, i, momentum)
        set3(bodies.spin, i, spin_of(bodies, i, momentum))
    take_grip(joints, island)
    take_limits(joints, island, joints.spare.kept)


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
            if joints.active[j] * impulse[r] > ROUNDING * abs(joints.impulse[r]):
                joints.active[j] = 0.0
                joints.rows[r, LIVE] = 0.0
                joints.change[r] = dt * impulse[r]  # which takes back what it did
                changed = True
    return changed


@kernel
def hold_velocities(bodies, joints):
    """Take from the velocities what the joints forbid at the present places; limits only stop what runs into them.

    Leaves the impulses that did it in `change`. Returns the verdict: half of what the joints do in a step they do here,
    unless forces rise faster than the step is short, as where a light arm is stretched or folded by heavy bodies. Then
    motion is lost.
    """
    verdict = GOOD
    for island in range(len(joints.island) - 1):
        begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
        look(bodies, joints, begin, end, True)
        if joints.surfaces is not None and _goes_round(bodies, joints, begin, end):
            verdict = IMPRECISE
            joints.poor[island] = 1.0
        lean(bodies, joints, island)
        hard, most = joints.effort[island] < math.inf, math.inf
        if hard:
            keep_motion(bodies, joints, island)
        push_back(joints.soft, bodies, joints, begin, end)
        if hard or joints.soft is not None:
            most = motion(bodies, joints, island)
        for _ in range(ROUNDS + rounds_of(joints.soft)):
            weigh(bodies, joints, island, 0.0)
            resist(joints, island, bodies.velocity, bodies.spin)
            changed = leave_limits(joints, begin, end, joints.change, 0.0)
            changed |= let_slide(joints.soft, bodies, joints, begin, end)
            if not changed:
                break
        strike(bodies, joints, begin, end, joints.change)
        if hard:
            strike_again(bodies, joints, island)
            lost, left = effort(bodies, joints, island) - joints.effort[island], motion(bodies, joints, island)
            if lost > FINE_LOST * left:
                verdict = IMPRECISE
                joints.poor[island] = 1.0
        respin(bodies, joints, island)
        if most < math.inf:
            most = leave(bodies, joints, island, most)
            stick(joints.soft, bodies, joints, island)
            leave(bodies, joints, island, most)
    return verdict


@kernel
def leave(bodies, joints, island, most):
    """What joints and friction leave of the motion of an island is a part of what there was. Returns how much it is."""
    left = motion(bodies, joints, island)
    if left <= most or driven(bodies, joints, island):
        return left
    strike_again(bodies, joints, island)
    left = motion(bodies, joints, island)
    if not left <= most:
        slow_down(bodies, joints, island, math.sqrt(most / left) if left < BURST * most else 0.0)
    return min(left, most)


@kernel
def strike_again(bodies, joints, island):
    """Take from the velocities what the joints forbid and rounding has left. Of impulses between heavy bodies some
    digits are lost, and with these they throw a gram that lies between them."""
    respin(bodies, joints, island)
    keep_impulses(joints, island)
    resist(joints, island, bodies.velocity, bodies.spin)
    strike(bodies, joints, joints.island[island, JOINT], joints.island[island + 1, JOINT], joints.change)
    add_impulses(joints, island)
    respin(bodies, joints, island)


@kernel
def _goes_round(bodies, joints, begin, end):
    """Has a point on a surface gone so far round an edge that the step was too long?"""
    found = False
    for k in range(begin, end):
        joint = joints.each[k]
        if joint.kind == ON_SURFACE and joints.broken[joint.index] == 0.0:
            last = get3(joints.normal, joint.index)
            normal = unrotate(get4(bodies.orientation, joint.b), get3_at(joints.rows, joint.row, LINEAR))
            turned = sub(normal, last)
            found |= dot(last, last) > 0.0 and dot(turned, turned) > EDGE * EDGE
            set3(joints.normal, joint.index, normal)
    return found


@kernel
def motion(bodies, joints, island):
    """The kinetic energy of an island, in J."""
    total = 0.0
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        v, momentum = get3(bodies.velocity, i), get3(bodies.momentum, i)
        total += 0.5 * bodies.mass[i] * dot(v, v) + 0.5 * dot(momentum, spin_of(bodies, i, momentum))
    return total
