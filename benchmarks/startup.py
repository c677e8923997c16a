"""What it costs to start, in CPU seconds: import, help, the first simulation ever of the demo, and later ones.

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


def cpu_seconds(*command: str, cache: Path | None = None) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, **({"IMPEL_CACHE_DIR": str(cache)} if cache else {})}
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def least(*command: str, cache: Path | None = None) -> float:
    return min(cpu_seconds(*command, cache=cache)[0] for _ in range(3))


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
        command = ("-m", "impel", "demo", "-o", str(out))
        first, notice = cpu_seconds(*command, cache=cache)
        again = least(*command, cache=cache)
        said = "with a notice" if "compiling" in notice else "WITHOUT A NOTICE"
        print(f"first demo ever: compiles in {first - again:.1f} CPU s (at most 25), {said}")
        meet("first demo ever", first - again, at_most=25)
        later = least("-c", FIRST_FRAME, cache=cache)
        print(f"later runs reach the first frame in {later:.2f} CPU s (at most 2)")
        meet("first frame of later runs", later, at_most=2)
    end()


if __name__ == "__main__":
    main()
