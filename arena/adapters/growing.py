"""An arena that grows row by row, as readers of published data find its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from arena.adapters.foreign_rows import ForeignArena, Skip, skipped_table
from arena.data.errors import DataError, Problem
from arena.data.folder import as_rows, checked_arena
from arena.data.rows import Rows
from arena.data.schema import ANSWERS, JUDGMENTS, QUERIES, ArenaInfo

Key = tuple[str, str]


@dataclass
class GrowingArena:
    """Questions, answers and judgments as they are found, with what was wrong or left out.

    Attributes:
        queries: Rows of questions by language and id.
        answers: Rows of answers by language, id and system.
        judgments: Rows of judgments; columns that an arena does not need are kept.
    """

    queries: dict[Key, dict[str, Any]] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def question(
        self, key: Key, text: str, passages: Iterable[str] = (), relevance: int | None = None
    ) -> None:
        """Add a question with numbered passages, if it is not there."""
        listed = [
            {"passage_id": str(number), "text": passage, "title": None, "relevance": relevance}
            for number, passage in enumerate(passages, start=1)
        ]
        row = {"query_id": key[1], "language": key[0], "query": text, "passages": listed}
        self.queries.setdefault(key, row)

    def answer(self, key: Key, system: str, text: str) -> bool:
        """Add a system's answer; False if it has one."""
        row = {"query_id": key[1], "language": key[0], "system": system, "answer": text}
        return self.answers.setdefault((*key, system), row) is row

    def foreign(
        self,
        name: str,
        reference: str | None,
        source: str,
        note: str = "",
        published: Rows | None = None,
    ) -> ForeignArena:
        """Put the arena together, and check it as any other.

        Raises:
            DataError: With every problem found so far, or of the arena.
        """
        if self.problems:
            raise DataError(self.problems)
        info = ArenaInfo(
            name=name,
            languages=tuple(sorted({code for code, _ in self.queries})),
            systems=tuple(sorted({system for *_, system in self.answers})),
            reference_system=reference,
            source=source,
            note=note,
        )
        arena = checked_arena(
            info,
            _rows(self.queries.values(), QUERIES.columns, "questions"),
            _rows(self.answers.values(), ANSWERS.columns, "answers"),
            _rows(self.judgments, JUDGMENTS.columns, "judgments"),
            published,
        )
        return ForeignArena(arena, skipped_table(self.skips))


def _rows(records: Iterable[dict[str, Any]], columns: Iterable[str], source: str) -> Rows:
    held = list(records)
    further = dict.fromkeys(name for record in held for name in record)
    whole = list(dict.fromkeys([*columns, *further]))
    return as_rows(pd.DataFrame(held, columns=whole, dtype=object), source)
