"""Takes as `.npz`: every number, every event, opened by plain `numpy.load` without pickling."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from impel.files import Problem, writing
from impel.takes.checks import mistake_in
from impel.takes.packing import packed, unpacked
from impel.takes.take import VERSION, Take
from impel.takes.unpacking import Arrays, read_arrays

FAMILIES = {  # name's beginning -> field of Take
    "channel/": "channels",
    "track/": "tracks",
    "path/": "paths",
    "wire/": "wires",
    "rope/": "ropes",
    "surface/": "surfaces",
    "soft/": "soft",
}
TEXTS = ("events", "shapes", "colors", "camera", "cameras", "keys")  # kept as JSON
ADDED = ("cameras", "keys")  # of these, what takes of earlier versions do not have
ARRAYS = ("time", "names", "position", "orientation")
MOST_CHARACTERS, MOST_VALUES = 32_000_000, 3_000_000  # of a text, so that its values fill no more than 500 MB


def save_npz(take: Take, path: str | Path) -> None:
    """Write a take; the same take always gives the same bytes."""
    arrays: dict[str, Any] = {
        "time": np.asarray(take.time, np.float64),
        "names": np.array(take.names, dtype=np.str_),
        "position": np.asarray(take.position, np.float64),
        "orientation": np.asarray(take.orientation, np.float64),
        "version": np.array(take.version),
    }
    for name in TEXTS:
        arrays[name] = np.array(json.dumps(getattr(take, name), ensure_ascii=False, default=_plain))
    for prefix, field in FAMILIES.items():
        for name, values in packed(take.soft).items() if field == "soft" else getattr(take, field).items():
            arrays[prefix + name] = values if field == "soft" else np.asarray(values, np.float64)
    arrays = take.others | arrays
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            # A fixed date, the archive's first, because a real one would make every save different.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array, order="C"), allow_pickle=False)


def load_npz(path: str | Path) -> Take:
    """Read a take; a file that is broken or not a take raises `Problem`.

    What a newer version has added, events of other kinds and other arrays, is kept and saved again.
    """
    arrays = read_arrays(path)
    missing = [name for name in (*ARRAYS, *TEXTS) if name not in arrays and name not in ADDED]
    if missing:
        raise Problem(f"{path}: is not a take: it holds no {missing[0]}")
    version = _version(arrays, path)
    fields: dict[str, Any] = {field: {} for field in (*FAMILIES.values(), "others")}
    for name, array in arrays.items():
        prefix = name.partition("/")[0] + "/"
        if prefix in FAMILIES:
            fields[FAMILIES[prefix]][name.removeprefix(prefix)] = array
        elif name not in (*ARRAYS, *TEXTS, "version"):
            fields["others"][name] = array
    for name in ("time", "position", "orientation"):
        fields[name] = arrays[name]
    if arrays["names"].dtype.kind != "U" or arrays["names"].ndim != 1:
        raise Problem(f"{path}: names: expected a list of texts")
    try:
        fields["names"] = arrays["names"].tolist()
    except ValueError:  # numbers that are no characters
        raise Problem(f"{path}: names: expected a list of texts") from None
    for name in TEXTS:
        if name in arrays:
            fields[name] = _read_text(arrays.pop(name), name, path)
    try:
        fields["soft"] = unpacked(fields["soft"])
    except ValueError as error:
        raise Problem(f"{path}: {error}") from None
    take = Take(**fields, version=max(version, VERSION))
    try:
        mistake = mistake_in(take)
    except RecursionError:
        mistake = "shapes: nested too deep"
    if mistake:
        raise Problem(f"{path}: {mistake}")
    if version == 1:
        for event in take.events:
            if event["kind"] == "key reached":
                event["kind"] = "key passed"
    return take


def _version(arrays: Arrays, path: str | Path) -> int:
    """Takes of version 1 do not tell theirs, and call it "key reached" when a target passes a key."""
    version = arrays.get("version", np.array(1))
    if version.shape != () or version.dtype.kind not in "iu" or not 1 <= int(version) <= 10**6:
        raise Problem(f"{path}: version: expected a whole number from 1 on")
    return int(version)


def _read_text(array: Any, name: str, path: str | Path) -> Any:
    if array.dtype.kind != "U" or array.shape != ():
        raise Problem(f"{path}: {name}: expected JSON text")
    if array.dtype.itemsize > 4 * MOST_CHARACTERS:
        raise Problem(f"{path}: {name}: is longer than {MOST_CHARACTERS} characters, which no take needs")
    try:
        text = str(array[()])
        if sum(text.count(mark) for mark in ",[{") > MOST_VALUES:
            raise Problem(f"{path}: {name}: holds more than {MOST_VALUES} values, which no take needs")
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Problem(f"{path}: {name}: expected JSON text") from None


def _plain(value: Any) -> Any:
    """numpy's numbers and arrays, as events and shapes may carry them, in JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a take holds plain data, not {type(value).__name__}")
