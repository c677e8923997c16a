"""What moves, how much room it takes, and which of it belongs to the action."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impel.motion.orientations import matrix_from_quaternion
from impel.takes.take import Floats, Take

ASTRAY = 3.0  # of the distance within which bodies are half of the time: what goes farther for good has left ...
FARING = (0.25, 0.5)  # of the longest way that a body goes: who goes so far acts
LOOKS = 60  # frames are looked at to tell it
WORTH = 0.8  # ... if the action without it is so much smaller


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


def acting_bodies(take: Take, stage: NDArray[np.bool_] | None = None) -> list[NDArray[np.bool_]]:
    """Which bodies act: those that were told what to do, and those that go far; then fewer and fewer of the latter.

    Who was told nothing does not act if most of the others do not: then all do.
    """
    looks = slice(None, None, max(1, len(take.time) // LOOKS))
    steps = np.linalg.norm(np.diff(take.position[looks], axis=0), axis=-1)
    if stage is not None:
        steps = np.where(stage[looks][1:], steps, 0.0)
    moving = moving_bodies(take)
    way = np.where(moving, np.nansum(steps, axis=0), 0.0)
    told = np.array([is_told(take, name) for name in take.names], bool) & moving
    acting = [told | moving & (way >= share * way.max(initial=0.0)) for share in FARING]
    if told.any():
        return [*acting, told]
    return [few for few in acting if 2 * few.sum() >= moving.sum()] or [moving]


def on_stage(take: Take, extents: Floats) -> NDArray[np.bool_]:
    """(F, N): the body belongs to the action; not once it has fallen off, or gone far from the others, for good."""
    stage = np.ones(take.position.shape[:2], bool)
    moving = np.flatnonzero(moving_bodies(take))
    lowest = _lowest_standing(take, extents)
    if lowest is not None:
        with np.errstate(invalid="ignore"):
            stage[:, moving] &= ~_for_good(heights_of(take, extents, moving)[1] < lowest)
    left = stage.copy()
    left[:, moving] &= ~_for_good(_astray(take, extents, moving))
    before, after = (_spread(take.position[:, moving][seen[:, moving]]) for seen in (stage, left))
    return left if after < WORTH * before else stage


def _spread(points: Floats) -> float:
    points = points[np.isfinite(points).all(axis=-1)]
    return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0


def _astray(take: Take, extents: Floats, bodies: Any) -> NDArray[np.bool_]:
    """(F, bodies): far from where most bodies, or those told, are most of the time, and from where the others are now.

    The second keeps what travels together; the first tells who stays when two part. Who was told where to go is
    never astray.
    """
    at = take.position[:, bodies]
    known = np.asarray(np.isfinite(at).all(axis=-1))
    if len(bodies) < 2 or not known.any():
        return np.zeros(known.shape, bool)
    middle = np.median(at[known], axis=0)
    at = np.where(known[..., None], at, middle)
    core = np.linalg.norm(at - middle, axis=-1)
    radius = np.linalg.norm(np.abs(extents[bodies]).max(axis=1), axis=-1)
    far = ASTRAY * (np.median(core) + np.median(radius))
    told = np.array([is_told(take, take.names[body]) for body in bodies])
    if told.any():  # what is far from them has left too, even if most have
        middle = np.median(at[:, told].reshape(-1, 3), axis=0)
        core = np.linalg.norm(at - middle, axis=-1)
        far = min(far, 2 * ASTRAY * (np.median(core[:, told]) + np.median(radius[told])))
    away = core > far
    for i in np.flatnonzero(away.any(axis=0)):
        others = np.median(np.delete(at, i, axis=1), axis=1)
        away[:, i] &= np.linalg.norm(at[:, i] - others, axis=-1) > far
        away[:, i] &= not _has_a_way(take, take.names[bodies[i]])
    return away


def _has_a_way(take: Take, name: str) -> bool:
    """Someone wrote where the body goes ("ball.move"), or the walker that it is a part of ("cat.way")."""
    owner = name.split(".")[0]
    return any(way.split(".")[0] == owner and path.shape[-1] == 3 for way, path in take.paths.items())


def is_told(take: Take, name: str) -> bool:
    """Someone wrote where the body goes or turns, or where the walker that it is a part of goes."""
    return any(way.split(".")[0] == name.split(".")[0] for way in take.paths)


def _lowest_standing(take: Take, extents: Floats) -> float | None:
    standing = np.flatnonzero(~moving_bodies(take))
    up = matrix_from_quaternion(take.orientation[0, standing])[:, 2, 2]
    if len(standing) == 0 or np.any(_planes(take)[standing] & (up < 0.999)):  # a slope goes down for ever
        return None
    return float(np.nanmin(heights_of(take, extents, standing)[0][0], initial=np.inf))


def _for_good(away: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(F, bodies) away, was not from the start, and never comes back."""
    leaves = np.logical_and.accumulate(away[::-1])[::-1]
    return leaves & ~leaves[0]
