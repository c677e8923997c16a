"""Moments between frames: where everything is then, as it was simulated, for takes of another frame rate."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from impel.kernel import Floats2, kernel, replace, struct
from impel.motion.orientations import conjugate_quaternions, matrix_from_quaternion, multiply_quaternions
from impel.motion.rotations import conjugate, exponential, get4, logarithm, multiply, scale, set4
from impel.physics.bodies import Bodies
from impel.stage.lines import lines_of
from impel.takes.resampling import frame_times, resampled
from impel.takes.take import Take

if TYPE_CHECKING:
    from impel.stage.performance import Performance

ROUNDING = 1e-9  # s


@struct
class Moments:
    """M times at which the poses of N bodies are asked for; each step that passes some of them writes them down."""

    time: NDArray[np.float64]
    position: Floats2  # (M·N, 3)
    orientation: Floats2  # (M·N, 4)
    done: NDArray[np.int64]  # (1,)


@kernel
def pass_moments(moments, bodies, before, start, dt):
    """Write down the moments of a step from `start` on: cubics that begin and end with the velocities there."""
    if moments is None:
        return
    n = len(bodies.mass)
    while moments.done[0] < len(moments.time) and moments.time[moments.done[0]] <= start + dt + ROUNDING:
        m = moments.done[0]
        u = min(max((moments.time[m] - start) / dt, 0.0), 1.0)
        for i in range(n):
            for k in range(3):
                x, y = before.position[i, k], bodies.position[i, k]
                v, w = before.velocity[i, k] * dt, bodies.velocity[i, k] * dt
                bend = (1.0 - u) * (v - (y - x)) - u * (w - (y - x))
                moments.position[m * n + i, k] = x + u * (y - x) + u * (1.0 - u) * bend
            q = get4(before.orientation, i)
            turn = logarithm(multiply(get4(bodies.orientation, i), conjugate(q)))
            set4(moments.orientation, m * n + i, multiply(exponential(scale(turn, u)), q))
        moments.done[0] = m + 1


def pass_still(moments: Moments, bodies: Bodies, time: float) -> None:
    """Write down the moments until `time` that no step has passed, because nothing moved."""
    n = len(bodies.mass)
    until = int(np.searchsorted(moments.time, time + ROUNDING, side="right"))
    for m in range(int(moments.done[0]), until):
        moments.position[m * n : (m + 1) * n] = bodies.position
        moments.orientation[m * n : (m + 1) * n] = bodies.orientation
    moments.done[0] = max(until, int(moments.done[0]))


def ask_moments(performance: "Performance", fps: float) -> Moments:
    """Have the moments of another frame rate written down while the performance goes on."""
    pace, bodies = performance.compiled.pace, performance.stage.bodies
    time = frame_times(0.0, (performance.compiled.frames - 1) * pace.frame_seconds, fps)
    rows = len(time) * len(bodies.mass)
    moments = Moments(time, np.zeros((rows, 3)), np.zeros((rows, 4)), np.zeros(1, np.int64))
    performance.events = replace(performance.events, moments=moments)
    pass_still(moments, bodies, 0.0)
    return moments


def at_moments(performance: "Performance", take: Take, moments: Moments, fps: float) -> Take:
    """The take at these moments instead of at its frames: poses as simulated, all else between those of its frames."""
    compiled = performance.compiled
    sampled = resampled(take, fps)
    shape, bodies = (len(moments.time), -1), len(take.names)
    turned = moments.orientation.reshape(*shape, 4)[:, :bodies]
    orientation = multiply_quaternions(turned, conjugate_quaternions(compiled.axes))
    offset = np.einsum("fbij,bj->fbi", matrix_from_quaternion(orientation), compiled.centre)
    sampled.orientation = orientation
    sampled.position = moments.position.reshape(*shape, 3)[:, :bodies] - offset
    broke = {event["subject"]: event["time"] for event in take.events if event["kind"] == "joint broke"}
    joints = performance.stage.joints
    _, sampled.ropes, slack = lines_of(joints, compiled, sampled.time, sampled.position, orientation, broke)
    sampled.channels |= slack
    return sampled
