"""Pairs of answers as judges see them: texts, passages, and which side is which."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.rows import selected_columns
from arena.data.schema import HISTORY, OWN_PASSAGES, QUESTION_KEY, TurnRole
from arena.data.types import Floats
from arena.statistics.bootstrap import seed_sequence
from arena.text.answers import parse_answer
from arena.text.ngrams import hashed
from arena.text.reader import visible

PAIR_COLUMNS = [*QUESTION_KEY, "system_a", "system_b"]
QuestionKey = tuple[str, str]
PairKey = tuple[str, str, str, str]
"""Language, query_id, system on side A, system on side B."""
Answer = tuple[str, str]
"""System and the answer it gave."""
BY_NAME = ("language", OWN_PASSAGES, HISTORY)
"""What a user's function gets if it has parameters of these names."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a judge sees it.

    ``given_to`` names its answers, such as ``answer 2``; empty for all.
    """

    passage_id: str
    text: str
    title: str | None = None
    relevance: int | None = None
    given_to: str = ""


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn of the conversation before a question."""

    number: int
    role: TurnRole
    text: str
    given_to: str = ""


Shown = TypeVar("Shown", ShownPassage, ShownTurn)


def arguments_by_name(
    names: Collection[str],
    language: str,
    passages: Sequence[ShownPassage],
    history: Sequence[ShownTurn],
) -> dict[str, object]:
    """Return those of the arguments ``BY_NAME`` that a user's function has parameters for."""
    shown_passages = [
        {"passage_id": passage.passage_id, "text": passage.text, "title": passage.title}
        for passage in passages
    ]
    turns = [{"role": turn.role, "content": turn.text} for turn in history]
    arguments = zip(BY_NAME, (language, shown_passages, turns), strict=True)
    return {name: argument for name, argument in arguments if name in names}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two answers to a question, and what they were given."""

    key: PairKey
    question: str
    passages: tuple[ShownPassage, ...]
    answer_a: str
    answer_b: str
    history: tuple[ShownTurn, ...] = ()


class ArenaTexts:
    """Questions and answers of an arena, found by their keys."""

    def __init__(self, arena: Arena) -> None:
        # Arenas need not have passages or histories.
        optional = ["passages", HISTORY]
        queries = selected_columns(arena.queries, [*QUESTION_KEY, "query"], optional)
        self._questions: dict[QuestionKey, tuple[str, tuple[ShownPassage, ...], Any]] = {}
        for row in _rows(queries, *QUESTION_KEY, "query", *optional):
            language, query_id, query, records, history = row
            self._questions[language, query_id] = (query, _shown_passages(records), history)
        self._outputs: dict[QuestionKey, dict[str, str]] = {}
        for row in _rows(arena.answers, *QUESTION_KEY, "system", "answer"):
            language, query_id, system, answer = row
            self._outputs.setdefault((language, query_id), {})[system] = answer
        # Parsed once, since an answer is in many pairs.
        self._texts: dict[tuple[QuestionKey, str], str] = {}
        own = _lists_of_systems(arena.answers, OWN_PASSAGES)
        self._system_passages = {place: _shown_passages(records) for place, records in own.items()}
        self._system_turns = _lists_of_systems(arena.answers, HISTORY)

    def questions(self, language: str) -> list[str]:
        """Return the ids of a language's questions."""
        return [query_id for code, query_id in self._questions if code == language]

    def question(self, key: QuestionKey) -> str:
        """Return the text of a question."""
        query, _, _ = self._questions[key]
        return str(query)

    def passages(self, key: QuestionKey, system: str | None = None) -> tuple[ShownPassage, ...]:
        """Return a question's passages, or a system's own."""
        _, passages, _ = self._questions[key]
        return self._system_passages.get((key, system or ""), passages)

    def history(self, key: QuestionKey, system: str | None = None) -> tuple[ShownTurn, ...]:
        """Return the turns before a question, or a system's own."""
        _, _, turns = self._questions[key]
        if system is not None:
            turns = self._system_turns.get((key, system), turns)
        return shown_turns(turns)

    def systems(self, key: QuestionKey) -> list[str]:
        """Return the systems that answered a question, sorted."""
        return sorted(self._outputs.get(key, {}))

    def systems_by_output(self, key: QuestionKey) -> list[str]:
        """Return the systems that answered a question, ordered by output."""
        outputs = self._outputs.get(key, {})
        return sorted(outputs, key=lambda system: (outputs[system].strip(), system))

    def shown(self, key: QuestionKey, system: str) -> str:
        """Return all visible output of a system."""
        return visible(self.output(key, system)).strip()

    def output(self, key: QuestionKey, system: str) -> str:
        """Return all that a system wrote."""
        output = self._outputs.get(key, {}).get(system)
        if output is None or key not in self._questions:
            language, query_id = key
            raise UsageError(f"there is no answer of {system!r} to {query_id!r} in {language!r}")
        return output

    def answer_text(self, key: QuestionKey, system: str) -> str:
        """Return an answer without its system's reason."""
        text = self._texts.get((key, system))
        if text is None:
            text = self._texts[key, system] = parse_answer(self.shown(key, system)).text
        return text

    @property
    def has_passages(self) -> bool:
        """Return whether any system was given passages."""
        of_questions = (passages for _, passages, _ in self._questions.values())
        return bool(self._system_passages) or any(of_questions)

    def unlikeness(self, language: str, query_ids: Sequence[str], one: str, other: str) -> Floats:
        """Return how much two systems' answers to each question differ."""
        questions = [(language, query_id) for query_id in query_ids]
        texts = [self.answer_text(question, one) for question in questions]
        texts += [self.answer_text(question, other) for question in questions]
        rows = hashed(texts).unit_rows()
        cosines = []
        for index in range(len(questions)):
            first, second = rows.take(np.array([index, index + len(questions)])).dense()
            cosines.append(first @ second)
        return 1.0 - np.array(cosines)

    def comparison(self, key: PairKey) -> Comparison:
        """Put together what a judge compares."""
        language, query_id, system_a, system_b = key
        question = (language, query_id)
        # The answers first: they are what says in words that a question is absent.
        answer_a = self.shown(question, system_a)
        answer_b = self.shown(question, system_b)
        return Comparison(
            key=key,
            question=self.question(question),
            passages=shown_of_all(
                {
                    "A": self.passages(question, system_a),
                    "B": self.passages(question, system_b),
                }
            ),
            answer_a=answer_a,
            answer_b=answer_b,
            history=shown_of_all(
                {
                    "answer A": self.history(question, system_a),
                    "answer B": self.history(question, system_b),
                }
            ),
        )


def shown_of_all(parts_of: Mapping[str, Sequence[Shown]]) -> tuple[Shown, ...]:
    """Join several answers' passages (or turns), each once by content."""
    answers_of: dict[Shown, list[str]] = {}
    for name, parts in parts_of.items():
        for part in parts:
            answers_of.setdefault(part, []).append(name)
    shown: list[Shown] = []
    for part, names in answers_of.items():
        if len(names) < len(parts_of):
            shown.append(replace(part, given_to=" and ".join(names)))
        else:
            shown.append(part)
    # Turns of several conversations are interleaved by number; passages keep their order.
    return tuple(sorted(shown, key=lambda part: getattr(part, "number", 0)))


def _shown_passages(records: Sequence[Mapping[str, Any]]) -> tuple[ShownPassage, ...]:
    passages = []
    for record in records:
        passage = ShownPassage(
            passage_id=record["passage_id"],
            text=record["text"],
            title=record.get("title"),
            relevance=record.get("relevance"),
        )
        passages.append(passage)
    return tuple(passages)


def shown_turns(history: object) -> tuple[ShownTurn, ...]:
    """Return the turns of a sound history, if any."""
    if not isinstance(history, list):
        return ()
    return tuple(
        ShownTurn(number, turn["role"], turn["content"])
        for number, turn in enumerate(history, start=1)
    )


def _lists_of_systems(
    answers: pd.DataFrame, column: str
) -> dict[tuple[QuestionKey, str], list[Any]]:
    lists: dict[tuple[QuestionKey, str], list[Any]] = {}
    if column not in answers:
        return lists
    for language, query_id, system, cell in _rows(answers, *QUESTION_KEY, "system", column):
        if isinstance(cell, list):
            lists[(language, query_id), system] = cell
    return lists


def pair_keys(table: pd.DataFrame) -> Iterator[PairKey]:
    """Yield every row's key of pairs or judgments."""
    yield from _rows(table, "language", "query_id", "system_a", "system_b")


def pair_cells(key: PairKey) -> dict[str, str]:
    """Return the cells of a judgment that name its pair."""
    language, query_id, system_a, system_b = key
    return {
        "query_id": query_id,
        "language": language,
        "system_a": system_a,
        "system_b": system_b,
    }


def unordered(key: PairKey) -> PairKey:
    """Return a pair's key in the order of names."""
    language, query_id, system_a, system_b = key
    first, second = sorted((system_a, system_b))
    return language, query_id, first, second


@dataclass(frozen=True, slots=True)
class PairDraw:
    """Draws for a pair: sides, and uniform ``audit`` and ``sort_key``, low ones first."""

    side_a: str
    side_b: str
    audit: float
    sort_key: float


def draw_pair(language: str, query_id: str, one: Answer, other: Answer, seed: int = 0) -> PairDraw:
    """Draw a pair's side A, and whether it is audited.

    It depends on question and answers alone, in either order.
    """
    first, second = sorted((one, other), key=lambda answer: answer[::-1])
    sequence = seed_sequence(seed, "judging", "order", language, query_id, first[1], second[1])
    # Words of the sequence: a generator would be built for every single pair.
    order, audit, sort_key = map(int, sequence.generate_state(3))
    if order & 1:
        first, second = second, first
    return PairDraw(
        side_a=first[0],
        side_b=second[0],
        audit=audit / 2**32,
        sort_key=sort_key / 2**32,
    )


def _rows(table: pd.DataFrame, *columns: str) -> Iterator[Any]:
    yield from table[list(columns)].itertuples(index=False, name=None)
