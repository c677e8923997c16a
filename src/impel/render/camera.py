"""Where the camera stands: it frames the whole action by itself, or goes along when the action travels far.

If what acts would be tiny in that picture, it looks along the action instead, or goes along with what acts.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impel.render.action import acting_bodies, corners_of, moving_bodies
from impel.render.lines import line_points
from impel.takes.cameras import CALM, Camera, smooth, standpoints
from impel.takes.cameras import FOV as GIVEN_FOV
from impel.takes.take import Floats, Take

FOV = 19.0  # degrees, top to bottom; a long lens, calm perspective
FILLED = 0.86  # of the picture's half width and height may be used by the action
ELEVATIONS = (17.0, 36.0, 60.0)  # degrees above the horizon, in order of preference
QUARTER = 30.0  # degrees between the view and straight on: the three-quarter view
ALONG = 58.0  # ... and when the camera looks along an action rather than across it
LARGE = 0.25  # of the picture's height: what acts should fill so much of it, half of the time at least ...
TINY = 0.06  # ... and if even the largest of all bodies fills less, some may be left out of the picture
WORTH = 1.2  # ... or the camera does what makes it so much larger
FAR = 7.0  # travels this many times its own size: the camera follows
FAR_PAST = 14.0  # ... if it passes things that stand there: these tell how it moves
PASSED = 2.5  # of its own radius: a thing wholly within this was passed closely
FAR_ON_WIRE = 30.0  # ... if a wire shows where it goes: the wire is worth seeing
FRAMES_LOOKED_AT = 60
BETTER = 0.08  # share of the action that another view must show more of to be preferred

HAIR = 0.02  # pixels: what moves less is not seen to move


class Shot(NamedTuple):
    """A camera for every frame of a take, and the action it shows."""

    eye: Floats  # (F, 3)
    middle: Floats  # (F, 3) of the action
    right: Floats
    up: Floats
    forward: Floats
    fov: float  # degrees, top to bottom
    radius: float  # m, of the action about its middle
    reach: float = 0.0  # m about the middle that the sun's map covers

    def seen(self, frame: int, points: Floats, size: tuple[int, int]) -> Floats:
        """Pixel coordinates and distance (..., 3) of points in the world."""
        focal = focal_length(self.fov, size)
        with np.errstate(divide="ignore", invalid="ignore"):
            offset = points - self.eye[frame]
            depth = offset @ self.forward
            x = size[0] / 2 + focal * (offset @ self.right) / depth
            y = size[1] / 2 - focal * (offset @ self.up) / depth
        return np.stack([x, y, depth], axis=-1)


def focal_length(fov: float, size: tuple[int, int]) -> float:
    """In pixels."""
    return float(size[1] / 2 / np.tan(np.radians(fov) / 2))


def camera_matrix(shot: Shot, frame: int, size: tuple[int, int], samples: int) -> Floats:
    """(4, 4) from the world to samples, for `rasterise`; depth is one over the distance."""
    matrix = np.zeros((4, 4))
    focal = focal_length(shot.fov, size)
    matrix[0, :3] = samples * (focal * shot.right + size[0] / 2 * shot.forward)
    matrix[1, :3] = samples * (-focal * shot.up + size[1] / 2 * shot.forward)
    matrix[3, :3] = shot.forward
    matrix[:, 3] = -matrix[:, :3] @ shot.eye[frame]
    matrix[2, 3] = 1.0
    return matrix


def hair(shot: Shot, frame: int, size: tuple[int, int]) -> float:
    """How far something in the middle of the picture may move, in m, without being seen to move."""
    return HAIR * float(np.linalg.norm(shot.middle[frame] - shot.eye[frame])) / focal_length(shot.fov, size)


def rested(shot: Shot, size: tuple[int, int]) -> Shot:
    """The same, but the camera stands still while it is not seen to move: it comes to rest ever more slowly."""
    held = np.zeros(len(shot.eye), int)
    for frame in range(1, len(held)):
        before = held[frame - 1]
        moved = max(np.linalg.norm(path[frame] - path[before]) for path in (shot.eye, shot.middle))
        held[frame] = before if moved <= hair(shot, before, size) else frame
    return shot._replace(eye=shot.eye[held], middle=shot.middle[held])


def shot_of(
    take: Take,
    extents: Floats,
    size: tuple[int, int],
    *,
    stage: NDArray[np.bool_] | None = None,
    also: Floats | None = None,
    visible: Any = None,
) -> Shot:
    """A camera that frames everything that moves, and the points `also`.

    `stage` (F, N) tells what belongs to the action; left out, all does. `visible(shot, frame)` tells how much of the
    action a shot shows (0 to 1); without it the first view is taken.
    """
    frames = np.unique(np.linspace(0, len(take.time) - 1, FRAMES_LOOKED_AT).round().astype(int))
    actors = np.flatnonzero(moving_bodies(take))
    if len(actors) == 0:
        actors = np.array([i for i, shape in enumerate(take.shapes) if "plane" not in shape], int)
    corners = corners_of(take, extents, actors, frames)
    if stage is not None:
        corners[~stage[np.ix_(frames, actors)]] = np.nan
    if not np.isfinite(corners).any():
        corners = np.tile([[-1.0] * 3, [1.0] * 3], (len(frames), 1, 1, 1))  # nothing to see: look at the origin
    acts = [of[actors] for of in acting_bodies(take, stage)]
    looks = frames[np.linspace(0, len(frames) - 1, 4).round().astype(int)]

    def clearest(corners: Floats, *, quarter: float = QUARTER, follows: bool = False) -> Shot:
        path, passed = _travel(take, extents, corners, frames, follows)
        points = np.concatenate([(corners - path[frames][:, None, None]).reshape(-1, 3), passed])
        points = points[np.isfinite(points).all(axis=-1)]
        if np.ptp(path, axis=0).max() == 0.0:
            props = _props(take, extents, points + path[0], frames)
            points = np.concatenate([points, props - path[0], *([also - path[0]] if also is not None else [])])
        views = _views(points, path, quarter)
        return _clearest([_framed(points, path, *view, size) for view in views], looks, visible)

    shot = clearest(corners)
    large = _filled(shot, corners[:, acts[0]], frames, size)
    if large < LARGE and len(actors) > 1 and not take.wires:
        closer = [clearest(corners, quarter=ALONG)]
        fills = [_filled(closer[0], corners[:, acts[0]], frames, size)]
        for followed in acts:
            # Nobody is left out without need.
            tiny = max(fills) < LARGE and _filled(closer[-1], corners, frames, size, alone=True) < TINY
            if tiny or followed is acts[0]:
                closer.append(clearest(corners[:, followed], follows=True))
                fills.append(_filled(closer[-1], corners[:, followed], frames, size))
        if max(fills) > WORTH * large:
            shot = closer[int(np.argmax(fills))]
    return shot


def _clearest(shots: list[Shot], frames: NDArray[np.int64], visible: Any) -> Shot:
    """The first, unless another shows clearly more of the action in those frames."""
    if visible is None:
        return shots[0]
    best, best_score = shots[0], -1.0
    for shot in shots:
        score = float(np.mean([visible(shot, frame) for frame in frames]))
        if score > best_score + BETTER:
            best, best_score = shot, score
        if best_score > 1 - BETTER:
            break
    return best


def _filled(
    shot: Shot, corners: Floats, frames: NDArray[np.int64], size: tuple[int, int], *, alone: bool = False
) -> float:
    """How much of the picture's height bodies fill together, or the largest `alone`, half of the time at least.

    `corners` (F, N, 8, 3) are not numbers where a body does not count.
    """
    heights = []
    for frame, bodies in zip(frames, corners):
        seen = shot.seen(frame, bodies[np.isfinite(bodies).all(axis=(1, 2))], size)[..., 1]
        if len(seen):
            heights.append(np.ptp(seen, axis=1).max() if alone else np.ptp(seen))
    return float(np.median(heights)) / size[1] if heights else 1.0


def _props(take: Take, extents: Floats, action: Floats, frames: NDArray[np.int64]) -> Floats:
    """The corners of what stands still amid the action and is no larger than it (floors and walls are), and lines."""
    low, high = action.min(axis=0), action.max(axis=0)
    middle, radius = (low + high) / 2, np.linalg.norm(high - low) / 2
    corners = _standing(take, extents)
    away = np.linalg.norm(corners - middle, axis=-1)
    lines = line_points(take, frames)
    return np.concatenate(
        [
            corners[away.max(axis=-1) < 1.2 * radius].reshape(-1, 3),
            lines[np.linalg.norm(lines - middle, axis=-1) < 2 * radius],
        ]
    )


def given_shot(take: Take, camera: Camera) -> Shot:
    """What a camera shows that someone told where to stand, or whom to follow."""
    eye, to = standpoints(take, camera)
    forward = to[0] - eye[0]
    distance = float(np.linalg.norm(forward))
    right, up, forward = _basis(forward if distance > 0 else np.array([0.0, 1.0, 0.0]))
    fov = float(camera.get("fov", GIVEN_FOV))
    return Shot(eye, to, right, up, forward, fov, max(distance, 1e-3) * np.tan(np.radians(fov) / 2))


def _travel(
    take: Take, extents: Floats, corners: Floats, frames: NDArray[np.int64], follows: bool
) -> tuple[Floats, Floats]:
    """(F, 3) where the camera looks: one point, or along with the action if that goes far, or if it `follows`.

    In the second case also the corners of what the action passes closely, as seen from there when it does.
    """
    flat = corners.reshape(len(frames), -1, 3)
    seen = np.any(np.isfinite(flat).all(axis=2), axis=1)
    flat, frames = flat[seen], frames[seen]
    low, high = np.nanmin(flat, axis=1), np.nanmax(flat, axis=1)
    middle = (low + high) / 2
    whole = (low.min(axis=0) + high.max(axis=0)) / 2
    own_size = float(np.median(np.linalg.norm(high - low, axis=-1)))
    props = _standing(take, extents)
    away = np.linalg.norm(props - middle[:, None, None], axis=-1).max(axis=-1)
    when, close = away.argmin(axis=0), away.min(axis=0) < PASSED * own_size / 2
    far = FAR_ON_WIRE if take.wires else FAR_PAST if close.any() else FAR
    if not follows and np.linalg.norm(high.max(axis=0) - low.min(axis=0)) < far * own_size:
        return np.tile(whole, (len(take.time), 1)), np.zeros((0, 3))
    every = np.stack([np.interp(take.time, take.time[frames], middle[:, k]) for k in range(3)], axis=-1)
    path = smooth(every, CALM * take.fps)
    return path, (props - path[frames[when]][:, None])[close].reshape(-1, 3)


def _standing(take: Take, extents: Floats) -> Floats:
    """The corners (bodies, 8, 3) of what stands still, but for planes."""
    return corners_of(take, extents, np.flatnonzero(~moving_bodies(take) & (extents[:, 1, 0] > 0)), [0])[0]


def _views(points: Floats, path: Floats, quarter: float) -> list[tuple[float, float]]:
    """(azimuth, elevation) of possible cameras, the most natural first: x to the right, long actions seen broadside."""
    flat = np.concatenate([points + path[0], points + path[-1], points + path[len(path) // 2]])[:, :2]
    spread, axes = np.linalg.eigh(np.cov(flat.T))
    along = axes[:, 1]
    if spread[1] < 2.5 * spread[0]:  # not clearly longer one way
        along = np.array([1.0, 0.0])
    if along[0] < -1e-9 or (abs(along[0]) <= 1e-9 and along[1] < 0):
        along = -along
    broadside = np.degrees(np.arctan2(along[1], along[0])) - 90.0
    front = [broadside + quarter, broadside - quarter]
    back = [azimuth + 180.0 for azimuth in front]
    low, high, top = ELEVATIONS
    return [(a, low) for a in front] + [(a, high) for a in front] + [(a, low) for a in back] + [(front[0], top)]


def _basis(forward: Floats) -> tuple[Floats, Floats, Floats]:
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    if np.linalg.norm(right) < 1e-9:  # straight down or up: keep x to the right
        right = np.array([1.0, 0.0, 0.0])
    right = right / np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def _framed(points: Floats, path: Floats, azimuth: float, elevation: float, size: tuple[int, int]) -> Shot:
    """The nearest camera of that direction with all points (relative to the path) inside the picture."""
    a, e = np.radians([azimuth, elevation])
    right, up, forward = _basis(-np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)]))
    focal = focal_length(FOV, size)
    depth = points @ forward
    back = np.inf
    for axis, pixels in ((right, size[0]), (up, size[1])):
        tangent = FILLED * pixels / 2 / focal
        # |point - eye| across <= tangent * depth for all points: two half-planes that meet at the nearest eye.
        one, other = np.max(points @ axis - tangent * depth), np.max(-(points @ axis) - tangent * depth)
        back = min(back, -(one + other) / (2 * tangent))
    eye = back * forward
    for axis in (right, up):
        eye = eye + _balanced(points @ axis, depth - back) * axis
    low, high = points.min(axis=0), points.max(axis=0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    return Shot(path + eye, path + (low + high) / 2, right, up, forward, FOV, radius)


def _balanced(across: Floats, depth: Floats) -> float:
    """Where to stand so that points appear as far out on one side of the picture as on the other."""
    low, high = across.min(), across.max()
    for _ in range(50):
        middle = (low + high) / 2
        if np.max((across - middle) / depth) > np.max((middle - across) / depth):
            low = middle
        else:
            high = middle
    return float((low + high) / 2)
