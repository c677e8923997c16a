"""Keys from a file: a clip of dense keys, as a capture, an animation program or an earlier take gives them."""

import contextlib
import csv
import io
import math
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from impel.complaints import name_like
from impel.files import Problem, find_beside, name_beside, read_text
from impel.scene.values import LARGEST, Model, angle_between, orientation

STILL = 1e-9  # m
GAP = 2.5  # times the usual time from one key to the next: what is longer is a gap
MOVE = ("x", "y", "z")
TURN = ("turn x", "turn y", "turn z")
QUATERNION = ("qw", "qx", "qy", "qz")

_beside: ContextVar[Path | None] = ContextVar("beside", default=None)

Row = tuple[float, ...]


class Clip(Model):
    """A file of keys, and whose they are."""

    example: ClassVar[str] = "clip.npz or {file: clip.csv, body: hand}"
    file: str = Field(
        min_length=1,
        max_length=1000,
        description="The file: a take (.npz or .csv), or a table of time and x, y, z, or turn x, turn y, turn z.",
    )
    body: str | None = Field(
        default=None,
        description="The body in it whose motion is meant; left out, the one of the same name, or the only one.",
    )


@contextlib.contextmanager
def beside(file: str | Path) -> Iterator[None]:
    """While a scene `file` is read, the clips that it names are looked for beside it."""
    token = _beside.set(Path(file))
    try:
        yield
    finally:
        _beside.reset(token)


def find_clip(name: str) -> str:
    """Where a clip is, seen from here."""
    file = _beside.get()
    return name if file is None else str(find_beside(file, name))


def clip_keys(clip: Clip, actor: str | None, turns: bool) -> list[dict[str, Any]]:
    """The keys in a clip as they would be written, the first at time 0; raises `Problem`, one line, if it has none."""
    source, suffix = clip.file, Path(clip.file).suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise Problem(f"{source}: must be a .npz or a .csv")
    times, kind, rows = (_from_arrays if suffix == ".npz" else _from_table)(clip, actor, turns)
    if len(times) < 2:
        raise Problem(f"{source}: has {len(times)} keys, and a motion needs two or more")
    _check(source, times, rows)
    keys: list[dict[str, Any]] = [{kind: list(row), "time": time - times[0]} for time, row in zip(times, rows)]
    return [keys[0] | _on_the_move(kind, rows[0], rows[1], times[1] - times[0]), *keys[1:]]


def _on_the_move(kind: str, here: Row, there: Row, seconds: float) -> dict[str, Any]:
    """How a clip begins that was cut out of a motion: as fast as it goes on, not from rest."""
    if kind == "at":
        way = [b - a for a, b in zip(here, there)]
        return {"speed": math.hypot(*way) / seconds, "direction": way} if math.hypot(*way) > STILL else {}
    one, other = (_orientation(kind, row) for row in (here, there))
    return {"speed": math.degrees(angle_between(one, other)) / seconds}


def _orientation(kind: str, row: Row) -> tuple[float, float, float, float]:
    if kind == "euler":
        x, y, z = row
        return orientation((x, y, z), None)
    w, x, y, z = row
    return orientation(None, (w, x, y, z))


def _check(source: str, times: Sequence[float], rows: Sequence[Row]) -> None:
    """Complain about the first key that is missing, out of order, or too long after the one before."""
    for i, (time, row) in enumerate(zip(times, rows), 1):
        if not all(abs(number) <= LARGEST for number in (time, *row)):  # also false for NaN
            raise Problem(f"{source}: key {i}: has a gap: a number in it is missing, or not finite")
    steps = [b - a for a, b in pairwise(times)]
    usual = sorted(steps)[len(steps) // 2]
    for i, step in enumerate(steps):
        at = f"{source}: key {i + 2}"
        if not step > 0:
            raise Problem(f"{at}: its time must be later than {times[i]:g}, the time before it, got {times[i + 1]:g}")
        if step > GAP * usual:
            gap = f"{step:.3g} s after {times[i]:.4g} s, where a key comes every {usual:.3g} s"
            raise Problem(f"{at}: comes after a gap: {gap}; fill it, or cut the clip there")


def _from_table(clip: Clip, actor: str | None, turns: bool) -> tuple[list[float], str, list[Row]]:
    lines = list(csv.reader(io.StringIO(read_text(clip.file))))
    header = [word.strip().lower() for word in lines[0]] if lines else []
    names = TURN if turns and set(TURN) <= set(header) else QUATERNION if turns else MOVE
    missing = [name for name in ("time", *names) if name not in header]
    if missing:
        wanted = f"{', '.join(TURN)} or {', '.join(QUATERNION)}" if turns else ", ".join(MOVE)
        raise Problem(f"{clip.file}: has no column called {missing[0]!r}; it needs time and {wanted}")
    table = [row for row in lines[1:] if any(cell.strip() for cell in row)]
    if "body" in header:
        column = header.index("body")
        whose = _whose(clip, actor, [*dict.fromkeys(row[column].strip() for row in table if len(row) > column)])
        table = [row for row in table if len(row) > column and row[column].strip() == whose]
    columns = [header.index(name) for name in ("time", *names)]
    numbers = [tuple(_number(row, column) for column in columns) for row in table]
    kind = "at" if not turns else "quaternion" if names is QUATERNION else "euler"
    return [row[0] for row in numbers], kind, [row[1:] for row in numbers]


def _number(row: Sequence[str], column: int) -> float:
    try:
        return float(row[column])
    except (ValueError, IndexError):
        return math.nan


def _from_arrays(clip: Clip, actor: str | None, turns: bool) -> tuple[list[float], str, list[Row]]:
    import numpy as np

    from impel.takes.unpacking import read_arrays

    arrays = read_arrays(clip.file)
    kinds = {"euler": 3, "quaternion": 4} if turns else {"at": 3}
    found = [name for name in kinds if name in arrays]
    if "names" in arrays and not found:  # a take
        names = [str(name) for name in arrays["names"].ravel()]
        column = names.index(_whose(clip, actor, names))
        kind, array = ("quaternion", "orientation") if turns else ("at", "position")
        values = np.asarray(arrays.get(array, np.zeros(0)))
        values = values[:, column] if values.ndim == 3 and values.shape[1] == len(names) else values
    elif found:
        kind, values = found[0], arrays[found[0]]
    else:
        raise Problem(f"{clip.file}: is no take, and holds no {' or '.join(kinds)} beside its time")
    time, width = arrays.get("time", np.zeros(0)), 4 if kind == "quaternion" else 3
    plain = all(array.dtype.kind in "fiu" for array in (time, values))
    if not plain or time.ndim != 1 or values.shape != (len(time), width):
        raise Problem(f"{clip.file}: needs time (n) and {kind} (n, {width}), all numbers")
    return time.astype(float).tolist(), kind, [tuple(row) for row in values.astype(float).tolist()]


def _whose(clip: Clip, actor: str | None, names: list[str]) -> str:
    """Which body of a clip is meant."""
    name = clip.body if clip.body is not None else actor if actor in names or len(names) != 1 else names[0]
    if name is None or name not in names:
        hint = "" if clip.body is not None else "; write {file: ..., body: ...}"
        raise Problem(f"{clip.file}: {name_like(name or '', names, 'body')}{hint}")
    return name


def read_clips(actors: Any) -> Any:
    """Actors as plain data, in which the keys that are in files stand beside the names of these; raises `Problem`."""
    if not isinstance(actors, dict):
        return actors
    return {name: _with_clips(name, actor) if isinstance(actor, dict) else actor for name, actor in actors.items()}


def _with_clips(name: Any, actor: dict[Any, Any]) -> dict[Any, Any]:
    read = dict(actor)
    for kind in ("move", "turn"):
        wish = actor.get(kind)
        if not isinstance(wish, dict) or wish.get("keys_from") is None:
            continue
        where = f"actors.{name}.{kind}.keys_from"
        if "keys" in wish:
            raise Problem(f"{where}: give keys or keys_from, not both")
        given = wish["keys_from"]
        given = {"file": given} if isinstance(given, str) else given
        if isinstance(given, dict) and isinstance(given.get("file"), str):  # else the model complains
            given = given | {"file": find_clip(given["file"])}
            try:
                keys = clip_keys(Clip.model_construct(**{"body": None, **given}), name, kind == "turn")
            except Problem as problem:
                raise Problem(*(f"{where}: {line}" for line in problem.lines)) from None
            read[kind] = wish | {"keys_from": given, "keys": keys}
    return read


def name_clips(actors: dict[str, Any], file: str | Path) -> dict[str, Any]:
    """Actors with their clips as a scene `file` names them."""
    named = {}
    for name, actor in actors.items():
        for kind in ("move", "turn"):
            wish = getattr(actor, kind)
            if wish is not None and wish.keys_from is not None:
                clip = wish.keys_from.model_copy(update={"file": name_beside(file, wish.keys_from.file)})
                actor = actor.model_copy(update={kind: wish.model_copy(update={"keys_from": clip})})
        named[name] = actor
    return named
