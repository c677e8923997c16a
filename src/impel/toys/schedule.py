"""Which trial runs in which lane, and which pose it is in: the part that every figure's simulator shares.

This text is copied into each figure's generated module below its constants and its own `steps`, because a
compiled function that calls another one given as an argument cannot be cached. It never runs from here.
"""

import math
from typing import Any

import numpy as np

from impel.kernel import kernel

# Stand-ins for what the generated module defines.
LANES = 8
ROWS = SAVED = SIZE = JOINTS = TARGET = TORQUE = WORK = HEIGHT = RATE = STIFFNESS = DAMPING = FRICTION = FORCE = 0
ALIVE = STEP = 0
steps: Any = None


@kernel
def trials(first, last, step, poses, times, sensors, linear, seconds, starts, gains, samples, stride, results):
    """Run the trials first..last-1, eight at a time; a lane that finishes takes the next trial.

    Every arc is cut into whole steps of at most `step` seconds, so no time is rounded. Samples are taken every
    `stride` steps, or at the start of every cycle if stride is 0. No trial depends on the lanes beside it.
    """
    s = np.zeros(ROWS * LANES)
    trial = np.full(LANES, -1)
    pose = np.zeros(LANES, np.int64)
    in_arc = np.zeros(LANES, np.int64)  # steps left
    to_sample = np.zeros(LANES, np.int64)
    sampled = np.zeros(LANES, np.int64)
    left = np.zeros(LANES)  # seconds of the trial beyond this arc
    pose_count = poses.shape[1]
    sample_count = samples.shape[1]
    following = first
    running = 0
    sensing = False
    for t in range(first, last):
        for p in range(pose_count):
            if sensors[t, p] != 0:
                sensing = True

    while True:
        for lane in range(LANES):  # refill
            if trial[lane] >= 0 or following >= last:
                continue
            t = following
            following += 1
            running += 1
            trial[lane] = t
            for row in range(ROWS):
                s[LANES * row + lane] = 0.0
            for row in range(2 * SIZE):
                s[LANES * row + lane] = starts[t, row]
            for j in range(JOINTS):
                s[LANES * (STIFFNESS + j) + lane] = gains[t, j]
                s[LANES * (DAMPING + j) + lane] = gains[t, JOINTS + j]
            s[LANES * FRICTION + lane] = gains[t, 2 * JOINTS]
            s[LANES * ALIVE + lane] = 1.0
            left[lane] = seconds[t]
            pose[lane] = -1
            in_arc[lane] = 0
            sampled[lane] = 0
            to_sample[lane] = 0
        if running == 0:
            break

        # Change pose and sample; then run until the next lane needs either.
        burst = 1 << 40
        for lane in range(LANES):
            t = trial[lane]
            if t < 0:
                continue
            leaves = in_arc[lane] == 0
            if not leaves and sensors[t, pose[lane]] != 0 and s[LANES * STEP + lane] > 0.0:
                sensor = sensors[t, pose[lane]]
                touching = s[LANES * (FORCE + abs(sensor) - 1) + lane] > 0.0
                leaves = touching if sensor > 0 else not touching
                if leaves:  # the rest of the arc goes back to the trial
                    left[lane] += in_arc[lane] * s[LANES * STEP + lane]
            cycle_starts = leaves and (pose[lane] < 0 or pose[lane] == pose_count - 1)
            if leaves:
                pose[lane] = (pose[lane] + 1) % pose_count
                time = times[t, pose[lane]]
                run = min(time, left[lane])
                in_arc[lane] = max(1, math.ceil(run / step - 1e-9))
                s[LANES * STEP + lane] = run / in_arc[lane]
                left[lane] -= run
                after = (pose[lane] + 1) % pose_count
                for j in range(JOINTS):
                    wished = poses[t, pose[lane], j]
                    s[LANES * (TARGET + j) + lane] = wished
                    change = (poses[t, after, j] - wished) * s[LANES * STEP + lane] / time
                    s[LANES * (RATE + j) + lane] = change if linear else 0.0
            if sampled[lane] < sample_count:
                if (stride > 0 and to_sample[lane] == 0) or (stride == 0 and cycle_starts):
                    for row in range(SAVED):
                        samples[t, sampled[lane], row] = s[LANES * row + lane]
                    sampled[lane] += 1
                    to_sample[lane] = stride
                if stride > 0:
                    burst = min(burst, to_sample[lane])
            burst = min(burst, in_arc[lane])
        if sensing:
            burst = 1
        steps(s, burst)

        for lane in range(LANES):
            t = trial[lane]
            if t < 0:
                continue
            in_arc[lane] -= burst
            to_sample[lane] -= burst
            fallen = s[LANES * ALIVE + lane] == 0.0
            over = in_arc[lane] == 0 and left[lane] <= 1e-9 and not fallen
            if over or fallen:
                due = to_sample[lane] == 0 if stride > 0 else pose[lane] == pose_count - 1
                if over and due and sampled[lane] < sample_count:
                    for row in range(SAVED):
                        samples[t, sampled[lane], row] = s[LANES * row + lane]
                for row in range(SAVED):
                    # What a fallen figure's motors and ground do while its neighbours go on is nobody's.
                    idle = not over and ((TORQUE <= row < WORK) or (FORCE <= row < HEIGHT))
                    results[t, row] = 0.0 if idle else s[LANES * row + lane]
                trial[lane] = -1
                running -= 1
                s[LANES * ALIVE + lane] = 0.0
