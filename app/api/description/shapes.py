"""Turns the shapes of ``app.api.description.describe`` into JSON Schemas; types of the core become named components.

Values are described as ``core.model.codec.to_dict`` writes them: every field is there, moments are ISO 8601, bytes are
base64.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from pydantic import TypeAdapter

from app.api.description.describe import Field, Obj

REFERENCE = "#/components/schemas/{model}"
_CODE = re.compile(r"``(.+?)``", re.DOTALL)

Schema = dict[str, Any]


class Schemas:
    """Makes schemas, and keeps the components that they refer to."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def of(self, shape: Any) -> Schema:
        """Return the schema of a shape."""
        if isinstance(shape, Field):
            return self._field(shape)
        if isinstance(shape, Obj):
            found: Schema = {
                "type": "object",
                "properties": {name: self.of(inner) for name, inner in shape.fields.items()},
                "additionalProperties": False,
            }
            required = [name for name in shape.fields if name not in shape.optional]
            return found | ({"required": required} if required else {})
        if isinstance(shape, Mapping):
            return dict(shape)
        if isinstance(shape, list):
            return {"type": "array", "items": self.of(shape[0])}
        return self._type(shape)

    def _field(self, field: Field) -> Schema:
        found = dict(field.schema)
        if field.about:
            found["description"] = plain(field.about)
        if field.default not in (None, "", ()):
            found["default"] = field.default
        if field.example is not None:
            found["examples"] = [field.example]
        return found

    def _type(self, kind: Any) -> Schema:
        written: Schema = TypeAdapter(kind).json_schema(mode="serialization", ref_template=REFERENCE)
        for name, schema in written.pop("$defs", {}).items():
            self.components.setdefault(name, _written(schema))
        if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Enum)) and "$ref" not in written:
            self.components.setdefault(kind.__name__, _written(written))
            return {"$ref": REFERENCE.format(model=kind.__name__)}
        found: Schema = _written(written)
        return found


def plain(text: str) -> str:
    """Return a docstring or a remark as Markdown on one line a paragraph."""
    paragraphs = re.split(r"\n\s*\n", _CODE.sub(r"`\1`", text.strip()))
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _written(schema: Any) -> Any:
    """Correct what pydantic says of a value to what the codec writes of it."""
    if isinstance(schema, list):
        return [_written(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = "properties" in schema and isinstance(schema["properties"], dict)
    found = {
        name: {key: _written(inner) for key, inner in value.items()}
        if name == "properties" and named
        else _written(value)
        for name, value in schema.items()
        if name not in ("title", "default")
    }
    if found.get("format") == "binary":
        del found["format"]
        found["contentEncoding"] = "base64"
    if named:
        found["required"] = list(found["properties"])
    description = found.get("description")
    if isinstance(description, str):
        found["description"] = plain(description)
    return found
