"""A scene while it is being played: Python runs once a frame; everything between is one compiled call."""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.kernel import fields_of, replace
from impel.physics.broadphase import grow
from impel.physics.verdicts import REASONS
from impel.scene import Scene
from impel.stage.apart import Watch
from impel.stage.compile import compile_scene
from impel.stage.events import drain, make_events, tell_rough
from impel.stage.opening import displaced, overlaps
from impel.stage.state import Memory, Stage, make_clock, remember
from impel.stage.step import FAILED, FRAME_DONE, NEEDS_EVENTS, NEEDS_PAIRS, OPENED, play

Floats = NDArray[np.float64]
Controller = Callable[["Moment"], None]

# What a snapshot keeps by name: each is replaced when it changes, never changed itself.
PASSED_ON = ("scene", "compiled", "frame")


class Performance:
    """The present state of a scene, and the way to its next frame."""

    def __init__(self, scene: Scene, *, source: str = "scene", by_hand: bool = False) -> None:
        stage, self.compiled = compile_scene(scene, source=source, by_hand=by_hand)
        self.scene = scene
        self.source = source
        self.memory = remember(stage)
        self.clock = make_clock()
        self.frame = 0
        self.told: list[dict[str, Any]] = []  # events so far
        self.events = make_events(self.stage)
        self.watch = Watch()
        while self._play() != OPENED:
            self._make_room()
        if self.stage.contacts is not None and self.stage.contacts.touching.any():
            # What overlaps is pushed apart in short steps.
            self.clock.level[0] = self.compiled.pace.deepest - self.compiled.pace.reserve
        # What the animator should know of the start, one line each.
        self.doubts = [*displaced(self.stage, self.compiled, scene), *overlaps(self.stage, self.compiled.bodies)]

    @property
    def stage(self) -> Stage:
        return self.memory.now

    @property
    def time(self) -> float:
        return float(self.frame * self.compiled.pace.frame_seconds)

    def next_frame(self, controller: Controller | None = None, *, every_step: bool = False) -> None:
        """Go on by one frame; `controller` is called before it, or before each of its steps."""
        moment = Moment(self) if controller is not None else None
        self.clock.frame_start[0] = self.time
        self.clock.tick[0] = self.clock.tries[0] = 0
        ask = True
        while True:
            if controller is not None and moment is not None and ask:
                controller(moment)
            outcome = self._play(every_step)
            self.told += self._drained()
            ask = every_step and outcome not in (NEEDS_EVENTS, NEEDS_PAIRS)
            if outcome == FRAME_DONE:
                break
            if outcome == NEEDS_PAIRS:
                self._make_room()
            elif outcome == FAILED:
                raise Problem(
                    f"{self.source}: the motion breaks down at {self._now():.3f} s "
                    f"({REASONS[self.clock.reason[0]] or 'not a number'}); "
                    "softer coatings, less strength or a shorter world.step may help"
                )
        self.frame += 1
        self.watch.look(self.compiled, self.stage, self.time, self.told)

    def story(self) -> list[dict[str, Any]]:
        """All events so far, and what is still going on."""
        if self.clock.forced[0] == 0:
            return list(self.told)
        tell_rough(self.events, self.clock, self.time)
        return [*self.told, *self._drained()]

    def snapshot(self) -> "Snapshot":
        """All of this moment between two frames, to `restore` it as often as you like: what follows is the same."""
        return Snapshot(
            of=self,
            memory=self.memory,
            values=self.memory.values.copy(),
            kept=[array.copy() for array in self.memory.kept],
            clock=[array.copy() for array in fields_of(self.clock).values()],
            told=list(self.told),
            open=self.watch.open,
            others={name: getattr(self, name) for name in PASSED_ON},
        )

    def restore(self, snapshot: "Snapshot") -> None:
        """Go back, or ahead, to the moment of a snapshot, which may be of another performance."""
        if snapshot.memory is not self.memory:
            stage = snapshot.memory.now
            self.memory = remember(stage if snapshot.of is self else copy.deepcopy(stage))
            self.events = make_events(self.stage)
        self.memory.values[:] = snapshot.values
        arrays = [*self.memory.kept, *fields_of(self.clock).values()]
        for array, then in zip(arrays, [*snapshot.kept, *snapshot.clock], strict=True):
            array[...] = then
        self.told = list(snapshot.told)
        self.watch.open = snapshot.open
        self.__dict__.update(snapshot.others)

    def branch(self) -> "Performance":
        """Another performance that begins at this moment and goes its own way."""
        other = object.__new__(Performance)
        other.__dict__.update(self.__dict__)
        other.memory = remember(copy.deepcopy(self.stage))
        other.events, other.clock, other.watch = make_events(other.stage), make_clock(), Watch()
        other.restore(self.snapshot()._replace(memory=other.memory))
        return other

    def __copy__(self) -> "Performance":
        return self.branch()

    def __deepcopy__(self, memo: Any) -> "Performance":
        return self.branch()

    def _play(self, every_step: bool = False) -> int:
        now, before, values, saved, _ = self.memory
        return int(play(now, before, values, saved, self.events, self.clock, self.compiled.pace, every_step))

    def _now(self) -> float:
        pace = self.compiled.pace
        return self.time + pace.frame_seconds * float(self.clock.tick[0]) / (pace.steps << pace.deepest)

    def _drained(self) -> list[dict[str, Any]]:
        compiled = self.compiled
        return drain(self.events, compiled.bodies, compiled.joints, compiled.actuators, compiled.keys)

    def _make_room(self) -> None:
        """More bodies are near each other than there was room for."""
        contacts = self.stage.contacts
        assert contacts is not None
        self.memory = remember(replace(self.stage, contacts=grow(contacts)))
        self.events = make_events(self.stage)


class Snapshot(NamedTuple):
    """A performance between two frames. What is constant is shared with it, for nobody changes that in place."""

    of: Performance
    memory: Memory
    values: Floats
    kept: list[NDArray[Any]]
    clock: list[NDArray[Any]]
    told: list[dict[str, Any]]
    open: dict[int, int]
    others: dict[str, Any]


class Moment:
    """What a controller of your own sees, and what it can do: read the bodies, push and twist them."""

    def __init__(self, performance: Performance) -> None:
        self._performance = performance
        self._bodies = {name: i for i, name in enumerate(performance.compiled.bodies)}

    def _index(self, body: str) -> int:
        if body not in self._bodies:
            raise Problem(f"{body}: is not a body of this scene; there are {', '.join(self._bodies)}")
        return self._bodies[body]

    @property
    def time(self) -> float:
        return self._performance._now()

    def position(self, body: str) -> Floats:
        """Its centre of mass, in metres."""
        return self._performance.stage.bodies.position[self._index(body)].copy()

    def orientation(self, body: str) -> Floats:
        """Its principal axes as a quaternion (w, x, y, z)."""
        return self._performance.stage.bodies.orientation[self._index(body)].copy()

    def velocity(self, body: str) -> Floats:
        """In m/s."""
        return self._performance.stage.bodies.velocity[self._index(body)].copy()

    def spin(self, body: str) -> Floats:
        """In radians/s about the world's axes."""
        return self._performance.stage.bodies.spin[self._index(body)].copy()

    def push(self, body: str, force: Sequence[float]) -> None:
        """Push its centre of mass with a force in newtons, until told otherwise."""
        hand = self._performance.stage.hand
        assert hand is not None
        hand.push[self._index(body)] = force

    def twist(self, body: str, torque: Sequence[float]) -> None:
        """Twist it with a torque in newton metres, until told otherwise."""
        hand = self._performance.stage.hand
        assert hand is not None
        hand.twist[self._index(body)] = torque
