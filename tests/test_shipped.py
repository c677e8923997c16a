"""Kernels compiled ahead of time into a library: the same results, and only where it fits."""

import json
import math
import os
import shutil
import subprocess
import sys

import pytest

from impel.kernel.compiling import Kernel
from impel.kernel.inner import PLAIN
from impel.kernel.shipped import platform_name
from impel.kernel.shipping import MATHEMATICS, TARGETS
from impel.stage import step

pytestmark = [
    pytest.mark.skipif(
        platform_name() not in TARGETS or not shutil.which("gcc"), reason="no library for this platform"
    ),
    pytest.mark.skipif(bool(PLAIN), reason="libraries are made with numba's inner classes"),
]

KERNELS = """
import math
from typing import NamedTuple

import numpy as np
from impel.kernel import Floats, Floats2, kernel, shipped, struct

class Spot(NamedTuple):
    at: tuple
    weight: float
    row: np.ndarray

@struct
class Group:
    row: Floats
    table: Floats2 | None

@kernel
def total(group, spot, upside_down, nothing, n):
    whole = spot.weight * spot.at[1] + math.exp(spot.row[n])
    if nothing is not None:
        whole = 0.0
    for i in range(len(group.row)):
        whole += group.row[i]
    if group.table is not None:
        group.table[0, 0] = whole
    return (-whole if upside_down else whole), (n, upside_down), (group.row[0], 2.0)

@kernel
def change(row):
    for i in range(len(row)):
        row[i] = math.sin(row[i])

@kernel(allocates=True)
def fresh(n):
    return np.zeros(n).sum() + 1.0

row, table = np.array([0.1, 0.2]), np.zeros((1, 1))
def everything():
    told = [total(Group(row, table), Spot((1.0, 2.0), 3.0, row), True, None, 1)]
    told.append(total(Group(row, None), Spot((1.0, 2.0), 3.0, row), False, None, 0))
    changed = row.copy()
    change(changed)
    return repr((told, table[0, 0].item(), changed.tolist(), fresh(3)))
"""
MAKE = """
from pathlib import Path
from impel.kernel.shipping import ship, watching
from kernels import *
with watching() as seen:
    print(everything())
assert ship(seen, Path("made")) == []
assert len(seen) == 2
"""
USE = """
from pathlib import Path
from impel.kernel import shipped
shipped.DIRECTORY = Path("made")
from kernels import *
print(everything())
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("ship")
    (path / "kernels.py").write_text(KERNELS)
    return path


def run(place, code, **environment):
    variables = {**os.environ, "IMPEL_CACHE_DIR": str(place / "cache"), **environment}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def made(place):
    cpu = TARGETS[platform_name()].cpu
    told, _ = run(place, MAKE, NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES="")
    return told


def test_the_library_does_the_same_and_nothing_is_compiled_but_what_allocates(place, made):
    told, notice = run(place, USE.replace("print", "shipped.entries()\nfresh = lambda n: 1.0\nimport kernels\n"
                       "kernels.fresh = fresh\nprint"), IMPEL_CACHE_DIR=str(place / "unused"))  # fmt: skip
    assert (told, notice) == (made, "")
    assert not (place / "unused").exists()
    told, notice = run(place, USE, IMPEL_CACHE_DIR=str(place / "used"))
    assert told == made
    assert notice.count("impel: compiling") == 1
    assert [path.name.split(".")[0] for path in (place / "used" / "compiled").iterdir()] == ["fresh"]


def test_the_library_asks_for_no_newer_c_library(place, made):
    symbols = (place / "made" / "kernels.so").read_bytes()
    version = TARGETS[platform_name()].glibc.encode()
    assert version in symbols
    assert symbols.count(b"GLIBC_") == symbols.count(version)


@pytest.mark.parametrize(
    "change",
    [
        {"features": ["telepathy"]},
        {"platform": "plan9-vax"},
        {"digest": "0"},
        {"library": "missing.so"},
        {"entries": [["kernels.total", [], "missing", None]]},
        {"sources": ["gone.py"]},
        None,
    ],
)
def test_what_does_not_fit_is_compiled_with_a_notice(place, made, change, tmp_path):
    shutil.copytree(place, tmp_path / "other", ignore=shutil.ignore_patterns("cache", "used"))
    contents = tmp_path / "other" / "made" / "contents.json"
    told = json.loads(contents.read_text())
    contents.write_text("not json" if change is None else json.dumps({**told, **change}))
    cpu = TARGETS[platform_name()].cpu  # else its bits might differ
    told, notice = run(tmp_path / "other", USE, NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES="")
    assert told == made
    assert notice.count("impel: compiling") == 1


def test_other_arguments_than_those_it_was_made_for_are_compiled(place, made):
    code = (
        USE
        + "\nints = np.arange(4)\nchange(ints)\nevery = np.array([0.1, 0.0, 0.2])[::2]\nchange(every)\nprint(*every)"
    )
    told, notice = run(place, code, IMPEL_CACHE_DIR=str(place / "others"))
    assert told.startswith(made)
    assert "impel: compiling" in notice


def test_scenes_need_no_mathematics_that_the_library_cannot_have():
    """Numba has some of its own, `ldexp` for one: a kernel with it would be left out."""
    waiting, kernels, called = [step.play], set(), set()
    while waiting:
        kernel = waiting.pop()
        if kernel not in kernels:
            kernels.add(kernel)
            mentioned = [kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names]
            waiting += [each for each in mentioned if isinstance(each, Kernel)]
            called |= {name for name in kernel.py_func.__code__.co_names if callable(getattr(math, name, None))}
    assert len(kernels) > 300
    assert called - MATHEMATICS == {"isfinite"}  # which takes no call
