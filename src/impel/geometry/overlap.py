"""Whether two shapes overlap by more than a given depth, whatever their kinds and however they cross.

The place that is deepest in both is the lowest of max(field of A, field of B), which is convex for all shapes but
blobs and meshes. Of blobs each part is looked at; the ellipsoid method (Shor 1977) finds the place, and ends as soon as
it is certain. Of meshes all points are looked at.
"""

import math

from impel.geometry.fields import blob_part_field, field
from impel.geometry.kinds import BLOB
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, dot, get3, rotate, scale, sub, transform, unrotate

LOOKS = 400  # at most; each shrinks the space that is left by a sixth


@kernel
def overlap_by(shapes, a, xa, qa, b, xb, qb, reach, depth):
    """Whether there is a place deeper than `depth` in both shapes; `reach` holds the one whose centre is at xa."""
    for part_a in range(_parts(shapes, a)):
        for part_b in range(_parts(shapes, b)):
            if _parts_overlap(shapes, a, part_a, xa, qa, b, part_b, xb, qb, reach, depth):
                return True
    return False


@kernel(inline=True)
def _parts(shapes, s):
    return shapes.part[s, 1] - shapes.part[s, 0] if shapes.kind[s] == BLOB else 1


@kernel
def _part_field(shapes, s, part, x, q, p):
    """The field of a part at a point of the world, and its gradient there."""
    inside = unrotate(q, sub(p, x))
    if shapes.kind[s] == BLOB:
        phi, g = blob_part_field(shapes.elements, shapes.part[s, 0] + part, inside)
    else:
        phi, g = field(shapes, s, inside)
    return phi, rotate(q, g)


@kernel
def _parts_overlap(shapes, a, part_a, xa, qa, b, part_b, xb, qb, reach, depth):
    p = xa
    square = reach * reach
    rows = ((square, 0.0, 0.0), (0.0, square, 0.0), (0.0, 0.0, square))  # of the ellipsoid that holds the lowest place
    for _ in range(LOOKS):
        phi, g = _part_field(shapes, a, part_a, xa, qa, p)
        other, slope = _part_field(shapes, b, part_b, xb, qb, p)
        if other > phi:
            phi, g = other, slope
        if phi < -depth:
            return True
        ahead = transform(rows, g)
        wide = math.sqrt(max(dot(g, ahead), 0.0))
        if phi - wide > -depth or wide == 0.0:
            return False
        ahead = scale(ahead, 1.0 / wide)
        p = axpy(-0.25, ahead, p)
        rows = (
            scale(axpy(-0.5 * ahead[0], ahead, rows[0]), 1.125),
            scale(axpy(-0.5 * ahead[1], ahead, rows[1]), 1.125),
            scale(axpy(-0.5 * ahead[2], ahead, rows[2]), 1.125),
        )
    return False


@kernel
def deepest_point(shapes, samples, a, xa, qa, b, xb, qb):
    """How deep in B the deepest of A's points is; 0 where none is inside, or A has none."""
    deepest = 0.0
    for c in range(samples.clusters[a, 0], samples.clusters[a, 1]):
        first, last = samples.range[c, 0], samples.range[c, 1]
        if first >= 0:
            for s in range(first, last):
                p = unrotate(qb, sub(add(xa, rotate(qa, get3(samples.at, s))), xb))
                deepest = max(deepest, -field(shapes, b, p)[0])
    return deepest
