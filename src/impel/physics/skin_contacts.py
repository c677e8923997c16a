"""Soft skins and what comes near them: the surface that two coatings share, and the ways onto it.

Two coatings share their overlap so that the pressures in both are equal: there `beyond` is 0. Places are in the frame
of the soft body's centre of mass and principal axes.
"""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import Shapes, field
from impel.geometry.kinds import PLANE, RADIUS
from impel.kernel import Floats2, Floats3, Integers2, kernel, struct
from impel.motion.rotations import (
    axpy,
    conjugate,
    dot,
    get3,
    get4,
    multiply,
    norm,
    rotate,
    scale,
    set3,
    set3_at,
    sub,
    unrotate,
)
from impel.physics.pressures import pressure, slope

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Vectors = Annotated[Floats2, 3]

SHALLOW = 0.35  # cosine of the angle at which a surface meets another from which on it bulges in full ...
STEEP = 0.4  # ... if the way to the shared surface is no longer than 1/this of the depth
FLATTEST = 0.15  # a way onto the shared surface that is longer than 1/this of the depth is taken for that long
FACING = (
    0.7  # cosine between straight out of a neighbour and straight into a body from which on the two face each other
)


@struct
class Touch:
    """What there is to touch: N bodies in F frames."""

    shapes: Shapes
    extent: Floats2  # (N, 6) geometry.kinds.RADIUS ...
    softness: Floats  # (N,) m³/N; 0 is rigid
    tables: Floats3  # (N, rows, 6) how pressure grows with the depth, see pressures.py, where that varies at all
    varies: Integers  # (N,)
    bulge: Floats  # (N,) share of what is pressed in that comes out as a ring
    position: Floats3  # (F, N, 3) of centres of mass
    orientation: Floats3  # (F, N, 4) of principal axes


@struct
class Cover:
    """The skin of one body: W vertices, V corners (a vertex on a sharp edge has several), T triangles."""

    at: Vectors  # (W, 3) at rest
    normal: Vectors  # (W, 3)
    way: Vectors  # (W, 3) outwards, nearly the same for neighbours
    area: Floats  # (W,)
    lift: Floats  # (W,) cosine between normal and way
    triangles: Integers2  # (T, 3) of vertices
    corners: Integers2  # (T, 3)
    vertex: Integers  # (V,) of each corner
    across: Vectors  # (T, 3) normals of triangles at rest, as long as twice their areas
    facing: Vectors  # (V, 3) the sum of these at each corner ...
    drawn: Vectors  # (V, 3) ... and as it is drawn at rest
    sharp: Integers  # (W,) lies on a sharp edge
    cluster: Integers2  # (C, 2) first and last + 1 of vertices that are looked at together ...
    ball: Floats2  # (C, 4) ... and a ball that holds them
    size: float  # m, its largest side
    grain: float  # m: where its vertices are is told in multiples of this
    volume: float  # m³
    # Room for a frame:
    place: Vectors  # (W, 3) where the vertices are
    free: Floats  # (W,) how much of the swelling each takes
    held: Integers  # (W,) how many neighbours it lies against ...
    against: Integers  # (W,) ... the last of these ...
    by: Vectors  # (W, 3) ... and which way the surface faces there
    around: Vectors  # (V, 3)
    middle: Vectors  # (W, 3) of the neighbours of a vertex, and how many there are
    mates: Floats  # (W,)
    first: Integers  # (P + 1,) entries of each neighbour
    other: Integers  # (P,) which body it is
    width: Floats  # (P,) how wide the ring around the contact is
    to: Floats2  # (P, 12) from the skin's frame to the neighbour's
    of: Integers  # (E,) vertex of an entry
    away: Floats  # (E,) its distance from the neighbour, at rest
    over: Floats  # (E,) how far it is beyond the shared surface, at rest
    steep: Floats  # (E,) by how much that falls along ...
    go: Vectors  # (E, 3) ... the way on which it is brought there
    ring: Floats  # (E,) volume that comes out there if the ring has no end


@kernel
def beyond(touch, a, b, phi_a, phi_b):
    """How far a point is beyond the surface that two coatings share, for a skin of a, and the share of a: 0 where the
    pressures in both are equal, as forces have it. Above the surfaces stiffness is as at them."""
    if touch.softness[b] == 0.0:
        return -phi_b, 1.0
    if touch.varies[a] + touch.varies[b] == 0:
        share = touch.softness[a] / (touch.softness[a] + touch.softness[b])
        return (1.0 - share) * phi_a - share * phi_b, share
    stiff_a, stiff_b = slope(touch.tables[a], -phi_a), slope(touch.tables[b], -phi_b)
    press_a = pressure(touch.tables[a], -phi_a) if phi_a < 0.0 else -stiff_a * phi_a
    press_b = pressure(touch.tables[b], -phi_b) if phi_b < 0.0 else -stiff_b * phi_b
    return (press_b - press_a) / (stiff_a + stiff_b), stiff_b / (stiff_a + stiff_b)


@kernel(inline=True)
def ramp(x):
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@kernel
def _look_from(touch, frame, a, b, to, k):
    """Note how to come from the frame of a to that of b."""
    qa, qb = get4(touch.orientation[frame], a), get4(touch.orientation[frame], b)
    q = multiply(conjugate(qb), qa)
    for column in range(3):
        axis = rotate(q, (1.0 if column == 0 else 0.0, 1.0 if column == 1 else 0.0, 1.0 if column == 2 else 0.0))
        for row in range(3):
            to[k, 3 * row + column] = axis[row]
    set3_at(to, k, 9, unrotate(qb, sub(get3(touch.position[frame], a), get3(touch.position[frame], b))))


@kernel(inline=True)
def _there(to, k, p):
    return (
        to[k, 0] * p[0] + to[k, 1] * p[1] + to[k, 2] * p[2] + to[k, 9],
        to[k, 3] * p[0] + to[k, 4] * p[1] + to[k, 5] * p[2] + to[k, 10],
        to[k, 6] * p[0] + to[k, 7] * p[1] + to[k, 8] * p[2] + to[k, 11],
    )


@kernel(inline=True)
def _back(to, k, g):
    return (
        to[k, 0] * g[0] + to[k, 3] * g[1] + to[k, 6] * g[2],
        to[k, 1] * g[0] + to[k, 4] * g[1] + to[k, 7] * g[2],
        to[k, 2] * g[0] + to[k, 5] * g[1] + to[k, 8] * g[2],
    )


@kernel
def judge(touch, a, b, to, k, p):
    """How far a point is beyond the surface shared with a neighbour, and the gradient of that: out of the skin."""
    phi_b, g = field(touch.shapes, b, _there(to, k, p))
    u = _back(to, k, g)
    if touch.softness[b] == 0.0:
        return -phi_b, scale(u, -1.0)
    phi_a, n = field(touch.shapes, a, p)
    over, share = beyond(touch, a, b, phi_a, phi_b)
    return over, axpy(-share, u, scale(n, 1.0 - share))


@kernel
def _near(touch, frame, a, b, reach):
    """Whether bodies may come nearer to each other than that."""
    xa, xb = get3(touch.position[frame], a), get3(touch.position[frame], b)
    if not (math.isfinite(norm(xb)) and math.isfinite(norm(xa))):
        return False
    far = touch.extent[a, RADIUS] + reach
    if touch.shapes.kind[b] == PLANE:
        return field(touch.shapes, b, unrotate(get4(touch.orientation[frame], b), sub(xa, xb)))[0] < far
    apart = sub(xa, xb)
    far += touch.extent[b, RADIUS]
    return dot(apart, apart) < far * far


@kernel
def _list_neighbour(touch, cover, frame, a, b, k, reach):
    """Note the vertices that are nearer to a neighbour than `reach`; returns the distance of the nearest."""
    _look_from(touch, frame, a, b, cover.to, k)
    cover.other[k] = b
    to, e, nearest, mean, total = cover.to, cover.first[k], math.inf, (0.0, 0.0, 0.0), 0.0
    for c in range(len(cover.ball)):
        phi, _ = field(touch.shapes, b, _there(to, k, get3(cover.ball, c)))
        if phi > cover.ball[c, 3] + reach:
            continue
        for i in range(cover.cluster[c, 0], cover.cluster[c, 1]):
            phi, g = field(touch.shapes, b, _there(to, k, get3(cover.at, i)))
            if phi > reach:
                continue
            nearest = min(nearest, phi)
            u = _back(to, k, g)
            cover.of[e], cover.away[e] = i, phi
            cover.over[e], cover.steep[e] = beyond(touch, a, b, 0.0, phi)
            set3(cover.go, e, u)
            if phi < 0.0:
                out = sub(u, get3(cover.way, i))
                mean = axpy(-cover.area[i] * phi, out, mean)
                total -= cover.area[i] * phi * norm(out)
            e += 1
    cover.first[k + 1] = e
    length = norm(mean)
    if length > 0.0:
        mean = scale(mean, 1.0 / length)
    _choose_ways(cover, k, mean, ramp(1.0 - 2.0 * length / total) if total > 0.0 else 0.0)
    return nearest


@kernel
def _choose_ways(cover, k, mean, scattered):
    """Along which way each vertex comes onto the surface that is shared with a neighbour: between straight out of the
    neighbour and straight into the body.

    Out of the neighbour as in the middle of the contact, `mean`, for what leads out of a box is another way beyond each
    of its edges, and what leads out of a ball would lead past the edges of a box. But where a contact goes round, as
    that of a ball and the cup that it lies in, what faces each other has its own way; and each vertex has where the
    ways are `scattered`, from 0 to 1, so that their mean tells nothing: as in the hole of a ring.
    """
    round_by = 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        u = get3(cover.go, e)
        if cover.away[e] < 0.0 and -dot(get3(cover.way, cover.of[e]), u) > FACING:
            round_by = max(round_by, ramp(1.0 - 2.0 * dot(u, mean)))
    for e in range(cover.first[k], cover.first[k + 1]):
        i, share, u = cover.of[e], cover.steep[e], get3(cover.go, e)
        n, way = get3(cover.normal, i), get3(cover.way, i)
        own = max(scattered, round_by * ramp((-dot(way, u) - FACING) / (1.0 - FACING)))
        out = axpy(1.0 - own, mean, scale(u, own))
        go = sub(scale(out, 1.0 / max(norm(out), 1e-9)), way)
        length = norm(go)
        go = scale(go, 1.0 / length) if length > 0.3 else u
        set3(cover.go, e, go)
        cover.steep[e] = max(share * dot(u, go) - (1.0 - share) * dot(n, go), FLATTEST)
        cover.ring[e] = ramp(-dot(way, u) / SHALLOW) * ramp((cover.steep[e] - STEEP) / SHALLOW) / cover.steep[e]


@kernel
def list_neighbours(touch, cover, frame, a, meets, reach):
    """Note all bodies that come near; returns how many there are."""
    count = 0
    for b in range(len(touch.softness)):
        if count < len(cover.other) and b != a and meets[a, b] and _near(touch, frame, a, b, reach):
            _list_neighbour(touch, cover, frame, a, b, count, reach)
            if cover.first[count + 1] > cover.first[count]:
                count += 1
    return count
