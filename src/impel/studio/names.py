"""Another name for a body, a walker, a joint or an appointment, wherever a scene speaks of it."""

from collections.abc import Iterator
from typing import Any

from impel.complaints import name_like
from impel.files import Problem
from impel.scene.joints import JOINTS
from impel.studio.text import Path

SHARED = {"bodies": ("actors",), "actors": ("bodies",)}  # an actor is what the body of its name wants
BODIES = ("bodies", "actors", "walkers")
BY_NAME = (("actors", "in"), ("actors", "against"), ("camera", "follow"), ("cameras", "follow"), ("pushes", "body"))
# the group and the name of fields that name one of them, or a part of one
BY_CUE = ("cues", "in_step")  # that list moments of them, such as ball.move.2
MOMENTS = ("from", "until", "after")  # that may name appointments


def renamed(data: Any, group: str, name: str, new: str) -> tuple[list[Path], list[tuple[Path, str]]]:
    """Which entries of a scene get the new name, and which fields other values.

    Raises `Problem` if there is no such entry, or the new name is taken.
    """
    members = data.get(group) if isinstance(data, dict) else None
    if group == "world" or not isinstance(members, dict) or name not in members:
        known = members if isinstance(members, dict) else []
        raise Problem(f"{group}: {name_like(str(name), known, 'entry')}")
    groups = [group, *(other for other in SHARED.get(group, ()) if name in (data.get(other) or {}))]
    for other in groups:
        if new in data[other]:
            raise Problem(f"{other}.{new}: is there already")
    fields = [(path, now) for path, was in _texts(data) if (now := _said(group, path, was, name, new)) != was]
    return [(other, name) for other in groups], fields


def _said(group: str, path: Path, was: str, name: str, new: str) -> str:
    """What a text in a scene becomes."""
    words = [part for part in path if isinstance(part, str)]
    field = words[-1]
    if field == "field" and path[0] == "changes":
        head, _, rest = was.partition(".")
        same = head == group or head in SHARED.get(group, ())
        return f"{head}.{_first(rest, name, new)}" if same else was
    if group == "appointments":
        return new if was == name and field in MOMENTS else was
    if group not in BODIES:
        return was
    if (path[0], field) in BY_NAME or field in BY_CUE or path[0] in BY_CUE:
        return _first(was, name, new)
    return new if was == name and path[0] == "joints" and field in JOINTS else was


def _first(text: str, name: str, new: str) -> str:
    head, dot, rest = text.partition(".")
    return new + dot + rest if head == name else text


def _texts(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """All that is text in a scene, and where it stands."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*path, key))
    elif isinstance(data, list):
        for k, value in enumerate(data):
            yield from _texts(value, (*path, k))
