"""Meshes as bodies that press, or are pressed by points: which points may be inside the other, and what they do there.

As for two boxes (`box_points.py`), what may be inside is listed for either side of a pair, and kept while the two
hardly move. Beside its points a mesh has sharp edges: between two points of an edge, where the edge of another body has
come in, a point is set where it is deepest, so that edges that cross do not sink into each other.
"""

import math

from impel.geometry.fields import field
from impel.geometry.grids import surely_beyond
from impel.geometry.kinds import BOX, CORE, CYLINDER, MESH, RADIUS, SKIN, SPHERE
from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    dot,
    get3,
    get3_at,
    norm,
    rotate,
    scale,
    set3_at,
    set4_at,
    sub,
    transform,
    unrotate,
)
from impel.physics.box_points import turned
from impel.physics.broadphase import ALLOWED, COUNTS, MOVED, UNLISTED
from impel.physics.patches import (
    box_around,
    distance,
    is_soft,
    overlap,
    press_deep,
    press_facing,
    press_point,
    rows_of,
    where_thin,
)

# By how far a point may move until a new list is due: what it goes in this time, but within these shares of the smaller
# body's radius.
MARGIN_TIME, LEAST, MOST = 1.5e-3, 0.015, 0.03
STEEP, ROUNDING = 1.3, 1e-7  # by how much a spline can be steeper than 1; m: of distances kept in single precision
LOOKS = 10  # for the deepest place of an edge


@kernel(inline=True)
def presses_as_mesh(kind_a, kind_b):
    """Whether A's points press into B's field in the way of this page."""
    if kind_a == MESH:
        return True
    return kind_a == BOX and kind_b == MESH


@kernel
def list_mesh_points(contacts, p, side, a, b, centre, turn, speed):
    """If need be, list the points of A that may be inside B, and those of B inside A; A is in B's frame."""
    seen, extent, kind = contacts.seen, contacts.extent, contacts.shapes.kind
    radius = min(extent[a, RADIUS], extent[b, RADIUS])
    place = centre if extent[a, RADIUS] <= extent[b, RADIUS] else unrotate(turn, centre)
    if seen[p, COUNTS] != UNLISTED:
        seen[p, MOVED] = norm(sub(place, get3_at(seen, p, 0))) + 2.0 * radius * turned(turn, seen, p)
        if seen[p, MOVED] <= seen[p, ALLOWED]:
            return
    seen[p, MOVED] = 0.0
    margin = min(max(MARGIN_TIME * speed, LEAST * radius), MOST * radius)
    seen[p, ALLOWED] = margin
    set3_at(seen, p, 0, place)
    set4_at(seen, p, 3, turn)
    seen[p, COUNTS + side] = _list(contacts, p, side, a, b, centre, rows_of(turn), margin)
    if side == 1:
        seen[p, COUNTS] = 0.0
    elif kind[b] == MESH or kind[b] == BOX:
        back = conjugate(turn)
        centre = scale(rotate(back, centre), -1.0)
        seen[p, COUNTS + 1] = _list(contacts, p, 1, b, a, centre, rows_of(back), margin)


@kernel
def _list(contacts, p, side, a, b, centre, rows, margin):
    """Write down the points and edges of A that are no farther than the margin from B; returns how many there are."""
    samples, extent, shapes, listed = contacts.samples, contacts.extent, contacts.shapes, contacts.listed
    most = listed.shape[1] // 2
    reach = extent[b, SKIN] + margin
    half = (extent[b, CORE] + reach, extent[b, CORE + 1] + reach, extent[b, CORE + 2] + reach)
    low, high = box_around(centre, rows, half)
    count = 0
    c, end = samples.clusters[a, 0], samples.clusters[a, 1]
    while c < end:
        here, first, last = c, get3_at(samples.box, c, 0), get3_at(samples.box, c, 3)
        group = samples.range[here, 0] < 0
        c = samples.range[here, 1] if group else here + 1
        if not overlap(first, last, low, high):
            continue
        x = add(centre, transform(rows, scale(add(first, last), 0.5)))
        reached = samples.radius[here] + margin
        if _at_least(shapes, b, x, reached) > reached:
            continue
        if group:
            c = here + 1
            continue
        for s in range(samples.range[here, 0], samples.range[here, 1]):
            wide = norm(get3(samples.normal, s)) if samples.area[s] < 0.0 else 0.0
            x = add(centre, transform(rows, get3(samples.at, s)))
            phi = _at_least(shapes, b, x, margin + wide)
            if wide > 0.0 and phi <= margin + wide:
                along = transform(rows, get3(samples.normal, s))
                for k in (-0.875, -0.625, -0.375, -0.125, 0.125, 0.375, 0.625, 0.875):
                    phi = min(phi, _at_least(shapes, b, axpy(k, along, x), margin + wide))
                phi -= 0.125 * wide
            if phi <= margin:
                if count == most:
                    return most + 1
                listed[p, side * most + count] = s
                contacts.clear[p, side * most + count] = phi
                count += 1
    return count


@kernel
def _at_least(shapes, b, x, far):
    """How far a point is from B; infinite where it is plain that this is more than `far`."""
    if shapes.kind[b] == MESH and surely_beyond(shapes.grid, shapes.place, shapes.part[b, 0], x, far):
        return math.inf
    return field(shapes, b, x)[0]


@kernel
def press_mesh_points(contacts, p, side, a, b, centre, rows, half, motion, material, finest, patch):
    """The points of A inside B, in B's frame: those that are listed, or all where these are too many."""
    samples, listed = contacts.samples, contacts.listed
    most, count = listed.shape[1] // 2, int(contacts.seen[p, COUNTS + side])
    if count <= most:
        moved = STEEP * contacts.seen[p, MOVED] + ROUNDING
        for k in range(side * most, side * most + count):
            if contacts.clear[p, k] > moved:
                continue
            _press(contacts.shapes, samples, listed[p, k], b, centre, rows, motion, material, finest, patch)
        return
    low, high = box_around(centre, rows, half)
    c, end = samples.clusters[a, 0], samples.clusters[a, 1]
    while c < end:
        here, first, last = c, get3_at(samples.box, c, 0), get3_at(samples.box, c, 3)
        group = samples.range[here, 0] < 0
        c = samples.range[here, 1] if group else here + 1
        x = add(centre, transform(rows, scale(add(first, last), 0.5)))
        if not overlap(first, last, low, high):
            continue
        if _at_least(contacts.shapes, b, x, samples.radius[here]) > samples.radius[here]:
            continue
        if group:
            c = here + 1
            continue
        for s in range(samples.range[here, 0], samples.range[here, 1]):
            _press(contacts.shapes, samples, s, b, centre, rows, motion, material, finest, patch)


@kernel
def _press(shapes, samples, s, b, centre, rows, motion, material, finest, patch):
    x = add(centre, transform(rows, get3(samples.at, s)))
    phi, g = distance(shapes, b, x)
    if samples.area[s] < 0.0:
        _press_edge(shapes, samples, s, b, x, phi, rows, motion, material, finest, patch)
    elif phi < 0.0:
        normal = transform(rows, get3(samples.normal, s))
        area = _counted(shapes, b, min(samples.area[s], finest), -phi)
        material = where_thin(shapes, b, x, g, -phi, material, patch)
        if is_soft(material):
            press_deep(patch, shapes, b, x, normal, g, -phi, area, samples.bend[s], motion, material)
        else:
            press_facing(patch, x, normal, g, -phi, area, motion, material, True)


@kernel(inline=True)
def _counted(shapes, b, area, depth):
    """How much of a point's area may be inside something round when the point is: no more than a cap that deep. A large
    face has few points; one of them beside a ball would push it aside with all of the face."""
    if shapes.kind[b] > CYLINDER:
        return area
    wide = math.sqrt(math.pi * shapes.size[b, 0] * depth)
    return min(area, wide * wide if shapes.kind[b] == SPHERE else wide * math.sqrt(area))


@kernel
def _press_edge(shapes, samples, s, b, x, phi, rows, motion, material, finest, patch):
    """An edge about x: a point where it is deepest, as far as this is deeper than its ends, which press themselves."""
    along = transform(rows, get3(samples.normal, s))
    if phi > norm(along):
        return
    first, slope = distance(shapes, b, sub(x, along))
    if dot(slope, along) >= 0.0:
        return
    last, slope = distance(shapes, b, add(x, along))
    if dot(slope, along) <= 0.0:
        return
    low, high = -1.0, 1.0
    at, value, g = x, phi, slope
    for _ in range(LOOKS):
        middle = 0.5 * (low + high)
        at = axpy(middle, along, x)
        value, g = distance(shapes, b, at)
        if dot(g, along) > 0.0:
            high = middle
        else:
            low = middle
    depth = -value - max(0.0, -first, -last)
    if depth > 0.0:
        material = where_thin(shapes, b, at, g, -value, material, patch)
        press_point(patch, at, g, depth, min(-samples.area[s], finest), motion, material)
