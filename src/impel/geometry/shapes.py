"""Shapes as a scene writes them, `{"sphere": 0.2}`, as flat arrays for the kernels."""

import json
import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.baking import Baked, bake
from impel.geometry.blobs import blob_elements, blob_parts
from impel.geometry.fields import Shapes
from impel.geometry.grids import PLACE, Grid, place_row
from impel.geometry.kinds import BLOB, CORE, INNER, KINDS, MESH, RADIUS, SKIN, kind_of, size_of, solid
from impel.motion.orientations import matrix_from_quaternion

Floats = NDArray[np.float64]


class Form(NamedTuple):
    kind: int
    radius: float  # or half of a box's side along x; or how softly a blob blends
    half: float  # of its length
    extent: Floats  # (6,) RADIUS ...


def make_shapes(shapes: list[dict[str, Any]]) -> Shapes:
    """The arrays behind the fields of several bodies."""
    n = len(shapes)
    kind = np.array([KINDS[kind_of(shape)].number for shape in shapes], np.int64).reshape(n)
    size = np.array([size_of(shape) for shape in shapes]).reshape(n, 3)
    part = np.zeros((n, 2), np.int64)
    elements: list[Floats] = []
    for i in np.flatnonzero(kind == BLOB):
        rows = blob_in_principal_axes(shapes[i]["blob"])
        part[i] = sum(map(len, elements)), sum(map(len, elements)) + len(rows)
        elements.append(rows)
    grid, place = _make_grids(shapes, kind, part)
    return Shapes(kind, size, part, np.concatenate(elements) if elements else None, grid, place)


def _make_grids(shapes: list[dict[str, Any]], kind: Any, part: Any) -> tuple[Any, Any]:
    """The splines of all meshes, one behind the other, and where each is; bodies of the same mesh share theirs."""
    values: dict[str, tuple[int, Any]] = {}
    rows: list[list[float]] = []
    count = 0
    for i in np.flatnonzero(kind == MESH):
        baked = bake(shapes[i])
        if baked.key not in values:
            values[baked.key] = count, baked.grid.ravel()
            count += baked.grid.size
        part[i] = len(rows), len(rows) + 1
        row = place_row(Grid(baked.low, baked.spacing, baked.grid), values[baked.key][0])
        rows.append([*row, baked.thinnest, *_mesh_extent(baked)])
    if not rows:
        return None, None
    return np.concatenate([grid for _, grid in values.values()]), np.array(rows)


def make_extents(shapes: Shapes) -> Floats:
    """(N, 6) how far the shapes reach: RADIUS, INNER, CORE and SKIN of each; infinite for a plane."""
    known = {kind.number: kind.extent for kind in KINDS.values()}
    extents = np.array([known[kind](size) for kind, size in zip(shapes.kind.tolist(), shapes.size.tolist())])
    for i in np.flatnonzero(shapes.kind == BLOB):
        extents[i] = _blob_extent(shapes, int(i))
    for i in np.flatnonzero(shapes.kind == MESH):
        if shapes.place is not None:
            extents[i] = shapes.place[shapes.part[i, 0], PLACE:]
    return extents.reshape(-1, 6)


def _blob_extent(shapes: Shapes, i: int) -> Floats:
    extent = np.zeros(6)
    if shapes.elements is not None:
        parts = blob_parts(shapes.elements[slice(*shapes.part[i])])
        ends = np.concatenate([parts[:, 0:3], parts[:, 3:6]])
        swollen = np.tile(parts[:, 6] + 0.25 * shapes.size[i, 0] * math.log(len(parts)), 2)
        extent[RADIUS] = (np.linalg.norm(ends, axis=1) + swollen).max()
        extent[INNER] = parts[:, 6].min()
        extent[CORE:SKIN] = (np.abs(ends) + swollen[:, None]).max(0)
    return extent


def _mesh_extent(baked: Baked) -> Floats:
    inside = (baked.vertices - baked.centre) @ matrix_from_quaternion(baked.axes)
    extent = np.zeros(6)
    extent[RADIUS] = np.linalg.norm(inside, axis=1).max()
    extent[INNER] = baked.inner
    extent[CORE:SKIN] = np.abs(inside).max(0)
    return extent


def form(shape: dict[str, Any]) -> Form:
    """What one shape is like."""
    if KINDS[kind_of(shape)].number == MESH:  # whose file may change
        return _form_of(shape)
    return _form(json.dumps(shape))


@lru_cache(1024)
def _form(text: str) -> Form:
    return _form_of(json.loads(text))


def _form_of(shape: dict[str, Any]) -> Form:
    arrays = make_shapes([shape])
    r, half, _ = arrays.size[0].tolist()
    return Form(int(arrays.kind[0]), r, half, make_extents(arrays)[0])


def blob_in_principal_axes(blob: dict[str, Any]) -> Floats:
    """A blob's elements in the frame of its centre of mass and principal axes."""
    whole = solid({"blob": blob})
    axes = matrix_from_quaternion(whole.rotation)
    rows = blob_elements(blob)
    rows[:, 0:3] = (rows[:, 0:3] - whole.offset) @ axes
    rows[:, 3:6] = (rows[:, 3:6] - whole.offset) @ axes
    return rows
