"""WikiEval as it is published: one row a question, with its three answers and two contexts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from arena.data.errors import Problem, UsageError
from arena.data.rows import SUFFIXES, read_rows
from surrogate.metaevaluation.reading import FilledText, in_order, raise_if, validated_records
from surrogate.metaevaluation.wikieval.judges import (
    ANSWER_RELEVANCE,
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    Criterion,
)

_BETTER_IS_LABELED = 1

PairRow = tuple[str, str, str | None, str, str, int]


def _joined(value: object) -> object:
    """Contexts are lists of texts in the public files."""
    is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return "\n".join(value) if is_list and isinstance(value, list) else value


Context = Annotated[FilledText, BeforeValidator(_joined)]


class PublishedQuestion(BaseModel):
    """One row.

    Attributes:
        question: The question.
        answer: Written from the first context.
        ungrounded_answer: Written without it.
        poor_answer: Made incomplete.
        context_v1: What the question was made of; a text, or a list of texts.
        context_v2: The same, with further sentences.
    """

    model_config = ConfigDict(strict=True, extra="ignore")

    question: FilledText
    answer: FilledText
    ungrounded_answer: FilledText
    poor_answer: FilledText
    context_v1: Context
    context_v2: Context

    def pair(self, criterion: Criterion) -> PairRow:
        """Return the pair of a criterion: it, question, context, better, worse, label."""
        context = self.context_v1 if criterion == FAITHFULNESS else None
        texts = {
            FAITHFULNESS: (self.answer, self.ungrounded_answer),
            ANSWER_RELEVANCE: (self.answer, self.poor_answer),
            CONTEXT_RELEVANCE: (self.context_v1, self.context_v2),
        }[criterion]
        return criterion, self.question, context, *texts, _BETTER_IS_LABELED


def published_file(path: Path) -> Path | None:
    """Return the file of published rows: the path, or the only one in its folder or ``data/``.

    Returns:
        None if the folder holds no such file.

    Raises:
        UsageError: If it holds several.
    """
    if not path.is_dir():
        return path
    found = [
        each
        for folder in (path, path / "data")
        if folder.is_dir()
        for each in sorted(folder.iterdir())
        if each.name.endswith(SUFFIXES)
    ]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise UsageError(f"{path} holds {names}; name the one that holds WikiEval's questions")
    return found[0] if found else None


def published_pairs(path: Path, criteria: Sequence[Criterion]) -> list[PairRow]:
    """Read the pairs of a file in the published schema.

    Args:
        path: JSONL, CSV or Parquet, one row a question: the fields of ``PublishedQuestion``.
        criteria: Which pairs to make.

    Raises:
        UsageError: If there is no such file, or its format is unknown.
        DataError: With every problem: file, line, field, value and hint.
    """
    rows = read_rows(path)
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    questions = []
    for line, row in validated_records(rows, PublishedQuestion, problems):
        first = seen.setdefault(row.question, line)
        if first != line:
            fault = f"stands on line {first} already"
            problems.append(
                Problem(rows.source, line, "question", row.question, fault, "keep one of them")
            )
        questions.append(row)
    if not questions and not problems:
        hint = "put one question a row in"
        problems = [Problem(rows.source, None, None, None, "holds no questions", hint)]
    raise_if(in_order(problems))
    return [row.pair(criterion) for criterion in criteria for row in questions]
