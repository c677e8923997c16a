"""From a changed number to the motion, against the compiled frames alone: the bird, 10 s, CPU time, the same run.

python benchmarks/live.py
"""

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

from impel.gallery.loading import gallery_scene
from impel.scene.checks import next_scene
from impel.stage import Performance, simulate
from impel.stage.record import place_shapes

SECONDS = 10.0
ROUNDS = 9
FIELD = "actors.bird.move.base_distance"
BARS = {"the whole take": 1.6, "poses from a snapshot": 1.1}
NOISE = 1.05


def cpu(act: Callable[[], None]) -> float:
    before = time.process_time()
    act()
    return time.process_time() - before


class Compiled(Performance):
    """Counts the time that goes into compiled frames."""

    spent = 0.0

    def _play(self, every_step: bool = False) -> int:
        before = time.process_time()
        outcome = super()._play(every_step)
        self.spent += time.process_time() - before
        return outcome


def main() -> None:
    warnings.simplefilter("ignore")
    scene = gallery_scene("bird", seconds=SECONDS)
    usual = 0.25
    other = next_scene(scene, FIELD, usual)
    live = Performance(scene)
    start = live.snapshot()
    count = live.compiled.frames
    position, orientation = np.zeros((count, len(live.compiled.cast), 3)), np.zeros((count, len(live.compiled.cast), 4))

    def frames() -> float:
        performance = Compiled(other)
        while performance.frame < count - 1:
            performance.next_frame()
        return performance.spent

    def whole() -> None:
        simulate(next_scene(scene, FIELD, usual))

    def poses() -> None:
        live.restore(start)
        live.change(FIELD, usual)
        compiled = live.compiled
        for frame in range(1, count):
            live.next_frame()
            place_shapes(live.stage.bodies, compiled.centre, compiled.axes, position[frame], orientation[frame])

    whole(), poses()  # compiles
    rounds = [(frames(), cpu(whole), cpu(poses)) for _ in range(ROUNDS)]
    least = np.min(rounds, axis=0)
    print(f"compiled frames: {1e3 * least[0]:.0f} CPU ms")
    missed = 0
    for (name, bar), spent in zip(BARS.items(), least[1:], strict=True):
        ratio = spent / least[0]
        missed += ratio > bar * NOISE
        print(f"from a changed number to {name}: {1e3 * spent:.0f} CPU ms, {ratio:.2f} times that (at most {bar})")
    copies = min(cpu(lambda: live.restore(live.snapshot())) for _ in range(50))
    print(f"snapshot and restore: {1e6 * copies:.0f} µs, {live.memory.values.nbytes / 1e3:.0f} kB of state")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
