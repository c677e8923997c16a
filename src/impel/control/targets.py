"""Box 1.1 of the paper's figure 6: the target runs ahead on its path, and waits (003, section 2.2)."""

import math

from impel.kernel import kernel
from impel.motion.rotations import conjugate, dot, get3, get4, logarithm, multiply, norm, scale, set3, set4
from impel.motion.splines import FASTEST, SHARPEST, pose_at

CLOSE = 3e-4  # of the base distance: a target so near its reach stops looking for more; speeds are as exact as this
LOOKS = 256  # at the path in one step, at most; a target that needs more goes on in the next step
ARRIVED = 0.01  # of the base distance: the last key is reached when its body is so near
HALF_TURN = math.radians(170.0)  # beyond this angle the way round that was taken before is kept


@kernel
def offset_to(pose, turns, position, orientation):
    """From the body to a place on its path; a rotation vector if it turns."""
    if turns:
        return logarithm(multiply(pose, conjugate(orientation)))
    return pose[0] - position[0], pose[1] - position[1], pose[2] - position[2]


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
def advance_target(segments, loops, turns, target, pose, tangent, position, orientation, reach):
    """Move a target, (segment, u, lap), to the first point ahead that is the base distance away.

    Every point it passes is within the base distance of the body now, and it never goes back: whatever pushes the
    body away, its target waits. Loops go round at most once a step. Returns the target, its pose and tangent (which
    must be given, too), and the offset to it.
    """
    count = len(segments)
    i, u, lap = target
    passed = 0
    offset = offset_to(pose, turns, position, orientation)
    for _ in range(LOOKS):
        if reach - norm(offset) <= CLOSE * reach:
            break
        if u < 1.0:
            u = min(u + safe_step(offset, tangent, reach, segments[i, FASTEST], segments[i, SHARPEST]), 1.0)
        elif passed == count or (i + 1 == count and not loops):
            break
        else:
            passed += 1
            u = 0.0
            i += 1
            if i == count:
                i = 0
                lap += 1.0
        pose, tangent = pose_at(segments[i], u, turns)
        offset = offset_to(pose, turns, position, orientation)
    return (i, u, lap), pose, tangent, offset


@kernel
def same_way_round(axis, a, offset):
    """Near half a turn the shorter way flips at a touch: keep to the side that was taken before."""
    angle = norm(offset)
    if angle > HALF_TURN and dot(offset, get3(axis, a)) < 0.0:
        offset = scale(offset, 1.0 - 2.0 * math.pi / angle)
    if angle > 0.0:
        set3(axis, a, scale(offset, 1.0 / norm(offset)))
    return offset


@kernel
def advance_targets(bodies, actuators):
    """Box 1.1: set every target, and the offset to it from its body."""
    paths = actuators.paths
    for a in range(len(actuators.body)):
        body = actuators.body[a]
        turns = paths.turns[a] == 1
        segments = paths.segments[paths.first_segment[a] : paths.first_segment[a + 1]]
        reach = actuators.base[a]
        target = (int(actuators.segment[a]), actuators.u[a], actuators.lap[a])
        target, pose, tangent, offset = advance_target(
            segments, paths.loops[a] == 1, turns, target, get4(actuators.pose, a), get3(actuators.tangent, a),
            get3(bodies.position, body), get4(bodies.orientation, body), reach,
        )  # fmt: skip
        i, u, lap = target
        if paths.loops[a] == 0 and i == len(segments) - 1 and u == 1.0 and norm(offset) <= ARRIVED * reach:
            actuators.done[a] = 1.0
        if turns:
            offset = same_way_round(actuators.axis, a, offset)
        actuators.segment[a], actuators.u[a], actuators.lap[a] = i, u, lap
        set4(actuators.pose, a, pose)
        set3(actuators.tangent, a, tangent)
        set3(actuators.offset, a, offset)


@kernel
def target_position(actuators, a):
    """Where the target of a moving actuator is."""
    return get3(actuators.pose, a)
