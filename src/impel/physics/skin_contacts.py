"""Soft skins and what comes near them: the surface that two coatings share, and the ways onto it.

Two coatings share their overlap so that the pressures in both are equal: there `beyond` is 0. Places are in the frame
of the soft body's centre of mass and principal axes.
"""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import Shapes, field
from impel.geometry.kinds import INNER, PLANE, RADIUS
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
from impel.physics.far_sides import FACING, HALVINGS, core_below, may_be_past, way_clear
from impel.physics.pressures import pressure, slope

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Vectors = Annotated[Floats2, 3]

SHALLOW = 0.35  # cosine of the angle at which a surface meets another from which on it bulges in full ...
STEEP = 0.4  # ... if the way to the shared surface is no longer than 1/this of the depth
FLATTEST = 0.15  # a way onto the shared surface that is longer than 1/this of the depth is taken for that long
BEHIND = 16  # paces behind a near side in which it is looked for a shared surface


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
    drawn: Vectors  # (V, 3) ... as it is drawn at rest ...
    apart: Vectors  # (V, 3) ... and from the direction of the one to the other
    sharp: Integers  # (W,) lies on a sharp edge
    swell: Floats2  # (T + 1, 4) volume below each triangle, and below all: polynomials of how far all has come out
    cluster: Integers2  # (C, 2) first and last + 1 of vertices that are looked at together ...
    ball: Floats2  # (C, 4) ... and a ball that holds them
    size: float  # m, its largest side
    grain: float  # m: where its vertices are is told in multiples of this
    # Room for a frame:
    place: Vectors  # (W, 3) where the vertices are
    free: Floats  # (W,) how much of the swelling each takes: 1 for what no neighbour is near
    many: Integers  # (1,) how many triangles have a corner that a neighbour is near to ...
    beside: Integers  # (T,) ... which ...
    out: Vectors  # (T, 3) ... and which way they face, twice as long as their areas
    held: Integers  # (W,) how many neighbours it lies against ...
    against: Integers  # (W,) ... the last of these ...
    by: Vectors  # (W, 3) ... and which way the surface faces there
    around: Vectors  # (V, 3) which way a corner faces that ...
    turns: Integers  # (V,) ... does not face as at rest
    middle: Vectors  # (W, 3) of the neighbours of a vertex, and how many there are
    mates: Floats  # (W,)
    first: Integers  # (P + 1,) entries of each neighbour
    other: Integers  # (P,) which body it is
    width: Floats  # (P,) how wide the ring around the contact is
    mean: Vectors  # (P, 3) which way leads out of it in the middle of the contact ...
    alone: Floats2  # (P, 2) ... how far each vertex has its own, of those that face it and of all
    to: Floats2  # (P, 12) from the skin's frame to the neighbour's
    of: Integers  # (E,) vertex of an entry
    away: Floats  # (E,) its distance from the neighbour, at rest
    over: Floats  # (E,) how far it is beyond the shared surface, at rest
    steep: Floats  # (E,) by how much that falls along ...
    go: Vectors  # (E, 3) ... the way on which it is brought there; before it is chosen, straight out of the neighbour
    ring: Floats  # (E,) volume that comes out there if the ring has no end; negative before the way is chosen


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
    return judge_at(touch, a, b, p, *distance_from(touch, b, to, k, p))


@kernel(inline=True)
def distance_from(touch, b, to, k, p):
    """How far a point is from a neighbour, and which way leads straight out of it."""
    phi, g = field(touch.shapes, b, _there(to, k, p))
    return phi, _back(to, k, g)


@kernel
def judge_at(touch, a, b, p, phi_b, u):
    """The same where the distance from the neighbour is known, and the way out of it."""
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
def near_side(touch, cover, a, b, k, i, p, phi, u):
    """Where the way of a vertex to a place ends: in the middle of a neighbour if it would be past that, else there. How
    far that is from the neighbour, and which way leads straight out of it, as they are told for the place."""
    core = core_below(touch, a, get3(cover.at, i), get3(cover.way, i))
    share = way_clear(touch, b, _there(cover.to, k, core), _there(cover.to, k, p))
    if share == 1.0:
        return p, phi, u
    p = axpy(share, sub(p, core), core)
    phi, u = distance_from(touch, b, cover.to, k, p)
    return p, phi, scale(u, 1.0 / max(norm(u), 1e-9))


@kernel
def pressed_behind(touch, cover, a, b, k, i, p, over, out):
    """Where the way of a vertex comes to the shared surface if it does so behind the near side of a neighbour, as where
    a limb goes through an edge; else that near side, `p`. How far that is beyond, and the gradient of that."""
    way = sub(get3(cover.place, i), p)
    pace = 1 if norm(way) > 0.0 else BEHIND + 1
    while pace <= BEHIND and judge(touch, a, b, cover.to, k, axpy(pace / BEHIND, way, p))[0] <= 0.0:
        pace += 1
    if pace > BEHIND:
        return p, over, out
    low, high = (pace - 1) / BEHIND, pace / BEHIND
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if judge(touch, a, b, cover.to, k, axpy(middle, way, p))[0] > 0.0:
            high = middle
        else:
            low = middle
    there = axpy(high, way, p)
    over, out = judge(touch, a, b, cover.to, k, there)
    return there, over, out


@kernel
def _list_neighbour(touch, cover, frame, a, b, k, reach):
    """Note the vertices that are nearer to a neighbour than `reach`, and which way leads straight out of it there."""
    _look_from(touch, frame, a, b, cover.to, k)
    cover.other[k] = b
    to, e = cover.to, cover.first[k]
    wide = reach if touch.shapes.kind[b] == PLANE else max(reach, touch.extent[a, INNER])
    for c in range(len(cover.ball)):
        phi, _ = field(touch.shapes, b, _there(to, k, get3(cover.ball, c)))
        if phi > cover.ball[c, 3] + wide:
            continue
        for i in range(cover.cluster[c, 0], cover.cluster[c, 1]):
            p = get3(cover.at, i)
            phi, u = distance_from(touch, b, to, k, p)
            if may_be_past(touch, a, b, phi, dot(u, get3(cover.way, i))):
                near, phi, u = near_side(touch, cover, a, b, k, i, p, phi, u)
                phi += dot(u, sub(p, near))
            if phi > reach:
                continue
            cover.of[e], cover.away[e] = i, phi
            cover.over[e], cover.steep[e] = beyond(touch, a, b, 0.0, phi)
            if phi < 0.0:  # in the middle of a mesh gradients are short and lead anywhere
                u = axpy(min(norm(u) - 1.0, 0.0), get3(cover.way, i), u)
                u = scale(u, 1.0 / max(norm(u), 1e-9))
            set3(cover.go, e, u)
            cover.ring[e] = -1.0
            e += 1
    cover.first[k + 1] = e


@kernel
def choose_ways(cover, k, until):
    """Along which way each vertex comes onto the surface that is shared with a neighbour: between straight out of the
    neighbour and straight into the body. Only what is no farther away than so much is likely to need one.

    Out of the neighbour as in the middle of the contact, `mean`, for what leads out of a box is another way beyond each
    of its edges, and what leads out of a ball would lead past the edges of a box. But where a contact goes round, as
    that of a ball and the cup that it lies in, what faces each other has its own way; and each vertex has where the
    ways are scattered, so that their mean tells nothing: as in the hole of a ring.
    """
    mean, total = (0.0, 0.0, 0.0), 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        if cover.away[e] < 0.0:
            i = cover.of[e]
            out, weight = sub(get3(cover.go, e), get3(cover.way, i)), -cover.area[i] * cover.away[e]
            mean = axpy(weight, out, mean)
            total += weight * norm(out)
    length = norm(mean)
    mean = scale(mean, 1.0 / length) if length > 0.0 else mean
    round_by = 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        if cover.away[e] < 0.0:
            u = get3(cover.go, e)
            if -dot(get3(cover.way, cover.of[e]), u) > FACING:
                round_by = max(round_by, ramp(1.0 - 2.0 * dot(u, mean)))
    set3(cover.mean, k, mean)
    cover.alone[k, 0] = round_by
    cover.alone[k, 1] = ramp(1.0 - 2.0 * length / total) if total > 0.0 else 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        if cover.away[e] <= until:
            choose_way(cover, k, e)


@kernel
def choose_way(cover, k, e):
    """The same for one vertex, once."""
    if cover.ring[e] >= 0.0:
        return
    i, share, u = cover.of[e], cover.steep[e], get3(cover.go, e)
    n, way = get3(cover.normal, i), get3(cover.way, i)
    facing = -dot(way, u)
    straight = ramp((facing - FACING) / (1.0 - FACING))
    own = max(cover.alone[k, 1], cover.alone[k, 0] * straight)
    out = axpy(1.0 - own, get3(cover.mean, k), scale(u, own))
    go = sub(scale(out, 1.0 / max(norm(out), 1e-9)), way)
    length = norm(go)
    go = scale(go, 1.0 / length) if length > 0.3 else u
    steep = max(share * dot(u, go) - (1.0 - share) * dot(n, go), FLATTEST)
    set3(cover.go, e, go)
    cover.steep[e] = steep
    # Halfway between two sides, as of a floor and a wall, the rings of both end: from there on another way leads out.
    alike = 1.0 - cover.alone[k, 0] * (1.0 - straight)
    cover.ring[e] = alike * ramp(facing / SHALLOW) * ramp((steep - STEEP) / SHALLOW) / steep


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
