"""Kernels, whole and as parts of others, in fresh processes that share a cache; and structs."""

import copy
import hashlib
import math
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType
from typing import Annotated

import numpy as np
import pytest

from impel.kernel import Floats, Floats2, fields_of, kernel, replace, struct
from impel.kernel.inner import PLAIN

NESTED = """
import numpy as np
from impel.kernel import kernel
import numbers_of

HALF = 2
UNUSED = 1
PLACES = np.arange(3)

@kernel(inline=True)
def twice(x):
    return x + x

@kernel
def square(x):
    return twice(x) * x / HALF

@kernel
def distance(x, y):
    return (square(x) + square(y)) ** 0.5

@kernel
def thrice_distance(x, y):
    return 3 * distance(x, y)

@kernel
def before(array, i):
    return array[i - 1]

@kernel
def placed(i):
    return PLACES[i] + numbers_of.THREE

@kernel
def first(table):
    return table[0].x

@kernel
def twice_first(table):
    return twice(first(table))

@kernel
def four_firsts(table):
    return twice(twice_first(table))

@kernel
def half_first(table):
    return first(table) / HALF

TABLE = np.ones(2, [("x", float), ("y", int)])
"""

TOLD = """
from numba.core import event
import impel.kernel
class Listener(event.Listener):
    def on_start(self, e):
        print(e.data["dispatcher"].__name__)
    def on_end(self, e):
        pass
event.register("numba:compile", Listener())
from nested import *
"""


@pytest.fixture
def run(tmp_path):
    """Runs code in a new process with the nested kernels; returns the names of what was compiled, then the output."""
    if PLAIN:
        pytest.skip("in numba's plain ways nothing is kept")
    (tmp_path / "nested.py").write_text(NESTED)
    (tmp_path / "numbers_of.py").write_text("THREE = 3.0")

    def run(code, complaint=""):
        environment = {**os.environ, "IMPEL_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", TOLD + code]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr.count("impel: compiling") <= 1
        assert complaint in done.stderr
        return done.stdout.split()

    return run


def test_parts_are_kept_for_later_callers(run):
    assert run("print(distance(3.0, 4.0))") == ["distance", "square", "twice", "5.0"]
    assert run("print(distance(3.0, 4.0))") == ["5.0"]
    again = run("print(thrice_distance(3.0, 4.0))")
    assert again == ["thrice_distance", "distance", "15.0"]  # as a part; what that consists of is on disk
    assert run("print(square(5.0))") == ["square", "25.0"]  # so far it was a part only
    assert run("print(thrice_distance(3.0, 4.0), square(5.0), distance(3.0, 4.0))") == ["15.0", "25.0", "5.0"]


def test_a_part_may_be_called_from_python_afterwards(run):
    assert run("print(thrice_distance(3.0, 4.0)); print(distance(6.0, 8.0))")[-1] == "10.0"


def test_programs_that_compile_at_the_same_time_do_not_mix_things_up(run):
    """Different argument types of the same kernels, in a cache that all find empty."""
    codes = ["print(thrice_distance(3.0, 4.0))", "print(thrice_distance(3, 4))", "print(thrice_distance(3, 4.0))"]
    with ThreadPoolExecutor() as together:
        assert [out[-1] for out in together.map(run, codes)] == ["15.0"] * 3
    assert [run(code) for code in codes] == [["15.0"]] * 3  # and everything was kept


def test_parts_of_different_runs_fit_together(run, tmp_path):
    """Each program numbers its functions by itself: a part must not be known to its callers by such a number."""
    assert run("print(thrice_distance(3.0, 4.0))")[-1] == "15.0"
    for name in ("thrice_distance", "square", "twice"):
        for path in tmp_path.rglob(f"{name}.*.kernel"):
            path.unlink()
    others = "placed(1), before(np.ones(3), 1), distance(6.0, 8.0)"
    assert run(f"print({others})") == ["placed", "before", "distance", "square", "twice", "4.0", "1.0", "10.0"]
    assert run("print(thrice_distance(3.0, 4.0))") == ["thrice_distance", "15.0"]


def test_parts_with_tables_of_different_runs_fit_together(run, tmp_path):
    """Nor by the number that a program gives to the type of a table."""
    assert run("print(four_firsts(TABLE))")[-1] == "4.0"
    for name in ("four_firsts", "first"):
        for path in tmp_path.rglob(f"{name}.*.kernel"):
            path.unlink()
    others = "from numba import typeof; [typeof(np.zeros(1, [(f'x{i}', float)])) for i in range(20)];"
    assert run(others + "print(half_first(TABLE))") == ["half_first", "first", "0.5"]
    assert run("print(four_firsts(TABLE))") == ["four_firsts", "4.0"]


def test_what_cannot_be_kept_or_read_is_compiled_again(run, tmp_path):
    assert run("print(square(5.0))")[-1] == "25.0"
    for path in tmp_path.rglob("*.kernel"):
        path.write_bytes(path.read_bytes()[:100])
    assert run("print(square(5.0))") == ["square", "twice", "25.0"]
    assert run("print(square(5.0))") == ["25.0"]
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"  # no file may grow
    assert run(full + "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); print(square(5))")[-1] == "25.0"


def test_parts_that_do_not_fit_together_are_compiled_again(run, tmp_path):
    """Whole files, but one of them holds another part than its name says."""
    assert run("print(thrice_distance(3.0, 4.0))")[-1] == "15.0"
    (square,), (whole,) = tmp_path.rglob("square.*.part.kernel"), tmp_path.rglob("thrice_distance.*.kernel")
    (twice,) = tmp_path.rglob("twice.*.part.kernel")
    square.write_bytes(twice.read_bytes())
    whole.unlink()
    again = run("print(thrice_distance(3.0, 4.0))")
    assert again == ["thrice_distance"] * 2 + ["distance", "square", "twice", "15.0"]
    whole.unlink()
    assert run("print(thrice_distance(3.0, 4.0))") == ["thrice_distance", "15.0"]  # and kept as they should be


def test_a_flipped_bit_is_noticed(run, tmp_path):
    assert run("print(square(5.0))")[-1] == "25.0"
    for path in tmp_path.rglob("*.kernel"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    assert run("print(square(5.0))") == ["square", "twice", "25.0"]


@pytest.mark.parametrize(
    ("old", "new", "compiled"),
    [
        ("    return x + x", '    """Of course."""\n    return x + x  # twice', ["square", "twice"]),
        ("    return x + x", "    return x + x  # twice", []),
        ("def before(array, i):\n", "def before(array, i):\n    i += 1\n", []),
        ("    return x + x", "    return 2 * x", ["square", "twice"]),
        ("HALF = 2", "HALF = 2.0", ["square"]),
        ("UNUSED = 1", "UNUSED = 2", []),
        ("PLACES = np.arange(3)", "PLACES = np.arange(4)", []),
    ],
)
def test_only_what_depends_on_an_edit_is_compiled_again(run, tmp_path, old, new, compiled):
    run("print(square(5.0))")
    path = tmp_path / "nested.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert run("print(square(5.0))") == [*compiled, "25.0"]


def test_edits_of_arrays_and_of_modules_that_are_mentioned_are_noticed(run, tmp_path):
    (tmp_path / "numbers_of.py").write_text("THREE = 3.0\nOTHER = 4.0\n")
    assert run("print(placed(0))") == ["placed", "3.0"]
    (tmp_path / "numbers_of.py").write_text("THREE = 3.0\nOTHER = 5.0\n")
    assert run("print(placed(0))") == ["3.0"]
    (tmp_path / "numbers_of.py").write_text("THREE = 6.0\n")
    assert run("print(placed(0))") == ["placed", "6.0"]
    path = tmp_path / "nested.py"
    path.write_text(path.read_text().replace("np.arange(3)", "np.arange(1, 4)"))
    assert run("print(placed(0))") == ["placed", "7.0"]


def test_without_a_place_of_its_own_it_compiles_in_memory_and_says_so(run, tmp_path):
    (tmp_path / "cache").write_text("not a directory")
    code = "print(square(5.0), distance(3.0, 4.0))"
    for _ in range(2):
        assert run(code, complaint="cannot keep it for later")[-2:] == ["25.0", "5.0"]


def test_a_directory_that_others_may_write_is_not_used(run, tmp_path):
    run("print(square(5.0))")
    (tmp_path / "cache" / "compiled").chmod(0o777)
    assert run("print(square(5.0))", complaint="may be written by them") == ["square", "twice", "25.0"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_nothing_is_read_that_belongs_to_somebody_else(run, tmp_path):
    """Neither a whole directory nor single files that another user planted; nor what lies about in TMPDIR."""
    run("print(square(5.0))")
    kept = tmp_path / "cache" / "compiled"
    for path in (*kept.iterdir(), kept):
        planted = b"cos\nsystem\n(S'touch " + str(tmp_path / "harm").encode() + b"'\ntR."
        if path.is_file():
            path.write_bytes(hashlib.sha256(planted).digest() + planted)
            os.chown(path, 12345, 12345)
        assert run("print(square(5.0))")[-1] == "25.0"
    assert run("print(square(5.0))") == ["25.0"]  # and what was compiled again took the place of what was planted

    for path in kept.iterdir():
        path.write_bytes(hashlib.sha256(planted).digest() + planted)
    os.chown(kept, 12345, 12345)
    assert run("print(square(5.0))", complaint="belongs to others") == ["square", "twice", "25.0"]
    assert not (tmp_path / "harm").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_reads_nothing_that_root_planted(run, tmp_path):
    for path in (tmp_path, *tmp_path.parents):
        if path.name.startswith(("pytest-", "popen-", tmp_path.name)):
            path.chmod(0o755)
    run("print(square(5.0))")
    (tmp_path / "cache" / "compiled").chmod(0o755)
    (name,) = (path.name for path in (tmp_path / "cache" / "compiled").glob("square.*[0-9a-f].kernel"))
    code = "import os; from impel.kernel import shelf\n{}print(shelf.read('{}') is None, shelf.place().problem)"
    assert run(code.format("", name)) == ["False"]
    told = run(code.format("os.setgid(12345); os.setuid(12345); ", name))
    assert told[0] == "True"
    assert "belongs to others" in " ".join(told)


def test_kernels_look_like_their_functions():
    @kernel
    def half(x: float) -> float:
        """A half."""
        return x / 2

    assert (half.__name__, half.__doc__, half.py_func(3)) == ("half", "A half.", 1.5)


@struct
class Pair:
    left: Floats
    right: float


@kernel
def set_first(pair):
    pair.left[0] = 7.0


def test_structs_are_records():
    pair = Pair(np.ones(3), right=2.0)
    assert list(fields_of(pair)) == ["left", "right"]
    assert (replace(pair, right=3.0).right, pair.right) == (3.0, 2.0)
    for twin in (copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        set_first(twin)
        assert (twin.left[0], pair.left[0]) == (7.0, 1.0)  # an array of its own
    with pytest.raises(AttributeError, match="use replace"):
        pair.right = 4.0
    with pytest.raises(TypeError, match="exactly the fields left, right"):
        Pair()
    with pytest.raises(TypeError, match=r"Pair\.left must be C-contiguous"):
        Pair(np.ones(6)[::2], 2.0)


@struct
class Table:
    rows: Annotated[Floats2, 3]


@kernel
def sum_of_row(table, i):
    return table.rows[i, 0] + table.rows[i, 1] + table.rows[i, 2]


def test_a_table_has_the_columns_it_is_annotated_with():
    assert sum_of_row(Table(np.arange(12.0).reshape(4, 3)), 2) == 6 + 7 + 8
    with pytest.raises(TypeError, match=r"Table\.rows must have 3 columns, as annotated, not 4"):
        Table(np.zeros((3, 4)))


@struct
class Box:
    pair: Pair | None
    table: Floats2 | None
    weight: float | None
    size: tuple[float, float]


@kernel
def how_full(box):
    weight = 0.0
    if box.pair is not None:
        weight += box.pair.right
    return weight if box.table is None else weight + box.table[0, 1]


@kernel
def weigh(weight):
    return 0.0 if weight is None else weight


@kernel
def weight_of(box):
    return weigh(box.weight)


def test_one_compilation_serves_structs_with_and_without_their_parts():
    pair, table = Pair(np.ones(3), 2.0), np.array([[0.0, 5.0]])
    boxes = [Box(p, t, None, (1.0, 2.0)) for p in (None, pair) for t in (None, table)]
    assert [how_full(box) for box in boxes] == [0.0, 5.0, 2.0, 7.0]
    assert len({box._numba_type_ for box in boxes}) == 1
    assert len(how_full._whole.signatures) == 1


def test_numbers_that_may_be_missing_are_decided_when_compiling():
    assert [weight_of(Box(None, None, weight, (1, 2))) for weight in (None, 3.0, 4)] == [0.0, 3.0, 4.0]
    assert len(weight_of._whole.signatures) == 2


def test_structs_refuse_what_their_annotations_do_not_say():
    for fields, complaint in (
        (
            (None, np.ones(3), 1.0, (1, 2)),
            r"Box\.table must be an array of float64 in 2 dimensions, .* in 1",
        ),
        ((None, np.ones((3, 2), int), 1.0, (1, 2)), r"Box\.table must be an array of float64"),
        ((None, None, 1.0, (1, 2, 3)), r"Box\.size must have 2 numbers"),
        ((3.0, None, 1.0, (1, 2)), r"Box\.pair must be a Pair"),
    ):
        with pytest.raises(TypeError, match=complaint):
            Box(*fields)
    with pytest.raises(TypeError, match=r"Pair\.left must not be None"):
        Pair(None, 1.0)


@kernel
def last_and_next(array, i):
    return array[-1, 0], array[i, -1], array[i + 1, 0]


def test_written_out_indices_may_count_from_the_end():
    array = np.arange(6.0).reshape(3, 2)
    assert last_and_next(array, 0) == (4.0, 1.0, 2.0)


def many_things(table, cube, x, y, n):
    first, second = table[n], cube[1, n]
    table[2, 0] = x**2 + x**5 + y**3 + n**2
    first[1] = max(x, y) - min(x, y, 2.5) + max(n, 2) * min(n, 2, 1)
    second[0] += cube[n][1][1] + int(x) + int(-x)
    for i in range(2, -1, -1):
        table[i, 1] = table[i, 1] * 2 + sum_down(first, i)
    for i in range(0, 3, 2):
        table[i, 0] -= x / (1.5 + i)
    return table[0, 0] / y


@kernel
def sum_down(row, n):
    total = 0.0
    for i in range(n, -1, -2):
        total = total + row[i % 2] * i
    return total


@pytest.mark.parametrize(("x", "y"), [(1.5, -2.25), (0.75, math.nan), (-7.5, 3.0)])
def test_kernels_compute_what_python_does(x, y):
    compiled, plain = ([np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(2, 3, 2)] for _ in range(2))
    last = kernel(many_things)(*compiled, x, y, 1)
    in_python = FunctionType(many_things.__code__, {**globals(), "sum_down": sum_down.py_func})
    assert last == pytest.approx(in_python(*plain, x, y, 1), nan_ok=True)
    for found, expected in zip(compiled, plain):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_an_index_that_becomes_negative_is_found_with_bounds_checked(run, monkeypatch):
    code = "import numpy\ntry: print(before(numpy.ones(3), {}))\nexcept IndexError: print('IndexError')"
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert run(code.format(1))[-1] == "1.0"
    assert run(code.format(0))[-1] == "IndexError"


@pytest.mark.skipif(bool(PLAIN), reason="attributes of functions are numba's inner matter")
def test_a_part_with_many_vectors_puts_them_aside_in_whole_cache_lines():
    lines = "\n".join(f"        row[i] = row[i] * {k}.5 + row[i + {k % 9}]" for k in range(80))
    lines += f"\n        row[i] += {time.time_ns()}"  # so that it was never compiled before
    names: dict = {}
    exec(f"def busy(row):\n    for i in range(len(row) - 9):\n{lines}", names)  # too long to be pasted into its caller
    busy = kernel(names["busy"], vectors=True)

    def call(row):
        busy(row)

    whole = kernel(call)
    whole(np.zeros(20))
    code = whole._whole.inspect_llvm(whole._whole.signatures[0])
    assert "alignstack=64" in code or "alignstack(64)" in code
