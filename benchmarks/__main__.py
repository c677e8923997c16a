"""All benchmarks, one after the other, each in a process of its own: `make bench`."""

import subprocess
import sys
from pathlib import Path

FIRST = ("chain", "snake", "balls", "control", "startup")


def main() -> None:
    here = Path(__file__).parent
    names = sorted((p.stem for p in here.glob("[a-z]*.py")), key=lambda n: (FIRST.index(n) if n in FIRST else 99, n))
    failed = []
    for name in names:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, here / f"{name}.py"]).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
