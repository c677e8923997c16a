"""Compiled frames of five scenes, against those of an earlier version in the same run: CPU time, the least of several.

git worktree add ../earlier 8971457
python benchmarks/frames.py ../earlier

The scenes are the earlier version's own, which both of them read.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from _bars import end, meet

ROUNDS = 5
BAR = 1.1
SCENES = {
    "blow": "src/impel/gallery/scenes/blow.yaml",
    "bird": "src/impel/gallery/scenes/bird.yaml",
    "snake": "src/impel/gallery/scenes/snake.yaml",
    "hop": "examples/hop.yaml",
    "100 balls": None,
}

PLAY = """
import hashlib, json, sys, time, warnings
from impel import Scene, load_scene
from impel.stage import Performance

def balls():
    scene = Scene(seconds=2)
    scene.body("floor", plane={}, fixed=True)
    for i in range(100):
        at = [0.21 * (i % 5) + 0.01 * (i // 25), 0.21 * (i // 5 % 5) + 0.007 * (i // 25), 0.15 + 0.22 * (i // 25)]
        scene.body(f"ball{i}", sphere=0.1, at=at)
    return scene

def play(path):
    performance = Performance(load_scene(path) if path else balls())
    performance.next_frame()
    begun = time.process_time()
    while performance.frame < performance.compiled.frames - 1:
        performance.next_frame()
    spent = time.process_time() - begun
    return spent, hashlib.sha256(performance.stage.bodies.position.tobytes()).hexdigest()[:8]

warnings.simplefilter("ignore")
told = {}
for name, path in json.loads(sys.argv[1]).items():
    runs = [play(path) for _ in range(3)]
    told[name] = min(runs)
print(json.dumps(told))
"""


def frames(version: Path, scenes: Path) -> dict[str, tuple[float, str]]:
    """CPU seconds of each scene, and a word that tells whether its motion was the same."""
    paths = {name: path and str(scenes / path) for name, path in SCENES.items()}
    run = subprocess.run(
        [sys.executable, "-c", PLAY, json.dumps(paths)],
        env=os.environ | {"PYTHONPATH": str(version / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, tuple[float, str]] = json.loads(run.stdout)
    return told


def main() -> None:
    if len(sys.argv) < 2:
        print("skipped: name a directory with an earlier version to compare with")
        return
    earlier, here = Path(sys.argv[1]).resolve(), Path(__file__).parents[1]
    rounds = [(frames(here, earlier), frames(earlier, earlier)) for _ in range(ROUNDS)]
    for name in SCENES:
        now, then = np.min([[told[name][0] for told in each] for each in rounds], axis=0)
        same = rounds[0][0][name][1] == rounds[0][1][name][1]
        print(
            f"{name}: {1e3 * now:.0f} CPU ms, {now / then:.2f} times the earlier {1e3 * then:.0f} (at most {BAR})",
            end="",
        )
        print(", the same motion" if same else "")
        meet(name, now / then, at_most=BAR)
    end()


if __name__ == "__main__":
    main()
