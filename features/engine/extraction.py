"""Measuring features on all answers of an arena."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.computing.workers import work
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena, read_own_answers
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY, Passage
from arena.data.types import Progress
from features.declare.feature import SENTENCES, Feature, Value
from features.declare.models import Models
from features.declare.sample import (
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Answer,
    Memo,
    Missing,
    Question,
    Sample,
)
from features.measures.choosing import chosen_features
from features.measures.registry import DEFAULT_FEATURES, models_for, require
from features.text.sentences import require_sentences

if TYPE_CHECKING:
    from features.engine.cache import Cache

FEATURE_KEY = ["language", "system", "query_id"]
"""Columns that identify an answer in a table of features; its rows are sorted by them."""
MISSING_SUFFIX = ":missing"
"""Ends the name of a column with the reasons why a feature is missing."""
KEY = "answer:key"
"""Column of answer keys (``answer_keys``) in a folder of features."""
NOT_STATED = "no reason stated"


def feature_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of features that hold features.

    Args:
        table: What ``extract`` returns.

    Returns:
        Their names, in order.

    Examples:
        >>> import pandas as pd
        >>> feature_columns(pd.DataFrame(columns=["language", "system", "query_id", "bleu"]))
        ['bleu']
    """
    return [
        column
        for column in table.columns
        if column not in (*FEATURE_KEY, KEY) and not column.endswith(MISSING_SUFFIX)
    ]


def plain_name(column: str) -> str:
    """Return the name of a column's feature, without its settings."""
    return re.split(r"[@(]", column, maxsplit=1)[0]


def missing_counts(table: pd.DataFrame, by: str = "language") -> pd.DataFrame:
    """Count the answers that lack a feature, by language or system, and reason.

    Args:
        table: What ``extract`` returns, or a table of features without columns of reasons.
        by: Column to count by.

    Returns:
        Columns ``language`` (or the other one), ``feature, reason, answers``; nothing for what is
        not missing.

    Examples:
        >>> import pandas as pd
        >>> row = {"language": "en", "system": "x", "query_id": "q1", "bleu": float("nan")}
        >>> missing_counts(pd.DataFrame([row]))["answers"].tolist()
        [1]
    """
    rows = []
    group_codes, groups = pd.factorize(table[by], sort=True)
    for feature in feature_columns(table):
        reason_codes, reasons = pd.factorize(_reasons(table, feature), sort=True)
        is_missing = reason_codes >= 0
        n_answers = np.zeros((len(groups), len(reasons)), dtype=np.int64)
        np.add.at(n_answers, (group_codes[is_missing], reason_codes[is_missing]), 1)
        for group, reason in np.argwhere(n_answers):
            rows.append((groups[group], feature, reasons[reason], n_answers[group, reason]))
    counts = pd.DataFrame(rows, columns=[by, "feature", "reason", "answers"])
    # Within a group, features are in the order of the columns.
    return counts.sort_values(by, kind="stable", ignore_index=True)


def _reasons(table: pd.DataFrame, feature: str) -> pd.Series:
    column = f"{feature}{MISSING_SUFFIX}"
    if column in table:
        return table[column]
    reasons = pd.Series(NOT_STATED, index=table.index, dtype=object)
    return reasons.where(table[feature].isna(), None)


QuestionKey = tuple[str, str]
"""Language and query_id."""


def answers_of(arena: Arena, rows: pd.DataFrame) -> list[Answer]:
    """Return question and output of each row of answers."""
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


CHUNK = 512
"""Answers measured together."""
STAGE = "features"


def extract(
    arena: Arena | Path | str,
    features: Sequence[Feature | str] | str = DEFAULT_FEATURES,
    answers: pd.DataFrame | Path | str | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    *,
    models: Models | None = None,
    cache: Path | str | None = None,
) -> pd.DataFrame:
    """Measure features on every answer.

    Args:
        arena: The arena, or its folder.
        features: Values, names, or text for ``parse_features``.
        answers: Other systems' answers, ``query_id, language, system, answer``, or their file.
        n_jobs: Processes; -1 for all cores, None for joblib's workers.
        progress: Called with the stage, the answers done, and all.
        models: A ``features.ModelOptions``.
        cache: Folder that keeps values.

    Returns:
        Sorted answers. Each feature has a column, and ``<feature>:missing`` with reasons of NaN.

    Raises:
        UsageError: For unknown or repeated features, an absent model, or ``n_jobs=0``.
        DataError: For malformed answers, or unknown questions.
        MissingDependencyError: If a feature needs a package that is not installed.

    Examples:
        >>> from arena import sample_arena
        >>> extract(sample_arena(), "citations").columns.tolist()
        ['language', 'system', 'query_id', 'citations', 'citations:missing']
    """
    arena = open_arena(arena)
    if n_jobs == 0:
        raise UsageError(f"{argument('n_jobs')} is a number of workers, or -1 for all cores; not 0")
    rows = _answer_rows(arena, answers)
    chosen = chosen_features(features)
    models = models_for(chosen) if models is None else models
    chosen = models.configured(chosen)
    require(chosen, models)
    if any(SENTENCES in feature.needs for feature in chosen):
        require_sentences(rows["language"].unique())
    samples = answers_of(arena, rows)
    folder = None if cache is None else Path(cache)

    plain = [feature for feature in chosen if feature.reading is None]
    systems = rows["system"].tolist()
    ours = list(filter(is_ours, plain))
    values = measure(samples, systems, ours, n_jobs, folder, progress)
    # The code of a user's feature may change unnoticed, so that its values are never kept.
    others = list(filterfalse(is_ours, plain))
    values.update(measure(samples, systems, others, n_jobs, None, progress))
    # Last, since some models cost money.
    read = [feature for feature in chosen if feature.reading is not None]
    values.update(models.measure(arena, samples, read, folder, progress))
    return _table(rows, {str(feature): values[feature] for feature in chosen})


def completed_table(
    table: pd.DataFrame,
    arena: Arena | Path | str,
    features: Sequence[Feature | str] | str,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    *,
    models: Models | None = None,
    cache: Path | str | None = None,
) -> pd.DataFrame:
    """Join features that a table lacks, measured on the arena."""
    chosen = chosen_features(features)
    # Templates are part of a column's name.
    configured = (models or models_for(chosen)).configured(chosen)
    lacking = [
        feature
        for feature, column in zip(chosen, configured, strict=True)
        if str(column) not in table
    ]
    if not lacking:
        return table
    measured = extract(arena, lacking, n_jobs=n_jobs, progress=progress, models=models, cache=cache)
    return table.merge(measured, how="left", on=FEATURE_KEY)


def measure(
    answers: Sequence[Answer],
    systems: Sequence[str],
    features: Sequence[Feature],
    n_jobs: int | None,
    cache: Path | None,
    progress: Progress | None,
) -> dict[Feature, Sequence[Value]]:
    """Measure features without a model on all answers."""
    if not features:
        return {}
    if not answers:
        return dict.fromkeys(features, ())
    store: Cache | None = None
    keys: list[bytes] = []
    rows: dict[int, Sequence[Value]] = {}  # one value per feature, by the answer's index
    if cache is not None:
        from features.engine.cache import Cache, answer_keys, code_digest

        store = Cache(cache, json.dumps([code_digest(), *map(str, features)]))
        keys = answer_keys(answers)
        cached = store.find(keys)
        rows = {index: _read(cached[key]) for index, key in enumerate(keys) if key in cached}

    remaining = [index for index in range(len(answers)) if index not in rows]
    chunks = [remaining[start : start + CHUNK] for start in range(0, len(remaining), CHUNK)]
    jobs: list[list[tuple[str, Answer]]] = []
    for chunk in chunks:
        jobs.append([(systems[index], answers[index]) for index in chunk])
    task = partial(measure_chunk, features=tuple(features))
    for chunk, measured in zip(chunks, work(task, jobs, n_jobs), strict=True):
        new_rows = dict(zip(chunk, measured, strict=True))
        rows.update(new_rows)
        if store is not None:
            store.add({keys[index]: _written(row) for index, row in new_rows.items()})
        if progress is not None:
            progress(STAGE, len(rows), len(answers))
    in_order = [rows[index] for index in range(len(answers))]
    return dict(zip(features, zip(*in_order, strict=True), strict=True))


def measure_chunk(
    answers: Sequence[tuple[str, Answer]], features: Sequence[Feature]
) -> list[list[Value]]:
    """Measure a chunk of answers, which share what they can."""
    memo = Memo()
    rows: list[list[Value]] = []
    for system, (question, output) in answers:
        key = ("features", question.key, output)
        sample = Sample(question, output, memo)
        # Systems that answer a question alike have the same values.
        rows.append(memo.get(key, partial(_measure_sample, sample, system, features)))
    return rows


def _measure_sample(sample: Sample, system: str, features: Sequence[Feature]) -> list[Value]:
    row: list[Value] = []
    for feature in features:
        try:
            row.append(feature.measure(sample))
        except Exception as error:
            question = sample.question
            error.add_note(
                f"feature {feature}, answer of {system} to question {question.query_id!r} "
                f"in {question.language}"
            )
            raise
    return row


def _read(text: bytes) -> list[Value]:
    values: list[float | str] = json.loads(text)
    return [Missing(value) if isinstance(value, str) else value for value in values]


def _written(row: Iterable[Value]) -> bytes:
    values = [str(value) if isinstance(value, Missing) else value for value in row]
    return json.dumps(values).encode()


def _answer_rows(arena: Arena, answers: pd.DataFrame | Path | str | None) -> pd.DataFrame:
    """Sort answers so that a question's share a chunk."""
    table = arena.answers if answers is None else read_own_answers(answers, arena.queries)
    columns = [*QUESTION_KEY, "system", "answer", OWN_PASSAGES]
    return table.filter(columns).sort_values([*QUESTION_KEY, "system"])


def _table(rows: pd.DataFrame, values: dict[str, Sequence[Value]]) -> pd.DataFrame:
    columns: dict[str, object] = {name: rows[name].astype("str").to_numpy() for name in FEATURE_KEY}
    reasons: dict[str, object] = {}
    for name, column in values.items():
        numbers = [np.nan if isinstance(value, Missing) else value for value in column]
        columns[name] = np.array(numbers, np.float64)
        texts = [str(value) if isinstance(value, Missing) else None for value in column]
        reasons[f"{name}{MISSING_SUFFIX}"] = pd.Series(texts, dtype=object)
    columns.update(reasons)  # all reasons stand to the right of all values
    table = pd.DataFrame(columns).astype(dict.fromkeys(FEATURE_KEY, "str"))
    return table.sort_values(FEATURE_KEY, ignore_index=True)


def is_ours(feature: Feature) -> bool:
    """Return whether ``code_digest`` covers a feature's code."""
    module = getattr(feature.measurement, "__module__", None) or ""
    package, _, _ = str(module).partition(".")
    return package in ("arena", "features")
