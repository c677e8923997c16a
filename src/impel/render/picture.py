"""One frame of a take as a picture."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.render import light, shading
from impel.render.camera import camera_matrix, focal_length
from impel.render.overlays import draw_overlays
from impel.render.raster import rasterise
from impel.render.scenery import Film, lay_ropes, placed
from impel.takes.take import Floats

Picture = NDArray[np.uint8]  # (height, width, 3), sRGB

SUN_ELEVATION = 52.0  # degrees
SUN_AZIMUTH = -55.0  # degrees from the camera's: over the viewer's left shoulder, shadows fall back to the right
SUN_TEXELS = 1536


def expose(film: Film, frame: int, overlays: Collection[str] = ()) -> Picture:
    """Draw one frame, with the overlays named."""
    shot, (width, height) = film.shot, film.size
    position = film.position[frame]
    vertices, normals, axes = placed(film.meshes, position, film.orientation[frame])
    lay_ropes(film, frame, vertices, normals)
    world = shading.World(vertices, normals, film.meshes.triangles, position, axes, film.paint, film.outsides)
    samples = samples_for(film.size)
    depth = np.zeros((height * samples, width * samples), np.float32)
    ids = np.full(depth.shape, -1, np.int32)
    matrix = camera_matrix(shot, frame, film.size, samples)
    glass = film.opacity < 1.0
    rasterise(vertices, world.triangles, ~glass, matrix, depth, ids)
    sun, sun_depth = sun_over(film, frame, vertices)
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
    near = light.bodies_by_tile(film.outsides, shot.seen(frame, position, film.size), focal, film.size)
    picture: Picture = shading.shade(samples, ids, world, view, sun, sun_depth, near)
    if overlays or glass.any():
        behind = depth[samples // 2 :: samples, samples // 2 :: samples].copy()
    if glass.any():
        rasterise(vertices, world.triangles, glass, matrix, depth, ids)
        front = shading.shade(samples, ids, world, view, sun, sun_depth, near)
        picture = _seen_through(picture, front, np.where(ids >= 0, film.opacity[ids], np.float32(1)), samples)
    if overlays:
        draw_overlays(film, frame, picture, behind, overlays)
    return picture


def _seen_through(behind: Picture, front: Picture, opacity: Any, samples: int) -> Picture:
    """The picture with glass over the one without; they differ only where glass is, of which the nearest is seen."""
    height, width, _ = behind.shape
    glass = opacity < 1.0
    alpha, count = (
        values.reshape(height, samples, width, samples).sum(axis=(1, 3))
        for values in (np.where(glass, opacity, 0.0), glass)
    )
    share = np.divide(alpha, count, out=np.zeros_like(alpha), where=count > 0)[..., None]
    return np.round(behind * (1 - share) + front * share).astype(np.uint8)


def triple(vector: Floats) -> light.Vector:
    return float(vector[0]), float(vector[1]), float(vector[2])


def samples_for(size: tuple[int, int]) -> int:
    """Samples per pixel and direction: four, fewer in large pictures, whose steps are finer anyway (memory)."""
    pixels = size[0] * size[1]
    return 4 if pixels <= 1_000_000 else 3 if pixels <= 4_000_000 else 2


def sun_over(film: Film, frame: int, vertices: Floats) -> tuple[light.Sun, Any]:
    """The sun's picture of the depths around the action: its frame, and the map."""
    forward = film.shot.forward
    azimuth = np.arctan2(-forward[1], -forward[0]) + np.radians(SUN_AZIMUTH)
    elevation = np.radians(SUN_ELEVATION)
    towards = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up = np.cross(towards, right)
    scale = SUN_TEXELS / 2 / film.reach
    center = film.shot.middle[frame]
    # Only whole texels: a map that slides by fractions makes the edges of shadows crawl.
    center = center @ towards * towards + sum(np.round(center @ axis * scale) / scale * axis for axis in (right, up))
    matrix = np.zeros((4, 4))
    for row, axis in enumerate((right * scale, -up * scale, towards)):
        matrix[row, :3], matrix[row, 3] = axis, -axis @ center
    matrix[:2, 3] += SUN_TEXELS / 2
    matrix[3, 3] = 1.0
    depth = np.full((SUN_TEXELS, SUN_TEXELS), -np.inf, np.float32)
    rasterise(vertices, film.meshes.triangles, film.casts, matrix, depth, np.empty(depth.shape, np.int32))
    return light.Sun(triple(center), triple(right), triple(up), triple(towards), scale), depth
