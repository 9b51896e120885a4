"""Pairs of answers as judges see them: texts, passages, and which side is which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY
from arena.data.seeds import seed_sequence

PAIR_COLUMNS = [*QUESTION_KEY, "system_a", "system_b"]
QuestionKey = tuple[str, str]
PairKey = tuple[str, str, str, str]
"""Language, query_id, system on side A, system on side B."""
Answer = tuple[str, str]
"""System and the answer it gave."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a judge sees it.

    Attributes:
        passage_id: What answers cite.
        text: The passage.
        title: Title of its document, or None.
        relevance: 1, 0, or None if not judged; not shown unless a template does.
        given_to: Whose answer it was given for, ``A`` or ``answer 2``, where not for all shown.
    """

    passage_id: str
    text: str
    title: str | None = None
    relevance: int | None = None
    given_to: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers to a question.

    Attributes:
        key: The pair.
        question: Its text.
        passages: Its passages, if any, or those that the two systems were given of their own.
        answer_a: What side A wrote, its reason included.
        answer_b: Of side B.
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
        self._own: dict[tuple[QuestionKey, str], Sequence[Any]] = {}
        if OWN_PASSAGES in arena.answers:
            for language, query_id, system, passages in _rows(
                arena.answers, "language", "query_id", "system", OWN_PASSAGES
            ):
                if isinstance(passages, list):
                    self._own[(language, query_id), system] = passages

    def questions(self, language: str) -> list[str]:
        """Ids of a language's questions."""
        return [query_id for of_language, query_id in self._questions if of_language == language]

    def question(self, key: QuestionKey) -> str:
        """Return the text of a question."""
        return self._questions[key][0]

    def passages(self, key: QuestionKey, system: str | None = None) -> tuple[ShownPassage, ...]:
        """Return the passages of a question, or what a system was given instead."""
        shared = self._questions[key][1]
        given = shared if system is None else self._own.get((key, system), shared)
        return tuple(
            ShownPassage(each["passage_id"], each["text"], each.get("title"), each.get("relevance"))
            for each in given
        )

    def systems(self, key: QuestionKey) -> list[str]:
        """Systems that answered a question, sorted."""
        return sorted(self._outputs.get(key, {}))

    def shown(self, key: QuestionKey, system: str) -> str:
        """Return what a judge sees of a system: all that it wrote.

        Raises:
            UsageError: If there is no such answer, or no such question.
        """
        output = self._outputs.get(key, {}).get(system)
        if output is None or key not in self._questions:
            language, query_id = key
            raise UsageError(f"there is no answer of {system!r} to {query_id!r} in {language!r}")
        return output.strip()

    def comparison(self, key: PairKey) -> Comparison:
        """Put together what a judge compares.

        Raises:
            UsageError: If an answer or the question is absent.
        """
        question, sides = key[:2], key[2:]
        answers = [self.shown(question, system) for system in sides]
        given = {side: self.passages(question, key[place]) for side, place in (("A", 2), ("B", 3))}
        return Comparison(key, self.question(question), passages_of_all(given), *answers)


def passages_of_all(given: Mapping[str, Sequence[ShownPassage]]) -> tuple[ShownPassage, ...]:
    """Put the passages of several answers together, each once, with whose they are.

    Systems with retrievers of their own may give the same id to different passages.

    Args:
        given: What to call an answer in a prompt, to the passages given for it.
    """
    answers: dict[ShownPassage, list[str]] = {}
    for name, passages in given.items():
        for passage in passages:
            answers.setdefault(passage, []).append(name)
    return tuple(
        passage if len(names) == len(given) else replace(passage, given_to=" and ".join(names))
        for passage, names in answers.items()
    )


def pair_keys(table: pd.DataFrame) -> Iterator[PairKey]:
    """Yield the key of every row of a table of pairs or judgments."""
    yield from _rows(table, "language", "query_id", "system_a", "system_b")


def unordered(key: PairKey) -> PairKey:
    """Return the key of a pair whatever the order of its sides."""
    language, query_id, system_a, system_b = key
    first, second = sorted((system_a, system_b))
    return language, query_id, first, second


def shown_order(
    language: str, query_id: str, one: Answer, other: Answer, seed: int = 0
) -> tuple[str, str]:
    """Draw which of two systems stands on side A.

    The draw rests on the question, the two systems and their answers (in either order), and on
    nothing else: neither on the judge, so that the judges of a panel see the same, nor on other
    systems, so that a new one reshuffles nothing.

    Returns:
        The system on side A, and that on side B.
    """
    first, second = sorted((one, other))
    drawn = seed_sequence(seed, "judging", "order", language, query_id, *first, *second)
    swapped = bool(drawn.generate_state(1)[0] & 1)
    return (second[0], first[0]) if swapped else (first[0], second[0])


def _rows(table: pd.DataFrame, *columns: str) -> Iterator[Any]:
    yield from table[list(columns)].itertuples(index=False, name=None)
