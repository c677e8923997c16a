"""Box 1.1 of the paper's figure 6: the target runs ahead on its path, and waits (003, section 2.2)."""

import math

from impel.kernel import kernel
from impel.motion.rotations import conjugate, dot, get3, get4, logarithm, multiply, norm, scale, sub
from impel.motion.splines import orientation_at, position_at

CLOSE = 1e-5  # of the base distance: a target so near its reach stops looking for more
LOOKS = 256  # at the path in one step, at most; a target that needs more goes on in the next step
ARRIVED = 0.01  # of the base distance: the last key is reached when its body is so near
HALF_TURN = math.radians(170.0)  # beyond this angle the way round that was taken before is kept


@kernel
def offset_to(row, u, turns, position, orientation):
    """From the body to a point of the path, and that point's velocity by u; rotation vectors if it turns."""
    if turns:
        q, velocity = orientation_at(row, u)
        return logarithm(multiply(q, conjugate(orientation))), velocity
    x, velocity = position_at(row, u)
    return sub(x, position), velocity


@kernel
def safe_step(offset, velocity, reach, fastest, sharpest):
    """How far u may grow so that certainly no point in between lies out of reach.

    The curve strays at most sharpest·s²/2 from its tangent, and distances between orientations grow no faster than in
    flat space. So a sphere smaller by that much is left by the tangent before the sphere itself is left by the curve.
    Converges quadratically where it can; where it cannot, |C'| ≤ fastest is the plain bound of sphere tracing.
    """
    distance = norm(offset)
    gap = reach - distance
    if gap >= fastest:
        return 1.0
    step = gap / fastest
    speed2 = dot(velocity, velocity)
    speed = math.sqrt(speed2)
    step = max(step, 2.0 * gap / (speed + math.sqrt(speed2 + 2.0 * sharpest * gap)))
    if speed2 > 0.0:
        outwards = dot(offset, velocity)
        straight = _exit(outwards, speed2, distance, reach)
        inner = reach - 0.5 * sharpest * straight * straight
        if inner > distance:
            step = max(step, _exit(outwards, speed2, distance, inner))
    return step


@kernel(inline=True)
def _exit(outwards, speed2, distance, radius):
    """When a point inside a sphere, on its way along a straight line, leaves it."""
    room = (radius - distance) * (radius + distance)
    root = math.sqrt(outwards * outwards + speed2 * room)
    if outwards > 0.0:
        return room / (root + outwards)
    return (root - outwards) / speed2


@kernel
def advance_target(bodies, actuators, a):
    """Move the target to the first point ahead that is the base distance away; return the offset to it.

    Every point it passes is within the base distance of the body now, and it never goes back: whatever pushes the
    body away, its target waits. Loops go round at most once a step.
    """
    paths = actuators.paths
    body = actuators.body[a]
    position = get3(bodies.position, body)
    orientation = get4(bodies.orientation, body)
    turns = paths.turns[a] == 1
    first = paths.first_segment[a]
    count = paths.first_segment[a + 1] - first
    reach = actuators.base[a]
    i = int(actuators.segment[a])
    u = actuators.u[a]
    passed = 0
    offset, velocity = offset_to(paths.curve[first + i], u, turns, position, orientation)
    for _ in range(LOOKS):
        if reach - norm(offset) <= CLOSE * reach:
            break
        if u < 1.0:
            u = min(u + safe_step(offset, velocity, reach, paths.fastest[first + i], paths.sharpest[first + i]), 1.0)
        elif passed == count or (i + 1 == count and paths.loops[a] == 0):
            break
        else:
            passed += 1
            u = 0.0
            i += 1
            if i == count:
                i = 0
                actuators.lap[a] += 1.0
        offset, velocity = offset_to(paths.curve[first + i], u, turns, position, orientation)
    actuators.segment[a] = i
    actuators.u[a] = u
    if paths.loops[a] == 0 and i + 1 == count and u == 1.0 and norm(offset) <= ARRIVED * reach:
        actuators.done[a] = 1.0
    if turns:
        offset = _same_way_round(actuators.axis, a, offset)
    return offset


@kernel
def _same_way_round(axis, a, offset):
    """Near half a turn the shorter way flips at a touch: keep to the side that was taken before."""
    angle = norm(offset)
    if angle > HALF_TURN and dot(offset, get3(axis, a)) < 0.0:
        offset = scale(offset, 1.0 - 2.0 * math.pi / angle)
    if angle > 0.0:
        s = 1.0 / norm(offset)
        axis[a, 0], axis[a, 1], axis[a, 2] = offset[0] * s, offset[1] * s, offset[2] * s
    return offset


@kernel
def target_position(actuators, a):
    """Where the target of a moving actuator is."""
    row = actuators.paths.first_segment[a] + int(actuators.segment[a])
    return position_at(actuators.paths.curve[row], actuators.u[a])[0]
