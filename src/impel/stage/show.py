"""A performance to look at while it goes on."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.scene import Scene, problems
from impel.stage.performance import Controller, Performance, Snapshot
from impel.stage.record import Recorder
from impel.takes import Take

Floats = NDArray[np.float64]


class Frame(NamedTuple):
    """Where everything is at a moment."""

    number: int  # the first is 0
    time: float  # s
    position: Floats  # (N, 3) of each shape's origin, in the order of `Show.names`
    orientation: Floats  # (N, 4)
    events: list[dict[str, Any]]  # since the frame before


def play(scene: Scene, *, source: str = "scene") -> "Show":
    """Play a scene frame by frame: `for frame in play(scene)`. In between you may change it, push its bodies, go back.

    Raises `Problem` if the scene cannot be simulated, with lines that begin with `source`.
    """
    lines = problems(scene)
    if lines:
        raise Problem(*(f"{source}: {line}" for line in lines))
    show = Show(scene, source=source)
    for line in show.doubts:
        warnings.warn(f"{source}: {line}", stacklevel=2)
    return show


class Show(Performance):
    """A performance that hands out its frames and keeps them for a take."""

    def __init__(self, scene: Scene, *, source: str = "scene") -> None:
        super().__init__(scene, source=source)
        self.heard = 0  # events before the present frame
        self.recorder = Recorder(self)
        self.recorder.write_frame()

    @property
    def names(self) -> list[str]:
        """The bodies, in the order of a frame."""
        return list(self.compiled.cast)

    def __iter__(self) -> Iterator[Frame]:
        """The present frame, then the following ones up to the end of the scene."""
        while True:
            position, orientation = self.recorder.position[self.frame], self.recorder.orientation[self.frame]
            yield Frame(self.frame, self.time, position.copy(), orientation.copy(), self.told[self.heard :])
            if self.frame >= self.compiled.frames - 1:
                return
            self.next_frame()

    def take(self) -> Take:
        """The frames so far; call it whenever and as often as you like."""
        return self.recorder.take()

    def snapshot(self) -> Snapshot:
        frames = self.recorder.written(self.frame + 1).kept()
        return super().snapshot()._replace(frames=frames, heard=self.heard)

    def restore(self, snapshot: Snapshot) -> None:
        if snapshot.frames is None:
            raise Problem(f"{self.source}: a show goes on only from the snapshot of a show, which keeps its frames")
        super().restore(snapshot)
        self.heard = snapshot.heard
        self.recorder = Recorder(self)
        self.recorder.write_again(snapshot.frames)

    def next_frame(self, controller: Controller | None = None, *, every_step: bool = False) -> None:
        if self.frame >= self.compiled.frames - 1:
            raise Problem(f"{self.source}: ends at {self.time:g} s (world.seconds): there is no next frame")
        self.heard = len(self.told)
        super().next_frame(controller, every_step=every_step)
        self.recorder.write_frame()
