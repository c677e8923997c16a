"""Closing the gaps of joints by moving bodies, without regard to time: before time 0, and where a step fails."""

import math

from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    axpy,
    exponential,
    get3,
    get3_at,
    get4,
    get4_at,
    multiply,
    normalize,
    scale,
    set3,
    set3_at,
    set4,
    set4_at,
)
from impel.physics.joint_rows import lean, look, weigh, worst_row
from impel.physics.joints import (
    JOINT,
    KEPT_ORIENTATION,
    KEPT_POSITION,
    LINEAR,
    LIVE,
    LOWER,
    MEMBER,
    TILE,
    TURNING_A,
    UPPER,
)
from impel.physics.skyline import solve

MET = 1e-10  # m or rad: a limit that is overstepped by more than this is met
CLOSED = 1e-12  # m or rad
LEAST, STUCK = 1e-6, 1e6  # damping that makes a difference, and that at which nothing moves any more


@kernel
def close_gaps(bodies, joints, island, iterations):
    """Close the gaps of an island's joints, moving heavy bodies least; return the largest that remains, in m or rad.

    Newton's method, damped where it does not get nearer (Levenberg and Marquardt). Bodies that cannot move stay.
    """
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    damping, best, gap = 0.0, math.inf, math.inf
    back = False
    for _ in range(iterations):
        look(bodies, joints, begin, end, True)
        meet_limits(joints, begin, end)
        size = 0.0
        for r in range(3 * tile, 3 * tile_end):
            size += joints.change[r] * joints.change[r]
        if size < best:
            best, gap = size, worst_row(joints, tile, tile_end, 1.0)
            damping = 0.1 * damping if damping > LEAST else 0.0
            keep_places(bodies, joints, island)
        elif not back:
            damping = max(10.0 * damping, LEAST)
            take_back(bodies, joints, island)
            back = True
            continue
        back = False
        if gap <= CLOSED or damping > STUCK:
            break
        lean(bodies, joints, island)
        weigh(bodies, joints, island, damping)
        solve(joints.factor, joints.envelope, tile, tile_end, joints.change)
        _displace(bodies, joints, begin, end)
    return gap


@kernel
def keep_places(bodies, joints, island):
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3_at(joints.place, i, KEPT_POSITION, get3(bodies.position, i))
        set4_at(joints.place, i, KEPT_ORIENTATION, get4(bodies.orientation, i))


@kernel
def take_back(bodies, joints, island):
    """Back to the places that were kept."""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.position, i, get3_at(joints.place, i, KEPT_POSITION))
        set4(bodies.orientation, i, get4_at(joints.place, i, KEPT_ORIENTATION))


@kernel
def meet_limits(joints, begin, end):
    """Take in the limits that are overstepped; is there a new one?"""
    changed = False
    for k in range(begin, end):
        joint = joints.each[k]
        for n in range(joint.limits):
            j, r = joint.index if n == 0 else joint.second, joint.limit + n
            if joints.active[j] == 0.0 and joints.broken[joint.index] == 0.0:
                below = joints.fixed[k, LOWER + 2 * n] - joints.coordinate[j]
                above = joints.coordinate[j] - joints.fixed[k, UPPER + 2 * n]
                if max(below, above) > MET:
                    joints.active[j] = -1.0 if below > above else 1.0
                    joints.rows[r, LIVE] = 1.0
                    joints.change[r] = -below if below > above else above
                    changed = True
    return changed


@kernel
def _displace(bodies, joints, begin, end):
    """Move the bodies by what would close the gaps if everything were linear."""
    for k in range(begin, end):
        joint = joints.each[k]
        for side in range(2):
            i = joint.a if side == 0 else joint.b
            m = bodies.inverse_mass[i]
            if m > 0.0:
                shift, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                for r in range(joint.row, joint.row_end):
                    shift = axpy(-joints.change[r], get3_at(joints.rows, r, LINEAR), shift)
                    turn = axpy(-joints.change[r], get3_at(joints.rows, r, TURNING_A + 3 * side), turn)
                shift = scale(shift, m if side == 0 else -m)
                set3(bodies.position, i, add(shift, get3(bodies.position, i)))
                q = multiply(exponential(turn), get4(bodies.orientation, i))
                set4(bodies.orientation, i, normalize(q))
