"""The .npz of a take: nothing is lost, nothing is pickled, and foreign files are refused in plain words."""

import contextlib
import dataclasses
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from parade import parade

from impel.files import Problem
from impel.takes import EVENT_KINDS, Take, load_npz, save_npz
from impel.takes.take import VERSION, path_at

NUMBERS = st.floats(-1e9, 1e9)
POINT = {"points": [{"at": [0, 0, 0], "radius": 1}]}  # of a blob
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)


def assert_same(a: Take, b: Take):
    for field in dataclasses.fields(Take):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            assert np.array_equal(left, right, equal_nan=True)
        elif isinstance(left, dict) and field.name != "camera":
            assert list(left) == list(right)
            assert all(np.array_equal(left[k], right[k], equal_nan=True) for k in left)
        else:
            assert left == right


@st.composite
def takes(draw):
    frames, names = draw(st.integers(1, 4)), draw(st.lists(NAMES, max_size=3, unique=True))
    n = len(names)
    quaternion = np.array([1.0, 0, 0, 0])
    return Take(
        time=np.cumsum(draw(arrays.arrays(float, frames, elements=st.floats(1e-3, 10)))),
        names=names,
        position=draw(arrays.arrays(float, (frames, n, 3), elements=NUMBERS)),
        orientation=np.tile(quaternion, (frames, n, 1)),
        shapes=[{"capsule": {"radius": 0.1, "length": 1}}] * n,
        colors=[draw(st.sampled_from(["#0a1B2c", "#0a1B2c80"]))] * n,
        events=[
            {"time": t, "kind": draw(st.sampled_from(EVENT_KINDS)), "subject": draw(NAMES), "details": {}}
            for t in draw(st.lists(NUMBERS, max_size=3))
        ],
        channels={draw(NAMES): draw(arrays.arrays(float, frames)) for _ in range(draw(st.integers(0, 2)))},
        tracks={draw(NAMES): draw(arrays.arrays(float, (frames, draw(st.integers(3, 4)))))},
        paths={draw(NAMES): draw(arrays.arrays(float, (7, draw(st.integers(3, 4)))))},
        camera=draw(st.sampled_from([None, {"from": [0, -5, 2], "to": [0, 0, 1], "fov": 40}])),
        cameras=draw(st.sampled_from([[], [{"time": 0.5}, {"time": 1.0, "follow": names[0]}]])) if names else [],
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(take=takes())
def test_every_take_comes_back_as_it_was(take, tmp_path):
    save_npz(take, tmp_path / "take.npz")
    assert_same(take, load_npz(tmp_path / "take.npz"))


def test_plain_numpy_reads_the_documented_arrays(tmp_path):
    take = parade(6, 5)
    save_npz(take, tmp_path / "take.npz")
    with np.load(tmp_path / "take.npz", allow_pickle=False) as archive:
        assert archive["time"].shape == (5,)
        assert archive["names"].tolist() == take.names
        assert np.array_equal(archive["position"], take.position)
        assert archive["orientation"].shape == (5, 6, 4)
        assert json.loads(str(archive["events"])) == take.events
        assert json.loads(str(archive["shapes"])) == take.shapes
        assert np.array_equal(archive["channel/energy"], take.channels["energy"])
        assert np.array_equal(archive["track/body 0.move.target"], take.tracks["body 0.move.target"])
        assert np.array_equal(archive["path/body 0.move"], take.paths["body 0.move"])


def test_same_take_gives_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        save_npz(parade(6, 5), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert {info.date_time for info in zipfile.ZipFile(tmp_path / "a.npz").infolist()} == {(1980, 1, 1, 0, 0, 0)}


def one_line(path):
    with pytest.raises(Problem) as problem:
        load_npz(path)
    assert len(problem.value.lines) == 1
    assert "\n" not in problem.value.lines[0]
    assert problem.value.lines[0].startswith(f"{path}: ")
    return problem.value.lines[0]


def saved_with(path, **changes):
    """A take's file with some arrays replaced, or left out when None."""
    save_npz(parade(4, 3), path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays.update(changes)
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": None}, "no time"),
        ({"events": None}, "no events"),
        ({"position": np.zeros((3, 4, 2))}, "position"),
        ({"position": np.zeros((2, 4, 3))}, "position"),
        ({"position": np.full((3, 4, 3), "x")}, "position"),
        ({"orientation": np.zeros((3, 4, 4))}, "orientation"),
        ({"time": np.array([0.0, 0.2, 0.1])}, "time"),
        ({"time": np.array([0.0, np.nan, 0.1])}, "time"),
        ({"time": np.zeros(())}, "time"),
        ({"names": np.array(["a", "b", "a", "c"])}, "names"),
        ({"names": np.arange(4)}, "names"),
        ({"shapes": np.array("[1, 2, 3, 4]")}, "shapes"),
        ({"shapes": np.array("[{]")}, "shapes"),
        ({"shapes": np.array(json.dumps([{"sphere": "big"}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"box": [1, 2]}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"capsule": {"radius": 1}}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"teapot": 1}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"sphere": "1e300"}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"blob": {"points": [{"at": [0, 0, None], "radius": 1}]}}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"blob": POINT | {"blend": None}}] * 4))}, "shapes"),
        ({"shapes": np.array(json.dumps([{"blob": POINT | {"blend": "nan"}}] * 4))}, "shapes"),
        ({"shapes": np.array("[" * 100_000)}, "shapes"),
        ({"colors": np.array('["red", "red", "red", "red"]')}, "colors"),
        ({"colors": np.array('["#1234567", "#123456", "#123456", "#123456"]')}, "colors"),
        ({"events": np.array('[{"kind": "miracle"}]')}, "events"),
        ({"camera": np.array('{"fov": 3}')}, "camera"),
        ({"camera": np.array('{"from": [0, 0], "to": 3}')}, "camera"),
        ({"camera": np.array('{"follow": "nobody"}')}, "camera"),
        ({"camera": np.array('{"follow": 3}')}, "camera"),
        ({"cameras": np.array('{"time": 3}')}, "cameras"),
        ({"cameras": np.array('[{"follow": "a"}]')}, "cameras"),
        ({"cameras": np.array('[{"time": 1, "from": [0, 0, 1]}]')}, "cameras"),
        ({"cameras": np.array('[{"time": -1}]')}, "cameras"),
        ({"channel/energy": np.zeros(7)}, "channel/energy"),
        ({"track/body 0.move.target": np.zeros((3, 2))}, "track/body 0.move.target"),
        ({"track/body 0.move.target": np.zeros((3, 5))}, "track/body 0.move.target"),
        ({"path/body 0.move": np.zeros(3)}, "path/body 0.move"),
        ({"path/body 0.move": np.zeros(4)}, "path/body 0.move"),
    ],
)
def test_foreign_contents_are_named(changes, words, tmp_path):
    saved_with(tmp_path / "take.npz", **changes)
    assert words in one_line(tmp_path / "take.npz")


def test_files_that_are_no_takes_are_refused(tmp_path):
    path = tmp_path / "take.npz"
    assert "cannot be read" in one_line(path)
    path.mkdir()
    one_line(path)
    path.rmdir()
    for content in (b"", b"hello", b"PK\x03\x04 and then nothing", pickle.dumps([1, 2])):
        path.write_bytes(content)
        assert "is not a take" in one_line(path)
    np.savez(path, time=np.array([{"a": "pickled"}], dtype=object))
    assert "is not a take" in one_line(path)


def test_a_header_that_promises_too_much_is_refused(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**15, 3)})
    with zipfile.ZipFile(tmp_path / "take.npz", "w") as archive:
        archive.writestr("position.npy", stream.getvalue())
    assert "damaged" in one_line(tmp_path / "take.npz")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 5000), flips=st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 255)), max_size=4))
def test_damaged_files_never_show_a_traceback(cut, flips, tmp_path):
    path = tmp_path / "take.npz"
    save_npz(parade(4, 3), path)
    data = bytearray(path.read_bytes())
    for where, bits in flips:
        data[where % len(data)] ^= bits
    path.write_bytes(data[: len(data) - cut % len(data)])
    with contextlib.suppress(Problem):  # anything else fails the test
        load_npz(path)


def test_what_a_newer_version_added_is_kept(tmp_path):
    news = np.arange(6.0).reshape(3, 2)
    events = [{"time": 0.1, "kind": "miracle", "subject": "water", "details": {"into": "wine"}}]
    saved_with(
        tmp_path / "new.npz", version=np.array(7), events=np.array(json.dumps(events)), **{"cloth/jelly.vertices": news}
    )
    take = load_npz(tmp_path / "new.npz")
    assert (take.version, take.events) == (7, events)
    save_npz(take, tmp_path / "again.npz")
    with np.load(tmp_path / "again.npz", allow_pickle=False) as archive:
        assert int(archive["version"]) == 7
        assert np.array_equal(archive["cloth/jelly.vertices"], news)
        assert json.loads(str(archive["events"])) == events


def test_every_take_tells_its_version_and_the_first_ones_are_brought_up_to_it(tmp_path):
    save_npz(parade(4, 3), tmp_path / "take.npz")
    with np.load(tmp_path / "take.npz") as archive:
        assert int(archive["version"]) == VERSION
    saved_with(tmp_path / "old.npz", version=None, keys=None)
    take = load_npz(tmp_path / "old.npz")
    assert take.version == VERSION
    assert [event["kind"] for event in take.events] == ["key passed"]


def test_paths_may_move(tmp_path):
    take = parade(4, 3)
    take.paths["body 0.move"] = np.arange(3.0)[:, None, None] + np.zeros((3, 5, 3))
    save_npz(take, tmp_path / "take.npz")
    again = load_npz(tmp_path / "take.npz")
    assert_same(take, again)
    assert np.array_equal(path_at(again, "body 0.move", 2), np.full((5, 3), 2.0))
    take.paths["body 0.move"] = np.zeros((4, 5, 3))  # of other frames than the take's
    save_npz(take, tmp_path / "take.npz")
    assert "path/body 0.move" in one_line(tmp_path / "take.npz")
