"""Surfaces of soft bodies in a take: how each lies at rest, and which of its vertices have moved in each frame.

Of a soft body NAME, `Take.soft` holds, all in the body's frame and in metres:

    NAME.vertices   (V, 3) float64    its surface at rest
    NAME.normals    (V, 3) float64    ... and which way it faces
    NAME.triangles  (T, 3) int32
    NAME.colors     (V, 3) float64    as light; only where a mesh is painted in its own colours
    NAME.first      (F + 1,) int64    the rows of frame f are first[f] to before first[f + 1]
    NAME.index      (K,) uint32       a vertex that has moved ...
    NAME.shift      (K, 3) float32    ... how far from its place at rest ...
    NAME.normal     (K, 3) float16    ... and which way the surface faces there

A file holds the last three in another form, see packing.py.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.geometry.meshes import Mesh
from impel.geometry.skins import NORMAL_GRAIN, grain_of
from impel.takes.take import Floats, Take

REST, MOVED = ("vertices", "normals", "triangles"), ("first", "index", "shift", "normal")
KINDS = {  # dtype and numbers in a row; 0 for a plain list
    "vertices": (np.float64, 3),
    "normals": (np.float64, 3),
    "triangles": (np.int32, 3),
    "colors": (np.float64, 3),
    "first": (np.int64, 0),
    "index": (np.uint32, 0),
    "shift": (np.float32, 3),
    "normal": (np.float16, 3),
}
SMALLEST = 1e-20  # a normal that is shorter tells no direction

Arrays = dict[str, NDArray[Any]]


def soft_bodies(take: Take) -> list[str]:
    """The bodies whose surfaces are pressed in somewhere in the take."""
    return [name for name in take.names if f"{name}.first" in take.soft]


def rest_of(take: Take, name: str) -> Mesh:
    """The surface of a soft body at rest."""
    vertices, normals, triangles = (take.soft[f"{name}.{part}"] for part in REST)
    return vertices, normals, triangles


def moved_at(take: Take, name: str, frame: int) -> tuple[Any, Any, Any]:
    """Which vertices have moved in a frame, where they are and which way they face: (K,), (K, 3), (K, 3)."""
    first = take.soft[f"{name}.first"]
    rows = slice(int(first[frame]), int(first[frame + 1]))
    index = take.soft[f"{name}.index"][rows].astype(np.int64)
    there = take.soft[f"{name}.vertices"][index] + take.soft[f"{name}.shift"][rows]
    return index, there, _unit(take.soft[f"{name}.normal"][rows].astype(np.float64))


def surface_at(take: Take, name: str, frame: int) -> Mesh:
    """The surface of a soft body in a frame, in the body's frame: vertices, normals and triangles."""
    vertices, normals, triangles = rest_of(take, name)
    index, there, facing = moved_at(take, name, frame)
    vertices, normals = vertices.copy(), normals.copy()
    vertices[index], normals[index] = there, facing
    return vertices, normals, triangles


def pack(name: str, mesh: Mesh, frames: Iterable[tuple[Any, Any, Any]], colors: Floats | None = None) -> Arrays:
    """What `Take.soft` holds of a body: its mesh at rest, and for each frame index, shift and normal of what moved."""
    moved = list(frames)
    first = np.cumsum([0, *(len(index) for index, _, _ in moved)])
    columns = [np.concatenate(each) for each in zip(*moved)] if moved else [np.zeros(0), *np.zeros((2, 0, 3))]
    return pack_rows(name, mesh, (first, *columns), colors)


def pack_rows(name: str, mesh: Mesh, moved: tuple[Any, ...], colors: Floats | None = None) -> Arrays:
    """The same of what moved in all frames: first, index, shift and normal."""
    parts = dict(zip((*REST, *MOVED), (*mesh, *moved)))
    if colors is not None:
        parts["colors"] = colors
    return {f"{name}.{part}": np.ascontiguousarray(values, KINDS[part][0]) for part, values in parts.items()}


def resampled_soft(take: Take, before: NDArray[np.int64], after: NDArray[np.int64], share: Floats) -> Arrays:
    """`Take.soft` in other frames: each lies between two, by a share of the way from the first to the second."""
    soft: Arrays = {}
    for name in soft_bodies(take):
        frames = [_between(take, name, *each) for each in zip(before.tolist(), after.tolist(), share.tolist())]
        soft |= pack(name, rest_of(take, name), frames, take.soft.get(f"{name}.colors"))
    return soft


def _between(take: Take, name: str, before: int, after: int, share: float) -> tuple[Any, Any, Any]:
    vertices, normals, _ = rest_of(take, name)
    ends = [moved_at(take, name, frame) for frame in (before, after)]
    if share in (0.0, 1.0):
        index, there, facing = ends[int(share)]
        return index, there - vertices[index], facing
    index = np.union1d(ends[0][0], ends[1][0])
    there, facing = np.zeros((2, len(index), 3)), np.zeros((2, len(index), 3))
    for k, (moved, places, ways) in enumerate(ends):
        there[k], facing[k] = vertices[index], normals[index]
        rows = np.searchsorted(index, moved)
        there[k, rows], facing[k, rows] = places, ways
    weight = np.array([1.0 - share, share])
    grain = grain_of(float(np.ptp(vertices, axis=0).max()))
    shift = grain * np.round((np.tensordot(weight, there, 1) - vertices[index]) / grain)
    return index, shift, NORMAL_GRAIN * np.round(_unit(np.tensordot(weight, facing, 1)) / NORMAL_GRAIN)


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > SMALLEST, vectors / np.maximum(length, SMALLEST), [0.0, 0.0, 1.0])


def mistake_in_soft(take: Take, largest: float, most: int) -> str | None:
    """The first thing that is wrong with the soft surfaces of a take, if anything is."""
    bodies: dict[str, Arrays] = {}
    for label, values in take.soft.items():
        name, _, part = label.rpartition(".")
        if part not in KINDS or name not in take.names:
            return f"soft/{label}: expected the name of a body, and one of {', '.join(KINDS)}"
        kind, columns = KINDS[part]
        shape = (len(values), columns) if columns and values.ndim else (values.size,)
        if values.dtype != kind or values.shape != shape:
            return f"soft/{label}: expected {np.dtype(kind)} numbers" + (f" in rows of {columns}" if columns else "")
        bodies.setdefault(name, {})[part] = values
    for name, parts in bodies.items():
        missing = [part for part in (*REST, *MOVED) if part not in parts]
        if missing:
            return f"soft/{name}.{missing[0]}: is missing"
        wrong = _wrong_part(parts, len(take.time), largest, most)
        if wrong:
            return f"soft/{name}.{wrong}"
    return None


def _wrong_part(parts: Arrays, frames: int, largest: float, most: int) -> str | None:
    count, rows, first = len(parts["vertices"]), len(parts["index"]), parts["first"]
    if not 0 < count <= most:
        return f"vertices: expected 1 to {most} of them"
    for part in ("vertices", "shift"):
        if not np.all(np.abs(parts[part]) <= largest):
            return f"{part}: expected numbers up to {largest:g} m"
    for part in ("normals", "normal"):
        if not np.all(np.abs(parts[part]) <= 2):
            return f"{part}: expected unit vectors"
    for part, length in (("normals", count), ("colors", count), ("shift", rows), ("normal", rows)):
        if part in parts and len(parts[part]) != length:
            return f"{part}: expected {length} rows, got {len(parts[part])}"
    if "colors" in parts and not np.all((parts["colors"] >= 0) & (parts["colors"] <= 1)):
        return "colors: expected numbers from 0 to 1"
    if not len(parts["triangles"]) or not np.all((parts["triangles"] >= 0) & (parts["triangles"] < count)):
        return f"triangles: expected numbers of vertices, less than {count}"
    if not np.all(parts["index"] < count):
        return f"index: expected numbers of vertices, less than {count}"
    if len(first) != frames + 1 or first[0] != 0 or first[-1] != rows or np.any(np.diff(first) < 0):
        return f"first: expected {frames + 1} numbers from 0 to {rows}, none less than the one before"
    return None
