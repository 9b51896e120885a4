"""Outputs and prompts of MIRAGE-Bench's systems: answers, passages, questions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field

from arena.adapters.foreign_rows import (
    Adapted,
    Skip,
    StorableText,
    checked_records,
    ignored_columns,
)
from arena.data.errors import Problem
from arena.data.rows import Rows
from arena.data.schema import Text

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
        "answer_overlap_score": "llm_overlap",
        "fluency_score": "llm_fluency",
    }
)
"""Published name of each feature (a column of the outputs) to ours."""

PERCENT_WHERE_ABOVE_1 = "answer_bleu"
"""The authors' code divides SacreBLEU by 100; in a file with a value above 1 nobody did."""

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

    BLEU is from 0 to 1, as ours; where a value is above 1, those of the table are percent.

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
            skips.extend(_unanswered(found.scores, row, rows.source))
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
        hint = "write one object {model: score} a row"
        problem = Problem(source, line, name, cell, "is not an object", hint)
        return _RowScores({}, [problem])
    scores = {}
    problems = []
    for model, value in cell.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            hint = "write a number, or null if there is none"
            field = f"{name}.{model}"
            problems.append(Problem(source, line, field, value, "is not a number", hint))
        elif math.isfinite(value):
            scores[model] = _Score(float(value), None)
        else:
            scores[model] = _Score(math.nan, f"published as {value}")
    return _RowScores(scores, problems)


def _unanswered(scores: dict[str, _Score], row: OutputRow, source: str) -> Iterator[Skip]:
    models = {item.model for item in row.outputs}
    for model in scores:
        if model not in models:
            yield Skip(source, "score", f"{model} has no output to its question")


def _feature_table(answers: pd.DataFrame, scores: dict[str, list[_Score]]) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {
        key: answers[key].astype("str") for key in ("language", "system", "query_id")
    }
    absent = [_Score(math.nan, NO_COLUMN)] * len(answers)
    for published, name in PUBLISHED_FEATURES.items():
        values = scores.get(published, absent)
        found = pd.Series([score.value for score in values], dtype=np.float64)
        is_percent = published == PERCENT_WHERE_ABOVE_1 and bool((found > 1).any())
        columns[name] = found / 100 if is_percent else found
    for published, name in PUBLISHED_FEATURES.items():
        values = scores.get(published, absent)
        columns[f"{name}:missing"] = pd.Series([score.missing for score in values], dtype=object)
    return pd.DataFrame(columns)


_QUESTION = re.compile(r"Question[ \t]*:")
_CONTEXTS = re.compile(r"\n\s*Contexts[ \t]*:")
_INSTRUCTION = re.compile(r"\n\s*\n\s*Instruction")
_MARKER = r'(?:"\[(?P<quoted>{id})\]"|\[(?P<bare>{id})\])'
_LINE_MARKER = re.compile(r"^[ \t]*" + _MARKER.format(id=r"[^\]\n]+"), re.MULTILINE)
_MIRACL_ID = re.compile(r"\d+#\d+")
_REWRITE = "write 'Question: …', 'Contexts:', '[docid] text' a passage, and 'Instruction: …'"


class PromptRow(BaseModel):
    """A row of the published prompts."""

    query_id: Text = Field(description="a string")
    prompt: StorableText = Field(description="the prompt text")
    positive_ids: list[Text] = Field(description="a list of passage ids")
    negative_ids: list[Text] = Field(description="a list of passage ids")


@dataclass(frozen=True)
class Sections:
    """The question of a prompt and the text that holds its passages."""

    question: str
    contexts: str


@dataclass(frozen=True)
class _Mark:
    passage_id: str
    start: int
    end: int


def prompt_sections(prompt: str) -> Sections:
    """Split a prompt into its sections.

    Raises:
        ValueError: If a section is absent or the question is empty; the message says which.
    """
    question = _QUESTION.search(prompt)
    if question is None:
        raise ValueError("has no section 'Question:'")
    contexts = _CONTEXTS.search(prompt, question.end())
    if contexts is None:
        raise ValueError("has no section 'Contexts:' after the question")
    instructions = list(_INSTRUCTION.finditer(prompt, contexts.end()))
    if not instructions:
        raise ValueError("has no section 'Instruction' after the contexts")
    text = prompt[question.end() : contexts.start()].strip()
    if not text:
        raise ValueError("has an empty question")
    return Sections(text, prompt[contexts.end() : instructions[-1].start()])


def context_passages(contexts: str, listed: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Find the passages in the contexts of a prompt.

    A passage begins at its id, at the start of a line if it stands there anywhere, and ends where
    the next one begins.

    Args:
        contexts: Text of the section.
        listed: Ids that count as passages.

    Returns:
        The text of each listed id that has one, in prompt order, and the ids of passages that
        were left out: MIRACL ids that are not listed, and ids that stand there again.
    """
    marks = _marks(contexts, listed)
    ends = [*(mark.start for mark in marks[1:]), len(contexts)]
    texts: dict[str, str] = {}
    left_out = []
    for mark, end in zip(marks, ends, strict=True):
        text = contexts[mark.end : end].strip()
        if mark.passage_id not in listed or mark.passage_id in texts:
            left_out.append(mark.passage_id)
        elif text:
            texts[mark.passage_id] = text
    return texts, left_out


def _marks(contexts: str, listed: Sequence[str]) -> list[_Mark]:
    at_line_start = [_mark(match) for match in _LINE_MARKER.finditer(contexts)]
    marks = [
        mark
        for mark in at_line_start
        if mark.passage_id in listed or _MIRACL_ID.fullmatch(mark.passage_id)
    ]
    found = {mark.passage_id for mark in marks}
    for passage_id in listed:
        match = re.search(_MARKER.format(id=re.escape(passage_id)), contexts)
        if passage_id not in found and match:
            marks.append(_mark(match))
    return sorted(marks, key=lambda mark: mark.start)


def _mark(match: re.Match[str]) -> _Mark:
    return _Mark(match["quoted"] or match["bare"], match.start(), match.end())


def adapt_prompts(rows: Rows, language: str) -> Adapted:
    """Bring rows of prompts into the schema of our queries.

    Args:
        rows: Columns ``query_id, prompt, positive_ids, negative_ids``.
        language: Their language code, which the schema does not hold.
    """
    checked = checked_records(rows, PromptRow)
    problems = list(checked.problems)
    skips = list(ignored_columns(rows, list(PromptRow.model_fields)))
    queries = []
    lines = []
    for position, row in checked.records.items():
        line = int(rows.lines.iloc[position])
        try:
            sections = prompt_sections(row.prompt)
        except ValueError as error:
            problems.append(Problem(rows.source, line, "prompt", row.prompt, str(error), _REWRITE))
            continue
        texts, left_out = context_passages(sections.contexts, row.positive_ids + row.negative_ids)
        problems.extend(_id_problems(row, texts, rows.source, line))
        skips.extend(_left_out(rows.source, row, left_out))
        queries.append((row.query_id, language, sections.question, _passages(row, texts)))
        lines.append(line)
    table = pd.DataFrame(
        queries, columns=["query_id", "language", "query", "passages"], dtype=object
    )
    ordered = tuple(sorted(problems, key=lambda problem: problem.line or 0))
    return Adapted(Rows(table, pd.Series(lines, dtype=int), rows.source), ordered, tuple(skips))


def _passages(row: PromptRow, texts: dict[str, str]) -> list[dict[str, object]]:
    return [
        {
            "passage_id": passage_id,
            "text": text,
            "title": None,
            "relevance": int(passage_id in row.positive_ids),
        }
        for passage_id, text in texts.items()
    ]


def _id_problems(row: PromptRow, texts: dict[str, str], source: str, line: int) -> list[Problem]:
    problems = []
    seen: set[str] = set()
    for field, ids in [("positive_ids", row.positive_ids), ("negative_ids", row.negative_ids)]:
        for passage_id in ids:
            if passage_id in seen:
                fault, hint = "is listed twice", "list each passage once, positive or negative"
                problems.append(Problem(source, line, field, passage_id, fault, hint))
            elif passage_id not in texts:
                fault, hint = "has no text in the prompt", "add the passage or unlist its id"
                problems.append(Problem(source, line, field, passage_id, fault, hint))
            seen.add(passage_id)
    return problems


def _left_out(source: str, row: PromptRow, passage_ids: list[str]) -> list[Skip]:
    listed = {*row.positive_ids, *row.negative_ids}
    again = "its id stands in the prompt before"
    unlisted = "its id is neither positive nor negative"
    return [
        Skip(source, "passage", again if passage_id in listed else unlisted)
        for passage_id in passage_ids
    ]
