"""Which points of a box may be inside another: a list for either side of a pair, kept while the two hardly move.

In a heap two boxes meet with a few of their hundreds of points, and with the same ones for many steps. What is listed
is all that could be inside; whether it is, and how deep, is asked anew in every step. So nothing depends on when a list
was made, and a step that is taken back leaves nothing behind.
"""

from impel.geometry.fields import inside_box
from impel.geometry.kinds import CORE, INNER, RADIUS
from impel.kernel import kernel
from impel.motion.rotations import (
    add,
    conjugate,
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
from impel.physics.broadphase import COUNTS, MOST, UNLISTED
from impel.physics.patches import box_around, is_soft, overlap, press_facing, rows_of

MARGIN = 0.05  # of the way to the middle of the smaller box: by which a point may move until a new list is due


@kernel
def list_points(contacts, p, a, b, centre, turn):
    """List the points of boxes A and B that may be inside the other, if need be; A is in B's frame."""
    seen, extent = contacts.seen, contacts.extent
    # The smaller one moves in the other's frame; what is inside now was no farther outside then than any of its points
    # has moved.
    place = centre if extent[a, RADIUS] <= extent[b, RADIUS] else unrotate(turn, centre)
    margin = MARGIN * min(extent[a, INNER], extent[b, INNER])
    if seen[p, COUNTS] != UNLISTED:
        radius = min(extent[a, RADIUS], extent[b, RADIUS])
        if norm(sub(place, get3_at(seen, p, 0))) + 2.0 * radius * turned(turn, seen, p) <= margin:
            return
    set3_at(seen, p, 0, place)
    set4_at(seen, p, 3, turn)
    seen[p, COUNTS] = _list(contacts, p, 0, a, b, centre, turn, margin)
    back = conjugate(turn)
    seen[p, COUNTS + 1] = _list(contacts, p, 1, b, a, scale(rotate(back, centre), -1.0), back, margin)


@kernel(inline=True)
def turned(turn, seen, p):
    """How far a turn is from that of back then: the difference of the quaternions, of which either sign is the same."""
    same, other = 0.0, 0.0
    for k in range(4):
        same += (turn[k] - seen[p, 3 + k]) ** 2
        other += (turn[k] + seen[p, 3 + k]) ** 2
    return min(same, other) ** 0.5


@kernel(inline=True)
def _first(seen, p, side):
    """Where the list of a side begins: the second comes right after the first, for memory is read by lines."""
    return int(min(seen[p, COUNTS], MOST)) if side == 1 else 0


@kernel
def _list(contacts, p, side, a, b, centre, turn, margin):
    """Write down the points of A inside a box about B; returns how many there are, MOST + 1 if too many."""
    samples, extent, rows, first = contacts.samples, contacts.extent, rows_of(turn), _first(contacts.seen, p, side)
    half = (extent[b, CORE] + margin, extent[b, CORE + 1] + margin, extent[b, CORE + 2] + margin)
    low, high = box_around(centre, rows, half)
    count = 0
    for c in range(samples.clusters[a, 0], samples.clusters[a, 1]):
        if not overlap(get3_at(samples.box, c, 0), get3_at(samples.box, c, 3), low, high):
            continue
        for s in range(samples.range[c, 0], samples.range[c, 1]):
            x, y, z = add(centre, transform(rows, get3(samples.at, s)))
            if abs(x) <= half[0] and abs(y) <= half[1] and abs(z) <= half[2]:
                if count == MOST:
                    return MOST + 1
                contacts.listed[p, first + count] = s
                count += 1
    return count


@kernel
def press_listed(contacts, p, side, centre, rows, half, motion, material, finest, patch):
    """The listed points of a box that are inside box B; the rest as in `press_points`, but the field is found at inside
    points only: half of those listed are not."""
    samples, listed, first = contacts.samples, contacts.listed, _first(contacts.seen, p, side)
    for k in range(first, first + int(contacts.seen[p, COUNTS + side])):
        s = listed[p, k]
        x = add(centre, transform(rows, get3(samples.at, s)))
        if max(abs(x[0]) - half[0], abs(x[1]) - half[1], abs(x[2]) - half[2]) >= 0.0:
            continue
        phi, g = inside_box(x, half)
        normal = transform(rows, get3(samples.normal, s))
        press_facing(patch, x, normal, g, -phi, min(samples.area[s], finest), motion, material, is_soft(material))
