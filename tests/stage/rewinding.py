"""Goes back to random moments of a performance and plays on: `make rewind` does it for all kinds of scenes."""

import copy
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from impel import Scene, load_scene
from impel.gallery.loading import gallery_scene
from impel.stage import Performance

ROOT = Path(__file__).parents[2]
MOMENTS = 20


def state(performance: Performance) -> bytes:
    """All that the next frame depends on, and what has been told."""
    bodies, contacts = performance.stage.bodies, performance.stage.contacts
    values = performance.memory.values.tobytes() if contacts is None else b""  # else some rows are of pairs that were
    parts = [getattr(bodies, name).tobytes() for name in bodies.STATE]
    return b"".join([values, *parts, repr(performance.story()).encode()])


def differences(scene: Scene, moments: int, seed: int = 7) -> list[str]:
    """Restore random moments in the same performance, in a new one or in a branch: where does what follows differ?"""
    performance = Performance(scene)
    last = performance.compiled.frames - 1
    chosen = random.Random(seed).sample(range(last), moments)
    snapshots, states = [], []
    for frame in range(last):
        if frame in chosen:
            snapshots.append(performance.snapshot())
        performance.next_frame()
        states.append(state(performance))
    found = []
    for i, snapshot in enumerate(snapshots):
        way = ("the same", "a new one", "a branch")[i % 3]
        again = performance if i % 3 == 0 else Performance(scene)
        again.restore(snapshot)
        if i % 3 == 2:
            again = copy.deepcopy(again)
        start = again.frame
        for frame in range(start, last):
            again.next_frame()
            if state(again) != states[frame]:
                found.append(f"restored at frame {start} in {way}: differs at frame {frame + 1}")
                break
    return found


def hundred_balls(seconds: float = 2.0) -> Scene:
    """Balls that fall into a box, more and more of them near each other."""
    rng = np.random.default_rng(3)
    scene = Scene(seconds=seconds)
    scene.body("ground", plane={}, fixed=True)
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = [0.1, 2, 1] if x else [2, 0.1, 1]
        scene.body(f"wall {k}", box=size, at=[0.65 * x, 0.65 * y, 0.5], fixed=True)
    for n in range(100):
        x, y = rng.uniform(-0.05, 0.05, 2) + 0.22 * np.array([n % 5 - 2, n // 5 % 5 - 2])
        scene.body(f"ball {n}", sphere=0.1, mass=1, at=[x, y, 0.2 + 0.25 * (n // 25)])
    return scene


def walkers(seconds: float = 3.0) -> Scene:
    scene = Scene(seconds=seconds)
    scene.body("ground", plane={}, fixed=True)
    for n in range(6):
        scene.body(f"ball {n}", sphere=0.1, mass=0.2, at=[0.4 + 0.3 * n, 0.3 * (n % 2), 0.1])
    scene.walker("spider", path=[[0, 0, 0], [4, 0, 0]])
    return scene


def scenes() -> Iterator[tuple[str, Scene]]:
    for name in ("blow", "bird", "snake", "nursery"):
        yield name, gallery_scene(name)
    yield "100 balls", hundred_balls()
    yield "walkers", walkers()
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        yield path.stem, load_scene(path)


def main() -> None:
    warnings.simplefilter("ignore")
    wrong = 0
    for name, scene in scenes():
        lines = differences(scene, MOMENTS)
        wrong += len(lines)
        print(f"{name}: {MOMENTS} moments", *(lines or ["all the same to the end"]), sep="\n  ", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
