"""Questions to answer: drawn from an arena's, and as a prompt sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.errors import UsageError
from arena.judging.comparisons import QuestionKey, ShownPassage
from arena.seeds import generator
from arena.tables import QUESTION_KEY


@dataclass(frozen=True, slots=True)
class GivenQuestion:
    """A question as a RAG system gets it.

    Attributes:
        key: Language, query_id.
        question: The question.
        passages: Its passages; which of them are relevant is not told.
    """

    key: QuestionKey
    question: str
    passages: tuple[ShownPassage, ...]


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
        queries: An arena's.
        languages: Languages to take; None takes all.
        questions: Questions of each language; None, or more than there are, takes all.
        seed: Seed of the draw, which rests on each question's content alone.

    Returns:
        The rows chosen, in the order of the table.

    Raises:
        UsageError: For a number below 1, an unknown language, or if there are no questions.
    """
    if questions is not None and questions < 1:
        raise UsageError(f"cannot draw {questions} questions; ask for 1 or more")
    present = set(queries["language"])
    unknown = [language for language in languages or () if language not in present]
    if unknown:
        known = ", ".join(sorted(present))
        raise UsageError(f"no questions in {unknown[0]!r} here; there is {known}")
    kept = queries[queries["language"].isin(languages)] if languages else queries
    if kept.empty:
        raise UsageError("there are no questions to answer")
    if questions is not None:
        kept = kept[_is_drawn(kept, questions, seed)]
    return kept.reset_index(drop=True)


def given_questions(queries: pd.DataFrame) -> Iterator[GivenQuestion]:
    """Yield the questions of a table, in its order."""
    columns = [*QUESTION_KEY, "query", "passages"]
    for language, query_id, query, passages in queries[columns].itertuples(index=False, name=None):
        shown = tuple(
            ShownPassage(each["passage_id"], each["text"], each.get("title")) for each in passages
        )
        yield GivenQuestion((language, query_id), query, shown)


def question_keys(table: pd.DataFrame) -> list[QuestionKey]:
    """Return the key of every row of a table of questions or answers."""
    return list(zip(table["language"], table["query_id"], strict=True))


def _is_drawn(queries: pd.DataFrame, questions: int, seed: int) -> np.ndarray:
    contents = queries[[*QUESTION_KEY, "query"]].itertuples(index=False, name=None)
    # The keys of the draw in arena.judging.pairs, so that what is generated can be judged.
    draws = [
        float(generator(seed, "judging", "question", *content).random()) for content in contents
    ]
    order = queries[QUESTION_KEY].assign(draw=draws).sort_values(["draw", "query_id"])
    drawn = order.groupby("language", sort=False).head(questions).index
    return np.asarray(queries.index.isin(drawn))
