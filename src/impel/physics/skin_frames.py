"""The skin of a soft body, frame by frame: where others press it, where it must be finer, and what has moved."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from impel.geometry.fields import field
from impel.geometry.kinds import INNER
from impel.geometry.skins import NORMAL_GRAIN
from impel.kernel import kernel, struct
from impel.motion.rotations import add, axpy, dot, get3, norm, scale, set3, sub, transform
from impel.physics.patches import rows_of
from impel.physics.skin_contacts import Vectors, judge, list_neighbours
from impel.physics.squash import squash, untangle

SHARP_RIM, COARSE = 0.5, 40.0  # of its length, by which an edge that leads into a contact changes if the rim is sharp;
# how long it must be then, in lengths by which edges may cut corners
FARTHEST = 2.0  # from 0, of numbers that are written as float16

Halves = NDArray[np.uint16]
Halves2 = Annotated[Halves, 2]


@kernel
def face(cover):
    """Which way corners face: on a contact as the shared surface does, elsewhere as their triangles do now, where
    these differ from what they did at rest."""
    for v in range(len(cover.turns)):
        cover.turns[v] = 0
        set3(cover.around, v, get3(cover.facing, v))
    for n in range(cover.many[0]):
        t = cover.beside[n]
        out, rest = get3(cover.out, n), get3(cover.across, t)
        # What is drawn out into the wall of a contact tells no more of its rim than what is not.
        out = sub(scale(out, min(1.0, norm(rest) / max(norm(out), 1e-300))), rest)
        for c in range(3):
            v = cover.corners[t, c]
            set3(cover.around, v, add(get3(cover.around, v), out))
            cover.turns[v] = 1
    for v in range(len(cover.turns)):
        if cover.turns[v] != 0:
            i, out = cover.vertex[v], get3(cover.around, v)
            if cover.held[i] == 1 and cover.sharp[i] == 0:
                out = get3(cover.by, i)
            else:
                # As much as its triangles have turned, it has: at rest they do not face exactly as it does.
                out = axpy(1.0 / max(norm(out), 1e-300), out, get3(cover.apart, v))
            length = norm(out)
            set3(cover.around, v, scale(out, 1.0 / length) if length > 1e-6 else get3(cover.drawn, v))


@struct
class Drawn:
    """How corners are drawn that no neighbour is near to, in the frame of the body's shape."""

    turn: tuple[float, float, float, float]  # leads there from the skin's frame
    way: Vectors  # (V, 3) on which each comes out ...
    normal: Halves2  # (V, 3) ... and the bits of which way it faces
    halves: Halves  # the bits, as float16, of what is so many grains above -FARTHEST


@kernel
def squash_frames(touch, cover, drawn, a, frame, last, meets, least, first, index, shift, normal, depth):
    """Write down, frame by frame, which corners lie on a contact or have moved by more than `least`, how far, and which
    way they face.

    `first` (F + 1,) tells which rows are a frame's, `depth` (F,) how deep the skin is pressed in. Normals are written
    as the bits of float16. Returns the frame that there is no more room for.
    """
    row = 0
    while frame < last:
        first[frame] = row
        if row + len(cover.vertex) > len(index):
            return frame
        depth[frame], swollen = squash(touch, cover, frame, a, meets)
        if depth[frame] > 0.0:
            untangle(touch, cover, a)
            face(cover)
            row = _write(cover, drawn, swollen, least, row, index, shift, normal)
        frame += 1
        first[frame] = row
    return frame


@kernel
def _write(cover, drawn, swollen, least, row, index, shift, normal):
    """Write down a frame from a row on; returns the row after it."""
    turn, all_move = rows_of(drawn.turn), abs(swollen) > least
    for v in range(len(cover.vertex)):
        if cover.turns[v] == 0:
            if all_move:
                index[row] = v
                set3(shift, row, _in_grains(scale(get3(drawn.way, v), swollen), cover.grain))
                for c in range(3):
                    normal[row, c] = drawn.normal[v, c]
                row += 1
            continue
        i = cover.vertex[v]
        way = sub(get3(cover.place, i), get3(cover.at, i))
        if all_move or cover.held[i] > 0 or dot(way, way) > least * least:
            index[row] = v
            set3(shift, row, _in_grains(transform(turn, way), cover.grain))
            out = transform(turn, get3(cover.around, v))
            for c in range(3):
                normal[row, c] = drawn.halves[int((out[c] + FARTHEST) / NORMAL_GRAIN + 0.5)]
            row += 1
    return row


@kernel(inline=True)
def _in_grains(v, grain):
    """The nearest whole multiples: what is written in these takes little room in a file."""
    many = 1.0 / grain  # powers of two, both
    return (
        grain * math.floor(v[0] * many + 0.5),
        grain * math.floor(v[1] * many + 0.5),
        grain * math.floor(v[2] * many + 0.5),
    )


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
    if squash(touch, cover, frame, a, meets)[0] == 0.0:
        return count
    untangle(touch, cover, a)
    for n in range(cover.many[0]):
        t = cover.beside[n]
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
