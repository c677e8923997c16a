"""Where the cameras of a take are, frame by frame; pictures and glTF see the same."""

from typing import Any

import numpy as np

from impel.geometry.meshes import mesh_of
from impel.takes.take import Floats, Take

FOV = 40.0  # degrees, of a camera that tells none
FILLED = 0.25  # of the picture's half height is filled by what a camera follows that is told no place
AZIMUTH, ELEVATION = -60.0, 17.0  # degrees: whence it then looks; x runs to the right
CALM = 0.5  # s, time scale of a camera that goes along

Camera = dict[str, Any]


def cuts_of(take: Take) -> list[tuple[int, Camera | None]]:
    """From which frame on which camera is used, the first from frame 0 on; None frames the action by itself."""
    cuts: dict[int, Camera | None] = {0: take.camera}
    for cut in take.cameras:
        first = int(np.searchsorted(take.time, take.time[0] + cut["time"] - 1e-9))
        if first < len(take.time):
            cuts[first] = cut if "from" in cut or "follow" in cut else None
    return list(cuts.items())


def standpoints(take: Take, camera: Camera) -> tuple[Floats, Floats]:
    """Where a camera is and what it looks at (F, 3), at every frame."""
    path = np.zeros((len(take.time), 3))
    if "follow" in camera:
        path = followed(take, camera["follow"])
    start = path[0]
    if "from" in camera:
        eye = np.array(camera["from"], float)
    else:
        a, e = np.radians([AZIMUTH, ELEVATION])
        towards = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        tangent = np.tan(np.radians(float(camera.get("fov", FOV))) / 2)
        eye = start + _radius(take, camera["follow"]) / (FILLED * tangent) * towards
    to = np.array(camera["to"], float) if "to" in camera else start
    return eye + path - start, to + path - start


def members(take: Take, name: str) -> list[int]:
    """The body of that name, or the parts of the walker of that name."""
    return [i for i, body in enumerate(take.names) if body == name or body.startswith(f"{name}.")]


def followed(take: Take, name: str) -> Floats:
    """(F, 3) the way of a body or walker without its shaking; where it is lost, straight on to where it is again."""
    at = take.position[:, members(take, name)].mean(axis=1)
    known = np.isfinite(at).all(axis=-1)
    if not known.any():
        return np.zeros_like(at)
    way = np.stack([np.interp(take.time, take.time[known], at[known, k]) for k in range(3)], axis=-1)
    return smooth(way, CALM * take.fps)


def smooth(values: Floats, sigma: float) -> Floats:
    """Gaussian blur in time; the ends are continued by point reflection, so that a steady walk stays steady."""
    reach = max(1, min(int(3 * sigma), len(values) - 1))
    before, after = 2 * values[0] - values[reach:0:-1], 2 * values[-1] - values[-2 : -reach - 2 : -1]
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    extended = np.concatenate([before, values, after])
    return np.stack([np.convolve(extended[:, k], weights / weights.sum(), "valid") for k in range(3)], axis=-1)


def _radius(take: Take, name: str) -> float:
    """Of a body, or of a walker as it stands at first, about its middle."""
    bodies = members(take, name)
    own = max(
        float(np.linalg.norm(mesh_of(take.shapes[i], segments=8, surfaces=take.surfaces)[0], axis=-1).max())
        for i in bodies
    )
    at = take.position[0, bodies]
    apart = np.linalg.norm(at - at.mean(axis=0), axis=-1).max()
    return own + (float(apart) if np.isfinite(apart) else 0.0)
