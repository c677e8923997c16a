"""Whoever follows the page on adding a shape gets one: its own example, applied to a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "add_a_shape.md"


def apply(change: str, root: Path) -> None:
    """Of a file named first: where the lines without + stand, put those without -."""
    name, *lines = change.splitlines()
    path = root / name.removeprefix("--- ")
    before = "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
    after = "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
    text = path.read_text()
    assert text.count(before) == 1, f"{name}: {before!r} is there {text.count(before)} times"
    path.write_text(text.replace(before, after))


@pytest.mark.slow
def test_a_shape_is_added_as_the_page_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "shipped"))
    shutil.copytree(ROOT / "tests" / "geometry", tmp_path / "tests" / "geometry")
    page = PAGE.read_text()
    changes = re.findall(r"```diff\n(.*?)```", page, re.DOTALL)
    assert len({change.splitlines()[0] for change in changes}) == 5  # files
    for change in changes:
        apply(change, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/geometry"]
    tests += ["-k", "tablet or exact or rounded or extents or every_shape"]
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for command in (tests, [sys.executable, "-c", code]):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "thickness must be less than twice the radius" in done.stdout
