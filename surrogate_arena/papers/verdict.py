"""The verdict of a judge on an item of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.llm.replies import Reply


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a judge on an item: a label, the better text, or a score.

    Without a value or a failure the judge finds nothing to score. A judge that was asked and gave
    no value is wrong; what was not asked is left out. ``detail`` holds the words of the server or
    reply.
    """

    value: str | int | float | None
    failure: str | None = None
    was_asked: bool = True
    detail: str = ""

    @classmethod
    def of(cls, reply: Reply[Any]) -> Verdict:
        """Return the verdict of a model's reply."""
        return cls(reply.value, reply.reason, reply.was_asked, reply.detail)
