"""The surfaces of soft bodies over many frames: a skin for each, refined where others press, then squashed."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.kinds import BLOB, CORE, CYLINDER, INNER, MESH, SKIN
from impel.geometry.meshfiles import Surface
from impel.geometry.remeshing import (
    Skin,
    edges_of,
    find_edges,
    halve,
    refine,
    relax,
    split_at_edges,
    sum_at_corners,
    turned,
    with_longest,
)
from impel.geometry.scatter import across_of, crossed, lengths
from impel.geometry.skins import NORMAL_GRAIN, grain_of, make_skin
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.skin_contacts import Cover, Touch
from impel.physics.skin_frames import (
    FARTHEST,
    Drawn,
    bring_onto,
    field_at,
    look_for_creases,
    squash_frames,
    survey,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Stretch = tuple[int, int, NDArray[np.bool_]]  # from a frame to before a frame, and who may touch whom (N, N)

SEEN = 1e-3  # of its size: a body that is nowhere pressed in deeper looks as ever ...
STIRRED = 2.5e-4  # ... and a vertex that moves less is at rest
CUT = 3.5e-4  # of its size: by how much an edge may cut a corner of the surface that it lies on ...
LOOKS, ROUNDS, CREASED = 5, 16, 4000  # ... which is looked for in a few frames, several times, for so many edges
AT_MOST, FEWEST, MOST_VERTICES = (
    600_000,
    1500,
    12_000,
)  # vertices of a skin in all frames that it is pressed in, and in one
CLUSTER = 4.5  # edges: how wide the cells are whose vertices are looked at together
NEIGHBOURS = 24  # at most, of a body in a frame
ROWS = 4_000_000  # that are squashed in one call
HALVES = np.arange(-FARTHEST, FARTHEST + NORMAL_GRAIN, NORMAL_GRAIN).astype(np.float16).view(np.uint16)


class Surfaces(NamedTuple):
    """A body's surface at rest, in its shape's frame, and what has moved in which frame; see takes/soft.py."""

    vertices: Floats
    normals: Floats
    triangles: NDArray[np.int32]
    colors: Floats | None
    moved: tuple[Any, Any, Any, Any]  # first row of each frame; vertices, how far they are moved, which way they face


def soft_surfaces(
    touch: Touch, a: int, shape: dict[str, Any], centre: Floats, axes: Floats, stretches: list[Stretch]
) -> Surfaces | None:
    """The surface of body a, of a shape as written in a scene, whose centre of mass and principal axes are there; None
    if it is nowhere pressed in so deep that it is seen."""
    made = cover_of(touch, a, shape, centre, axes, stretches)
    if made is None:
        return None
    skin, cover = made
    size = cover.cover.size
    moved, depth = _squashed(touch, a, cover.cover, axes, stretches, STIRRED * size)
    if depth.max() < SEEN * size:
        return None
    turn = matrix_from_quaternion(axes)
    vertices = skin.vertices[cover.vertex] @ turn.T + centre
    colors = None if skin.colors is None else skin.colors[cover.vertex]
    return Surfaces(vertices, cover.normals @ turn.T, cover.corners.astype(np.int32), colors, moved)


class Covered(NamedTuple):
    cover: Cover
    order: Indices  # (W,) which vertex of the skin each of the cover's is
    vertex: Indices  # (V,) of the skin, for each corner
    corners: Indices  # (T, 3)
    normals: Floats  # (V, 3)


def cover_of(
    touch: Touch, a: int, shape: dict[str, Any], centre: Floats, axes: Floats, stretches: list[Stretch]
) -> tuple[Skin, Covered] | None:
    """The skin of a body in the frame of its centre of mass and principal axes, as fine as what presses it in asks for;
    None if nothing does."""
    extent = touch.extent[a]
    size = 2 * float((extent[CORE:SKIN] + extent[SKIN]).max())
    if not np.isfinite(size):
        return None
    skin = _principal(make_skin(shape, float(extent[INNER])), centre, matrix_from_quaternion(axes))
    return _refined(touch, a, _on_field(touch, a, skin), size, stretches)


def _refined(touch: Touch, a: int, skin: Skin, size: float, stretches: list[Stretch]) -> tuple[Skin, Covered] | None:
    """A skin as fine as what presses it in asks for, and its cover; None if nothing does."""

    def project(at: Floats, out: Floats, sharp: NDArray[np.bool_]) -> Floats:
        return _projected(touch, a, at, out, sharp)

    cover = _cover(touch, a, skin, size)
    target, depth = np.full(len(skin.vertices), np.inf), np.zeros(stretches[-1][1])
    edge = _edge_length(skin)
    for first, last, meets in stretches:
        survey(touch, cover.cover, a, first, last, meets, edge, target, depth)
    if depth.max() < SEEN * size:
        return None
    pressed = int((depth > SEEN * size).sum())
    most = int(np.clip(AT_MOST / pressed, FEWEST, MOST_VERTICES))
    level = np.zeros(len(skin.vertices), np.int64)
    level[cover.order] = np.round(np.log2(edge / target.clip(1e-300, edge)))
    finer = refine(skin, level, project, most)
    if finer is not skin:
        skin, cover = finer, _cover(touch, a, finer, size)
    telling = [
        (frame, next(meets for first, last, meets in stretches if first <= frame < last))
        for frame in _telling_frames(depth, size)
    ]
    for _ in range(ROUNDS):
        cut, room = CUT * size, max(most - len(skin.vertices), 0)
        while len(found := _creases(touch, cover.cover, a, telling, cut)) > room:
            cut *= 2.0  # no room but for the worst
        if not len(found):
            break
        skin = halve(skin, _which(skin, cover.order[found]), project)[0]
        skin = skin._replace(triangles=turned(skin.vertices, skin.triangles))
        cover = _cover(touch, a, skin, size)
        if cut > CUT * size:
            break
    return skin, cover


def _creases(touch: Touch, cover: Cover, a: int, telling: list[tuple[int, NDArray[np.bool_]]], cut: float) -> Indices:
    """(C, 2) the edges of a cover that are too long in any of some frames."""
    found, pieces = np.zeros((CREASED, 2), np.int64), [np.zeros(0, np.int64)]
    for frame, meets in telling:
        ends = found[: look_for_creases(touch, cover, a, frame, meets, cut, found)]
        pieces.append(ends[:, 0] * len(cover.at) + ends[:, 1])
    return np.stack(np.divmod(np.unique(np.concatenate(pieces)), len(cover.at)), axis=-1)


def _telling_frames(depth: Floats, size: float) -> list[int]:
    """A few frames in which a skin is pressed in: the one where it is most, and others over the whole time."""
    pressed = np.flatnonzero(depth > SEEN * size)
    some = pressed[np.linspace(0, len(pressed) - 1, LOOKS).astype(int)]
    return list(dict.fromkeys([int(depth.argmax()), *some.tolist()]))


def _which(skin: Skin, pairs: Indices) -> NDArray[np.bool_]:
    """Which edges of a skin to halve, so that those with these ends (C, 2) are."""
    ends, _, _ = edges_of(skin.triangles)
    split = np.zeros(len(ends), bool)
    split[find_edges(ends, pairs)[0]] = True
    length = lengths(skin.vertices[ends[:, 0]] - skin.vertices[ends[:, 1]])
    return with_longest(skin.triangles, ends, length, split)


def _principal(skin: Skin, centre: Floats, turn: Floats) -> Skin:
    """A skin in the frame of the centre of mass and principal axes."""
    return skin._replace(vertices=(skin.vertices - centre) @ turn, ways=skin.ways @ turn)


def _edge_length(skin: Skin) -> float:
    ends = skin.vertices[skin.triangles]
    return float(np.median(lengths(ends - ends[:, [2, 0, 1]])))


def _on_field(touch: Touch, a: int, skin: Skin) -> Skin:
    sharp = np.zeros(len(skin.vertices), bool)
    skin = skin._replace(vertices=_projected(touch, a, skin.vertices, np.zeros_like(skin.ways), sharp))
    if touch.shapes.kind[a] in (BLOB, MESH):
        skin = relax(skin, lambda at, out, still: np.where(still[:, None], at, _projected(touch, a, at, out, still)))
    return skin if skin.edged else skin._replace(ways=_gradients(touch, a, skin.vertices))


def _gradients(touch: Touch, a: int, at: Floats) -> Floats:
    """Which way leads straight out of a body at points of its surface."""
    value, gradient = np.empty(len(at)), np.empty_like(at)
    field_at(touch.shapes, a, np.ascontiguousarray(at), value, gradient)
    return _unit(gradient)


def _unit(rows: Floats) -> Floats:
    return rows / np.maximum(lengths(rows), 1e-300)[:, None]


def _projected(touch: Touch, a: int, at: Floats, out: Floats, sharp: NDArray[np.bool_]) -> Floats:
    at = np.ascontiguousarray(at)
    if touch.shapes.kind[a] == CYLINDER:  # whose edges are round
        radius = float(touch.shapes.size[a, 0])
        at[sharp, :2] *= (radius / np.linalg.norm(at[sharp, :2], axis=1))[:, None]
    bring_onto(touch.shapes, a, at, np.ascontiguousarray(out))
    return at


def _cover(touch: Touch, a: int, skin: Skin, size: float) -> Covered:
    order, cluster, ball = _clusters(skin.vertices, _edge_length(skin))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    vertices, ways, triangles = skin.vertices[order], skin.ways[order], number[skin.triangles]
    across, below = across_of(Surface(vertices, triangles)), _volumes(vertices, ways, triangles)
    total = sum_at_corners(triangles, across, len(vertices))
    area = sum_at_corners(triangles, lengths(across)[:, None] / 6, len(vertices))[:, 0]
    normal, corners, vertex = _gradients(touch, a, vertices), triangles, np.arange(len(vertices))
    sharp, drawn = np.zeros(len(vertices), bool), normal
    if skin.edged:
        corners, vertex, drawn = split_at_edges(Surface(vertices, triangles))
        sharp = np.bincount(vertex, minlength=len(vertices)) > 1
        normal[sharp] = _unit(total)[sharp]
        drawn[~sharp[vertex]] = normal[vertex[~sharp[vertex]]]
        total = sum_at_corners(corners, across, len(vertex))
    count, corner_count = len(vertices), len(vertex)
    most = min(NEIGHBOURS, len(touch.softness))
    entries = most * count
    cover = Cover(
        at=vertices, normal=normal, way=ways, area=area, lift=np.einsum("ij,ij->i", normal, ways),
        triangles=np.ascontiguousarray(triangles), corners=np.ascontiguousarray(corners, np.int64), vertex=vertex,
        across=across, facing=total, drawn=drawn, apart=drawn - _unit(total), sharp=sharp.astype(np.int64),
        swell=np.concatenate([below, below.sum(axis=0, keepdims=True)]), cluster=cluster, ball=ball,
        size=size, grain=grain_of(size),
        place=np.zeros((count, 3)), free=np.zeros(count), many=np.zeros(1, np.int64),
        beside=np.zeros(len(triangles), np.int64), out=np.zeros(across.shape), held=np.zeros(count, np.int64),
        against=np.zeros(count, np.int64), by=np.zeros((count, 3)),
        around=np.zeros((corner_count, 3)), turns=np.zeros(corner_count, np.int64),
        middle=np.zeros((count, 3)), mates=np.zeros(count),
        first=np.zeros(most + 1, np.int64), other=np.zeros(most, np.int64), width=np.zeros(most),
        mean=np.zeros((most, 3)), alone=np.zeros((most, 2)), to=np.zeros((most, 12)),
        of=np.zeros(entries, np.int64), away=np.zeros(entries), over=np.zeros(entries), steep=np.zeros(entries),
        go=np.zeros((entries, 3)), ring=np.zeros(entries),
    )  # fmt: skip
    return Covered(cover, order, order[vertex], corners, drawn)


def _volumes(vertices: Floats, ways: Floats, triangles: Indices) -> Floats:
    """(T, 4) the volume below each triangle, down to the origin, as a polynomial of how far its corners move along
    their ways."""
    (p, u), (q, v), (r, w) = ((vertices[of], ways[of]) for of in triangles.T)
    qr, vw = crossed(q, r), crossed(v, w)
    mixed = crossed(q, w) + crossed(v, r)
    terms = (p * qr, u * qr + p * mixed, u * mixed + p * vw, u * vw)
    return np.stack([term.sum(axis=1) for term in terms], axis=-1) / 6


def _clusters(vertices: Floats, edge: float) -> tuple[Indices, Indices, Floats]:
    """An order in which neighbours are together; the first and last + 1 (C, 2) of each group of them; and balls (C, 4)
    that hold the groups."""
    cell = np.floor((vertices - vertices.min(axis=0)) / (CLUSTER * edge)).astype(np.int64)
    count = cell.max(axis=0) + 1
    number = (cell[:, 0] * count[1] + cell[:, 1]) * count[2] + cell[:, 2]
    order = np.argsort(number, kind="stable")
    first = np.flatnonzero(np.diff(number[order], prepend=-1))
    ends = np.append(first, len(order))
    at = vertices[order]
    middle = np.add.reduceat(at, first) / np.diff(ends)[:, None]
    away = lengths(at - np.repeat(middle, np.diff(ends), axis=0))
    ball = np.column_stack([middle, np.maximum.reduceat(away, first)])
    return order, np.stack([ends[:-1], ends[1:]], -1), ball


def drawn_of(cover: Cover, axes: Floats) -> Drawn:
    """How a skin in principal axes looks in its shape's frame."""
    turn = matrix_from_quaternion(axes)
    grains = np.round((cover.drawn @ turn.T + FARTHEST) / NORMAL_GRAIN).astype(np.int64)
    return Drawn(tuple(axes.tolist()), cover.way[cover.vertex] @ turn.T, HALVES[grains], HALVES)


def _squashed(
    touch: Touch, a: int, cover: Cover, axes: Floats, stretches: list[Stretch], least: float
) -> tuple[tuple[Any, Any, Any, Any], Floats]:
    """What moves in all frames, and how deep the skin is pressed in (F,)."""
    frames, count = stretches[-1][1], len(cover.vertex)
    rows = max(min(frames * count, ROWS), count)  # memory that is not written costs nothing
    first, ends, depth = np.zeros(frames + 1, np.int64), np.zeros(frames + 1, np.int64), np.zeros(frames)
    drawn = drawn_of(cover, axes)
    pieces = []
    for start, last, meets in stretches:
        frame = start
        while frame < last:
            index, shift, normal = (
                np.empty(rows, np.uint32),
                np.empty((rows, 3), np.float32),
                np.empty((rows, 3), np.uint16),
            )
            done = squash_frames(touch, cover, drawn, a, frame, last, meets, least, ends, index, shift, normal, depth)
            first[frame + 1 : done + 1] = first[frame] + ends[frame + 1 : done + 1]
            own = slice(0, int(ends[done]))
            pieces.append((index[own], shift[own], normal[own].view(np.float16)))
            frame = done
    columns = pieces[0] if len(pieces) == 1 else tuple(np.concatenate(column) for column in zip(*pieces))
    return (first, *columns), depth
