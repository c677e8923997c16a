"""The JSON Schema of files: what editors complete from, with a sentence for animators on every field."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from impel.scene.bodies import SHAPES
from impel.scene.joints import JOINTS
from impel.scene.scene import Scene
from impel.scene.values import AGAIN, CHANGES


class _WithoutNull(GenerateJsonSchema):
    """A field that may be left out may not be written empty: files know no null."""

    def default_schema(self, schema: Any) -> Any:
        if schema.get("default", ...) is not None:
            return super().default_schema(schema)
        inner = schema["schema"]
        return self.generate_inner(inner["schema"] if inner["type"] == "nullable" else inner)


def _tell_changes(node: Any, definitions: dict[str, Any], told: str, within: tuple[str, ...] = ()) -> None:
    """Write down with every field what it takes to change it; what a field says holds for all that is in it. What is
    within itself, as a compound in a compound, is told once."""
    if isinstance(node, list):
        for item in node:
            _tell_changes(item, definitions, told, within)
    if not isinstance(node, dict):
        return
    for field in node.get("properties", {}).values():
        field.setdefault(CHANGES, told)
        _tell_changes(field, definitions, field[CHANGES], within)
    for inside in ("items", "additionalProperties", "anyOf", "allOf", "oneOf"):
        _tell_changes(node.get(inside), definitions, told, within)
    name = node.get("$ref", "").removeprefix("#/$defs/")
    if name and name not in within:
        _tell_changes(definitions[name], definitions, told, (*within, name))


def schema_of(model: type[BaseModel], kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file as plain data."""
    schema = model.model_json_schema(schema_generator=_WithoutNull)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"impel {kind}"}


def scene_schema() -> dict[str, Any]:
    """The JSON Schema of scene files, which also tells what it takes to change a field."""
    schema = schema_of(Scene, "scene")
    _tell_changes(schema, schema["$defs"], AGAIN)
    for name, kinds in (("Shape", SHAPES), ("Part", SHAPES), ("Joint", JOINTS)):
        schema["$defs"][name]["oneOf"] = [{"required": [kind]} for kind in kinds]
    return schema
