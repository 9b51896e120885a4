"""The answers of an arena as features see them, and the keys that tell their contents apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY, Passage
from features.declare.sample import (
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Answer,
    Missing,
    Question,
)
from features.engine.cache import content_key

QuestionKey = tuple[str, str]
"""Language and query_id."""


def answers_of(arena: Arena, rows: pd.DataFrame) -> list[Answer]:
    """Return question and output of each row of answers, in the order of the rows."""
    keys = list(zip(rows["language"], rows["query_id"], strict=True))
    arena_questions = _questions(arena, set(keys))
    retrieved = rows[OWN_PASSAGES] if OWN_PASSAGES in rows else [None] * len(rows)
    # Systems that retrieved the same passages share a question, and what is computed of it.
    questions: dict[tuple[QuestionKey, tuple[Passage, ...]], Question] = {}
    answers: list[Answer] = []
    for key, records, output in zip(keys, retrieved, rows["answer"], strict=True):
        question = arena_questions[key]
        if isinstance(records, list):
            passages = _passages(records)
            changed = replace(question, passages=passages, shared=question.passages)
            question = questions.setdefault((key, passages), changed)
        answers.append((question, output))
    return answers


def answer_keys(answers: Sequence[Answer]) -> list[bytes]:
    """Return the key of each answer, a digest of all that a feature may see of it."""
    digests: dict[int, str] = {}  # by identity: to hash a question would be to hash its passages
    keys: list[bytes] = []
    for question, output in answers:
        if id(question) not in digests:
            digests[id(question)] = _question_digest(question)
        keys.append(content_key(digests[id(question)], output))
    return keys


def _question_digest(question: Question) -> str:
    reference = question.reference
    passages = [passage.model_dump() for passage in question.passages]
    shared = [passage.model_dump() for passage in question.shared or ()]
    return content_key(
        question.language,
        question.query,
        question.reference_ids,
        # A reason is put into a list, so that no reference answer of the same text equals it.
        [str(reference)] if isinstance(reference, Missing) else reference,
        [passages, shared],
        question.shared is None,
    ).hex()


def _questions(arena: Arena, keys: set[QuestionKey]) -> dict[QuestionKey, Question]:
    references: dict[QuestionKey, tuple[str | Missing, tuple[str, ...] | None]] = {}
    rows = arena.references[[*QUESTION_KEY, "answer", OWN_PASSAGES]]
    for language, query_id, output, records in rows.itertuples(index=False, name=None):
        reference_ids = None
        if isinstance(records, list):
            reference_ids = tuple(passage.passage_id for passage in _passages(records))
        references[language, query_id] = (output, reference_ids)
    no_reference = NO_REFERENCE_ANSWER if references else NO_REFERENCE_SYSTEM

    questions: dict[QuestionKey, Question] = {}
    rows = arena.queries[[*QUESTION_KEY, "query", "passages"]]
    for language, query_id, query, records in rows.itertuples(index=False, name=None):
        if (language, query_id) not in keys:
            continue
        reference, reference_ids = references.get((language, query_id), (no_reference, None))
        questions[language, query_id] = Question(
            language=language,
            query_id=query_id,
            query=query,
            passages=_passages(records),
            reference=reference,
            reference_ids=reference_ids,
        )
    return questions


def _passages(records: Iterable[object]) -> tuple[Passage, ...]:
    return tuple(Passage.model_validate(record) for record in records)
