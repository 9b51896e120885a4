"""Where programs write what an arena holds: the field maps of ``tools.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict


class FieldMap(BaseModel):
    """How a program writes answers, as ``tools.toml`` has it.

    Attributes:
        fields: Field to the names or paths where it may stand, the best first.
        hint: What to write or export where a file holds something else.
        lists: Where a JSON object holds its records, the first that is there.
        scores: Name of a score to its path; a star in it stands for names of scores.
        left_out: Paths that tell that a record is no answer, each with the reason.
        variant: Path of what tells several prompts of one system apart, if it has them.
        spans: Whether records are spans, of which those that answer are joined with their trace.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: dict[str, list[str]]
    hint: str
    lists: list[str] = []
    scores: dict[str, str] = {}
    left_out: list[dict[str, Any]] = []
    variant: str | None = None
    spans: bool = False


@cache
def kinds() -> Mapping[str, FieldMap]:
    """Return the kinds of ``tools.toml`` by name."""
    told = tomllib.loads(files(__package__).joinpath("tools.toml").read_text(encoding="utf-8"))
    names = told.pop("names")

    def expanded(path: str) -> list[str]:
        start, brace, rest = path.partition("{")
        return [start + name for name in names[rest[:-1]]] if brace else [path]

    for kind in told.values():
        kind["fields"] = {
            ours: [place for path in paths for place in expanded(path)]
            for ours, paths in kind["fields"].items()
        }
    return {name: FieldMap.model_validate(kind) for name, kind in told.items()}
