"""A snake of nine soft links slides over the floor, with its surfaces at 60 frames a second: against real time, and
what a squashed vertex costs against one that is only drawn, in the same run.

    python benchmarks/soft.py

CPU time, one thread, the least of several runs. Drawing is what a picture does for each vertex before it paints: to put
it and its normal into the world, and it on the screen.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np

from impel import Scene
from impel.render.camera import camera_matrix
from impel.render.raster import clipped
from impel.render.scenery import placed, prepare
from impel.stage import Performance
from impel.stage.record import Recorder

LINKS, RADIUS, LENGTH, MASS, SPEED = 9, 0.06, 0.3, 0.3, 2.0
STIFFNESS = 4e4  # N/m³: each link is pressed in by a tenth of its radius
SECONDS, FPS, REPEATS = 10, 60, 5
ANGLES = np.radians([35.0 if i % 2 else -35.0 for i in range(LINKS)])
SIZE = (640, 360)


def snake() -> Scene:
    scene = Scene(seconds=SECONDS, fps=FPS)
    scene.body("floor", plane={}, fixed=True)
    scene.body("post", cylinder={"radius": 0.25, "length": 0.5}, fixed=True, at=[3.3, 0.1, 0.25])
    steps = LENGTH * np.column_stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(LINKS)])
    ends = np.vstack([np.zeros(3), np.cumsum(steps, axis=0)]) + np.array([0, 0, RADIUS])
    for i, angle in enumerate(np.degrees(ANGLES)):
        scene.body(
            f"link{i}", capsule={"radius": RADIUS, "length": LENGTH}, mass=MASS, at=(ends[i] + ends[i + 1]) / 2,
            euler=[0, 90, angle], velocity=[SPEED, 0, 0], coating={"friction": 0.5, "stiffness": STIFFNESS},
        )  # fmt: skip
        if i:
            scene.joint(f"joint{i}", ball=[f"link{i - 1}", f"link{i}"], at=ends[i])
    return scene


def main() -> None:
    played, softened, drawn = [], [], []
    for _ in range(REPEATS):
        performance = Performance(snake())
        recorder = Recorder(performance)
        recorder.write_frame()
        start = time.process_time()
        for _ in range(SECONDS * FPS):
            performance.next_frame()
            recorder.write_frame()
        played.append(time.process_time() - start)
        start = time.process_time()
        take = recorder.take()
        softened.append(time.process_time() - start)
        film = prepare(take, SIZE)
        matrix = camera_matrix(film.shot, 0, SIZE, 4)
        start = time.process_time()
        for frame in range(0, len(take.time), 10):
            vertices, _, _ = placed(film.meshes, film.position[frame], film.orientation[frame])
            clipped(vertices, matrix)
        drawn.append((time.process_time() - start) / len(range(0, len(take.time), 10)) / len(film.meshes.vertices))
    count = sum(len(take.soft[f"link{i}.vertices"]) for i in range(LINKS))
    rows = sum(len(take.soft[f"link{i}.index"]) for i in range(LINKS))
    times = SECONDS / (min(played) + min(softened))
    vertex = min(softened) / (count * len(take.time))
    ratio = vertex / min(drawn)
    print(f"snake of nine soft links, {count} vertices: {times:.0f} x real time at {FPS} frames a second, all included")
    print(f"  ({SECONDS / min(played):.0f} x without surfaces, which are {22e-6 * rows:.0f} MB for {SECONDS} s)")
    print(f"a squashed vertex: {1e9 * vertex:.0f} ns, {ratio:.1f} times the {1e9 * min(drawn):.0f} of drawing it")
    meet("soft snake, times real time", times, at_least=20)
    meet("a squashed vertex, in drawn ones", ratio, at_most=8)
    end()


if __name__ == "__main__":
    main()
