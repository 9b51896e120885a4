"""What a judge compares: two systems' answers to one question, as a judge sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from arena.answers import parse_answer
from arena.errors import UsageError
from arena.folder import Arena

QuestionKey = tuple[str, str]
PairKey = tuple[str, str, str, str]
"""Language, query_id, system on side A, system on side B."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a judge sees it.

    Attributes:
        passage_id: What answers cite.
        text: The passage.
        title: Title of its document, or None.
        relevance: 1 relevant, 0 not relevant, None not judged; not shown unless a template does.
    """

    passage_id: str
    text: str
    title: str | None = None
    relevance: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers to a question.

    Attributes:
        key: Language, query_id, system on side A, system on side B.
        question: The question.
        passages: Its passages, if any.
        answer_a: The answer proper on side A: without ``##Reason:``, citations included.
        answer_b: The answer on side B.
    """

    key: PairKey
    question: str
    passages: tuple[ShownPassage, ...]
    answer_a: str
    answer_b: str


class ArenaTexts:
    """Questions and answers of an arena, found by their keys."""

    def __init__(self, arena: Arena) -> None:
        self._questions: dict[QuestionKey, tuple[str, Sequence[Any]]] = {
            (language, query_id): (query, passages)
            for language, query_id, query, passages in _rows(
                arena.queries, "language", "query_id", "query", "passages"
            )
        }
        self._outputs: dict[QuestionKey, dict[str, str]] = {}
        for language, query_id, system, answer in _rows(
            arena.answers, "language", "query_id", "system", "answer"
        ):
            self._outputs.setdefault((language, query_id), {})[system] = answer

    def questions(self, language: str) -> list[str]:
        """Ids of a language's questions."""
        return [query_id for of_language, query_id in self._questions if of_language == language]

    def question(self, key: QuestionKey) -> str:
        """Return the text of a question."""
        return self._questions[key][0]

    def systems(self, key: QuestionKey) -> list[str]:
        """Systems that answered a question, sorted."""
        return sorted(self._outputs.get(key, {}))

    def answer(self, key: QuestionKey, system: str) -> str:
        """Return the answer that a judge sees: the whole output where no answer is marked.

        Raises:
            UsageError: If there is no such answer.
        """
        output = self._outputs.get(key, {}).get(system)
        if output is None:
            language, query_id = key
            raise UsageError(f"there is no answer of {system!r} to {query_id!r} in {language!r}")
        return parse_answer(output).text

    def comparison(self, key: PairKey) -> Comparison:
        """Put together what a judge compares.

        Raises:
            UsageError: If an answer or the question is absent.
        """
        language, query_id, system_a, system_b = key
        question = (language, query_id)
        answers = (self.answer(question, system_a), self.answer(question, system_b))
        if question not in self._questions:
            raise UsageError(f"there is no question {query_id!r} in {language!r}")
        query, passages = self._questions[question]
        return Comparison(key, query, tuple(_shown_passages(passages)), *answers)


def pair_keys(table: pd.DataFrame) -> Iterator[PairKey]:
    """Yield the key of every row of a table of pairs or judgments."""
    yield from _rows(table, "language", "query_id", "system_a", "system_b")


def unordered(key: PairKey) -> PairKey:
    """Return the key of a pair whatever the order of its sides."""
    language, query_id, system_a, system_b = key
    first, second = sorted((system_a, system_b))
    return language, query_id, first, second


def _rows(table: pd.DataFrame, *columns: str) -> Iterator[Any]:
    yield from table[list(columns)].itertuples(index=False, name=None)


def _shown_passages(passages: Iterable[dict[str, Any]]) -> Iterator[ShownPassage]:
    for passage in passages:
        yield ShownPassage(
            passage["passage_id"], passage["text"], passage.get("title"), passage.get("relevance")
        )
