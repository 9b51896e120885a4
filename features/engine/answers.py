"""Answers as the engine handles them, with keys by content, and what was measured on them."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY, Passage
from features.declare.feature import Item, Value
from features.declare.sample import (
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Memo,
    Missing,
    Question,
    Sample,
)

KEY_BYTES = 16
QuestionKey = tuple[str, str]
"""Language and id of a question."""


def question_key(question: Question) -> bytes:
    """Return the key of all that a feature may see of a question, its reference included."""
    return _digest(_question_parts(question))


def answer_key(question: bytes, output: str) -> bytes:
    """Return the key of an answer to a question of a given key."""
    return _digest([question.hex(), output])


def item_key(item: Item) -> bytes:
    """Return the key of a text, or a pair of texts, that a model scores."""
    return _digest(item)


def _question_parts(question: Question) -> Iterable[str]:
    yield from (question.language, question.query)
    if isinstance(question.reference, Missing):
        yield from ("missing", question.reference.reason)
    else:
        yield from ("reference", question.reference)
    if question.reference_ids is not None:
        yield from ("reference cites", str(len(question.reference_ids)), *question.reference_ids)
    yield from _passage_parts(question.passages)
    if question.shared is not None:
        yield "shared"
        yield from _passage_parts(question.shared)


def _passage_parts(passages: Iterable[Passage]) -> Iterable[str]:
    for passage in passages:
        yield from (passage.passage_id, repr(passage.title), passage.text, repr(passage.relevance))


def _digest(parts: Iterable[str]) -> bytes:
    """Hash strings; each one's length stands before it, so that no two lists look alike."""
    digest = blake2b(digest_size=KEY_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


@contextmanager
def no_gc() -> Iterator[None]:
    """Pause the cyclic gc, which would cost a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


Asked = tuple[str, str, int]
"""Language and id of a question, and a number of the passages given; 0 for the question's."""


@dataclass(frozen=True)
class Answers:
    """Answers, those to one question side by side; what one worker needs to measure them.

    Attributes:
        questions: The questions answered.
        asked: Which question each answer is to.
        outputs: What the systems wrote.
    """

    questions: dict[Asked, Question]
    asked: tuple[Asked, ...]
    outputs: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.outputs)

    def samples(self) -> list[Sample]:
        """Return the answers as samples that share a memo."""
        memo = Memo()
        return [
            Sample(self.questions[asked], output, memo)
            for asked, output in zip(self.asked, self.outputs, strict=True)
        ]

    def keys(self) -> list[bytes]:
        """Return the content key of every answer."""
        keys = {asked: question_key(question) for asked, question in self.questions.items()}
        return [
            answer_key(keys[asked], output)
            for asked, output in zip(self.asked, self.outputs, strict=True)
        ]

    def take(self, rows: Sequence[int]) -> Answers:
        """Return some of the answers, with the questions they need."""
        asked = tuple(self.asked[row] for row in rows)
        questions = {key: self.questions[key] for key in dict.fromkeys(asked)}
        return Answers(questions, asked, tuple(self.outputs[row] for row in rows))


def answers_of(arena: Arena, rows: pd.DataFrame) -> Answers:
    """Return rows of answers, in their order, beside the arena's questions.

    Args:
        arena: Its questions and its reference answers.
        rows: Columns ``language, query_id, answer``, and ``passages`` where answers have their own.
    """
    own = rows[OWN_PASSAGES] if OWN_PASSAGES in rows else [None] * len(rows)
    with no_gc():
        shared = _questions(arena, set(zip(rows["language"], rows["query_id"], strict=True)))
        questions: dict[Asked, Question] = {}
        asked: list[Asked] = []
        numbers: dict[tuple[Passage, ...], int] = {}
        for language, query_id, given in zip(rows["language"], rows["query_id"], own, strict=True):
            question, number = shared[language, query_id], 0
            if isinstance(given, list):
                passages = _passages(given)
                number = numbers.setdefault(passages, len(numbers) + 1)
                question = replace(question, passages=passages, shared=question.passages)
            asked.append((language, query_id, number))
            questions.setdefault(asked[-1], question)
    return Answers(questions, tuple(asked), tuple(rows["answer"]))


def _passages(records: Iterable[object]) -> tuple[Passage, ...]:
    return tuple(Passage.model_validate(record) for record in records)


def _questions(arena: Arena, asked: set[QuestionKey]) -> dict[QuestionKey, Question]:
    references = _references(arena)
    absent = NO_REFERENCE_ANSWER if references else NO_REFERENCE_SYSTEM
    columns = arena.queries[[*QUESTION_KEY, "query", "passages"]]
    questions = {}
    for language, query_id, query, passages in columns.itertuples(index=False, name=None):
        if (language, query_id) in asked:
            reference, ids = references.get((language, query_id), (absent, None))
            shown = _passages(passages)
            questions[language, query_id] = Question(
                language, query_id, query, shown, reference, reference_ids=ids
            )
    return questions


def _references(arena: Arena) -> dict[QuestionKey, tuple[str, tuple[str, ...] | None]]:
    """Return each question's reference, and ids of its own passages; None if it had none."""
    rows = arena.references
    columns = (rows["language"], rows["query_id"], rows["answer"], rows[OWN_PASSAGES])
    return {
        (language, query_id): (answer, _ids(given) if isinstance(given, list) else None)
        for language, query_id, answer, given in zip(*columns, strict=True)
    }


def _ids(records: Iterable[object]) -> tuple[str, ...]:
    return tuple(passage.passage_id for passage in _passages(records))


Floats = npt.NDArray[np.float64]
Reasons = npt.NDArray[np.object_]
Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Measured:
    """Values of F features on N answers.

    Attributes:
        values: Shape (N, F); NaN where a feature has no value.
        reasons: Shape (N, F); why, or None where there is a value.
    """

    values: Floats
    reasons: Reasons

    @classmethod
    def empty(cls, answers: int, features: int) -> Measured:
        """Return room for values not measured yet: NaN without a reason."""
        return cls(
            np.full((answers, features), np.nan), np.full((answers, features), None, dtype=object)
        )

    @classmethod
    def of(cls, rows: Sequence[Sequence[Value]], features: int) -> Measured:
        """Arrange what was measured answer by answer."""
        measured = cls.empty(len(rows), features)
        for index, row in enumerate(rows):
            for column, value in enumerate(row):
                if isinstance(value, Missing):
                    measured.reasons[index, column] = value.reason
                else:
                    measured.values[index, column] = value
        return measured

    @property
    def known(self) -> Bools:
        """Where there is a value or a reason, shape (N, F)."""
        return np.asarray(np.isfinite(self.values) | (self.reasons != None))  # noqa: E711

    def put(self, answers: Indices, features: Indices, part: Measured) -> None:
        """Fill in what was measured of some answers and features."""
        selected = np.ix_(answers, features)
        self.values[selected] = part.values
        self.reasons[selected] = part.reasons
