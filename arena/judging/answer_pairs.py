"""Pairs of answers as judges see them: texts, passages, and which side is which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import HISTORY, OWN_PASSAGES, QUESTION_KEY, TurnRole
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
class ShownTurn:
    """A turn of the conversation before a question; ``given_to`` as of a passage."""

    number: int
    role: TurnRole
    text: str
    given_to: str = ""


Shown = TypeVar("Shown", ShownPassage, ShownTurn)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers to a question.

    Attributes:
        key: The pair.
        question: Its text.
        passages: Its passages, if any, or those that the two systems were given of their own.
        answer_a: What side A wrote, its reason included.
        answer_b: Of side B.
        history: The turns before the question, those that the two systems had of their own with
            whose they are.
    """

    key: PairKey
    question: str
    passages: tuple[ShownPassage, ...]
    answer_a: str
    answer_b: str
    history: tuple[ShownTurn, ...] = ()


class ArenaTexts:
    """Questions and answers of an arena, found by their keys."""

    def __init__(self, arena: Arena) -> None:
        columns = [*QUESTION_KEY, "query", "passages", HISTORY]
        rows = _rows(arena.queries.reindex(columns=columns), *columns)
        self._questions: dict[QuestionKey, list[Any]] = {(key, it): row for key, it, *row in rows}
        self._outputs: dict[QuestionKey, dict[str, str]] = {}
        for language, query_id, system, answer in _rows(
            arena.answers, "language", "query_id", "system", "answer"
        ):
            self._outputs.setdefault((language, query_id), {})[system] = answer
        self._own = _own_lists(arena.answers, OWN_PASSAGES)
        self._own_turns = _own_lists(arena.answers, HISTORY)

    def questions(self, language: str) -> list[str]:
        """Ids of a language's questions."""
        return [query_id for of_language, query_id in self._questions if of_language == language]

    def question(self, key: QuestionKey) -> str:
        """Return the text of a question."""
        return str(self._questions[key][0])

    def passages(self, key: QuestionKey, system: str | None = None) -> tuple[ShownPassage, ...]:
        """Return the passages of a question, or what a system was given instead."""
        shared = self._questions[key][1]
        given = shared if system is None else self._own.get((key, system), shared)
        return tuple(
            ShownPassage(each["passage_id"], each["text"], each.get("title"), each.get("relevance"))
            for each in given
        )

    def history(self, key: QuestionKey, system: str | None = None) -> tuple[ShownTurn, ...]:
        """Return the turns before a question, or those that a system had of its own."""
        shared = self._questions[key][2]
        return shown_turns(shared if system is None else self._own_turns.get((key, system), shared))

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
        answer_a, answer_b = (self.shown(question, system) for system in sides)
        named = dict(zip("AB", sides, strict=True))
        given = {side: self.passages(question, system) for side, system in named.items()}
        turns = {f"answer {it}": self.history(question, system) for it, system in named.items()}
        passages, history = shown_of_all(given), shown_of_all(turns)
        asked = self.question(question)
        return Comparison(key, asked, passages, answer_a, answer_b, history)


def shown_of_all(given: Mapping[str, Sequence[Shown]]) -> tuple[Shown, ...]:
    """Put the passages (or turns) of several answers together, each once, with whose they are.

    Systems with retrievers of their own may give the same id to different passages.

    Args:
        given: What to call an answer in a prompt, to the passages given for it.
    """
    answers: dict[Shown, list[str]] = {}
    for name, items in given.items():
        for item in items:
            answers.setdefault(item, []).append(name)
    whole = (
        item if len(names) == len(given) else replace(item, given_to=" and ".join(names))
        for item, names in answers.items()
    )
    return tuple(sorted(whole, key=lambda item: getattr(item, "number", 0)))


def shown_turns(history: object) -> tuple[ShownTurn, ...]:
    """Return the turns of a cell that holds a sound history, or none."""
    turns = enumerate(history if isinstance(history, list) else (), start=1)
    return tuple(ShownTurn(number, turn["role"], turn["content"]) for number, turn in turns)


def _own_lists(answers: pd.DataFrame, column: str) -> dict[tuple[QuestionKey, str], list[Any]]:
    """Return what answers have of their own in a column that may not be there."""
    if column not in answers:
        return {}
    rows = _rows(answers, "language", "query_id", "system", column)
    return {((code, name), by): own for code, name, by, own in rows if isinstance(own, list)}


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
