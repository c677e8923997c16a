"""A take made ready for drawing: meshes, paints and cameras in flat arrays, so that every frame is quick."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.kinds import KINDS, size_of
from impel.geometry.meshes import MARK, PLANE_SIDE, Mesh, colors_of, marks_of, mesh_of
from impel.motion.orientations import matrix_from_quaternion
from impel.render import light, shading
from impel.render.action import corners_of, heights_of, moving_bodies, on_stage
from impel.render.camera import Shot, camera_matrix, given_shot, hair, rested, shot_of
from impel.render.lines import laid, line_points, lines_of
from impel.render.raster import rasterise
from impel.takes.cameras import cuts_of
from impel.takes.soft import moved_at, rest_of, soft_bodies
from impel.takes.take import Floats, Take, linear_color, opacity

STUDIO_FLOOR = "#c8ccd0"
STUDIO_GAP = 0.15  # of the action's radius below what floats, where a take has no ground of its own
SUNK = 0.01  # of the action's radius: what goes so far below a floor is seen to pass through it
THREAD = 0.007  # of the action's radius: that of ropes and wires, about a pixel in a small picture
ENDLESS = 80.0  # of the action's radius: half the side of a plane as drawn
FINE, COARSE, MANY = 48, 24, 80  # sides of round things; the coarse ones when there are many bodies
SUN_REACH = 1.8  # of the action's radius: what lies farther out casts no shadow
LOOK = (96, 54)  # pixels of the small pictures that judge a view


class Meshes(NamedTuple):
    """All bodies' triangles in one list, in the bodies' own frames."""

    vertices: Floats  # (V, 3)
    normals: Floats
    starts: NDArray[np.int64]  # (N + 1,) first vertex of each body
    triangles: NDArray[np.int32]  # (T, 3)
    body: NDArray[np.int32]  # (T,)
    color: NDArray[np.int32]  # (T,) row of `colors`
    colors: Floats  # (2N, 3) linear: each body's two tones
    extents: Floats  # (N, 2, 3) lowest and highest corner


@dataclass(frozen=True)
class Film:
    """A take, its drawable bodies (the take's, perhaps a studio floor, then wires and ropes) and the camera."""

    take: Take
    stage: NDArray[np.bool_]  # (F, N) what belongs to the action
    shots: dict[int, Shot]  # by the frames from which on they are taken
    size: tuple[int, int]  # width, height in pixels
    position: Floats  # (F, N, 3)
    orientation: Floats
    meshes: Meshes
    paint: shading.Paint
    outsides: light.Outsides
    casts: NDArray[np.bool_]  # (T,) a shadow
    ropes: dict[str, int]  # which of the bodies they are

    @property
    def shot(self) -> Shot:
        """The first: it tells where the sun stands."""
        return self.shots[0]

    def shot_at(self, frame: int) -> Shot:
        return self.shots[max(first for first in self.shots if first <= frame)]


def prepare(take: Take, size: tuple[int, int], *, also: Floats | None = None) -> Film:
    """Set up the scenery and choose the camera; `also` are points the camera should try to keep in view."""
    count, lines = len(take.names), lines_of(take)
    own_floor = any("plane" in shape for shape in take.shapes)
    shapes = [*take.shapes, *([] if own_floor else [{"plane": {}}])]
    colors = [*take.colors, *([] if own_floor else [STUDIO_FLOOR]), *(line.color for line in lines)]
    meshes = _meshes(shapes, [line.mesh for line in lines], colors, take)
    shapes += [{"line": {}}] * len(lines)
    planes = np.array(["plane" in shape for shape in shapes], bool)
    moves, hides = np.zeros(len(shapes), bool), np.zeros(len(shapes), bool)
    moves[:count] = moving_bodies(take)
    solid = np.array([opacity(color) for color in colors])
    hides[:count] = ~(moves | planes)[:count] & (solid[:count] == 1.0)
    judge = (
        (lambda shot, frame: _visible(take, meshes, moves, hides, shot, frame)) if hides.any() and moves.any() else None
    )
    stage = on_stage(take, meshes.extents[:count])
    shots: dict[int, Shot] = {}
    for first, camera in cuts_of(take):
        if camera is not None:
            shots[first] = given_shot(take, camera)
        else:
            shots[first] = shot_of(take, meshes.extents[:count], size, stage=stage, also=also, visible=judge)
    shots = {first: rested(shot, size)._replace(reach=_reach(take, meshes, shot)) for first, shot in shots.items()}
    shot = max(shots.values(), key=lambda shot: shot.radius)

    # Of one type and layout whoever made the take: another would compile the kernels anew.
    position, orientation = (np.array(poses, np.float64, order="C") for poses in (take.position, take.orientation))
    position[~np.isfinite(orientation).all(axis=-1)] = np.nan  # lost; nowhere is not drawn
    owners = [*([] if own_floor else [None]), *(line.owner for line in lines)]
    position, orientation = _accompanied(position, [0.0] * 3, owners), _accompanied(orientation, [1.0, 0, 0, 0], owners)
    if not own_floor:
        position[:, count] = [*shot.middle[0][:2], _studio_height(take, meshes.extents, shot.radius)]
    looks = np.concatenate([other.middle for other in shots.values()])
    half = ENDLESS * shot.radius + float(np.linalg.norm(looks, axis=-1).max())
    meshes.vertices[np.repeat(planes, np.diff(meshes.starts))] *= half / (PLANE_SIDE / 2)
    first_line = len(shapes) - len(lines)
    thin = slice(meshes.starts[first_line], None)
    meshes.vertices[thin] += THREAD * shot.radius * meshes.normals[thin]
    paint, outsides = _paint(shapes, meshes, solid, moves, planes, shot)
    outsides.kind[solid < 1.0] = light.FIELD_NONE  # glass hides no light
    film = Film(
        take=take,
        stage=stage,
        shots=shots,
        size=size,
        position=position,
        orientation=orientation,
        meshes=meshes,
        paint=paint,
        outsides=outsides,
        casts=~planes[meshes.body] & (solid[meshes.body] == 1.0),
        ropes={line.rope: first_line + i for i, line in enumerate(lines) if line.rope is not None},
    )
    _rest(film)
    return film


def _rest(film: Film) -> None:
    """Let bodies stand still while they are not seen to move: what comes to rest creeps for long."""
    size = np.where(film.outsides.bound > 0, film.outsides.bound, 1e9)  # wires tell none
    for frame in range(1, len(film.position)):
        at, turned = film.position[frame], film.orientation[frame]
        before, turned_before = film.position[frame - 1], film.orientation[frame - 1]
        shift, turn = np.linalg.norm(at - before, axis=-1), 2 * np.linalg.norm(turned - turned_before, axis=-1)
        still = shift + turn * size <= hair(film.shot_at(frame), frame, film.size)
        at[still], turned[still] = before[still], turned_before[still]


def _accompanied(poses: Floats, home: list[float], owners: list[int | None]) -> Floats:
    """Poses (F, N, k) and those of more bodies, which are where their owners are, or at home."""
    at_home = np.tile(home, (len(poses), 1, 1))
    return np.concatenate([poses, *(at_home if i is None else poses[:, i : i + 1] for i in owners)], axis=1)


def _meshes(shapes: list[dict[str, Any]], lines: list[Mesh], colors: list[str], take: Take) -> Meshes:
    segments = FINE if len(shapes) <= MANY else COARSE
    known: dict[str, Any] = {}
    soft = {take.index(name): name for name in soft_bodies(take)}
    vertices, normals, starts, triangles, body, color = [], [], [0], [], [], []
    extents = np.zeros((len(colors), 2, 3))
    parts: list[Any] = []
    for i, shape in enumerate(shapes):
        key = soft[i] if i in soft else json.dumps(shape, sort_keys=True)
        if key not in known:
            mesh = rest_of(take, key) if i in soft else mesh_of(shape, segments=segments, surfaces=take.surfaces)
            known[key] = (*mesh, marks_of(shape, mesh))
        parts.append(known[key])
        if "plane" not in shape:
            extents[i] = known[key][0].min(axis=0), known[key][0].max(axis=0)
    parts += [(*mesh, np.zeros(len(mesh[2]), bool)) for mesh in lines]
    for i, (v, n, t, marks) in enumerate(parts):
        vertices.append(v)
        normals.append(n)
        starts.append(starts[-1] + len(v))
        triangles.append(t + starts[i])
        body.append(np.full(len(t), i, np.int32))
        color.append(2 * i + marks.astype(np.int32))
    tones = np.array([[linear_color(c), MARK * linear_color(c)] for c in colors]).reshape(-1, 3)
    for i, shape in enumerate(shapes):
        painted = take.soft.get(f"{soft[i]}.colors") if i in soft else colors_of(shape, take.surfaces)
        if painted is not None:  # the mean of the corners for each triangle, in 32 tones of each colour
            each = np.round(31 * painted[parts[i][2]].mean(axis=1)) / 31
            own, number = np.unique(each, axis=0, return_inverse=True)
            color[i] = (len(tones) + number.ravel()).astype(np.int32)
            tones = np.concatenate([tones, own])
    return Meshes(
        np.concatenate(vertices),
        np.concatenate(normals),
        np.array(starts),
        np.concatenate(triangles).astype(np.int32),
        np.concatenate(body),
        np.concatenate(color),
        tones,
        extents,
    )


def _paint(
    shapes: list[dict[str, Any]], meshes: Meshes, solid: Any, moves: Any, planes: Any, shot: Shot
) -> tuple[shading.Paint, light.Outsides]:
    low, high = meshes.extents[:, 0], meshes.extents[:, 1]
    half = (high - low) / 2
    kind, size = np.full(len(shapes), light.FIELD_NONE), np.zeros((len(shapes), 3))
    for i, shape in enumerate(shapes):
        name = next(iter(shape))
        if name in KINDS and name not in ("blob", "mesh"):
            kind[i], size[i] = KINDS[name].number, size_of(shape)
    # By the corners of their boxes, not their vertices: shade reaches farther than `openness` looks beside a bound, and
    # around balls its end would be seen.
    bound = np.linalg.norm(np.maximum(np.abs(low), np.abs(high)), axis=-1)
    bound[planes] = 1e6  # m: a plane is near everything
    boards = np.array(["box" in shape for shape in shapes], bool) & ~moves
    boards &= (half[:, :2].min(axis=-1) > 0.6 * shot.radius) & (half[:, 2] < half[:, :2].min(axis=-1))
    paint = shading.Paint(
        body=meshes.body,
        first=np.searchsorted(meshes.body, np.arange(len(shapes) + 1)),
        color=meshes.color,
        colors=meshes.colors,
        opacity=solid[meshes.body].astype(np.float32),
        floor=planes | boards,
        endless=planes,
        radius=float(shot.radius),
        square=_round_length(shot.radius / 2),
    )
    reach = light.OPEN_REACH * np.median(bound[moves]) if moves.any() else 0.1 * shot.radius
    return paint, light.Outsides(kind, size, bound, float(min(reach, 0.14 * shot.radius)))


def _round_length(length: float) -> float:
    """The nearest of 1, 2, 5, 10, 20, ..., so that squares on the floor can be counted."""
    steps = np.array([m * 10.0**e for e in range(-4, 6) for m in (1, 2, 5)])
    return float(steps[np.argmin(np.abs(np.log(steps / length)))])


def _studio_height(take: Take, extents: Floats, radius: float) -> float:
    """Where a floor may be drawn that nothing is seen to pass through; NaN: nowhere, for something falls away.

    What stands still stands on it; if there is nothing of that kind, or something hangs below, all floats above it.
    """
    moves = moving_bodies(take)
    lows, stands = (heights_of(take, extents, np.flatnonzero(which))[0] for which in (moves, ~moves))
    floor, reached = float(np.nanmin(stands, initial=np.inf)), np.nanmin(lows, axis=0, initial=np.inf)
    lines = line_points(take, np.unique(np.linspace(0, len(lows) - 1, 60).round().astype(int)))
    lowest = min(float(reached.min(initial=np.inf)), float(lines[:, 2].min(initial=np.inf)))
    if not lowest < floor - SUNK * radius:
        return floor if np.isfinite(floor) else 0.0
    before = lows[: max(1, 9 * len(lows) // 10)]
    if np.any(reached < np.nanmin(before, axis=0, initial=np.inf) - STUDIO_GAP * radius):
        return np.nan  # it gets to new depths at the very end: nothing will stop this fall
    return min(floor, lowest) - STUDIO_GAP * radius


def _reach(take: Take, meshes: Meshes, shot: Shot) -> float:
    bodies = np.array([i for i, shape in enumerate(take.shapes) if "plane" not in shape], int)
    frames = np.unique(np.linspace(0, len(take.time) - 1, 60).round().astype(int))
    away = corners_of(take, meshes.extents, bodies, frames) - shot.middle[frames][:, None, None]
    distance = np.linalg.norm(away, axis=-1)
    distance = distance[np.isfinite(distance)]
    return 1.1 * min(SUN_REACH * shot.radius, float(distance.max()) if len(distance) else np.inf)


def placed(
    meshes: Meshes, position: Floats, orientation: Floats, moved: Iterable[tuple[Any, Any, Any]] = ()
) -> tuple[Floats, Floats, Floats]:
    """Vertices and normals in the world, and the bodies' axes; bodies with no position given stay where they are.

    `moved` are vertices of soft bodies, where these are in their bodies' frames, and which way they face.
    """
    vertices, normals, axes = meshes.vertices.copy(), meshes.normals.copy(), matrix_from_quaternion(orientation)
    for rows, there, facing in moved:
        vertices[rows], normals[rows] = there, facing
    for body, (at, turn) in enumerate(zip(position, axes)):
        own = slice(meshes.starts[body], meshes.starts[body + 1])
        vertices[own] = vertices[own] @ turn.T + at
        normals[own] = normals[own] @ turn.T
    return vertices, normals, np.ascontiguousarray(np.swapaxes(axes, -1, -2)).reshape(-1, 3)


def pressed(film: Film, frame: int) -> list[tuple[Any, Any, Any]]:
    """The vertices that are pressed out of their places in a frame, for `placed`."""
    moved = []
    for name in soft_bodies(film.take):
        rows, there, facing = moved_at(film.take, name, frame)
        moved.append((film.meshes.starts[film.take.index(name)] + rows, there, facing))
    return moved


def lay_ropes(film: Film, frame: int, vertices: Floats, normals: Floats) -> None:
    """Put the ropes, among all vertices and normals, where they are in a frame."""
    for rope, body in film.ropes.items():
        own = slice(film.meshes.starts[body], film.meshes.starts[body + 1])
        vertices[own], normals[own], _ = laid(film.take, rope, frame, THREAD * film.paint.radius)


def _visible(take: Take, meshes: Meshes, moves: Any, hides: Any, shot: Shot, frame: int) -> float:
    """The share of the moving bodies' picture that nothing standing still hides."""
    vertices, _, _ = placed(meshes, take.position[frame], take.orientation[frame])
    matrix = camera_matrix(shot, frame, LOOK, 1)
    counts = []
    for shown in (moves, moves | hides):
        depth, ids = np.zeros(LOOK[::-1], np.float32), np.full(LOOK[::-1], -1, np.int32)
        rasterise(vertices, meshes.triangles, shown[meshes.body], matrix, depth, ids)
        counts.append(np.count_nonzero(moves[meshes.body[ids[ids >= 0]]]))
    return counts[1] / counts[0] if counts[0] else 0.0
