"""Changes one field in the text of a scene and nothing else: comments, order and layout stay as the person wrote them.

YAML's parser tells where each value begins and ends; a new value is put into that place. JSON is read the same way.
"""

import json
import re
from typing import Any

from impel.files import Problem, format_document

Path = tuple[str | int, ...]  # such as ("actors", "ball", "move", "keys", 2)

REMOVED = object()  # instead of a value: take the field out
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # names that need no quotes


def with_value(text: str, path: Path, value: Any, *, as_json: bool = False) -> str:
    """The text with another value in the place of a field; the field, and the ones that hold it, are added where they
    are missing. `REMOVED` takes it out."""
    root = _composed(text)
    if root is None:
        raise Problem("the scene: is empty")
    node, depth = root, 0
    while depth < len(path):
        child = _child(node, path[depth])
        if child is None or not _inside(child, node):
            break
        node, depth = child, depth + 1
    if depth == len(path):
        if value is REMOVED:
            return _without(text, root, path)
        return _spliced(text, node.start_mark.index, _end(text, node), _written(value, as_json))
    if value is REMOVED:
        return text
    if _child(node, path[depth]) is not None:  # it stands for what is written elsewhere: write it out here
        whole = _plain(_child(node, path[depth]), as_json)
        return with_value(
            _replaced(text, node, path[depth], _written(whole, as_json)), path, value, as_json=as_json
        )
    for part in reversed(path[depth + 1 :]):
        value = [value] if isinstance(part, int) else {part: value}
    return _added(text, node, path[depth], value, as_json)


def _composed(text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _entries(node: Any) -> list[tuple[Any, Any]]:
    """(key, value) of a mapping; (value, value) of a list."""
    return node.value if node.id == "mapping" else [(item, item) for item in node.value] if node.id == "sequence" else []


def _child(node: Any, part: str | int) -> Any:
    if node.id == "mapping":
        return next((value for key, value in node.value if key.value == str(part)), None)
    if node.id == "sequence" and isinstance(part, int) and 0 <= part < len(node.value):
        return node.value[part]
    return None


def _inside(child: Any, node: Any) -> bool:
    """Whether a value is written here, and not somewhere else and only meant by *name."""
    return node.start_mark.index <= child.start_mark.index and child.end_mark.index <= node.end_mark.index


def _end(text: str, node: Any) -> int:
    """Where a value ends; a block's end is that of its last entry, not of the comments behind it."""
    if node.id == "scalar" or node.flow_style or not node.value:
        end: int = node.end_mark.index
        if node.id == "scalar" and node.style in ("|", ">"):
            return end
        return _trimmed(text, node.start_mark.index, end)
    key, value = _entries(node)[-1]
    return _end(text, value) if _inside(value, node) else text.index("\n", key.end_mark.index)


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in " \n":
        end -= 1
    return end


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _replaced(text: str, node: Any, part: str | int, new: str) -> str:
    """Put a value in the place of *name."""
    key = next(key for key, _ in node.value if key.value == part) if node.id == "mapping" else None
    at = key.end_mark.index if key is not None else node.start_mark.index
    match = re.compile(r"\*[^\s,\]}]+").search(text, at)
    assert match is not None
    return _spliced(text, match.start(), match.end(), new)


def _added(text: str, node: Any, part: str | int, value: Any, as_json: bool) -> str:
    if node.id not in ("mapping", "sequence"):
        return _spliced(text, node.start_mark.index, _end(text, node), _written({part: value}, as_json))
    named = node.id == "mapping"
    name = _name(str(part), as_json) + ": " if named else ""
    new = name + _written(value, as_json)
    if node.flow_style or not node.value:
        end = node.end_mark.index - 1
        if not node.value:
            return _spliced(text, node.start_mark.index, node.end_mark.index, ("{%s}" if named else "[%s]") % new)
        return _spliced(text, _trimmed(text, 0, end), end, f", {new}")
    column = node.start_mark.column
    end = _end(text, node)
    line = text.find("\n", end)
    line = len(text) if line < 0 else line
    begin = "\n" + " " * column + ("" if named else "- ")
    return _spliced(text, line, line, begin + new)


def _without(text: str, root: Any, path: Path) -> str:
    node = root
    for part in path[:-1]:
        node = _child(node, part)
    entries = _entries(node)
    k = next(k for k, (key, value) in enumerate(entries) if value is _child(node, path[-1]))
    key, value = entries[k]
    if len(entries) == 1:
        if len(path) > 1 and node.id == "mapping":  # an empty group says nothing
            return _without(text, root, path[:-1])
        return _spliced(text, node.start_mark.index, _end(text, node), "{}" if node.id == "mapping" else "[]")
    if node.flow_style:
        if k + 1 < len(entries):
            return _spliced(text, key.start_mark.index, entries[k + 1][0].start_mark.index, "")
        return _spliced(text, _end(text, entries[k - 1][1]), _end(text, value), "")
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    end = text.find("\n", _end(text, value))
    end = len(text) if end < 0 else end + 1
    if text[start : key.start_mark.index].strip(" -"):  # the first of a list in a list: keep what is before it
        start = key.start_mark.index
        end = entries[k + 1][0].start_mark.index
    elif node.id == "sequence" and k == 0 and "- " * 2 in text[start : key.start_mark.index]:
        start, end = key.start_mark.index, entries[1][0].start_mark.index
    elif node.id == "mapping" and k == 0 and "-" in text[start : key.start_mark.index]:
        start, end = key.start_mark.index, entries[1][0].start_mark.index
    return _spliced(text, start, end, "")


def _plain(node: Any, as_json: bool) -> Any:
    """What a node stands for, as plain data."""
    from impel.files import parse_document

    if node.id == "mapping":
        return {key.value: _plain(value, as_json) for key, value in node.value}
    if node.id == "sequence":
        return [_plain(value, as_json) for value in node.value]
    if node.style in ("'", '"'):
        return node.value
    return parse_document(f"v: {node.value}", "value")["v"]


def _name(name: str, as_json: bool) -> str:
    return json.dumps(name) if as_json or not _PLAIN.fullmatch(name) else name


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
    text = format_document({"v": value}).removeprefix("v:").strip()
    plain = "\n" not in text and not set(text) & set(",[]{}") and not text.startswith(("|", ">"))
    return text if plain or text[:1] in "'\"" else json.dumps(value, ensure_ascii=False)
