"""Training sets as chats: rows of messages, what was kept, what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.data.tables import write_rows
from arena.judging.answer_pairs import QuestionKey
from arena.judging.choosing.drawn_questions import question_keys
from arena.llm.requests import Prompt

COUNTS = ["language", "candidates", "kept"]
LEFT_OUT = ["language", "reason", "count"]


@dataclass(frozen=True)
class TrainExample:
    """A chat to be learned, of one question.

    Attributes:
        key: Language and id of the question.
        prompt: The user's message.
        reply: The assistant's message, which the model learns.
        notes: Further columns of the row, such as the system that answered.
    """

    key: QuestionKey
    prompt: Prompt
    reply: str
    notes: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the row as it is written."""
        language, query_id = self.key
        prompt_messages = [
            {"role": message.role, "content": message.content} for message in self.prompt.messages
        ]
        messages = [*prompt_messages, {"role": "assistant", "content": self.reply}]
        return {"messages": messages, "language": language, "query_id": query_id, **self.notes}


@dataclass
class Sieve:
    """Collects examples in the order they come, and counts what is left out by language and why."""

    examples: list[TrainExample] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)

    def drop(self, language: str, reason: str, count: int = 1) -> None:
        """Leave something out."""
        self.left_out[language, reason] += count


@dataclass(frozen=True)
class TrainSet:
    """A training set, and rows of questions that are kept out of it.

    Attributes:
        rows: What to train on: ``messages`` and further columns.
        unseen: Rows of the other questions, to measure with; empty where all are trained on.
        counts: Columns ``COUNTS``, one row per language; ``kept`` counts all rows, unseen
            ones too.
        left_out: Columns ``LEFT_OUT``.
    """

    rows: pd.DataFrame
    unseen: pd.DataFrame
    counts: pd.DataFrame
    left_out: pd.DataFrame


def make_train_set(sieve: Sieve, trained: pd.DataFrame) -> TrainSet:
    """Put a training set together; questions that are not trained on are unseen."""
    trained_keys = set(question_keys(trained))
    rows: list[dict[str, Any]] = []
    unseen: list[dict[str, Any]] = []
    n_kept = Counter[str]()
    for example in sieve.examples:
        if example.key in trained_keys:
            rows.append(example.record())
        else:
            unseen.append(example.record())
        language, _ = example.key
        n_kept[language] += 1
    left_out = [
        (language, reason, count) for (language, reason), count in sorted(sieve.left_out.items())
    ]
    if not rows:
        reasons = ", ".join(f"{count} {reason}" for _, reason, count in left_out) or "nothing"
        raise UsageError(f"nothing is left to train on; left out: {reasons}")
    n_candidates = n_kept.copy()
    for language, _, count in left_out:
        n_candidates[language] += count
    counts = [(name, n_candidates[name], n_kept[name]) for name in sorted(n_candidates)]
    return TrainSet(
        rows=pd.DataFrame(rows),
        unseen=pd.DataFrame(unseen),
        counts=pd.DataFrame(counts, columns=COUNTS),
        left_out=pd.DataFrame(left_out, columns=LEFT_OUT),
    )


def write_train_set(train_set: TrainSet, out: Path, unseen: Path | None) -> None:
    """Write a training set, and the rows of unseen questions, if a file is given for them."""
    write_rows(train_set.rows, out)
    if unseen is None:
        return
    if train_set.unseen.empty:
        raise UsageError(f"no row is of an unseen question, so {unseen} was not written")
    write_rows(train_set.unseen, unseen)
