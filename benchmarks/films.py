"""A film of hop, 12 s at 640x360, against that of an earlier version in the same run: CPU time, ffmpeg's included.

git worktree add ../earlier 8971457
python benchmarks/films.py ../earlier

The scene is the earlier version's own, which both of them read.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from _bars import end, meet

ROUNDS = 3
BAR = 1 / 3

FILM = """
import resource, sys, tempfile, warnings
from pathlib import Path
from impel import load_scene, simulate, write_take

def spent():
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(time.ru_utime + time.ru_stime for time in times)

warnings.simplefilter("ignore")
scene = load_scene(sys.argv[1])
scene.world.seconds = 12
take = simulate(scene)
with tempfile.TemporaryDirectory() as directory:
    write_take(take, Path(directory) / "hop.png", size=(640, 360))  # compiles
    before = spent()
    write_take(take, Path(directory) / "hop.mp4", size=(640, 360))
    print(spent() - before)
"""


def film(version: Path, scene: Path) -> float:
    """CPU seconds that a version takes for the film."""
    run = subprocess.run(
        [sys.executable, "-c", FILM, scene],
        env=os.environ | {"PYTHONPATH": str(version / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def main() -> None:
    if len(sys.argv) < 2:
        print("skipped: name a directory with an earlier version to compare with")
        return
    here, there = Path(__file__).parents[1], Path(sys.argv[1]).resolve()
    scene = there / "examples" / "hop.yaml"
    rounds = [(film(here, scene), film(there, scene)) for _ in range(ROUNDS)]
    now, earlier = np.min(rounds, axis=0)
    print(f"film of 12 s: {now:.1f} CPU s, {now / earlier:.2f} times the {earlier:.1f} of {sys.argv[1]}")
    meet("film against the earlier version's", now / earlier, at_most=BAR)
    end()


if __name__ == "__main__":
    main()
