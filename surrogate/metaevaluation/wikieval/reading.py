"""WikiEval's files, and which of two texts is the better one, told from where they come from.

A text that stands in two files may be spelled a little otherwise in one of them, where its
encoding suffered on the way; so the most alike counts, if it is alike enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict
from rapidfuzz.fuzz import ratio

from arena.data.errors import Problem, UsageError, checked_choice
from arena.data.rows import read_rows
from arena.data.wording import count_of
from surrogate.metaevaluation.reading import (
    FilledText,
    in_order,
    raise_if,
    refuse,
    validated_records,
)
from surrogate.metaevaluation.wikieval.judges import (
    ANSWER_RELEVANCE,
    COMPARED,
    CONTEXT_RELEVANCE,
    CRITERIA,
    FAITHFULNESS,
    FILES,
    Criterion,
)
from surrogate.metaevaluation.wikieval.published import published_file, published_pairs

ALIKE = 95.0
"""Percent of characters that must agree for two texts to count as one."""

_HINT = "take the files of one edition of WikiEval, or say that label 1 is the better (label)"


def better_answers(
    faithfulness: pd.DataFrame, relevance: pd.DataFrame
) -> dict[str, tuple[int, int]]:
    """Find for each question the answer that both files hold.

    Args:
        faithfulness: Columns ``question, answer, label, line``.
        relevance: The same.

    Returns:
        Its label in the one and in the other, by question.

    Raises:
        DataError: For each question of which no answer, or more than one, is in both.
    """
    labels: dict[str, tuple[int, int]] = {}
    problems = [*_absent(faithfulness, relevance, FILES[ANSWER_RELEVANCE])]
    problems += _absent(relevance, faithfulness, FILES[FAITHFULNESS], FILES[ANSWER_RELEVANCE])
    both = faithfulness.merge(relevance, on="question", suffixes=("", "_other"))
    for question, rows in both.groupby("question", sort=False):
        alike = [
            (int(row.label), int(row.label_other))
            for row in rows.itertuples()
            if ratio(row.answer, row.answer_other) >= ALIKE
        ]
        if len(alike) == 1:
            labels[str(question)] = alike[0]
        else:
            fault = f"has {len(alike)} answers in common with {FILES[ANSWER_RELEVANCE]}, not one"
            problems.append(_problem(FILES[FAITHFULNESS], rows, question, fault))
    raise_if(problems)
    return labels


def better_contexts(faithfulness: pd.DataFrame, relevance: pd.DataFrame) -> dict[str, int]:
    """Find for each question the context that answers were written from.

    Args:
        faithfulness: Columns ``question, context, label, line``.
        relevance: The same.

    Returns:
        Its label in the second, by question.

    Raises:
        DataError: For each question of which neither context, or both equally, is that one.
    """
    labels: dict[str, int] = {}
    problems = [*_absent(relevance, faithfulness, FILES[FAITHFULNESS], FILES[CONTEXT_RELEVANCE])]
    known = faithfulness.drop_duplicates("question")[["question", "context"]]
    both = relevance.merge(known, on="question", suffixes=("", "_known"))
    for question, rows in both.groupby("question", sort=False):
        scored = sorted(
            (ratio(row.context, row.context_known), int(row.label)) for row in rows.itertuples()
        )
        if scored[1][0] >= ALIKE and scored[1][0] > scored[0][0]:
            labels[str(question)] = scored[1][1]
        else:
            fault = f"has no one context that is the one in {FILES[FAITHFULNESS]}"
            problems.append(_problem(FILES[CONTEXT_RELEVANCE], rows, question, fault))
    raise_if(problems)
    return labels


def _absent(
    rows: pd.DataFrame, others: pd.DataFrame, absent_from: str, source: str = FILES[FAITHFULNESS]
) -> list[Problem]:
    missing = rows[~rows["question"].isin(set(others["question"]))]
    return [
        _problem(source, part, question, f"is no question of {absent_from}")
        for question, part in missing.groupby("question", sort=False)
    ]


def _problem(source: str, rows: pd.DataFrame, question: object, fault: str) -> Problem:
    return Problem(source, int(rows["line"].iloc[0]), "question", question, fault, _HINT)


Better = Literal["provenance", "label"]
BETTER: tuple[Better, ...] = get_args(Better)

PAIR_COLUMNS = ["criterion", "question", "context", "better", "worse", "labeled"]
"""Columns of a table of pairs."""

_LABELS = {"0": 0, "1": 1}


def _label(value: object) -> object:
    label = _LABELS.get(str(value).strip())
    if label is None:
        raise refuse("is no label", "write 0 or 1")
    return label


Label = Annotated[int, BeforeValidator(_label)]


class AnswerAlone(BaseModel):
    """A row of ``ar.csv``."""

    model_config = ConfigDict(extra="ignore")

    question: FilledText
    answer: FilledText
    label: Label


class AnswerInContext(AnswerAlone):
    """A row of ``ff.csv``."""

    context: FilledText


class ContextAlone(BaseModel):
    """A row of ``cr.csv``."""

    model_config = ConfigDict(extra="ignore")

    question: FilledText
    context: FilledText
    label: Label


_RECORDS: dict[Criterion, type[BaseModel]] = {
    FAITHFULNESS: AnswerInContext,
    ANSWER_RELEVANCE: AnswerAlone,
    CONTEXT_RELEVANCE: ContextAlone,
}


def read_wikieval(
    path: Path | str, criteria: Sequence[str] = (), better: str = "provenance"
) -> pd.DataFrame:
    """Read WikiEval's pairs, of the published data set or of its public recast.

    The published rows (explodinggradients/WikiEval) hold ``question, answer, ungrounded_answer,
    poor_answer, context_v1, context_v2``: the first answer, and the first context, are the better
    ones. The public recast numbers the two texts of a question 0 and 1 in a shuffled order: its
    ``label`` does not say which of them people preferred. That is told from where the texts come
    from, as in the dataset itself: the answer that was written from the context stands in both
    ``ff.csv`` and ``ar.csv``, beside one written without it and one made incomplete; the context
    without added sentences is the one in ``ff.csv``.

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
    chosen = _chosen(criteria)
    if better not in BETTER:
        raise UsageError(f"better is {better!r}; use one of {', '.join(BETTER)}")
    published = _published(Path(path))
    if published is not None:
        return pd.DataFrame(published_pairs(published, chosen), columns=PAIR_COLUMNS, dtype=object)
    rows = _read_all(Path(path), _needed(chosen, better))
    labels = _better_labels(rows, chosen, better)
    return pd.DataFrame(
        [row for name in chosen for row in _pairs(name, rows[name], labels[name])],
        columns=PAIR_COLUMNS,
        dtype=object,
    )


def _published(path: Path) -> Path | None:
    """Return the file of published rows; None where there are files of the recast."""
    if not path.exists():
        raise UsageError(
            f"there is no folder or file {path}; give WikiEval's rows, or the folder with ff.csv, "
            "ar.csv, cr.csv of its recast"
        )
    is_recast = any((path / name).is_file() for name in FILES.values())
    return None if is_recast else published_file(path)


def _chosen(criteria: Sequence[str]) -> list[Criterion]:
    wanted = {checked_choice(name, CRITERIA, "criterion") for name in criteria}
    return [name for name in CRITERIA if not wanted or name in wanted]


def _needed(chosen: Sequence[Criterion], better: str) -> list[Criterion]:
    """Return the criteria whose files must be read to tell which text is the better one."""
    if better == "label":
        return list(chosen)
    others = {FAITHFULNESS: ANSWER_RELEVANCE}
    needed = {FAITHFULNESS, *chosen, *(others[name] for name in chosen if name in others)}
    return [name for name in CRITERIA if name in needed]


def _read_all(folder: Path, criteria: Iterable[Criterion]) -> dict[Criterion, pd.DataFrame]:
    problems: list[Problem] = []
    tables = {name: _read_file(folder / FILES[name], name, problems) for name in criteria}
    raise_if(problems)
    return tables


def _read_file(path: Path, criterion: Criterion, problems: list[Problem]) -> pd.DataFrame:
    """Return the rows of a file by question, with their lines; adds what is wrong to problems."""
    if not path.is_file():
        raise UsageError(f"{path.parent} holds no {path.name}, which is for {criterion}")
    record = _RECORDS[criterion]
    faults: list[Problem] = []
    checked = [
        fields.model_dump() | {"line": line}
        for line, fields in validated_records(read_rows(path), record, faults)
    ]
    table = pd.DataFrame(checked, columns=[*record.model_fields, "line"])
    if not faults:
        faults = [*_unpaired(table, path.name)]
    problems += in_order(faults)
    return table


def _unpaired(table: pd.DataFrame, source: str) -> Iterable[Problem]:
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


def _better_labels(
    rows: dict[Criterion, pd.DataFrame], chosen: Sequence[Criterion], better: str
) -> dict[Criterion, dict[str, int]]:
    """Return, for each criterion and question, the label of the better text."""
    if better == "label":
        return {name: dict.fromkeys(rows[name]["question"], 1) for name in chosen}
    better_of: dict[Criterion, dict[str, int]] = {}
    if ANSWER_RELEVANCE in rows:
        answers = better_answers(rows[FAITHFULNESS], rows[ANSWER_RELEVANCE])
        better_of[FAITHFULNESS] = {question: labels[0] for question, labels in answers.items()}
        better_of[ANSWER_RELEVANCE] = {question: labels[1] for question, labels in answers.items()}
    if CONTEXT_RELEVANCE in rows:
        better_of[CONTEXT_RELEVANCE] = better_contexts(rows[FAITHFULNESS], rows[CONTEXT_RELEVANCE])
    return better_of


def _pairs(
    criterion: Criterion, table: pd.DataFrame, better: dict[str, int]
) -> Iterable[tuple[str, str, str | None, str, str, int]]:
    column = COMPARED[criterion]
    for question, rows in table.groupby("question", sort=False):
        label = better[str(question)]
        texts = dict(zip(rows["label"], rows[column], strict=True))
        context = rows["context"].iloc[0] if criterion == FAITHFULNESS else None
        yield criterion, str(question), context, texts[label], texts[1 - label], label
