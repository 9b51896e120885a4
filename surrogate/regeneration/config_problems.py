"""Saying what is wrong with a configuration: the key, its value, and how to mend it."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from arena.errors import Problem
from surrogate.regeneration.config_records import (
    CONFIDENTIAL,
    SUBTABLES,
    BoardOptions,
    Configuration,
    MatrixOptions,
)

HIDDEN = "(not shown)"

_KEY_LIKE = re.compile(
    r"api_?key|(^|_)key$|token|secret|passw|credential|authorization|bearer", re.IGNORECASE
)
_ENVIRONMENT = (
    "take it out: keys come from the environment only; export OPENAI_API_KEY, or name another "
    "variable by api_key_env"
)
_LISTED = "write a list of texts, or one text with commas"


def problems_of(error: ValidationError, source: str) -> list[Problem]:
    """Tell what pydantic found wrong with a configuration.

    Args:
        error: What it found.
        source: Name of the file.
    """
    return [_problem(item, source) for item in error.errors()]


def _problem(item: ErrorDetails, source: str) -> Problem:
    place = [str(part) for part in item["loc"] if part != "[key]"]
    path = ".".join(place) or None
    if item["type"] == "extra_forbidden":
        return _unknown_key(place, item["input"], source)
    if item["type"] == CONFIDENTIAL:
        fault, _, mend = item["msg"].partition("; ")
        return Problem(source, None, path, HIDDEN, fault, mend)
    if item["type"] == "missing":
        return Problem(source, None, path, None, "is missing", "state it")
    fault, _, mend = item["msg"].partition("; ")
    return Problem(source, None, path, item["input"], _clause(fault), mend or _mend(item))


def _unknown_key(place: list[str], value: object, source: str) -> Problem:
    path, key = ".".join(place), place[-1]
    if _KEY_LIKE.search(key):
        return Problem(source, None, path, HIDDEN, "looks like a secret", _ENVIRONMENT)
    known = list(_table_at(place[:-1]).model_fields)
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    shown = HIDDEN if isinstance(value, dict | list) else value
    return Problem(source, None, path, shown, "is no key here", f"{hint}known: {', '.join(known)}")


def _table_at(place: list[str]) -> type[BaseModel]:
    """Return the table that a place in the file is in."""
    for part in reversed(place[1:] if place[:1] == ["defaults"] else place[2:]):
        if part in SUBTABLES:
            return SUBTABLES[part]
    tables: dict[str, type[BaseModel]] = {
        "defaults": BoardOptions,
        "boards": BoardOptions,
        "matrix": MatrixOptions,
    }
    return tables.get(place[0], Configuration) if place else Configuration


def _clause(message: str) -> str:
    return message[:1].lower() + message[1:]


def _mend(item: ErrorDetails) -> str:
    context: dict[str, Any] = item.get("ctx", {})
    if item["type"] == "literal_error":
        return f"use one of {context['expected']}"
    if item["type"] == "list_type":
        return _LISTED
    if item["type"].endswith("_type"):
        kind = item["type"].removesuffix("_type").replace("_", " ")
        return f"write a {kind}, not {type(item['input']).__name__}"
    return "see examples/leaderboards.toml for what can be said"
