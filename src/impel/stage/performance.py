"""A scene while it is being played: Python runs once a frame; everything between is one compiled call."""

import copy
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from impel.complaints import say
from impel.files import Problem
from impel.kernel import fields_of, replace
from impel.physics.broadphase import grow
from impel.physics.sleep import rouse_all
from impel.physics.verdicts import REASONS
from impel.scene import Scene
from impel.scene.changing import Change
from impel.scene.checks import next_scene
from impel.scene.pushes import ROUNDING, Push, led, push_problems
from impel.scene.scene import SUBJECT
from impel.stage.apart import Watch
from impel.stage.changing import adopt
from impel.stage.compile import compile_scene
from impel.stage.events import drain, make_events, tell_rough
from impel.stage.footfalls import expect_footfalls
from impel.stage.locked import locked
from impel.stage.moment import Moment
from impel.stage.opening import displaced, overlaps
from impel.stage.pushes import make_pushes
from impel.stage.slow import SLOW, why_slow
from impel.stage.state import Hand, Memory, Stage, exchange, make_clock, remember
from impel.stage.step import BREATHES, FAILED, FRAME_DONE, NEEDS_EVENTS, NEEDS_PAIRS, OPENED, play
from impel.stage.walkers import Walks, go_on

Floats = NDArray[np.float64]
Controller = Callable[[Moment], None]

# What a snapshot keeps by name: each is replaced when it changes, never changed itself.
PASSED_ON = ("first", "scene", "changes", "made", "compiled", "frame")


class Performance:
    """The present state of a scene, and the way to its next frame."""

    def __init__(self, scene: Scene, *, source: str = "scene") -> None:
        self.first = scene.model_copy(deep=True)  # as it was given
        stage, self.compiled = compile_scene(self.first, source=source)
        self.scene = self.first  # as it is now
        self.changes = tuple(sorted(scene.changes, key=lambda change: change.time))
        self.made = 0  # of these changes
        self.source = source
        self.memory = remember(stage)
        self.clock = make_clock()
        self.frame = 0
        self.told: list[dict[str, Any]] = []  # events so far
        self.events = make_events(self.stage)
        self.watch = Watch()
        self.walks = self.compiled.troupe.walks.copied()
        while self._play() != OPENED:
            self._make_room()
        if self.stage.contacts is not None and self.stage.contacts.touching.any():
            # What overlaps is pushed apart in short steps.
            self.clock.level[0] = self.compiled.pace.deepest - self.compiled.pace.reserve
        # What the animator should know of the start, one line each.
        self.doubts = [
            *displaced(self.stage, self.compiled, scene),
            *locked(self.compiled, scene),
            *overlaps(self.stage, self.compiled.bodies, source),
        ]

    @property
    def stage(self) -> Stage:
        return self.memory.now

    @property
    def time(self) -> float:
        return float(self.frame * self.compiled.pace.frame_seconds)

    def next_frame(self, controller: Controller | None = None, *, every_step: bool = False) -> None:
        """Go on by one frame; `controller` is called before it, or before each of its steps."""
        while self.made < len(self.changes) and self.changes[self.made].time <= self.time + ROUNDING:
            self._make(self.changes[self.made])
        if controller is not None and self.stage.hand is None:
            self._lend_a_hand()
        moment = Moment(self) if controller is not None else None
        clock = self.clock
        clock.frame_start[0] = clock.begin[0] = self.time
        clock.part[0], clock.tick[0], clock.tries[0], clock.toil[0] = 0.0, 0, 0, 0.0
        ask, walked = True, not self.walks.states
        begun, told, said = time.monotonic(), len(self.told), False
        while True:
            if controller is not None and moment is not None and ask:
                controller(moment)
            if not walked:
                self.told += self._walk()
                walked = True
            outcome = self._play(every_step)
            if self.events.count[0] > 0:
                self.told += self._drained()
            ask = every_step and outcome not in (NEEDS_EVENTS, NEEDS_PAIRS, BREATHES)
            seconds = time.monotonic() - begun
            if seconds > SLOW and not said:
                warnings.warn(f"{self.source}: {why_slow(self, seconds, told)}", stacklevel=2)
                said = True
            if outcome == FRAME_DONE:
                break
            if outcome == NEEDS_PAIRS:
                self._make_room()
            elif outcome == FAILED:
                raise Problem(
                    f"{self.source}: the motion breaks down at {self.now:.3f} s "
                    f"({REASONS[self.clock.reason[0]] or 'not a number'}); "
                    "softer coatings, less strength or a shorter world.step may help"
                )
        self.frame += 1
        if self.walks.states:
            self.told[told:] = sorted(self.told[told:], key=lambda event: event["time"])
        if clock.apart[0] == 1 or self.watch.open:
            self.watch.look(self.compiled, self.stage, self.time, self.told)

    def story(self) -> list[dict[str, Any]]:
        """All events so far, and what is still going on."""
        if self.clock.forced[0] == 0:
            return list(self.told)
        tell_rough(self.events, self.clock, self.time)
        return [*self.told, *self._drained()]

    def change(self, field: str, value: Any = None) -> None:
        """Change a field of the scene from this frame on: `change("actors.arm.move.speed", 2)`; None takes it out.

        Raises `Problem`, and changes nothing, if it cannot be this, or not while the scene plays.
        """
        entry = {"time": self.time, "field": field, "value": value}
        (change,) = self._checked(len(self.changes), changes=[entry]).changes
        self._make(change)
        self.changes = (*self.changes[: self.made - 1], change, *self.changes[self.made - 1 :])

    def push(self, body: str, **fields: Any) -> int:
        """Push a body from this frame on: with a `force`, or with a `spring` that pulls it `to` a place.

        The fields are those of `pushes` in a scene; give `until`, or `release` it by the number that is returned.
        """
        to: Any = fields.get("to")
        if hasattr(to, "__len__") and not any(hasattr(part, "__len__") for part in to):  # one place
            fields["to"] = [[self.time, *to]]
        self._push(len(self.scene.pushes), {"body": body, "from": self.time, **fields}, earliest=self.time)
        return len(self.scene.pushes) - 1

    def pull(self, number: int, to: Sequence[float]) -> None:
        """Lead the spring of a push to a place where it will be in the next frame."""
        push = self._pushed(number)
        later = (self.frame + 1) * self.compiled.pace.frame_seconds
        way = led(push.to or [], self.time, later, to)
        self._push(number, push.model_dump(by_alias=True, exclude_none=True) | {"to": way})

    def release(self, number: int) -> None:
        """End a push now."""
        push = self._pushed(number)
        end = max(self.time, push.from_)
        if push.until is None or push.until > end:
            self._push(number, push.model_dump(by_alias=True, exclude_none=True) | {"until": end})

    def to_scene(self) -> Scene:
        """The scene with all that was changed and pushed so far, in which the same happens by itself."""
        done = {"pushes": self.scene.pushes, "changes": list(self.changes)}
        return self.first.model_copy(update=done).model_copy(deep=True)

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
            walks=self.walks.copied(),
            others={name: getattr(self, name) for name in PASSED_ON},
        )

    def restore(self, snapshot: "Snapshot") -> None:
        """Go back, or ahead, to the moment of a snapshot, which may be of another performance."""
        if snapshot.memory is not self.memory:
            own = snapshot.of is self  # which never plays with two memories at once
            self.memory = snapshot.memory if own else remember(copy.deepcopy(snapshot.memory.now))
            self.events = make_events(self.stage)
        self.memory.values[:] = snapshot.values
        arrays = [*self.memory.kept, *fields_of(self.clock).values()]
        for array, then in zip(arrays, [*snapshot.kept, *snapshot.clock], strict=True):
            array[...] = then
        self.told = list(snapshot.told)
        self.watch.open = snapshot.open
        self.walks = snapshot.walks.copied()
        self.__dict__.update(snapshot.others)

    def join(self, snapshot: "Snapshot") -> bool:
        """Go on from a moment of another performance, whose scene has been the same until then; can it be done?

        Not where that was changed while it played: what it then had is not what this scene says.
        """
        room = snapshot.memory.now.contacts
        while room is not None and self.stage.contacts is not None and len(self.stage.contacts.pair) < len(room.pair):
            self._make_room()
        there = [snapshot.values, *snapshot.kept]
        here = [self.memory.values, *self.memory.kept]
        if snapshot.others["made"] > 0 or [a.shape for a in here] != [a.shape for a in there]:
            return False
        clock = fields_of(self.clock).values()
        for array, then in zip([*here, *clock], [*there, *snapshot.clock], strict=True):
            array[...] = then
        self.told, self.watch.open, self.frame = list(snapshot.told), snapshot.open, snapshot.others["frame"]
        self.walks = snapshot.walks.copied()
        return True

    def branch(self) -> Self:
        """Another performance that begins at this moment and goes its own way."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.memory = remember(copy.deepcopy(self.stage))
        other.events, other.clock, other.watch = make_events(other.stage), make_clock(), Watch()
        other.restore(self.snapshot()._replace(memory=other.memory))
        return other

    def __copy__(self) -> Self:
        return self.branch()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.branch()

    def _make(self, change: Change) -> None:
        """Let a change happen."""
        try:
            scene = next_scene(self.scene, change.field, change.value)
            parts, self.compiled = adopt(self.stage, self.compiled, scene, change.field)
        except Problem as problem:
            raise Problem(*(f"{self.source}: {line}" for line in problem.lines)) from None
        self.scene = scene
        self.made += 1
        self.clock.level[0] = min(self.clock.level[0], self.compiled.pace.deepest)
        if parts:
            self._enter(exchange(self.memory, parts))

    def _push(self, number: int, document: dict[str, Any], earliest: float = 0.0) -> None:
        """Put a push in the place of that number, or after the last one."""
        compiled, pushes = self.compiled, list(self.scene.pushes)
        pushes[number : number + 1] = self._checked(number, pushes=[document]).pushes
        where, begin = f"pushes.{number}", pushes[number].from_
        lines = list(push_problems(pushes[number], where, self.scene.bodies))
        if begin < earliest - ROUNDING:
            lines.append(f"{where}.from: must not be before {earliest:.6g}, the present time, got {begin:g}")
        if lines:
            raise Problem(*(f"{self.source}: {line}" for line in lines))
        self.scene = self.scene.model_copy(update={"pushes": pushes})
        index = {name: i for i, name in enumerate(compiled.bodies)}
        self._enter(exchange(self.memory, {"pushes": make_pushes(pushes, index, compiled.solids, compiled.start)}))

    def _pushed(self, number: int) -> Push:
        if isinstance(number, bool) or number not in range(len(self.scene.pushes)):
            raise Problem(f"{self.source}: pushes: there is none with the number {say(number)}")
        return self.scene.pushes[number]

    def _checked(self, number: int, **entry: Any) -> Scene:
        """Plain data as the only entry of a scene's list, or a `Problem` with that number."""
        try:
            return Scene(**entry)
        except Problem as problem:
            (group,) = entry
            lines = (
                line.removeprefix(f"{SUBJECT}: ").replace(f"{group}.0", f"{group}.{number}", 1)
                for line in problem.lines
            )
            raise Problem(*(f"{self.source}: {line}" for line in lines)) from None

    def _enter(self, memory: Memory) -> None:
        """Go on with another stage."""
        self.memory = memory
        self.events = make_events(self.stage, self.events.moments)

    def _lend_a_hand(self) -> None:
        """Make room for what a controller gives. From now on nobody sleeps: it may push anybody at any time."""
        rouse_all(self.stage.bodies)
        bodies = replace(self.stage.bodies, restless=np.ones_like(self.stage.bodies.restless))
        hand = Hand(np.zeros_like(bodies.push), np.zeros_like(bodies.twist))
        self._enter(remember(replace(self.stage, bodies=bodies, hand=hand)))

    def _play(self, every_step: bool = False) -> int:
        now, before, values, saved, _ = self.memory
        return int(play(now, before, values, saved, self.events, self.clock, self.compiled.pace, every_step))

    def _walk(self) -> list[dict[str, Any]]:
        """Let the walkers of the scene go on for a frame; what happens on their way."""
        if self.stage.followers is None:
            return []
        compiled, until = self.compiled, self.time + self.compiled.pace.frame_seconds
        bodies, followers = self.stage.bodies, self.stage.followers
        told = go_on(compiled.troupe, self.walks, bodies, compiled.bodies, followers, self.time, until)
        if self.stage.actuators is not None and self.scene.appointments:
            expect_footfalls(self.scene, compiled.troupe, self.walks, self.stage.actuators.appointments, until)
        return told

    @property
    def now(self) -> float:
        """The time within the present frame, as far as it has come."""
        ticks = max(int(self.clock.steps[0]) << self.compiled.pace.deepest, 1)
        return float(self.clock.begin[0] + self.clock.part[0] * self.clock.tick[0] / ticks)

    def _drained(self) -> list[dict[str, Any]]:
        compiled = self.compiled
        agreed = list(self.scene.appointments)
        return drain(self.events, compiled.bodies, compiled.joints, compiled.actuators, compiled.keys, agreed)

    def _make_room(self) -> None:
        """More bodies are near each other than there was room for."""
        contacts = self.stage.contacts
        assert contacts is not None
        self._enter(remember(replace(self.stage, contacts=grow(contacts))))


class Snapshot(NamedTuple):
    """A performance between two frames. What is constant is shared with it, for nobody changes that in place."""

    of: Performance
    memory: Memory
    values: Floats
    kept: list[NDArray[Any]]
    clock: list[NDArray[Any]]
    told: list[dict[str, Any]]
    open: dict[int, int]
    walks: Walks
    others: dict[str, Any]
    frames: Any = None  # what was recorded so far, of a performance that keeps them ...
    heard: int = 0  # ... and hands out its events frame by frame
