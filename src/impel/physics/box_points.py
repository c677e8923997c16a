"""Which points of a box may be inside another: a list for either side of a pair, kept while the two hardly move.

In a heap two boxes meet with a few of their hundreds of points, and with the same ones for many steps. What is listed
is all that could be inside; whether it is, and how deep, is asked anew in every step. So nothing depends on when a list
was made, and a step that is taken back leaves nothing behind.
"""

from impel.geometry.fields import box_field
from impel.geometry.shapes import INNER, RADIUS
from impel.kernel import kernel
from impel.motion.rotations import add, get3, get3_at, norm, set3_at, set4_at, sub, transform, unrotate
from impel.physics.broadphase import LIST, MOST, POSE, UNLISTED
from impel.physics.patches import box_around, facing, overlap, press_point, rows_of

MARGIN = 0.05  # of the way to the middle of the smaller box: by which a point may move until a new list is due


@kernel
def list_points(contacts, p, side, a, b, centre, turn, half):
    """List the points of box A that may be inside B, if need be; returns how many there are, MOST + 1 if too many."""
    seen, listed, extent = contacts.seen, contacts.listed, contacts.extent
    at, start = side * POSE, side * LIST
    # The smaller one moves in the other's frame; what is inside now was no farther outside then than any of its points
    # has moved.
    smaller = extent[a, RADIUS] <= extent[b, RADIUS]
    place = centre if smaller else unrotate(turn, centre)
    margin = MARGIN * min(extent[a, INNER], extent[b, INNER])
    if listed[p, start] != UNLISTED:
        radius = min(extent[a, RADIUS], extent[b, RADIUS])
        if norm(sub(place, get3_at(seen, p, at))) + 2.0 * radius * _turned(turn, seen, p, at + 3) <= margin:
            return listed[p, start]
    set3_at(seen, p, at, place)
    set4_at(seen, p, at + 3, turn)
    half = (half[0] + margin, half[1] + margin, half[2] + margin)
    listed[p, start] = _list(contacts.samples, a, centre, rows_of(turn), half, listed, p, start + 1)
    return listed[p, start]


@kernel(inline=True)
def _turned(turn, seen, p, column):
    """How far a turn is from that of back then: the difference of the quaternions, of which either sign is the same."""
    same, other = 0.0, 0.0
    for k in range(4):
        same += (turn[k] - seen[p, column + k]) ** 2
        other += (turn[k] + seen[p, column + k]) ** 2
    return min(same, other) ** 0.5


@kernel
def _list(samples, a, centre, rows, half, listed, p, start):
    """Write down the points of A inside a box about B's centre."""
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
                listed[p, start + count] = s
                count += 1
    return count


@kernel
def press_listed(samples, listed, p, side, centre, rows, half, motion, material, finest, patch):
    """The listed points of a box that are inside box B; the rest as in `press_points`."""
    start = side * LIST
    for k in range(start + 1, start + 1 + listed[p, start]):
        s = listed[p, k]
        x = add(centre, transform(rows, get3(samples.at, s)))
        phi, g = box_field(x, half[0], half[1], half[2])
        if phi < 0.0:
            area = facing(transform(rows, get3(samples.normal, s)), g)
            if area > 0.0:
                press_point(patch, x, g, -phi, area * min(samples.area[s], finest), motion, material)
