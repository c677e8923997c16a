"""Ropes and wires in pictures: thin tubes; wires go with their bodies, ropes are laid anew in every frame."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.geometry.meshes import Mesh
from impel.motion.orientations import matrix_from_quaternion
from impel.takes.lines import ROPE, WIRE, rope_lines, tube
from impel.takes.take import Floats, Take, owner_of


class Line(NamedTuple):
    """A rope or a wire as one more body to draw, so far without thickness: its vertices go out along the normals."""

    mesh: Mesh
    color: str
    owner: int | None  # the body it goes with, or None: the world
    rope: str | None  # its name, if it is a rope: then `mesh` shows how it lies in the first frame


def lines_of(take: Take) -> list[Line]:
    """All wires, then all ropes."""
    wires = [Line(tube(line, 0.0), WIRE, owner_of(take, name), None) for name, line in take.wires.items()]
    return wires + [Line(laid(take, name, 0), ROPE, None, name) for name in take.ropes]


def laid(take: Take, rope: str, frame: int, radius: float = 0.0) -> Mesh:
    """A rope as it lies in a frame; always of the same number of vertices."""
    return tube(rope_lines(take, rope, [frame])[0], radius)


def line_points(take: Take, frames: NDArray[np.int64]) -> Floats:
    """(K, 3) where ropes and wires are in those frames, for the camera."""
    points = [rope_lines(take, name, frames).reshape(-1, 3) for name in take.ropes]
    for name, line in take.wires.items():
        owner = owner_of(take, name)
        if owner is None:
            points.append(line)
        else:
            turn = matrix_from_quaternion(take.orientation[frames, owner])
            points.append((take.position[frames, owner][:, None] + np.einsum("fij,pj->fpi", turn, line)).reshape(-1, 3))
    every = np.concatenate([np.zeros((0, 3)), *points])
    return every[np.isfinite(every).all(axis=-1)]
