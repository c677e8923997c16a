"""The kinds of shapes: the number that kernels know each by, its sizes, its mass and its extent.

Its field is in `fields.py` and its mesh in `meshes.py`; docs/add_a_shape.md adds one.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.geometry.baking import bake
from impel.geometry.blobs import blob_elements, blob_moments
from impel.motion.orientations import quaternion_from_matrix

Floats = NDArray[np.float64]

# In this order: of two that touch, the first is the one whose surface is sampled best (see `physics/broadphase.py`).
# Up to cylinders they are sampled where they touch; what is between them and planes carries fixed points.
SPHERE, CAPSULE, CYLINDER, BLOB, MESH, BOX, PLANE = range(7)

# Columns of an extent: RADIUS of a ball about the centre that holds the shape; INNER, how deep inside a point can be;
# CORE, half extents of a box (3) that, rounded by SKIN, holds the shape.
RADIUS, INNER, CORE, SKIN = 0, 1, 2, 5


class Solid(NamedTuple):
    """What a shape weighs, and where its centre of mass and principal axes lie in the shape's own frame."""

    volume: float
    inertia: Floats  # (3,) principal, for a mass of 1 kg
    offset: Floats = np.zeros(3)  # (3,) centre of mass; zero but for blobs and meshes
    rotation: Floats = np.array([1.0, 0.0, 0.0, 0.0])  # (4,) principal axes; no rotation but for these


class Kind(NamedTuple):
    """What is known of a kind of shape, from what a scene writes: 0.2 of `{"sphere": 0.2}`."""

    number: int
    size: Callable[[Any], Sequence[float]]  # at most three numbers, all that its field works with
    extent: Callable[[Sequence[float]], Sequence[float]]  # (6,) RADIUS ... of a shape of that size
    solid: Callable[[Any], Solid]
    edged: bool = False  # has sharp edges, and is smaller by a margin all round when its sizes are


def kind_of(shape: dict[str, Any]) -> str:
    """The name of a shape's kind."""
    names = [name for name in shape if shape[name] is not None]
    if len(names) != 1 or names[0] not in KINDS:
        raise Problem(f"shape: must be one of {', '.join(KINDS)}, got {', '.join(map(str, shape)) or 'nothing'}")
    return names[0]


def size_of(shape: dict[str, Any]) -> tuple[float, float, float]:
    """What the shape's field works with."""
    name = kind_of(shape)
    x, y, z = (*map(float, KINDS[name].size(shape[name])), 0.0, 0.0, 0.0)[:3]
    return x, y, z


def inner_of(shape: dict[str, Any]) -> float:
    """How deep inside a point can be, in metres."""
    if "blob" in shape:
        return float(abs(blob_elements(shape["blob"])[:, 6]).min())
    if KINDS[kind_of(shape)].number == MESH:
        return bake(shape).inner
    return float(KINDS[kind_of(shape)].extent(size_of(shape))[INNER])


def solid(shape: dict[str, Any]) -> Solid:
    """Mass properties of a shape of even density."""
    name = kind_of(shape)
    if KINDS[name].number == MESH:  # whose file may change, and which keeps itself
        return KINDS[name].solid(shape)
    return _solid(name, json.dumps(shape[name]))


@lru_cache(1024)
def _solid(name: str, text: str) -> Solid:
    return KINDS[name].solid(json.loads(text))


def _rod_size(rod: dict[str, float]) -> Sequence[float]:
    return rod["radius"], rod["length"] / 2


def _box_size(sides: Sequence[float]) -> Sequence[float]:
    x, y, z = sides
    return x / 2, y / 2, z / 2


def _box_solid(sides: Sequence[float]) -> Solid:
    x, y, z = (float(v) ** 2 / 12 for v in sides)
    return Solid(float(np.prod(sides)), np.array([y + z, x + z, x + y]))


def _cylinder_solid(rod: dict[str, float]) -> Solid:
    r, length = rod["radius"], rod["length"]
    across = r * r / 4 + length * length / 12
    return Solid(math.pi * r * r * length, np.array([across, across, r * r / 2]))


def _capsule_solid(rod: dict[str, float]) -> Solid:
    r, length = rod["radius"], rod["length"]
    tube, inertia, _, _ = _cylinder_solid(rod)
    balls = 4 / 3 * math.pi * r**3
    # Half balls at the ends: 2/5 r² about their own diameters, moved by length/2 with the 3/8 r of their centres.
    ends = 0.4 * r * r + length * length / 4 + 3 / 8 * length * r
    whole = tube + balls
    sideways = (tube * float(inertia[0]) + balls * ends) / whole
    return Solid(whole, np.array([sideways, sideways, (tube / 2 + balls * 0.4) * r * r / whole]))


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


def _mesh_solid(shape: dict[str, Any]) -> Solid:
    baked = bake(shape)
    return Solid(baked.volume, baked.inertia, baked.centre, baked.axes)


_MESH = Kind(
    MESH,
    size=lambda _: (),
    extent=lambda size: [0.0] * 6,  # what it is baked into tells, see `make_extents`
    solid=_mesh_solid,
)

KINDS = {
    "sphere": Kind(
        SPHERE,
        size=lambda r: (r,),
        extent=lambda size: (size[0], size[0], 0.0, 0.0, 0.0, size[0]),
        solid=lambda r: Solid(4 / 3 * math.pi * r**3, np.full(3, 0.4 * r**2)),
    ),
    "capsule": Kind(
        CAPSULE,
        size=_rod_size,
        extent=lambda size: (size[1] + size[0], size[0], 0.0, 0.0, size[1], size[0]),
        solid=_capsule_solid,
    ),
    "cylinder": Kind(
        CYLINDER,
        size=_rod_size,
        extent=lambda size: (math.hypot(*size[:2]), min(size[:2]), size[0], size[0], size[1], 0.0),
        solid=_cylinder_solid,
        edged=True,
    ),
    "blob": Kind(
        BLOB,
        size=lambda blob: (blob.get("blend", 0.0),),
        extent=lambda size: [0.0] * 6,  # its elements tell, see `make_extents`
        solid=_blob_solid,
    ),
    "mesh": _MESH,
    "convex": _MESH,
    "compound": _MESH,
    "box": Kind(
        BOX,
        size=_box_size,
        extent=lambda size: (float(np.linalg.norm(size)), min(size), *size, 0.0),
        solid=_box_solid,
        edged=True,
    ),
    "plane": Kind(
        PLANE,
        size=lambda _: (),
        extent=lambda _: (math.inf, math.inf, 0.0, 0.0, 0.0, math.inf),
        solid=lambda _: Solid(math.inf, np.full(3, math.inf)),
    ),
}
