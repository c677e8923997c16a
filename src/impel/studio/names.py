"""Another name for a body, a walker, a joint or an appointment, wherever a scene speaks of it; or what goes with it."""

from collections.abc import Iterator
from typing import Any

from impel.complaints import name_like
from impel.files import Problem
from impel.scene.joints import JOINTS
from impel.studio.text import REMOVED, Path

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
    _check(data, group, name)
    groups = [group, *(other for other in SHARED.get(group, ()) if name in (data.get(other) or {}))]
    for other in groups:
        if new in data[other]:
            raise Problem(f"{other}.{new}: is there already")
    fields = [(path, now) for path, was in _texts(data) if (now := _said(group, path, was, name, new)) != was]
    return [(other, name) for other in groups], fields


def removed(data: Any, group: str, name: str) -> list[Path]:
    """What goes with an entry that is taken out of a scene: the wishes of a body, its joints and pushes, its
    moments. The last of a list comes first, so that they can be taken out one by one.

    Raises `Problem` if there is no such entry.
    """
    _check(data, group, name)
    gone: set[Path] = set()
    pending = [(group, name)]
    while pending:
        group, name = pending.pop()
        gone |= {(group, name), *_gone_with(data, group, name)}
        for meeting, told in (data.get("appointments") or {}).items():  # that nobody comes to any more
            cues = [("appointments", meeting, "cues", k) for k in range(len(told.get("cues") or []))]
            if cues and gone.issuperset(cues) and ("appointments", meeting) not in gone:
                pending.append(("appointments", meeting))
                gone.add(("appointments", meeting))
    inner = {path for path in gone if any(path[:depth] in gone for depth in range(1, len(path)))}
    return sorted(gone - inner, key=lambda path: [(isinstance(part, int), part) for part in path][::-1], reverse=True)


def recounted(data: Any, path: Path, value: Any) -> list[tuple[Path, Any]]:
    """Cues count keys: what becomes of them when a key of an actor is taken out, or one is put between others."""
    words = path[:-1] if isinstance(path[-1], int) else path
    if len(words) < 3 or words[0] != "actors" or words[3:] not in ((), ("keys",)):
        return []
    _, actor, kind = words[:3]
    keys = (data.get("actors") or {}).get(actor, {}).get(kind)
    keys = keys.get("keys") if isinstance(keys, dict) else keys
    first, more = _counted(keys, path[-1], value)
    found: list[tuple[Path, Any]] = []
    for name, told in (data.get("appointments") or {}).items() if more else ():
        for k, cue in reversed([*enumerate(told.get("cues") or [])]):
            label, _, number = str(cue).rpartition(".")
            if label == f"{actor}.{kind}" and number.isdecimal() and int(number) >= first:
                gone = more < 0 and int(number) == first
                found.append((("appointments", name, "cues", k), REMOVED if gone else f"{label}.{int(number) + more}"))
    return found


def _counted(keys: Any, place: Any, value: Any) -> tuple[int, int]:
    """From which key on they are counted otherwise, and by how much."""
    if value is REMOVED and isinstance(place, int):
        return place, -1
    if not isinstance(keys, list) or not isinstance(value, list) or len(value) != len(keys) + 1:
        return 0, 0
    first = next((k for k, (one, other) in enumerate(zip(keys, value)) if one != other), len(keys))
    return (first, 1) if value[first + 1 :] == keys[first:] else (0, 0)


def _gone_with(data: Any, group: str, name: str) -> Iterator[Path]:
    if group == "bodies" and name in (data.get("actors") or {}):
        yield "actors", name
    for path, was in _texts(data):
        of_a_wish = path[0] in ("appointments", "in_step") or was.startswith("actors.")
        if path[-1] != "in" and _said(group, path, was, name, "") != was and (group != "actors" or of_a_wish):
            yield _whole(path)  # keys in its frame would be elsewhere: whose they are decides about them


def _whole(path: Path) -> Path:
    """What makes no sense without a name that it speaks of."""
    field = path[-1]
    if path[0] == "camera":
        return path[:1]
    if path[0] in ("pushes", "changes", "cameras", "in_step") or (path[0] == "joints" and isinstance(field, int)):
        return path[:2]
    return path


def _check(data: Any, group: str, name: str) -> None:
    members = data.get(group) if isinstance(data, dict) else None
    if group == "world" or not isinstance(members, dict) or name not in members:
        known = members if isinstance(members, dict) else []
        raise Problem(f"{group}: {name_like(str(name), known, 'entry')}")


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
