"""Box 1.1 of the paper's figure 6: the target runs ahead on its path, and waits (003, section 2.2)."""

import math

from impel.control.appointments import full_speed, wait_at_the_door, walk_on
from impel.control.clocks import keep_step, pace_for, place_at, way_between
from impel.control.frames import is_framed
from impel.control.law import TINY
from impel.kernel import kernel
from impel.motion.paths import length_between
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    dot,
    get3,
    get4,
    logarithm,
    multiply,
    norm,
    rotate,
    scale,
    set3,
    set4,
    sub,
    unrotate,
)
from impel.motion.splines import FASTEST, SHARPEST, pose_at

CLOSE = 1e-3  # of the base distance: so near its reach a target stops looking for more; on straight paths it is exact
LOOKS = 256  # at the path in one step, at most; a target that needs more goes on in the next step
ARRIVED = 0.01  # of the base distance: the last key is reached when its body is so near
AWAY = 0.02  # of the base distance: a body that is so much farther from a key than it was before has been there
KEY, NEAREST, AGO = range(3)  # columns of `heading` and `reached`
TURNS_BACK = 0.01  # of its largest speed: slower than this no path without times passes a key but where it turns back
SLOWEST = 0.02  # of its pace, at which a target comes to such a key
HALF_TURN = math.radians(170.0)  # beyond this angle the way round that was taken before is kept


def reach_of(base: float, turns: bool) -> tuple[float, float]:
    """A base distance as `advance_target` needs it, squared or as the cosine of half the angle; and how near is enough.

    In these measures the room ahead of a target is a smooth function whose bend is bounded.
    """
    if turns:
        limit = math.cos(min(base, 2 * math.pi) / 2)
        return limit, math.cos((1 - CLOSE) * min(base, 2 * math.pi) / 2) - limit
    return base * base, base * base * (1 - (1 - CLOSE) ** 2)


@kernel
def apart(pose, turns, position, orientation):
    """From the body to a place on its path: a turn with positive real part, or (0, x, y, z)."""
    if not turns:
        return 0.0, pose[0] - position[0], pose[1] - position[1], pose[2] - position[2]
    r = multiply(pose, conjugate(orientation))
    if r[0] < 0.0:
        return -r[0], -r[1], -r[2], -r[3]
    return r


@kernel
def safe_step(turns, way, tangent, room, limit, fastest, sharpest):
    """How far u may grow so that certainly no point in between lies out of reach.

    The room shrinks by no more than rate·s + bend·s²/2. For a distance squared, f'' = 2·C'² + 2·r·C''; for the cosine
    of half an angle, |q''| ≤ ω²/4 + |dω/du|/2. Converges quadratically, and is exact on a straight line.
    """
    rate = way[1] * tangent[0] + way[2] * tangent[1] + way[3] * tangent[2]
    if turns:
        rate *= 0.5
        bend = 0.25 * fastest * fastest + 0.5 * sharpest
    else:
        rate *= 2.0
        bend = 2.0 * (fastest * fastest + math.sqrt(limit) * sharpest)
    shrinks = rate + math.sqrt(rate * rate + 2.0 * bend * room)
    return 2.0 * room / shrinks if shrinks > 0.0 else 1.0


@kernel(inline=True)
def advance_target(segments, loops, turns, target, pose, tangent, position, orientation, limit, enough):
    """Move a target, (segment, u, lap), to the first point ahead that is the base distance away.

    Every point it passes is within the base distance of the body now, and it never goes back: whatever pushes the
    body away, its target waits. Loops go round at most once a step. Returns the target, its pose and tangent (which
    must be given, too), and the way to it as in `apart`.
    """
    count = len(segments)
    i, u, lap = target
    passed = 0
    way = apart(pose, turns, position, orientation)
    for _ in range(LOOKS):
        room = way[0] - limit if turns else limit - (way[1] * way[1] + way[2] * way[2] + way[3] * way[3])
        if room <= enough:
            break
        if u < 1.0:
            row = segments[i]
            u = min(u + safe_step(turns, way, tangent, room, limit, row[FASTEST], row[SHARPEST]), 1.0)
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
        way = apart(pose, turns, position, orientation)
    return (i, u, lap), pose, tangent, way


@kernel
def same_way_round(came, offset):
    """Near half a turn the shorter way flips at a touch: keep to the side that was taken before."""
    angle2 = dot(offset, offset)
    if angle2 > HALF_TURN * HALF_TURN and dot(offset, came) < 0.0:
        return scale(offset, 1.0 - 2.0 * math.pi / math.sqrt(angle2))
    return offset


@kernel(inline=True)
def place_of(bodies, actuators, a):
    """Where the point is that an actuator moves."""
    body = actuators.body[a]
    return add(get3(bodies.position, body), rotate(get4(bodies.orientation, body), get3(actuators.point, a)))


@kernel(inline=True)
def turn_of(bodies, actuators, a):
    """How the body is turned for its keys: as seen from what it pushes off, if that stood as at the start."""
    q = get4(bodies.orientation, actuators.body[a])
    other = actuators.against[a]
    if other >= 0:
        q = multiply(get4(actuators.home, a), multiply(conjugate(get4(bodies.orientation, other)), q))
    return q


@kernel(inline=True)
def carried_along(bodies, actuators, a):
    """The turn from there to the world as it is."""
    other = actuators.against[a]
    if other < 0:
        return 1.0, 0.0, 0.0, 0.0
    return multiply(get4(bodies.orientation, other), conjugate(get4(actuators.home, a)))


@kernel
def advance_targets(bodies, actuators, dt_last):
    """Box 1.1: set every target, and the offset to it from its body."""
    paths = actuators.paths
    for a in range(len(actuators.body)):
        turns = paths.turns[a] == 1
        segments = paths.segments[paths.first_segment[a] : paths.first_segment[a + 1]]
        target = (int(actuators.segment[a]), actuators.u[a], actuators.lap[a])
        place, orientation = place_of(bodies, actuators, a), turn_of(bodies, actuators, a)
        target, pose, tangent, way = advance_target(
            segments, paths.loops[a] == 1, turns, target, get4(actuators.pose, a), get3(actuators.tangent, a),
            place, orientation, actuators.limit[a], actuators.enough[a],
        )  # fmt: skip
        i, u, lap = target
        offset = (way[1], way[2], way[3])
        if turns:
            carried = carried_along(bodies, actuators, a)
            came = unrotate(carried, get3(actuators.offset, a))
            offset = rotate(carried, same_way_round(came, logarithm(way)))
        at_end = paths.loops[a] == 0 and i == len(segments) - 1 and u == 1.0
        if at_end and norm(offset) <= ARRIVED * actuators.base[a]:
            actuators.done[a] = 1.0
        follow_up(actuators, a, segments, turns, lap * len(segments) + i, place, orientation, dt_last)
        actuators.segment[a], actuators.u[a], actuators.lap[a] = i, u, lap
        set4(actuators.pose, a, pose)
        set3(actuators.tangent, a, tangent)
        set3(actuators.offset, a, offset)


@kernel
def go_by_clocks(bodies, actuators, dt, dt_last):
    """Set the targets that go by the clock; `advance_targets`, for which they are far enough, leaves them there.

    These are on paths with times, and those that an appointment is or was on for. (Their bodies are where they are, not
    the base distance behind: handed back to `advance_targets` they would leap ahead, at a turning point past all of the
    way back.)
    """
    clocks, agreed = actuators.clocks, actuators.appointments
    for a in range(len(actuators.body)):
        if clocks.timed[a] == 1 or agreed.waits[a] <= 1.0:
            clocks.runs[a] = 1.0
        actuators.enough[a] = math.inf if clocks.runs[a] == 1.0 else actuators.close[a]
        if clocks.runs[a] == 1.0:
            tick(bodies, actuators, a, dt, dt_last)
    wait_at_the_door(actuators, dt)
    keep_step(clocks)
    for a in range(len(actuators.body)):
        if clocks.runs[a] == 1.0:
            look_ahead(bodies, actuators, a, dt)


@kernel
def tick(bodies, actuators, a, dt, dt_last):
    """Move a target as far as its clock has gone in dt_last, and set the pace for dt."""
    paths, clocks, base = actuators.paths, actuators.clocks, actuators.base[a]
    turns, was = paths.turns[a] == 1, actuators.lap[a] * segments_of(paths, a) + actuators.segment[a]
    if actuators.heading[a, KEY] >= 0.0 and actuators.heading[a, NEAREST] <= ARRIVED * base:
        set3(actuators.reached, a, get3(actuators.heading, a))  # it may stay there
        actuators.reached[a, AGO] += dt_last + dt  # when the step that begins now is over
        actuators.heading[a, KEY] = -1.0
    clocks.late[a] += (1.0 - clocks.pace[a]) * dt_last
    i, u, time, laps = go_on(actuators, a, clocks.pace[a] * dt_last)
    if clocks.timed[a] == 0:
        clocks.late[a] = 0.0
    clocks.time[a] = time
    actuators.segment[a], actuators.u[a], actuators.lap[a] = i, u, actuators.lap[a] + laps
    passed = actuators.lap[a] * segments_of(paths, a) + i
    if passed > was:
        head_for(actuators, a, passed)
    pose, tangent = pose_at(paths.segments[paths.first_segment[a] + i], u, turns)
    set4(actuators.pose, a, pose)
    set3(actuators.tangent, a, tangent)
    behind = norm(way_between(pose, turns, place_of(bodies, actuators, a), turn_of(bodies, actuators, a)))
    most = 1.0 if clocks.timed[a] == 1 else pace_ahead(actuators, a, i, u)
    clocks.pace[a] = pace_for(clocks, a, actuators.appointments.waits[a], most, behind / base, dt)
    rate = full_rate(actuators, a, i, u, tangent)
    set3(clocks.velocity, a, rate)  # so far, see look_ahead
    if behind + 2.0 * clocks.pace[a] * dt * norm(rate) > base:  # it may be too far
        mind_the_distance(bodies, actuators, a, dt)


@kernel
def pace_ahead(actuators, a, i, u):
    """The share of its full pace that a target on a path without times may have: it brakes for a key where its path
    turns back or ends, as its body can."""
    paths, turns = actuators.paths, actuators.paths.turns[a] == 1
    row, full = paths.segments[paths.first_segment[a] + i], full_speed(actuators, a)
    _, tangent = pose_at(row, 1.0, turns)
    ends = paths.loops[a] == 0 and i == segments_of(paths, a) - 1
    if norm(tangent) > TURNS_BACK * row[FASTEST] and not ends:
        return 1.0
    way = length_between(row, u, 1.0, turns)
    return min(max(math.sqrt(2.0 * actuators.stiffness[a] * actuators.base[a] * way) / full, SLOWEST), 1.0)


@kernel(inline=True)
def segments_of(paths, a):
    return paths.first_segment[a + 1] - paths.first_segment[a]


@kernel
def go_on(actuators, a, seconds):
    """Where the target of an actuator is after that long at full pace: the segment, where in it, what its clock shows,
    how many laps on."""
    paths, clocks, i = actuators.paths, actuators.clocks, int(actuators.segment[a])
    first, count, loops = paths.first_segment[a], segments_of(paths, a), paths.loops[a] == 1
    if clocks.timed[a] == 1:
        return place_at(clocks, first, count, loops, i, clocks.time[a] + seconds)
    i, u, laps = walk_on(actuators, a, i, actuators.u[a], seconds * full_speed(actuators, a))
    return i, u, 0.0, laps


@kernel
def full_rate(actuators, a, i, u, tangent):
    """The velocity of a target at full pace; none at the end, where it stays."""
    paths, clocks = actuators.paths, actuators.clocks
    if u == 1.0 and paths.loops[a] == 0 and i == segments_of(paths, a) - 1:
        return 0.0, 0.0, 0.0
    if clocks.timed[a] == 1:
        return scale(tangent, 1.0 / clocks.span[paths.first_segment[a] + i])
    return scale(tangent, full_speed(actuators, a) / max(norm(tangent), TINY))


@kernel
def mind_the_distance(bodies, actuators, a, dt):
    """No target goes farther than the base distance."""
    paths, clocks = actuators.paths, actuators.clocks
    j, w, _, _ = go_on(actuators, a, clocks.pace[a] * dt)
    turns = paths.turns[a] == 1
    pose, _ = pose_at(paths.segments[paths.first_segment[a] + j], w, turns)
    way = way_between(pose, turns, place_of(bodies, actuators, a), turn_of(bodies, actuators, a))
    if norm(way) > actuators.base[a]:
        clocks.pace[a] = 0.0


@kernel
def look_ahead(bodies, actuators, a, dt):
    """Leave in a clock the velocity of its target, and its mean acceleration until it is where it will be after dt."""
    paths, clocks = actuators.paths, actuators.clocks
    turns, first, now = paths.turns[a] == 1, paths.first_segment[a], get3(clocks.velocity, a)
    j, w, _, _ = go_on(actuators, a, clocks.pace[a] * dt)
    _, tangent = pose_at(paths.segments[first + j], w, turns)
    soon = full_rate(actuators, a, j, w, tangent)
    pace, onward = clocks.pace[a], (0.0, 0.0, 0.0)
    if is_framed(actuators.frames, a):
        onward = get3(clocks.onward, a)
    onward = axpy(pace / dt, sub(soon, now), onward)
    if clocks.timed[a] == 0 and pace > 0.0:  # it may be about to brake
        onward = axpy(min(pace_ahead(actuators, a, j, w) - pace, 0.0) / dt, soon, onward)
    velocity = axpy(pace, now, get3(clocks.carried, a))
    if turns:
        carried = carried_along(bodies, actuators, a)
        velocity, onward = rotate(carried, velocity), rotate(carried, onward)
    set3(clocks.velocity, a, velocity)
    set3(clocks.onward, a, onward)


@kernel
def follow_up(actuators, a, segments, turns, passed, place, orientation, dt_last):
    """Note how near the body comes to the key that its target passed last, the `passed`-th of all laps, and when."""
    heading, count = actuators.heading[a], len(segments)
    if passed > actuators.lap[a] * count + actuators.segment[a]:
        head_for(actuators, a, passed)
    if heading[KEY] < 0.0:
        return
    way = apart(get4(segments, int(heading[KEY]) % count), turns, place, orientation)  # a segment begins with its key
    distance = norm((way[1], way[2], way[3]))
    if turns:
        distance = 2.0 * math.asin(min(distance, 1.0))
    if distance <= heading[NEAREST]:
        heading[NEAREST], heading[AGO] = distance, 0.0
        return
    heading[AGO] += dt_last
    if distance > heading[NEAREST] + AWAY * actuators.base[a]:
        set3(actuators.reached, a, get3(actuators.heading, a))
        heading[KEY] = -1.0


@kernel
def head_for(actuators, a, key):
    """The body is on its way to another key."""
    heading = actuators.heading[a]
    if heading[KEY] >= 0.0:
        set3(actuators.reached, a, get3(actuators.heading, a))
    heading[KEY], heading[NEAREST], heading[AGO] = key, math.inf, 0.0


@kernel
def target_position(actuators, a):
    """Where the target of a moving actuator is."""
    return get3(actuators.pose, a)
