"""Writes down a performance, frame by frame, as a take."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.control.targets import apart, carried_along, place_of, target_position, turn_of
from impel.kernel import kernel
from impel.motion.orientations import conjugate_quaternions, matrix_from_quaternion, multiply_quaternions
from impel.motion.paths import distance_to_path, length_until, polyline, segment_lengths
from impel.motion.rotations import get3, get4, logarithm, multiply, norm, set3, set4
from impel.physics.bodies import kinetic_energy
from impel.physics.joint_forces import spring_energy
from impel.scene import Scene
from impel.scene.bodies import Body
from impel.stage.outcome import outcomes
from impel.stage.performance import Performance
from impel.stage.threads import threads_of
from impel.takes.take import GROUND, PALETTE, Take

Floats = NDArray[np.float64]


class Recorder:
    def __init__(self, scene: Scene, performance: Performance) -> None:
        compiled = performance.compiled
        frames, bodies, actuators = compiled.frames, len(compiled.cast), len(compiled.actuators)
        self.scene = scene
        self.performance = performance
        self.position = np.zeros((frames, bodies, 3))
        self.orientation = np.zeros((frames, bodies, 4))
        self.speed = np.zeros((frames, bodies))
        self.energy = np.zeros(frames)
        self.felt = np.zeros((frames, actuators, 4))  # distance to the path, force, progress, is the strength used up
        self.target = np.zeros((frames, actuators, 3))
        self.aim = np.zeros((frames, actuators, 4))  # of those that turn
        self.lengths = np.zeros(0)
        if performance.stage.actuators is not None:
            self.lengths = np.zeros(len(performance.stage.actuators.paths.segments))  # measured in the first frame

    def write_frame(self) -> None:
        frame, stage = self.performance.frame, self.performance.stage
        n = len(self.performance.compiled.cast)
        self.position[frame] = stage.bodies.position[:n]
        self.orientation[frame] = stage.bodies.orientation[:n]
        self.speed[frame] = np.linalg.norm(stage.bodies.velocity[:n], axis=1)
        self.energy[frame] = _energy(stage)
        if stage.actuators is not None:
            _look_at_actuators(
                stage.bodies, stage.actuators, self.lengths, self.felt[frame], self.target[frame], self.aim[frame]
            )

    def take(self) -> Take:
        compiled, actuators = self.performance.compiled, self.performance.stage.actuators
        self.performance.finish()
        self._from_centres_to_origins()
        channels = {"energy": self.energy}
        channels |= {f"{name}.speed": self.speed[:, i] for i, name in enumerate(compiled.cast)}
        broke = {event["subject"]: event["time"] for event in self.performance.told if event["kind"] == "joint broke"}
        wires, ropes, slack = threads_of(compiled, self.position, self.orientation, broke)
        channels |= slack
        tracks, paths = self._turns()
        paths |= compiled.troupe.ways
        for a, label in enumerate(compiled.actuators):
            turns = label.endswith(".turn")
            channels[f"{label}.distance"] = np.degrees(self.felt[:, a, 0]) if turns else self.felt[:, a, 0]
            channels[f"{label}.{'torque' if turns else 'force'}"] = self.felt[:, a, 1]
            channels[f"{label}.progress"] = np.degrees(self.felt[:, a, 2]) if turns else self.felt[:, a, 2]
            if not turns and actuators is not None:
                tracks[f"{label}.target"] = self.target[:, a]
                paths[label] = polyline(actuators.paths, a)
        camera = self.scene.camera
        time = np.arange(compiled.frames, dtype=np.float64) * compiled.pace.frame_seconds
        ends = outcomes(compiled, self.performance.stage, time, self.lengths, self.felt[:, :, 2:])
        events = [*self.performance.told, *compiled.troupe.events, *ends]
        return Take(
            time=time,
            names=list(compiled.cast),
            position=self.position,
            orientation=self.orientation,
            shapes=[body.shape.to_document() for body in compiled.cast.values()],
            colors=[_color(i, body) for i, body in enumerate(compiled.cast.values())],
            events=sorted(events, key=lambda event: event["time"]),
            channels=channels,
            tracks=tracks,
            paths=paths,
            wires=wires,
            ropes=ropes,
            camera=None if camera is None else camera.model_dump(mode="json", by_alias=True),
        )

    def _from_centres_to_origins(self) -> None:
        """Bodies are simulated about their centres of mass; a take is about the shapes' origins."""
        for i, whole in enumerate(self.performance.compiled.solids):
            if np.any(whole.offset) or whole.rotation[0] != 1.0:
                q = multiply_quaternions(self.orientation[:, i], conjugate_quaternions(whole.rotation))
                self.orientation[:, i] = q
                self.position[:, i] -= matrix_from_quaternion(q) @ whole.offset

    def _turns(self) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Where bodies should point, as tracks and paths of orientations: not of principal axes but of shapes."""
        compiled, actuators = self.performance.compiled, self.performance.stage.actuators
        tracks, paths = {}, {}
        for a, label in enumerate(compiled.actuators):
            if actuators is not None and label.endswith(".turn"):
                back = conjugate_quaternions(compiled.solids[actuators.body[a]].rotation)
                tracks[f"{label}.target"] = multiply_quaternions(self.aim[:, a], back)
                paths[label] = multiply_quaternions(polyline(actuators.paths, a), back)
        return tracks, paths


def _energy(stage: Any) -> float:
    """Kinetic energy, that of height and that of the joints' springs, in joules."""
    bodies = stage.bodies
    free = np.isfinite(bodies.mass)
    height = -(bodies.position[free] @ np.array(stage.gravity))
    springs = 0.0 if stage.joints is None else spring_energy(stage.joints)
    return float(kinetic_energy(bodies) + bodies.mass[free] @ height + springs)


@kernel
def _look_at_actuators(bodies, actuators, lengths, felt, target, aim):
    if lengths[0] == 0.0:
        segment_lengths(actuators.paths, lengths)
    for a in range(len(actuators.body)):
        x, q = place_of(bodies, actuators, a), turn_of(bodies, actuators, a)
        felt[a, 0] = distance_to_path(actuators.paths, a, x, q)
        felt[a, 1] = norm(get3(actuators.applied, a))
        felt[a, 2] = _progress(actuators, lengths, a, x, q)
        felt[a, 3] = actuators.saturated[a]
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
        whole += lengths[s]
        if s < first + segment:
            before += lengths[s]
    way = apart(get4(actuators.pose, a), turns, x, q)
    behind = norm(logarithm(way)) if turns else norm((way[1], way[2], way[3]))
    here = length_until(paths.segments[first + segment], actuators.u[a], turns)
    return actuators.lap[a] * whole + before + here - behind


def _color(i: int, body: Body) -> str:
    return body.color or (GROUND if body.shape.kind == "plane" else PALETTE[i % len(PALETTE)])
