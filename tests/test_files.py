"""Reading and writing: plain errors, bounded input, nothing half-written."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel.files import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Problem,
    check_writable,
    find_beside,
    format_document,
    name_beside,
    parse_document,
    read_document,
    write_document,
    writing,
)

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi")
)
# Each value holds the one before it: short to write, and deep.
NESTED = "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(MAX_DEPTH))


def complaint(text, as_json=False):
    with pytest.raises(Problem) as caught:
        parse_document(text, "scene.yaml", as_json=as_json)
    (line,) = caught.value.lines
    assert line.startswith("scene.yaml: ")
    return line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a: [1, 2", "not valid YAML: did not find expected ',' or ']'"),
        ("a: 1\n\tb: 2", "line 2: not valid YAML"),
        ("a: 1\nb: 2\na: 3", "line 3: 'a' is written twice"),
        ("1: 2", "a name must be text, got 1 (put it in quotes)"),
        ("true: 2", "a name must be text, got True"),
        ("[a, b]: 2", "a name must be text, got ['a', 'b']"),
        (BOMB, f"holds more than {MAX_NODES} values"),
        ("a: &a\n  b: *a", "line 2: *a stands for nothing written before it"),
        ("a: *b", "line 1: *b stands for nothing written before it"),
        (NESTED, f"nested more than {MAX_DEPTH}"),
        ("a: !!python/object/apply:os.system [ls]", "tags (tag:yaml.org,2002:python/object/ap"),
        ("a: !!set {x, y}", "are not allowed here"),
        ("a: 1\n---\nb: 2", "not valid YAML: but found another document"),
        ("a: \0", "not valid YAML"),
        ("[" * 10_000, f"nested more than {MAX_DEPTH}"),
        ("- " * 10_000, f"nested more than {MAX_DEPTH}"),
        ("{a: " * 10_000, f"nested more than {MAX_DEPTH}"),
        ("- 1\n" * (MAX_NODES + 1), f"holds more than {MAX_NODES} values"),
        ("a: " + "9" * 5000, "number too long"),
    ],
)
def test_bad_yaml_is_one_plain_line(text, words):
    started = time.process_time()
    assert words in complaint(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ('{"a": 1,}', "line 1: not valid JSON"),
        ('{"a": 1, "a": 2}', "'a' is written twice"),
        ("[" * 100_000, f"nested more than {MAX_DEPTH}"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), f"nested more than {MAX_DEPTH}"),
        ("[" + "1," * MAX_NODES + "1]", f"holds more than {MAX_NODES} values"),
        ("9" * 5000, "number that is too long"),
    ],
)
def test_bad_json_is_one_plain_line(text, words):
    assert words in complaint(text, as_json=True)


def test_yaml_reads_words_and_numbers_as_people_mean_them():
    text = "{a: 2e5, b: yes, c: on, d: 010, e: 1:30, f: 2026-01-01, g: -.5, h: true, i: .inf, j: <<, k: 0x1f, l: 1_000}"
    assert parse_document(text, "x") == {
        "a": 2e5, "b": "yes", "c": "on", "d": 10, "e": "1:30", "f": "2026-01-01", "g": -0.5, "h": True, "i": math.inf,
        "j": "<<", "k": "0x1f", "l": "1_000",
    }  # fmt: skip


text = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "))  # a name may hold nothing else
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
WORD = st.sampled_from(
    ["1e5", "yes", "null", "~", "0x1f", "1_000", "<<", "=", "", "true", ".5", "#a", "- b", "1:30", "!x"]
)


@given(document=documents | st.dictionaries(WORD, WORD), as_json=st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_back(document, as_json):
    text = format_document(document, as_json=as_json)
    assert parse_document(text, "x", as_json=as_json) == document


def test_repeated_values_are_written_out_not_aliased():
    shared = [1, 2]
    text = format_document({"a": shared, "b": shared})
    assert parse_document(text, "x") == {"a": [1, 2], "b": [1, 2]}


def test_aliases_that_a_library_wrote_are_read():
    yaml = pytest.importorskip("yaml")
    at, coating = [0, 0, 1], {"friction": 0.5}
    document = {"a": {"at": at, "coating": coating}, "b": [at, at, {"coating": coating}]}
    text = yaml.safe_dump(document)
    assert "*id" in text
    assert parse_document(text, "x") == document


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda s: s.encode("utf-8", "surrogatepass")))
@settings(max_examples=300, deadline=None)
def test_random_bytes_are_data_or_a_problem(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "garbage.yaml"
    path.write_bytes(data)
    lines = [f"{path}: "]
    try:
        read_document(path)
    except Problem as problem:
        lines = problem.lines
    assert len(lines) == 1
    assert lines[0].startswith(f"{path}: ")


def test_unreadable_files_are_problems(tmp_path):
    for path, words in (
        (tmp_path, "is a directory"),
        (tmp_path / "none.yaml", "no such file"),
        (tmp_path / ("x" * 300), "file name too long"),
    ):
        with pytest.raises(Problem, match=words):
            read_document(path)
    (tmp_path / "huge.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(Problem, match="is larger than 8 MiB"):
        read_document(tmp_path / "huge.yaml")
    (tmp_path / "latin.yaml").write_bytes("a: é".encode("latin-1"))
    with pytest.raises(Problem, match="not UTF-8"):
        read_document(tmp_path / "latin.yaml")
    (tmp_path / "bom.yaml").write_text("a: 1", encoding="utf-8-sig")
    assert read_document(tmp_path / "bom.yaml") == {"a": 1}


def test_a_problem_line_is_one_line():
    assert Problem("a: b\nc\r\nd", "e").lines == ["a: b c d", "e"]


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "down" / "a.yaml"
    write_document(path, {"a": [1, 2]})
    assert read_document(path) == {"a": [1, 2]}
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    before = path.read_bytes()
    for error, seen in (
        (RuntimeError("bug"), RuntimeError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(28, "No space left on device"), Problem),
    ):
        with pytest.raises(seen, match=r"bug|^$|a\.yaml: cannot be written: no space left"):
            write_half(path, error)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["a.yaml"]


def write_half(path, error):
    with writing(path) as temporary:
        temporary.write_text("half")
        raise error


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_document(tmp_path / "link.json", {"a": 1})
    assert (tmp_path / "link.json").is_symlink()
    assert read_document(tmp_path / "real.json") == {"a": 1}


def test_missing_folders_are_made(tmp_path):
    check_writable(tmp_path / "films" / "first" / "a.yaml")
    assert not (tmp_path / "films").exists()  # before there is anything to put into them
    write_document(tmp_path / "films" / "first" / "a.yaml", {"a": 1})
    assert read_document(tmp_path / "films" / "first" / "a.yaml") == {"a": 1}


def test_names_that_cannot_be_written_are_refused_beforehand(tmp_path):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path, "is a directory"),
        (tmp_path / "file" / "a.npz", "not a directory"),
        (tmp_path / "pipe", "not an ordinary file"),
        ("/dev/null", "not an ordinary file"),
        ("/proc/a.npz", "cannot be written"),
        (tmp_path / ("x" * 300), "cannot be written: file name too long"),
    ):
        with pytest.raises(Problem, match=words):
            write_document(path, {})
        if str(path) != "/proc/a.npz":  # there only the attempt can tell
            with pytest.raises(Problem, match=words):
                check_writable(path)
    long_but_legal = tmp_path / ("x" * 250 + ".txt")
    with writing(long_but_legal) as temporary:
        temporary.write_text("a")
    assert long_but_legal.exists()


def test_read_only_places_are_refused():
    # root may write anywhere, so the attempt is made as nobody
    program = """
import os, tempfile
from pathlib import Path
from impel.files import Problem, check_writable
if os.getuid() == 0:
    os.setuid(65534)
folder = Path(tempfile.mkdtemp())
file = folder / "a.npz"
file.touch(0o444)
for path in (file, folder / "b.npz"):
    try:
        check_writable(path)
    except Problem as problem:
        print(problem)
    folder.chmod(0o555)
folder.chmod(0o755)
file.unlink()
folder.rmdir()
"""
    lines = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "a.npz: cannot be written: it is read-only" in lines
    assert "b.npz: cannot be written: permission denied in" in lines


def test_kill_in_the_middle_leaves_nothing_under_the_name(tmp_path):
    path = tmp_path / "take.npz"
    program = (
        "import sys, time\nfrom impel.files import writing\n"
        f"with writing({str(path)!r}) as t:\n"
        "    t.write_bytes(b'half'); print('half way', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
    assert not path.exists()
    assert all(name.startswith(".take-") for name in os.listdir(tmp_path))


def test_a_file_is_found_beside_the_one_that_names_it_and_named_so_that_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("sub", "other"):
        (tmp_path / folder).mkdir()
    for name in ("both.yaml", "here.yaml", "sub/both.yaml", "sub/there.yaml", "other/far.yaml"):
        (tmp_path / name).touch()
    assert find_beside("sub/scene.yaml", "both.yaml") == Path("sub/both.yaml")
    assert find_beside("sub/scene.yaml", "here.yaml") == Path("here.yaml")
    assert find_beside("sub/scene.yaml", "nowhere.yaml") == Path("sub/nowhere.yaml")  # where one would look for it
    for name in ("both.yaml", "sub/there.yaml", "other/far.yaml", str(tmp_path / "here.yaml")):
        assert find_beside("sub/scene.yaml", name_beside("sub/scene.yaml", name)).resolve() == (tmp_path / name)
    assert name_beside("sub/scene.yaml", "other/far.yaml") == "../other/far.yaml"
    assert name_beside("scene.yaml", tmp_path / "here.yaml") == str(tmp_path / "here.yaml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(Problem, match="is not an ordinary file"):
        read_document(tmp_path / "pipe.yaml")


@pytest.mark.skipif(sys.platform == "win32", reason="there leftovers stay")
def test_what_a_killed_run_left_is_removed_by_the_next_and_what_another_is_writing_is_not(tmp_path):
    program = (
        "import sys, time\nfrom impel.files import writing\n"
        "with writing(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n    print('half way', flush=True)\n    time.sleep(60)"
    )
    (tmp_path / ".mine.part.txt").write_text("not ours")
    with subprocess.Popen([sys.executable, "-c", program, tmp_path / "a.txt"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        write_document(tmp_path / "b.yaml", {"a": 1})
        assert len(os.listdir(tmp_path)) == 3  # it still lives
        process.kill()
    write_document(tmp_path / "b.yaml", {"a": 1})
    assert sorted(os.listdir(tmp_path)) == [".mine.part.txt", "b.yaml"]
