"""The form that a server holds a model's replies to: JSON by a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def object_schema(properties: Mapping[str, object]) -> dict[str, Any]:
    """Return the schema of an object that has all of some properties, in their order, and no other.

    Strict schemas of OpenAI's interface require both.
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def schema_format(name: str, schema: Mapping[str, object]) -> dict[str, Any]:
    """Return the ``response_format`` of requests for JSON by a schema.

    Args:
        name: Of the schema, which servers ask for.
        schema: See ``object_schema``.
    """
    named = {"name": name, "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": named}
