"""Patches of a picture, one after the other in one compiled call: what is seen, how it is lit, what becomes of it."""

from typing import Any, NamedTuple

import numpy as np

from impel.kernel import kernel
from impel.motion.rotations import get3
from impel.render.light import TILE, openness, sunlit, texel_of
from impel.render.raster import fill
from impel.render.shading import Fragments, collect, compose, locate


class Room(NamedTuple):
    """To draw one patch of the picture after the other in."""

    edge: Any  # (3, 3)
    patch: Any  # (4,) in pixels
    window: Any  # (4,) the same in samples
    depth: Any  # (rows, columns) of samples: one over the distance
    ids: Any  # (rows, columns) triangle seen, -1 is the sky
    light: Any  # (P, 4) sum over each pixel's fragments; the last: how much of it is glass
    fragments: Fragments


def room_for(width: int, samples: int) -> Room:
    """For patches up to the width of a picture and one tile high."""
    count = TILE * width * samples * samples
    ints, singles, vectors = np.empty((4, count), np.int32), np.empty((4, count), np.float32), np.empty((5, count, 3))
    fragments = Fragments(
        pixel=ints[0], triangle=ints[1], tile=ints[2], owner=ints[3],
        share=singles[0], fade=singles[1], lit=singles[2], open=singles[3],
        ray=vectors[0], point=vectors[1], normal=vectors[2], facet=vectors[3], color=vectors[4],
    )  # fmt: skip
    shape = TILE * samples, width * samples
    depth, ids, light = np.empty(shape, np.float32), np.empty(shape, np.int32), np.empty((TILE * width, 4))
    patch, window = np.empty(4, np.int64), np.empty(4, np.int64)
    return Room(np.empty((3, 3)), patch, window, depth, ids, light, fragments)


@kernel
def _sunned(count, triangle, points, tiles, sun, size, bounds):
    """Widen the bounds (tiles, 4) of texels by those that fragments lie in, as far as something may shade them."""
    for f in range(count):
        if triangle[f] < 0:
            continue
        x, y = texel_of(get3(points, f), sun, size)
        if 0.0 < x < size and 0.0 < y < size:
            tile = tiles[f]
            bounds[tile, 0], bounds[tile, 1] = min(bounds[tile, 0], y), max(bounds[tile, 1], y)
            bounds[tile, 2], bounds[tile, 3] = min(bounds[tile, 2], x), max(bounds[tile, 3], x)


@kernel
def shade_patches(patches, samples, clip, bounds, shown, world, view, sun, depth, coarse, counts, lists, room, sheet):
    """Draw patches (P, 4) of the picture: each from a row to before a row, from a column to before a column.

    A patch lies within one row of tiles. `clip` and `bounds` are the bodies' vertices and where they are seen, of the
    triangles those `shown` are drawn; `depth` and `coarse` are the sun's maps, `counts` and `lists` the bodies by tile.
    """
    paint, fragments, ids, nearness = world.paint, room.fragments, room.ids, sheet.nearness
    patch, window = room.patch, room.window
    for p in range(len(patches)):
        for k in range(4):
            patch[k], window[k] = patches[p, k], samples * patches[p, k]
        for i in range(window[1] - window[0]):
            for j in range(window[3] - window[2]):
                room.depth[i, j] = 0.0
                ids[i, j] = -1
        for body in range(len(bounds)):
            rows = bounds[body, 0] < window[1] and bounds[body, 1] > window[0]
            if rows and bounds[body, 2] < window[3] and bounds[body, 3] > window[2]:
                fill(paint.first[body], paint.first[body + 1], world.triangles, shown, clip, window, room.edge,
                     room.depth, ids)  # fmt: skip
        for row in range(patch[0], patch[1]):
            for column in range(patch[2], patch[3]):
                down, across = (row - patch[0]) * samples, (column - patch[2]) * samples
                nearness[row, column] = room.depth[down + samples // 2, across + samples // 2]
        count = collect(ids, samples, patch, view, fragments)
        locate(count, fragments, world.vertices, world.normals, world.triangles, paint, view)
        sunlit(count, fragments.point, fragments.facet, sun, depth, coarse, fragments.lit)
        openness(count, fragments.point, fragments.normal, fragments.owner, fragments.tile, world.outsides,
                 world.position, world.axes, counts, lists, fragments.open)  # fmt: skip
        compose(count, fragments, paint, sun, patch, room.light, sheet)
        if len(sheet.sunned) > 0:
            _sunned(count, fragments.triangle, fragments.point, fragments.tile, sun, len(depth), sheet.sunned)
