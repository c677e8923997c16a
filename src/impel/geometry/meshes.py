"""Triangle meshes of every shape, for drawing and export: closed, counter-clockwise from outside, unit normals.

Edges of boxes and cylinders are rounded a little: a sharp edge catches no light, and piled boxes would look
like one. Physics knows nothing of these roundings.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.files import Problem
from impel.geometry.baking import bake
from impel.geometry.kinds import KINDS

Floats = NDArray[np.float64]
Mesh = tuple[Floats, Floats, NDArray[np.int32]]  # vertices (V, 3), normals (V, 3), triangles (T, 3)

BEVEL = 0.04  # of the smallest side: enough to catch a highlight, too little to look rounded
BEVEL_STEPS = 3  # per quarter turn
MARK = 0.72  # how much light the second tone of balls and wheels reflects, compared with the first
EXACT = 128  # sides of round parts of compounds: volumes are right to 0.1 %
PLANE_SIDE = 20.0  # m; a plane has no end, its mesh has


def surfaces_of(shape: dict[str, Any]) -> dict[str, Floats]:
    """What a take keeps of a mesh, a hull or a compound, by name: its light mesh, and its colours if it has any."""
    baked = bake(shape)
    kept = {"vertices": baked.vertices, "normals": baked.normals, "triangles": baked.triangles.astype(float)}
    if len(baked.colors):
        kept["colors"] = baked.colors
    return {f"{baked.key}.{name}": array for name, array in kept.items()}


def drawn_as(shape: dict[str, Any], painted: bool) -> dict[str, Any]:
    """How a take names a mesh that it keeps; `painted` in the mesh's own colours."""
    baked = bake(shape)
    return {"mesh": {"surface": baked.key, "painted": painted and len(baked.colors) > 0}}


def colors_of(shape: dict[str, Any], surfaces: dict[str, Floats]) -> Floats | None:
    """(V, 3) the colours of a mesh's vertices, as light, where it is painted in its own."""
    mesh = shape.get("mesh")
    if not isinstance(mesh, dict) or not mesh.get("painted"):
        return None
    return surfaces.get(f"{mesh['surface']}.colors")


def mesh_of(
    shape: dict[str, Any],
    *,
    segments: int = 48,
    bevel_steps: int = BEVEL_STEPS,
    surfaces: dict[str, Floats] | None = None,
) -> Mesh:
    """The mesh of a shape as written in a scene, e.g. `{"sphere": 0.2}`; round things get `segments` sides, edges are
    rounded in so many `bevel_steps`, with 1 not at all. Those of meshes in a take are among its `surfaces`."""
    kind: str
    size: Any
    kind, size = next(iter(shape.items()), ("nothing", None))
    if kind == "sphere":
        return _revolved(_arc(float(size), 0.0, 0.0, 180.0, segments // 2), segments)
    if kind == "box":
        return _box(np.asarray(size, float) / 2, bevel_steps)
    if kind == "capsule":
        radius, half = float(size["radius"]), float(size["length"]) / 2
        caps = [_arc(radius, half, 0.0, 90.0, segments // 4), _arc(radius, -half, 90.0, 180.0, segments // 4)]
        return _revolved(np.concatenate(caps), segments)
    if kind == "cylinder":
        return _revolved(_cylinder_profile(float(size["radius"]), float(size["length"]) / 2, bevel_steps), segments)
    if kind == "plane":
        corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * (PLANE_SIDE / 2)
        return corners, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    if kind == "blob":
        from impel.geometry.blobs import blob_mesh

        vertices, normals, triangles = blob_mesh(size)
        if len(triangles) == 0 or not (np.isfinite(vertices).all() and np.isfinite(normals).all()):
            raise Problem("shape: blob: is too thin to be drawn")
        return np.asarray(vertices, float), np.asarray(normals, float), np.asarray(triangles, np.int32)
    if kind == "mesh" and "surface" in size:
        kept = [(surfaces or {})[f"{size['surface']}.{name}"] for name in ("vertices", "normals", "triangles")]
        return kept[0], kept[1], kept[2].astype(np.int32)
    if kind in ("mesh", "convex", "compound"):
        baked = bake(shape)
        return baked.vertices, baked.normals, baked.triangles
    raise Problem(f"shape: {kind}: unknown, expected {', '.join(KINDS)}")


def limb_mesh(radius: float, last: float, length: float, segments: int) -> Mesh:
    """A ball at the upper end of a line along z, another at its lower end, and the cone that touches both."""
    if abs(last - radius) >= length:  # one ball holds the other
        center = length / 2 if radius > last else -length / 2
        return _revolved(_arc(max(radius, last), center, 0.0, 180.0, segments // 2), segments)
    brim = float(np.degrees(np.arccos((last - radius) / length)))  # where the cone touches, from the upper pole
    ends = [_arc(radius, length / 2, 0.0, brim, segments // 4), _arc(last, -length / 2, brim, 180.0, segments // 4)]
    return _revolved(np.concatenate(ends), segments)


def exact_mesh(shape: dict[str, Any]) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and triangles of a plain shape without the roundings of edges: what compounds are made of."""
    (kind, size), *_ = shape.items()
    if kind == "box":
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size) / 2
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int64)
    if kind == "cylinder":
        r, half = float(size["radius"]), float(size["length"]) / 2
        profile = np.array([[0.0, half], [r, half], [r, -half], [0.0, -half]])
        vertices, _, triangles = _revolved(np.concatenate([profile, np.zeros((4, 2))], axis=1), EXACT)
    else:
        vertices, _, triangles = mesh_of(shape, segments=EXACT)
    return vertices, triangles.astype(np.int64)


def marks_of(shape: dict[str, Any], mesh: Mesh) -> NDArray[np.bool_]:
    """Which triangles wear a second tone, so that a turning ball or wheel is seen to turn."""
    vertices, _, triangles = mesh
    middle = vertices[triangles].mean(axis=1)
    if "sphere" in shape:
        return np.prod(middle, axis=1) > 0
    if "cylinder" in shape:
        return middle[:, 0] * middle[:, 1] > 0
    return np.zeros(len(triangles), bool)


def _arc(radius: float, z: float, start: float, end: float, steps: int, out: float = 0.0) -> Floats:
    """A profile (radius, z, normal outward, normal up) along a circle about (out, z); degrees from the +z axis."""
    angle = np.radians(np.linspace(start, end, steps + 1))
    # Poles are exactly on the axis: `_revolved` tells them by it.
    sine = np.where(np.isin(np.linspace(start, end, steps + 1), (0.0, 180.0)), 0.0, np.sin(angle))
    cosine = np.cos(angle)
    return np.stack([out + radius * sine, z + radius * cosine, sine, cosine], axis=-1)


def _cylinder_profile(radius: float, half: float, steps: int) -> Floats:
    bevel = BEVEL * 2 * min(radius, half)
    inner, top = radius - bevel, half - bevel
    return np.concatenate(
        [
            [[0.0, half, 0.0, 1.0]],
            _arc(bevel, top, 0.0, 90.0, steps, out=inner),
            _arc(bevel, -top, 90.0, 180.0, steps, out=inner),
            [[0.0, -half, 0.0, -1.0]],
        ]
    )


def _revolved(profile: Floats, segments: int) -> Mesh:
    """A profile from top to bottom, turned about z."""
    angle = 2 * np.pi * np.arange(segments) / segments
    around = np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def turned(outward: Floats, up: Floats) -> Floats:
        flat = outward[:, None, None] * around
        return np.concatenate([flat, np.broadcast_to(up[:, None, None], (*flat.shape[:2], 1))], axis=-1).reshape(-1, 3)

    ring, k = np.meshgrid(np.arange(len(profile) - 1), np.arange(segments), indexing="ij")
    after = (k + 1) % segments
    a, d = ring * segments + k, ring * segments + after
    b, c = a + segments, d + segments
    on_axis = profile[:, 0] == 0.0
    lower = np.stack([a, b, c], axis=-1)[~on_axis[1:]]  # at the bottom pole b and c are one point
    upper = np.stack([a, c, d], axis=-1)[~on_axis[:-1]]
    triangles = np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)]).astype(np.int32)
    return turned(profile[:, 0], profile[:, 1]), turned(profile[:, 2], profile[:, 3]), triangles


def _box(half: Floats, steps: int) -> Mesh:
    bevel = BEVEL * 2 * float(half.min()) if steps > 1 else 0.0
    inner = half - bevel
    # Each face runs over its half of the rounding on both sides; the flat part lies between the two zeros.
    angle = np.radians(np.linspace(0.0, -45.0, steps)[::-1])
    tilt = np.tan(np.concatenate([angle, -angle[::-1]]))
    side = np.repeat([-1.0, 1.0], steps)
    n = len(tilt)
    row, column = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = (row * n + column).ravel()
    quads = np.concatenate([np.stack([a, a + n, a + n + 1], -1), np.stack([a, a + n + 1, a + 1], -1)])
    vertices: list[Floats] = []
    normals: list[Floats] = []
    triangles: list[NDArray[np.int64]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = ((axis + 1) % 3, (axis + 2) % 3) if sign > 0 else ((axis + 2) % 3, (axis + 1) % 3)
            normal, corner = np.empty((n, n, 3)), np.empty((n, n, 3))
            normal[..., axis] = corner[..., axis] = sign
            normal[..., u], normal[..., v] = tilt[:, None], tilt[None, :]
            corner[..., u], corner[..., v] = side[:, None], side[None, :]
            normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
            triangles.append(quads + len(vertices) * n * n)
            vertices.append((corner * inner + normal * bevel).reshape(-1, 3))
            normals.append(normal.reshape(-1, 3))
    return np.concatenate(vertices), np.concatenate(normals), np.concatenate(triangles).astype(np.int32)
