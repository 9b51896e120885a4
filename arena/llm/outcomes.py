"""What the caller gets for each prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from arena.llm.completions import Completion
from arena.llm.prompts import Prompt

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """How one prompt ended.

    Attributes:
        prompt: What was asked.
        key: Its key in the store.
        completion: The model's answer; None if none came.
        value: What ``parse`` read from it; None if there is a failure.
        failure: Why there is no value (see ``arena.llm.failures``), or None.
        detail: More about the failure, for people.
        from_store: Whether the answer was in the store: from before, or by another process.
    """

    prompt: Prompt
    key: str
    completion: Completion | None
    value: T | None
    failure: str | None
    detail: str
    from_store: bool
