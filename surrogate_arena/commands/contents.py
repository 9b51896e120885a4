"""The contents of an arena: questions, passages, answers, and their lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.text.answers import parse_answer


def white_space_words(text: str) -> int:
    """Count the words between white space, as MEMERAG's table 1 does."""
    return len(text.split())


def arena_contents(
    arena: Arena,
    length: Callable[[str], int] = white_space_words,
    systems: Sequence[str] = (),
) -> pd.DataFrame:
    """Count what an arena holds, by language (MIRAGE-Bench, table 1; MEMERAG, table 1).

    Passages are means per question, by label; lengths are means, ``context_length`` that of all
    passages of a question. ``length`` measures a text; ``systems`` are those that count.

    Raises:
        UsageError: If the arena has no such system.
    """
    answers = arena.answers
    judgments = arena.judgments
    if systems:
        chosen = [checked_choice(system, arena.info.systems, "system") for system in systems]
        answers = answers[answers["system"].isin(chosen)]
        judgments = judgments[judgments[["system_a", "system_b"]].isin(chosen).all(axis=1)]
    questions = _question_counts(arena.queries, length).groupby("language")
    means = questions.mean()
    totals = questions.sum()
    by_language = _answer_lengths(answers, length).groupby("language")
    has_passages = totals["number"] > 0
    table = means.drop(columns="number").assign(
        questions=questions.size(),
        passage_length=totals["context_length"] / totals["number"].where(has_passages),
        context_length=means["context_length"].where(has_passages),
        systems=by_language["system"].nunique(),
        answers=by_language.size(),
        reason_length=by_language["reason"].mean(),
        answer_length=by_language["answer"].mean(),
        judgments=judgments.groupby("language").size(),
    )
    # A language without answers or judgments has 0 of them; its mean lengths stay missing.
    counts = ["questions", "systems", "answers", "judgments"]
    table[counts] = table[counts].fillna(0).astype(int)
    return table.reset_index()


def _answer_lengths(answers: pd.DataFrame, length: Callable[[str], int]) -> pd.DataFrame:
    parts = [parse_answer(output) for output in answers["answer"]]
    reason_lengths = [np.nan if part.reason is None else length(part.reason) for part in parts]
    return answers[["language", "system"]].assign(
        reason=reason_lengths,
        answer=[float(length(part.text)) for part in parts],
    )


def _question_counts(queries: pd.DataFrame, length: Callable[[str], int]) -> pd.DataFrame:
    rows = []
    for query in queries.to_dict("records"):
        labels = [passage.get("relevance") for passage in query["passages"]]
        passage_lengths = [
            length(f"{passage.get('title') or ''} {passage['text']}".strip())
            for passage in query["passages"]
        ]
        rows.append(
            (
                query["language"],
                length(query["query"]),
                labels.count(1),
                labels.count(0),
                labels.count(None),
                len(passage_lengths),
                sum(passage_lengths),
            )
        )
    columns = [
        "language",
        "question_length",
        "relevant_passages",
        "other_passages",
        "unlabeled_passages",
        "number",
        "context_length",
    ]
    return pd.DataFrame(rows, columns=columns)
