"""What moves, how much room it takes, and which of it belongs to the action."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.motion.orientations import matrix_from_quaternion
from impel.takes.take import Floats, Take


def moving_bodies(take: Take) -> NDArray[np.bool_]:
    """Which bodies move at all during the take."""
    with np.errstate(invalid="ignore"):
        shift = np.ptp(take.position, axis=0).max(axis=-1)
        turn = np.ptp(np.abs(take.orientation), axis=0).max(axis=-1)
    return ((shift > 1e-5) | (turn > 1e-5)) & ~_planes(take)


def _planes(take: Take) -> NDArray[np.bool_]:
    return np.array(["plane" in shape for shape in take.shapes], bool)


def corners_of(take: Take, extents: Floats, bodies: Any, frames: Any) -> Floats:
    """The corners (frames, bodies, 8, 3) of the boxes that hold the bodies, `extents` (N, 2, 3) in their frames."""
    pick = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
    local = np.stack([extents[bodies][:, pick[:, k], k] for k in range(3)], axis=-1)
    turned = np.einsum("fbij,bkj->fbki", matrix_from_quaternion(take.orientation[frames][:, bodies]), local)
    return take.position[frames][:, bodies][:, :, None] + turned


def heights_of(take: Take, extents: Floats, bodies: Any) -> tuple[Floats, Floats]:
    """The lowest and the highest point (F, bodies) of the boxes that hold the bodies, at every frame."""
    up = matrix_from_quaternion(take.orientation[:, bodies])[:, :, 2]
    ends = np.stack([up * extents[bodies, 0], up * extents[bodies, 1]])
    at = take.position[:, bodies, 2]
    return at + ends.min(axis=0).sum(axis=-1), at + ends.max(axis=0).sum(axis=-1)


def on_stage(take: Take, extents: Floats) -> NDArray[np.bool_]:
    """(F, N): the body belongs to the action; not once it has fallen below everything that stands still."""
    stage = np.ones(take.position.shape[:2], bool)
    moving = np.flatnonzero(moving_bodies(take))
    lowest = _lowest_standing(take, extents)
    if len(moving) and lowest is not None:
        with np.errstate(invalid="ignore"):
            stage[:, moving] &= ~_for_good(heights_of(take, extents, moving)[1] < lowest)
    return stage


def _lowest_standing(take: Take, extents: Floats) -> float | None:
    standing = np.flatnonzero(~moving_bodies(take))
    up = matrix_from_quaternion(take.orientation[0, standing])[:, 2, 2]
    if len(standing) == 0 or np.any(_planes(take)[standing] & (up < 0.999)):  # a slope goes down for ever
        return None
    return float(np.nanmin(heights_of(take, extents, standing)[0][0]))


def _for_good(away: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(F, bodies) away, was not from the start, and never comes back."""
    leaves = np.logical_and.accumulate(away[::-1])[::-1]
    return leaves & ~leaves[0]
