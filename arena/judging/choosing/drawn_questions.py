"""Questions that are drawn of an arena's, by their content alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags
from arena.judging.answer_pairs import QuestionKey
from arena.statistics.bootstrap import generator


def choose_questions(
    queries: pd.DataFrame,
    languages: Sequence[str] | None = None,
    questions: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Choose questions by draws that depend on each question's content alone."""
    if questions is not None and questions < 1:
        raise UsageError(f"cannot draw {questions} questions; ask for 1 or more")
    for language in languages or ():
        checked_choice(language, sorted(set(queries["language"])), "language")
    chosen = queries
    if languages:
        chosen = queries[queries["language"].isin(languages)]
    if chosen.empty:
        raise UsageError("there are no questions to answer")
    if questions is not None:
        chosen = chosen[is_drawn(chosen, questions, seed)]
    return chosen.reset_index(drop=True)


def question_keys(table: pd.DataFrame) -> list[QuestionKey]:
    """Return every row's key of questions or answers."""
    return list(zip(table["language"], table["query_id"], strict=True))


def is_drawn(queries: pd.DataFrame, questions: int, seed: int) -> Flags:
    """Mark the questions drawn in each language, shape (N,)."""
    drawn = by_draw(queries, seed).groupby("language", sort=False).head(questions)
    return np.asarray(queries.index.isin(drawn.index))


def by_draw(queries: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Order questions by a draw on their content alone."""
    draws = []
    for content in queries[[*QUESTION_KEY, "query"]].itertuples(index=False, name=None):
        draws.append(generator(seed, "judging", "question", *content).random())
    drawn = queries[QUESTION_KEY].assign(draw=draws).sort_values(["draw", *QUESTION_KEY])
    return drawn[QUESTION_KEY]


def with_several_answers(arena: Arena) -> pd.DataFrame:
    """Return the questions that two systems or more answered."""
    several = arena.answers[arena.answers.duplicated(QUESTION_KEY)]
    return arena.queries[are_in(arena.queries, several, QUESTION_KEY)]


def with_questions(arena: Arena, queries: pd.DataFrame) -> Arena:
    """Keep some questions, and the answers and judgments on them."""
    part = arena.select(languages=set(queries["language"]))
    answers = part.answers[are_in(part.answers, queries, QUESTION_KEY)]
    judgments = part.judgments[are_in(part.judgments, queries, QUESTION_KEY)]
    return replace(
        part,
        queries=queries.reset_index(drop=True),
        answers=answers.reset_index(drop=True),
        judgments=judgments.reset_index(drop=True),
    )


def draw_questions(
    arena: Arena, questions: int | None, languages: Sequence[str] | None, seed: int
) -> tuple[QuestionKey, ...]:
    """Draw the questions to judge, language by language."""
    comparable = with_several_answers(arena)
    if comparable.empty:
        raise UsageError("no question has answers of two systems: there is nothing to judge")
    chosen = by_draw(choose_questions(comparable, languages, questions, seed), seed)
    drawn: list[QuestionKey] = []
    for language in arena.info.languages:
        drawn += question_keys(chosen[chosen["language"] == language])
    return tuple(drawn)
