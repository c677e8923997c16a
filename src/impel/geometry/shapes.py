"""Shapes as a scene writes them, `{"sphere": 0.2}`: volume, inertia, extent, and flat arrays for the kernels."""

import json
import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.geometry.blobs import blob_elements, blob_moments
from impel.geometry.fields import BLOB, BOX, CAPSULE, CYLINDER, PLANE, SPHERE, Shapes
from impel.motion.orientations import matrix_from_quaternion, quaternion_from_matrix

Floats = NDArray[np.float64]

KINDS = {
    "sphere": SPHERE,
    "capsule": CAPSULE,
    "cylinder": CYLINDER,
    "blob": BLOB,
    "box": BOX,
    "plane": PLANE,
}


class Solid(NamedTuple):
    """What a shape weighs, and where its centre of mass and principal axes lie in the shape's own frame."""

    volume: float
    inertia: Floats  # (3,) principal, for a mass of 1 kg
    offset: Floats  # (3,) centre of mass; zero but for blobs
    rotation: Floats  # (4,) principal axes; no rotation but for blobs


class Form(NamedTuple):
    kind: int
    radius: float  # or half of a box's side along x; or how softly a blob blends
    half: float  # of its length
    extent: Floats  # (6,) RADIUS ...


def solid(shape: dict[str, Any]) -> Solid:
    """Mass properties of a shape of even density."""
    return _solid(_text(shape))


def make_shapes(shapes: list[dict[str, Any]]) -> Shapes:
    """The arrays behind the fields of several bodies."""
    n = len(shapes)
    kind = np.array([KINDS[_kind(shape)] for shape in shapes], np.int64).reshape(n)
    size = np.zeros((n, 3))
    part = np.zeros((n, 2), np.int64)
    elements: list[Floats] = []
    for i, shape in enumerate(shapes):
        value = shape[_kind(shape)]
        if kind[i] == SPHERE:
            size[i, 0] = value
        elif kind[i] == BOX:
            size[i] = np.asarray(value, float) / 2
        elif kind[i] == BLOB:
            rows = blob_in_principal_axes(value)
            size[i, 0] = value.get("blend", 0.0)
            part[i] = sum(map(len, elements)), sum(map(len, elements)) + len(rows)
            elements.append(rows)
        elif kind[i] != PLANE:
            size[i, :2] = value["radius"], value["length"] / 2
    return Shapes(kind, size, part, np.concatenate(elements) if elements else None)


# Columns of `make_extents`.
RADIUS, INNER, CORE, SKIN = 0, 1, 2, 5


def make_extents(shapes: Shapes) -> Floats:
    """(N, 6) how far the shapes reach, infinite for a plane:

    RADIUS of a ball about the centre that holds the shape; INNER, how deep inside a point can be; CORE, half
    extents of a box (3) that, rounded by SKIN, holds the shape.
    """
    extents = np.zeros((len(shapes.kind), 6))
    for row, kind, size, (first, last) in zip(extents, shapes.kind, shapes.size, shapes.part):
        r, half, _ = size
        if kind == PLANE:
            row[[RADIUS, INNER, SKIN]] = math.inf
        elif kind == SPHERE:
            row[[RADIUS, INNER, SKIN]] = r
        elif kind == BOX:
            row[:] = np.linalg.norm(size), size.min(), *size, 0.0
        elif kind == CAPSULE:
            row[:] = half + r, r, 0.0, 0.0, half, r
        elif kind == CYLINDER:
            row[:] = math.hypot(r, half), min(r, half), r, r, half, 0.0
        elif shapes.elements is not None:
            parts = shapes.elements[first:last]
            ends = np.concatenate([parts[:, 0:3], parts[:, 3:6]])
            swollen = np.tile(parts[:, 6] + 0.25 * size[0] * math.log(len(parts)), 2)
            row[RADIUS] = (np.linalg.norm(ends, axis=1) + swollen).max()
            row[INNER] = parts[:, 6].min()
            row[CORE:SKIN] = (np.abs(ends) + swollen[:, None]).max(0)
    return extents


def form(shape: dict[str, Any]) -> Form:
    """What one shape is like."""
    return _form(_text(shape))


@lru_cache(1024)
def _form(text: str) -> Form:
    arrays = make_shapes([json.loads(text)])
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


def _kind(shape: dict[str, Any]) -> str:
    names = [name for name in shape if shape[name] is not None]
    if len(names) != 1 or names[0] not in KINDS:
        raise Problem(f"shape: must be one of {', '.join(KINDS)}, got {', '.join(map(str, shape)) or 'nothing'}")
    return names[0]


def _text(shape: dict[str, Any]) -> str:
    return json.dumps({_kind(shape): shape[_kind(shape)]})


@lru_cache(1024)
def _solid(text: str) -> Solid:
    shape = json.loads(text)
    kind = _kind(shape)
    value = shape[kind]
    none = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if kind == "plane":
        return Solid(math.inf, np.full(3, math.inf), *none)
    if kind == "sphere":
        return Solid(4 / 3 * math.pi * value**3, np.full(3, 0.4 * value**2), *none)
    if kind == "box":
        x, y, z = (float(v) ** 2 / 12 for v in value)
        return Solid(float(np.prod(value)), np.array([y + z, x + z, x + y]), *none)
    if kind == "blob":
        return _blob_solid(value)
    r, length = value["radius"], value["length"]
    tube = math.pi * r * r * length
    across = r * r / 4 + length * length / 12
    if kind == "cylinder":
        return Solid(tube, np.array([across, across, r * r / 2]), *none)
    balls = 4 / 3 * math.pi * r**3
    # Half balls at the ends: 2/5 r² about their own diameters, moved by length/2 with the 3/8 r of their centres.
    ends = 0.4 * r * r + length * length / 4 + 3 / 8 * length * r
    whole = tube + balls
    sideways = (tube * across + balls * ends) / whole
    return Solid(whole, np.array([sideways, sideways, (tube / 2 + balls * 0.4) * r * r / whole]), *none)


def _blob_solid(blob: dict[str, Any]) -> Solid:
    volume, centre, tensor = blob_moments(blob_elements(blob), float(blob.get("blend", 0.0)))
    if not volume > 0.0:
        raise Problem("shape.blob: encloses no volume; give it at least one point or segment with a radius")
    inertia, axes = np.linalg.eigh(tensor)
    if np.ptp(inertia) < 1e-3 * inertia.max():  # round: no axis is better than another
        axes = np.eye(3)
        inertia = np.diag(tensor).copy()
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return Solid(volume, inertia / volume, centre, quaternion_from_matrix(axes))
