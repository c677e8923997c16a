"""Surfaces that a jointed point slides on: signed distance (negative inside) and normal, in the surface's own frame."""

import math

from impel.kernel import kernel
from impel.motion.rotations import dot

PLANE, SPHERE, BOX, CYLINDER, CAPSULE = range(5)
SURFACES = ("plane", "sphere", "box", "cylinder", "capsule")


@kernel(inline=True)
def _corner(x, y, z, edge):
    """Distance and normal from how far a point is beyond each face of a solid whose edges have this radius."""
    ox, oy, oz = max(x + edge, 0.0), max(y + edge, 0.0), max(z + edge, 0.0)
    outside = math.sqrt(ox * ox + oy * oy + oz * oz)
    if outside > 0.0:
        return outside - edge, ox / outside, oy / outside, oz / outside
    if x >= y and x >= z:
        return x, 1.0, 0.0, 0.0
    if y >= z:
        return y, 0.0, 1.0, 0.0
    return z, 0.0, 0.0, 1.0


@kernel
def distance_to_surface(surfaces, k, size, p):
    """Signed distance and its gradient; `size` holds half sizes or radii, then the radius of the edges."""
    surface = surfaces[k]
    if surface == PLANE:
        return p[2], (0.0, 0.0, 1.0)
    if surface == BOX:
        d, x, y, z = _corner(abs(p[0]) - size[0], abs(p[1]) - size[1], abs(p[2]) - size[2], size[3])
        return d, (math.copysign(x, p[0]), math.copysign(y, p[1]), math.copysign(z, p[2]))
    if surface == CYLINDER:
        r = math.hypot(p[0], p[1])
        d, out, along, _ = _corner(r - size[0], abs(p[2]) - size[1], -math.inf, size[3])
        x, y = (p[0] / r, p[1] / r) if r > 0.0 else (1.0, 0.0)
        return d, (out * x, out * y, math.copysign(along, p[2]))
    z = p[2]
    if surface == CAPSULE:
        z -= min(max(z, -size[1]), size[1])
    v = (p[0], p[1], z)
    r = math.sqrt(dot(v, v))
    if r > 0.0:
        return r - size[0], (p[0] / r, p[1] / r, z / r)
    return -size[0], (1.0, 0.0, 0.0)
