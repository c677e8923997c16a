"""RATTLE: jointed bodies move so that the joints hold at the end of every step, and their velocities agree with them.

The impulses of a step act along the directions of the joints at its begin, which makes the method symplectic:
energy does not drift. They are found by Newton's method with one direct solve of the joints of each
island an iteration; the matrix is that of the velocity projection at the end of the last step.
"""

import math

from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, get4, set3, set4
from impel.physics.bodies import drift_one, spin_of, turn_freely
from impel.physics.joint_rows import aim, fill, measure, push_apart, weigh
from impel.physics.skyline import REGULARISATION, factor, solve

TOLERANCE = 1e-10  # m or rad: where the iterations stop
ACCEPTABLE = 1e-8  # m or rad: what is still good when they get no further (over-determined loops, rounding)
ITERATIONS = 8  # at 1 ms one or two are usual; a step that needs more is too long
ROUNDS = 4  # changes of the set of active limits within one step
DIVERGED = 3  # verdict


@kernel
def hold_positions(bodies, joints, dt):
    """Move all bodies by a step so that the joints hold. Velocities hold the first half-kick before, and stay at
    half time after; key-framed bodies are already in place. Returns the verdict."""
    for k in range(len(joints.loose)):
        drift_one(bodies, joints.loose[k], dt)
    for island in range(len(joints.island) - 1):
        if _hold_island(bodies, joints, island, dt) != 0:
            return DIVERGED
    return 0


@kernel
def _hold_island(bodies, joints, island, dt):
    begin, end = joints.island[island, 0], joints.island[island + 1, 0]
    rows, rows_end = joints.island[island, 1], joints.island[island + 1, 1]
    for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
        i = joints.members[k]
        x, q = get3(bodies.position, i), get4(bodies.orientation, i)
        place = joints.place[i]
        place[0], place[1], place[2] = x
        place[3], place[4], place[5], place[6] = q
    # The forces change little from step to step: start with the line through the last two.
    for r in range(rows, rows_end):
        joints.impulse[r] = dt * (2.0 * joints.force[r] - joints.before[r]) * joints.live[r]
    push_apart(bodies, joints, begin, end, joints.impulse)
    for round in range(ROUNDS):
        last_error = math.inf
        for iteration in range(ITERATIONS + 1):
            _advance(bodies, joints, island, dt)
            error = measure(bodies, joints, begin, end)
            if iteration == 0 and round == 0 and meet_limits(bodies, joints, begin, end):
                fill(bodies, joints, island)
                factor(joints.factor, joints.first, joints.start, rows, rows_end, REGULARISATION)
                error = measure(bodies, joints, begin, end)
            if error <= TOLERANCE:
                break
            if iteration == ITERATIONS or not error < 100.0 * last_error:
                if error <= ACCEPTABLE:
                    break
                return DIVERGED
            last_error = error
            solve(joints.factor, joints.first, joints.start, rows, rows_end, joints.change)
            for r in range(rows, rows_end):
                joints.change[r] *= -1.0 / dt
                joints.impulse[r] += joints.change[r]
            push_apart(bodies, joints, begin, end, joints.change)
        met = meet_limits(bodies, joints, begin, end)
        left = round < ROUNDS - 2 and _leave_limits(bodies, joints, begin, end, joints.impulse)
        if not (met or left):
            break
        if left:
            for r in range(rows, rows_end):
                joints.change[r] = -joints.impulse[r] * (1.0 - joints.live[r])
                joints.impulse[r] += joints.change[r]
            push_apart(bodies, joints, begin, end, joints.change)
        fill(bodies, joints, island)
        factor(joints.factor, joints.first, joints.start, rows, rows_end, REGULARISATION)
    for r in range(rows, rows_end):
        joints.before[r] = joints.force[r]
        joints.force[r] = joints.impulse[r] / dt
    for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
        i = joints.members[k]
        set3(bodies.spin, i, spin_of(bodies, i, get3(bodies.momentum, i)))
    return 0


@kernel
def _advance(bodies, joints, island, dt):
    """Bring the bodies of an island to the end of the step, from where it began, with the present velocities."""
    for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
        i = joints.members[k]
        p = joints.place[i]
        set3(bodies.position, i, axpy(dt, get3(bodies.velocity, i), (p[0], p[1], p[2])))
        q = (p[3], p[4], p[5], p[6])
        momentum = get3(bodies.momentum, i)
        set4(bodies.orientation, i, turn_freely(q, momentum, bodies.inverse_inertia[i], bodies.top[i], dt))


@kernel
def meet_limits(bodies, joints, begin, end):
    """Take in the limits that are overstepped; is there a new one?"""
    new = False
    for k in range(begin, end):
        j = joints.sequence[k]
        r = joints.limit[j]
        if r >= 0 and joints.active[j] == 0.0:
            side = 0.0
            if joints.coordinate[j] < joints.lower[j] - TOLERANCE:
                side = -1.0
            elif joints.coordinate[j] > joints.upper[j] + TOLERANCE:
                side = 1.0
            if side != 0.0:
                joints.active[j] = side
                joints.live[r] = 1.0
                joints.impulse[r] = 0.0
                new = True
    return new


@kernel
def _leave_limits(bodies, joints, begin, end, impulse):
    """Let go of the limits that would have to pull; is there one?"""
    left = False
    for k in range(begin, end):
        j = joints.sequence[k]
        r = joints.limit[j]
        if r >= 0 and joints.active[j] * impulse[r] > 0.0:
            joints.active[j] = 0.0
            joints.live[r] = 0.0
            left = True
    return left


@kernel
def hold_velocities(bodies, joints):
    """Take from the velocities what the joints forbid at the present places; limits only stop what runs into them."""
    for island in range(len(joints.island) - 1):
        begin, end = joints.island[island, 0], joints.island[island + 1, 0]
        rows, rows_end = joints.island[island, 1], joints.island[island + 1, 1]
        aim(bodies, joints, begin, end)
        weigh(bodies, joints, island)
        for _ in range(ROUNDS):
            factor(joints.factor, joints.first, joints.start, rows, rows_end, REGULARISATION)
            _slip(bodies, joints, begin, end)
            solve(joints.factor, joints.first, joints.start, rows, rows_end, joints.change)
            if not _leave_limits(bodies, joints, begin, end, joints.change):
                break
            fill(bodies, joints, island)
        push_apart(bodies, joints, begin, end, joints.change)
        for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
            i = joints.members[k]
            m, c = get3(bodies.momentum, i), joints.inverse[i]
            bodies.spin[i, 0] = c[0] * m[0] + c[1] * m[1] + c[2] * m[2]
            bodies.spin[i, 1] = c[1] * m[0] + c[3] * m[1] + c[4] * m[2]
            bodies.spin[i, 2] = c[2] * m[0] + c[4] * m[1] + c[5] * m[2]


@kernel
def _slip(bodies, joints, begin, end):
    """Minus the rate at which the rows of the joints begin to end are violated, into `change`."""
    for k in range(begin, end):
        j = joints.sequence[k]
        a, b = joints.a[j], joints.b[j]
        va, vb = get3(bodies.velocity, a), get3(bodies.velocity, b)
        v = (va[0] - vb[0], va[1] - vb[1], va[2] - vb[2])
        wa, wb = get3(bodies.spin, a), get3(bodies.spin, b)
        for r in range(joints.row[j], joints.row_end[j]):
            rate = dot(v, get3(joints.linear, r)) + dot(wa, get3(joints.angular, r))
            rate += wb[0] * joints.angular[r, 3] + wb[1] * joints.angular[r, 4] + wb[2] * joints.angular[r, 5]
            joints.change[r] = -rate * joints.live[r]
