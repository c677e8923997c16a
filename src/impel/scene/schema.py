"""The JSON Schema of scene files: what editors complete from, with a sentence for animators on every field."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from impel.scene.bodies import SHAPES
from impel.scene.joints import JOINTS
from impel.scene.scene import Scene


class _WithoutNull(GenerateJsonSchema):
    """A field that may be left out may not be written empty: files know no null."""

    def nullable_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Any:
        written = super().default_schema(schema)
        if written.get("default", ...) is None:
            del written["default"]
        return written


def scene_schema() -> dict[str, Any]:
    """The JSON Schema of scene files as plain data."""
    schema = Scene.model_json_schema(schema_generator=_WithoutNull)
    for name, kinds in (("Shape", SHAPES), ("Joint", JOINTS)):
        schema["$defs"][name]["oneOf"] = [{"required": [kind]} for kind in kinds]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "impel scene"}
