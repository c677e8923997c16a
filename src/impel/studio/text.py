"""Changes one field in the text of a scene and nothing else: comments, order and layout stay as the person wrote them.

YAML's parser tells where each value begins and ends; a new value is put into that place. JSON is read the same way.
"""

import json
import re
from typing import Any

from impel.files import Problem, format_document, parse_document

Path = tuple[str | int, ...]  # such as ("actors", "ball", "move", "keys", 2)

REMOVED = object()  # instead of a value: take the field out
_ALIAS = re.compile(r"\*[^\s,\]}]+")
_PLAIN = re.compile(r"[A-Za-z_]\w*([. ]\w+)*", re.ASCII)  # names, and what is made of them, that need no quotes ...


def with_value(text: str, path: Path, value: Any, *, as_json: bool = False) -> str:
    """The text with another value in the place of a field; the field, and the ones that hold it, are added where they
    are missing. `REMOVED` takes it out."""
    node = _composed(text)
    if node is None:
        raise Problem("the scene: is empty")
    way = []  # the collections on the way, and which of their entries it goes through
    for depth, part in enumerate(path):
        k = _find(node, part)
        if k is None:
            if value is REMOVED:
                return text
            for inner in reversed(path[depth + 1 :]):
                value = [value] if isinstance(inner, int) else {inner: value}
            return _added(text, node, part, value, as_json)
        way.append((node, k))
        inner = _entries(node)[k][1]
        if not _written_here(node, k) and depth + 1 < len(path):  # only a name for it: write it out
            text = _replaced(text, node, k, _written(_plain(inner), as_json))
            return with_value(text, path, value, as_json=as_json)
        node = inner
    if value is REMOVED:
        return _without(text, way)
    if isinstance(value, list) and node.id == "sequence" and _written_here(*way[-1]):
        return _with_entries(text, path, way[-1], value, as_json)
    return _replaced(text, *way[-1], _written(value, as_json))


def _with_entries(text: str, path: Path, place: tuple[Any, int], new: list[Any], as_json: bool) -> str:
    """The text with another list in the place of one: entries that stay keep their layout and comments."""
    old = _plain(_entries(place[0])[place[1]][1])
    least = min(len(old), len(new))
    begin = next((i for i in range(least) if old[i] != new[i]), least)
    ending = next((i for i in range(least - begin) if old[-1 - i] != new[-1 - i]), least - begin)
    if begin + ending == 0:
        return _replaced(text, *place, _written(new, as_json))
    for i in range(begin, least - ending):
        text = with_value(text, (*path, i), new[i], as_json=as_json)
    for i in reversed(range(least - ending, len(old) - ending)):
        text = with_value(text, (*path, i), REMOVED, as_json=as_json)
    for i in range(least - ending, len(new) - ending):
        text = _with_entry(text, path, i, _written(new[i], as_json))
    return text


def _with_entry(text: str, path: Path, k: int, new: str) -> str:
    """The text with one entry more in a list, before the k-th."""
    node = _composed(text)
    for part in path:
        node = _entries(node)[_find(node, part) or 0][1]
    if k > 0:
        return _behind(text, node, k - 1, new)
    start = _begin(text, node, 0)
    return _spliced(text, start, start, f"{new}, " if node.flow_style else f"- {new}\n" + " " * node.start_mark.column)


def with_name(text: str, path: Path, name: str, *, as_json: bool = False) -> str:
    """The text with another name for an entry, which stays where it is."""
    node = _composed(text)
    for part in path[:-1]:
        node = _entries(node)[_find(node, part) or 0][1]
    key, _ = node.value[_find(node, path[-1]) or 0]
    return _spliced(text, key.start_mark.index, key.end_mark.index, _name(name, as_json))


def _replaced(text: str, node: Any, k: int, new: str) -> str:
    """Another value, on one line; of a block, which may stand on lines of its own, what is behind its name."""
    start, end = _span(text, node, k)
    key, _ = _entries(node)[k]
    if node.id == "mapping" and "\n" in text[key.end_mark.index : start]:
        start = text.index(":", key.end_mark.index) + 1
        new = " " + new
    return _spliced(text, start, end, new)


def _composed(text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _entries(node: Any) -> list[tuple[Any, Any]]:
    """(key, value) of a mapping; (value, value) of a list."""
    if node.id == "mapping":
        return list(node.value)
    return [(item, item) for item in node.value] if node.id == "sequence" else []


def _find(node: Any, part: str | int) -> int | None:
    if node.id == "mapping":
        return next((k for k, (key, _) in enumerate(node.value) if key.value == str(part)), None)
    return part if node.id == "sequence" and isinstance(part, int) and part < len(node.value) else None


def _written_here(node: Any, k: int) -> bool:
    """Whether an entry's value stands here, and is not written elsewhere and only meant by *name."""
    key, value = _entries(node)[k]
    if node.id == "mapping":
        return bool(key.end_mark.index <= value.start_mark.index and value.end_mark.index <= node.end_mark.index)
    inside = node.start_mark.index <= value.start_mark.index and value.end_mark.index <= node.end_mark.index
    return bool(inside and all(value is not other for other, _ in _entries(node)[:k]))


def _span(text: str, node: Any, k: int) -> tuple[int, int]:
    """Where the value of an entry begins and ends."""
    key, value = _entries(node)[k]
    if _written_here(node, k):
        return value.start_mark.index, _end(text, value)
    after = key.end_mark.index if node.id == "mapping" else _span(text, node, k - 1)[1] if k else node.start_mark.index
    match = _ALIAS.search(text, after)
    assert match is not None
    return match.span()


def _end(text: str, node: Any) -> int:
    """Where a value ends; a block's end is that of its last entry, not of the comments behind it."""
    if node.id != "scalar" and not node.flow_style and node.value:
        return _span(text, node, len(node.value) - 1)[1]
    end: int = node.end_mark.index
    while end > node.start_mark.index and text[end - 1] in " \n":
        end -= 1
    return end


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _added(text: str, node: Any, part: str | int, value: Any, as_json: bool) -> str:
    named = node.id == "mapping"
    new = (_name(str(part), as_json) + ": " if named else "") + _written(value, as_json)
    if node.id == "scalar":
        return _spliced(text, node.start_mark.index, _end(text, node), _written({part: value}, as_json))
    if not node.value:
        return _spliced(text, node.start_mark.index, node.end_mark.index, f"{{{new}}}" if named else f"[{new}]")
    return _behind(text, node, len(node.value) - 1, new)


def _behind(text: str, node: Any, k: int, new: str) -> str:
    """One entry more, behind the k-th."""
    end = _span(text, node, k)[1]
    if node.flow_style:
        return _spliced(text, end, end, f", {new}")
    line = text.find("\n", end)  # behind a comment, if there is one
    line = len(text) if line < 0 else line
    dash = "" if node.id == "mapping" else "- "
    return _spliced(text, line, line, "\n" + " " * node.start_mark.column + dash + new)


def _without(text: str, way: list[tuple[Any, int]]) -> str:
    node, k = way[-1]
    entries = _entries(node)
    if len(entries) == 1:
        empty = "{}" if node.id == "mapping" else "[]"
        if len(way) == 1:
            return _spliced(text, node.start_mark.index, _end(text, node), empty)
        holds, _ = way[-2]
        if node.id == holds.id == "mapping":  # an empty group says nothing
            return _without(text, way[:-1])
        return _replaced(text, *way[-2], empty)
    end = _span(text, node, k)[1]
    if k + 1 < len(entries):
        start, after = _begin(text, node, k), _begin(text, node, k + 1)
        line = text.find("\n", end, after)
        if node.flow_style or line < 0 or _begins_line(text, start):
            # Up to the next one; in a block, the comments above that stay with it.
            return _spliced(text, start, after if node.flow_style else _after_line(text, end, start), "")
        return _spliced(text, start, after, "")
    if node.flow_style:
        return _spliced(text, _span(text, node, k - 1)[1], end, "")
    return _spliced(text, _line_of(text, _begin(text, node, k)), _after_line(text, end, 0), "")


def _begin(text: str, node: Any, k: int) -> int:
    """Where an entry begins: its key, or the dash before it."""
    key, _ = _entries(node)[k]
    if node.id == "mapping" or node.flow_style:
        return int(key.start_mark.index) if node.id == "mapping" or _written_here(node, k) else _span(text, node, k)[0]
    return text.rindex("-", 0, _span(text, node, k)[0])


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" ")


def _line_of(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _after_line(text: str, end: int, start: int) -> int:
    """The end of the line, and of the blanks that the next one begins with, as far as `start` is indented."""
    line = text.find("\n", end)
    if line < 0:
        return len(text)
    return line + 1 + (start - _line_of(text, start))


def _plain(node: Any) -> Any:
    """What a node stands for, as plain data."""
    if node.id == "mapping":
        return {key.value: _plain(value) for key, value in node.value}
    if node.id == "sequence":
        return [_plain(value) for value in node.value]
    return node.value if node.style in ("'", '"') else parse_document(f"v: {node.value}", "value")["v"]


def _name(name: str, as_json: bool) -> str:
    return json.dumps(name, ensure_ascii=as_json) if as_json or not _is_plain(name) else name


def _is_plain(text: str) -> bool:
    """... unless YAML takes them for something else, as it does `on`."""
    return bool(_PLAIN.fullmatch(text)) and parse_document(f"v: {text}", "value")["v"] == text


def _written(value: Any, as_json: bool) -> str:
    """A value as it stands on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_name(str(k), as_json)}: {_written(v, as_json)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(v, as_json) for v in value) + "]"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return f"{value:.9g}"
    if as_json or not isinstance(value, str):
        return json.dumps(value)
    if _is_plain(value):
        return value
    text = format_document({"v": value}).removeprefix("v:").strip()
    plain = "\n" not in text and not set(text) & set(",[]{}") and not text.startswith(("|", ">"))
    return text if plain or text[:1] in "'\"" else json.dumps(value, ensure_ascii=False)
