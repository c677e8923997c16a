"""Everything that one compiled call needs, and the one buffer that a rollback restores."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.control.actuators import Actuators
from impel.kernel import Floats2, replace, struct, structs_in
from impel.physics.bodies import Bodies
from impel.physics.contact import Contacts
from impel.physics.follow import Followers
from impel.physics.joints import Joints
from impel.stage.handles import Handles
from impel.stage.pushes import Pushes
from impel.stage.script import Script

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@struct
class Stage:
    """A compiled scene. What a scene does not use is None."""

    bodies: Bodies
    followers: Followers | None
    joints: Joints | None
    displaced: int | None  # 1: joints are held by the paper's displacements, corrected ...
    printed: int | None  # 1: ... or as printed; else by RATTLE
    contacts: Contacts | None
    actuators: Actuators | None
    handles: Handles | None  # room for what actuators ask the others
    pushes: Pushes | None
    script: Script | None
    hand: "Hand | None"
    gravity: tuple[float, float, float]
    drag: float


@struct
class Hand:
    """Forces and torques by the user's own controller, held until it gives others."""

    push: Floats2  # (N, 3)
    twist: Floats2  # (N, 3)

    KEPT = ("push", "twist")


@struct
class Clock:
    """Where in the frame the simulation is, and how it got there. One number each, kept in arrays to be changed."""

    opened: Integers  # 1 once everything is in place for time 0
    frame_start: Floats  # s
    # 1 if control is to be evaluated anew, for what holds an actor has changed; 2 if only what it stands on is shaky:
    # how that answers is still known.
    stirred: Integers
    held_for: Floats  # s: how long control has been held; 0 before the first step
    begin: Floats  # s: when the present part of the frame began, see landing.py ...
    part: Floats  # s: ... how long it is; 0 before the first ...
    steps: Integers  # ... in so many coarsest steps ...
    lands: Integers  # ... and 1 if a goal is due at its end
    amended: Integers  # how often the present step was tried again to get there ...
    off_by: Floats  # m or rad: ... and how far off the best try was
    tick: Integers  # of the part, see step.play
    level: Integers  # how often the coarsest step is halved now
    good: Integers  # steps since the last change of level
    patience: Integers  # how many of them it takes until a longer step is tried
    grown: Integers  # 1 if the last change was for a longer one
    rejected: Integers  # tries of the present step that were taken back
    reason: Integers  # the last verdict against one of them
    forced: Integers  # the verdict on the first of a run of steps that were taken because none shorter was possible
    rough_steps: Integers  # how many there were in this run
    unheld: Integers  # how many steps in a row were taken in which joints did not hold
    tries: Integers  # how many steps of the frame were tried ...
    toil: Floats  # ... and how many more could have been in the time that hard ones took
    rough_since: Floats  # s: when this run began ...
    rough_at: Integers  # ... and where: at a joint, or with two bodies
    rough_with: Integers
    apart: Integers  # 1 if a joint is apart at the end of the frame


@struct
class Pace:
    """How a frame is divided."""

    frame_seconds: float
    steps: int  # coarsest steps in a frame
    deepest: int  # how often they may be halved; 0 for a fixed step
    reserve: int  # how many of these halvings are for joints only
    tries: int  # after which no step of a frame is halved for joints


def make_clock() -> Clock:
    return Clock(*(np.zeros(1, float if kind is Floats else np.int64) for kind in Clock.__annotations__.values()))


class Memory(NamedTuple):
    """A stage whose changing arrays are views of one buffer, and its state before the present step."""

    now: Stage
    before: Stage
    values: Floats
    saved: Floats
    kept: list[NDArray[Any]]  # of `now`: what changes only between steps


def remember(stage: Stage) -> Memory:
    """Move all that a step may change into one buffer, so that a snapshot or a rollback is one copy.

    What changes is what a struct, or one within it, names in its STATE; what changes only between steps, in its KEPT.
    All else is constant or scratch, and is shared with the stage that was given.
    """
    size = sum(array.size for array in _named(stage, "STATE"))
    values, saved = np.zeros(size), np.zeros(size)
    now, _ = _moved(stage, values, 0, keeps=True)
    before, _ = _moved(now, saved, 0, keeps=False)
    return Memory(now, before, values, saved, list(_named(now, "KEPT")))


def exchange(memory: Memory, parts: dict[str, Any]) -> Memory:
    """The same state with other constants: parts of the stage, each of which takes over the state of the present one.

    Both memories have the one state, so that only one of them is ever played with. (Of `before`, only state is read.)
    """
    now = memory.now
    taken = {name: _taking_over(part, getattr(now, name)) for name, part in parts.items()}
    if any(
        _sizes(_named(part, "STATE")) != _sizes(_named(getattr(now, name), "STATE")) for name, part in parts.items()
    ):
        return remember(replace(now, **taken))
    return memory._replace(now=replace(now, **taken))


def _sizes(arrays: Iterable[NDArray[Any]]) -> list[tuple[int, ...]]:
    return [array.shape for array in arrays]


def _taking_over(part: Any, present: Any) -> Any:
    if part is None or present is None:
        return part
    state = [*getattr(part, "STATE", ()), *getattr(part, "KEPT", ())]
    taken = {name: getattr(present, name) for name in state}
    if _sizes(taken.values()) != _sizes(getattr(part, name) for name in state):  # it brings its own
        taken = {}
    taken |= {name: _taking_over(inner, getattr(present, name)) for name, inner in _groups(part)}
    return replace(part, **taken) if taken else part


def _moved(group: Any, buffer: Floats, start: int, keeps: bool) -> tuple[Any, int]:
    """A group whose state is in the buffer from here on, and who keeps arrays of its own; and where the next begins."""
    changed: dict[str, Any] = {}
    for name in getattr(group, "STATE", ()):
        array = getattr(group, name)
        view = buffer[start : start + array.size].reshape(array.shape)
        view[...] = array
        changed[name] = view
        start += array.size
    for name in getattr(group, "KEPT", ()) if keeps else ():
        changed[name] = getattr(group, name).copy()
    for name, inner in _groups(group):
        moved, start = _moved(inner, buffer, start, keeps)
        if moved is not inner:
            changed[name] = moved
    return (replace(group, **changed) if changed else group), start


def _named(group: Any, names: str) -> Iterator[NDArray[Any]]:
    """The arrays that a group, and each within it, names so."""
    if group is None:
        return
    for name in getattr(group, names, ()):
        yield getattr(group, name)
    for _, inner in _groups(group):
        yield from _named(inner, names)


def _groups(group: Any) -> list[tuple[str, Any]]:
    """The structs within one, with the one that has room for more than it holds at the end: see `step.copy`."""
    inner = [(name, value) for name, value in structs_in(group).items() if value is not None]
    return sorted(inner, key=lambda item: item[0] == "contacts")
