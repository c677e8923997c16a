"""Writes down a performance, frame by frame, as a take."""

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.goals import ROUNDING, Goals, goal_at, has_goals, is_idle
from impel.control.targets import apart, carried_along, place_of, target_position, turn_of
from impel.geometry.meshes import drawn_as, surfaces_of
from impel.kernel import kernel
from impel.motion.orientations import conjugate_quaternions, multiply_quaternions
from impel.motion.paths import Paths, distance_to_path, length_until, make_paths, polyline, stretch_lengths
from impel.motion.rotations import conjugate, dot, get3, get4, logarithm, multiply, norm, rotate, set3, set4, sub
from impel.physics.bodies import kinetic_energy
from impel.physics.joint_forces import spring_energy
from impel.scene import Scene
from impel.scene.bodies import Body
from impel.scene.cameras import Camera
from impel.scene.courses import times_of
from impel.scene.shapes import BAKED
from impel.stage.landing import off_by
from impel.stage.lines import lines_of
from impel.stage.outcome import and_why, outcomes
from impel.stage.performance import Performance
from impel.stage.reasons import Ending
from impel.stage.softness import soft_of, who_touches
from impel.stage.strain import DENIED, DISTANCE, FELT, FORCE, PROGRESS, USED_UP
from impel.stage.wishes import is_goal
from impel.takes.pieces import Piece, surface_of
from impel.takes.take import GROUND, PALETTE, SOFT_VERSION, Take

Floats = NDArray[np.float64]

KINDS = ("move", "turn")  # of wishes that have keys
POINTS = 12  # of each segment of a path that moves
MOST_POINTS = 2_000_000  # of such a path in all frames, 48 MB


class Written(NamedTuple):
    """What a recorder has written of some frames."""

    rows: list[NDArray[Any]]
    ways: dict[int, Floats]
    stops: dict[int, Floats]

    def kept(self) -> "Written":
        """A copy, which the recorder will not write over."""
        return copy.deepcopy(self)


class Recorder:
    """Keeps the frames of a performance; frames that are played again after a `restore` are written over."""

    def __init__(self, performance: Performance) -> None:
        compiled = performance.compiled
        frames, bodies, actuators = compiled.frames, len(compiled.cast), len(compiled.actuators)
        self.performance = performance
        self.position = np.zeros((frames, bodies, 3))
        self.orientation = np.zeros((frames, bodies, 4))
        self.speed = np.zeros((frames, bodies))
        self.energy = np.zeros(frames)
        self.felt = np.zeros((frames, actuators, len(FELT)))
        self.target = np.zeros((frames, actuators, 3))
        self.aim = np.zeros((frames, actuators, 4))  # of those that turn
        self.agreed = np.zeros((frames, len(performance.scene.appointments)))  # the states of appointments
        touching = who_touches(performance.stage, compiled)
        self.touching = np.zeros((frames, len(touching)), np.int64)  # who may touch whom, for soft surfaces
        self.ways = _moving_ways(performance)  # (frames, P, 3) by actuator: paths that move with bodies
        self.stops = _stops(performance, self.ways)  # (G + 1, 3) where each of those begins, and its goals are or were
        self.nearest = np.zeros((frames, actuators), np.int64)  # where on its path each was nearest
        self.paths: Paths | None = None  # of which these are ...
        self.lengths = np.zeros((0, 1))  # ... until each stretch of a segment, in metres or radians

    def write_frame(self) -> None:
        frame, stage, compiled = self.performance.frame, self.performance.stage, self.performance.compiled
        place_shapes(stage.bodies, compiled.centre, compiled.axes, self.position[frame], self.orientation[frame])
        _look_at_bodies(stage, self.speed[frame], self.energy, frame)
        self.touching[frame] = who_touches(stage, compiled)
        if stage.actuators is None:
            return
        self.agreed[frame] = stage.actuators.appointments.state
        if self.paths is not stage.actuators.paths or len(stage.actuators.frames.key) > 0:
            self.paths = stage.actuators.paths
            self.lengths = stretch_lengths(self.paths)
        for a, way in self.ways.items():
            if is_goal(compiled.actuators[a]):
                find_stops(stage.bodies, stage.actuators.goals, a, self.performance.time, self.stops[a])
                way[frame] = polyline(make_paths([self.stops[a]], [False]), 0, POINTS)
            else:
                way[frame] = _points(self.paths, a, way.shape[1])
        self.nearest[frame] = self.nearest[max(frame - 1, 0)]
        _look_at_actuators(
            stage.bodies, stage.actuators, self.lengths, self.nearest[frame],
            self.felt[frame], self.target[frame], self.aim[frame],
        )  # fmt: skip

    def written(self, frames: int) -> Written:
        """What was written of so many frames: the arrays themselves."""
        ways = {a: way[:frames] for a, way in self.ways.items()}
        return Written([array[:frames] for array in self._rows()], ways, self.stops)

    def write_again(self, written: Written) -> None:
        """Paths that moved then go on as they were begun, however many keys they have by now."""
        for array, rows in zip(self._rows(), written.rows):
            array[: len(rows)] = rows
        self.ways = {a: np.zeros((len(self.position), *way.shape[1:])) for a, way in written.ways.items()}
        for a, way in written.ways.items():
            self.ways[a][: len(way)] = way
        self.stops = {a: stops.copy() for a, stops in written.stops.items()}

    def _rows(self) -> list[NDArray[Any]]:
        """What is written frame by frame, but for paths."""
        rows = [self.position, self.orientation, self.speed, self.energy, self.felt, self.target, self.aim, self.agreed]
        return [*rows, self.touching, self.nearest]

    def take(self, *, softened: bool = True) -> Take:
        """All frames so far; call it whenever and as often as you like. Unless it is to be `softened` later."""
        performance, compiled, stage = self.performance, self.performance.compiled, self.performance.stage
        actuators, count = stage.actuators, performance.frame + 1
        position, orientation, felt = (a[:count].copy() for a in (self.position, self.orientation, self.felt))
        told = performance.story()
        channels = {"energy": self.energy[:count].copy()}
        channels |= {f"{name}.speed": self.speed[:count, i].copy() for i, name in enumerate(compiled.cast)}
        broke = {e["subject"]: e["time"] for e in told if e["kind"] in ("joint broke", "joint let go")}
        time = np.arange(count, dtype=np.float64) * compiled.pace.frame_seconds
        wires, ropes, slack = lines_of(stage.joints, compiled, time, position, orientation, broke)
        channels |= slack
        tracks, paths = self._turns(count)
        paths |= compiled.troupe.ways
        for a, label in enumerate(compiled.actuators):
            turns = label.endswith(".turn")
            channels[f"{label}.distance"] = np.degrees(felt[:, a, DISTANCE]) if turns else felt[:, a, DISTANCE]
            channels[f"{label}.{'torque' if turns else 'force'}"] = felt[:, a, FORCE]
            if is_goal(label):
                if a in self.ways:
                    paths[label] = self.ways[a][:count].copy()
                elif actuators is not None and not turns and not _framed(actuators.goals, a):
                    paths[label] = polyline(actuators.paths, a)
                continue
            channels[f"{label}.progress"] = np.degrees(felt[:, a, PROGRESS]) if turns else felt[:, a, PROGRESS]
            if not turns and actuators is not None:
                tracks[f"{label}.target"] = self.target[:count, a].copy()
                paths[label] = self.ways[a][:count].copy() if a in self.ways else polyline(actuators.paths, a)
        for m, name in enumerate(performance.scene.appointments):
            channels[f"{name}.appointment"] = self.agreed[:count, m].copy()
        scene = performance.scene
        end = Ending(scene, compiled, stage, told)
        ends = outcomes(end, time, self.lengths[:, -1], felt, position, orientation)
        drawn = [_drawn(body, compiled.troupe.pieces(name)) for name, body in compiled.cast.items()]
        take = Take(
            time=time,
            names=list(compiled.cast),
            position=position,
            orientation=orientation,
            shapes=[shape for shape, _ in drawn],
            colors=[_color(i, body) for i, body in enumerate(compiled.cast.values())],
            events=sorted([*and_why(end), *ends], key=lambda event: event["time"]),
            channels=channels,
            tracks=tracks,
            paths=paths,
            wires=wires,
            surfaces={name: array for _, surfaces in drawn for name, array in surfaces.items()},
            ropes=ropes,
            camera=None if scene.camera is None else _plain(scene.camera),
            cameras=[_plain(cut) for cut in scene.cameras],
            keys=_keys(scene),
        )
        return self.soften(take) if softened else take

    def soften(self, take: Take) -> Take:
        """Add the surfaces of soft bodies, as they lie when bodies are where they are in the take."""
        performance = self.performance
        times = np.arange(performance.frame + 1) * performance.compiled.pace.frame_seconds
        frames = np.clip(np.searchsorted(times, take.time + ROUNDING, side="right") - 1, 0, None)
        take.soft = soft_of(
            performance.compiled, performance.stage, take.position, take.orientation, self.touching[frames]
        )
        if take.soft:
            take.version = SOFT_VERSION
        return take

    def _turns(self, count: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Where bodies should point, as tracks and paths of orientations: not of principal axes but of shapes."""
        compiled, actuators = self.performance.compiled, self.performance.stage.actuators
        tracks, paths = {}, {}
        for a, label in enumerate(compiled.actuators):
            if actuators is not None and label.endswith(".turn") and not is_goal(label):
                back = conjugate_quaternions(compiled.solids[actuators.body[a]].rotation)
                tracks[f"{label}.target"] = multiply_quaternions(self.aim[:count, a], back)
                paths[label] = multiply_quaternions(polyline(actuators.paths, a), back)
        return tracks, paths


def _moving_ways(performance: Performance) -> dict[int, Floats]:
    """Room for the paths that move: some points of each in every frame, unless that is too much to keep."""
    actuators, frames = performance.stage.actuators, performance.compiled.frames
    if actuators is None:
        return {}
    ways = {}
    framed = np.array([_framed(actuators.goals, a) for a in range(len(actuators.body))])
    for a in np.flatnonzero(((np.diff(actuators.frames.first) > 0) | framed) & (actuators.paths.turns == 0)):
        points = POINTS * int(actuators.paths.first_segment[a + 1] - actuators.paths.first_segment[a]) + 1
        if points * frames <= MOST_POINTS:
            ways[int(a)] = np.zeros((frames, points, 3))
    return ways


def _stops(performance: Performance, ways: dict[int, Floats]) -> dict[int, Floats]:
    """The places that moving ways through goals lead through, as they are at the start."""
    actuators, stops = performance.stage.actuators, {}
    for a in ways:
        if actuators is not None and is_goal(performance.compiled.actuators[a]):
            first = int(actuators.paths.first_key[a])
            stops[a] = actuators.paths.keys[first : int(actuators.paths.first_key[a + 1]), :3].copy()
    return stops


@kernel
def find_stops(bodies, goals, a, time, stops):
    """Put the goals of an actuator that are ahead, or held, where they are at that time."""
    for g in range(goals.first[a], goals.first[a + 1]):
        if g >= goals.current[a] or goals.time[g] >= time - ROUNDING:
            place, _ = goal_at(bodies, goals, g, False)
            set3(stops, g - goals.first[a] + 1, (place[0], place[1], place[2]))


def _points(paths: Paths, a: int, count: int) -> Floats:
    """So many points of a path, whose keys may be others by now."""
    points = polyline(paths, a, POINTS)
    if len(points) == count:
        return points
    at = np.linspace(0.0, len(points) - 1.0, count)
    return np.column_stack([np.interp(at, np.arange(len(points)), column) for column in points.T])


@kernel
def place_shapes(bodies, centre, axes, position, orientation):
    """Bodies are simulated about their centres of mass; a take is about the shapes' origins."""
    for i in range(len(position)):
        q = multiply(get4(bodies.orientation, i), conjugate(get4(axes, i)))
        set4(orientation, i, q)
        set3(position, i, sub(get3(bodies.position, i), rotate(q, get3(centre, i))))


@kernel
def _look_at_bodies(stage, speed, energy, frame):
    """Speeds; and kinetic energy, that of height and that of the joints' springs, in joules."""
    bodies = stage.bodies
    for i in range(len(speed)):
        speed[i] = norm(get3(bodies.velocity, i))
    total = kinetic_energy(bodies) + spring_energy(stage.joints)
    for i in range(len(bodies.mass)):
        if bodies.inverse_mass[i] > 0.0:
            total -= bodies.mass[i] * dot(get3(bodies.position, i), stage.gravity)
    energy[frame] = total


@kernel
def _look_at_actuators(bodies, actuators, lengths, nearest, felt, target, aim):
    for a in range(len(actuators.body)):
        x, q = place_of(bodies, actuators, a), turn_of(bodies, actuators, a)
        felt[a, FORCE] = norm(get3(actuators.applied, a))
        felt[a, USED_UP], felt[a, DENIED] = actuators.saturated[a], actuators.denied[a]
        if has_goals(actuators.goals, a):
            felt[a, DISTANCE] = 0.0 if is_idle(actuators.goals, a) else norm(off_by(bodies, actuators, a))
            continue
        felt[a, DISTANCE], nearest[a] = distance_to_path(actuators.paths, a, x, q, nearest[a])
        felt[a, PROGRESS] = _progress(actuators, lengths, a, x, q)
        if actuators.paths.turns[a] == 0:
            set3(target, a, target_position(actuators, a))
        else:
            set4(aim, a, multiply(carried_along(bodies, actuators, a), get4(actuators.pose, a)))


@kernel
def _progress(actuators, lengths, a, x, q):
    """How far an actor has come: the way that its target went along the path, less its distance from the target."""
    paths, segment, turns = actuators.paths, int(actuators.segment[a]), actuators.paths.turns[a] == 1
    first = paths.first_segment[a]
    before, whole = 0.0, 0.0
    for s in range(first, paths.first_segment[a + 1]):
        whole += lengths[s, -1]
        if s < first + segment:
            before += lengths[s, -1]
    way = apart(get4(actuators.pose, a), turns, x, q)
    behind = norm(logarithm(way)) if turns else norm((way[1], way[2], way[3]))
    here = length_until(paths.segments[first + segment], lengths[first + segment], actuators.u[a], turns)
    return actuators.lap[a] * whole + before + here - behind


def _plain(camera: Camera) -> dict[str, Any]:
    return camera.model_dump(mode="json", by_alias=True, exclude_none=True)


def _keys(scene: Scene) -> dict[str, list[Any]]:
    """The keys of all actors, as they were written; of goals, also the times that were left out."""
    goals = {}
    for name, actor in scene.actors.items():
        if actor.goals is not None:
            times, point = times_of(actor.goals, scene.bodies[name], scene), actor.goals.point
            goals[f"{name}.goals"] = [
                goal.model_dump(mode="json", by_alias=True, exclude_none=True)
                | {"time": time}
                | ({"point": list(point)} if point is not None else {})
                for goal, time in zip(actor.goals.keys, times)
            ]
    wishes = {f"{name}.{kind}": getattr(actor, kind) for name, actor in scene.actors.items() for kind in KINDS}
    return {
        label: [key.model_dump(mode="json", by_alias=True, exclude_none=True) for key in wish.keys]
        for label, wish in wishes.items()
        if wish is not None
    } | goals


def _framed(goals: Goals, a: int) -> bool:
    """Whether goals lie in the frames of bodies."""
    return bool(np.any(goals.frame[goals.first[a] : goals.first[a + 1]] >= 0))


def _color(i: int, body: Body) -> str:
    return body.color or (GROUND if body.shape.kind == "plane" else PALETTE[i % len(PALETTE)])


def _drawn(body: Body, pieces: tuple[Piece, ...]) -> tuple[dict[str, Any], dict[str, Floats]]:
    """A body's shape as takes know it, who keep meshes themselves, and those meshes."""
    shape = body.shape.to_document()
    if pieces:
        return surface_of(pieces)
    return (drawn_as(shape, body.color is None), surfaces_of(shape)) if body.shape.kind in BAKED else (shape, {})
