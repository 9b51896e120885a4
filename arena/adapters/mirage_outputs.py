"""MIRAGE-Bench's outputs: the models' answers and their published feature scores.

The scores are kept on the scales they are published on; ``bleu`` is on sacrebleu's, 0 to 100,
``llm_answer_overlap`` and ``llm_fluency`` are grades from 1 to 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field

from arena.adapters.foreign_rows import Adapted, StorableText, checked_records, ignored_columns
from arena.adapters.skipped import Skip
from arena.errors import Problem
from arena.records import Text
from arena.rows import Rows

PUBLISHED_FEATURES = MappingProxyType(
    {
        "target_language": "target_language",
        "english_language": "english",
        "citation_MAP@10": "citation_map@10",
        "citation_Recall@10": "citation_recall@10",
        "answer_bleu": "bleu",
        "answer_rougeL": "rouge_l",
        "support_entailment": "nli_entailment",
        "support_neutral": "nli_neutral",
        "reranker_score": "reranker_score",
        "answer_overlap_score": "llm_answer_overlap",
        "fluency_score": "llm_fluency",
    }
)
"""Published name of each feature (a column of the outputs) to ours."""

NOT_PUBLISHED = "not published"
NO_COLUMN = "feature not published"


class Output(BaseModel):
    """One model's output; null where it gave none."""

    model: Text
    output: StorableText | None


class OutputRow(BaseModel):
    """A row of the published outputs, without its feature columns."""

    query_id: Text = Field(description="a string")
    outputs: list[Output] = Field(description="a list of {model, output}")


@dataclass(frozen=True)
class AdaptedOutputs(Adapted):
    """Answers in our schema, and the features published with them.

    Attributes:
        features: Columns ``language, system, query_id``, one float column a feature and one
            column ``<feature>:missing`` that says why a value is NaN, else None.
    """

    features: pd.DataFrame


@dataclass(frozen=True)
class _Score:
    value: float
    missing: str | None


_UNPUBLISHED = _Score(math.nan, NOT_PUBLISHED)


def adapt_outputs(rows: Rows, language: str) -> AdaptedOutputs:
    """Bring rows of outputs into the schema of our answers and a feature table.

    Args:
        rows: Columns ``query_id, outputs`` and any of ``PUBLISHED_FEATURES``.
        language: Their language code, which the schema does not hold.
    """
    checked = checked_records(rows, OutputRow)
    published = [name for name in PUBLISHED_FEATURES if name in rows.table.columns]
    cells = {name: rows.table[name].tolist() for name in published}
    skips = list(ignored_columns(rows, ["query_id", "outputs", *PUBLISHED_FEATURES]))
    problems = list(checked.problems)
    answers: list[tuple[str, str, str, str]] = []
    lines: list[int] = []
    scores: dict[str, list[_Score]] = {name: [] for name in published}
    for position, row in checked.records.items():
        line = int(rows.lines.iloc[position])
        answered = [(item.model, item.output) for item in row.outputs if item.output is not None]
        silent = [item.model for item in row.outputs if item.output is None]
        skips.extend(Skip(rows.source, "answer", "its output is null") for _ in silent)
        answers.extend((row.query_id, language, model, output) for model, output in answered)
        lines.extend(line for _ in answered)
        for name in published:
            found = _row_scores(cells[name][position], name, rows.source, line)
            problems.extend(found.problems)
            problems.extend(_unanswered(found.scores, name, row, rows.source, line))
            scores[name].extend(found.scores.get(model, _UNPUBLISHED) for model, _ in answered)
    table = pd.DataFrame(
        answers, columns=["query_id", "language", "system", "answer"], dtype=object
    )
    return AdaptedOutputs(
        Rows(table, pd.Series(lines, dtype=int), rows.source),
        tuple(sorted(problems, key=lambda problem: problem.line or 0)),
        tuple(skips),
        _feature_table(table, scores),
    )


@dataclass(frozen=True)
class _RowScores:
    scores: dict[str, _Score]
    problems: list[Problem]


def _row_scores(cell: object, name: str, source: str, line: int) -> _RowScores:
    if cell is None:
        return _RowScores({}, [])
    if not isinstance(cell, dict):
        mend = "write one object {model: score} a row"
        problem = Problem(source, line, name, cell, "is not an object", mend)
        return _RowScores({}, [problem])
    scores = {}
    problems = []
    for model, value in cell.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            mend = "write a number, or null if there is none"
            field = f"{name}.{model}"
            problems.append(Problem(source, line, field, value, "is not a number", mend))
        elif math.isfinite(value):
            scores[model] = _Score(float(value), None)
        else:
            scores[model] = _Score(math.nan, f"published as {value}")
    return _RowScores(scores, problems)


def _unanswered(
    scores: dict[str, _Score], name: str, row: OutputRow, source: str, line: int
) -> list[Problem]:
    models = {item.model for item in row.outputs}
    fault = "is the score of a model that has no output here"
    mend = "add its output or take the score away"
    return [
        Problem(source, line, f"{name}.{model}", score.value, fault, mend)
        for model, score in scores.items()
        if model not in models
    ]


def _feature_table(answers: pd.DataFrame, scores: dict[str, list[_Score]]) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {
        key: answers[key].astype("str") for key in ("language", "system", "query_id")
    }
    absent = [_Score(math.nan, NO_COLUMN)] * len(answers)
    for published, name in PUBLISHED_FEATURES.items():
        values = scores.get(published, absent)
        columns[name] = pd.Series([score.value for score in values], dtype=np.float64)
    for published, name in PUBLISHED_FEATURES.items():
        values = scores.get(published, absent)
        columns[f"{name}:missing"] = pd.Series([score.missing for score in values], dtype=object)
    return pd.DataFrame(columns)
