"""Takes as `.npz`: every number, every event, opened by plain `numpy.load` without pickling."""

import io
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from impel.files import Problem, writing
from impel.geometry.meshes import mesh_of
from impel.takes.take import EVENT_KINDS, WORLD, Floats, Take

MAX_BYTES = 4 * 2**30  # unpacked; an hour of fifty bodies at 60 frames a second is 600 MB
FAMILIES = {  # name's beginning -> field of Take
    "channel/": "channels",
    "track/": "tracks",
    "path/": "paths",
    "wire/": "wires",
    "rope/": "ropes",
}
TEXTS = ("events", "shapes", "colors", "camera")  # kept as JSON
ARRAYS = ("time", "names", "position", "orientation")
VERSION = 2  # takes of version 1 do not tell theirs, and call it "key reached" when a target passes a key


def save_npz(take: Take, path: str | Path) -> None:
    """Write a take; the same take always gives the same bytes."""
    arrays: dict[str, Any] = {
        "time": np.asarray(take.time, np.float64),
        "names": np.array(take.names, dtype=np.str_),
        "position": np.asarray(take.position, np.float64),
        "orientation": np.asarray(take.orientation, np.float64),
        "version": np.array(VERSION),
    }
    for name in TEXTS:
        arrays[name] = np.array(json.dumps(getattr(take, name), ensure_ascii=False, default=_plain))
    for prefix, field in FAMILIES.items():
        for name, values in getattr(take, field).items():
            arrays[prefix + name] = np.asarray(values, np.float64)
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            # A fixed date, the archive's first, because a real one would make every save different.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array, order="C"), allow_pickle=False)


def load_npz(path: str | Path) -> Take:
    """Read a take; a file that is broken or not a take raises `Problem`."""
    arrays = _read_arrays(Path(path))
    missing = [name for name in (*ARRAYS, *TEXTS) if name not in arrays]
    if missing:
        raise Problem(f"{path}: is not a take: it holds no {missing[0]}")
    fields: dict[str, Any] = {field: {} for field in FAMILIES.values()}
    for name, array in arrays.items():
        for prefix, field in FAMILIES.items():
            if name.startswith(prefix):
                fields[field][name.removeprefix(prefix)] = array
    for name in ("time", "position", "orientation"):
        fields[name] = arrays[name]
    if arrays["names"].dtype.kind != "U" or arrays["names"].ndim != 1:
        raise Problem(f"{path}: names: expected a list of texts")
    fields["names"] = arrays["names"].tolist()
    for name in TEXTS:
        try:
            fields[name] = json.loads(str(arrays[name][()]))
        except (ValueError, RecursionError):
            raise Problem(f"{path}: {name}: expected JSON text") from None
    take = Take(**fields)
    mistake = _mistake(take)
    if mistake:
        raise Problem(f"{path}: {mistake}")
    if "version" not in arrays:
        for event in take.events:
            if event["kind"] == "key reached":
                event["kind"] = "key passed"
    return take


def _plain(value: Any) -> Any:
    """numpy's numbers and arrays, as events and shapes may carry them, in JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a take holds plain data, not {type(value).__name__}")


def _read_arrays(path: Path) -> dict[str, Any]:
    try:
        data = path.open("rb")
    except OSError as error:
        raise Problem(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    try:
        with data, zipfile.ZipFile(data) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                raise Problem(f"{path}: unpacks to more than {MAX_BYTES // 2**30} GiB, which no take needs")
            return {
                name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise Problem(f"{path}: is not a take, or is damaged: {str(error).splitlines()[0]}") from None
    except (MemoryError, SyntaxError, OverflowError, TypeError):  # an array header that promises nonsense
        raise Problem(f"{path}: is not a take, or is damaged: an array in it cannot be read") from None


def _mistake(take: Take) -> str | None:
    """The first thing a foreign file gets wrong, in plain words; takes made by impel pass."""
    if take.time.ndim != 1 or len(take.time) == 0:
        return "time: expected at least one frame"
    frames, bodies = len(take.time), len(take.names)
    wanted: dict[str, tuple[Floats, tuple[int, ...]]] = {
        "time": (take.time, (frames,)),
        "position": (take.position, (frames, bodies, 3)),
        "orientation": (take.orientation, (frames, bodies, 4)),
        **{f"channel/{name}": (values, (frames,)) for name, values in take.channels.items()},
        **{f"track/{name}": (values, (frames, _places(values))) for name, values in take.tracks.items()},
        **{f"path/{name}": (values, (*np.shape(values)[:1], _places(values))) for name, values in take.paths.items()},
        **{f"wire/{name}": (values, (*np.shape(values)[:1], 3)) for name, values in take.wires.items()},
        **{f"rope/{name}": (values, (frames, 2, 3)) for name, values in take.ropes.items()},
    }
    for name, (values, shape) in wanted.items():
        if values.dtype != np.float64 or values.shape != shape:
            return f"{name}: expected float64 numbers of shape {shape}, got {values.dtype} of {values.shape}"
    if not np.all(np.isfinite(take.time)) or np.any(np.diff(take.time) <= 0):
        return "time: must always increase"
    if len(set(take.names)) != bodies:
        return "names: a body is named twice"
    for name, line in take.wires.items():
        if len(line) < 2 or name.split(".")[0] not in (*take.names, WORLD):
            return f"wire/{name}: expected at least two points, and a name that begins with that of a body"
    norm = np.linalg.norm(take.orientation, axis=-1)
    if np.any(np.abs(norm[np.isfinite(norm)] - 1) > 1e-3):
        return "orientation: expected unit quaternions (w, x, y, z)"
    if not _list_of(take.shapes, bodies, _is_shape):
        return "shapes: expected a shape as written in a scene for each body"
    if not _list_of(take.colors, bodies, lambda c: isinstance(c, str) and re.fullmatch("#([0-9a-fA-F]{2}){3,4}", c)):
        return "colors: expected #rrggbb or #rrggbbaa for each body"
    if not _list_of(take.events, None, lambda e: isinstance(e, dict) and e.get("kind") in EVENT_KINDS):
        return "events: expected a list of {time, kind, subject, details} of known kinds"
    if take.camera is not None and not _is_camera(take.camera):
        return "camera: expected {from: [x, y, z], to: [x, y, z], fov: degrees}"
    return None


def _places(values: Floats) -> int:
    """How many numbers tell a place of a track or path: three, or the four of an orientation."""
    return 4 if np.shape(values)[1:] == (4,) else 3


def _list_of(values: Any, length: int | None, good: Any) -> bool:
    return isinstance(values, list) and (length is None or len(values) == length) and all(good(v) for v in values)


def _is_shape(shape: Any) -> bool:
    if not isinstance(shape, dict) or len(shape) != 1:
        return False
    if "blob" in shape:  # its mesh is costly; whoever draws it will see
        return isinstance(shape["blob"], dict)
    try:
        return bool(np.all(np.isfinite(mesh_of(shape, segments=8)[0])))
    except (Problem, TypeError, ValueError, LookupError):
        return False


def _is_camera(camera: Any) -> bool:
    try:
        points = np.array([camera["from"], camera["to"]], float)
        return points.shape == (2, 3) and bool(np.all(np.isfinite(points))) and 1 <= float(camera.get("fov", 40)) <= 170
    except (TypeError, ValueError, LookupError, AttributeError):
        return False
