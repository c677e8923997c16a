"""Installs a wheel in an empty environment and tries it: no compiling, and the first frame soon (`make test-wheel`).

python tests/check_wheel.py dist/impel-....whl
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

FIRST_FRAME = """
from impel.cli.simulating import DEMO
from impel.scene import load_scene
from impel.stage import Performance
Performance(load_scene(DEMO)).next_frame()
"""
WORK = [["simulate", str(path)] for path in sorted(Path("examples").glob("*.yaml"))]
WORK.append(["gait", "walk", "creature", "--mood", "0:0,2:100"])
MOST = 3.0  # CPU s until the first frame


def run(python: Path, *arguments: str, **environment: str) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([python, *arguments], env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True)
        python = place / "env" / "bin" / "python"
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "constraints.txt"]
        subprocess.run([*pip, *sys.argv[1:]], check=True)
        subprocess.run([python, "-m", "compileall", "-q", place / "env" / "lib"], check=False)
        seconds, told = run(python, "-c", FIRST_FRAME, HOME=name)
        print(f"first frame of the demo after {seconds:.2f} CPU s (at most {MOST})")
        assert told == "", told
        assert seconds <= MOST
        seconds, told = run(python, "-m", "impel", "demo", "-o", str(place / "out"), HOME=name)
        print(f"impel demo: {seconds:.1f} CPU s in all")
        assert "compiling" not in told, told
        for work in WORK:
            seconds, told = run(python, "-m", "impel", *work, "-o", str(place / "out.npz"), HOME=name)
            print(f"impel {' '.join(work)}: {seconds:.1f} CPU s in all")
            assert "compiling" not in told, told
        (contents,) = (python.parents[1] / "lib").rglob("contents.json")
        contents.write_text(json.dumps({**json.loads(contents.read_text()), "features": ["another processor's"]}))
        seconds, told = run(python, "-c", FIRST_FRAME, HOME=name)
        print(f"on another processor: compiles, first frame after {seconds:.1f} CPU s")
        assert told.count("impel: compiling") == 1, told


if __name__ == "__main__":
    main()
