"""WikiEval's pairs: of its published rows, or of its public recast.

The published rows hold a question's three answers and two contexts. The recast numbers the two
texts of a question 0 and 1 in a shuffled order: which is the better one is told from where they
come from. A text that stands in two files may be spelled a little otherwise in one of them, where
its encoding suffered on the way; so the most alike counts, if it is alike enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model
from rapidfuzz.fuzz import ratio

from arena.data.errors import Problem, UsageError, checked_choice
from arena.data.rows import SUFFIXES, read_rows
from arena.data.wording import count_of
from surrogate.metaevaluation.records import (
    FilledText,
    in_order,
    raise_if,
    refuse,
    validated_records,
)

Criterion = Literal["faithfulness", "answer_relevance", "context_relevance"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
FAITHFULNESS: Criterion = "faithfulness"
ANSWER_RELEVANCE: Criterion = "answer_relevance"
CONTEXT_RELEVANCE: Criterion = "context_relevance"

FILES = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "ff.csv", ANSWER_RELEVANCE: "ar.csv", CONTEXT_RELEVANCE: "cr.csv"}
)
COMPARED = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "answer", ANSWER_RELEVANCE: "answer", CONTEXT_RELEVANCE: "context"}
)
"""The column that holds the texts that are compared."""

Better = Literal["provenance", "label"]
BETTER: tuple[Better, ...] = get_args(Better)
PAIR_COLUMNS = ["criterion", "question", "context", "better", "worse", "labeled"]
"""Columns of a table of pairs."""

ALIKE = 95.0
"""Percent of characters that must agree for two texts to count as one."""

_HINT = "take the files of one edition of WikiEval, or say that label 1 is the better (label)"
_LABELS = {"0": 0, "1": 1}
PairRow = tuple[str, str, str | None, str, str, int]


def read_wikieval(
    path: Path | str, criteria: Sequence[str] = (), better: str = "provenance"
) -> pd.DataFrame:
    """Read WikiEval's pairs, of the published data set or of its public recast.

    The published rows (explodinggradients/WikiEval) hold ``question, answer, ungrounded_answer,
    poor_answer, context_v1, context_v2``: the first answer, and the first context, are the better
    ones. In the recast the answer that was written from the context stands in both ``ff.csv`` and
    ``ar.csv``, beside one written without it and one made incomplete; the context without added
    sentences is the one in ``ff.csv``.

    Args:
        path: A file of published rows (JSONL, CSV or Parquet), or a folder that holds one, itself
            or in ``data``; or a folder with ``ff.csv`` (faithfulness: ``question, context, answer,
            label``), ``ar.csv`` (answer relevance: ``question, answer, label``) and ``cr.csv``
            (context relevance: ``question, context, label``); each question stands in two rows.
        criteria: Of ``CRITERIA``; all if left out.
        better: For the recast: ``provenance``, or ``label`` for files whose label 1 marks the
            better text.

    Returns:
        One row a pair, columns ``PAIR_COLUMNS``: ``context`` is the one answers were written
        from, None but for faithfulness; ``labeled`` is the label of the better text.

    Raises:
        UsageError: If there is no such folder or file, or for an unknown criterion.
        DataError: With every problem: file, line, column, value and hint.
    """
    path = Path(path)
    wanted = {checked_choice(name, CRITERIA, "criterion") for name in criteria}
    chosen = [name for name in CRITERIA if not wanted or name in wanted]
    checked_choice(better, BETTER, "better")
    if not path.exists():
        raise UsageError(
            f"there is no folder or file {path}; give WikiEval's rows, or the folder with ff.csv, "
            "ar.csv, cr.csv of its recast"
        )
    is_recast = any((path / name).is_file() for name in FILES.values())
    published = None if is_recast else _published_file(path)
    if published is not None:
        rows = _published_pairs(published, chosen)
    else:
        rows = _recast_pairs(path, chosen, better)
    return pd.DataFrame(rows, columns=PAIR_COLUMNS, dtype=object)


def _joined(value: object) -> object:
    """Contexts are lists of texts in the public files."""
    is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return "\n".join(value) if is_list and isinstance(value, list) else value


Context = Annotated[FilledText, BeforeValidator(_joined)]


class PublishedQuestion(BaseModel):
    """A row as it is published."""

    model_config = ConfigDict(strict=True, extra="ignore")

    question: FilledText
    answer: FilledText
    ungrounded_answer: FilledText
    poor_answer: FilledText
    context_v1: Context
    context_v2: Context

    def pair(self, criterion: Criterion) -> PairRow:
        """Return the pair of a criterion."""
        context = self.context_v1 if criterion == FAITHFULNESS else None
        texts = {
            FAITHFULNESS: (self.answer, self.ungrounded_answer),
            ANSWER_RELEVANCE: (self.answer, self.poor_answer),
            CONTEXT_RELEVANCE: (self.context_v1, self.context_v2),
        }[criterion]
        return criterion, self.question, context, *texts, 1


def _published_file(path: Path) -> Path | None:
    """Return the file of published rows: the path, or the only one in its folder or ``data/``."""
    if not path.is_dir():
        return path
    folders = [folder for folder in (path, path / "data") if folder.is_dir()]
    files = [each for folder in folders for each in sorted(folder.iterdir())]
    found = [each for each in files if each.name.endswith(SUFFIXES)]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise UsageError(f"{path} holds {names}; name the one that holds WikiEval's questions")
    return found[0] if found else None


def _published_pairs(path: Path, criteria: Sequence[Criterion]) -> list[PairRow]:
    rows = read_rows(path)
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    questions = []
    for line, row in validated_records(rows, PublishedQuestion, problems):
        first = seen.setdefault(row.question, line)
        if first != line:
            where = (rows.source, line, "question", row.question)
            problems.append(Problem(*where, f"stands on line {first} already", "keep one of them"))
        questions.append(row)
    if not questions and not problems:
        hint = "put one question a row in"
        problems = [Problem(rows.source, None, None, None, "holds no questions", hint)]
    raise_if(in_order(problems))
    return [row.pair(criterion) for criterion in criteria for row in questions]


def _label(value: object) -> object:
    label = _LABELS.get(str(value).strip())
    if label is None:
        raise refuse("is no label", "write 0 or 1")
    return label


class RecastRow(BaseModel):
    """A row of any of the recast's files."""

    model_config = ConfigDict(extra="ignore")

    question: FilledText
    label: Annotated[int, BeforeValidator(_label)]


_ANSWER: Any = {"answer": (FilledText, ...)}
_CONTEXT: Any = {"context": (FilledText, ...)}
_RECORDS: Mapping[Criterion, type[RecastRow]] = MappingProxyType(
    {
        FAITHFULNESS: create_model("AnswerInContext", __base__=RecastRow, **_ANSWER, **_CONTEXT),
        ANSWER_RELEVANCE: create_model("AnswerAlone", __base__=RecastRow, **_ANSWER),
        CONTEXT_RELEVANCE: create_model("ContextAlone", __base__=RecastRow, **_CONTEXT),
    }
)


def _recast_pairs(folder: Path, chosen: Sequence[Criterion], better: str) -> list[PairRow]:
    needed = set(chosen)
    if better == "provenance":
        needed |= {FAITHFULNESS, *([ANSWER_RELEVANCE] if FAITHFULNESS in chosen else [])}
    problems: list[Problem] = []
    rows = {name: _recast_file(folder, name, problems) for name in CRITERIA if name in needed}
    raise_if(problems)
    if better == "label":
        better_of = {name: dict.fromkeys(rows[name]["question"], 1) for name in chosen}
    else:
        better_of = _better_labels(rows)
    return [row for name in chosen for row in _pairs(name, rows[name], better_of[name])]


def _recast_file(folder: Path, criterion: Criterion, problems: list[Problem]) -> pd.DataFrame:
    """Return the rows of a file with their lines; adds what is wrong to the problems."""
    path = folder / FILES[criterion]
    if not path.is_file():
        raise UsageError(f"{folder} holds no {path.name}, which is for {criterion}")
    record = _RECORDS[criterion]
    faults: list[Problem] = []
    read = validated_records(read_rows(path), record, faults)
    checked = [fields.model_dump() | {"line": line} for line, fields in read]
    table = pd.DataFrame(checked, columns=[*record.model_fields, "line"])
    problems += in_order(faults) if faults else _unpaired(table, path.name)
    return table


def _unpaired(table: pd.DataFrame, source: str) -> Iterator[Problem]:
    if table.empty:
        yield Problem(source, None, None, None, "holds no rows", "put two rows a question in")
    for question, rows in table.groupby("question", sort=False):
        line = int(rows["line"].iloc[0])
        if len(rows) != 2:
            fault = f"stands in {count_of(len(rows), 'row')}"
            yield Problem(source, line, "question", question, fault, "give it two rows")
        elif rows["label"].nunique() != 2:
            value, hint = int(rows["label"].iloc[0]), "label one row 0 and one row 1"
            yield Problem(source, line, "label", value, "is the label of both rows", hint)
        elif source == FILES[FAITHFULNESS] and rows["context"].nunique() != 1:
            fault, value = "differs from that of the question's other row", rows["context"].iloc[0]
            yield Problem(source, line, "context", value, fault, "give both rows one context")


def _better_labels(rows: Mapping[Criterion, pd.DataFrame]) -> dict[Criterion, dict[str, int]]:
    """Return, for each criterion and question, the label of the better text.

    Raises:
        DataError: For each question of which no text, or more than one, is in both files.
    """
    found: dict[Criterion, dict[str, int]] = {name: {} for name in rows}
    problems: list[Problem] = []
    if ANSWER_RELEVANCE in rows:
        source, other = FILES[FAITHFULNESS], FILES[ANSWER_RELEVANCE]
        for question, mine, others in _joined_rows(rows, ANSWER_RELEVANCE, problems):
            alike = [
                (row.label, each.label)
                for row in mine.itertuples()
                for each in others.itertuples()
                if ratio(row.answer, each.answer) >= ALIKE
            ]
            if len(alike) == 1:
                found[FAITHFULNESS][question], found[ANSWER_RELEVANCE][question] = alike[0]
            else:
                fault = f"has {len(alike)} answers in common with {other}, not one"
                problems.append(_problem(source, mine, question, fault))
    if CONTEXT_RELEVANCE in rows:
        for question, mine, others in _joined_rows(rows, CONTEXT_RELEVANCE, problems):
            context = mine["context"].iloc[0]
            scored = sorted((ratio(row.context, context), row.label) for row in others.itertuples())
            if scored[1][0] >= ALIKE and scored[1][0] > scored[0][0]:
                found[CONTEXT_RELEVANCE][question] = scored[1][1]
            else:
                fault = f"has no one context that is the one in {FILES[FAITHFULNESS]}"
                problems.append(_problem(FILES[CONTEXT_RELEVANCE], others, question, fault))
    raise_if(problems)
    return found


def _joined_rows(
    rows: Mapping[Criterion, pd.DataFrame], other: Criterion, problems: list[Problem]
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield the questions of two files with their rows in each; those in one alone are problems."""
    mine = {str(question): part for question, part in rows[FAITHFULNESS].groupby("question")}
    others = {str(question): part for question, part in rows[other].groupby("question")}
    for question in dict.fromkeys([*rows[FAITHFULNESS]["question"], *rows[other]["question"]]):
        if question in mine and question in others:
            yield question, mine[question], others[question]
        elif question in others:
            fault = f"is no question of {FILES[FAITHFULNESS]}"
            problems.append(_problem(FILES[other], others[question], question, fault))
        elif other == ANSWER_RELEVANCE:
            fault = f"is no question of {FILES[other]}"
            problems.append(_problem(FILES[FAITHFULNESS], mine[question], question, fault))


def _problem(source: str, rows: pd.DataFrame, question: object, fault: str) -> Problem:
    return Problem(source, int(rows["line"].iloc[0]), "question", question, fault, _HINT)


def _pairs(criterion: Criterion, table: pd.DataFrame, better: dict[str, int]) -> Iterator[PairRow]:
    for question, rows in table.groupby("question", sort=False):
        label = better[str(question)]
        texts = dict(zip(rows["label"], rows[COMPARED[criterion]], strict=True))
        context = rows["context"].iloc[0] if criterion == FAITHFULNESS else None
        yield criterion, str(question), context, texts[label], texts[1 - label], label
