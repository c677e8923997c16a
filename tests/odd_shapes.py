"""Meshes of odd things, made by code, and how to look at where they are."""

import manifold3d
import numpy as np
import trimesh

from impel.geometry.baking import bake
from impel.motion.orientations import matrix_from_quaternion


def gear(radius=0.1, teeth=12, depth=0.025, thick=0.04, hole=0.03):
    outline = []
    for k in range(teeth):
        for share, r in ((-0.25, radius - depth), (-0.14, radius), (0.14, radius), (0.25, radius - depth)):
            angle = 2 * np.pi * (k + share) / teeth
            outline.append([r * np.cos(angle), r * np.sin(angle)])
    rim = -np.linspace(0, 2 * np.pi, 24, endpoint=False)
    inner = hole * np.stack([np.cos(rim), np.sin(rim)], -1)
    flat = manifold3d.CrossSection([np.array(outline), inner])
    mesh = manifold3d.Manifold.extrude(flat, thick).translate([0, 0, -thick / 2]).to_mesh()
    return trimesh.Trimesh(mesh.vert_properties[:, :3], mesh.tri_verts)


def cup(radius=0.1, height=0.2, wall=0.014):
    foot = 0.8 * radius
    profile = [[0, 0], [foot, 0], [radius, height], [radius - wall, height], [foot - wall, wall], [0, wall]]
    return trimesh.creation.revolve(np.array(profile), sections=48)


def torus():
    return trimesh.creation.torus(0.1, 0.035, major_sections=64, minor_sections=32)


def box(side=0.2):
    return trimesh.creation.box([side] * 3)


def animal():
    """A blob with legs, ears and a tail, as a mesh of 10 000 triangles."""
    from impel.geometry.blobs import blob_mesh

    def pair(start, end, radius):
        return [
            {"from": [start[0], y * start[1], start[2]], "to": [end[0], y * end[1], end[2]], "radius": radius}
            for y in (-1, 1)
        ]

    blob = {
        "points": [{"at": [0, 0, 0], "radius": 0.09}, {"at": [0.12, 0, 0.07], "radius": 0.06}],
        "segments": [
            *pair([0.06, 0.05, -0.02], [0.07, 0.06, -0.14], 0.025),
            *pair([-0.06, 0.05, -0.02], [-0.07, 0.06, -0.14], 0.025),
            *pair([0.12, 0.03, 0.11], [0.11, 0.05, 0.17], 0.014),
            {"from": [-0.09, 0, 0.02], "to": [-0.16, 0, 0.08], "radius": 0.014},
        ],
        "blend": 0.03,
    }
    vertices, _, triangles = blob_mesh(blob)
    return trimesh.Trimesh(vertices, triangles, process=False)


ALL = {"box": box, "gear": gear, "cup": cup, "torus": torus, "animal": animal}


def written(folder, name):
    """The file of one of these, written once."""
    path = folder / f"{name}.obj"
    if not path.exists():
        ALL[name]().export(path)
    return str(path)


def places(take, scene, name, frame):
    """Where the vertices of a mesh are in a frame."""
    i, mesh = take.index(name), bake(scene.bodies[name].shape.to_document())
    return mesh.vertices @ matrix_from_quaternion(take.orientation[frame, i]).T + take.position[frame, i]


def speed(take, scene, name):
    """How fast any vertex of it moved in the last half second, in m/s."""
    back = round(take.fps / 2)
    way = places(take, scene, name, -1) - places(take, scene, name, -1 - back)
    return float(np.linalg.norm(way, axis=1).max()) * take.fps / back
