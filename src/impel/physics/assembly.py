"""Before time 0: bodies whose joints start apart are brought together."""

import math

from impel.kernel import kernel
from impel.motion.rotations import (
    conjugate,
    cross,
    exponential,
    get3_at,
    get4,
    get4_at,
    multiply,
    normalize,
    rotate,
    scale,
    set3,
    set3_at,
    set4,
    set4_at,
    sub,
    unrotate,
)
from impel.physics.breaking import let_act
from impel.physics.closing import close_evenly, close_gaps, keep_limits, keep_places, take_limits
from impel.physics.gaps import APART, measure_gaps
from impel.physics.joint_rows import look
from impel.physics.joints import (
    AT_A,
    FRAME_A,
    FRAME_B,
    HINGE,
    HOLDS,
    KEPT_ORIENTATION,
    KEPT_POSITION,
    LINEAR,
    MEMBER,
    SLIDE,
    WELD,
)
from impel.physics.rattle import hold_velocities

ITERATIONS = 200  # 3 to 10 are usual; many only where the joints cannot be closed
TRIES = 12  # ways to begin, where the first does not end well
CLOSED = 1e-9  # m or rad: an end that is good enough to try no other way
SCATTER = 2.0  # rad: by how much bodies are turned at most before further tries


@kernel
def assemble(bodies, joints):
    """Close the gaps of all joints; return the largest that remains, in m or rad, and leave all of them in `apart`.

    Afterwards the velocities agree with the joints and the first step may begin.
    """
    largest = 0.0
    for j in range(len(joints.active)):
        joints.active[j] = 0.0
    for k in range(len(joints.each)):
        let_act(joints, k)
    for island in range(len(joints.island) - 1):
        largest = max(largest, _bring_together(bodies, joints, island))
    measure_gaps(bodies, joints)
    for k in range(len(joints.each)):
        j = joints.each[k].index
        if joints.broken[j] == HOLDS and max(joints.apart[j, 0], joints.apart[j, 1]) <= APART:
            _fit(bodies, joints, k)
    hold_velocities(bodies, joints)
    return largest


@kernel
def _fit(bodies, joints, k):
    """Take a joint that is closed but for the rounding of numbers in a file as closed.

    Where joints hold more than they need to, as two welds of the same bodies do, no step could close them better.
    """
    joint, fixed = joints.each[k], joints.fixed
    look(bodies, joints, k, k + 1, True)
    q_a, q_b = get4(bodies.orientation, joint.a), get4(bodies.orientation, joint.b)
    at = get3_at(fixed, k, AT_A)
    for r in range(joint.row, joint.row_end):
        if r != joint.limit:
            at = sub(at, unrotate(q_a, scale(get3_at(joints.rows, r, LINEAR), joints.change[r])))
    set3_at(fixed, k, AT_A, at)
    frame_a, frame_b = multiply(q_a, get4_at(fixed, k, FRAME_A)), multiply(q_b, get4_at(fixed, k, FRAME_B))
    if joint.kind == HINGE:
        turn = exponential(cross(rotate(frame_a, (0.0, 0.0, 1.0)), rotate(frame_b, (0.0, 0.0, 1.0))))
        set4_at(fixed, k, FRAME_A, normalize(multiply(conjugate(q_a), multiply(turn, frame_a))))
    elif joint.kind == WELD or joint.kind == SLIDE:
        set4_at(fixed, k, FRAME_A, normalize(multiply(conjugate(q_a), frame_b)))


@kernel
def _bring_together(bodies, joints, island):
    """Close the gaps of an island in the first way that works, or else in the one that comes nearest."""
    keep_places(bodies, joints, island)
    keep_limits(joints, island, joints.spare.kept)
    best, gap = 0, math.inf
    for n in range(TRIES):
        found = _try_to_close(bodies, joints, island, n)
        if found < gap:
            best, gap = n, found
        if gap <= CLOSED:
            return gap
    return _try_to_close(bodies, joints, island, best)


@kernel
def _try_to_close(bodies, joints, island, n):
    """The first way: heavy bodies move least. The second: all count alike. Others: likewise, turned at first."""
    state = n
    for k in range(joints.island[island, MEMBER], joints.island[island + 1, MEMBER]):
        i = joints.members[k]
        turn = (0.0, 0.0, 0.0)
        if n > 1:
            x, y, z = _scattered(3 * state), _scattered(3 * state + 1), _scattered(3 * state + 2)
            turn = scale((x, y, z), SCATTER)
            state += TRIES
        set3(bodies.position, i, get3_at(joints.place, i, KEPT_POSITION))
        q = multiply(exponential(turn), get4_at(joints.place, i, KEPT_ORIENTATION))
        set4(bodies.orientation, i, normalize(q))
    take_limits(joints, island, joints.spare.kept)
    if n == 0:
        return close_gaps(bodies, joints, island, ITERATIONS, 0.0)
    return close_evenly(bodies, joints, island, ITERATIONS, 0.0)


@kernel(inline=True)
def _scattered(n):
    """Numbers between -1 and 1 that are spread evenly: multiples of the golden ratio."""
    return 2.0 * (0.6180339887498949 * n % 1.0) - 1.0
