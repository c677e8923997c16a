"""The skin of a soft body, frame by frame: where others press it, where it must be finer, and what has moved."""

import math

import numpy as np

from impel.geometry.fields import field
from impel.geometry.kinds import INNER
from impel.geometry.skins import NORMAL_GRAIN
from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, norm, rotate, scale, set3, sub
from impel.physics.skin_contacts import judge, list_neighbours
from impel.physics.squash import squash, untangle

SHARP_RIM, COARSE = 0.5, 40.0  # of its length, by which an edge that leads into a contact changes if the rim is sharp;
# how long it must be then, in lengths by which edges may cut corners


@kernel
def face(cover):
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
def squash_frames(touch, cover, a, frame, last, meets, least, turn, first, index, shift, normal, singles, bits, depth):
    """Write down, frame by frame, which corners lie on a contact or have moved by more than `least`, how far, and which
    way they face.

    `turn` leads from the skin's frame to that of the body's shape; `first` (F + 1,) tells which rows are a frame's,
    `depth` (F,) how deep the skin is pressed in. Normals are written as the bits of float16; `singles` (V, 3) are room
    for float32, of which `bits` are the bits. Returns the frame that there is no more room for.
    """
    count = 0
    while frame < last:
        first[frame] = count
        if count + len(cover.vertex) > len(index):
            return frame
        depth[frame] = squash(touch, cover, frame, a, meets)
        if depth[frame] > 0.0:
            untangle(touch, cover, a)
            face(cover)
            moved = 0
            for v in range(len(cover.vertex)):
                i = cover.vertex[v]
                way = sub(get3(cover.place, i), get3(cover.at, i))
                if cover.held[i] > 0 or dot(way, way) > least * least:
                    index[count + moved] = v
                    set3(shift, count + moved, _in_grains(rotate(turn, way), cover.grain))
                    set3(singles, moved, _in_grains(rotate(turn, get3(cover.around, v)), NORMAL_GRAIN))
                    moved += 1
            _shorten(bits, moved, normal, count)
            count += moved
        frame += 1
        first[frame] = count
    return frame


@kernel(inline=True)
def _in_grains(v, grain):
    """The nearest whole multiples: what is written in these takes little room in a file."""
    return (
        grain * math.floor(v[0] / grain + 0.5),
        grain * math.floor(v[1] / grain + 0.5),
        grain * math.floor(v[2] / grain + 0.5),
    )


@kernel
def _shorten(bits, count, halves, first):
    """Numbers from -2 to 2 with half as many digits: from the bits of float32 to those of float16."""
    for i in range(count):
        for k in range(3):
            long = np.int64(bits[i, k])
            size = (long & 0x7FFFFFFF) - 0x38000000 + 0x0FFF + (long >> 13 & 1)  # another zero of exponents; to even
            halves[first + i, k] = (long >> 16 & 0x8000) | (size >> 13 if size > 0x00800000 else 0)


@kernel
def survey(touch, cover, a, frame, last, meets, edge, target, depth):
    """Look where others press in which frames; `target` (W,) becomes how long edges may be there, `depth` (F,) how deep
    the skin is pressed in."""
    inner = touch.extent[a, INNER]
    sag = edge * edge / (8.0 * inner)  # by which something may be nearer between vertices
    while frame < last:
        count = list_neighbours(touch, cover, frame, a, meets, 0.25 * inner)
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
    than `most`, or lead down into a contact with a sharp rim; as far as there is room. Returns how many there are."""
    count = 0
    if squash(touch, cover, frame, a, meets) == 0.0:
        return count
    untangle(touch, cover, a)
    for t in range(len(cover.triangles)):
        for c in range(3):
            i, j = cover.triangles[t, c], cover.triangles[t, (c + 1) % 3]
            if i > j or cover.held[i] + cover.held[j] == 0 or count == len(found):
                continue
            rest = sub(get3(cover.at, j), get3(cover.at, i))
            if norm(rest) > 3.0 * most and _cuts(touch, cover, a, i, j, rest, most):
                found[count, 0], found[count, 1] = i, j
                count += 1
    return count


@kernel
def _cuts(touch, cover, a, i, j, rest, most):
    p, q = get3(cover.place, i), get3(cover.place, j)
    if cover.held[i] == 0 or cover.held[j] == 0:
        return norm(sub(sub(q, p), rest)) > SHARP_RIM * norm(rest) and norm(rest) > COARSE * most
    k = cover.against[i]
    off = 0.0
    for n in range(1, 4):
        if cover.against[j] == k:
            over, _ = judge(touch, a, cover.other[k], cover.to, k, axpy(0.25 * n, sub(q, p), p))
            off = max(off, abs(over))
    return off > most


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
