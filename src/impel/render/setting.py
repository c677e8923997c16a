"""A frame made ready for drawing: where everything is, as the camera and the sun see it."""

from typing import Any, NamedTuple

import numpy as np

from impel.render import light, patches, shading
from impel.render.camera import camera_matrix, focal_length
from impel.render.raster import bounds_of, clipped, fill
from impel.render.scenery import Film, lay_ropes, placed, pressed
from impel.takes.take import Floats

SUN_ELEVATION = 52.0  # degrees
SUN_AZIMUTH = -55.0  # degrees from the camera's: over the viewer's left shoulder, shadows fall back to the right
SUN_TEXELS = 1536


class Canvas(NamedTuple):
    """Room to draw frames of one size in, one after the other."""

    room: patches.Room
    depth: Any  # (SUN_TEXELS, SUN_TEXELS) the sun's map, -inf where nothing is
    ids: Any
    cells: Any
    coarse: Any
    window: Any  # (4,) what of the map is in use: from a row to before a row, from a column to before a column


def canvas_for(size: tuple[int, int]) -> Canvas:
    depth = np.full((SUN_TEXELS, SUN_TEXELS), -np.inf, np.float32)
    cells, coarse = np.full((2, SUN_TEXELS // light.COARSE, SUN_TEXELS // light.COARSE), -np.inf, np.float32)
    room = patches.room_for(size[0], samples_for(size))
    return Canvas(room, depth, np.empty(depth.shape, np.int32), cells, coarse, np.zeros(4, np.int64))


def canvas_bytes(size: tuple[int, int]) -> int:
    """How much memory a canvas takes, if every sample shows another triangle."""
    return 160 * light.TILE * size[0] * samples_for(size) ** 2 + 8 * SUN_TEXELS**2


class Setting(NamedTuple):
    """A frame before it is drawn: where everything is, for the camera and for the sun."""

    world: shading.World
    view: shading.View
    seen: Floats  # (N, 3) pixel coordinates of the bodies, and distances
    clip: Floats
    bounds: Floats  # (N, 4) samples in which bodies are seen
    sun: light.Sun
    shaded: Floats  # (N, 4) texels of the sun's map in which bodies are


def set_up(film: Film, frame: int, canvas: Canvas, without: Any = ()) -> Setting:
    shot, (width, height) = film.shot_at(frame), film.size
    position = film.position[frame].copy()
    vertices, normals, axes = placed(film.meshes, position, film.orientation[frame], pressed(film, frame))
    lay_ropes(film, frame, vertices, normals)
    for body in np.flatnonzero(without):
        position[body] = vertices[film.meshes.starts[body] : film.meshes.starts[body + 1]] = np.nan
    world = shading.World(vertices, normals, film.meshes.triangles, position, axes, film.paint, film.outsides)
    clip = clipped(vertices, camera_matrix(shot, frame, film.size, samples_for(film.size)))
    focal = focal_length(shot.fov, film.size)
    view = shading.View(
        triple(shot.eye[frame]),
        triple(shot.right),
        triple(shot.up),
        triple(shot.forward),
        triple(shot.middle[frame]),
        focal,
        width,
        height,
    )
    seen = shot.seen(frame, position, film.size)
    sun, shaded = shine(film, frame, vertices, canvas)
    return Setting(world, view, seen, clip, bounds_of(clip, film.meshes.starts), sun, shaded)


def triple(vector: Floats) -> light.Vector:
    return float(vector[0]), float(vector[1]), float(vector[2])


def samples_for(size: tuple[int, int]) -> int:
    """Samples per pixel and direction: four, fewer in large pictures, whose steps are finer anyway (memory)."""
    pixels = size[0] * size[1]
    return 4 if pixels <= 1_000_000 else 3 if pixels <= 4_000_000 else 2


def shine(film: Film, frame: int, vertices: Floats, canvas: Canvas) -> tuple[light.Sun, Floats]:
    """Draw the sun's picture of the depths around the action; its frame, and in which texels (N, 4) bodies are."""
    forward = film.shot.forward
    azimuth = np.arctan2(-forward[1], -forward[0]) + np.radians(SUN_AZIMUTH)
    elevation = np.radians(SUN_ELEVATION)
    towards = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up = np.cross(towards, right)
    scale = SUN_TEXELS / 2 / film.shot_at(frame).reach
    center = film.shot_at(frame).middle[frame]
    # Only whole texels: a map that slides by fractions makes the edges of shadows crawl.
    center = center @ towards * towards + sum(np.round(center @ axis * scale) / scale * axis for axis in (right, up))
    matrix = np.zeros((4, 4))
    for row, axis in enumerate((right * scale, -up * scale, towards)):
        matrix[row, :3], matrix[row, 3] = axis, -axis @ center
    matrix[:2, 3] += SUN_TEXELS / 2
    matrix[3, 3] = 1.0
    clip = clipped(vertices, matrix)
    shaded, window = bounds_of(clip, film.meshes.starts), canvas.window
    canvas.depth[window[0] : window[1], window[2] : window[3]] = -np.inf
    canvas.coarse[:] = -np.inf
    casting = shaded[film.casts[film.paint.first[:-1]] & np.isfinite(shaded).all(axis=-1)]
    edges = np.concatenate([casting[:, ::2].min(axis=0), casting[:, 1::2].max(axis=0)]) if len(casting) else np.zeros(4)
    window[:] = np.clip(edges[[0, 2, 1, 3]] + [-1, 2, -1, 2], 0, SUN_TEXELS)
    whole = np.array([0, SUN_TEXELS, 0, SUN_TEXELS])
    fill(0, len(film.casts), film.meshes.triangles, film.casts, clip, whole, canvas.room.edge, canvas.depth, canvas.ids)
    light.coarsen(canvas.depth, window, canvas.cells, canvas.coarse)
    return light.Sun(triple(center), triple(right), triple(up), triple(towards), scale), shaded
