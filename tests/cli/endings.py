"""Runs that end before their time: stopped, with nobody listening, with no room left. A take is whole then, or none.

`make fuzz-ends` tries ten moments of each; `test_cli_endings.py` a few.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from impel.files import Problem
from impel.takes import load_npz

SCENE = "world: {seconds: 1}\nbodies: {ball: {shape: {sphere: 0.2}, mass: 1, at: [0, 0, 1]}}\n"
OUTPUTS = ("take.npz", "take.csv", "take.png", "take.mp4")
LONG = 60.0  # s: longer than any of these runs


def command(folder: Path) -> list[str]:
    (folder / "scene.yaml").write_text(SCENE)
    asked = [word for name in OUTPUTS for word in ("-o", str(folder / name))]
    return [sys.executable, "-m", "impel", "simulate", str(folder / "scene.yaml"), *asked]


def started(folder: Path, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, **options
    )  # type: ignore[call-overload,no-any-return]


def length_of_a_run(folder: Path) -> float:
    begun = time.perf_counter()
    with started(folder) as process:
        process.communicate(timeout=LONG)
    return time.perf_counter() - begun


def stopped(folder: Path, seconds: float) -> int:
    """SIGTERM after so many seconds."""
    with started(folder) as process:
        try:
            _, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=LONG)
    assert "Traceback" not in err, err
    return process.returncode


def unheard(folder: Path, seconds: float) -> int:
    """The other end of standard output is closed after so many seconds."""
    with started(folder) as process:
        time.sleep(seconds)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(LONG)
    assert err == ""
    assert_whole(folder, all_of_them=True)
    return process.returncode


def crowded(folder: Path, size: int) -> int:
    """No file may get longer than so many bytes, as on a disk that is full."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    with started(folder, preexec_fn=limit) as process:
        _, err = process.communicate(timeout=LONG)
    if process.returncode:
        assert len(err.splitlines()) == 1, err
    return process.returncode


def assert_whole(folder: Path, *, all_of_them: bool = False) -> None:
    """Every file that stands under its name is whole, and nothing else is left."""
    there = set(os.listdir(folder)) - {"scene.yaml"}
    assert there <= set(OUTPUTS), there
    assert not all_of_them or there == set(OUTPUTS), there
    if "take.npz" in there:
        assert len(load_npz(folder / "take.npz").time) == 61
    if "take.csv" in there:
        assert len((folder / "take.csv").read_text().splitlines()) == 62
    if "take.png" in there:
        assert (folder / "take.png").read_bytes()[-8:-4] == b"IEND"
    if "take.mp4" in there:
        assert b"moov" in (folder / "take.mp4").read_bytes()


def try_moments(count: int, seed: int) -> dict[str, list[int]]:
    """The exit codes of so many runs of each kind."""
    random = np.random.default_rng(seed)
    codes: dict[str, list[int]] = {"stopped": [], "unheard": [], "crowded": []}
    with tempfile.TemporaryDirectory() as place:
        length = length_of_a_run(Path(place))
    for end in (stopped, unheard, crowded):
        for share in random.random(count):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                codes[end.__name__].append(end(folder, int(5e4 * share) if end is crowded else share * length))
                try:
                    assert_whole(folder)
                except Problem as problem:
                    raise AssertionError(str(problem)) from None
    return codes


if __name__ == "__main__":
    chosen = int(sys.argv[1]) if len(sys.argv) > 1 else int(time.time())
    print(f"seed {chosen}")
    print(*(f"{kind}: exit codes {codes}" for kind, codes in try_moments(10, chosen).items()), sep="\n")
