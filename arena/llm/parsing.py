"""From a result to its value, by the caller's parser."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from arena.errors import UsageError
from arena.llm.completions import Completion
from arena.llm.failures import UNPARSABLE, UnparsableError
from arena.llm.store_rows import Result

T = TypeVar("T")


def text_of(completion: Completion) -> str:
    """Take the text as it is: the parser where none is given."""
    return completion.text or ""


def parsed(result: Result, parse: Callable[[Completion], T]) -> tuple[Result, T | None]:
    """Read the value from a result, whatever an earlier parser read from it.

    Returns:
        The result with the value as JSON, or with the failure; and the value.

    Raises:
        UsageError: If the value cannot be written as JSON.
    """
    completion = result.completion
    if completion is None or completion.failure is not None:
        return result, None
    try:
        value = parse(completion)
    except UnparsableError as error:
        failed = replace(result, failure=UNPARSABLE, detail=str(error), parsed=None)
        return failed, None
    return replace(result, failure=None, detail="", parsed=_json(value)), value


def _json(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"parse returned what JSON cannot hold ({error}); return plain values"
        ) from error
