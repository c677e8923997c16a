"""How far a point is from the surface of a shape, negative inside, and which way leads out.

The one library of fields: of contact, of joints on surfaces, of what overlaps, and of the shade between bodies. The
distance is exact, inside and outside, for every shape but blobs, whose field is a smooth union, and meshes, whose field
is a grid. Points and gradients
are in the body's frame (centre of mass, principal axes). Who needs no gradient takes `sized_field(...)[0]`: it is
pasted into its caller, where what is not used costs nothing.
"""

import math

import numpy as np
from numpy.typing import NDArray

from impel.geometry.grids import grid_field
from impel.geometry.kinds import BLOB, BOX, CAPSULE, MESH, PLANE, SPHERE
from impel.kernel import Floats2, Integers2, kernel, struct
from impel.motion.rotations import axpy, dot, get3, norm, scale, sub

TINY = 1e-150  # m: the square of what is shorter loses its digits, and with them its direction

Floats = NDArray[np.float64]


@struct
class Shapes:
    """The shapes of N bodies. Few arrays: numba's compile time grows with every array that a kernel is handed."""

    kind: NDArray[np.int64]  # (N,) SPHERE ... PLANE
    size: Floats2  # (N, 3) as `Kind.size` gives it: radius; radius and half length; half extents; blend of a blob
    part: Integers2  # (N, 2) first and last + 1 of a blob's elements; a mesh's row of `place`
    elements: Floats2 | None  # (M, 7) from, to, radius; None when no body is a blob
    grid: NDArray[np.float32] | None  # splines of the distances from all meshes; None when no body is one ...
    place: Floats2 | None  # (G, 15) ... and where each is, see grids.LOW ..., and the extent of its mesh


@kernel(inline=True)
def _direction(v, length):
    """v / length, or any unit vector at a centre of symmetry, where all ways out are equally long."""
    if length > TINY:
        return scale(v, 1.0 / length)
    return 0.0, 0.0, 1.0


@kernel(inline=True)
def _sphere_field(p, radius):
    length = norm(p)
    return length - radius, _direction(p, length)


@kernel(inline=True)
def _capsule_field(p, radius, half):
    v = (p[0], p[1], p[2] - min(max(p[2], -half), half))
    length = norm(v)
    if length < TINY:  # on the axis: out sideways
        return -radius, (1.0, 0.0, 0.0)
    return length - radius, scale(v, 1.0 / length)


@kernel(inline=True)
def _cylinder_field(p, radius, half):
    across = math.sqrt(p[0] * p[0] + p[1] * p[1])
    way_x, way_y = 1.0, 0.0
    if across > TINY:
        way_x, way_y = p[0] / across, p[1] / across
    way_z = 1.0 if p[2] >= 0.0 else -1.0
    side = across - radius
    cap = abs(p[2]) - half
    if side > 0.0 and cap > 0.0:
        length = math.sqrt(side * side + cap * cap)
        return length, (way_x * side / length, way_y * side / length, way_z * cap / length)
    if side > cap:
        return side, (way_x, way_y, 0.0)
    return cap, (0.0, 0.0, way_z)


@kernel(inline=True)
def inside_box(p, half):
    """The field at a point inside: the nearest side leads out. Without branches, which nothing could predict."""
    sx = 1.0 if p[0] >= 0.0 else -1.0
    sy = 1.0 if p[1] >= 0.0 else -1.0
    sz = 1.0 if p[2] >= 0.0 else -1.0
    dx, dy, dz = abs(p[0]) - half[0], abs(p[1]) - half[1], abs(p[2]) - half[2]
    along_x = dx >= dy and dx >= dz
    along_y = not along_x and dy >= dz
    phi = dx if along_x else dy if along_y else dz
    return phi, (sx if along_x else 0.0, sy if along_y else 0.0, 0.0 if along_x or along_y else sz)


@kernel(inline=True)
def box_field(p, hx, hy, hz):
    sx = 1.0 if p[0] >= 0.0 else -1.0
    sy = 1.0 if p[1] >= 0.0 else -1.0
    sz = 1.0 if p[2] >= 0.0 else -1.0
    dx = abs(p[0]) - hx
    dy = abs(p[1]) - hy
    dz = abs(p[2]) - hz
    if max(dx, dy, dz) <= 0.0:
        return inside_box(p, (hx, hy, hz))
    v = (sx * max(dx, 0.0), sy * max(dy, 0.0), sz * max(dz, 0.0))
    length = norm(v)
    return length, scale(v, 1.0 / length)


@kernel(inline=True)
def _way_from_part(elements, e, p):
    """From the bone of a blob's element to a point."""
    start = (elements[e, 0], elements[e, 1], elements[e, 2])
    along = sub((elements[e, 3], elements[e, 4], elements[e, 5]), start)
    v = sub(p, start)
    square = dot(along, along)
    if square > 0.0:
        v = axpy(-min(max(dot(v, along) / square, 0.0), 1.0), along, v)
    return v


@kernel
def blob_part_field(elements, e, p):
    """The field of one element of a blob alone."""
    if elements is None:
        return 0.0, (0.0, 0.0, 1.0)
    v = _way_from_part(elements, e, p)
    length = norm(v)
    return length - abs(elements[e, 6]), _direction(v, length)


@kernel
def _blob_field(elements, first, last, blend, p):
    """Smooth minimum -t·log(Σ exp(-distance/t)) of the distances to the elements, t = blend/4.

    It does not depend on the order of the elements, and one element alone keeps its exact distance. The pieces of a
    curve, whose radii have a minus, are one element.
    """
    t = max(0.25 * blend, 1e-12)
    nearest = math.inf
    total = 0.0
    g, v, length = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), math.inf
    for e in range(first, last):
        way = _way_from_part(elements, e, p)
        far = norm(way)
        if elements[e, 6] > 0.0 or far < length:
            v, length = way, far
        if e + 1 < last and elements[e + 1, 6] < 0.0:
            continue
        distance = length - abs(elements[e, 6])
        if distance < nearest:
            shrink = math.exp((distance - nearest) / t)
            total *= shrink
            g = scale(g, shrink)
            nearest = distance
        weight = math.exp((nearest - distance) / t)
        total += weight
        g = axpy(weight, _direction(v, length), g)
    return nearest - t * math.log(total), scale(g, 1.0 / total)


@kernel(inline=True)
def sized_field(kind, size, p):
    """The field of a shape that its size tells all about: any but a blob or a mesh."""
    if kind == PLANE:
        return p[2], (0.0, 0.0, 1.0)
    if kind == BOX:
        return box_field(p, size[0], size[1], size[2])
    if kind == SPHERE:
        return _sphere_field(p, size[0])
    if kind == CAPSULE:
        return _capsule_field(p, size[0], size[1])
    return _cylinder_field(p, size[0], size[1])


@kernel
def field(shapes, s, p):
    """Signed distance of point p from shape s, and its gradient, both in the shape's frame."""
    kind = shapes.kind[s]
    if kind != BLOB and kind != MESH:
        return sized_field(kind, get3(shapes.size, s), p)
    if kind == MESH:
        return grid_field(shapes.grid, shapes.place, shapes.part[s, 0], p)
    return _blob_field(shapes.elements, shapes.part[s, 0], shapes.part[s, 1], shapes.size[s, 0], p)


@kernel
def rounded_field(kind, size, p):
    """The field of a shape with rounded edges; `size` is that of its core, then the radius of the edges."""
    phi, g = sized_field(kind, size, p)
    return phi - size[3], g
