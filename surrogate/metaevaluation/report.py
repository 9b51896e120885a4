"""What a meta-evaluation has to say: one table of scores for all benchmarks, and as JSON.

A table of scores has the columns ``judge, prompt``, what its rows differ by (a language, a
criterion, a metric: its ``part``), and ``VALUES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from arena.llm.usage import Usage
from surrogate.board.metaevaluations import MetaEvaluation

NO_VALUE = "–"
BY_JUDGE = ["judge", "prompt"]
VALUES = ["value", "standard_error", "n", "failures", "not_asked", "reason"]
"""A score, on how many items, how many of them had no verdict, and how many were not asked."""


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
        scores: Rows with ``BY_JUDGE`` and ``VALUES``; those without a value or a standard error
            are left out.
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


def judges_of(table: pd.DataFrame) -> Mapping[tuple[str, str], pd.DataFrame]:
    """Return the rows of each judge of a table, by its name and prompt, in their order."""
    groups = table.groupby(BY_JUDGE, sort=False)
    return {(str(judge), str(prompt)): rows for (judge, prompt), rows in groups}


def judge_labels(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Name the judges of a table in their order; one with several prompts by its prompt, too."""
    known = list(judges_of(table))
    names = [judge for judge, _ in known]
    return {
        (judge, prompt): f"{judge}, {short_prompt(prompt)}" if names.count(judge) > 1 else judge
        for judge, prompt in known
    }


def short_prompt(prompt: object) -> str:
    """Show a prompt by what it leaves out, or the name of its first template."""
    name, _, settings = str(prompt).partition("|")
    said = settings.partition("|")[0]
    return said if "@" in name and said else name.partition("@")[0]


def score_table(
    scores: pd.DataFrame,
    part: str,
    title: str,
    notes: Sequence[str] = (),
    cell: Callable[[Mapping[Any, Any]], str] | None = None,
) -> ReportTable:
    """Show scores in percent with standard errors, a row a judge.

    Args:
        scores: Columns ``BY_JUDGE``, the part, and ``VALUES``.
        part: What differs between the cells of a row.
        title: What stands above the table.
        notes: Lines below it; why values are missing is said after them.
        cell: Shows a row of the scores otherwise.
    """
    shown = cell or (lambda row: percent_with_error(row["value"], row["standard_error"]))
    values = list(scores[part].drop_duplicates())
    names = judge_labels(scores)
    rows = []
    for key, of_judge in judges_of(scores).items():
        known = {row[part]: shown(row) for row in of_judge.to_dict(orient="records")}
        rows.append([names[key], *(known.get(value, NO_VALUE) for value in values)])
    header = ["judge", *map(spaced, values)]
    return ReportTable(title, header, rows, [*notes, *no_value_notes(scores["reason"])])


def percent_with_error(value: float, standard_error: float = math.nan) -> str:
    """Show a share in percent with its standard error, as far as they are known."""
    if pd.isna(value):
        return NO_VALUE
    spread = "" if pd.isna(standard_error) else f" ± {100 * standard_error:.1f}"
    return f"{100 * value:.1f}{spread}"


def spaced(name: object) -> str:
    """Show a column's name as words."""
    return str(name).replace("_", " ")


def left_out_notes(
    scores: pd.DataFrame, items: str, value: str, part: str | None = None
) -> list[str]:
    """Say how many items judges gave no value for, and how many they were not asked about.

    Args:
        scores: Columns ``BY_JUDGE`` and ``VALUES``.
        items: What was judged, such as ``sentences``.
        value: What a verdict is, such as ``label``.
        part: Column that is named beside the judge.
    """
    names, notes = judge_labels(scores), []
    for row in scores.to_dict(orient="records"):
        name = names[row["judge"], row["prompt"]]
        name += f", {spaced(row[part])}" if part else ""
        if row["failures"]:
            notes.append(f"{name}: {row['failures']} {items} without a {value}, counted as errors")
        if row["not_asked"]:
            notes.append(
                f"{name}: {row['not_asked']} {items} were not answered and are left out; run again"
            )
    return notes


def no_value_notes(reasons: pd.Series) -> list[str]:
    """Say, once each, why values are missing."""
    return [f"No value: {reason}" for reason in reasons.dropna().drop_duplicates()]
