"""Meshes that the gallery makes by itself: gears, cups, rings."""

from pathlib import Path
from typing import Any

import numpy as np

MODULE = 0.0146  # m: pitch diameter of a gear over its number of teeth


def write_mesh(solid: Any, path: Path) -> str:
    """Write a manifold3d solid as .obj, and return its name for a scene."""
    mesh = solid.to_mesh64()
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.vert_properties[:, :3]]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.tri_verts]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def gear(teeth: int, thick: float = 0.04) -> Any:
    """A spur gear with straight flanks, a tooth along x, and room for others of the same module."""
    import manifold3d

    pitch = MODULE * teeth / 2
    outline = []
    for k in range(teeth):
        for share, height in ((-0.3, -0.95), (-0.13, 0.75), (0.13, 0.75), (0.3, -0.95)):
            angle = 2 * np.pi * (k + share) / teeth
            outline.append((pitch + height * MODULE) * np.array([np.cos(angle), np.sin(angle)]))
    around = -np.linspace(0, 2 * np.pi, 32, endpoint=False)
    bore = 0.3 * pitch * np.stack([np.cos(around), np.sin(around)], -1)
    flat = manifold3d.CrossSection([np.array(outline), bore])
    return manifold3d.Manifold.extrude(flat, thick).translate([0, 0, -thick / 2])


def cup(radius: float = 0.1, height: float = 0.2, wall: float = 0.014) -> Any:
    """A cup that stands on z = 0."""
    import manifold3d

    foot = 0.8 * radius
    profile = [[0, 0], [foot, 0], [radius, height], [radius - wall, height], [foot - wall, wall], [0, wall]]
    return manifold3d.Manifold.revolve(manifold3d.CrossSection([np.array(profile)]), 48)


def ring(radius: float = 0.1, thick: float = 0.035) -> Any:
    """A torus about z."""
    import manifold3d

    circle = manifold3d.CrossSection.circle(thick, 32).translate([radius, 0])
    return manifold3d.Manifold.revolve(circle, 64)
