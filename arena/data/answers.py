"""Answers of new systems to the questions of an arena, in our own form."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import append_rows, read_arena
from arena.data.frames import answers_of_frame, checked_answers, with_language_of
from arena.data.schema import ANSWER_KEY
from arena.data.systems import refuse_names_alike
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


def add_answers(
    folder: Path | str,
    answers: pd.DataFrame | Path | str,
) -> tuple[Path, int, int]:
    """Add a new system's answers, or further answers of a known one, to an arena folder.

    Args:
        folder: Arena folder; new systems are declared in its ``arena.json``.
        answers: Columns ``query_id, language, system, answer``, or the path of their file; those
            that the arena has already are left as they are.

    Returns:
        The file, how many were added, and how many the arena had.

    Raises:
        UsageError: If the folder is no arena folder, there is no such file, or the name of a new
            system looks like another's.
        DataError: For malformed answers, answers to unknown questions, and answers that differ
            from those that the arena has of the same system; nothing is added.
    """
    arena = read_arena(folder)
    table = read_own_answers(answers, arena.queries)
    answers_of_arena = arena.answers.set_index(ANSWER_KEY)["answer"]
    keys = pd.MultiIndex.from_frame(table[ANSWER_KEY])
    present = pd.Series(answers_of_arena.reindex(keys).to_numpy())
    differing = table[present.notna() & (present != table["answer"])]
    problems = []
    source = answers.name if isinstance(answers, Path) else "answers"
    for key in differing[ANSWER_KEY].itertuples(index=False, name=None):
        fault = "the arena holds another answer of this system to this question"
        hint = "leave it out, or give the new version of the system a name of its own"
        problems.append(Problem(source, None, "+".join(ANSWER_KEY), key, fault, hint))
    if problems:
        raise DataError(problems)
    systems = set(arena.info.systems)
    refuse_names_alike(set(table["system"]) - systems, systems)
    file, n_added = append_rows(folder, "answers", table)
    return file, n_added, len(table) - n_added
