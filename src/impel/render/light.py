"""How much light reaches a point: the share of the sun that is seen from it, and of the sky."""

import math
from typing import Any, NamedTuple

import numpy as np

from impel.geometry.fields import sized_field
from impel.kernel import kernel
from impel.motion.rotations import axpy, dot, get3, sub

SOFTNESS = 0.07  # m of blur per m between blocker and shadow: a sun fifteen times the real one's size
SEARCH = 24.0  # texels: the widest blur, and how far a blocker is looked for
COARSE = 8  # texels that share one cell of the sun's coarse map
BLUR = 2.0  # texels: the narrowest blur, hides the map's own grid
FACING = 0.1  # cosine: surfaces that the sun grazes more than this get no steeper in the sun's map

OPEN_REACH = 0.8  # of a typical body's radius: how far things darken each other
OPEN_STRENGTH = 0.75
TILE = 16  # pixels

FIELD_NONE = -1  # the kind of what hides no light: glass, threads, and blobs


def _spiral(count: int, power: float) -> Any:
    """Points in the unit disc, no two in line (Vogel's sunflower): even for a power of 1/2, denser inside for more."""
    k = np.arange(count) + 0.5
    angle = k * math.pi * (3 - math.sqrt(5))
    radius = (k / count) ** power
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def _taps(disc: Any) -> tuple[Any, ...]:
    """Where in the unit disc to look: across, down, and how far from the middle, each by itself for wide loops.

    In single precision, as the sun's map: twice as many at once.
    """
    return tuple(np.array(each, np.float32) for each in (*disc.T, np.linalg.norm(disc, axis=-1)))


# Denser inside: thin things near their contact must not slip through.
BLOCKER_X, BLOCKER_Y, BLOCKER_R = _taps(SEARCH * _spiral(24, 0.9))
BLUR_X, BLUR_Y, BLUR_R = _taps(_spiral(64, 0.5))
FEW_X, FEW_Y, FEW_R = _taps(_spiral(64, 0.5)[::4])  # where no blocker was found
# Parts of a texel in which blur is counted, and its most in texels: whole numbers are added several at once.
FINE, HIGH = np.float32(1024.0), np.float32(1e4)

Vector = tuple[float, float, float]


class Sun(NamedTuple):
    """The frame of the sun's own picture of the depths, straight down its rays."""

    center: Vector
    right: Vector
    up: Vector
    towards: Vector  # the sun
    scale: float  # texels per metre


class Outsides(NamedTuple):
    """The bodies' outsides, for the shade where things meet."""

    kind: Any  # (N,) as kernels know them, or FIELD_NONE
    size: Any  # (N, 3) what their fields work with
    bound: Any  # (N,) radius about the origin
    reach: float  # m


@kernel(inline=True)
def texel_of(point, sun, size):
    """Where in the sun's map of so many texels each way a point is: column and row."""
    c = sub(point, sun.center)
    return dot(c, sun.right) * sun.scale + 0.5 * size, 0.5 * size - dot(c, sun.up) * sun.scale


@kernel(inline=True)
def _free(radius, across, down, away, x, y, flat, slope_x, slope_y, per_texel, depth):
    """How many of the taps about a texel see the sun over what stands in the map."""
    free, rise = np.int32(0), np.float32(0.5) * per_texel * radius
    for k in range(len(away)):
        i, j = np.int32(y + radius * down[k]), np.int32(x + radius * across[k])
        above = depth[i, j] - (flat + slope_x * np.float32(j) + slope_y * np.float32(i))
        free += np.int32(not above > rise * away[k])
    return free


@kernel
def sunlit(count, points, facets, sun, depth, coarse, lit):
    """The share of the sun seen from points on facets that face it: shadows sharp at contact, soft far away.

    `depth` is the sun's map, how high the highest surface is along its rays; `coarse` its maxima over cells and
    their surroundings, the quick proof that nothing is in the way.
    """
    size = len(depth)
    texel = 1.0 / sun.scale
    per_texel = np.float32(texel / SOFTNESS)  # m of height that blur one texel
    none, narrow, rise = np.float32(0.0), np.float32(BLUR), np.float32(0.5) * per_texel
    for f in range(count):
        p, n = get3(points, f), get3(facets, f)
        x, y = texel_of(p, sun, size)
        z, facing = dot(sub(p, sun.center), sun.towards), dot(n, sun.towards)
        lit[f] = 1.0 if facing > 0.0 else 0.0
        if facing <= 0.0 or not (SEARCH < x < size - SEARCH and SEARCH < y < size - SEARCH):
            continue
        if z >= coarse[int(y) // COARSE, int(x) // COARSE]:
            continue
        # The facet continues as a plane under the taps; without that, slopes would shadow themselves.
        facing = max(facing, FACING)
        steep_x, steep_y = -dot(n, sun.right) * texel / facing, dot(n, sun.up) * texel / facing
        z += texel * (1.0 + 0.3 / facing)  # what curves away from the plane must not shadow itself either
        flat = np.float32(z - steep_x * (x - 0.5) - steep_y * (y - 0.5))
        x, y, slope_x, slope_y = np.float32(x), np.float32(y), np.float32(steep_x), np.float32(steep_y)
        blockers, height = np.int32(0), np.int32(0)
        for k in range(len(BLOCKER_R)):
            i, j = np.int32(y + BLOCKER_Y[k]), np.int32(x + BLOCKER_X[k])
            above = depth[i, j] - (flat + slope_x * np.float32(j) + slope_y * np.float32(i))
            # What is low hides the sun only from close by (and a floor must not darken the wall it meets).
            blocks = above > rise * BLOCKER_R[k]
            blockers += np.int32(blocks)
            height += np.int32(FINE * min(max(above / per_texel, none), HIGH)) if blocks else np.int32(0)
        if blockers > 0:
            radius = min(max(np.float32(height / (FINE * blockers)), narrow), np.float32(SEARCH))
            free = _free(radius, BLUR_X, BLUR_Y, BLUR_R, x, y, flat, slope_x, slope_y, per_texel, depth)
            lit[f] = free / len(BLUR_R)
        else:
            free = _free(narrow, FEW_X, FEW_Y, FEW_R, x, y, flat, slope_x, slope_y, per_texel, depth)
            lit[f] = free / len(FEW_R)


@kernel
def openness(count, points, normals, owners, tiles, outsides, position, axes, counts, lists, opened):
    """The share of the sky not hidden by other bodies close by, from the distances met going out along the normal.

    `tiles` say which row of `counts` and `lists`, made by `bodies_by_tile`, holds the bodies worth asking; `axes`
    (3N, 3) are the bodies' axes in the world, three rows for each.
    """
    kinds, sizes, bounds = outsides.kind, outsides.size, outsides.bound
    far, near = outsides.reach, 0.3 * outsides.reach
    for f in range(count):
        n = get3(normals, f)
        middle = axpy(0.5 * far, n, get3(points, f))
        d0, d1 = near, far
        for k in range(counts[tiles[f]]):
            body = lists[tiles[f], k]
            c = sub(middle, get3(position, body))
            limit = bounds[body] + 0.5 * far
            if dot(c, c) > limit * limit or body == owners[f]:
                continue
            x, y, z = get3(axes, 3 * body), get3(axes, 3 * body + 1), get3(axes, 3 * body + 2)
            c, up = (dot(x, c), dot(y, c), dot(z, c)), (dot(x, n), dot(y, n), dot(z, n))
            size = get3(sizes, body)
            d0 = min(d0, sized_field(kinds[body], size, axpy(near - 0.5 * far, up, c))[0])
            d1 = min(d1, sized_field(kinds[body], size, axpy(0.5 * far, up, c))[0])
        hidden0, hidden1 = 1.0 - max(d0, 0.0) / near, 1.0 - max(d1, 0.0) / far
        opened[f] = 1.0 - OPEN_STRENGTH * 0.5 * (hidden0 * hidden0 + hidden1 * hidden1)


@kernel
def coarsen(depth, window, cells, coarse):
    """The highest surface near each cell of COARSE x COARSE texels, as far as blockers are looked for.

    There is something in the map only within a window; `coarse` is not written far from it, and `cells` is room.
    """
    size, reach = len(cells), math.ceil(SEARCH / COARSE)
    top, bottom = window[0] // COARSE, (window[1] + COARSE - 1) // COARSE
    left, right = window[2] // COARSE, (window[3] + COARSE - 1) // COARSE
    for row in range(top, bottom):
        for column in range(left, right):
            highest = np.float32(-np.inf)
            for i in range(row * COARSE, (row + 1) * COARSE):
                for j in range(column * COARSE, (column + 1) * COARSE):
                    highest = max(highest, depth[i, j])
            cells[row, column] = highest
    before, after = max(left - reach, 0), min(right + reach, size)
    for row in range(max(top - reach, 0), min(bottom + reach, size)):
        for column in range(before, after):
            highest = np.float32(-np.inf)
            for i in range(max(row - reach, top), min(row + reach + 1, bottom)):
                for j in range(max(column - reach, left), min(column + reach + 1, right)):
                    highest = max(highest, cells[i, j])
            coarse[row, column] = highest


def bodies_by_tile(outsides: Outsides, seen: Any, focal: float, size: tuple[int, int]) -> tuple[Any, Any]:
    """For each tile of the picture, row by row, how many bodies may darken something seen in it, and which.

    `seen` (N, 3) are the bodies' pixel coordinates and distances.
    """
    rows, columns = tiles_of(size)
    counts, lists = np.zeros((rows, columns), np.int32), np.empty((rows, columns, len(seen)), np.int32)
    for body in range(len(seen)):
        down, across = tiles_near(outsides, body, seen[body], focal)
        row, column = np.arange(rows)[down, None], np.arange(columns)[across]
        lists[row, column, counts[row, column]] = body
        counts[row, column] += 1
    return counts.ravel(), lists.reshape(rows * columns, -1)


def tiles_of(size: tuple[int, int]) -> tuple[int, int]:
    """How many rows and columns of tiles a picture has."""
    return math.ceil(size[1] / TILE), math.ceil(size[0] / TILE)


def tiles_near(outsides: Outsides, body: int, seen: Any, focal: float) -> tuple[slice, slice]:
    """The rows and columns of tiles in which a body may darken something; `seen` is where it is seen, how far off."""
    x, y, distance = seen
    radius = outsides.bound[body] + outsides.reach
    if outsides.kind[body] == FIELD_NONE or not distance > -radius:  # behind the camera, or lost (NaN)
        return slice(0), slice(0)
    if distance <= 1.05 * radius:
        return slice(None), slice(None)
    span = focal * radius / (distance - radius)  # generous: the scale of the sphere's nearest point
    down = slice(max(0, int((y - span) / TILE)), max(0, int((y + span) / TILE) + 1))
    return down, slice(max(0, int((x - span) / TILE)), max(0, int((x + span) / TILE) + 1))
