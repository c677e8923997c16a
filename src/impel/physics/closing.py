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
    ACTIVE,
    BEST_ORIENTATION,
    BEST_POSITION,
    COORDINATE,
    JOINT,
    KEPT_ORIENTATION,
    KEPT_POSITION,
    LINEAR,
    LIVE,
    LOWER,
    MEMBER,
    NORMAL,
    SECOND,
    SECOND_ACTIVE,
    STUCK,
    TILE,
    TURNING_A,
    UPPER,
)
from impel.physics.skyline import solve

MET = 1e-10  # m or rad: a limit that is overstepped by more than this is met
CLOSED = 1e-12  # m or rad
LEAST, MOST = 1e-6, 1e6  # damping that makes a difference, and that at which nothing moves any more
WORK = 0.2  # of an iteration of `exact`: the time of one iteration here (12 bodies: 6 of 27 µs)
RELEASES = 4  # times that limits which pull are let go of in one iteration


@kernel
def close_gaps(bodies, joints, island, iterations, enough):
    """Close the gaps of an island's joints, moving heavy bodies least; return the largest that remains, in m or rad.

    Newton's method, damped where it does not get nearer (Levenberg and Marquardt). Bodies that cannot move stay. All
    are left where the gaps were smallest. Nothing is tried to make gaps smaller that are small `enough`.
    """
    begin, end = joints.island[island, JOINT], joints.island[island + 1, JOINT]
    tile, tile_end = joints.island[island, TILE], joints.island[island + 1, TILE]
    damping, best, gap = 0.0, math.inf, math.inf
    back, raised = False, 0
    keep_best(bodies, joints, island)
    for _ in range(iterations):
        look(bodies, joints, begin, end, True)
        forget_limits(joints, begin, end)
        meet_limits(joints, begin, end)
        size = 0.0
        for r in range(3 * tile, 3 * tile_end):
            size += joints.change[r] * joints.change[r]
        if size < best:
            best, gap = size, worst_row(joints, tile, tile_end, 1.0)
            if raised == 0:  # what has just been found too little would be again
                damping = 0.1 * damping if damping > LEAST else 0.0
            raised = 0
            keep_best(bodies, joints, island)
        elif gap <= enough:
            break
        elif not back:
            damping = max(10.0 ** (1 + raised) * damping, LEAST)
            raised += 1
            take_best(bodies, joints, island)
            back = True
            continue
        back = False
        if gap <= CLOSED or damping > MOST:
            break
        joints.spare.work[0] += WORK
        lean(bodies, joints, island)
        for n in range(RELEASES):
            weigh(bodies, joints, island, damping)
            solve(joints.factor, joints.envelope, tile, tile_end, joints.change)
            if n == RELEASES - 1 or not _release_limits(joints, begin, end):
                break
            look(bodies, joints, begin, end, False)
        _displace(bodies, joints, begin, end)
    take_best(bodies, joints, island)
    return gap


@kernel
def close_evenly(bodies, joints, island, iterations, enough):
    """The same with equal masses.

    By mass a light body is always cheaper to turn than a heavy one to pull, even where only pulling helps: there
    gaps close more surely if all bodies count alike, and their joints' points move as easily by turning as by shifting.
    """
    _swap_weights(bodies, joints, island)
    gap = close_gaps(bodies, joints, island, iterations, enough)
    _swap_weights(bodies, joints, island)
    return gap


@kernel
def _swap_weights(bodies, joints, island):
    """Exchange the masses of an island's bodies for equal ones, or back."""
    even = joints.spare.even
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        mass, inertia = bodies.inverse_mass[i], get3(bodies.inverse_inertia, i)
        bodies.inverse_mass[i] = even[i, 0]
        set3(bodies.inverse_inertia, i, get3_at(even, i, 1))
        even[i, 0] = mass
        set3_at(even, i, 1, inertia)


@kernel
def keep_places(bodies, joints, island):
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3_at(joints.place, i, KEPT_POSITION, get3(bodies.position, i))
        set4_at(joints.place, i, KEPT_ORIENTATION, get4(bodies.orientation, i))


@kernel
def take_places(bodies, joints, island):
    """Back to the places that were kept."""
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.position, i, get3_at(joints.place, i, KEPT_POSITION))
        set4(bodies.orientation, i, get4_at(joints.place, i, KEPT_ORIENTATION))


@kernel
def keep_limits(joints, island, kept):
    """Note coordinates, limits and normals of an island's joints, as far as they have any."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        j, second = joint.index, joint.second
        kept[j, COORDINATE], kept[j, ACTIVE] = joints.coordinate[j], joints.active[j]
        if second >= 0:
            kept[j, SECOND], kept[j, SECOND_ACTIVE] = joints.coordinate[second], joints.active[second]
        set3_at(kept, j, NORMAL, get3(joints.normal, j))


@kernel
def take_limits(joints, island, kept):
    """Back to what was noted. Springs that share the row of a limit are out, friction is as it is."""
    for k in range(joints.island[island, JOINT], joints.island[island + 1, JOINT]):
        joint = joints.each[k]
        j, second = joint.index, joint.second
        joints.coordinate[j], joints.active[j] = kept[j, COORDINATE], kept[j, ACTIVE]
        if second >= 0:
            joints.coordinate[second], joints.active[second] = kept[j, SECOND], kept[j, SECOND_ACTIVE]
        set3(joints.normal, j, get3_at(kept, j, NORMAL))
        stuck = joint.soft >= 0 and joint.limits == 1 and joints.grip[joint.soft, STUCK] != 0.0
        for n in range(joint.limits):
            held = stuck or joints.active[j if n == 0 else second] != 0.0
            joints.rows[joint.limit + n, LIVE] = 1.0 if held else 0.0


@kernel
def turn_back(joints, begin, end):
    """Count turns from the start of the step, and not from the last try, which may have taken a light body round."""
    for k in range(begin, end):
        j, second = joints.each[k].index, joints.each[k].second
        joints.coordinate[j] = joints.spare.kept[j, COORDINATE]
        if second >= 0:
            joints.coordinate[second] = joints.spare.kept[j, SECOND]


@kernel
def keep_best(bodies, joints, island):
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3_at(joints.place, i, BEST_POSITION, get3(bodies.position, i))
        set4_at(joints.place, i, BEST_ORIENTATION, get4(bodies.orientation, i))
    keep_limits(joints, island, joints.spare.best)


@kernel
def take_best(bodies, joints, island):
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        set3(bodies.position, i, get3_at(joints.place, i, BEST_POSITION))
        set4(bodies.orientation, i, get4_at(joints.place, i, BEST_ORIENTATION))
    take_limits(joints, island, joints.spare.best)


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
def forget_limits(joints, begin, end):
    """Leave out the limits that are not even touched."""
    for k in range(begin, end):
        joint = joints.each[k]
        for n in range(joint.limits):
            j, r = joint.index if n == 0 else joint.second, joint.limit + n
            if joints.active[j] * joints.change[r] < -MET:
                _let_go(joints, j, r)


@kernel
def _release_limits(joints, begin, end):
    """Let go of the limits that would have to pull; is there one?"""
    released = False
    for k in range(begin, end):
        joint = joints.each[k]
        for n in range(joint.limits):
            j, r = joint.index if n == 0 else joint.second, joint.limit + n
            if joints.active[j] * joints.change[r] < 0.0:
                _let_go(joints, j, r)
                released = True
    return released


@kernel(inline=True)
def _let_go(joints, j, r):
    joints.active[j] = 0.0
    joints.rows[r, LIVE] = 0.0
    joints.change[r] = 0.0


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
