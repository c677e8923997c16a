"""From written goals to courses: times that are left out, paths, and turns that are led the way they are written."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from impel.complaints import name_like
from impel.scene.actors import Move
from impel.scene.bodies import Body
from impel.scene.goals import Goal, Goals
from impel.scene.scene import Scene
from impel.scene.turning import MOST_STRIDES, STRIDE, between, strides
from impel.scene.ways import angle_between

Place = tuple[float, float, float]
Orientation = tuple[float, float, float, float]

PIECES = 8  # of a path between two of its points
SHORTEST = 1e-3  # s: a course that is shorter is a mistake
HALF_TURN = math.pi - 1e-6  # rad: from here on no way round is shorter than the other


class Stop(NamedTuple):
    """A place or an orientation to be at at a time."""

    time: float
    place: Place | Orientation
    frame: str | None
    written: int | None  # which goal it is; None: on the way to one
    until: float | str | None  # how long it is held: for ever is infinity; None: not at all


def courses(goals: Goals, body: Body, scene: Scene) -> tuple[list[Stop], list[Stop]]:
    """The places and the orientations that a body with goals goes through."""
    places: list[Stop] = []
    turns: list[Stop] = []
    here, angles, frame = start_point(goals, body), start_angles(body), None
    place_from, turn_from = 0.0, 0.0
    for i, (goal, time) in enumerate(zip(goals.keys, times_of(goals, body, scene))):
        until = _until(goal)
        free = until if isinstance(until, float) and math.isfinite(until) else time
        if goal.places:
            if goal.on is not None:
                away = math.dist(here, _seen(scene, goal.in_, goal.on[0]))
                places += [Stop(t, x, goal.in_, None, None) for t, x in _along(goal.on, away, place_from, time)]
            place = goal.on[-1] if goal.on is not None else goal.at or (0.0, 0.0, 0.0)
            places.append(Stop(time, place, goal.in_, i, until))
            here, place_from = _seen(scene, goal.in_, place), free
        if goal.turns:
            inner = between(angles, goal.euler) if frame == goal.in_ else []
            share = (time - turn_from) / (len(inner) + 1)
            turns += [Stop(turn_from + (k + 1) * share, q, goal.in_, None, None) for k, q in enumerate(inner)]
            turns.append(Stop(time, goal.orientation, goal.in_, i, until))
            angles, frame, turn_from = goal.euler, goal.in_, free
    return places, turns


def _along(path: list[Place], away: float, start: float, end: float) -> Iterator[tuple[float, Place]]:
    """Places along a path that is so far away, but for its end, and when to be there."""
    points = path_points(path)
    lengths = [away, *(math.dist(a, b) for a, b in pairwise(points))]
    gone = 0.0
    for point, length in zip(points[:-1], lengths):
        gone += length
        if length > 0.0:
            yield start + (end - start) * gone / sum(lengths), point


def start_angles(body: Body) -> Place | None:
    """How a body is turned at the start, in degrees, if it is written so."""
    return (0.0, 0.0, 0.0) if body.euler is None and body.quaternion is None else body.euler


def _until(goal: Goal) -> float | str | None:
    if not goal.hold:
        return None
    return math.inf if goal.until is None else goal.until


def times_of(goals: Goals, body: Body, scene: Scene) -> list[float]:
    """When each goal is met: those without times share the time between the goals that have some, so that mean speeds
    are as their weights (paper 004, section 3)."""
    times: list[float] = []
    here, turned, free = start_point(goals, body), body.orientation, 0.0
    run: list[tuple[Goal, float]] = []
    for goal in goals.keys:
        way = _way(here, goal, scene)
        if goal.turns:
            way = way or angle_between(turned, goal.orientation)
            turned = goal.orientation
        if goal.places:
            here = _seen(scene, goal.in_, goal.on[-1] if goal.on is not None else goal.at)
        run.append((goal, way))
        if goal.time is not None:
            times += _spread(run, free, goal.time)
            run = []
            free = goal.time
            if goal.hold and isinstance(goal.until, float):
                free = goal.until
    return times


def _spread(run: list[tuple[Goal, float]], start: float, end: float) -> list[float]:
    shares = [way / (goal.weight or 1.0) for goal, way in run]
    whole = sum(shares)
    if whole <= 0.0:
        shares = [1.0] * len(run)
        whole = float(len(run))
    gone, times = 0.0, []
    for share in shares[:-1]:
        gone += share
        times.append(start + (end - start) * gone / whole)
    return [*times, end]


def start_point(goals: Goals | Move, body: Body) -> Place:
    """Where what meets the goals is at the start."""
    return _placed(body.at, body.orientation, goals.point or (0.0, 0.0, 0.0))


def _placed(at: Place, turned: Orientation, point: Place) -> Place:
    if not any(point):
        return at
    from impel.motion.orientations import matrix_from_quaternion

    x, y, z = (matrix_from_quaternion(turned) @ point).tolist()
    return at[0] + x, at[1] + y, at[2] + z


def _seen(scene: Scene, frame: str | None, at: Place | None) -> Place:
    """A place as it is in the world at the start, as far as that is known."""
    at = at or (0.0, 0.0, 0.0)
    if frame is None or frame not in scene.bodies:
        return at
    body = scene.bodies[frame]
    first = body.follows[0].at if body.follows else None
    return _placed(first or body.at, body.orientation, at)


def _way(here: Place, goal: Goal, scene: Scene) -> float:
    """How far it is to a goal from here."""
    if goal.on is not None:
        points = path_points(goal.on)
        return math.dist(here, _seen(scene, goal.in_, points[0])) + sum(math.dist(a, b) for a, b in pairwise(points))
    return math.dist(here, _seen(scene, goal.in_, goal.at)) if goal.at is not None else 0.0


def path_points(points: list[Place]) -> list[Place]:
    """Points along the centripetal spline through these."""
    kept = [points[0], *(b for a, b in pairwise(points) if math.dist(a, b) > 0.0)]
    if len(kept) < 3:
        return kept
    ends = [_mirrored(kept[1], kept[0]), *kept, _mirrored(kept[-2], kept[-1])]
    sampled = [kept[0]]
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:]):
        sampled += [_on_spline(a, b, c, d, k / PIECES) for k in range(1, PIECES)]
        sampled.append(c)
    return sampled


def _mirrored(inner: Place, end: Place) -> Place:
    return 2 * end[0] - inner[0], 2 * end[1] - inner[1], 2 * end[2] - inner[2]


def _on_spline(a: Place, b: Place, c: Place, d: Place, u: float) -> Place:
    """Barry and Goldman's form of the spline from b to c."""
    t1 = math.sqrt(math.dist(a, b))
    t2 = t1 + math.sqrt(math.dist(b, c))
    t3 = t2 + math.sqrt(math.dist(c, d))
    t = t1 + u * (t2 - t1)

    def mix(p: Place, q: Place, low: float, high: float) -> Place:
        share = (t - low) / (high - low)
        x, y, z = ((1 - share) * m + share * n for m, n in zip(p, q))
        return x, y, z

    ab, bc, cd = mix(a, b, 0.0, t1), mix(b, c, t1, t2), mix(c, d, t2, t3)
    return mix(mix(ab, bc, 0.0, t2), mix(bc, cd, t1, t3), t1, t2)


def goal_problems(goals: Goals, name: str, scene: Scene) -> Iterator[str]:
    """What is wrong with an actor's goals."""
    where = f"actors.{name}"
    lines = [*_each(goals, name, scene)]
    yield from lines
    times = [goal.time for goal in goals.keys]
    if times[-1] is None:
        last = max((i for i, time in enumerate(times) if time is not None), default=-1)
        yield f"{where}.{goals.where(last + 1)}.time: is missing: only goals between others with times can do without"
        return
    earliest, what = 0.0, "the start"
    for i, goal in enumerate(goals.keys):
        if goal.time is not None and goal.time <= earliest:
            lines.append(f"{where}.{goals.where(i)}.time: must be later than {earliest:g}, {what}, got {goal.time:g}")
            yield lines[-1]
        if goal.time is not None:
            earliest, what = max(goal.time, earliest), "the time before it"
        if goal.hold and isinstance(goal.until, float):
            earliest, what = max(goal.until, earliest), "when the goal before it is let go"
    if not lines and name in scene.bodies:
        yield from _between(goals, name, scene)


def _each(goals: Goals, name: str, scene: Scene) -> Iterator[str]:
    for i, goal in enumerate(goals.keys):
        place = f"actors.{name}.{goals.where(i)}"
        if goal.euler is not None and goal.quaternion is not None:
            yield f"{place}.quaternion: give euler or quaternion, not both"
        if goal.at is not None and goal.on is not None:
            yield f"{place}.on: give at or on, not both: a path ends where to be"
        if not goal.places and not goal.turns:
            yield f"{place}: needs at, euler or quaternion, or a path to go on"
        if goal.in_ == name:
            yield f"{place}.in: a goal cannot be in its own body"
        elif goal.in_ is not None and goal.in_ not in scene.bodies and goal.in_.split(".")[0] not in scene.walkers:
            yield f"{place}.in: {name_like(goal.in_, scene.bodies, 'body')}"
        if goal.until is not None and not goal.hold:
            yield f"{place}.until: is about a goal that is held; write hold: true"
        if goal.hold and goal.time is None:
            yield f"{place}.time: is missing: a goal that is held needs one"
        if isinstance(goal.until, str) and goal.until not in scene.appointments:
            yield f"{place}.until: {name_like(goal.until, scene.appointments, 'appointment')}"
        elif isinstance(goal.until, float) and goal.time is not None and goal.until <= goal.time:
            yield f"{place}.until: must be later than {goal.time:g}, when it is met, got {goal.until:g}"
        if goal.hold and goal.until is None and i + 1 < len(goals.keys):
            yield f"{place}.until: is missing: without it this goal is held to the end, and the next is never met"
        if goal.on is not None and len(path_points(goal.on)) < 2:
            yield f"{place}.on: its points are all the same, which is no path"


def _too_near(left: float) -> str:
    return f"only {left:.2g} s" if left > 0.0 else "no time"


def _between(goals: Goals, name: str, scene: Scene) -> Iterator[str]:
    """Courses that no time is left for, and turns without a shorter way."""
    body = scene.bodies[name]
    times = times_of(goals, body, scene)
    written = [goal.euler for goal in goals.keys if goal.euler is not None]
    if sum(strides(a, b) for a, b in pairwise(written)) > MOST_STRIDES:
        yield f"actors.{name}.goals: turn round too often; at most {STRIDE * MOST_STRIDES / 360:.0f} whole turns fit"
        return
    before, angles, frame = body.orientation, start_angles(body), None
    start = 0.0
    for i, (goal, time) in enumerate(zip(goals.keys, times)):
        place = f"actors.{name}.{goals.where(i)}"
        if goal.time is None and goal.weight is None and time - start < SHORTEST:
            yield f"{place}.time: is missing, and {_too_near(time - start)} is left for this goal; give it a time"
        elif goal.time is None and time - start < SHORTEST:
            yield (
                f"{place}.weight: leaves only {time - start:.2g} s for this goal; give it less weight, its neighbours "
                f"more, or a time"
            )
        elif time - start < SHORTEST:
            yield f"{place}.time: {_too_near(time - start)} is left for this goal; give it {SHORTEST:g} s or more"
        start = goal.until if goal.hold and isinstance(goal.until, float) else time
        if not goal.turns:
            continue
        shorter = frame == goal.in_ and strides(angles, goal.euler) == 1
        if shorter and angle_between(before, goal.orientation) >= HALF_TURN:
            kind = "euler" if goal.euler is not None else "quaternion"
            yield (
                f"{place}.{kind}: is half a turn from how it was before, so no way round is the shorter; "
                f"give a goal between the two, or euler angles that say which way"
            )
        before, angles, frame = goal.orientation, goal.euler, goal.in_
