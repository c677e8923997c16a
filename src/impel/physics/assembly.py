"""Before time 0: bodies whose joints start apart are brought together."""

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, exponential, get3, get4, multiply, normalize, scale, set3, set4
from impel.physics.joint_rows import aim, measure, weigh
from impel.physics.rattle import hold_velocities, meet_limits
from impel.physics.skyline import REGULARISATION, factor, solve

CLOSED = 1e-12  # m or rad
ITERATIONS = 200  # 3 to 10 are usual; many only where the joints cannot be closed
STUCK = 1e6  # regularisation at which a step no longer moves anything


@kernel
def assemble(bodies, joints):
    """Close the gaps of all joints, moving heavy bodies least; return the largest that remains, in m or rad.

    Newton's method, damped where it does not get nearer (Levenberg and Marquardt). Bodies that cannot move
    stay. Afterwards the velocities agree with the joints and the first step may begin.
    """
    largest = 0.0
    for island in range(len(joints.island) - 1):
        begin, end = joints.island[island, 0], joints.island[island + 1, 0]
        rows, rows_end = joints.island[island, 1], joints.island[island + 1, 1]
        for k in range(begin, end):
            j = joints.sequence[k]
            if joints.limit[j] >= 0:
                joints.active[j] = 0.0
                joints.live[joints.limit[j]] = 0.0
        damping = REGULARISATION
        gap = _look(bodies, joints, begin, end)
        for _ in range(ITERATIONS):
            if gap <= CLOSED or damping > STUCK:
                break
            size = _length2(joints.change, rows, rows_end)
            aim(bodies, joints, begin, end)
            weigh(bodies, joints, island)
            factor(joints.factor, joints.first, joints.start, rows, rows_end, damping)
            solve(joints.factor, joints.first, joints.start, rows, rows_end, joints.change)
            for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
                i = joints.members[k]
                place = joints.place[i]
                place[0], place[1], place[2] = get3(bodies.position, i)
                place[3], place[4], place[5], place[6] = get4(bodies.orientation, i)
            _displace(bodies, joints, begin, end)
            gap = _look(bodies, joints, begin, end)
            if _length2(joints.change, rows, rows_end) < size:
                damping = max(0.1 * damping, REGULARISATION)
            else:
                damping *= 10.0
                for k in range(joints.island[island, 2], joints.island[island + 1, 2]):
                    i = joints.members[k]
                    p = joints.place[i]
                    set3(bodies.position, i, (p[0], p[1], p[2]))
                    set4(bodies.orientation, i, (p[3], p[4], p[5], p[6]))
                gap = _look(bodies, joints, begin, end)
        largest = max(largest, gap)
    hold_velocities(bodies, joints)
    return largest


@kernel
def _look(bodies, joints, begin, end):
    gap = measure(bodies, joints, begin, end)
    if meet_limits(bodies, joints, begin, end):
        gap = measure(bodies, joints, begin, end)
    return gap


@kernel
def _length2(x, begin, end):
    total = 0.0
    for r in range(begin, end):
        total += x[r] * x[r]
    return total


@kernel
def _displace(bodies, joints, begin, end):
    """Move the bodies by what would close the gaps if everything were linear."""
    for k in range(begin, end):
        j = joints.sequence[k]
        for side in range(2):
            i = joints.a[j] if side == 0 else joints.b[j]
            m = bodies.inverse_mass[i]
            if m > 0.0:
                shift, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                for r in range(joints.row[j], joints.row_end[j]):
                    s = -joints.change[r]
                    shift = axpy(s, get3(joints.linear, r), shift)
                    t = joints.turning[r, 3 * side], joints.turning[r, 3 * side + 1], joints.turning[r, 3 * side + 2]
                    turn = axpy(s, t, turn)
                shift = scale(shift, m if side == 0 else -m)
                set3(bodies.position, i, add(shift, get3(bodies.position, i)))
                q = multiply(exponential(turn), get4(bodies.orientation, i))
                set4(bodies.orientation, i, normalize(q))
