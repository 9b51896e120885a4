"""The answers to measure, each beside its question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from arena.folder import Arena
from arena.records import Passage
from arena.tables import QUESTION_KEY
from features.engine.content import answer_key, question_key
from features.engine.garbage import no_garbage_collection
from features.missing import NO_REFERENCE_ANSWER, NO_REFERENCE_SYSTEM
from features.sample import Memo, Question, Sample

Asked = tuple[str, str]
"""Language and id of a question."""


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

    def take(self, places: Sequence[int]) -> Answers:
        """Return some of the answers, with the questions they need."""
        asked = tuple(self.asked[place] for place in places)
        questions = {key: self.questions[key] for key in dict.fromkeys(asked)}
        return Answers(questions, asked, tuple(self.outputs[place] for place in places))

    def chunks(self, size: int) -> Iterator[Answers]:
        """Cut into parts of at most ``size`` answers."""
        for start in range(0, len(self), size):
            yield self.take(range(start, min(start + size, len(self))))


def answers_of(arena: Arena, rows: pd.DataFrame) -> Answers:
    """Return rows of answers, in their order, beside the arena's questions.

    Args:
        arena: Its questions and its reference answers.
        rows: Columns ``language, query_id, answer``.
    """
    asked = tuple(zip(rows["language"], rows["query_id"], strict=True))
    with no_garbage_collection():
        questions = _questions(arena, set(asked))
    return Answers(questions, asked, tuple(rows["answer"]))


def _questions(arena: Arena, asked: set[Asked]) -> dict[Asked, Question]:
    references = _references(arena)
    absent = NO_REFERENCE_SYSTEM if arena.info.reference_system is None else NO_REFERENCE_ANSWER
    columns = arena.queries[[*QUESTION_KEY, "query", "passages"]]
    return {
        (language, query_id): Question(
            language,
            query_id,
            query,
            tuple(Passage.model_validate(passage) for passage in passages),
            references.get((language, query_id), absent),
        )
        for language, query_id, query, passages in columns.itertuples(index=False, name=None)
        if (language, query_id) in asked
    }


def _references(arena: Arena) -> dict[Asked, str]:
    if arena.info.reference_system is None:
        return {}
    answers = arena.answers[arena.answers["system"] == arena.info.reference_system]
    rows = answers[[*QUESTION_KEY, "answer"]].itertuples(index=False, name=None)
    return {(language, query_id): answer for language, query_id, answer in rows}
