"""Without numba's inner classes: the same results, by public ways only."""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import impel.kernel
from impel.kernel.inner import PLAIN
from impel.scene import load_scene
from impel.stage.performance import Performance

ROOT = Path(impel.__file__).parent
INNER = ROOT / "kernel" / "inner.py"
PUBLIC = ("numba", "numba.types", "numba.extending")
IMPORTS = [
    (node.module, alias.name)
    for node in ast.walk(ast.parse(INNER.read_text()))
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
]

WITHOUT = """
import builtins
real = builtins.__import__
def without(name, globals=None, locals=None, names=(), level=0):
    if name == {module!r} and {name!r} in (names or ()) and (globals or {{}}).get("__name__", "").startswith("impel."):
        raise ImportError("cannot import name {name}")
    return real(name, globals, locals, names, level)
builtins.__import__ = without
"""

SMALL = """
import numpy as np
from impel.kernel import Floats, Floats2, kernel, struct
from impel.kernel.inner import PLAIN

@struct
class Group:
    row: Floats
    table: Floats2 | None

@kernel(inline=True)
def twice(x):
    return x + x

@kernel
def total(group):
    whole = 0.0
    for i in range(len(group.row)):
        whole += twice(group.row[i])
    if group.table is not None:
        whole += group.table[0, 1]
    return whole

@kernel
def more(group):
    return total(group) + 0.25

print(bool(PLAIN), more(Group(np.ones(3), None)), more(Group(np.ones(3), np.ones((1, 2)))))
"""


def run(code: str, **environment: str) -> tuple[list[str], str]:
    variables = {name: value for name, value in os.environ.items() if name != "IMPEL_PLAIN_NUMBA"} | environment
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.split(), done.stderr


def test_inner_classes_are_imported_in_one_place() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                assert not module.startswith("numba") or module in PUBLIC or path == INNER, (path, module)
    assert len(IMPORTS) > 10


@pytest.mark.parametrize(("module", "name"), IMPORTS)
def test_whatever_inner_class_is_missing_kernels_still_run(module: str, name: str) -> None:
    told, notice = run(WITHOUT.format(module=module, name=name) + SMALL)
    assert told == ["True", "6.25", "7.25"]
    assert f"cannot keep it for later (this numba is not known well enough: cannot import name {name})" in notice


def test_the_plain_way_can_be_asked_for() -> None:
    told, notice = run(SMALL, IMPEL_PLAIN_NUMBA="1")
    assert told == ["True", "6.25", "7.25"]
    assert "cannot keep it for later (IMPEL_PLAIN_NUMBA is set)" in notice


SCENES = ("blow", "bird", "snake", "collisions")


def bits_of(name: str) -> str:
    """A digest of all that a scene has become after half a second."""
    performance = Performance(load_scene(ROOT / "gallery" / "scenes" / f"{name}.yaml"))
    for _ in range(30):
        performance.next_frame()
    return hashlib.sha256(performance.memory.values.tobytes()).hexdigest()


@pytest.mark.slow
@pytest.mark.skipif(bool(PLAIN), reason="compares with the other way")
def test_scenes_have_the_same_bits_in_the_plain_way() -> None:
    """Multiply-adds are not fused here: which of them LLVM fuses depends on what it has pasted into what before, so
    that otherwise last digits differ (by 2e-15 m after half a second)."""
    unfused = "from impel.kernel import compiling; compiling._FASTMATH.clear()\n"
    code = f"{unfused}import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from test_plain import *\n"
    code += "print(bool(PLAIN), *map(bits_of, SCENES))"
    (plain, *bits), _ = run(code, IMPEL_PLAIN_NUMBA="1")
    (ours, *same), _ = run(code)
    assert (plain, ours) == ("True", "False")
    assert bits == same
