"""Training sets as chats: rows of messages, and what was left out and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from arena.judging.answer_pairs import QuestionKey
from arena.llm.requests import Prompt

KEPT = "kept"


@dataclass
class Chats:
    """Chats to learn, in the order they come, and counts of what is left out."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By language and reason."""

    def add(self, key: QuestionKey, prompt: Prompt, reply: str, system: str) -> None:
        """Add what the model is to reply to a prompt about a question."""
        messages = [
            {"role": message.role, "content": message.content} for message in prompt.messages
        ]
        messages.append({"role": "assistant", "content": reply})
        language, query_id = key
        row = {"messages": messages, "language": language, "query_id": query_id, "system": system}
        self.rows.append(row)

    def drop(self, language: str, reason: str, count: int = 1) -> None:
        """Count chats that are left out."""
        self.left_out[language, reason] += count

    @property
    def outcomes(self) -> pd.DataFrame:
        """Columns ``language, outcome, count``: rows that are kept, and what is left out."""
        counts = Counter((row["language"], KEPT) for row in self.rows) + self.left_out
        rows = [(*key, count) for key, count in sorted(counts.items())]
        return pd.DataFrame(rows, columns=["language", "outcome", "count"])
