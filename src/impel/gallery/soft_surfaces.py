"""What can be measured of soft surfaces in a take, with closed forms of the plain shapes."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.motion.orientations import matrix_from_quaternion
from impel.takes import Take
from impel.takes.soft import soft_bodies, surface_at

Floats = NDArray[np.float64]

NEIGHBOURS = 24  # triangles that are looked at for the one that is nearest


def distance(shape: dict[str, Any], points: Floats) -> Floats:
    """From points to the surface of a plain shape, in its own frame; negative inside."""
    kind, size = next(iter(shape.items()))
    if kind == "plane":
        return points[:, 2]
    if kind == "sphere":
        return np.linalg.norm(points, axis=1) - size
    if kind == "capsule":
        along = np.clip(points[:, 2], -size["length"] / 2, size["length"] / 2)
        return np.linalg.norm(points - along[:, None] * [0, 0, 1], axis=1) - size["radius"]
    if kind == "cylinder":
        wide = np.hypot(points[:, 0], points[:, 1]) - size["radius"]
        off = np.stack([wide, np.abs(points[:, 2]) - size["length"] / 2], axis=1)
    else:
        off = np.abs(points) - np.asarray(size) / 2
    return np.linalg.norm(np.maximum(off, 0), axis=1) + np.minimum(off.max(axis=1), 0)


def in_world(take: Take, name: str, frame: int, points: Floats) -> Floats:
    i = take.index(name)
    return points @ matrix_from_quaternion(take.orientation[frame, i]).T + take.position[frame, i]


def field(take: Take, name: str, frame: int, points: Floats) -> Floats:
    """How far points of the world are from the surface that a body has where nothing touches it."""
    i = take.index(name)
    turn = matrix_from_quaternion(take.orientation[frame, i])
    return distance(take.shapes[i], (points - take.position[frame, i]) @ turn)


def close_up(take: Take, moments: list[tuple[float, str, tuple[float, float, float]]], fov: float = 20.0) -> Take:
    """The take as seen from near: at each moment from beside a body, which is in the middle."""
    cameras = []
    for time, name, beside in moments:
        at = take.position[np.argmin(np.abs(take.time - time)), take.index(name)]
        cameras.append({"time": max(time - 0.5 / take.fps, 0.0), "from": (at + beside).tolist(), "to": at.tolist()})
    return replace(take, camera=None, cameras=[camera | {"fov": fov} for camera in cameras])


def dents(take: Take, name: str) -> Floats:
    """(F,) how deep a body is pressed in at most, at every frame."""
    if name not in soft_bodies(take):
        return np.zeros(len(take.time))
    normals, first = take.soft[f"{name}.normals"], take.soft[f"{name}.first"]
    inward = -np.sum(take.soft[f"{name}.shift"] * normals[take.soft[f"{name}.index"]], axis=1)
    return np.array([inward[a:b].max(initial=0.0) for a, b in pairwise(first)])


def patch(take: Take, name: str, other: str, frame: int) -> Floats:
    """(K, 3) where those vertices are that would be within another body if nothing yielded."""
    rest, there = take.soft[f"{name}.vertices"], surface_at(take, name, frame)[0]
    inside = field(take, other, frame, in_world(take, name, frame, rest)) < 0
    return in_world(take, name, frame, there[inside])


def unbalance(take: Take, name: str, other: str, share: float, frame: int) -> float:
    """How far a contact's vertices are from where both press alike, in metres; `share` of the depth is this body's."""
    points = patch(take, name, other, frame)
    off = -share * field(take, other, frame, points)
    if share < 1:
        off += (1 - share) * field(take, name, frame, points)
    return float(np.abs(off).max(initial=0.0))


def apart(take: Take, name: str, other: str, frame: int) -> float:
    """How far a contact's vertices are from the other's surface at most, as both are drawn."""
    from scipy.spatial import cKDTree
    from trimesh.triangles import closest_point

    points = patch(take, name, other, frame)
    if not len(points):
        return 0.0
    if other not in soft_bodies(take):
        return float(np.abs(field(take, other, frame, points)).max())
    vertices, _, triangles = surface_at(take, other, frame)
    corners = in_world(take, other, frame, vertices)[triangles]
    near = cKDTree(corners.mean(axis=1)).query(points, k=min(NEIGHBOURS, len(corners)))[1]
    repeated = np.repeat(points, near.shape[1], axis=0)
    way = np.linalg.norm(closest_point(corners[near.ravel()], repeated) - repeated, axis=1)
    return float(way.reshape(near.shape).min(axis=1).max())


def volume(vertices: Floats, triangles: NDArray[Any]) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)
