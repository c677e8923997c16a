"""A hundred bodies that meet goals, against a hundred that fly freely, in steps of MuJoCo's bird.

    python benchmarks/goals.py

Half of the bodies have places to meet, half places and orientations, all on the same beats. CPU time, one thread, the
same run; a step is a step of 1/240 s, in which goals are pursued anew.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import time

import mujoco
import numpy as np

from control import BIRD
from impel import Scene
from impel.stage import Performance

COUNT, SECONDS, BEATS = 100, 4.0, 16
STEPS = 20_000  # of the bird


def flock(with_goals: bool) -> Scene:
    random = np.random.default_rng(1)
    scene = Scene(seconds=SECONDS, step=1 / 240)
    for i in range(COUNT):
        start = np.array([3.0 * (i % 10), 3.0 * (i // 10), 1.0])
        body = scene.body(f"b{i}", box=[0.1, 0.2, 0.3], mass=1, at=start, velocity=[1, 0, 0], collides=False)
        if with_goals:
            angles = np.linspace(0, 2 * math.pi, BEATS + 1)[1:]
            places = start + np.stack([np.sin(angles), 1 - np.cos(angles), 0.1 * random.normal(size=BEATS)], axis=1)
            goals = [{"at": at, "time": SECONDS / BEATS * (k + 1)} for k, at in enumerate(places)]
            if i % 2:
                goals = [goal | {"euler": [0, 10 * (k % 3), 20 * k]} for k, goal in enumerate(goals)]
            body.goals(goals)
    return scene


def played(scene: Scene) -> tuple[float, int]:
    """CPU seconds, and steps that were tried."""
    performance = Performance(scene)
    performance.next_frame()
    begun, steps = time.process_time(), 0
    for _ in range(performance.compiled.frames - 2):
        performance.next_frame()
        steps += int(performance.clock.tries[0])
    return time.process_time() - begun, steps


def bird() -> float:
    """CPU seconds of a step of MuJoCo's bird, in a loop of its own."""
    model = mujoco.MjModel.from_xml_string(BIRD)
    data = mujoco.MjData(model)
    begun = time.process_time()
    mujoco.mj_step(model, data, STEPS)
    return (time.process_time() - begun) / STEPS


def main() -> None:
    rows = []
    for _ in range(4):  # the first compiles
        free, free_steps = played(flock(False))
        led, led_steps = played(flock(True))
        rows.append((free / free_steps, led / free_steps, bird(), led_steps / free_steps))
    free, led, theirs = (1e6 * min(row[k] for row in rows[1:]) for k in range(3))
    each = (led - free) / COUNT
    print(
        f"a step of {COUNT} free bodies takes {free:.1f} µs, of as many with goals {led:.1f} µs: {each:.2f} µs for each"
    )
    print(f"with {rows[0][3]:.2f} tries a step; MuJoCo's bird takes {theirs:.2f} µs")
    meet("goals of a body, over a step of MuJoCo's bird", each / theirs, at_most=0.5)
    end()


if __name__ == "__main__":
    main()
