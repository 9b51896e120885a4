"""WikiEval's pairs of texts, of its published rows: three answers and two contexts a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, get_args

import pandas as pd
from pydantic import BeforeValidator

from arena.data.errors import Problem
from arena.data.tables import SUFFIXES, read_rows
from surrogate_arena.importers.clone_files import files_below
from surrogate_arena.papers.records import (
    FilledText,
    StrictRecord,
    raise_if,
    records_of,
    repeats,
)

Criterion = Literal["faithfulness", "answer_relevance", "context_relevance"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
FAITHFULNESS, ANSWER_RELEVANCE, CONTEXT_RELEVANCE = CRITERIA

COMPARED = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "answer", ANSWER_RELEVANCE: "answer", CONTEXT_RELEVANCE: "context"}
)
"""What the texts are that are compared."""
PAIR_COLUMNS = ["criterion", "question", "context", "better", "worse"]
"""Columns of a table of pairs."""


def read_wikieval(path: Path | str) -> pd.DataFrame:
    """Read WikiEval's pairs of the published data set (explodinggradients/WikiEval), or its labels.

    The first answer, and the first context, are the better ones. ``context`` is given for
    faithfulness alone. A file with ``label`` has a good (1) and a bad text (0) a question: an
    ``answer`` for relevance, or with a ``context`` for faithfulness; or a ``context``.

    Returns:
        Columns ``criterion, question, context, better, worse``.
    """
    problems: list[Problem] = []
    published: list[PublishedQuestion] = []
    pairs: list[tuple[str, str, str | None, str, str]] = []
    for file in files_below([path], SUFFIXES):
        rows = read_rows(file)
        if "label" in rows.table:
            pairs += _labeled_pairs(file, records_of(rows, LabeledText, problems), problems)
            continue
        records = records_of(rows, PublishedQuestion, problems)
        problems += repeats(file, [(line, row.question) for line, row in records], "question")
        published += [row for _, row in records]
    raise_if(problems)
    pairs += [row.pair(criterion) for criterion in CRITERIA for row in published]
    return pd.DataFrame(pairs, columns=PAIR_COLUMNS, dtype=object)


def _labeled_pairs(
    file: Path, records: list[tuple[int, LabeledText]], problems: list[Problem]
) -> Iterator[tuple[str, str, str | None, str, str]]:
    keys = [(line, (row.question, row.label)) for line, row in records]
    problems += repeats(file, keys, "question", "keep a good and a bad text of each question")
    by_label = {(row.question, row.label): row for _, row in records}
    for line, row in records:
        bad = by_label.get((row.question, "0"))
        if (row.question, "1") not in by_label or bad is None:
            fault = "has only one of the labels 0 and 1"
            hint = "give a good and a bad text of each question"
            problems.append(Problem(file.name, line, "label", row.label, fault, hint))
        elif row.label == "1":
            context = row.context if row.criterion == FAITHFULNESS else None
            yield row.criterion, row.question, context, row.text, bad.text


def _joined(value: object) -> object:
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return "\n".join(value)
    return value


Context = Annotated[FilledText, BeforeValidator(_joined)]


class PublishedQuestion(StrictRecord):
    """A row as it is published."""

    question: FilledText
    answer: FilledText
    ungrounded_answer: FilledText
    poor_answer: FilledText
    context_v1: Context
    context_v2: Context

    def pair(self, criterion: Criterion) -> tuple[str, str, str | None, str, str]:
        """Return the pair of a criterion."""
        if criterion == FAITHFULNESS:
            texts = self.context_v1, self.answer, self.ungrounded_answer
            return criterion, self.question, *texts
        if criterion == ANSWER_RELEVANCE:
            return criterion, self.question, None, self.answer, self.poor_answer
        return criterion, self.question, None, self.context_v1, self.context_v2


class LabeledText(StrictRecord):
    """A text that is good (1) or bad (0): an answer, perhaps to a context, or a context."""

    question: FilledText
    label: Annotated[Literal["0", "1"], BeforeValidator(str)]
    answer: FilledText | None = None
    context: Context | None = None

    @property
    def criterion(self) -> Criterion:
        """Return what the label is of."""
        if self.answer is None:
            return CONTEXT_RELEVANCE
        return ANSWER_RELEVANCE if self.context is None else FAITHFULNESS

    @property
    def text(self) -> str:
        """Return what is labeled."""
        return self.answer or self.context or ""
