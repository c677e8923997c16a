"""A ball against a mesh, which it may touch in several places at once: in a corner, in a cup, between teeth.

Each place where the mesh's field is lowest on the ball's surface presses by itself. They are looked for from twelve
directions, each followed downhill; so every wall is found that is the nearest one anywhere near such a direction.
"""

import math

import numpy as np

from impel.geometry.grids import beyond_grid
from impel.geometry.kinds import INNER
from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, norm, scale, set3, sub
from impel.physics.patches import LIMIT_SHARE, distance, press_ball, thinnest_part

FOUND = 8  # places at most
SAME = math.cos(math.radians(20))  # places nearer than this, seen from the ball's middle, are one
NEAR = 0.3  # of the radius: from directions in which a wall is farther than this, none is found that touches
STEPS = 8
FACING = -0.98  # cosine: where the field is lowest it leads straight to the ball's middle, but beyond a wall's
SMALLER = 4  # balls at most, each of which comes less far
LEAPS, CLOSE = 16, 1e-3  # on the way to the mesh; of the radius: as near as this one is there


def _icosahedron() -> np.ndarray:
    golden = (1 + 5**0.5) / 2
    rows = np.array([(0.0, a, b * golden) for a in (-1, 1) for b in (-1, 1)])
    return np.concatenate([np.roll(rows, k, axis=1) for k in range(3)]) / math.hypot(1, golden)


LOOKS = tuple(tuple(map(float, row)) for row in _icosahedron())


@kernel
def _lowest(shapes, b, r, centre, d):
    """Where on the ball's surface the field is lowest, downhill from direction d; its value and gradient there."""
    phi, u = distance(shapes, b, axpy(r, d, centre))
    step = 1.0  # right where the wall is flat; then as the last step tells (Barzilai and Borwein 1988)
    slope = axpy(-dot(u, d), d, u)
    for _ in range(STEPS):
        if dot(slope, slope) < 1e-8:
            break
        ahead = axpy(-step, slope, d)
        ahead = scale(ahead, 1.0 / max(norm(ahead), 1e-9))
        way = sub(ahead, d)
        value, u = distance(shapes, b, axpy(r, ahead, centre))
        after = axpy(-dot(u, ahead), ahead, u)
        bend = dot(way, sub(after, slope))
        step = min(max(dot(way, way) / bend, 0.1), 4.0) if bend > 0.0 else 1.0
        d, slope, phi = ahead, after, value
    return phi, u, d


@kernel
def _from_middle(shapes, b, r, centre, phi, u, d):
    """The same by how far the ball's middle is away, if that is deeper: no part of a thin wall is as deep inside as a
    ball that is pressed into it."""
    far, g = beyond_grid(shapes.grid, shapes.place, shapes.part[b, 0], centre)
    if far - r >= phi or far <= 0.0:
        return phi, u, d
    g = scale(g, 1.0 / max(norm(g), 1e-3))
    return far - r, g, scale(g, -1.0)


@kernel
def _from_outside(shapes, b, r, centre, phi, u, d):
    """The same where it lies beyond the middle of a thin wall, where the field leads out on the other side: by how far
    a smaller ball comes in that has not yet gone through."""
    less = r
    for _ in range(SMALLER):
        if dot(u, d) < FACING:
            break
        less = _way_to(shapes, b, centre, d, less)
        phi, u, d = _lowest(shapes, b, less, centre, d)
        phi -= r - less
    return phi, u, d


@kernel
def _way_to(shapes, b, centre, d, most):
    """How far from a place the mesh begins in direction d, where that is no farther than `most`."""
    way = 0.0
    for _ in range(LEAPS):
        clear = distance(shapes, b, axpy(way, d, centre))[0]
        if clear < CLOSE * most:
            break
        way += clear
    return min(way, most)


@kernel
def press_ball_all_round(shapes, b, r, centre, away, g, motion, material, patch, scratch):
    """A ball against mesh b; its centre is at least so far away, along the gradient g."""
    found, thin = 0, thinnest_part(shapes, b, material[6].extent[b, INNER])
    for k in range(-1, 12):
        d = scale(g, -1.0)
        if k >= 0:
            d = LOOKS[k]
            if distance(shapes, b, axpy(r, d, centre))[0] > NEAR * r:
                continue
        phi, u, d = _lowest(shapes, b, r, centre, d)
        if k < 0 and r - away > LIMIT_SHARE * thin:
            phi, u, d = _from_middle(shapes, b, r, centre, phi, u, d)
        if -phi > LIMIT_SHARE * thin and away > 0.0:
            phi, u, d = _from_outside(shapes, b, r, centre, phi, u, d)
        new = phi < 0.0 and found < FOUND
        for f in range(found):
            new = new and dot(d, get3(scratch, 2 + f)) < SAME
        if new:
            set3(scratch, 2 + found, d)
            found += 1
            press_ball(shapes, b, r, centre, u, r + phi, 1.0, motion, material, patch)
