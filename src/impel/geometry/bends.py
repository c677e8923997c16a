"""How round the surface of a shape is at a place: two principal curvatures, and the direction of the first.

What presses against a ball finds less of it than of a wall, and how much less follows from these. Where a surface is
hollow, or has a sharp edge, it counts as flat, or as round as the body is thick.
"""

import math

from impel.geometry.fields import field
from impel.geometry.grids import PER
from impel.geometry.kinds import BLOB, BOX, CAPSULE, MESH, SPHERE
from impel.kernel import kernel
from impel.motion.rotations import axpy, cross, dot, get3, norm, scale, sub

ENDING = 0.4  # of its radius: over how much of a capsule its side becomes its end
STEP, STEP_SHARE = 1.5, 0.1  # cells of a mesh's grid, or a share of a blob's half thickness: apart from each side


@kernel(inline=True)
def _beside(u, along):
    """A unit vector across u, as near to `along` as can be."""
    t = axpy(-dot(u, along), u, along)
    length = norm(t)
    if length > 1e-6:
        return scale(t, 1.0 / length)
    t = cross(u, (1.0, 0.0, 0.0)) if abs(u[0]) < 0.7 else cross(u, (0.0, 1.0, 0.0))
    return scale(t, 1.0 / norm(t))


@kernel
def bends(shapes, s, inner, p, phi, u):
    """The curvatures of shape s where p, at a distance phi along the unit vector u, is nearest to it: along the third
    vector returned, across u, and across that; `inner` is its half thickness."""
    kind, r = shapes.kind[s], shapes.size[s, 0]
    axis = _beside(u, (0.0, 0.0, 1.0))
    if kind == SPHERE:
        return 1.0 / r, 1.0 / r, axis
    if kind in (BLOB, MESH):
        return _measured(shapes, s, inner, axpy(-phi, u, p), u, axis)
    if kind >= BOX:
        return 0.0, 0.0, axis
    if kind == CAPSULE:
        # What presses on the end of its side feels some of both: without a jump, which would cost or give energy.
        beyond = min(max(0.5 + (abs(p[2]) - shapes.size[s, 1]) / (ENDING * r), 0.0), 1.0)
        return beyond * beyond * (3.0 - 2.0 * beyond) / r, 1.0 / r, axis
    return 0.0, (1.0 - u[2] * u[2]) / r, axis  # the side of a cylinder, or a flat end, or its rim


@kernel
def _measured(shapes, s, inner, foot, u, e):
    f = cross(u, e)
    h = STEP_SHARE * inner
    if shapes.kind[s] == MESH and shapes.place is not None:
        h = STEP / shapes.place[shapes.part[s, 0], PER]
    by_e = _change(shapes, s, foot, e, h)
    by_f = _change(shapes, s, foot, f, h)
    mean, half = 0.5 * (dot(by_e, e) + dot(by_f, f)), 0.5 * (dot(by_e, e) - dot(by_f, f))
    mixed = 0.5 * (dot(by_e, f) + dot(by_f, e))
    apart = math.sqrt(half * half + mixed * mixed)
    angle = 0.5 * math.atan2(mixed, half) if apart > 0.0 else 0.0
    most = 1.0 / inner
    one, other = min(max(mean + apart, 0.0), most), min(max(mean - apart, 0.0), most)
    return one, other, axpy(math.sin(angle), f, scale(e, math.cos(angle)))


@kernel
def _change(shapes, s, foot, way, h):
    """Of the unit vectors straight out, along a way."""
    _, ahead = field(shapes, s, axpy(h, way, foot))
    _, behind = field(shapes, s, axpy(-h, way, foot))
    ahead, behind = scale(ahead, 1.0 / max(norm(ahead), 1e-3)), scale(behind, 1.0 / max(norm(behind), 1e-3))
    return scale(sub(ahead, behind), 0.5 / h)


@kernel
def mean_bends(shapes, s, inner, points, out):
    """The mean of the two curvatures at points of a surface."""
    for i in range(len(points)):
        p = get3(points, i)
        phi, u = field(shapes, s, p)
        one, other, _ = bends(shapes, s, inner, p, phi, scale(u, 1.0 / max(norm(u), 1e-3)))
        out[i] = 0.5 * (one + other)


@kernel(inline=True)
def bend_along(bent, t):
    """Of `bends`, in a direction."""
    along = dot(bent[2], t) ** 2
    return bent[0] * along + bent[1] * (1.0 - along)


@kernel(inline=True)
def _parted(r, d, bend):
    """How far from the middle of a ball, which overlaps by d with one of this curvature, the plane of their rim is."""
    return (0.5 * bend * ((r - d) ** 2 + r * r) + r - d) / (1.0 + bend * (r - d))


@kernel(inline=True)
def _lens(r, d, bend):
    """Of the overlap of a ball and one of this curvature."""
    return d * d * (r - (1.0 + bend * r) * d / 3.0 + bend * d * d / 12.0) / (1.0 + bend * (r - d))


@kernel
def cap_share(r, depth, bent):
    """The volume in which a ball of radius r overlaps with something this round, over that with a wall: exact for a
    ball, within 1 % for a cylinder until a third of the radius."""
    d = min(depth, r, 1.0 / max(bent[0], bent[1], 1e-9))
    return math.sqrt(_lens(r, d, bent[0]) * _lens(r, d, bent[1])) / _lens(r, d, 0.0)


@kernel(inline=True)
def _segment(half_chord, height):
    """The area of a segment of a circle, within 1 %."""
    return height * (4.0 / 3.0 * half_chord + 0.25 * height * height / half_chord)


@kernel
def slice_share(r, depth, bend):
    """The area in which a disc overlaps with another of this curvature, over that with a wall."""
    d = min(depth, r, 1.0 / max(bend, 1e-9))
    x = _parted(r, d, bend)
    half_chord = math.sqrt(max(r * r - x * x, 1e-300))
    both = _segment(half_chord, r - x) + _segment(half_chord, max(d - r + x, 0.0))
    return both / _segment(math.sqrt(d * (2.0 * r - d)), d)


@kernel
def swept(bent, own, depth):
    """What is swept from a point of a surface straight out of a round body, over its depth; and twice the integral of
    that over the square of the depth. `own` is the mean curvature of the point's surface.

    The way out widens as the body is round. And ways out of a round body lean away from each other, so that not all of
    what they carry acts in one direction: what the deepest point shows less of, the sum over all makes good.
    """
    one = bent[0] / max(1.0 - bent[0] * depth, 0.25)
    other = bent[1] / max(1.0 - bent[1] * depth, 0.25)
    wider = 0.5 * (one + other)
    leaning = 0.25 * (one * one / max(own + one, 1e-9) + other * other / max(own + other, 1e-9))
    x, y = (wider + leaning) * depth, one * other * depth * depth / 3.0
    return 1.0 + x + y, 1.0 + x / 1.5 + y / 2.0
