"""What meshes cost: thirty odd things in a bin against thirty boxes of the same masses, and baking a file.

    python benchmarks/meshes.py

CPU time, one thread, the least of three runs.
"""

import os

from _bars import end, meet

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
from pathlib import Path

import numpy as np

from impel import Scene
from impel.gallery.entries.odd_things import bin_of_odd_things
from impel.gallery.odd_things import ring, write_mesh
from impel.geometry import baking
from impel.kernel import shelf
from impel.stage import Performance


def as_boxes(scene):
    """The same scene with a box in place of each thing."""
    boxes = Scene(seconds=4)
    for name, body in scene.bodies.items():
        fields = body.model_dump(exclude_none=True, exclude_defaults=True)
        if name.startswith("thing"):
            side = 0.2 * (body.mass / 2) ** (1 / 3)
            fields["shape"] = {"box": [side] * 3}
        boxes.body(name, **fields)
    return boxes


def seconds_of(scene):
    best = np.inf
    for _ in range(3):
        performance = Performance(scene)
        start = time.process_time()
        for _ in range(performance.compiled.frames - 1):
            performance.next_frame()
        best = min(best, time.process_time() - start)
    fastest = float(np.linalg.norm(performance.stage.bodies.velocity, axis=1).max())
    return best, fastest


def baked(path, keep):
    baking._baked.cache_clear()
    start = time.process_time()
    read, write = shelf.read, shelf.write
    if not keep:
        shelf.read, shelf.write = (lambda name: None), (lambda name, data: None)
    try:
        baking.bake({"mesh": {"file": path}})
    finally:
        shelf.read, shelf.write = read, write
    return time.process_time() - start


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        things, still = seconds_of(scene := bin_of_odd_things(Path(folder)))
        boxes, _ = seconds_of(as_boxes(scene))
        print(
            f"thirty odd things in a bin, 4 s: {things:.2f} CPU s, boxes of the same masses {boxes:.2f}, ratio "
            f"{things / boxes:.1f} (wanted at most 8); fastest at the end {1e3 * still:.3f} mm/s"
        )
        fine = ring().refine(3)  # 36 864 triangles
        path = write_mesh(fine, Path(folder) / "fine.obj")
        baked(path, keep=True)
        fresh, kept = (min(baked(path, keep) for _ in range(3)) for keep in (False, True))
        print(
            f"{fine.num_tri()} triangles: baked in {fresh:.2f} CPU s (wanted at most 1), from the cache in "
            f"{1e3 * kept:.0f} ms (wanted at most 50)"
        )
    meet("meshes, against boxes", things / boxes, at_most=8)
    meet("meshes, baking", fresh, at_most=1)
    meet("meshes, from the cache", kept, at_most=0.05)
    end()
