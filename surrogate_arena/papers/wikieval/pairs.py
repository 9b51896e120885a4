"""WikiEval's pairs of texts, of its published rows: three answers and two contexts a question."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, get_args

import pandas as pd
from pydantic import BeforeValidator

from arena.data.errors import Problem
from surrogate_arena.papers.records import (
    FilledText,
    StrictRecord,
    files_of_rows,
    raise_if,
    read_records,
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
    """Read WikiEval's pairs of the published data set (explodinggradients/WikiEval).

    The first answer, and the first context, are the better ones. ``context`` is the one that
    answers were written from, None but for faithfulness.

    Returns:
        Columns ``criterion, question, context, better, worse``.
    """
    problems: list[Problem] = []
    rows: list[PublishedQuestion] = []
    for file in files_of_rows(Path(path)):
        records = read_records(file, PublishedQuestion, problems)
        problems += repeats(file, [(line, row.question) for line, row in records], "question")
        rows += [row for _, row in records]
    raise_if(problems)
    pairs = [row.pair(criterion) for criterion in CRITERIA for row in rows]
    return pd.DataFrame(pairs, columns=PAIR_COLUMNS, dtype=object)


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
