"""A scene while it is being played: Python runs once a frame; everything between is one compiled call."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.kernel import replace
from impel.physics.broadphase import grow
from impel.physics.verdicts import REASONS
from impel.scene import Scene
from impel.stage.apart import Watch
from impel.stage.compile import compile_scene
from impel.stage.events import drain, make_events, tell_rough
from impel.stage.opening import displaced, overlaps
from impel.stage.state import Stage, make_clock, remember
from impel.stage.step import FAILED, FRAME_DONE, NEEDS_EVENTS, NEEDS_PAIRS, OPENED, play

Floats = NDArray[np.float64]
Controller = Callable[["Moment"], None]


class Performance:
    """The present state of a scene, and the way to its next frame."""

    def __init__(self, scene: Scene, *, source: str = "scene", by_hand: bool = False) -> None:
        self.compiled = compile_scene(scene, source=source, by_hand=by_hand)
        self.source = source
        self.memory = remember(self.compiled.stage)
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
        self.doubts = [*displaced(self.compiled, scene), *overlaps(self.stage, self.compiled.bodies)]

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
            self._drain()
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
        self.told += self.watch.look(self.compiled, self.stage, self.time)

    def finish(self) -> None:
        """Tell what is still going on."""
        if self.clock.forced[0] != 0:
            tell_rough(self.events, self.clock, self.time)
            self._drain()

    def _play(self, every_step: bool = False) -> int:
        return int(play(*self.memory, self.events, self.clock, self.compiled.pace, every_step))

    def _now(self) -> float:
        pace = self.compiled.pace
        return self.time + pace.frame_seconds * float(self.clock.tick[0]) / (pace.steps << pace.deepest)

    def _drain(self) -> None:
        compiled = self.compiled
        self.told += drain(self.events, compiled.bodies, compiled.joints, compiled.actuators, compiled.keys)

    def _make_room(self) -> None:
        """More bodies are near each other than there was room for."""
        contacts = self.stage.contacts
        assert contacts is not None
        self.memory = remember(replace(self.stage, contacts=grow(contacts)))
        self.events = make_events(self.stage)


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
