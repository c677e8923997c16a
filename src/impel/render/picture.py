"""One frame of a take as a picture, or the plate that many frames of a film have in common."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.render import light
from impel.render.overlays import draw_overlays
from impel.render.patches import shade_patches
from impel.render.scenery import Film
from impel.render.setting import Canvas, Setting, canvas_for, samples_for, set_up
from impel.render.shading import Sheet, blank, copied
from impel.takes.soft import soft_bodies

Picture = NDArray[np.uint8]  # (height, width, 3), sRGB

FEW = 4  # frames that are drawn without a plate


class Plate(NamedTuple):
    """A picture of all that never moves, which serves for all tiles of a frame that nothing else comes near."""

    sheet: Sheet
    moves: NDArray[np.bool_]  # (N,) bodies that are not in it
    frame: int  # that the others are from


def expose(
    film: Film, frame: int, overlays: Collection[str] = (), canvas: Canvas | None = None, plate: Plate | None = None
) -> Picture:
    """Draw one frame, with the overlays named; quicker with a canvas to draw in, and upon a plate."""
    canvas = canvas or canvas_for(film.size)
    setting = set_up(film, frame, canvas)
    if plate is None:
        sheet, tiles = blank(film.size), np.ones(light.tiles_of(film.size), bool)
    else:
        sheet, tiles = copied(plate.sheet), touched(film, setting, plate)
    _draw(film, setting, tiles, canvas, sheet)
    if overlays:
        draw_overlays(film, frame, sheet.picture, sheet.nearness, overlays)
    return np.asarray(sheet.picture)


def still_from(film: Film, frames: Sequence[int]) -> Sequence[int]:
    """The first of these frames, as long as the camera stands still."""
    shot, eye = film.shot_at(frames[0]), film.shot_at(frames[0]).eye
    moved = (
        k for k, frame in enumerate(frames) if film.shot_at(frame) is not shot or (eye[frame] != eye[frames[0]]).any()
    )
    return frames[: next(moved, len(frames))]


def looks_the_same(film: Film, frame: int, other: int) -> bool:
    """Whether nothing is seen to move from one frame to another, nor the camera."""
    return len(still_from(film, [frame, other])) == 2 and not _moves(film, [frame, other]).any()


def plate_of(film: Film, frames: Sequence[int], canvas: Canvas, before: Plate | None = None) -> Plate | None:
    """The plate that these frames have in common; None if the camera moves, or they are too few to be worth it.

    It is the one `before` if that would look the same.
    """
    if len(frames) < FEW or len(still_from(film, frames)) < len(frames):
        return None
    moves = _moves(film, frames)
    if before is not None and np.array_equal(moves, before.moves):
        since = [before.frame, frames[0]]
        if len(still_from(film, since)) == 2 and not (_moves(film, since) & ~moves).any():
            return before
    rows, columns = light.tiles_of(film.size)
    sheet = blank(film.size, rows * columns)
    setting = set_up(film, frames[0], canvas, without=moves)
    _draw(film, setting, np.ones((rows, columns), bool), canvas, sheet)
    return Plate(sheet, moves, frames[0])


def _moves(film: Film, frames: Sequence[int]) -> NDArray[np.bool_]:
    """(N,) the body moves in these frames, or is lost in some."""
    shifts = (film.position[frames] != film.position[frames[0]]).any(axis=(0, 2))
    moves = shifts | (film.orientation[frames] != film.orientation[frames[0]]).any(axis=(0, 2))
    moves[list(film.ropes.values())] = True
    for name in soft_bodies(film.take):
        if np.ptp(film.take.soft[f"{name}.first"][[min(frames), max(frames) + 1]]) > 0:
            moves[film.take.index(name)] = True
    return np.asarray(moves)


def _draw(film: Film, setting: Setting, tiles: NDArray[np.bool_], canvas: Canvas, sheet: Sheet) -> None:
    samples, glass = samples_for(film.size), film.paint.opacity < 1.0
    near = light.bodies_by_tile(film.outsides, setting.seen, setting.view.focal, film.size)
    # Within a triangle of an endless floor, whose squares are blurred by themselves, one sample says all.
    endless = film.paint.endless
    edges = _shown_in(film, setting, ~endless) | _parted(film, setting, endless[film.paint.body])
    kinds = [(tiles & edges, samples, setting.clip, setting.bounds)]
    kinds += [(tiles & ~edges, 1, setting.clip / [samples, samples, 1, 1], setting.bounds / samples)]

    def shade(shown: Any, sheet: Sheet) -> None:
        for drawn, fine, clip, bounds in kinds:
            shade_patches(patches_of(drawn, film.size), fine, clip, bounds, shown, setting.world, setting.view,
                          setting.sun, canvas.depth, canvas.coarse, *near, canvas.room, sheet)  # fmt: skip

    shade(~glass, sheet)
    if glass.any():
        front = copied(sheet)
        shade(np.ones(len(glass), bool), front)
        # They differ only where glass is, of which the nearest is seen.
        share = front.veil[..., None]
        sheet.picture[:] = np.round(sheet.picture * (1 - share) + front.picture * share).astype(np.uint8)


def patches_of(tiles: NDArray[np.bool_], size: tuple[int, int]) -> NDArray[np.int64]:
    """The tiles (rows, columns) as patches, each of neighbours in one row."""
    none = np.zeros((len(tiles), 1), np.int8)
    steps = np.diff(np.concatenate([none, tiles, none], axis=1), axis=1)
    row, left = np.nonzero(steps == 1)
    _, right = np.nonzero(steps == -1)
    edges = np.stack([row, row + 1, left, right], axis=-1) * light.TILE
    return np.minimum(edges, [size[1], size[1], size[0], size[0]])


def touched(film: Film, setting: Setting, plate: Plate) -> NDArray[np.bool_]:
    """The tiles (rows, columns) that look different from the plate, because of what moves or what that shades."""
    rows, columns = light.tiles_of(film.size)
    tiles = _shown_in(film, setting, plate.moves)
    shade, sunned = np.zeros(rows * columns, bool), plate.sheet.sunned
    margin = light.SEARCH + 2 * light.COARSE
    casts = film.casts[film.paint.first[:-1]]
    for body in np.flatnonzero(plate.moves).tolist():
        tiles[light.tiles_near(film.outsides, body, setting.seen[body], setting.view.focal)] = True
        if casts[body]:
            top, bottom, left, right = setting.shaded[body]
            shade |= (
                (sunned[:, 0] < bottom + margin)
                & (sunned[:, 1] > top - margin)
                & (sunned[:, 2] < right + margin)
                & (sunned[:, 3] > left - margin)
            )
    return tiles | shade.reshape(rows, columns)


def _shown_in(film: Film, setting: Setting, bodies: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The tiles (rows, columns) in which some of these bodies (N,) may be seen."""
    tiles = np.zeros(light.tiles_of(film.size), bool)
    bounds = setting.bounds[bodies & ~np.isnan(setting.bounds).any(axis=-1)]
    tile, hem = samples_for(film.size) * light.TILE, np.array([-1, 1, -1, 1])
    edges = np.clip((bounds + hem) / tile, 0, max(tiles.shape)).astype(int)
    for top, bottom, left, right in edges.tolist():
        tiles[top : bottom + 1, left : right + 1] = True
    return tiles


def _parted(film: Film, setting: Setting, triangles: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The tiles (rows, columns) that a side of these triangles (T,) may go through."""
    rows, columns = light.tiles_of(film.size)
    tile = samples_for(film.size) * light.TILE
    down, across = np.meshgrid(tile * np.arange(rows + 1), tile * np.arange(columns + 1), indexing="ij")
    corners = np.stack([across, down, np.ones_like(down)], axis=-1)
    ends = setting.clip[film.meshes.triangles[triangles]][:, :, [0, 1, 3]]  # (T, 3, 3)
    after = ends[:, [1, 2, 0]]
    sides = ends[..., [1, 2, 0]] * after[..., [2, 0, 1]] - ends[..., [2, 0, 1]] * after[..., [1, 2, 0]]
    beyond = corners @ sides.reshape(-1, 3).T > 0.0  # (rows + 1, columns + 1, 3T)
    around = np.stack([beyond[:-1, :-1], beyond[:-1, 1:], beyond[1:, :-1], beyond[1:, 1:]])
    return np.asarray((around.any(axis=0) & ~around.all(axis=0)).any(axis=-1))
