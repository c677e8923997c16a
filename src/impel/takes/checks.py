"""What a foreign take gets wrong, in plain words."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from impel.files import Problem
from impel.geometry.blobs import blob_elements
from impel.geometry.meshes import mesh_of
from impel.takes.cameras import members
from impel.takes.soft import mistake_in_soft
from impel.takes.take import WORLD, Floats, Take

FARTHEST = 1e10  # m: beyond it a scene cannot be drawn
LONGEST, SHORTEST = 1e7, 1e-6  # s: a take, and one of its frames
LARGEST = 1e6  # of any number in a shape, in metres
MOST_VERTICES = 1_000_000  # of a mesh
MOST_ELEMENTS = 2000  # of a blob: more cannot be meshed in the memory of a small machine


def mistake_in(take: Take) -> str | None:
    """The first thing that is wrong with a take, if anything is; takes made by impel pass."""
    return (
        _wrong_arrays(take)
        or _wrong_time(take)
        or _wrong_motion(take)
        or _wrong_lines(take)
        or _wrong_bodies(take)
        or mistake_in_soft(take, LARGEST, MOST_VERTICES)
        or _wrong_events(take)
    )


def _wrong_arrays(take: Take) -> str | None:
    if take.time.ndim != 1 or len(take.time) == 0:
        return "time: expected at least one frame"
    frames, bodies = len(take.time), len(take.names)
    wanted: dict[str, tuple[Floats, tuple[int, ...]]] = {
        "time": (take.time, (frames,)),
        "position": (take.position, (frames, bodies, 3)),
        "orientation": (take.orientation, (frames, bodies, 4)),
        **{f"channel/{name}": (values, (frames,)) for name, values in take.channels.items()},
        **{f"track/{name}": (values, (frames, _places(values))) for name, values in take.tracks.items()},
        **{f"path/{name}": (values, _path_shape(values, frames)) for name, values in take.paths.items()},
        **{f"wire/{name}": (values, (*np.shape(values)[:1], 3)) for name, values in take.wires.items()},
        **{f"rope/{name}": (values, (frames, 2, 3)) for name, values in take.ropes.items()},
    }
    for name, (values, shape) in wanted.items():
        if values.dtype != np.float64 or values.shape != shape:
            return f"{name}: expected float64 numbers of shape {shape}, got {values.dtype} of {values.shape}"
    return None


def _path_shape(values: Floats, frames: int) -> tuple[int, ...]:
    """Points (P, 3) or orientations (P, 4), and for a path that moves those of every frame (F, P, ..)."""
    shape = np.shape(values)
    return (frames, shape[1], _places(values)) if len(shape) == 3 else (*shape[:1], _places(values))


def _places(values: Floats) -> int:
    """How many numbers tell a place of a track or path: three, or the four of an orientation."""
    return 4 if np.ndim(values) > 1 and np.shape(values)[-1] == 4 else 3


def _wrong_time(take: Take) -> str | None:
    if not np.all(np.abs(take.time) <= LONGEST):
        return f"time: expected at most {LONGEST:g} s"
    if np.any(np.diff(take.time) < SHORTEST):
        return "time: must always increase, by a millionth of a second at least"
    return None


def _wrong_motion(take: Take) -> str | None:
    """What is not a number is allowed: of a body that is not there."""
    if len(set(take.names)) != len(take.names):
        return "names: a body is named twice"
    for name, values in (("position", take.position), *((f"rope/{n}", ends) for n, ends in take.ropes.items())):
        if np.any(np.abs(values) > FARTHEST):
            return f"{name}: expected numbers up to {FARTHEST:g} m"
    if np.any(np.abs(take.orientation) > 2):
        return "orientation: expected unit quaternions (w, x, y, z)"
    norm = np.linalg.norm(take.orientation, axis=-1)
    if np.any(np.abs(norm[np.isfinite(norm)] - 1) > 1e-3):
        return "orientation: expected unit quaternions (w, x, y, z)"
    return None


def _wrong_lines(take: Take) -> str | None:
    for name, line in take.wires.items():
        if len(line) < 2 or name.split(".")[0] not in (*take.names, WORLD):
            return f"wire/{name}: expected at least two points, and a name that begins with that of a body"
        if not np.all(np.abs(line) <= FARTHEST):
            return f"wire/{name}: expected numbers up to {FARTHEST:g} m"
    for name in take.ropes:
        slack = take.channels.get(f"{name}.slack")
        if slack is not None and not np.all((slack >= 0) & (slack <= FARTHEST) | np.isnan(slack)):
            return f"channel/{name}.slack: expected numbers from 0 to {FARTHEST:g} m"
    return None


def _wrong_bodies(take: Take) -> str | None:
    bodies = len(take.names)
    if not isinstance(take.shapes, list) or len(take.shapes) != bodies:
        return "shapes: expected a shape as written in a scene for each body"
    seen: set[str] = set()
    for name, shape in zip(take.names, take.shapes):
        written = json.dumps(shape)
        if written not in seen and not _is_shape(shape, take.surfaces):
            return f"shapes: {name}: expected a shape as written in a scene, of numbers up to {LARGEST:g} m"
        seen.add(written)
    if not _list_of(take.colors, bodies, lambda c: isinstance(c, str) and re.fullmatch("#([0-9a-fA-F]{2}){3,4}", c)):
        return "colors: expected #rrggbb or #rrggbbaa for each body"
    if take.camera is not None and not _is_camera(take.camera, take):
        return "camera: expected {from: [x, y, z], to: [x, y, z], fov: degrees}, or {follow: body}"
    if not _list_of(take.cameras, None, lambda cut: _is_cut(cut, take)):
        return "cameras: expected a list of cameras, each with a time"
    return None


def _wrong_events(take: Take) -> str | None:
    if not _list_of(take.events, None, _is_event):
        return "events: expected a list of {time, kind, subject, details}"
    keys = take.keys
    if not isinstance(keys, dict) or not all(_list_of(wishes, None, lambda k: True) for wishes in keys.values()):
        return "keys: expected a list of keys, as written in a scene, for each actor's wishes"
    return None


def _list_of(values: Any, length: int | None, good: Callable[[Any], Any]) -> bool:
    return isinstance(values, list) and (length is None or len(values) == length) and all(good(v) for v in values)


def _is_event(event: Any) -> bool:
    """Of any kind: newer versions may know more kinds than this one."""
    return (
        isinstance(event, dict)
        and isinstance(event.get("time"), int | float)
        and abs(event["time"]) <= FARTHEST
        and isinstance(event.get("kind"), str)
        and isinstance(event.get("subject"), str)
        and isinstance(event.get("details"), dict)
    )


def _is_shape(shape: Any, surfaces: dict[str, Any]) -> bool:
    if not isinstance(shape, dict) or len(shape) != 1 or not _is_moderate(shape):
        return False
    try:
        if "blob" in shape:  # its mesh is costly; whoever draws it will see
            elements, blend = blob_elements(shape["blob"]), float(shape["blob"].get("blend", 0.0))
            sound = _reaches(elements) and bool(np.all(elements[:, 6] != 0) and elements[0, 6] > 0)
            return 0 < len(elements) <= MOST_ELEMENTS and sound and 0 <= blend <= LARGEST
        if "mesh" in shape:
            return _is_surface(shape["mesh"]["surface"], surfaces)
        vertices = mesh_of(shape, segments=8)[0]
        return _reaches(vertices) and bool(np.ptp(vertices, axis=0)[:2].min() > 0)
    except (Problem, TypeError, ValueError, LookupError, AttributeError):
        return False


def _is_surface(name: Any, surfaces: dict[str, Any]) -> bool:
    vertices, normals, triangles = (surfaces[f"{name}.{part}"] for part in ("vertices", "normals", "triangles"))
    colors = surfaces.get(f"{name}.colors", normals)
    if not all(array.ndim == 2 and array.shape[1] == 3 for array in (vertices, normals, triangles, colors)):
        return False
    if not len(vertices) == len(normals) == len(colors) or not len(vertices) <= MOST_VERTICES or not len(triangles):
        return False
    whole = np.all((triangles >= 0) & (triangles < len(vertices)) & (triangles == np.floor(triangles)))
    return bool(whole and np.all(np.abs(vertices) <= LARGEST) and np.all(np.abs(normals) <= 2))


def _reaches(places: Floats) -> bool:
    """Are these all numbers, also where null or a text was written, and of moderate size?"""
    return bool(np.all(np.abs(places) <= 2 * LARGEST))


def _is_moderate(value: Any) -> bool:
    """All numbers in a shape are neither huge nor below zero, but for places."""
    if isinstance(value, dict):
        return all(_is_moderate(v) for v in value.values())
    if isinstance(value, list):
        return all(_is_moderate(v) for v in value)
    return not isinstance(value, int | float) or abs(value) <= LARGEST


def _is_camera(camera: Any, take: Take) -> bool:
    try:
        follows = isinstance(camera.get("follow"), str) and _is_followed(camera["follow"], take)
        given = [np.array(camera[name], float) for name in ("from", "to") if name in camera or not follows]
        near = all(point.shape == (3,) and bool(np.all(np.abs(point) <= FARTHEST)) for point in given)
        return near and ("follow" not in camera or follows) and 1 <= float(camera.get("fov", 40)) <= 170
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return False


def _is_cut(cut: Any, take: Take) -> bool:
    """A camera with a time; or only a time, from which on the action is framed."""
    if not isinstance(cut, dict) or not isinstance(cut.get("time"), int | float) or not 0 <= cut["time"] <= LONGEST:
        return False
    return not any(name in cut for name in ("from", "to", "follow")) or _is_camera(cut, take)


def _is_followed(name: str, take: Take) -> bool:
    bodies = members(take, name)
    return len(bodies) > 0 and all("plane" not in take.shapes[i] for i in bodies)
