"""Ropes and wires: the line each one follows, and a thin tube around it."""

from itertools import pairwise
from typing import Any

import numpy as np

from impel.geometry.meshes import Mesh
from impel.motion.orientations import matrix_from_quaternion
from impel.takes.take import Floats, Take

ROPE, WIRE = "#8c7b62", "#7f8790"  # colours: hemp, steel
TAUT = 1e-3  # of a rope's length: less slack than this is not seen
PIECES = 24  # straight pieces of a rope that hangs
SIDES = 8  # of a tube


def rope_lines(take: Take, name: str, frames: Any, pieces: int = PIECES) -> Floats:
    """Where a rope is (frames, pieces + 1, 3): straight if it is taut, else hanging as a parabola of its length.

    What would hang below the ground lies on it; then the rope is drawn shorter than it is.
    """
    ends = take.ropes[name][frames]
    slack = take.channels.get(f"{name}.slack")
    lines = hanging(ends, np.zeros(len(ends)) if slack is None else slack[frames], pieces)
    lowest = np.minimum(ends[..., 2].min(axis=1), _ground(take))
    lines[..., 2] = np.maximum(lines[..., 2], lowest[:, None])
    return lines


def _ground(take: Take) -> float:
    """The height of the highest level plane, in the first frame."""
    planes = [i for i, shape in enumerate(take.shapes) if "plane" in shape]
    up = matrix_from_quaternion(take.orientation[0, planes])[:, 2, 2]
    return float(np.max(take.position[0, planes, 2][up > 0.999], initial=-np.inf))


def is_taut(take: Take, name: str) -> bool:
    """Never seen to hang."""
    slack = take.channels.get(f"{name}.slack")
    length = np.linalg.norm(np.diff(take.ropes[name], axis=1)[:, 0], axis=-1) + (0.0 if slack is None else slack)
    return slack is None or bool(np.all(slack <= TAUT * length))


def hanging(ends: Floats, slack: Floats, pieces: int = PIECES) -> Floats:
    """Lines (F, pieces + 1, 3) between two ends (F, 2, 3), longer than straight by `slack` (F,), that sag downwards."""
    u = np.linspace(0, 1, pieces + 1)
    straight = ends[:, :1] + u[:, None] * (ends[:, 1:] - ends[:, :1])
    distance = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1)
    length = distance + np.where(slack > TAUT * (distance + slack), slack, 0.0)
    bow = 4 * u * (1 - u)

    def sagging(depth: Floats) -> Floats:
        line = straight.copy()
        line[..., 2] -= depth[:, None] * bow
        return line

    low, high = np.zeros(len(ends)), length  # a line that sags by d is longer than d
    for _ in range(40):
        depth = (low + high) / 2
        too_long = np.linalg.norm(np.diff(sagging(depth), axis=1), axis=-1).sum(axis=1) > length
        low, high = np.where(too_long, low, depth), np.where(too_long, depth, high)
    return sagging(np.where(length > distance, low, 0.0))


def tube(line: Floats, radius: float, sides: int = SIDES) -> Mesh:
    """A tube around a polyline (P, 3); one whose last point is its first is a ring."""
    ring = len(line) > 2 and np.array_equal(line[0], line[-1])
    steps = np.diff(line, axis=0)
    steps = np.concatenate([steps[-1:] if ring else steps[:1], steps, steps[:1] if ring else steps[-1:]])
    along = np.array([0.0, 0.0, 1.0])
    across = np.array([1.0, 0.0, 0.0])
    around = 2 * np.pi * np.arange(sides) / sides
    normals = np.empty((len(line), sides, 3))
    for i, (before, after) in enumerate(pairwise(steps)):
        bisector = _unit(before) + _unit(after)
        for direction in (bisector, after, before):  # at a fold the first is nothing, where points repeat the others
            if np.linalg.norm(direction) > 1e-9:
                along = _unit(direction)
                break
        # Carried along the line with as little turning as can be.
        across = across - along * (along @ across)
        if np.linalg.norm(across) < 1e-6:
            across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        across = _unit(across)
        other = np.cross(along, across)
        normals[i] = np.cos(around)[:, None] * across + np.sin(around)[:, None] * other
    vertices = line[:, None] + radius * normals
    row, side = np.meshgrid(np.arange(len(line) - 1), np.arange(sides), indexing="ij")
    a, b = row * sides + side, row * sides + (side + 1) % sides
    c, d = a + sides, b + sides
    triangles = [np.stack([a, b, d], axis=-1).reshape(-1, 3), np.stack([a, d, c], axis=-1).reshape(-1, 3)]
    if not ring:
        fan = np.arange(1, sides - 1)
        first, last = 0 * fan, (len(line) - 1) * sides + 0 * fan
        triangles += [np.stack([first, fan + 1, fan], axis=-1), np.stack([last, last + fan, last + fan + 1], axis=-1)]
    return vertices.reshape(-1, 3), normals.reshape(-1, 3), np.concatenate(triangles).astype(np.int32)


def _unit(vector: Floats) -> Floats:
    size = float(np.linalg.norm(vector))
    return vector / size if size > 0 else vector
