"""Coatings: the elastic layer of a body, the default for bodies without one, and what two make together."""

import math
from typing import Any, NamedTuple

from impel.geometry.fields import BLOB, BOX, CAPSULE, CYLINDER, PLANE, SPHERE
from impel.geometry.shapes import INNER, make_extents, make_shapes, solid
from impel.kernel import kernel

# Columns of `contacts.material`, what two coatings make together.
STIFFNESS, DAMPING, FRICTION, LIMIT, HARD, ROOM = range(6)
# Columns of `contacts.coating`.
SOFTNESS, THICKNESS, LOSS, ROUGHNESS, FINEST = range(5)

STOPPING_SPEED = 30.0  # m/s: beyond its limit a coating stiffens so much that it stops a body as fast as this

# The default coating yields this much under the body's own weight: 0.5 mm for round shapes, 0.05 mm for flat
# ones (stacks need that), so that ω = √(2g/depth) resp. √(g/depth) is 200-440 s⁻¹ whatever the mass: steps of 1-2 ms.
ROUND_SINK, FLAT_SINK = 5e-4, 5e-5


class Coating(NamedTuple):
    """The elastic layer of a body."""

    stiffness: float  # N/m³: pressure per depth; infinite is rigid
    thickness: float  # m: pressed deeper than this it stiffens
    damping: float = 0.5  # s/m (Hunt and Crossley): restitution 0.86, 0.55, 0.36 for 0.1, 0.5, 1 at 2.4 m/s
    friction: float = 0.6


def default_coating(shape: dict[str, Any], mass: float) -> Coating:
    """A stiff coating that barely yields under the body's own weight; a fixed body is rigid."""
    arrays = make_shapes([shape])
    kind, (r, half, _) = arrays.kind[0], arrays.size[0]
    if kind == PLANE or not math.isfinite(mass):
        return Coating(math.inf, math.inf)
    overlap = solid(shape).volume ** (2 / 3) * FLAT_SINK
    if kind == SPHERE:
        overlap = math.pi * r * ROUND_SINK**2
    elif kind in (CAPSULE, CYLINDER):  # lying; a parabolic segment has 2/3 of the area of its rectangle
        overlap = 4 / 3 * math.sqrt(2 * r) * ROUND_SINK**1.5 * 2 * half
        if kind == CAPSULE:
            overlap += math.pi * r * ROUND_SINK**2
    return Coating(mass * 9.81 / overlap, 0.25 * make_extents(arrays)[0, INNER])


@kernel(inline=True)
def both_press(kind_a, kind_b):
    """Two flat or free surfaces both press: the corners of either may reach between the samples of the other."""
    if kind_a == CAPSULE:
        return kind_b == BLOB
    return kind_a >= CYLINDER and kind_b <= BOX


@kernel
def mix(pair, count, kind, extent, coating, inverse_mass, material):
    """What the coatings of each pair make together: two springs in a row.

    The layers share the depth in the ratio of their softness, so the pair stiffens when the first of them is
    pressed to its full thickness, or earlier where a thin body leaves no room.
    """
    for p in range(count):
        a, b = pair[p, 0], pair[p, 1]
        soft_a, soft_b = coating[a, SOFTNESS], coating[b, SOFTNESS]
        soft = soft_a + soft_b
        is_round = kind[a] <= CAPSULE
        room = extent[b, INNER] + (extent[a, INNER] if is_round else 0.0)
        if both_press(kind[a], kind[b]):
            room = min(room, extent[a, INNER])
        limit = 0.4 * room
        if soft_a > 0.0:
            limit = min(limit, coating[a, THICKNESS] * soft / soft_a)
        if soft_b > 0.0:
            limit = min(limit, coating[b, THICKNESS] * soft / soft_b)
        # A body at the stopping speed is to be halted within a quarter of the room, even when only a corner of it
        # touches: mass·speed² = hardness·area·way².
        way = min(0.25 * room, extent[a, INNER])
        area = 2.0 / 3.0 * math.pi * extent[a, INNER] * way
        if not is_round:
            area = 0.25 * min(coating[a, FINEST], coating[b, FINEST])
        mass = 1.0 / (inverse_mass[a] + inverse_mass[b])
        material[p, STIFFNESS] = 1.0 / soft
        material[p, DAMPING] = (coating[a, LOSS] * soft_a + coating[b, LOSS] * soft_b) / soft
        material[p, FRICTION] = math.sqrt(coating[a, ROUGHNESS] * coating[b, ROUGHNESS])
        material[p, LIMIT] = limit
        material[p, HARD] = mass * STOPPING_SPEED**2 / (area * way * way)
        material[p, ROOM] = room
