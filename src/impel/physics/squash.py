"""How the skin of a soft body lies where others press: on the surface where both press alike, with a bulge around it.

Two coatings share their overlap so that the pressures in both are equal (`beyond` is 0). Every vertex that would lie
beyond that surface is brought onto it, straight to a root along a way of its own; these ways differ little from vertex
to vertex, so that no triangle turns over. What is pressed in comes out again: part of it as a ring that leaves the
contact smoothly, the rest swells the free surface until the volume is that at rest.

All is a function of where the bodies are: there is no history. Places are in the frame of the soft body's centre of
mass and principal axes.
"""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import Shapes, field
from impel.geometry.kinds import INNER, PLANE, RADIUS
from impel.kernel import Floats2, Floats3, Integers2, kernel, struct
from impel.motion.rotations import (
    add,
    axpy,
    conjugate,
    cross,
    dot,
    get3,
    get3_at,
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

SHALLOW = 0.35  # cosine of the angle at which a surface meets another from which on it bulges in full
STEEP = 0.4  # ... and if the way to the shared surface is no longer than 1/this of the depth
FLATTEST = 0.15  # a way onto the shared surface that is longer than 1/this of the depth is taken for that long
FACING = (
    0.7  # cosine between straight out of a neighbour and straight into a body from which on the two face each other
)
ROUNDS = 4  # of swelling, each by the volume that is missing ...
MISSING = 1e-3  # ... unless it is less than this share
SWOLLEN = 0.3  # of the half thickness: more is not made good
REACH = 0.5  # of the half thickness: over how wide a strip around a contact swelling begins; no ring is wider
SWEEPS = 12  # over all neighbours, until no vertex is beyond any of them
EXACT = 1e-13  # of the size: how near a vertex comes to the surface
HELD = 1e-9  # of the size: what is nearer lies against it
HALVINGS = 16  # to find how wide a ring is
TANGLES = 6  # times that triangles that are turned over are mended
STEPS, LOOKS = 15, 60  # of Newton's at most along a way; then bounds are halved


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
def _ramp(x):
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
def _judge(touch, a, b, to, k, p):
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
    to, e, nearest, mean = cover.to, cover.first[k], math.inf, (0.0, 0.0, 0.0)
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
                mean = axpy(-cover.area[i] * phi, sub(u, get3(cover.way, i)), mean)
            e += 1
    cover.first[k + 1] = e
    length = norm(mean)
    if length > 0.0:
        mean = scale(mean, 1.0 / length)
    _choose_ways(cover, k, mean)
    return nearest


@kernel
def _choose_ways(cover, k, mean):
    """Along which way each vertex comes onto the surface that is shared with a neighbour: between straight out of the
    neighbour and straight into the body.

    Out of the neighbour as in the middle of the contact, `mean`, for what leads out of a box is another way beyond each
    of its edges, and what leads out of a ball would lead past the edges of a box. But where a contact goes round, as
    that of a ball and the cup that it lies in, what faces each other has its own way.
    """
    round_by = 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        u = get3(cover.go, e)
        if cover.away[e] < 0.0 and -dot(get3(cover.way, cover.of[e]), u) > FACING:
            round_by = max(round_by, _ramp(1.0 - 2.0 * dot(u, mean)))
    for e in range(cover.first[k], cover.first[k + 1]):
        i, share, u = cover.of[e], cover.steep[e], get3(cover.go, e)
        n, way = get3(cover.normal, i), get3(cover.way, i)
        own = round_by * _ramp((-dot(way, u) - FACING) / (1.0 - FACING))
        out = axpy(1.0 - own, mean, scale(u, own))
        go = sub(scale(out, 1.0 / max(norm(out), 1e-9)), way)
        length = norm(go)
        go = scale(go, 1.0 / length) if length > 0.3 else u
        set3(cover.go, e, go)
        cover.steep[e] = max(share * dot(u, go) - (1.0 - share) * dot(n, go), FLATTEST)
        cover.ring[e] = _ramp(-dot(way, u) / SHALLOW) * _ramp((cover.steep[e] - STEEP) / SHALLOW) / cover.steep[e]


@kernel
def _list_neighbours(touch, cover, frame, a, meets, reach):
    """Note all bodies that come near; returns how many there are."""
    count = 0
    for b in range(len(touch.softness)):
        if count < len(cover.other) and b != a and meets[a, b] and _near(touch, frame, a, b, reach):
            _list_neighbour(touch, cover, frame, a, b, count, reach)
            if cover.first[count + 1] > cover.first[count]:
                count += 1
    return count


@kernel
def _ring_width(touch, cover, a, k, widest):
    """How wide the ring around a contact is, so that its share of what is pressed in comes out there, or 0; also how
    much is pressed in, and how much comes out.

    Around a ball on a floor the ring is √(6 x share) times as wide as the contact is deep; it is never much wider.
    """
    pressed, deepest = 0.0, 0.0
    for e in range(cover.first[k], cover.first[k + 1]):
        if cover.away[e] < 0.0:
            i = cover.of[e]
            inwards = -dot(get3(cover.normal, i), get3(cover.go, e))
            pressed += cover.area[i] * cover.over[e] / cover.steep[e] * inwards
            deepest = max(deepest, -cover.away[e])
    widest = min(widest, 1.1 * math.sqrt(6.0 * touch.bulge[a]) * deepest)
    wanted = touch.bulge[a] * pressed
    if not wanted > 0.0:
        return 0.0, pressed, 0.0
    low, high, out = 0.0, widest, 0.0
    for h in range(HALVINGS):
        width = high if h == 0 else 0.5 * (low + high)
        out = 0.0
        for e in range(cover.first[k], cover.first[k + 1]):
            if 0.0 < cover.away[e] < width:
                i, left = cover.of[e], 1.0 - cover.away[e] / width
                inwards = -dot(get3(cover.normal, i), get3(cover.go, e))
                out -= cover.area[i] * cover.over[e] * cover.ring[e] * left * left * inwards
        if out < wanted:
            if h == 0:
                return widest, pressed, out
            low = width
        else:
            high = width
    return width, pressed, out


@kernel
def _settle(touch, cover, a, k, p, go, over, slope):
    """From a point beyond the shared surface to where the way `go` meets it: Newton, between bounds."""
    b, to, exact = cover.other[k], cover.to, EXACT * cover.size
    t, low, high, hurry = 0.0, 0.0, cover.size, 1.0  # beyond its size there is nothing of it
    out = slope
    for look in range(LOOKS):
        if over > 0.0:
            low = t
        else:
            high = t
        t += hurry * over / max(-dot(out, go), FLATTEST)
        if high == cover.size:
            hurry *= 1.2
        if not low < t < high or look > STEPS:
            t = 0.5 * (low + high)
        over, out = _judge(touch, a, b, to, k, axpy(t, go, p))
        if abs(over) < exact:
            break
    return axpy(t, go, p), out


@kernel
def _press(touch, cover, a, count, swollen):
    """Bring all vertices that are beyond a shared surface onto it, when the skin has swollen by so much."""
    exact, held = EXACT * cover.size, HELD * cover.size
    for i in range(len(cover.held)):
        cover.held[i] = 0
    for sweep in range(SWEEPS):
        moved = False
        for k in range(count):
            b, to = cover.other[k], cover.to
            for e in range(cover.first[k], cover.first[k + 1]):
                i = cover.of[e]
                if cover.away[e] > cover.width[k] and cover.over[e] < -2.0 * swollen and count == 1:
                    continue  # it cannot have come so far
                p = get3(cover.place, i)
                over, out = _judge(touch, a, b, to, k, p)
                if over > exact:
                    p, out = _settle(touch, cover, a, k, p, get3(cover.go, e), over, out)
                    set3(cover.place, i, p)
                    moved = True
                elif over < -held:
                    continue
                cover.against[i] = k
                set3(cover.by, i, out)
                if sweep == 0:
                    cover.held[i] += 1
        if not moved or count == 1:
            break


@kernel
def _volume(cover):
    six = 0.0
    for t in range(len(cover.triangles)):
        p = get3(cover.place, cover.triangles[t, 0])
        q = get3(cover.place, cover.triangles[t, 1])
        r = get3(cover.place, cover.triangles[t, 2])
        six += dot(p, cross(q, r))
    return six / 6.0


@kernel
def _squash(touch, cover, frame, a, meets):
    """Put the skin where it lies in a frame; returns how deep it is pressed in, 0 where nobody is near."""
    inner = touch.extent[a, INNER]
    count = _list_neighbours(touch, cover, frame, a, meets, REACH * inner)
    deepest = 0.0
    for e in range(cover.first[count]):
        deepest = max(deepest, min(cover.over[e], -cover.away[e]))
    if deepest == 0.0:
        return 0.0
    for i in range(len(cover.at)):
        set3(cover.place, i, get3(cover.at, i))
        cover.free[i] = 1.0
    missing = 0.0
    for k in range(count):
        width, pressed, out = _ring_width(touch, cover, a, k, REACH * inner)
        cover.width[k] = width
        missing += pressed - out
        for e in range(cover.first[k], cover.first[k + 1]):
            i = cover.of[e]
            cover.free[i] *= _ramp(cover.away[e] / (REACH * inner))
            if 0.0 < cover.away[e] < width:
                left = 1.0 - cover.away[e] / width
                out = cover.over[e] * cover.ring[e] * left * left
                set3(cover.place, i, axpy(out, get3(cover.go, e), get3(cover.place, i)))
    total = 0.0
    for i in range(len(cover.at)):
        total += cover.area[i] * cover.free[i] * cover.lift[i]
    swollen = 0.0
    for _ in range(ROUNDS):
        most = SWOLLEN * inner
        more = min(max(missing / total, -most - swollen), most - swollen) if total > 0.0 else 0.0
        swollen += more
        for i in range(len(cover.at)):
            set3(cover.place, i, axpy(more * cover.free[i], get3(cover.way, i), get3(cover.place, i)))
        _press(touch, cover, a, count, abs(swollen))
        missing = cover.volume - _volume(cover)
        if abs(missing) < MISSING * cover.volume:
            break
    return deepest


@kernel
def _face(cover):
    """Which way each corner faces: on a contact as the shared surface does, elsewhere as its triangles do now, where
    these differ from what they did at rest."""
    for v in range(len(cover.around)):
        set3(cover.around, v, (0.0, 0.0, 0.0))
    for t in range(len(cover.triangles)):
        i, j, k = cover.triangles[t, 0], cover.triangles[t, 1], cover.triangles[t, 2]
        if cover.free[i] + cover.free[j] + cover.free[k] < 3.0:
            p = get3(cover.place, i)
            out = cross(sub(get3(cover.place, j), p), sub(get3(cover.place, k), p))
            out = sub(out, get3(cover.across, t))
            for c in range(3):
                v = cover.corners[t, c]
                set3(cover.around, v, add(get3(cover.around, v), out))
    for v in range(len(cover.around)):
        i = cover.vertex[v]
        if cover.held[i] == 1 and cover.sharp[i] == 0:
            out = get3(cover.by, i)
        else:
            out = get3(cover.around, v)
            if dot(out, out) == 0.0:
                set3(cover.around, v, get3(cover.drawn, v))
                continue
            # As much as its triangles have turned, it has: at rest they do not face exactly as it does.
            out = add(out, get3(cover.facing, v))
            length = norm(out)
            rest = norm(get3(cover.facing, v))
            out = axpy(1.0 / max(length, 1e-300), out, axpy(-1.0 / rest, get3(cover.facing, v), get3(cover.drawn, v)))
        length = norm(out)
        set3(cover.around, v, scale(out, 1.0 / length) if length > 1e-6 else get3(cover.drawn, v))


@kernel
def _untangle(touch, cover, a):
    """Look for triangles on contacts that are turned over, and move their corners towards the middle of their
    neighbours, along the shared surface; were there any?"""
    found, mates = False, cover.mates
    for i in range(len(mates)):
        mates[i] = -1.0
    for t in range(len(cover.triangles)):
        i, j, k = cover.triangles[t, 0], cover.triangles[t, 1], cover.triangles[t, 2]
        if cover.held[i] == 1 and cover.held[j] == 1 and cover.held[k] == 1:
            p, n = get3(cover.place, i), get3(cover.by, i)
            level = min(dot(n, get3(cover.by, j)), dot(n, get3(cover.by, k))) > 0.5 * dot(n, n)
            across = cross(sub(get3(cover.place, j), p), sub(get3(cover.place, k), p))
            if level and dot(across, n) <= 0.0:
                mates[i] = mates[j] = mates[k] = 0.0
                found = True
    if not found:
        return found
    for i in range(len(mates)):
        set3(cover.middle, i, (0.0, 0.0, 0.0))
    for t in range(len(cover.triangles)):
        for c in range(3):
            i = cover.triangles[t, c]
            if mates[i] >= 0.0:
                p = get3(cover.place, cover.triangles[t, (c + 1) % 3])
                q = get3(cover.place, cover.triangles[t, (c + 2) % 3])
                set3(cover.middle, i, add(get3(cover.middle, i), add(p, q)))
                mates[i] += 2.0
    for i in range(len(mates)):
        if mates[i] > 0.0:
            k = cover.against[i]
            p = scale(get3(cover.middle, i), 1.0 / mates[i])
            for _ in range(STEPS):
                over, out = _judge(touch, a, cover.other[k], cover.to, k, p)
                if abs(over) < EXACT * cover.size:
                    set3(cover.place, i, p)
                    set3(cover.by, i, out)
                    break
                p = axpy(-over / max(dot(out, out), FLATTEST), out, p)
    return found


@kernel
def squash_frames(touch, cover, a, frame, last, meets, least, turn, first, index, shift, normal, depth):
    """Write down, frame by frame, which corners touch or have moved by more than `least`, how far, and which
    way they face.

    `turn` leads from the skin's frame to that of the body's shape; `first` (F + 1,) tells which rows are a frame's,
    `depth` (F,) how deep the skin is pressed in. Returns the frame that there is no more room for.
    """
    count = 0
    while frame < last:
        first[frame] = count
        if count + len(cover.vertex) > len(index):
            return frame
        depth[frame] = _squash(touch, cover, frame, a, meets)
        if depth[frame] > 0.0:
            for _ in range(TANGLES):
                if not _untangle(touch, cover, a):
                    break
            _face(cover)
            for v in range(len(cover.vertex)):
                i = cover.vertex[v]
                way = sub(get3(cover.place, i), get3(cover.at, i))
                if cover.held[i] == 1 or dot(way, way) > least * least:
                    index[count] = v
                    set3(shift, count, rotate(turn, way))
                    set3(normal, count, rotate(turn, get3(cover.around, v)))
                    count += 1
        frame += 1
        first[frame] = count
    return frame


@kernel
def shorten(singles, halves):
    """Numbers from -2 to 2 with half as many digits: the bits of float32 (K, 3) to those of float16."""
    for i in range(len(singles)):
        for k in range(3):
            bits = np.int64(singles[i, k])
            size = (bits & 0x7FFFFFFF) - 0x38000000 + 0x0FFF + (bits >> 13 & 1)  # another zero of exponents; to even
            halves[i, k] = (bits >> 16 & 0x8000) | (size >> 13 if size > 0x00800000 else 0)


@kernel
def survey(touch, cover, a, frame, last, meets, edge, target, depth):
    """Look where others press in which frames; `target` (W,) becomes how long edges may be there, `depth` (F,) how deep
    the skin is pressed in."""
    inner = touch.extent[a, INNER]
    sag = edge * edge / (8.0 * inner)  # by which something may be nearer between vertices
    while frame < last:
        count = _list_neighbours(touch, cover, frame, a, meets, 0.25 * inner)
        for k in range(count):
            most = 0.0
            for e in range(cover.first[k], cover.first[k + 1]):
                most = max(most, cover.over[e] + sag)
            if most > 0.0:
                depth[frame] = max(depth[frame], most)
                # Four edges from its middle to its rim, and as many across its ring.
                fine = min(0.25 * math.sqrt(2.0 * inner * most), 0.4 * most)
                fine = min(max(fine, 0.25 * edge), edge)
                for e in range(cover.first[k], cover.first[k + 1]):
                    if cover.away[e] < 1.5 * most:
                        i = cover.of[e]
                        target[i] = min(target[i], fine)
        frame += 1


@kernel
def look_for_creases(touch, cover, a, frame, meets, most, found):
    """Squash the skin in one frame, and list the edges of its triangles that cut corners of a shared surface by more
    than `most`, as far as there is room; returns how many there are."""
    count = 0
    if _squash(touch, cover, frame, a, meets) == 0.0:
        return count
    for t in range(len(cover.triangles)):
        for c in range(3):
            i, j = cover.triangles[t, c], cover.triangles[t, (c + 1) % 3]
            k = cover.against[i]
            if i < j and cover.held[i] > 0 and cover.held[j] > 0 and cover.against[j] == k:
                off, p, q = 0.0, get3(cover.place, i), get3(cover.place, j)
                if norm(sub(get3(cover.at, i), get3(cover.at, j))) < 3.0 * most:
                    continue
                for n in range(1, 4):
                    over, _ = _judge(touch, a, cover.other[k], cover.to, k, axpy(0.25 * n, sub(q, p), p))
                    off = max(off, abs(over))
                if off > most and count < len(found):
                    found[count, 0], found[count, 1] = i, j
                    count += 1
    return count


@kernel
def bring_onto(shapes, s, points, out):
    """Bring points near the surface of a shape onto it, along the ways `out`, or the field's own where these are 0."""
    for i in range(len(points)):
        p, way = get3(points, i), get3(out, i)
        for _ in range(40):
            phi, g = field(shapes, s, p)
            go = way if dot(way, g) > 0.3 else g
            p = axpy(-phi / max(dot(g, go), 0.1), go, p)
            if abs(phi) < 1e-15:
                break
        set3(points, i, p)


@kernel
def field_at(shapes, s, points, value, gradient):
    """The field of a shape at many points."""
    for i in range(len(points)):
        value[i], g = field(shapes, s, get3(points, i))
        set3(gradient, i, g)
