"""Sheets for human annotators: sentences out as CSV, answers and labels back in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from arena.errors import DataError, Problem, UsageError
from arena.metaevaluation.agreement.ratings import Label, Ratings, code_ratings
from arena.metaevaluation.annotation.flow_chart import QUESTIONS, annotate, next_question
from arena.metaevaluation.memerag.labels import RELEVANCE, canonical_label
from arena.metaevaluation.memerag.reading import SENTENCE_KEY
from arena.rows import CSV_SUFFIXES, Rows, read_rows, row_suffix, write_rows

SHOWN_COLUMNS = [*SENTENCE_KEY, "query", "passages", "answer", "sentence"]
"""What an annotator reads."""

FILLED_COLUMNS = [*QUESTIONS, "relevance", "comments"]
"""What an annotator fills in: yes or no for each question on the way to a label, and so on."""

LABEL_COLUMNS = [*SENTENCE_KEY, "factuality", "fine_grained_factuality", "relevance", "comments"]
"""Columns of a sheet that came back."""

_ANSWERS = {"yes": True, "y": True, "1": True, "no": False, "n": False, "0": False}


def annotation_sheet(sentences: pd.DataFrame) -> pd.DataFrame:
    """Make a sheet for one annotator, without the labels that there are.

    Args:
        sentences: Columns ``language, query_id, sentence_id, query, passages, answer, sentence``,
            such as ``read_memerag`` returns; ``passages`` holds texts.

    Returns:
        Columns ``SHOWN_COLUMNS``, passages numbered in one text, and ``FILLED_COLUMNS``, empty.
    """
    absent = [name for name in SHOWN_COLUMNS if name not in sentences.columns]
    if absent:
        raise UsageError(f"the sentences lack the columns {', '.join(absent)}")
    shown = sentences[SHOWN_COLUMNS].reset_index(drop=True)
    shown = shown.assign(passages=shown["passages"].map(_numbered))
    return shown.assign(**dict.fromkeys(FILLED_COLUMNS, ""))


def write_sheet(sheet: pd.DataFrame, path: Path | str) -> None:
    """Write a sheet as CSV.

    Raises:
        UsageError: If the name does not end in ``.csv`` (``.gz``, ``.zst``), or its folder is
            absent.
    """
    path = Path(path)
    if row_suffix(path) not in CSV_SUFFIXES:
        raise UsageError(f"{path.name}: a sheet is a CSV file; use a name such as anna.csv")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} in")
    write_rows(sheet, path)


def read_sheet(path: Path | str) -> pd.DataFrame:
    """Read a sheet that an annotator filled in.

    A question is answered by yes or no (y, n, 1, 0; case does not matter). Those off the path to
    the label may be left empty; a sentence without any answer is not annotated yet.

    Args:
        path: CSV file as ``write_sheet`` makes it; further columns do not matter.

    Returns:
        Columns ``LABEL_COLUMNS``, one row a sentence, labels missing where it is not annotated.

    Raises:
        UsageError: If there is no such file.
        DataError: With every problem: unknown answers, a path that ends before its label, unknown
            relevance, a sentence that stands twice, missing columns.
    """
    rows = read_rows(Path(path))
    wanted = [*SENTENCE_KEY, *QUESTIONS, "relevance"]
    absent = [name for name in wanted if name not in rows.table.columns]
    if absent and not rows.problems:
        fault, mend = "this column is missing", "keep all columns of the sheet"
        raise DataError([Problem(rows.source, None, name, None, fault, mend) for name in absent])
    problems = list(rows.problems)
    labelled = [] if absent else _labelled(rows, problems)
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0))
    return pd.DataFrame(labelled, columns=LABEL_COLUMNS, dtype=object)


def ratings_of_sheets(sheets: Sequence[pd.DataFrame], field: str = "factuality") -> Ratings:
    """Put the labels of several annotators side by side, to see how far they agree.

    Args:
        sheets: As ``read_sheet`` returns them, one an annotator; they need not hold the same
            sentences.
        field: ``factuality``, ``fine_grained_factuality`` or ``relevance``.

    Returns:
        Items are the sentences of any sheet, raters the sheets, in their order.

    Raises:
        UsageError: For an unknown field, or without sheets.
    """
    if field not in LABEL_COLUMNS[len(SENTENCE_KEY) : -1]:
        raise UsageError(
            f"unknown field {field!r}; use factuality, fine_grained_factuality or relevance"
        )
    if not sheets:
        raise UsageError("there are no sheets; give one at least")
    labels = [sheet.set_index(SENTENCE_KEY)[field].rename(n) for n, sheet in enumerate(sheets)]
    joint = pd.concat(labels, axis=1, sort=False).astype(object)
    rows: list[list[Label | None]] = joint.where(joint.notna(), None).to_numpy().tolist()
    return code_ratings(rows)


def _numbered(passages: Sequence[str]) -> str:
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(passages, start=1))


def _labelled(rows: Rows, problems: list[Problem]) -> list[dict[str, object]]:
    labelled: list[dict[str, object]] = []
    seen: dict[tuple[object, ...], int] = {}
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        where = (rows.source, int(line))
        row = {str(name): value for name, value in record.items()}
        key = tuple(row[name] for name in SENTENCE_KEY)
        if key in seen:
            fault = f"stands on line {seen[key]} already"
            problems.append(Problem(*where, "sentence_id", key[-1], fault, "keep one of them"))
            continue
        seen[key] = int(line)
        labelled.append(_row(row, where, problems))
    return labelled


def _row(
    row: Mapping[str, object], where: tuple[str, int], problems: list[Problem]
) -> dict[str, object]:
    for name in SENTENCE_KEY:
        if row[name] is None:
            problems.append(Problem(*where, name, None, "is missing", "copy it from the sheet"))
    found: dict[str, object] = {name: row[name] for name in SENTENCE_KEY}
    found["comments"] = row.get("comments")
    found["relevance"] = _relevance(row["relevance"], where, problems)
    return found | _factuality(row, where, problems)


def _factuality(
    row: Mapping[str, object], where: tuple[str, int], problems: list[Problem]
) -> dict[str, object]:
    nothing: dict[str, object] = {"factuality": None, "fine_grained_factuality": None}
    given = {name: str(row[name]).strip() for name in QUESTIONS if row[name] is not None}
    for name, said in given.items():
        if said.casefold() not in _ANSWERS:
            problems.append(Problem(*where, name, said, "is no answer", "write yes or no"))
    if not given or any(said.casefold() not in _ANSWERS for said in given.values()):
        return nothing
    answers = {name: _ANSWERS[said.casefold()] for name, said in given.items()}
    open_question = next_question(answers)
    if open_question is not None:
        mend = f"answer: {open_question.text}"
        problems.append(Problem(*where, open_question.name, None, "is not answered", mend))
        return nothing
    label = annotate(answers)
    return {
        "factuality": label.factuality,
        "fine_grained_factuality": label.fine_grained_factuality,
    }


def _relevance(given: object, where: tuple[str, int], problems: list[Problem]) -> str | None:
    if given is None:
        return None
    label = canonical_label("relevance", str(given))
    if label is None:
        mend = f"use one of {', '.join(RELEVANCE)}"
        problems.append(Problem(*where, "relevance", given, "is no label of this field", mend))
    return label
