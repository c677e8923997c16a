"""Where a body should point: its outline as it would stand if it had turned already, and the way its tip goes.

A body turns about the point of it that stays in place, a hinge, if there is one; else about its origin.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.motion.orientations import matrix_from_quaternion
from impel.render.camera import camera_matrix
from impel.render.raster import rasterise
from impel.render.scenery import Film
from impel.takes.checks import FARTHEST
from impel.takes.take import Floats, Take, owner_of, path_at

STAYS = 0.05  # of a body's size: a point that strays less is taken for a hinge
BEYOND = 1.15  # of the way from the middle to the surface: where the tip is
SAMPLES = 2  # per pixel and direction


def pointed_at(film: Film, frame: int, name: str, places: Floats) -> Floats:
    """Points (P, 3) for a path or track: as they are, or where orientations (P, 4) would put the body's tip."""
    if places.shape[1] == 3:
        return np.where(np.abs(places) <= FARTHEST, places, np.nan)
    places = _turns(places)
    body = owner_of(film.take, name)
    if body is None or len(places) == 0:
        return np.zeros((0, 3))
    pivot = pivot_of(film.take, body, film.meshes.extents[body])
    way = name.removesuffix(".target")
    turns = _turns(path_at(film.take, way, frame)) if way in film.take.paths else places
    tip = _tip(turns, film.meshes.extents[body], pivot)
    return _pivot_now(film, frame, body, pivot) + matrix_from_quaternion(places) @ (tip - pivot)


def _turns(orientations: Floats) -> Floats:
    """What a foreign take calls orientations, as far as they can be some."""
    return np.where(np.abs(orientations) <= 2, orientations, np.nan)


def ghost(film: Film, frame: int, name: str, orientation: Floats, width: float) -> tuple[Any, Any]:
    """How much of each pixel (height, width) the body would cover if it were turned so, and how much its outline."""
    columns, rows = film.size
    inside = np.zeros((rows * SAMPLES, columns * SAMPLES), bool)
    body = owner_of(film.take, name)
    if body is not None:
        own = slice(film.meshes.starts[body], film.meshes.starts[body + 1])
        pivot = pivot_of(film.take, body, film.meshes.extents[body])
        vertices = (film.meshes.vertices[own] - pivot) @ matrix_from_quaternion(orientation).T
        vertices += _pivot_now(film, frame, body, pivot)
        triangles = film.meshes.triangles[film.meshes.body == body] - np.int32(own.start)
        depth, ids = np.zeros(inside.shape, np.float32), np.full(inside.shape, -1, np.int32)
        matrix = camera_matrix(film.shot_at(frame), frame, film.size, SAMPLES)
        rasterise(vertices, triangles, np.ones(len(triangles), bool), matrix, depth, ids)
        inside = ids >= 0
    rim = _grown(inside, width * SAMPLES) & ~inside
    return tuple(mask.reshape(rows, SAMPLES, columns, SAMPLES).mean(axis=(1, 3)) for mask in (inside, rim))


def pivot_of(take: Take, body: int, extents: Floats) -> Floats:
    """The point of a body, in its frame, that stays in place (least squares over the take); else its origin."""
    known = np.isfinite(take.position[:, body]).all(axis=-1) & np.isfinite(take.orientation[:, body]).all(axis=-1)
    frames = np.flatnonzero(known)[:: max(1, len(take.time) // 60)]
    position, turns = take.position[frames, body], matrix_from_quaternion(take.orientation[frames, body])
    if len(frames) < 2:
        return np.zeros(3)
    # position + turn·pivot = place, for all frames: six unknowns, the smallest solution.
    left = np.concatenate([turns, np.broadcast_to(-np.eye(3), turns.shape)], axis=-1).reshape(-1, 6)
    middle = position.mean(axis=0)
    pivot = np.linalg.lstsq(left, (middle - position).ravel(), rcond=1e-6)[0][:3]
    place = position + turns @ pivot
    size = float(np.linalg.norm(extents[1] - extents[0]))
    stays = np.linalg.norm(place - place.mean(axis=0), axis=-1).max() < STAYS * size
    return pivot if stays and np.linalg.norm(pivot) < size else np.zeros(3)


def _pivot_now(film: Film, frame: int, body: int, pivot: Floats) -> Floats:
    turn = matrix_from_quaternion(film.orientation[frame, body])
    return np.asarray(film.position[frame, body] + turn @ pivot)


def _tip(orientations: Floats, extents: Floats, pivot: Floats) -> Floats:
    """Of the middles of a body's six sides, the one that goes farthest on the way; a little outside."""
    middle, half = extents.mean(axis=0), np.ptp(extents, axis=0) / 2
    tips = middle + BEYOND * np.concatenate([np.diag(half), -np.diag(half)])
    ways = np.einsum("pij,tj->tpi", matrix_from_quaternion(orientations), tips - pivot)
    lengths = np.linalg.norm(np.diff(ways, axis=1), axis=-1).sum(axis=1)
    return np.asarray(tips[np.argmax(np.round(lengths, 9))])


def _grown(mask: NDArray[np.bool_], radius: float) -> NDArray[np.bool_]:
    """All within a radius, in samples, of the mask."""
    reach = int(radius)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    grown = mask.copy()
    if len(rows) == 0:
        return grown
    top, left = max(rows[0] - reach, 0), max(columns[0] - reach, 0)
    window = slice(top, rows[-1] + reach + 1), slice(left, columns[-1] + reach + 1)
    padded = np.pad(mask[window], reach)
    height, width = grown[window].shape
    for y in range(-reach, reach + 1):
        for x in range(-reach, reach + 1):
            if 0 < x * x + y * y <= radius * radius:
                grown[window] |= padded[reach + y : reach + y + height, reach + x : reach + x + width]
    return grown
