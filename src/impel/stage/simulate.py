"""From a scene to a take."""

import warnings
from collections.abc import Callable
from typing import Literal

from impel.complaints import say
from impel.files import Problem
from impel.scene import Scene, problems
from impel.stage.moments import ask_moments, at_moments, pass_still
from impel.stage.performance import Controller, Performance
from impel.stage.record import Recorder
from impel.takes import Take


def simulate(
    scene: Scene,
    *,
    controller: Controller | None = None,
    every: Literal["frame", "step"] = "frame",
    fps: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    source: str = "scene",
) -> Take:
    """Let physics decide how a scene happens.

    `controller` is your own code: it is called with a `Moment` before each frame, or before each step if
    `every="step"` (slower), and may push and twist bodies. `fps` gives the take another
    frame rate than the scene's, with the same motion. `progress` is called with the frames done and in all.
    Raises `Problem` if the scene cannot be simulated, with lines that begin with `source`.
    """
    if controller is not None and not callable(controller):
        raise Problem(f"controller: must be a function that takes a Moment, got {say(controller)}")
    if every not in ("frame", "step"):
        raise Problem(f"every: must be 'frame' or 'step', got {say(every)}")
    lines = problems(scene)
    if lines:
        raise Problem(*(f"{source}: {line}" for line in lines))
    performance = Performance(scene, source=source)
    for line in performance.doubts:
        warnings.warn(f"{source}: {line}", stacklevel=2)
    recorder = Recorder(performance)
    recorder.write_frame()
    moments = None if fps is None or fps == scene.world.fps else ask_moments(performance, fps)
    for _ in range(performance.compiled.frames - 1):
        performance.next_frame(controller, every_step=every == "step")
        recorder.write_frame()
        if moments is not None:
            pass_still(moments, performance.stage.bodies, performance.time)
        if progress:
            progress(performance.frame, performance.compiled.frames - 1)
    if moments is None or fps is None:
        return recorder.take()
    return recorder.soften(at_moments(performance, recorder.take(softened=False), moments, fps))
