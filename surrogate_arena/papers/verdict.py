"""The verdict of a judge on an item of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.llm.replies import Reply


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a judge, such as an LLM, on an item.

    Attributes:
        value: A label, the better text, or a score. None after a failure; None without a failure
            means that the judge finds nothing to score.
        failure: Why there is no value.
        was_asked: False where the judge could not be reached: the item is left out of the
            results, and counted. A judge that was asked and gave no verdict is wrong.
        detail: More about the failure: the server's words, or those of the reply.
    """

    value: str | int | float | None
    failure: str | None = None
    was_asked: bool = True
    detail: str = ""

    @classmethod
    def of(cls, reply: Reply[Any]) -> Verdict:
        """Return the verdict of a model's reply."""
        return cls(reply.value, reply.reason, reply.was_asked, reply.detail)
