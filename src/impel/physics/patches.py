"""The patch where body A presses into the field of body B: how much of A is inside B, and the force that gives.

Pressure is stiffness x depth, so the force is stiffness x volume of the overlap, along the gradient of B's
field. Round surfaces are sampled where they touch and the overlap is known in closed form; flat and free
surfaces carry fixed points with an area. All of this happens in B's frame. A patch is a row of sums.
"""

import math

import numpy as np

from impel.geometry.fields import BLOB, field
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, scale

# Columns of a patch, all in B's frame and about B's centre.
LOAD = 0  # normal force with damping, N
FORCE = 1  # (3) on A
MOMENT = 4  # (3) of that force
CENTRE = 7  # (3) elastic force x point
SPREAD = 10  # elastic force x square of the distance from B's centre
ELASTIC = 11  # normal force without damping
STIFFNESS = 12  # d(force)/d(depth), N/m
VOLUME = 13  # of the overlap
RATE = 14  # fastest change of depth, m/s
COLUMNS = 15

GRAZING = 0.3  # cosine below which a fixed point, nearly edge-on to the field, loses its weight

# Gauss-Legendre on [0, 1], five points.
_NODES = tuple(0.5 + 0.5 * float(x) for x in np.polynomial.legendre.leggauss(5)[0])
_WEIGHTS = tuple(0.5 * float(w) for w in np.polynomial.legendre.leggauss(5)[1])


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


@kernel(inline=True)
def _press(patch, p, u, force, stiffness, volume, spread, motion, damping):
    """Add a sample at p that is pushed along u; `spread` is the mean square of its own extent."""
    rate = -dot(add(motion[0], cross(motion[1], p)), u)
    # Hunt and Crossley 1975: damping grows with the force, so that there is no jerk at first touch and no pull at the last.
    load = force * max(0.0, 1.0 + damping * rate)
    f = scale(u, load)
    m = cross(p, f)
    patch[LOAD] += load
    patch[FORCE] += f[0]
    patch[FORCE + 1] += f[1]
    patch[FORCE + 2] += f[2]
    patch[MOMENT] += m[0]
    patch[MOMENT + 1] += m[1]
    patch[MOMENT + 2] += m[2]
    patch[CENTRE] += force * p[0]
    patch[CENTRE + 1] += force * p[1]
    patch[CENTRE + 2] += force * p[2]
    patch[SPREAD] += force * (dot(p, p) + spread)
    patch[ELASTIC] += force
    patch[STIFFNESS] += stiffness
    patch[VOLUME] += volume
    patch[RATE] = max(patch[RATE], abs(rate))


@kernel
def distance(shapes, b, p):
    """The field of b with a gradient of length 1; a blob's, which is flatter where it blends, is straightened."""
    phi, g = field(shapes, b, p)
    if shapes.kind[b] == BLOB:
        steep = max(math.sqrt(dot(g, g)), 1e-3)
        return phi / steep, scale(g, 1.0 / steep)
    return phi, g


@kernel(inline=True)
def _cap_volume(r, depth):
    """Of the part of a ball that lies deeper than a plane; and its derivative."""
    d = min(max(depth, 0.0), 2.0 * r)
    return math.pi * d * d * (r - d / 3.0), math.pi * d * (2.0 * r - d)


@kernel(inline=True)
def _segment_area(r, depth):
    """Of the part of a disc beyond a chord; and its derivative, the chord."""
    d = min(max(depth, 0.0), 2.0 * r)
    chord = 2.0 * math.sqrt(max(0.0, d * (2.0 * r - d)))
    return r * r * math.acos(1.0 - d / r) - 0.5 * (r - d) * chord, chord


@kernel
def press_balls(ra, rb, u, gap, motion, material, patch):
    """Ball A, beyond a gap from ball B along u: the exact lens."""
    stiffness, damping, limit, hard = material
    depth = -gap
    d = ra + rb + gap  # between the centres
    if d > abs(ra - rb):
        volume = math.pi * depth * depth * (d * d + 2.0 * d * (ra + rb) - 3.0 * (ra - rb) ** 2) / (12.0 * d)
        rim = max(0.0, ra * ra - ((d * d + ra * ra - rb * rb) / (2.0 * d)) ** 2)
    else:
        volume = 4.0 / 3.0 * math.pi * min(ra, rb) ** 3
        rim = 0.0
    beyond = max(0.0, depth - limit)
    r = ra * rb / (ra + rb)
    force = stiffness * volume + hard * math.pi * r * beyond * beyond
    slope = stiffness * math.pi * rim + hard * 2.0 * math.pi * r * beyond
    p = scale(u, rb - depth * ra / (ra + rb))
    _press(patch, p, u, force, slope, volume, rim / 3.0, motion, damping)


@kernel
def press_ball(r, centre, u, phi, share, motion, material, patch):
    """A ball, or the share of it that ends a capsule, against a field that is flat at its scale."""
    stiffness, damping, limit, hard = material
    depth = r - phi
    volume, slope = _cap_volume(r, depth)
    more, more_slope = _cap_volume(r, depth - limit)
    force = share * (stiffness * volume + hard * more)
    # A paraboloid's pressure has its mean square radius at a third of the rim's; its centre of volume at 2/3 of its depth.
    p = axpy(min(depth, r) * 2.0 / 3.0 - r, u, centre)
    _press(
        patch, p, u, force, share * (stiffness * slope + hard * more_slope), share * volume,
        slope / (3.0 * math.pi), motion, damping,
    )


@kernel
def _side(shapes, b, centre, axis, at, r):
    """At a place on a bar's axis: the field there, its gradient, the gradient across the axis, and how far the
    side is from touching (negative: overlap)."""
    phi, g = distance(shapes, b, axpy(at, axis, centre))
    along = dot(g, axis)
    across = math.sqrt(max(1e-12, 1.0 - along * along))
    return phi, g, along, across, phi - r * across


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
    stiffness, damping, limit, hard = material
    lowest = _deepest(shapes, b, centre, axis, half, r)
    value = _side(shapes, b, centre, axis, lowest, r)[4]
    if value >= 0.0:
        return
    start = _end_of_overlap(shapes, b, centre, axis, lowest, value, -half, r)
    end = _end_of_overlap(shapes, b, centre, axis, lowest, value, half, r)
    for node in range(5):
        at = start + (end - start) * _NODES[node]
        phi, g, along, across, _ = _side(shapes, b, centre, axis, at, r)
        depth = min(r - phi / across, 2.0 * r)
        if depth <= 0.0:
            continue
        # Flat ends carry their part of the overlap themselves (see press_cap).
        length = (end - start) * _WEIGHTS[node] * (across * across if flat_ends else 1.0)
        area, chord = _segment_area(r, depth)
        more, more_chord = _segment_area(r, depth - limit / across)
        out = scale(axpy(-along, axis, g), 1.0 / across)
        p = axpy(0.6 * depth - r, out, axpy(at, axis, centre))  # the centre of a parabolic segment
        _press(
            patch, p, g, length * (stiffness * area + hard * more),
            length * (stiffness * chord + hard * more_chord) / across, length * area,
            chord * chord / 20.0, motion, damping,
        )


@kernel
def press_round_end(shapes, b, centre, outward, r, motion, material, patch):
    """Half a ball at the end of a capsule: the share of the overlapping cap that lies beyond the end of the side."""
    phi, g = distance(shapes, b, centre)
    if phi >= r:
        return
    depth = min(r - phi, r)
    wide = math.sqrt(depth * (2.0 * r - depth))
    x = -dot(g, outward) * r / wide
    share = 1.0
    if x <= -1.0:
        return
    if x < 1.0:  # a paraboloid cut by a plane along its axis
        share = 0.5 + (x * (5.0 - 2.0 * x * x) * math.sqrt(1.0 - x * x) / 3.0 + math.asin(x)) / math.pi
    press_ball(r, centre, g, phi, share, motion, material, patch)


@kernel(inline=True)
def _press_point(patch, p, u, depth, area, motion, material):
    stiffness, damping, limit, hard = material
    force = area * (stiffness * depth + hard * max(0.0, depth - limit))
    slope = area * (stiffness + hard if depth > limit else stiffness)
    _press(patch, p, u, force, slope, area * depth, 0.0, motion, damping)


@kernel(inline=True)
def _facing(normal, u):
    """How squarely a surface faces the field, faded where it is nearly edge-on."""
    c = -dot(normal, u)
    if c >= GRAZING:
        return c
    return c * c / GRAZING if c > 0.0 else 0.0


@kernel
def press_flat_end(shapes, b, centre, outward, r, motion, material, patch):
    """The flat end of a cylinder: a disc of points turned so that one is always at the lowest place of the rim."""
    phi, g = distance(shapes, b, centre)
    if phi >= r:
        return
    along = dot(g, outward)
    x = axpy(-along, outward, g)
    length = math.sqrt(dot(x, x))
    if length > 1e-9:
        x = scale(x, -1.0 / length)
    elif abs(outward[0]) < 0.7:
        x = cross(outward, (1.0, 0.0, 0.0))
        x = scale(x, 1.0 / math.sqrt(dot(x, x)))
    else:
        x = cross(outward, (0.0, 1.0, 0.0))
        x = scale(x, 1.0 / math.sqrt(dot(x, x)))
    y = cross(outward, x)
    for s in range(len(DISC)):
        p = axpy(r * DISC[s, 0], x, axpy(r * DISC[s, 1], y, centre))
        phi, g = distance(shapes, b, p)
        if phi < 0.0:
            area = r * r * DISC[s, 2] * _facing(outward, g)
            if area > 0.0:
                _press_point(patch, p, g, -phi, area, motion, material)


@kernel
def press_points(shapes, b, samples, a, centre, turn, motion, material, finest, patch):
    """The fixed points of a box or blob; `turn` holds the rows of the rotation from A's frame to B's

    No point counts for more area than `finest`, the finest point of B: else a sparse floor would press with a
    square metre on whatever happens to lie on one of its points.
    """
    if samples is None:
        return
    reach = shapes.radius[b]
    for c in range(samples.clusters[a, 0], samples.clusters[a, 1]):
        middle = samples.centre[c]
        p = (
            centre[0] + dot(turn[0], middle),
            centre[1] + dot(turn[1], middle),
            centre[2] + dot(turn[2], middle),
        )
        wide = samples.radius[c]
        if dot(p, p) > (reach + wide) ** 2 or distance(shapes, b, p)[0] > wide:
            continue
        for s in range(samples.range[c, 0], samples.range[c, 1]):
            at = samples.at[s]
            p = (centre[0] + dot(turn[0], at), centre[1] + dot(turn[1], at), centre[2] + dot(turn[2], at))
            if dot(p, p) > reach * reach:
                continue
            phi, g = distance(shapes, b, p)
            if phi < 0.0:
                n = samples.normal[s]
                area = _facing((dot(turn[0], n), dot(turn[1], n), dot(turn[2], n)), g)
                if area > 0.0:
                    _press_point(patch, p, g, -phi, area * min(samples.area[s], finest), motion, material)
