"""Writes docs/fields.md, every field of a scene, from the same sentences as `impel schema`.

python docs/fields.py        (`make pages`; a test fails while the page is out of date)
"""

import json
from pathlib import Path
from typing import Any

from impel.scene import values
from impel.scene.schema import scene_schema

PAGE = Path(__file__).with_suffix(".md")

INTRODUCTION = """# Every field of a scene

Written by `docs/fields.py` from the sentences of `impel schema`: edit those, not this page. [scene.md](scene.md) shows
how the fields go together.

A field with a **bold** name must be given. The last column tells what it takes to change the field of a scene that
plays: in place (●), or the scene is laid out again and begins anew (○), or it becomes a new kind of scene, for which
kernels are compiled (✻).
"""

SIGNS = {values.IN_PLACE: "●", values.AGAIN: "○", values.NEW_KIND: "✻"}
WORDS = {"number": "number", "integer": "whole number", "string": "text", "boolean": "true or false"}


def text() -> str:
    """The page."""
    schema = scene_schema()
    definitions = schema["$defs"]
    examples = {model.__name__: model.example for model in _models(values.Model)}
    parts, seen, ahead = [INTRODUCTION, _section("Scene", schema, None)], {"Scene"}, [*_mentioned(schema)]
    while ahead:
        name = ahead.pop(0)
        if name not in seen:
            seen.add(name)
            parts.append(_section(name, definitions[name], examples[name]))
            ahead = [*_mentioned(definitions[name]), *ahead]
    return "\n".join(parts)


def _models(model: type) -> list[Any]:
    return [model, *(each for sub in model.__subclasses__() for each in _models(sub))]


def _mentioned(node: Any) -> list[str]:
    """The definitions that a part of the schema refers to, in order."""
    if isinstance(node, list):
        return [name for item in node for name in _mentioned(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else []
    return own + [name for key, item in node.items() if key != "$defs" for name in _mentioned(item)]


def _section(name: str, node: dict[str, Any], example: str | None) -> str:
    if "anyOf" in node:  # a short form, and one with fields
        node = next(one for one in node["anyOf"] if one.get("type") == "object")
    lines = [f"## {name}", "", " ".join(node.get("description", "").split())]
    if example is not None:
        lines += ["", f"    {example}"]
    fields = node.get("properties", {})
    if fields:
        lines += ["", "| field | what it is | written as | left out | |", "|---|---|---|---|---|"]
    for field, told in fields.items():
        title = f"**{field}**" if field in node.get("required", []) else field
        default = "" if "default" not in told else f"`{json.dumps(_short(told['default']), ensure_ascii=False)}`"
        cells = [title, told.get("description", ""), _form(told), default, SIGNS[told["changes"]]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.4g}")
    return [_short(item) for item in value] if isinstance(value, list) else value


def _form(node: dict[str, Any]) -> str:
    """How a value is written."""
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "allOf"):
        if several in node:
            return " or ".join(dict.fromkeys(_form(one) for one in node[several]))
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return " or ".join(str(one) for one in node["enum"])
    if "prefixItems" in node:
        return "[" + ", ".join(_form(one) for one in node["prefixItems"]) + "]"
    if node.get("type") == "array" and "items" in node:
        count = node["minItems"] if "minItems" in node and node["minItems"] == node.get("maxItems") else None
        of = _form(node["items"])
        return f"{count} × {of}" if count else f"list of {of}"
    if node.get("type") == "object" and "additionalProperties" in node:
        return f"name: {_form(node['additionalProperties'])}"
    return WORDS.get(node.get("type", ""), "any")


if __name__ == "__main__":
    PAGE.write_text(text())
