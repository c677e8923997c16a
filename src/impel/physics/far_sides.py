"""Which side of a thin neighbour a skin belongs to: that of its body's core, as forces have it.

Distance alone cannot tell. Past the middle of a shelf the nearest way out leads to its underside, and below it there is
room again; so what would lie there is followed from the core outwards, to the middle of the first thing in the way.
"""

from impel.geometry.fields import field
from impel.geometry.kinds import BLOB, INNER, MESH, PLANE
from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, norm, scale, sub

FACING = (
    0.7  # cosine between straight out of a neighbour and straight into a body from which on the two face each other
)
PACES = 64  # from a core to its skin at most
NEARLY = 1e-3  # of the way: what is nearer is reached
SURE = 0.9  # how long a gradient is, and of how steeply the distance fell, where it is told which way leads out
HALVINGS = 10  # until it is found where the middle of what is in the way begins
INWARDS = 8  # paces to a core


@kernel(inline=True)
def _bulges_everywhere(kind):
    return kind != BLOB and kind != MESH


@kernel(inline=True)
def may_be_past(touch, a, b, phi, rise):
    """Whether a point of a skin so far from a neighbour may be on its far side, if that distance changes so along the
    way out of the body. Along any line the distance from a convex body falls first, and then rises."""
    kind = touch.shapes.kind[b]
    return kind != PLANE and phi < touch.extent[a, INNER] and (rise > 0.0 or not _bulges_everywhere(kind))


@kernel
def core_below(touch, a, p, way):
    """The middle of a body below a point of its surface, where it is as thick as anywhere or where it is thin."""
    inner = touch.extent[a, INNER]
    core = axpy(-inner, way, p)
    if _bulges_everywhere(touch.shapes.kind[a]):
        return core
    core, last = p, 0.0
    for n in range(1, INWARDS + 1):
        next_one = axpy(-inner * n / INWARDS, way, p)
        phi, _ = field(touch.shapes, a, next_one)
        if phi > last:
            break
        core, last = next_one, phi
    return core


@kernel
def way_clear(touch, b, core, p):
    """What share of the way from a core to a point of its skin, both in the neighbour's frame, leads no further than to
    the middle of the neighbour, if it comes out again on the side that faces away from the core, or would if it went on
    from the middle; else 1.

    The side that faces the core is the one from which the way falls most steeply: on the outside of what bulges that is
    how the core has it, and in a hollow, where what is nearest to a core may be beside or behind the way, the side that
    the way meets.
    """
    shapes, way = touch.shapes, sub(p, core)
    length = norm(way)
    phi, facing = field(shapes, b, core)
    if phi >= length or length == 0.0:
        return 1.0
    way = scale(way, 1.0 / length)
    low, high, g, steep = 0.0, 0.0, facing, 0.0  # how steeply the distance falls where the way comes in; 0 before
    slope, steepest = 1.0, 1.0
    for _ in range(PACES):
        slope = dot(g, way)
        if high == length or (steep < 0.0 and slope > 0.0 and phi > 0.0):
            break
        # Halfway between two sides, and along the axis of a hollow, gradients are of any length.
        if steep == 0.0 and norm(g) > SURE and slope < steepest * norm(g):
            facing, steepest = g, slope / norm(g)
        if steep == 0.0 and (phi > NEARLY * length or slope >= 0.0):
            pace = max(phi, NEARLY * length)
        else:
            steep, pace = min(steep, slope), max(-phi, length / PACES)
            low = high if slope < SURE * steep else low
        high = min(high + pace, length)
        phi, g = field(shapes, b, axpy(high, way, core))
    # Between two sides, as the field of a mesh is smooth: look as far again ahead. Into soft ones skins go on in part.
    if touch.softness[b] == 0.0 and phi < 0.0 and norm(g) < SURE and slope > SURE * steep:
        g = field(shapes, b, axpy(high - phi, way, core))[1]
        slope = dot(g, way)
    if steep == 0.0 or slope <= 0.0 or dot(g, facing) > -FACING * norm(g) * norm(facing):
        return 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if dot(field(shapes, b, axpy(middle, way, core))[1], way) < SURE * steep:
            low = middle
        else:
            high = middle
    return low / length if field(shapes, b, axpy(low, way, core))[0] < 0.0 else 1.0
