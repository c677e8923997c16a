"""Coatings: the elastic layer of a body, the default for bodies without one, and what two make together."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.baking import bake
from impel.geometry.kinds import BOX, CAPSULE, CORE, CYLINDER, INNER, MESH, PLANE, SKIN, SPHERE, solid
from impel.geometry.shapes import form
from impel.kernel import kernel
from impel.physics.patches import LIMIT_SHARE
from impel.physics.pressures import COLUMNS, depth_at, make_table, pressure

# Columns of `contacts.material`, what two coatings make together.
STIFFNESS, DAMPING, FRICTION, LIMIT, HARD, ROOM, FIRM, ROLLING, ROUND, VARIED = range(10)
# Columns of `contacts.coating`.
SOFTNESS, THICKNESS, LOSS, ROUGHNESS, FINEST, FIRMNESS, RESISTANCE, CURVED, VARIES = range(9)

STOPPING_SPEED = 30.0  # m/s: beyond its limit a coating stiffens so much that it stops a body as fast as this

# The default coating yields this much under the body's own weight: 0.5 mm for round shapes, 0.05 mm for flat
# ones (stacks need that), so that ω = √(2g/depth) resp. √(g/depth) is 200-440 s⁻¹ whatever the mass: steps of 1-2 ms.
# What is smaller than a few centimetres yields by a share of the way to its middle.
ROUND_SINK, FLAT_SINK = 5e-4, 5e-5
ROUND_SHARE, FLAT_SHARE = 0.02, 0.004

# But what comes to rest on it may be a thousand times its weight, or stand on a corner: it grows firmer with the depth,
# by 1 + (depth/firm)⁴, where firm is this share of the way to its middle. Such a load sinks in by a few per cent, and
# asks for shorter steps only as long as it is there.
FIRM_SHARE = 0.0115
MESH_FIRM, MESH_FIRM_SHARE = 2.5e-4, 0.05  # m, or that share: what has thin parts and sharp edges all over

CARELESS = 0.25  # s/m: what is damped so much loses more in a blow than it could gain


class Coating(NamedTuple):
    """The elastic layer of a body."""

    stiffness: float  # N/m³: pressure per depth, at the surface; infinite is rigid
    thickness: float  # m: pressed deeper than this it stiffens
    damping: float = 0.5  # s/m (Hunt and Crossley): restitution 0.86, 0.55, 0.36 for 0.1, 0.5, 1 at 2.4 m/s
    friction: float = 0.6
    rolling: float = 0.01  # of the load: what holds back a ball that rolls; lever over radius
    firm: float = math.inf  # m: pressed this deep it is twice as hard as at first
    curve: tuple[tuple[float, float], ...] = ()  # (m, N/m³): where stiffness varies with the depth, at some depths


def default_coating(shape: dict[str, Any], mass: float) -> Coating:
    """A stiff coating that barely yields under the body's own weight, and little under any; a fixed body is rigid."""
    kind, r, half, extent = form(shape)
    if kind == PLANE or not math.isfinite(mass):
        return Coating(math.inf, math.inf)
    inner = float(extent[INNER])
    flat, sink = min(FLAT_SINK, FLAT_SHARE * inner), min(ROUND_SINK, ROUND_SHARE * inner)
    overlap = bake(shape).support if kind == MESH else solid(shape).volume ** (2 / 3) * flat
    if kind == SPHERE:
        overlap = math.pi * r * sink**2
    elif kind in (CAPSULE, CYLINDER):  # lying; a parabolic segment has 2/3 of the area of its rectangle
        overlap = 4 / 3 * math.sqrt(2 * r) * sink**1.5 * 2 * half
        if kind == CAPSULE:
            overlap += math.pi * r * sink**2
    firm = min(MESH_FIRM, MESH_FIRM_SHARE * inner) if kind == MESH else FIRM_SHARE * inner
    return Coating(mass * 9.81 / overlap, 0.25 * inner, firm=firm)


# Where the table of a coating that grows firmer has its rows, in depths at which it is twice as hard.
FIRM_ROWS = (0.0, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.7, 3.5, 5.0, 7.0, 10.0)


def table_of(own: Coating, rows: int | None = None) -> NDArray[np.float64]:
    """(rows, 6) how its pressure grows with the depth, see `pressures.py`."""
    points = own.curve or ((0.0, own.stiffness),)
    if not own.curve and math.isfinite(own.firm):
        points = tuple((x * own.firm, own.stiffness * (1.0 + 5.0 * x**4)) for x in FIRM_ROWS)
    return make_table(points, rows)


def make_tables(coatings: list[Coating]) -> NDArray[np.float64]:
    """(N, rows, 6) of all of them; without rows where no stiffness varies with the depth."""
    if not any(own.curve for own in coatings):
        return np.zeros((len(coatings), 0, COLUMNS))
    rows = max(len(table_of(own)) for own in coatings)
    return np.array([table_of(own, rows) for own in coatings])


def rolling_radius(shape: dict[str, Any]) -> float:
    """Of a shape that can roll; infinite for flat ones."""
    kind, r, _, extent = form(shape)
    if kind <= CYLINDER:
        return r
    if kind == MESH:
        return float(sorted(extent[CORE:SKIN])[1])
    return float(extent[INNER]) if kind < BOX else math.inf


@kernel(inline=True)
def both_press(kind_a, kind_b):
    """Two flat or free surfaces both press: the corners of either may reach between the samples of the other."""
    if kind_a == SPHERE:
        return kind_b == MESH
    if kind_a == CAPSULE:
        return CYLINDER < kind_b < BOX
    return kind_a >= CYLINDER and kind_b <= BOX


@kernel(inline=True)
def keeps_account(material, p):
    """Whether a pair keeps account of the work that pressing it together takes, see `friction.give_back`: if both are
    as soft as they were told to be, or a blow loses next to nothing."""
    return material[p, FIRM] == 0.0 or material[p, DAMPING] < CARELESS


@kernel
def _most(coating, extent, tables, i):
    """The pressure that a coating bears until it is pressed to its full thickness."""
    thickness = min(coating[i, THICKNESS], extent[i, INNER])
    return pressure(tables[i], thickness) if thickness < math.inf and coating[i, SOFTNESS] > 0.0 else math.inf


@kernel
def mix(pair, count, kind, extent, coating, tables, inverse_mass, material):
    """What the coatings of each pair make together: two springs in a row.

    The layers share the depth in the ratio of their softness, so the pair stiffens when the first of them is
    pressed to its full thickness, or earlier where a thin body leaves no room.
    """
    for p in range(count):
        a, b = pair[p, 0], pair[p, 1]
        soft_a, soft_b = coating[a, SOFTNESS], coating[b, SOFTNESS]
        varied = coating[a, VARIES] + coating[b, VARIES] > 0.0
        if varied:
            # As soft as each is on the whole way until the first is pressed to its full thickness.
            most = min(_most(coating, extent, tables, a), _most(coating, extent, tables, b))
            soft_a, soft_b = depth_at(tables[a], most)[0] / most, depth_at(tables[b], most)[0] / most
        soft = soft_a + soft_b
        is_round = kind[a] <= CAPSULE
        room = extent[b, INNER] + (extent[a, INNER] if is_round else 0.0)
        if both_press(kind[a], kind[b]):
            room = min(room, extent[a, INNER])
        limit = LIMIT_SHARE * room
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
        # Each layer takes its share of the depth and grows firmer by that: as early as the other where that is a mesh,
        # whose corners and teeth have next to no area.
        share_a, share_b, firm_a, firm_b = soft_a / soft, soft_b / soft, coating[a, FIRMNESS], coating[b, FIRMNESS]
        if firm_a * firm_b > 0.0 and (kind[a] == MESH or kind[b] == MESH):
            firm_a = firm_b = max(firm_a, firm_b)
        material[p, FIRM] = share_a**5 * firm_a + share_b**5 * firm_b
        material[p, ROLLING] = math.sqrt(coating[a, RESISTANCE] * coating[b, RESISTANCE])
        material[p, ROUND] = min(coating[a, CURVED], coating[b, CURVED])  # the smaller one rolls on the other
        material[p, VARIED] = 1.0 if varied else 0.0
