"""What a meta-evaluation has to say, for people as tables and for programs as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from arena.llm.usage import Usage
from surrogate.board.judge.metaevaluations import MetaEvaluation

NO_VALUE = "–"
BY_JUDGE = ["judge", "prompt"]


@dataclass(frozen=True)
class ReportTable:
    """A table as it is printed.

    Attributes:
        title: What stands above it.
        header: Names of the columns.
        rows: Cells.
        notes: Lines below it.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """A meta-evaluation as it is printed and written.

    Attributes:
        content: All of it, as JSON can hold it.
        tables: Tables for people.
        metaevaluations: What an arena's ``metaevaluation.json`` notes of it.
        usages: What LLMs were asked and used; None where no judge was at work.
    """

    content: Mapping[str, Any]
    tables: Sequence[ReportTable]
    metaevaluations: Sequence[MetaEvaluation] = ()
    usages: Sequence[Usage] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the content, with the usage if there was any judging."""
        if self.usages is None:
            return dict(self.content)
        return {**self.content, "usage": [asdict(usage) for usage in self.usages]}


def metaevaluations(
    scores: Iterable[Mapping[Any, Any]], dataset: str, metric: str, languages: Sequence[str]
) -> list[MetaEvaluation]:
    """Sum up scores for an arena's ``metaevaluation.json``.

    Args:
        scores: With ``judge``, ``prompt``, ``value``, ``standard_error``, ``n`` and ``failures``;
            those without a value or a standard error are left out.
        dataset: What judges were held against.
        metric: What the values are.
        languages: Languages of the items.
    """
    return [
        MetaEvaluation(
            judge=str(row["judge"]),
            dataset=dataset,
            metric=metric,
            prompt=str(row["prompt"]),
            value=float(row["value"]),
            standard_error=float(row["standard_error"]),
            n=int(row["n"]),
            languages=list(languages),
            failures=int(row["failures"]),
        )
        for row in scores
        if not (pd.isna(row["value"]) or pd.isna(row["standard_error"]))
    ]


def percent_with_error(value: float, standard_error: float) -> str:
    """Show a share in percent with its standard error, as far as they are known."""
    if pd.isna(value):
        return NO_VALUE
    spread = "" if pd.isna(standard_error) else f" ± {100 * standard_error:.1f}"
    return f"{100 * value:.1f}{spread}"


def short_prompt(prompt: object) -> str:
    """Show a prompt by the name of its first template; other settings as they are."""
    return str(prompt).partition("@")[0]


def judge_labels(
    table: pd.DataFrame, shown: Callable[[str], str] = short_prompt
) -> dict[tuple[str, str], str]:
    """Name the judges of a table in their order; one with several prompts by its prompt, too.

    Args:
        table: Columns ``judge, prompt``.
        shown: Shows a prompt.
    """
    known = list(judges_of(table))
    names = [judge for judge, _ in known]
    return {
        (judge, prompt): f"{judge}, {shown(prompt)}" if names.count(judge) > 1 else judge
        for judge, prompt in known
    }


def spaced(name: object) -> str:
    """Show a column's name as words."""
    return str(name).replace("_", " ")


def judge_rows(
    scores: pd.DataFrame, column: str, cell: Callable[[Mapping[Any, Any]], str]
) -> list[list[str]]:
    """Arrange scores: a row a judge, beginning with its name and prompt; a cell a value.

    Args:
        scores: Columns ``judge, prompt``, the column, and what cells show.
        column: What differs between the cells of a row.
        cell: Shows a row of the scores.
    """
    values = scores[column].drop_duplicates()
    rows = []
    for (judge, prompt), part in judges_of(scores).items():
        known = {row[column]: cell(row) for row in part.to_dict(orient="records")}
        rows.append([judge, prompt, *(known.get(value, NO_VALUE) for value in values)])
    return rows


def judges_of(verdicts: pd.DataFrame) -> Mapping[tuple[str, str], pd.DataFrame]:
    """Return the rows of each judge of a table, by its name and prompt, in their order."""
    groups = verdicts.groupby(BY_JUDGE, sort=False)
    return {(str(judge), str(prompt)): rows for (judge, prompt), rows in groups}


def left_out_notes(row: Mapping[Any, Any], items: str, value: str) -> list[str]:
    """Say how many items a judge gave no value for, and how many it was not asked about."""
    notes = []
    if row["failures"]:
        notes.append(f"{row['failures']} {items} without a {value}, counted as errors")
    if row["not_asked"]:
        notes.append(f"{row['not_asked']} {items} were not answered and are left out; run again")
    return notes


def no_value_notes(reasons: pd.Series) -> list[str]:
    """Say, once each, why values are missing."""
    return [f"No value: {reason}" for reason in reasons.dropna().drop_duplicates()]
