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
from impel.physics.broadphase import COUNTS, MOST, UNLISTED
from impel.physics.patches import box_around, is_soft, overlap, press_point, rows_of, set_square, weighed

# Columns of `contacts.inside`: a point that presses, what leads out of the other box there, how deep it is, how
# squarely its side faces that, and which of the samples it is.
INSIDE, OUTWARD, DEPTH, FACES, SAMPLE, KEPT = 0, 3, 6, 7, 8, 9

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
            if count == MOST:
                within = max(abs(x) - half[0], abs(y) - half[1], abs(z) - half[2]) <= 0.0
                if within:
                    return MOST + 1
                continue
            # Without branches, which nothing could predict: the next one is written over what is not inside.
            contacts.listed[p, first + count] = s
            count += (abs(x) <= half[0]) & (abs(y) <= half[1]) & (abs(z) <= half[2])
    return count


@kernel
def press_listed(contacts, p, side, centre, rows, half, motion, material, finest, patch):
    """The listed points of a box that are inside box B; the rest as in `press_points`.

    Half of those listed are not inside, and of the others many are on sides that do not face the field: first those
    that press are found, without branches.
    """
    samples, listed, first, kept = contacts.samples, contacts.listed, _first(contacts.seen, p, side), contacts.inside
    count, turns = 0, is_soft(material)
    for k in range(first, first + int(contacts.seen[p, COUNTS + side])):
        s = listed[p, k]
        x = add(centre, transform(rows, get3(samples.at, s)))
        phi, u = inside_box(x, half)
        faces = -dot(transform(rows, get3(samples.normal, s)), u)
        set3_at(kept, count, INSIDE, x)
        set3_at(kept, count, OUTWARD, u)
        kept[count, DEPTH], kept[count, FACES], kept[count, SAMPLE] = -phi, faces, s
        count += (phi < 0.0) & (faces > 0.0)
    for k in range(count):
        s, depth, faces = int(kept[k, SAMPLE]), kept[k, DEPTH], kept[k, FACES]
        x, u, area = get3_at(kept, k, INSIDE), get3_at(kept, k, OUTWARD), min(samples.area[s], finest)
        press_point(patch, x, u, depth, weighed(faces) * area, motion, material)
        if turns:
            set_square(patch, transform(rows, get3(samples.normal, s)), u, depth, area, material)
