"""Simulates the open scene in a thread of its own: frames appear while they are computed, and a newer wish stops it.

A `Run` is one simulation of a scene as it was at a moment. Its rows are filled in order; whoever reads looks only at
the first `done` of them, so that nobody has to wait for anybody.
"""

import contextlib
import gc
import queue
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem, only_below
from impel.motion.orientations import conjugate_quaternions, multiply_quaternions
from impel.motion.paths import polyline
from impel.scene import Scene
from impel.stage.lines import lines_of
from impel.stage.performance import Performance, Snapshot
from impel.stage.show import Show
from impel.takes import Take

POSE, AIM, ROPE = 7, 8, 7  # columns of a body: x, y, z, w, x, y, z; of an actuator: target, aim, saturated; of a rope:
# both ends, slack
TELL_EVERY = 0.012  # s: how often frames are announced, after the one that is looked at ...
TELL_ON_THE_WAY = 0.1  # s: ... and before it
SNAPSHOTS = 40  # over a run
SNAPSHOT_BYTES = 64 * 2**20  # of all of them
STAYS = 0.25  # s after a run, in which nothing else is wanted: then soft surfaces are made
LIVE_SECONDS = 120.0  # how long one may play on beyond the end
LEAVE = 2.0  # s that is waited for the thread at the end: it may be compiling, and leaves nothing behind


class Cast(NamedTuple):
    """What the rows of a run hold, for whoever draws them."""

    names: list[str]
    shapes: list[dict[str, Any]]  # as in a scene, or {"pieces": ...} of what has looks
    actuators: list[str]
    ropes: list[str]
    paths: dict[str, list[list[float]]]  # of those that move
    wires: dict[str, list[list[float]]]  # in the frame of the body that they are named after


class Run:
    """One simulation, so far."""

    def __init__(self, number: int, scene: Scene, *, live: bool = False, now: float = 0.0, looked_at: int = 0) -> None:
        self.number = number
        self.scene = scene
        self.looked_at = looked_at  # the frame that is waited for
        self.live = live
        self.now = now  # s: since when, if it is live
        self.fps = scene.world.fps
        self.cast: Cast | None = None
        self.rows: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.done = 0
        self.kept = 0  # rows that are those of the run before it
        self.of = 0  # the number of that run
        self.ended = False
        self.doubts: list[str] = []  # about the start
        self.problems: list[str] = []  # why it could not be simulated, or broke down
        self.take: Take | None = None  # for surfaces of soft bodies see `soft_take`
        self.softened = False
        self._softening = threading.Lock()
        self.show: Show | None = None
        self.moments: dict[int, Snapshot] = {}  # by frame
        self.colors: dict[str, str] = {}  # of those that have one of their own, walkers' parts and toys too
        self.toy = False
        self.pushes = 0  # that were ordered while it played

    @property
    def frames(self) -> int:
        return len(self.rows)

    def soft_take(self) -> Take | None:
        """The take with the surfaces of its soft bodies, which are made when they are asked for."""
        with self._softening:
            if self.take is not None and not self.softened:
                if self.show is not None:
                    self.show.recorder.soften(self.take)
                self.softened = True
        return self.take


class Stop(Exception):
    """This run is not wanted any more."""


class Rehearsal:
    """The thread that simulates, and the way to ask it."""

    def __init__(self, tell: Callable[[Run], None], folders: tuple[Path, ...] = ()) -> None:
        self.tell = tell  # called from the thread, when there is something new
        self.folders = folders  # nothing outside of them is read, if any are given
        self.run: Run | None = None
        self._number = 0
        self._wanted: Run | None = None
        self._from: tuple[Run, int] | None = None
        self._stopped = False
        self._wake = threading.Condition()
        self._orders: queue.SimpleQueue[Callable[[Show], None]] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[Run | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="rehearsal", daemon=True)
        self._thread.start()
        threading.Thread(target=self._soften, name="softening", daemon=True).start()

    def begin(
        self, scene: Scene, *, after: float = 0.0, live: bool = False, now: float = 0.0, looked_at: int = 0
    ) -> Run:
        """Simulate a scene, which is as the last one was until `after`; whatever is being simulated is given up.

        Live, it goes in real time from `now` on. Else the frame that is looked at is told of as soon as it is there.
        """
        self._number += 1
        run = Run(self._number, scene, live=live, now=now, looked_at=looked_at)
        with self._wake:
            self._from = None if self.run is None or after <= 0 else _moment_before(self.run, after)
            self._wanted = self.run = run
            while not self._orders.empty():
                self._orders.get()
            self._wake.notify_all()
        return run

    def present(self, take: Take) -> Run:
        """Show a take that was made elsewhere, such as that of a toy."""
        self._number += 1
        run = Run(self._number, Scene(fps=take.fps, seconds=max(float(take.time[-1]), 1e-3)))
        run.cast = Cast(take.names, take.shapes, [], [], {}, {})
        run.colors, run.toy = dict(zip(take.names, take.colors)), True
        poses = np.concatenate([take.position, take.orientation], axis=2, dtype=np.float32)
        run.rows, run.take, run.done, run.ended = poses.reshape(len(poses), -1), take, len(poses), True
        with self._wake:
            self._wanted, self.run = None, run
        return run

    def order(self, order: Callable[[Show], None]) -> None:
        """Have something done to the scene that is played live, before its next frame."""
        self._orders.put(order)

    def stop(self) -> None:
        """Give up what is being simulated."""
        with self._wake:
            self._wanted = None
            if self.run is not None and self.run.live:
                self.run.live = False
            self._wake.notify_all()

    def close(self) -> None:
        with self._wake:
            self._stopped, self._wanted = True, None
            self._wake.notify_all()
        self._ended.put(None)
        self._thread.join(LEAVE)

    def _work(self) -> None:
        while True:
            with self._wake:
                while self._wanted is None and not self._stopped:
                    self._wake.wait()
                if self._stopped:
                    return
                run, origin, self._wanted = self._wanted, self._from, None
            assert run is not None
            try:
                self._simulate(run, origin)
            except Problem as problem:
                run.problems = problem.lines
            except Stop:
                pass
            except Exception as error:  # a fault of ours must not end the studio
                run.problems = [f"fault of the studio's own: {type(error).__name__}: {error}"]
            run.ended = True
            run.live = False
            self.tell(run)
            if run.number == 1:
                gc.freeze()  # all that was loaded stays: looking through it, 90 ms each time, would be seen
            self._ended.put(run)

    def _soften(self) -> None:
        """Soft surfaces take a while: they are for who stays and looks, and nobody waits for them."""
        while (run := self._ended.get()) is not None:
            with self._wake:
                self._wake.wait_for(lambda: run is not self.run or self._stopped, STAYS)
                if run is not self.run or self._stopped:
                    continue
            with contextlib.suppress(Exception):  # a fault of ours must not end the studio; who exports it is told
                run.soft_take()
            self.tell(run)

    def _simulate(self, run: Run, origin: tuple[Run, int] | None) -> None:
        with warnings.catch_warnings(), only_below(self.folders):
            warnings.simplefilter("ignore")
            show = run.show = Show(run.scene)
        run.doubts = show.doubts
        run.colors = {name: body.color for name, body in show.compiled.cast.items() if body.color is not None}
        cast = _cast_of(show)
        width = POSE * len(cast.names) + AIM * len(cast.actuators) + ROPE * len(cast.ropes)
        run.rows = np.zeros((show.compiled.frames, width), np.float32)
        if origin is not None:
            self._go_on_from(run, show, *origin)
        run.cast = cast
        self.tell(run)
        self._write(run, show, show.frame, show.frame + 1)
        every = _snapshot_interval(show)
        told = time.monotonic()
        began = told - max(show.time, run.now)
        wrote = show.frame + 1
        while show.frame < show.compiled.frames - 1:
            began = self._keep_going(run, show, began)
            if show.frame % every == 0:
                run.moments[show.frame] = Performance.snapshot(show)
            show.next_frame()
            now = time.monotonic()
            waited_for = show.frame in (run.looked_at, show.compiled.frames - 1) or (run.live and show.time > run.now)
            if waited_for or now - told > (TELL_EVERY if show.frame > run.looked_at else TELL_ON_THE_WAY):
                self._write(run, show, wrote, show.frame + 1)
                wrote, told = show.frame + 1, now
                self.tell(run)
        run.take = show.recorder.take(softened=False)

    def _keep_going(self, run: Run, show: Show, began: float) -> float:
        """Between two frames: is this still wanted, and what was ordered? When it began, by the clock."""
        if run.live and show.time < run.now:  # on the way to where it was
            began = time.monotonic() - run.now
        elif run.live:
            while (wait := began + show.time - time.monotonic()) > 0 and self._wanted is None and run.live:
                time.sleep(min(wait, 0.01))
            while not self._orders.empty():
                self._orders.get()(show)
            if not run.live and self._wanted is None:
                self._finish_live(run, show)
        if self._wanted is not None or self._stopped or (self.run is not run):
            raise Stop
        return began

    def _finish_live(self, run: Run, show: Show) -> None:
        run.rows = run.rows[: show.frame + 1]
        run.take = show.recorder.take(softened=False)
        raise Stop

    def _go_on_from(self, run: Run, show: Show, before: Run, frame: int) -> None:
        """Begin where another run was, if it was the same until then."""
        moment = before.moments.get(frame)
        assert before.show is not None
        if moment is None or before.cast != _cast_of(show) or not show.join(moment):
            return
        rows = before.rows[: frame + 1]
        run.rows[: frame + 1] = rows
        show.recorder.write_again(before.show.recorder.written(frame + 1))
        run.kept, run.of, run.done = frame, before.number, frame
        run.moments = {at: kept for at, kept in before.moments.items() if at <= frame}

    def _write(self, run: Run, show: Show, first: int, end: int) -> None:
        """Turn frames into rows."""
        recorder, rows = show.recorder, run.rows[first:end]
        bodies, actuators = len(show.compiled.cast), len(show.compiled.actuators)
        poses = rows[:, : POSE * bodies].reshape(-1, bodies, POSE)
        poses[..., :3], poses[..., 3:] = recorder.position[first:end], recorder.orientation[first:end]
        if actuators:
            stage = show.stage.actuators
            assert stage is not None
            start = POSE * bodies
            aims = rows[:, start : start + AIM * actuators].reshape(-1, actuators, AIM)
            aims[..., :3] = recorder.target[first:end]
            axes = np.array([show.compiled.solids[body].rotation for body in stage.body])
            aims[..., 3:7] = multiply_quaternions(recorder.aim[first:end], conjugate_quaternions(axes))
            aims[..., 7] = recorder.felt[first:end, :, 3]
        ropes = rows[:, POSE * bodies + AIM * actuators :].reshape(end - first, -1, ROPE)
        if ropes.shape[1]:
            _, ends, slack = _lines(show, first, end)
            for k, name in enumerate(ends):
                ropes[:, k, :6] = ends[name].reshape(-1, 6)
                ropes[:, k, 6] = slack[f"{name}.slack"]
        run.done = end


def _lines(show: Show, first: int, end: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    recorder, compiled = show.recorder, show.compiled
    seconds = np.arange(first, end, dtype=np.float64) * compiled.pace.frame_seconds
    broke = {event["subject"]: event["time"] for event in show.told if event["kind"] == "joint broke"}
    return lines_of(
        show.stage.joints, compiled, seconds, recorder.position[first:end], recorder.orientation[first:end], broke
    )


def _cast_of(show: Show) -> Cast:
    compiled, actuators = show.compiled, show.stage.actuators
    wires, ropes, _ = _lines(show, show.frame, show.frame + 1)
    paths = {}
    for a, label in enumerate(compiled.actuators):
        if actuators is not None and label.endswith(".move"):
            paths[label] = np.round(polyline(actuators.paths, a), 5).tolist()
    for label, way in compiled.troupe.ways.items():
        paths[label] = np.round(way if way.ndim == 2 else way[0], 5).tolist()
    return Cast(
        names=list(compiled.cast),
        shapes=[
            {"pieces": pieces} if (pieces := compiled.troupe.pieces(name)) else body.shape.to_document()
            for name, body in compiled.cast.items()
        ],
        actuators=list(compiled.actuators),
        ropes=list(ropes),
        paths=paths,
        wires={name: np.round(line, 5).tolist() for name, line in wires.items()},
    )


def _snapshot_interval(show: Show) -> int:
    """Frames between two snapshots: as many as help, and as few as there is room for."""
    bytes_each = show.memory.values.nbytes + sum(array.nbytes for array in show.memory.kept)
    most = max(1, min(SNAPSHOTS, SNAPSHOT_BYTES // max(bytes_each, 1)))
    return max(1, -(-show.compiled.frames // most))


def _moment_before(run: Run, seconds: float) -> tuple[Run, int] | None:
    frames = [frame for frame in run.moments if frame / run.fps <= seconds + 1e-9 and frame < run.done]
    return (run, max(frames)) if frames and max(frames) > 0 else None
