"""Before time 0: bodies whose joints start apart are brought together."""

import math

from impel.kernel import kernel
from impel.motion.rotations import exponential, get3_at, get4_at, multiply, normalize, scale, set3, set4
from impel.physics.closing import close_evenly, close_gaps, keep_limits, keep_places, take_limits
from impel.physics.gaps import measure_gaps
from impel.physics.joints import KEPT_ORIENTATION, KEPT_POSITION, LIVE, MEMBER
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
    for k in range(len(joints.each)):
        joints.active[k] = 0.0
        for r in range(joints.each[k].row, joints.each[k].row_end):
            joints.rows[r, LIVE] = 0.0 if r == joints.each[k].limit else 1.0
    for island in range(len(joints.island) - 1):
        largest = max(largest, _bring_together(bodies, joints, island))
    hold_velocities(bodies, joints)
    measure_gaps(bodies, joints)
    return largest


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
        return close_gaps(bodies, joints, island, ITERATIONS)
    return close_evenly(bodies, joints, island, ITERATIONS)


@kernel(inline=True)
def _scattered(n):
    """Numbers between -1 and 1 that are spread evenly: multiples of the golden ratio."""
    return 2.0 * (0.6180339887498949 * n % 1.0) - 1.0
