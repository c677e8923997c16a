"""Soft surfaces in takes: what moved comes back as it was, at any rate, and foreign ones are refused in plain words."""

import zipfile

import numpy as np
import pytest
from parade import parade

from impel.files import Problem
from impel.geometry.meshes import mesh_of
from impel.takes import load_npz, resampled, save_npz
from impel.takes.soft import pack, rest_of, soft_bodies, surface_at
from impel.takes.take import SOFT_VERSION


def squashed(frames: int = 4):
    """A take whose first body is flattened from below, more from frame to frame; at the first it is whole."""
    take = parade(4, frames)
    name = next(n for n, shape in zip(take.names, take.shapes) if "plane" not in shape)
    take.shapes[take.index(name)] = {"sphere": 0.3}
    mesh = mesh_of({"sphere": 0.3}, segments=12)
    moved = []
    for frame in range(frames):
        floor = -0.3 + 0.05 * frame
        index = np.flatnonzero(mesh[0][:, 2] < floor)
        shift = np.zeros((len(index), 3))
        shift[:, 2] = floor - mesh[0][index, 2]
        moved.append((index, shift, np.tile([0.0, 0, -1], (len(index), 1))))
    take.soft = pack(name, mesh, moved)
    take.version = SOFT_VERSION
    return take, name


def brought_back(take, tmp_path):
    """The take from a file, with surfaces as they were."""
    save_npz(take, tmp_path / "take.npz")
    back = load_npz(tmp_path / "take.npz")
    for label, values in take.soft.items():
        assert back.soft[label].dtype == values.dtype
        assert np.array_equal(back.soft[label], values)
    return back


def test_soft_surfaces_come_back_as_they_were(tmp_path):
    take, name = squashed()
    back = brought_back(take, tmp_path)
    assert soft_bodies(back) == [name]
    assert back.version == SOFT_VERSION
    vertices, normals, _ = surface_at(back, name, 3)
    below = rest_of(back, name)[0][:, 2] < -0.15
    np.testing.assert_allclose(vertices[below, 2], -0.15, atol=1e-8)
    assert vertices[:, 2].min() > -0.15 - 1e-8
    np.testing.assert_allclose(normals[below], np.tile([0, 0, -1], (below.sum(), 1)), atol=1e-3)
    assert np.array_equal(surface_at(back, name, 0)[0], rest_of(back, name)[0])


def rolling(frames=40):
    """A take with a surface as a simulation leaves it, on a grid: a dent that goes round a ball."""
    take = parade(4, frames)
    name = next(n for n, shape in zip(take.names, take.shapes) if "plane" not in shape)
    take.shapes[take.index(name)] = {"sphere": 0.3}
    mesh = mesh_of({"sphere": 0.3}, segments=48)
    moved = []
    for frame in range(frames):
        way = np.array([np.sin(0.1 * frame), 0, -np.cos(0.1 * frame)])
        over = mesh[0] @ way - 0.2
        index = np.flatnonzero(over > 0)
        shift = -np.round(over[index, None] * way * 2**24) / 2**24
        moved.append((index, shift, np.round(512 * np.tile(way, (len(index), 1))) / 512))
    take.soft = pack(name, mesh, moved)
    take.version = SOFT_VERSION
    return take, name


def test_surfaces_on_a_grid_take_little_room_and_lose_nothing(tmp_path):
    take, name = rolling()
    brought_back(take, tmp_path)
    with zipfile.ZipFile(tmp_path / "take.npz") as archive:
        room = sum(e.compress_size for e in archive.infolist() if e.filename.startswith(f"soft/{name}."))
    at_rest = sum(take.soft[f"{name}.{part}"].nbytes for part in ("vertices", "normals", "triangles"))
    assert room < at_rest + 0.4 * sum(take.soft[f"{name}.{part}"].nbytes for part in ("index", "shift", "normal"))


def test_takes_that_hold_surfaces_at_length_are_read(tmp_path):
    """As version 3 wrote them."""
    take, _ = rolling()
    save_npz(take, tmp_path / "take.npz")
    with np.load(tmp_path / "take.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if not name.startswith("soft/")}
    arrays |= {f"soft/{label}": values for label, values in take.soft.items()} | {"version": np.array(3)}
    np.savez(tmp_path / "earlier.npz", **arrays)
    back = load_npz(tmp_path / "earlier.npz")
    for label, values in take.soft.items():
        assert np.array_equal(back.soft[label], values)


@pytest.mark.parametrize("damage", ["cut", "bytes", "kind", "longer", "rows"])
def test_packed_surfaces_that_are_damaged_are_refused_in_a_line(tmp_path, damage):
    take, name = rolling()
    save_npz(take, tmp_path / "take.npz")
    with np.load(tmp_path / "take.npz") as archive:
        arrays = {label: archive[label] for label in archive.files}
    label = f"soft/{name}.packed"
    stream = arrays[label]
    twice = np.append(stream, stream)
    wrong = {"cut": stream[:-9], "bytes": stream[::-1], "kind": stream.astype(float), "longer": twice}
    arrays[label] = wrong.get(damage, stream)
    if damage == "rows":
        label = f"soft/{name}.first"
        arrays[label] = arrays[label] * 10**9
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(Problem, match=rf"{label}: expected") as problem:
        load_npz(tmp_path / "damaged.npz")
    assert len(problem.value.lines) == 1


def test_takes_without_soft_surfaces_hold_no_trace_of_them(tmp_path):
    save_npz(parade(4, 3), tmp_path / "take.npz")
    with np.load(tmp_path / "take.npz") as arrays:
        assert not [name for name in arrays.files if name.startswith("soft")]
        assert int(arrays["version"]) < SOFT_VERSION


def test_between_two_frames_a_surface_lies_between_them():
    take, name = squashed(5)
    half = resampled(take, 2 * take.fps)
    assert len(half.soft[f"{name}.first"]) == len(half.time) + 1
    for frame in range(4):
        one, other = surface_at(take, name, frame)[0], surface_at(take, name, frame + 1)[0]
        np.testing.assert_allclose(surface_at(half, name, 2 * frame)[0], one, atol=1e-7)
        np.testing.assert_allclose(surface_at(half, name, 2 * frame + 1)[0], (one + other) / 2, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(surface_at(half, name, 7)[1], axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("first", lambda a: a[:-1]),
        ("first", lambda a: a + 1),
        ("first", lambda a: a[::-1].copy()),
        ("first", lambda a: a.astype(float)),
        ("index", lambda a: a + np.uint32(10_000)),
        ("index", lambda a: a[:-1]),
        ("index", lambda a: a.reshape(-1, 1)),
        ("shift", lambda a: np.full_like(a, np.nan)),
        ("shift", lambda a: a[:, :2].copy()),
        ("normal", lambda a: a * np.float16(100)),
        ("normals", lambda a: a[1:]),
        ("vertices", lambda a: np.full_like(a, np.inf)),
        ("vertices", lambda a: np.array(1.0)),
        ("triangles", lambda a: a - 1),
        ("triangles", lambda a: a[:0]),
        ("triangles", lambda a: None),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_soft_surface_is_one_line(tmp_path, part, change):
    take, name = squashed()
    changed = change(take.soft.pop(f"{name}.{part}"))
    if changed is not None:
        take.soft[f"{name}.{part}"] = changed
    save_npz(take, tmp_path / "take.npz")
    with pytest.raises(Problem) as problem:
        load_npz(tmp_path / "take.npz")
    assert len(problem.value.lines) == 1
    assert f"soft/{name}" in problem.value.lines[0]


def test_a_soft_surface_of_nobody_is_refused(tmp_path):
    take, name = squashed()
    take.soft["nobody.first"] = take.soft[f"{name}.first"]
    save_npz(take, tmp_path / "take.npz")
    with pytest.raises(Problem, match=r"soft/nobody\.first: expected the name of a body"):
        load_npz(tmp_path / "take.npz")
