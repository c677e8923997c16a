"""What it costs to start, in CPU seconds: import, help, the first simulation ever of the demo, and later ones.

How long the one kernel of all scenes compiles is told as a multiple of what numba takes, in the same run, for a
function that never changes: new features may make it grow, but not unnoticed.

python benchmarks/startup.py
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from _bars import end, meet

FIRST_FRAME = """
from impel.cli.simulating import DEMO
from impel.scene import load_scene
from impel.stage import Performance
Performance(load_scene(DEMO)).next_frame()
"""

PEER = """
import math, time
import numba, numpy as np
lines = [
    f"    x{i} = a[{i % 3}, 2] - x{i - 1}\\n"
    f"    if x{i - 1} > a[{i % 5}, 1]:\\n"
    f"        x{i} = math.sqrt(abs(a[{i % 7}, 0] * x{i - 1} + {i}.5))\\n"
    f"    for k in range(len(a)):\\n"
    f"        a[k, {i % 3}] += x{i} * math.cos(a[k, {(i + 1) % 3}])\\n"
    for i in range(1, 41)
]
space = {"math": math}
exec("def peer(a):\\n    x0 = 0.0\\n" + "".join(lines) + "    return x40\\n", space)
begun = time.process_time()
numba.njit(space["peer"])(np.ones((7, 3)))
print(time.process_time() - begun)
"""
COMPILES = 17.0  # times as long as the peer, as measured when this was written
GROWTH = 1.3  # that later work may add to it in all


def cpu_seconds(*command: str, cache: Path | None = None) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, **({"IMPEL_CACHE_DIR": str(cache)} if cache else {})}
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def least(*command: str, cache: Path | None = None) -> float:
    return min(cpu_seconds(*command, cache=cache)[0] for _ in range(3))


def compile_peer() -> float:
    """CPU s that numba takes for the peer."""
    runs = [subprocess.run([sys.executable, "-c", PEER], capture_output=True, text=True, check=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    nothing = least("-c", "")
    light = least("-c", "import impel") - nothing
    print(f"import impel: {light:.2f} CPU s (at most 0.2)")
    meet("import impel", light, at_most=0.2)
    help_shown = least("-m", "impel", "--help")
    print(f"impel --help: {help_shown:.2f} CPU s (at most 0.5)")
    meet("impel --help", help_shown, at_most=0.5)
    with tempfile.TemporaryDirectory() as directory:
        cache, out = Path(directory) / "cache", Path(directory) / "out"
        first, notice = cpu_seconds("-c", FIRST_FRAME, cache=cache)
        later = least("-c", FIRST_FRAME, cache=cache)
        said = "with a notice" if "compiling" in notice else "WITHOUT A NOTICE"
        ratio = (first - later) / compile_peer()
        print(f"the first scene ever compiles for {first - later:.1f} CPU s, {said}: {ratio:.1f} times as long as a")
        print(f"  function that never changes (at most {GROWTH} times {COMPILES})")
        meet("compiling, against the peer", ratio, at_most=GROWTH * COMPILES)
        demo, _ = cpu_seconds("-m", "impel", "demo", "-o", str(out), cache=cache)
        again = least("-m", "impel", "demo", "-o", str(out), cache=cache)
        print(f"what else the first demo compiles: {demo - again:.1f} CPU s")
        print(f"later runs reach the first frame in {later:.2f} CPU s (at most 2)")
        meet("first frame of later runs", later, at_most=2)
    end()


if __name__ == "__main__":
    main()
