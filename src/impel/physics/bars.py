"""Capsules and cylinders as the pressing body: sampled where they touch, so that they roll without a ripple."""

import math

import numpy as np

from impel.geometry.bends import bend_along, bends, slice_share
from impel.geometry.grids import beyond_grid
from impel.geometry.kinds import BOX, CYLINDER, INNER, MESH
from impel.geometry.samples import INSET
from impel.kernel import kernel
from impel.motion.rotations import axpy, cross, dot, scale
from impel.physics.patches import (
    DEPTH,
    add_sample,
    add_varied,
    distance,
    firm_at,
    is_soft,
    press_ball,
    press_deep,
    press_facing,
    where_thin,
)
from impel.physics.pressures import TIP, sum_layers

# Gauss-Legendre on [0, 1], five points.
NODES = tuple(0.5 + 0.5 * float(x) for x in np.polynomial.legendre.leggauss(5)[0])
WEIGHTS = tuple(0.5 * float(w) for w in np.polynomial.legendre.leggauss(5)[1])


def _unit_disc(rings: int, spokes: int) -> np.ndarray:
    """Points (x, y, area) of a unit disc, rim included, that integrate every linear function exactly."""
    h = 1.0 / rings
    rows = [[0.0, 0.0, math.pi * h * h / 3]]
    for k in range(1, rings + 1):
        ring = 2 * math.pi * h * h * (k if k < rings else rings / 2 - 1 / 6)
        for j in range(spokes):
            angle = 2 * math.pi * j / spokes
            rows.append([k * h * math.cos(angle), k * h * math.sin(angle), ring / spokes])
    return np.array(rows)


DISC = _unit_disc(3, 12)


@kernel
def press_bar(shapes, b, centre, axis, aside, half, r, flat_ends, motion, material, finest, patch):
    press_side(shapes, b, centre, axis, half, r, flat_ends, motion, material, patch)
    for side in (-1.0, 1.0):
        end, outward = axpy(side * half, axis, centre), scale(axis, side)
        if flat_ends:
            press_flat_end(shapes, b, end, outward, aside, r, motion, material, finest, patch)
        else:
            press_round_end(shapes, b, end, outward, r, motion, material, patch)


@kernel(inline=True)
def _segment_area(r, depth):
    """Of the part of a disc beyond a chord; and its derivative, the chord."""
    if depth <= 0.0:
        return 0.0, 0.0
    d = min(depth, 2.0 * r)
    chord = 2.0 * math.sqrt(max(0.0, d * (2.0 * r - d)))
    return r * r * math.acos(1.0 - d / r) - 0.5 * (r - d) * chord, chord


@kernel(inline=True)
def far_distance(shapes, b, p):
    """As `distance`, but also right for a mesh that is farther away than its grid reaches: the axis of a bar may be."""
    if shapes.kind[b] == MESH:
        phi, g = beyond_grid(shapes.grid, shapes.place, shapes.part[b, 0], p)
        return phi, scale(g, 1.0 / max(math.sqrt(dot(g, g)), 1e-3))
    return distance(shapes, b, p)


@kernel
def _side(shapes, b, centre, axis, at, r):
    """At a place on a bar's axis: the field there, its gradient, the gradient across the axis, and how far the
    side is from touching (negative: overlap)."""
    p = axpy(at, axis, centre)
    phi, g = far_distance(shapes, b, p)
    along = dot(g, axis)
    across = math.sqrt(max(1e-12, 1.0 - along * along))
    gap = phi - r * across
    if shapes.kind[b] >= BOX:
        return phi, g, along, across, gap
    if shapes.kind[b] <= CYLINDER:
        # The wall is looked at from the axis, where it is nearest; until it is beside the bar it has bent away.
        e = scale(axpy(-along, g, axis), 1.0 / across)
        gap += 0.5 * bend_along(bends(shapes, b, r, p, phi, g), e) * (phi * along) ** 2
    else:
        near, there = distance(shapes, b, axpy(-r / across, axpy(-along, axis, g), p))
        if dot(there, g) > 0.5:
            gap = near
    return phi, g, along, across, gap


@kernel
def _deepest(shapes, b, centre, axis, half, r):
    """Where on the axis the field is lowest; along a line, the field of a convex shape has one lowest place."""
    low, high = -half, half
    if _side(shapes, b, centre, axis, low, r)[2] >= 0.0:
        return low
    if _side(shapes, b, centre, axis, high, r)[2] <= 0.0:
        return high
    for _ in range(20):
        middle = 0.5 * (low + high)
        if _side(shapes, b, centre, axis, middle, r)[2] > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@kernel
def _end_of_overlap(shapes, b, centre, axis, inside, value, outside, r):
    """Where the side leaves B between a place inside and the end of the bar: regula falsi, Illinois rule."""
    gap = _side(shapes, b, centre, axis, outside, r)[4]
    if gap <= 0.0:
        return outside
    low, high, at = value, gap, outside
    kept = 0
    for _ in range(12):
        at = (inside * high - outside * low) / (high - low)
        gap = _side(shapes, b, centre, axis, at, r)[4]
        if abs(gap) < 1e-9 * r:
            break
        if gap < 0.0:
            inside, low = at, gap
            if kept < 0:
                high *= 0.5
            kept = -1
        else:
            outside, high = at, gap
            if kept > 0:
                low *= 0.5
            kept = 1
    return at


@kernel
def press_side(shapes, b, centre, axis, half, r, flat_ends, motion, material, patch):
    """The side of a capsule or cylinder: slices across the axis, set out afresh over the part that overlaps."""
    stiffness, damping, limit, hard, _, row, contacts = material
    lowest = _deepest(shapes, b, centre, axis, half, r)
    value = _side(shapes, b, centre, axis, lowest, r)[4]
    if value >= 0.0:
        return
    start = _end_of_overlap(shapes, b, centre, axis, lowest, value, -half, r)
    end = _end_of_overlap(shapes, b, centre, axis, lowest, value, half, r)
    for node in range(5):
        at = start + (end - start) * NODES[node]
        phi, g, along, across, gap = _side(shapes, b, centre, axis, at, r)
        depth = min(-gap / across, 2.0 * r)
        if depth <= 0.0:
            continue
        length = (end - start) * WEIGHTS[node]
        out = scale(axpy(-along, axis, g), 1.0 / across)
        if flat_ends:
            # Flat ends carry their part of the overlap themselves. And a small thing that has come in through an end
            # must not be taken for a wall beside the axis: it is no deeper than its way back to the end.
            length *= across * across
            rim = -distance(shapes, b, axpy(-r, out, axpy(at, axis, centre)))[0] / across
            depth = min(depth, max(3.0 * rim, half - abs(at - phi * along)))
            if depth <= 0.0:
                continue
        if shapes.kind[b] < BOX:
            place, inner = axpy(at, axis, centre), contacts.extent[b, INNER]
            length *= slice_share(r, depth, bend_along(bends(shapes, b, inner, place, phi, g), cross(axis, out)))
        area, chord = _segment_area(r, depth)
        more, more_chord = _segment_area(r, depth - limit / across)
        # Fifth powers of the depth, summed over a parabolic segment (0.7388 is 10·B(3/2, 5)), and the derivative.
        firmer, rising = firm_at(across * depth, material)
        firmer *= 0.7388 * math.sqrt(2.0 * r * depth)
        patch[DEPTH] = max(patch[DEPTH], across * depth)
        p = axpy(0.6 * depth - r, out, axpy(at, axis, centre))  # the centre of a parabolic segment
        spread = chord * chord / 20.0
        if row >= 0:
            force, steep = sum_layers(contacts.table[row], across * depth, across * area, chord, TIP)
            force, steep = length * (force / across + hard * more), length * (steep + hard * more_chord) / across
            add_varied(patch, p, g, force, steep, length * area, spread, motion, damping)
            continue
        force = length * (stiffness * (area + firmer * depth) + hard * more)
        steep = length * (stiffness * (chord + (1.5 + 4.0 * rising) * firmer) + hard * more_chord) / across
        add_sample(patch, p, g, force, steep, length * area, spread, motion, damping)


@kernel
def press_round_end(shapes, b, centre, outward, r, motion, material, patch):
    """Half a ball at the end of a capsule: the share of the overlapping cap that lies beyond the end of the side."""
    phi, g = far_distance(shapes, b, centre)
    if phi >= r:
        return
    depth = min(r - phi, r)
    wide = math.sqrt(depth * (2.0 * r - depth))
    x = -dot(g, outward) * r / wide
    share = 1.0
    if x <= -1.0:
        return
    if x < 1.0:  # a paraboloid cut by a plane along its axis
        share = (x * (5.0 - 2.0 * x * x) * math.sqrt(1.0 - x * x) / 3.0 + math.asin(x)) / math.pi
        share = max(0.0, 0.5 + share)  # rounding must not make it, and with it a stiffness, negative
        # ... whose middle is beyond the end as well: else it would turn the bar with less than it presses.
        side = axpy(-dot(outward, g), g, outward)
        beyond = wide * 8.0 / (15.0 * math.pi) * (1.0 - x * x) ** 2.5 / max(share, 1e-9)
        centre = axpy(min(beyond, wide) / max(math.sqrt(dot(side, side)), 1e-9), side, centre)
    press_ball(shapes, b, r, centre, g, phi, share, motion, material, patch)


@kernel
def press_flat_end(shapes, b, centre, outward, aside, r, motion, material, finest, patch):
    """The flat end of a cylinder: a disc of points.

    On flat ground it is turned so that one point is always the lowest of the rim, and coins roll. Against round
    shapes, where what a point feels depends on its place, points that move along the rim could gain energy: there
    the disc keeps to the direction `aside` of the cylinder.
    """
    phi, g = distance(shapes, b, centre)
    if phi >= r:
        return
    x = aside
    down = axpy(dot(g, outward), outward, scale(g, -1.0))
    length = math.sqrt(dot(down, down))
    if shapes.kind[b] >= BOX and length > 1e-9:
        x = scale(down, 1.0 / length)
    y = cross(outward, x)
    inside = (1.0 - INSET) * r
    for s in range(len(DISC)):
        p = axpy(inside * DISC[s, 0], x, axpy(inside * DISC[s, 1], y, centre))
        phi, g = distance(shapes, b, p)
        if phi < 0.0:
            area = min(r * r * DISC[s, 2], finest)
            here = where_thin(shapes, b, p, g, -phi, material, patch)
            if is_soft(here):
                press_deep(patch, shapes, b, p, outward, g, -phi, area, 0.0, motion, here)
            else:
                press_facing(patch, p, outward, g, -phi, area, motion, here, False)
