"""Surfaces of balls and limbs, each in its own colour: how things look that touch with plainer shapes."""

import hashlib
import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from impel.geometry.meshes import Mesh, limb_mesh
from impel.takes.looks import Look, Point
from impel.takes.take import Floats, linear_color

SIDES = 24  # of what is round
COS, SIN = np.cos(np.pi / SIDES), np.sin(np.pi / SIDES)  # half a side: so no vertex but the poles lies between halves


class Piece(NamedTuple):
    """A ball, or a limb between two points that may narrow, in the frame of its body and in metres."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float
    last: float  # the radius at its end
    wide: float  # by which it is stretched along y
    color: str


def pieces_of(part: Look, color: str, middle: Point = (0.0, 0.0)) -> list[Piece]:
    """What is seen of a part, as drawn around the middle of its body; on both sides if it says so."""
    first, end = part.start, part.end or part.start
    last = part.radius if part.narrows_to is None else part.narrows_to
    return [
        Piece(
            (first[0] - middle[0], y, first[1] - middle[1]), (end[0] - middle[0], y, end[1] - middle[1]),
            part.radius, last, part.wide, part.color or color,
        )
        for y in ([part.aside, -part.aside] if part.both else [part.aside])
    ]  # fmt: skip


def surface_of(pieces: tuple[Piece, ...]) -> tuple[dict[str, Any], dict[str, Floats]]:
    """A shape and the surfaces that go with it, as takes keep painted meshes."""
    key = "pieces-" + hashlib.sha256(json.dumps(pieces).encode()).hexdigest()[:16]
    (vertices, normals, triangles), colors = painted_mesh(pieces)
    kept = {"vertices": vertices, "normals": normals, "triangles": triangles.astype(float), "colors": colors}
    return {"mesh": {"surface": key, "painted": True}}, {f"{key}.{name}": array for name, array in kept.items()}


@lru_cache(maxsize=64)
def painted_mesh(pieces: tuple[Piece, ...]) -> tuple[Mesh, Floats]:
    """One mesh of all of them, and its vertices' colours as light (V, 3)."""
    meshes = [_mesh(piece) for piece in pieces]
    first = np.cumsum([0, *(len(vertices) for vertices, _, _ in meshes)])
    colors = [np.tile(linear_color(piece.color), (len(mesh[0]), 1)) for piece, mesh in zip(pieces, meshes)]
    vertices, normals = (np.concatenate([mesh[k] for mesh in meshes]) for k in (0, 1))
    triangles = np.concatenate([mesh[2] + start for mesh, start in zip(meshes, first)]).astype(np.int32)
    return (vertices, normals, triangles), np.concatenate(colors)


def _mesh(piece: Piece) -> Mesh:
    start, end = np.array(piece.start), np.array(piece.end)
    length = float(np.linalg.norm(start - end))
    vertices, normals, triangles = limb_mesh(piece.radius, piece.last, length, SIDES)
    up = (start - end) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    beside = np.cross([0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [1.0, 0.0, 0.0], up)
    beside /= np.linalg.norm(beside)
    across = np.cross(up, beside)
    axes = np.array([COS * beside + SIN * across, COS * across - SIN * beside, up])
    vertices, normals = vertices @ axes, normals @ axes
    # Halves are moved apart; what lies between them is a flat band, and the poles stay in the middle.
    vertices[:, 1] += piece.wide / 2 * np.where(np.abs(normals[:, 1]) < 1e-9, 0.0, np.sign(normals[:, 1]))
    return vertices + (start + end) / 2, normals, triangles
