"""Reports on judges: tables, notes on what is missing, and what an arena keeps of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.llm import Usage
from surrogate.board.judge_report import MetaEvaluation
from surrogate.papers.judges import SENT

if TYPE_CHECKING:
    from arena.llm.usage import Price

NO_VALUE = "–"
BY_JUDGE = ["judge", "prompt"]
VALUES = ["value", "standard_error", "n", "failures", "not_asked", "reason"]
"""A score, on how many items, how many of them had no verdict, and how many were not asked."""


@dataclass(frozen=True)
class ReportTable:
    """A table as it is printed, its title, and the lines below it."""

    title: str
    table: pd.DataFrame
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """A meta-evaluation: as JSON can hold it, as tables for people, and as an arena notes it.

    ``usages`` is None where no judge was at work.
    """

    content: Mapping[str, Any]
    tables: Sequence[ReportTable]
    metaevaluations: Sequence[MetaEvaluation] = ()
    usages: Sequence[Usage] | None = None

    def as_json(self, prices: Mapping[str, Price] = MappingProxyType({})) -> dict[str, Any]:
        """Return the content, with the usage and its cost if there was any judging."""
        if self.usages is None:
            return dict(self.content)
        used = [asdict(usage) | {"cost": usage.cost(prices)} for usage in self.usages]
        return {**self.content, "usage": used}


def metaevaluations(
    scores: Iterable[Mapping[Any, Any]], dataset: str, metric: str, languages: Iterable[object]
) -> list[MetaEvaluation]:
    """Sum up scores, rows with ``BY_JUDGE`` and ``VALUES``, for an arena's ``metaevaluation.json``.

    Those without a value or a standard error are left out.
    """
    return [
        MetaEvaluation(
            dataset=dataset,
            metric=metric,
            languages=[str(language) for language in languages],
            **{name: row[name] for name in (*BY_JUDGE, *VALUES[:-2])},
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
    keys = list(judges_of(table))
    names = [judge for judge, _ in keys]
    return {
        (judge, prompt): f"{judge}, {short_prompt(prompt)}" if names.count(judge) > 1 else judge
        for judge, prompt in keys
    }


def short_prompt(prompt: object) -> str:
    """Show a prompt by what it leaves out, or the name of its first template."""
    name, *settings = [part for part in str(prompt).split("|") if not part.startswith(SENT)]
    if "@" in name and settings and settings[0]:
        return settings[0]
    return name.partition("@")[0]


def judges_table(
    scores: pd.DataFrame,
    part: str,
    title: str,
    notes: Sequence[str] = (),
    cell: Callable[[Mapping[Any, Any]], str] | None = None,
) -> ReportTable:
    """Show scores in percent with standard errors by judge (rows) and ``part`` (columns).

    Reasons for missing values follow the notes. ``cell`` formats a row of the scores instead.
    """
    shown = cell or (lambda row: percent_with_error(row["value"], row["standard_error"]))
    table = wide_table(named(scores).assign(cell=list(map(shown, scores.to_dict("records")))), part)
    return ReportTable(title, table, [*notes, *no_value_notes(scores["reason"])])


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the names of ``judge_labels`` as its judges."""
    names = judge_labels(table)
    keys = zip(table["judge"], table["prompt"], strict=True)
    return table.assign(judge=[names[str(judge), str(prompt)] for judge, prompt in keys])


def wide_table(cells: pd.DataFrame, column: str, row: str = "judge") -> pd.DataFrame:
    """Spread each ``cell`` over a row and a column, in their order; what is absent is a dash."""
    table = cells.pivot(index=row, columns=column, values="cell")
    table = table.reindex(index=cells[row].unique(), columns=cells[column].unique())
    return table.fillna(NO_VALUE).rename_axis(columns=None).reset_index()


def percent_with_error(value: float, standard_error: float = math.nan) -> str:
    """Show a share in percent with its standard error, if they are known."""
    if pd.isna(value):
        return NO_VALUE
    spread = "" if pd.isna(standard_error) else f" ± {100 * standard_error:.1f}"
    return f"{100 * value:.1f}{spread}"


def left_out_notes(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    items: str,
    value: str,
    part: str | None = None,
) -> list[str]:
    """Say how many items judges gave no value for, and how many they were not asked about.

    Args:
        scores: Rows with ``BY_JUDGE`` and ``VALUES``.
        verdicts: Verdicts behind the scores, see ``Evaluation``; they give each judge's reasons.
        items: What the items are called.
        value: What a value is called.
        part: Column to name after the judge.
    """
    names = judge_labels(scores)
    notes = []
    for row in scores.to_dict(orient="records"):
        name = names[row["judge"], row["prompt"]] + (f", {row[part]}" if part else "")
        if row["failures"]:
            notes.append(f"{name}: {items} without a {value}, counted as errors: {row['failures']}")
        if row["not_asked"]:
            notes.append(f"{name}: {row['not_asked']} {items} got no answer: left out; run again")
    of_judges = judges_of(verdicts)
    for key, name in names.items():
        rows = of_judges[key] if key in of_judges else verdicts.head(0)
        if rows["failure"].notna().any():
            notes.append(f"{name}: {failure_reasons(rows)}")
    return notes


def failure_reasons(verdicts: pd.DataFrame) -> str:
    """Say how many verdicts are missing for each reason, with what was said about the first."""
    failed = verdicts[verdicts["failure"].notna()]
    parts = []
    for reason, rows in failed.groupby("failure", sort=False):
        details = rows["detail"].fillna("")
        detail = next((str(detail) for detail in details if detail), "")
        parts.append(f"{len(rows)} {reason}" + (f" ({detail})" if detail else ""))
    return ", ".join(parts)


def no_value_notes(reasons: pd.Series) -> list[str]:
    """Say, once each, why values are missing."""
    return [f"No value: {reason}" for reason in reasons.dropna().drop_duplicates()]
