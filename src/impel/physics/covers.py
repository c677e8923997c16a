"""The surfaces of soft bodies over many frames: a skin for each, refined where others press, then squashed."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.kinds import CORE, CYLINDER, INNER, SKIN
from impel.geometry.skins import (
    MOST_VERTICES,
    Skin,
    edges_of,
    halve,
    make_skin,
    refine,
    split_at_edges,
    vertex_normals,
)
from impel.motion.orientations import matrix_from_quaternion
from impel.physics.squash import Cover, Touch, bring_onto, field_at, look_for_creases, squash_frames, survey

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Stretch = tuple[int, int, NDArray[np.bool_]]  # from a frame to before a frame, and who may touch whom (N, N)

SEEN = 1e-3  # of its size: a body that is nowhere pressed in deeper looks as ever ...
STIRRED = 1e-4  # ... and a vertex that moves less is at rest
CUT = 5e-4  # of its size: by how much an edge may cut a corner of the surface that it lies on ...
LOOKS, ROUNDS, CREASED = 5, 5, 4000  # ... which is looked for in a few frames, several times, for so many edges
CLUSTER = 24  # vertices that are looked at together
NEIGHBOURS = 24  # at most, of a body in a frame
ROWS = 400_000  # that are squashed in one call


class Surfaces(NamedTuple):
    """A body's surface at rest, in its shape's frame, and what has moved in which frame; see takes/soft.py."""

    vertices: Floats
    normals: Floats
    triangles: Indices
    colors: Floats | None
    moved: list[tuple[Any, Any, Any]]  # for each frame the vertices, how far they are moved, which way they face


def soft_surfaces(
    touch: Touch, a: int, shape: dict[str, Any], centre: Floats, axes: Floats, stretches: list[Stretch]
) -> Surfaces | None:
    """The surface of body a, of a shape as written in a scene, whose centre of mass and principal axes are there; None
    if it is nowhere pressed in so deep that it is seen."""
    turn = matrix_from_quaternion(axes)
    extent = touch.extent[a]
    size = 2 * float((extent[CORE:SKIN] + extent[SKIN]).max())
    if not np.isfinite(size):
        return None
    skin = _principal(make_skin(shape, float(extent[INNER])), centre, turn)
    skin = _on_field(touch, a, skin)
    refined = _refined(touch, a, skin, size, stretches)
    if refined is None:
        return None
    skin, cover = refined
    moved, depth = _squashed(touch, a, cover.cover, axes, stretches, STIRRED * size)
    if depth.max() < SEEN * size:
        return None
    vertices = skin.vertices[cover.vertex] @ turn.T + centre
    colors = None if skin.colors is None else skin.colors[cover.vertex]
    return Surfaces(vertices, cover.normals @ turn.T, cover.corners, colors, moved)


def _refined(touch: Touch, a: int, skin: Skin, size: float, stretches: list[Stretch]) -> Any:
    """A skin as fine as what presses it in asks for, and its cover; None if nothing does."""

    def project(at: Floats, out: Floats, sharp: NDArray[np.bool_]) -> Floats:
        return _projected(touch, a, at, out, sharp)

    cover = _cover(touch, a, skin, size)
    target, depth = np.full(len(skin.vertices), np.inf), np.zeros(stretches[-1][1])
    for first, last, meets in stretches:
        survey(touch, cover.cover, a, first, last, meets, _edge_length(skin), target, depth)
    if depth.max() < SEEN * size:
        return None
    wanted = np.empty_like(target)
    wanted[cover.order] = target
    skin = refine(skin, wanted, project)
    cover = _cover(touch, a, skin, size)
    found = np.zeros((CREASED, 2), np.int64)
    for frame in _telling_frames(depth, size):
        meets = next(meets for first, last, meets in stretches if first <= frame < last)
        for _ in range(ROUNDS):
            count = look_for_creases(touch, cover.cover, a, frame, meets, CUT * size, found)
            if count == 0 or len(skin.vertices) > MOST_VERTICES // 2:
                break
            skin = halve(skin, _which(skin.triangles, cover.order[found[:count]]), project)[0]
            cover = _cover(touch, a, skin, size)
    return skin, cover


def _telling_frames(depth: Floats, size: float) -> list[int]:
    """A few frames in which a skin is pressed in: the one where it is most, and others over the whole time."""
    pressed = np.flatnonzero(depth > SEEN * size)
    some = pressed[np.linspace(0, len(pressed) - 1, LOOKS).astype(int)]
    return list(dict.fromkeys([int(depth.argmax()), *some.tolist()]))


def _which(triangles: Indices, pairs: Indices) -> NDArray[np.bool_]:
    """Which edges of a mesh have these ends (C, 2)."""
    ends, _, _ = edges_of(triangles)
    count = int(triangles.max()) + 1
    return np.isin(ends[:, 0] * count + ends[:, 1], pairs.min(axis=1) * count + pairs.max(axis=1))


class _Covered(NamedTuple):
    cover: Cover
    order: Indices  # (W,) which vertex of the skin each of the cover's is
    vertex: Indices  # (V,) of the skin, for each corner
    corners: Indices  # (T, 3)
    normals: Floats  # (V, 3)


def _principal(skin: Skin, centre: Floats, turn: Floats) -> Skin:
    """A skin in the frame of the centre of mass and principal axes."""
    return skin._replace(vertices=(skin.vertices - centre) @ turn, ways=skin.ways @ turn)


def _edge_length(skin: Skin) -> float:
    ends = skin.vertices[skin.triangles]
    return float(np.median(np.linalg.norm(ends - np.roll(ends, 1, axis=1), axis=-1)))


def _on_field(touch: Touch, a: int, skin: Skin) -> Skin:
    sharp = np.zeros(len(skin.vertices), bool)
    skin = skin._replace(vertices=_projected(touch, a, skin.vertices, np.zeros_like(skin.ways), sharp))
    return skin if skin.edged else skin._replace(ways=_gradients(touch, a, skin.vertices))


def _gradients(touch: Touch, a: int, at: Floats) -> Floats:
    """Which way leads straight out of a body at points of its surface."""
    value, gradient = np.empty(len(at)), np.empty_like(at)
    field_at(touch.shapes, a, np.ascontiguousarray(at), value, gradient)
    return gradient / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-300)


def _projected(touch: Touch, a: int, at: Floats, out: Floats, sharp: NDArray[np.bool_]) -> Floats:
    at = np.ascontiguousarray(at)
    if touch.shapes.kind[a] == CYLINDER:  # whose edges are round
        radius = float(touch.shapes.size[a, 0])
        at[sharp, :2] *= (radius / np.linalg.norm(at[sharp, :2], axis=1))[:, None]
    bring_onto(touch.shapes, a, at, np.ascontiguousarray(out))
    return at


def _cover(touch: Touch, a: int, skin: Skin, size: float) -> _Covered:
    order, cluster = _clusters(skin.vertices)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    vertices, ways, triangles = skin.vertices[order], skin.ways[order], number[skin.triangles]
    corners, vertex, facing = split_at_edges(skin._replace(vertices=vertices, triangles=triangles))
    normal, area = vertex_normals(vertices, triangles)
    sharp = np.bincount(vertex, minlength=len(vertices)) > 1
    normal[~sharp] = _gradients(touch, a, vertices)[~sharp]
    drawn = facing.copy()
    drawn[~sharp[vertex]] = normal[vertex[~sharp[vertex]]]
    middle = np.array([vertices[i:j].mean(0) for i, j in cluster])
    radius = [np.linalg.norm(vertices[i:j] - m, axis=1).max() for (i, j), m in zip(cluster, middle)]
    p, q, r = (vertices[triangles[:, k]] for k in range(3))
    count, corner_count = len(vertices), len(vertex)
    most = min(NEIGHBOURS, len(touch.softness))
    entries = most * count
    cover = Cover(
        at=vertices, normal=normal, way=ways, area=area,
        triangles=np.ascontiguousarray(triangles), corners=np.ascontiguousarray(corners, np.int64), vertex=vertex,
        facing=facing, drawn=drawn, sharp=sharp.astype(np.int64),
        cluster=cluster, ball=np.column_stack([middle, radius]),
        size=size, volume=float(np.einsum("ij,ij", p, np.cross(q, r))) / 6,
        place=np.zeros((count, 3)), free=np.zeros(count), held=np.zeros(count, np.int64),
        against=np.zeros(count, np.int64), by=np.zeros((count, 3)),
        around=np.zeros((corner_count, 3)),
        first=np.zeros(most + 1, np.int64), other=np.zeros(most, np.int64), to=np.zeros((most, 12)),
        of=np.zeros(entries, np.int64), away=np.zeros(entries), over=np.zeros(entries), steep=np.zeros(entries),
        go=np.zeros((entries, 3)), ring=np.zeros(entries),
    )  # fmt: skip
    return _Covered(cover, order, order[vertex], corners, drawn)


def _clusters(vertices: Floats) -> tuple[Indices, Indices]:
    """An order in which neighbours are together, and (C, 2) the first and last + 1 of each group of them."""
    groups = [np.arange(len(vertices))]
    while max(map(len, groups)) > CLUSTER:
        halves = []
        for group in groups:
            axis = int(np.ptp(vertices[group], axis=0).argmax())
            middle = len(group) // 2
            parted = group[np.argpartition(vertices[group, axis], middle)]
            halves += [parted[:middle], parted[middle:]]
        groups = halves
    ends = np.cumsum([0, *map(len, groups)])
    return np.concatenate(groups), np.stack([ends[:-1], ends[1:]], -1)


def _squashed(
    touch: Touch, a: int, cover: Cover, axes: Floats, stretches: list[Stretch], least: float
) -> tuple[list[tuple[Any, Any, Any]], Floats]:
    frames = stretches[-1][1]
    rows = max(ROWS, len(cover.vertex))
    first, depth = np.zeros(frames + 1, np.int64), np.zeros(frames)
    index, shift, normal = np.zeros(rows, np.uint32), np.zeros((rows, 3), np.float32), np.zeros((rows, 3), np.float32)
    turn = tuple(axes.tolist())
    moved = []
    for start, last, meets in stretches:
        frame = start
        while frame < last:
            done = squash_frames(
                touch, cover, a, frame, last, meets, least, turn, first, index, shift, normal, depth
            )
            for f in range(frame, done):
                own = slice(first[f], first[f + 1])
                moved.append((index[own].copy(), shift[own].copy(), normal[own].astype(np.float16)))
            frame = done
    return moved, depth
