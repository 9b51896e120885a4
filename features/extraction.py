"""Measuring features on all answers of an arena."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from arena.errors import UsageError
from arena.folder import Arena, checked_answers, rows_of
from arena.records import Passage
from arena.tables import QUESTION_KEY
from features.feature import Feature, Value
from features.missing import NO_REFERENCE_ANSWER, NO_REFERENCE_SYSTEM, Missing
from features.registry import DEFAULT_FEATURES, distinct_features, parse_features
from features.sample import Memo, Question, Sample

ORDER = ["language", "system", "query_id"]
"""Columns that name an answer in a table of features, and their sorting."""

MISSING_SUFFIX = ":missing"
NOT_STATED = "no reason stated"
CHUNK = 256
"""Answers measured together; fixed, so that the number of workers changes nothing."""

Progress = Callable[[int], None]


@dataclass(frozen=True)
class _Chunk:
    questions: dict[tuple[str, str], Question]
    rows: list[tuple[str, str, str, str]]


def extract(
    arena: Arena,
    features: Sequence[Feature] | str = DEFAULT_FEATURES,
    answers: pd.DataFrame | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Measure features on every answer.

    Args:
        arena: Its questions, its reference answers and, unless others are given, its answers.
        features: What to measure, as features or as text for ``parse_features``.
        answers: Answers of other systems to the arena's questions, with the columns
            ``query_id, language, system, answer``.
        n_jobs: Number of workers, -1 for all cores; results do not depend on it.
        progress: Called with the number of answers done so far.

    Returns:
        One row an answer, sorted by ``language, system, query_id``. After these columns, each
        feature has a column of its name, NaN where it has no value, and a column
        ``<feature>:missing`` with the reason there, None elsewhere.

    Raises:
        UsageError: For unknown features, a feature asked for twice, or ``n_jobs=0``.
        DataError: For malformed or duplicate answers and answers to unknown questions.
        MissingDependencyError: If a feature needs a package that is not installed.
    """
    chosen = parse_features(features) if isinstance(features, str) else distinct_features(features)
    if n_jobs == 0:
        raise UsageError("n_jobs is a number of workers, or -1 for all cores; not 0")
    for feature in chosen:
        feature.require()
    given = arena.answers
    if answers is not None:
        given = checked_answers(rows_of(answers, "answers"), arena.queries)
    rows = given[[*QUESTION_KEY, "system", "answer"]].sort_values([*QUESTION_KEY, "system"])
    chunks = list(_chunks(rows, _questions(arena)))
    done = 0
    values: list[list[Value]] = []
    work = (delayed(_measure)(chunk, chosen) for chunk in chunks)
    for measured in Parallel(n_jobs=n_jobs, return_as="generator")(work):
        values.extend(measured)
        done += len(measured)
        if progress is not None:
            progress(done)
    return _table(rows, chosen, values)


def feature_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of features that hold features."""
    return [
        column
        for column in table.columns
        if column not in ORDER and not column.endswith(MISSING_SUFFIX)
    ]


def missing_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Count the answers that lack a feature, by language and reason.

    Args:
        table: What ``extract`` returns, or a table of features without columns of reasons.

    Returns:
        Columns ``language, feature, reason, answers``; nothing for what is not missing.
    """
    counts = [
        (language, feature, reason, len(rows))
        for feature in feature_columns(table)
        for (language, reason), rows in table.groupby([table["language"], _reasons(table, feature)])
    ]
    columns = ["language", "feature", "reason", "answers"]
    order = {feature: place for place, feature in enumerate(feature_columns(table))}
    counts.sort(key=lambda row: (row[0], order[row[1]], row[2]))
    return pd.DataFrame(counts, columns=columns)


def _reasons(table: pd.DataFrame, feature: str) -> pd.Series:
    """Return why a feature is missing, row by row; missing itself where there is a value."""
    column = f"{feature}{MISSING_SUFFIX}"
    if column in table:
        return table[column]
    stated = pd.Series(NOT_STATED, index=table.index, dtype=object)
    return stated.where(table[feature].isna(), None)


def _measure(chunk: _Chunk, features: Sequence[Feature]) -> list[list[Value]]:
    """Measure a chunk on one thread: a sum split over threads differs in its last bits."""
    memo = Memo()
    with threadpool_limits(limits=1):
        samples = (
            Sample(chunk.questions[language, query_id], system, output, memo)
            for language, query_id, system, output in chunk.rows
        )
        return [[feature.measure(sample) for feature in features] for sample in samples]


def _questions(arena: Arena) -> dict[tuple[str, str], Question]:
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
    }


def _references(arena: Arena) -> dict[tuple[str, str], str]:
    if arena.info.reference_system is None:
        return {}
    answers = arena.answers[arena.answers["system"] == arena.info.reference_system]
    rows = answers[[*QUESTION_KEY, "answer"]].itertuples(index=False, name=None)
    return {(language, query_id): answer for language, query_id, answer in rows}


def _chunks(rows: pd.DataFrame, questions: dict[tuple[str, str], Question]) -> Iterator[_Chunk]:
    for start in range(0, len(rows), CHUNK):
        part = list(rows.iloc[start : start + CHUNK].itertuples(index=False, name=None))
        asked = dict.fromkeys((language, query_id) for language, query_id, _, _ in part)
        yield _Chunk({key: questions[key] for key in asked}, part)


def _table(
    rows: pd.DataFrame, features: Sequence[Feature], values: list[list[Value]]
) -> pd.DataFrame:
    columns: dict[str, Any] = {name: rows[name].astype("str").to_numpy() for name in ORDER}
    for place, feature in enumerate(features):
        column = [row[place] for row in values]
        columns[str(feature)] = pd.Series(
            [float("nan") if isinstance(value, Missing) else value for value in column],
            dtype="float64",
        )
    for place, feature in enumerate(features):
        columns[f"{feature}{MISSING_SUFFIX}"] = pd.Series(
            [str(row[place]) if isinstance(row[place], Missing) else None for row in values],
            dtype=object,
        )
    table = pd.DataFrame(columns).astype(dict.fromkeys(ORDER, "str"))
    return table.sort_values(ORDER, ignore_index=True)
