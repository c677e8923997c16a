"""From visible triangles to colours: a soft sun, a sky, and a floor that fades into the horizon.

All light is linear; `EXPOSED` bends the brightest part and encodes sRGB at the very end.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from impel.kernel import kernel
from impel.motion.rotations import add, axpy, cross, dot, get3, scale, set3, sub
from impel.render.light import TILE, Outsides, Vector

# Light reaching a surface, per colour; a white floor in the sun comes out just below white.
SUN = (1.02, 0.97, 0.88)
SKY = (0.36, 0.40, 0.46)
BOUNCE = (0.25, 0.23, 0.21)  # from the floor, on what faces down
HORIZON = (0.780, 0.805, 0.830)  # the floor fades into this, and the sky rises from it
ZENITH = (0.430, 0.560, 0.700)
GLOSS = 0.22  # strength of the sun's highlight
SHEEN = 0.28  # how much sky is mirrored at grazing angles
CHECKER = 0.07  # contrast of the floor's squares
FADE = 4.5  # of the action's radius: where an endless floor is half gone


def _exposed() -> Any:
    """8-bit sRGB for linear light from 0 to 2, the part above 0.8 bent so that it never quite clips."""
    light = np.arange(8192) / 4096
    bent = np.where(light < 0.8, light, 0.8 + 0.2 * (1 - np.exp(-(light - 0.8) / 0.2)))
    encoded = np.where(bent <= 0.0031308, 12.92 * bent, 1.055 * bent ** (1 / 2.4) - 0.055)
    return np.round(255 * encoded).astype(np.uint8)


EXPOSED = _exposed()


class View(NamedTuple):
    """A camera: where it is, which way it looks, and how many pixels make one unit at distance one."""

    eye: Vector
    right: Vector
    up: Vector
    forward: Vector
    middle: Vector  # of the action
    focal: float
    width: int
    height: int


class Paint(NamedTuple):
    """What each triangle and body looks like."""

    body: Any  # (T,) which body a triangle belongs to
    first: Any  # (N + 1,) first triangle of each body
    color: Any  # (T,) row of `colors`
    colors: Any  # (C, 3) linear
    opacity: Any  # (T,) 1, or less for glass
    floor: Any  # (N,) body is a floor: chequered
    endless: Any  # (N,) ... and fades into the horizon
    radius: float  # m, of the action
    square: float  # m, side of a floor's square


class World(NamedTuple):
    """Everything that can be seen in one frame, where it is."""

    vertices: Any  # (V, 3)
    normals: Any
    triangles: Any  # (T, 3)
    position: Any  # (N, 3) of the bodies
    axes: Any  # (3N, 3) of the bodies, three rows for each
    paint: Paint
    outsides: Outsides


class Fragments(NamedTuple):
    """The pieces of a patch of the picture: every triangle seen in a pixel is one, lit once for all its samples."""

    pixel: Any  # (M,) row by row, within the patch
    triangle: Any  # (M,) -1 is the sky
    share: Any  # (M,) of the pixel
    tile: Any  # (M,)
    ray: Any  # (M, 3) from the eye, one unit deep
    point: Any  # (M, 3)
    normal: Any  # (M, 3) as if smooth
    facet: Any  # (M, 3) of the triangle
    owner: Any  # (M,) body
    color: Any  # (M, 3) what it reflects; of the sky, what it shines
    fade: Any  # (M,) how far gone into the horizon
    lit: Any  # (M,) share of the sun
    open: Any  # (M,) share of the sky


class Sheet(NamedTuple):
    """What becomes of the patches."""

    picture: Any  # (height, width, 3)
    nearness: Any  # (height, width) one over the distance of what is seen in the middle of a pixel
    veil: Any  # (height, width) how opaque the glass is that is seen, 0 where there is none
    sunned: Any  # (tiles, 4) within which texels of the sun's map lies what is seen; or no rows if nobody asks


def blank(size: tuple[int, int], tiles: int = 0) -> Sheet:
    width, height = size
    nothing = np.tile(np.array([np.inf, -np.inf, np.inf, -np.inf]), (tiles, 1))
    singles = np.empty((2, height, width), np.float32)
    return Sheet(np.empty((height, width, 3), np.uint8), singles[0], singles[1], nothing)


def copied(sheet: Sheet) -> Sheet:
    return Sheet(sheet.picture.copy(), sheet.nearness.copy(), sheet.veil.copy(), sheet.sunned[:0])


@kernel
def collect(ids, samples, patch, view, fragments):
    """Sort the samples of a patch into fragments; return their number."""
    pixel, triangle, share = fragments.pixel, fragments.triangle, fragments.share
    tile, rays = fragments.tile, fragments.ray
    columns = (view.width + TILE - 1) // TILE
    top, bottom, left, right = patch[0], patch[1], patch[2], patch[3]
    wide = 1.0 / view.focal
    count = 0
    for row in range(top, bottom):
        for column in range(left, right):
            first = count
            down, across = (row - top) * samples, (column - left) * samples
            one = ids[down, across]
            mixed = False
            for i in range(down, down + samples):
                for j in range(across, across + samples):
                    mixed |= ids[i, j] != one
            if not mixed:  # the usual case, worth being quick about
                count += 1
                triangle[first], share[first] = one, 1.0
                sideways, up = (column + 0.5 - 0.5 * view.width) * wide, (0.5 * view.height - row - 0.5) * wide
                set3(rays, first, axpy(sideways, view.right, axpy(up, view.up, view.forward)))
            else:
                for i in range(samples):
                    for j in range(samples):
                        f = first
                        while f < count and triangle[f] != ids[down + i, across + j]:
                            f += 1
                        if f == count:
                            count += 1
                            triangle[f], share[f] = ids[down + i, across + j], 0.0
                            rays[f, 0] = rays[f, 1] = 0.0
                        share[f] += 1.0
                        rays[f, 0] += column * samples + j + 0.5
                        rays[f, 1] += row * samples + i + 0.5
                for f in range(first, count):  # the ray goes through the middle of the samples it stands for
                    middle = 1.0 / (share[f] * samples)
                    sideways = (rays[f, 0] * middle - 0.5 * view.width) * wide
                    up = (0.5 * view.height - rays[f, 1] * middle) * wide
                    set3(rays, f, axpy(sideways, view.right, axpy(up, view.up, view.forward)))
                    share[f] /= samples * samples
            for f in range(first, count):
                pixel[f] = (row - top) * (right - left) + column - left
                tile[f] = row // TILE * columns + column // TILE
    return count


@kernel(inline=True)
def _mix(a, b, share):
    return axpy(share, sub(b, a), a)


@kernel(inline=True)
def _sky(up):
    """The background in a direction that rises by `up`."""
    share = min(max(1.6 * up, 0.0), 1.0)
    return _mix(HORIZON, ZENITH, share * (2.0 - share))


@kernel(inline=True)
def _triangle_wave(x):
    """The integral of the square wave that is 1 on [0, 1) and -1 on [1, 2)."""
    x = x - 2.0 * np.floor(0.5 * x)  # of floats: math.floor makes whole numbers on the way
    return min(x, 2.0 - x)


@kernel(inline=True)
def _squares(x, y, wide_x, wide_y):
    """A checker pattern averaged over a footprint: -1 to 1, no flicker where squares are smaller than pixels."""
    wide_x, wide_y = max(wide_x, 1e-3), max(wide_y, 1e-3)
    a = _triangle_wave(x + 0.5 * wide_x) - _triangle_wave(x - 0.5 * wide_x)
    b = _triangle_wave(y + 0.5 * wide_y) - _triangle_wave(y - 0.5 * wide_y)
    return a * b / (wide_x * wide_y)


@kernel
def locate(count, fragments, vertices, normals, triangles, paint, view):
    """Where on its triangle each fragment lies, which way that faces and what colour it has."""
    rays, points, owner, fades = fragments.ray, fragments.point, fragments.owner, fragments.fade
    triangle, smooth, facets, reflected = fragments.triangle, fragments.normal, fragments.facet, fragments.color
    bodies, colors, color, floor, endless = paint.body, paint.colors, paint.color, paint.floor, paint.endless
    squares = 1.0 / paint.square
    faded = 1.0 / (FADE * paint.radius) ** 2
    before, i, j, k, away = -1, 0, 0, 0, 0.0
    a = flat = along_b = along_c = (0.0, 0.0, 0.0)
    for f in range(count):
        ray = get3(rays, f)
        t = triangle[f]
        if t < 0:
            fades[f] = 1.0
            set3(reflected, f, _sky(ray[2] / math.sqrt(dot(ray, ray))))
            # Any point will do, far from everything.
            owner[f] = -1
            set3(points, f, (1e9, 1e9, 1e9))
            set3(smooth, f, (0.0, 0.0, 1.0))
            set3(facets, f, (0.0, 0.0, 1.0))
            continue
        if t != before:  # neighbours are often on the same one
            i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            a = get3(vertices, i)
            ab, ac = sub(get3(vertices, j), a), sub(get3(vertices, k), a)
            flat = cross(ab, ac)
            area = 1.0 / math.sqrt(dot(flat, flat))
            flat = scale(flat, area)
            along_b, along_c = scale(cross(ac, flat), area), scale(cross(flat, ab), area)
            away = dot(flat, sub(a, view.eye))
            before = t
        distance = away / min(dot(flat, ray), -1e-9)
        p = axpy(distance, ray, view.eye)
        ap = sub(p, a)
        v, w = min(max(dot(ap, along_b), 0.0), 1.0), min(max(dot(ap, along_c), 0.0), 1.0)
        n = add(scale(get3(normals, i), max(1.0 - v - w, 0.0)), axpy(v, get3(normals, j), scale(get3(normals, k), w)))
        body = bodies[t]
        shown, fade = get3(colors, color[t]), 0.0
        if floor[body] and flat[2] > 0.5:
            # The footprint of a pixel on the floor, from how fast the ray's foot moves across it.
            pixel = distance / view.focal
            lean = pixel / max(-dot(flat, ray), 1e-4)
            over_x, over_y = dot(flat, view.right) * lean, dot(flat, view.up) * lean
            wide_x = abs(pixel * view.right[0] + over_x * ray[0]) + abs(pixel * view.up[0] + over_y * ray[0])
            wide_y = abs(pixel * view.right[1] + over_x * ray[1]) + abs(pixel * view.up[1] + over_y * ray[1])
            pattern = _squares(p[0] * squares, p[1] * squares, wide_x * squares, wide_y * squares)
            shown = scale(shown, 1.0 + CHECKER * pattern)
        if endless[body]:
            out = sub(p, view.middle)
            fade = dot(out, out) * faded
            fade = fade / (1.0 + fade)
            fade = fade * fade * (3.0 - 2.0 * fade)
        owner[f], fades[f] = body, fade
        set3(points, f, p)
        set3(smooth, f, scale(n, 1.0 / math.sqrt(dot(n, n))))
        set3(facets, f, flat)
        set3(reflected, f, shown)


@kernel
def compose(count, fragments, paint, sun, patch, light, sheet):
    """Add up what every fragment sends to the eye, into the patch of the picture; `light` is room to work in."""
    triangle, pixel, share, rays = fragments.triangle, fragments.pixel, fragments.share, fragments.ray
    normals, colors, fades, lits, opens = (
        fragments.normal,
        fragments.color,
        fragments.fade,
        fragments.lit,
        fragments.open,
    )
    owner, endless, opacity = fragments.owner, paint.endless, paint.opacity
    picture, veil = sheet.picture, sheet.veil
    top, left = patch[0], patch[2]
    rows, columns = patch[1] - top, patch[3] - left
    for i in range(rows * columns):
        light[i, 0] = light[i, 1] = light[i, 2] = light[i, 3] = 0.0
        veil[top + i // columns, left + i % columns] = 0.0
    for f in range(count):
        color = get3(colors, f)
        if triangle[f] >= 0:
            ray, n, lit, opened = get3(rays, f), get3(normals, f), lits[f], opens[f]
            ray = scale(ray, 1.0 / math.sqrt(dot(ray, ray)))
            facing = max(dot(n, sun.towards), 0.0)
            facing *= min(4.0 * facing, 1.0)  # out gently: where light grazes, a mesh's facets would show
            arriving = axpy(lit * facing, SUN, scale(_mix(BOUNCE, SKY, 0.5 + 0.5 * n[2]), opened))
            color = color[0] * arriving[0], color[1] * arriving[1], color[2] * arriving[2]
            if not endless[owner[f]]:
                half = sub(sun.towards, ray)
                shine = max(dot(n, half), 0.0) / math.sqrt(dot(half, half) + 1e-9)
                for _ in range(5):  # to the 32nd power
                    shine *= shine
                color = axpy(GLOSS * lit * shine * min(8.0 * facing, 1.0), SUN, color)
                across = min(max(-dot(n, ray), 0.0), 1.0)
                grazing = (1.0 - across) ** 5
                color = axpy(SHEEN * grazing * opened, _sky(ray[2] + 2.0 * across * n[2]), color)
            color = _mix(color, HORIZON, fades[f])
            if opacity[triangle[f]] < 1.0:
                light[pixel[f], 3] += share[f]
                veil[top + pixel[f] // columns, left + pixel[f] % columns] += share[f] * opacity[triangle[f]]
        for k in range(3):
            light[pixel[f], k] += share[f] * color[k]
    for row in range(rows):
        for column in range(columns):
            for k in range(3):
                bright = light[row * columns + column, k]
                # Written so that NaN is black: as an index it would be anything.
                exposed = EXPOSED[int(min(bright, 1.999) * 4096.0) if bright > 0.0 else 0]
                picture[top + row, left + column, k] = exposed
            if light[row * columns + column, 3] > 0.0:
                veil[top + row, left + column] /= light[row * columns + column, 3]
