"""Questions that are drawn of an arena's, by their content alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags
from arena.judging.answer_pairs import QuestionKey
from arena.judging.choosing.drawn_pairs import question_draw


def choose_questions(
    queries: pd.DataFrame,
    languages: Sequence[str] | None = None,
    questions: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Choose questions to answer.

    With the same number and seed, these are the questions that ``arena.judging.choose_pairs``
    draws, if all of the arena's have answers to compare.

    Args:
        queries: An arena's questions.
        languages: None takes all.
        questions: Number of each language; None, or more than there are, takes all.
        seed: Seed of the draw, which depends on each question's content alone.

    Raises:
        UsageError: For a number below 1, an unknown language, or if there are no questions.
    """
    if questions is not None and questions < 1:
        raise UsageError(f"cannot draw {questions} questions; ask for 1 or more")
    present = set(queries["language"])
    unknown = [language for language in languages or () if language not in present]
    if unknown:
        available = ", ".join(sorted(present))
        raise UsageError(f"no questions in {unknown[0]!r} here; available: {available}")
    chosen = queries
    if languages:
        chosen = queries[queries["language"].isin(languages)]
    if chosen.empty:
        raise UsageError("there are no questions to answer")
    if questions is not None:
        chosen = chosen[is_drawn(chosen, questions, seed)]
    return chosen.reset_index(drop=True)


def question_keys(table: pd.DataFrame) -> list[QuestionKey]:
    """Return the key of every row of a table of questions or answers."""
    return list(zip(table["language"], table["query_id"], strict=True))


def is_drawn(queries: pd.DataFrame, questions: int, seed: int) -> Flags:
    """Mark the questions that are drawn, so many of each language, by their content alone."""
    contents = queries[[*QUESTION_KEY, "query"]].itertuples(index=False, name=None)
    draws = [
        question_draw(language, query_id, query, seed) for language, query_id, query in contents
    ]
    order = queries[QUESTION_KEY].assign(draw=draws).sort_values(["draw", "query_id"])
    drawn = order.groupby("language", sort=False).head(questions).index
    return np.asarray(queries.index.isin(drawn))
