"""JSON schemas of the files that people write by hand, made of the settings themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.data.schema import ArenaInfo
from surrogate.runs.configured import BOARD_NAME, BoardOptions, Configuration

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def configuration_schema() -> dict[str, Any]:
    """Return the schema of a configuration of leaderboards (TOML).

    What only the command can tell is left to it: names of features and surrogates, and keys that
    contradict each other.
    """
    options = BoardOptions.model_json_schema()
    definitions = options.pop("$defs")
    # The defaults may hold what a board must have.
    del options["required"]
    schema = Configuration.model_json_schema()
    reference = {"$ref": "#/$defs/BoardOptions"}
    properties = schema["properties"]
    properties["defaults"] = {"description": properties["defaults"]["description"], **reference}
    properties["boards"]["additionalProperties"] = reference
    properties["boards"]["propertyNames"] = {"pattern": f"^{BOARD_NAME.pattern}$"}
    schema["$defs"] |= {**definitions, "BoardOptions": options}
    return {"$schema": DIALECT, **schema}


def arena_schema() -> dict[str, Any]:
    """Return the schema of ``arena.json``."""
    return {"$schema": DIALECT, **ArenaInfo.model_json_schema()}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "config": configuration_schema,
    "arena": arena_schema,
}
"""What the command ``schema`` prints, by name."""
