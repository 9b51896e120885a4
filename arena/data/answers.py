"""Answers of new systems to the questions of an arena, in our own form."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from arena.data.errors import UsageError
from arena.data.frames import answers_of_frame, checked_answers, with_language_of
from arena.data.tables import read_rows


def read_own_answers(answers: pd.DataFrame | Path | str, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers to the questions of an arena: a table, or a file of one.

    Args:
        answers: Columns ``query_id, system, answer``, and ``language`` unless ids of questions
            are unique.
        queries: Query table of the arena.

    Returns:
        Columns ``query_id, language, system, answer``, and ``passages`` where systems were given
        others than the question's.

    Raises:
        UsageError: If there is no such file.
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    if not isinstance(answers, Path | str):
        return answers_of_frame(answers, queries)
    path = Path(answers)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    return checked_answers(with_language_of(read_rows(path), queries), queries)
