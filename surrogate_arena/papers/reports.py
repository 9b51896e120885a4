"""Reports on judges: tables, notes on what is missing, and records for an arena."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.llm import Usage
from arena.quality.judge_report import MetaEvaluation
from surrogate_arena.papers.judges import SENT
from surrogate_arena.studies.study_table import StudyTable

if TYPE_CHECKING:
    from arena.llm.usage import Price

NO_VALUE = "–"
BY_JUDGE = ["judge", "prompt"]


@dataclass(frozen=True)
class Report:
    """A meta-evaluation: for JSON, as tables for people, and as an arena's record.

    ``usages`` is None if no judge was at work.
    """

    content: Mapping[str, Any]
    tables: Sequence[StudyTable]
    metaevaluations: Sequence[MetaEvaluation] = ()
    usages: Sequence[Usage] | None = None

    def as_json(self, prices: Mapping[str, Price] = MappingProxyType({})) -> dict[str, Any]:
        """Return the content, with usage and its cost if any."""
        if self.usages is None:
            return dict(self.content)
        used = [{**asdict(usage), "cost": usage.cost(prices)} for usage in self.usages]
        return {**self.content, "usage": used}


def scores_by_part(
    verdicts: pd.DataFrame,
    part: str,
    score: Callable[[pd.DataFrame, str], Mapping[str, Any]],
    names: Sequence[str] = (),
    total: str | None = None,
) -> pd.DataFrame:
    """Score each judge by ``part``, such as ``metric``, and on all as ``total``, if named."""
    rows = []
    for (judge, prompt), judge_verdicts in judges_of(verdicts).items():
        tables = {}
        for name in names or judge_verdicts[part].unique():
            tables[str(name)] = judge_verdicts[judge_verdicts[part] == name]
        if total is not None:
            tables[total] = judge_verdicts
        for name, table in tables.items():
            rows.append({"judge": judge, "prompt": prompt, part: name, **score(table, name)})
    table = pd.DataFrame(rows)
    if "reason" in table:
        # Without any reason, pandas would take the column for one of numbers.
        table["reason"] = table["reason"].astype(object)
    return table


def verdict_counts(verdicts: pd.DataFrame, may_be_null: bool = False) -> dict[str, int]:
    """Count verdicts requested, failed, and not requested.

    Without a value and a failure a verdict may be null (GroUSE).
    """
    judged = verdicts[verdicts["was_asked"].astype(bool)]
    is_failed = judged["failure"].notna() if may_be_null else judged["value"].isna()
    return {
        "n": len(judged),
        "failures": int(is_failed.sum()),
        "not_asked": len(verdicts) - len(judged),
    }


def metaevaluations(
    scores: Iterable[Mapping[Any, Any]], dataset: str, metric: str, languages: Iterable[object]
) -> list[MetaEvaluation]:
    """Sum up scores with a value and an error, for an arena's ``metaevaluation.json``."""
    codes = list(map(str, languages))
    names = ("judge", "prompt", "value", "standard_error", "n", "failures")
    entries = []
    for row in scores:
        if pd.isna(row["value"]) or pd.isna(row["standard_error"]):
            continue
        score = {name: row[name] for name in names}
        entries.append(MetaEvaluation(dataset=dataset, metric=metric, languages=codes, **score))
    return entries


def judges_of(table: pd.DataFrame) -> Mapping[tuple[str, str], pd.DataFrame]:
    """Return the rows of each judge of a table, by its name and prompt, in their order."""
    groups = table.groupby(BY_JUDGE, sort=False)
    return {(str(judge), str(prompt)): rows for (judge, prompt), rows in groups}


def judge_labels(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Name a table's judges in their order, those with several prompts by these, too."""
    keys = list(judges_of(table))
    n_prompts = Counter(judge for judge, _ in keys)
    labels = {}
    for judge, prompt in keys:
        label = judge
        if n_prompts[judge] > 1:
            label = f"{judge}, {short_prompt(prompt)}"
        labels[judge, prompt] = label
    return labels


def short_prompt(prompt: object) -> str:
    """Show a prompt by what it leaves out, or the name of its first template."""
    # Templates stand before settings: ``ag.v1@1a2b|without:justification|sent:top_p=1``.
    name, *settings = [part for part in str(prompt).split("|") if not part.startswith(SENT)]
    if "@" in name and settings and settings[0]:
        return settings[0]
    return name.partition("@")[0]


def score_cell(row: Mapping[Any, Any]) -> str:
    """Show a score in percent with its standard error."""
    return percent_with_error(row["value"], row["standard_error"])


def interval_cell(row: Mapping[Any, Any]) -> str:
    """Show a score in percent with its interval, if known."""
    cell = percent_with_error(row["value"])
    if np.isfinite(row["low"]):
        cell += f" ({100 * row['low']:.0f}–{100 * row['high']:.0f})"
    return cell


def judges_table(
    scores: pd.DataFrame,
    part: str,
    title: str,
    notes: Sequence[str] = (),
    cell: Callable[[Mapping[Any, Any]], str] = score_cell,
) -> StudyTable:
    """Show scores in percent by judge (rows) and ``part`` (columns).

    Reasons for missing values follow the notes. ``cell`` formats a row of the scores.
    """
    cells = named(scores).assign(cell=list(map(cell, scores.to_dict("records"))))
    table = wide_table(cells, part)
    return StudyTable(table, title=title, notes=[*notes, *no_value_notes(scores["reason"])])


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the names of ``judge_labels`` as its judges."""
    names = judge_labels(table)
    keys = zip(table["judge"].astype(str), table["prompt"].astype(str), strict=True)
    return table.assign(judge=[names[key] for key in keys])


def wide_table(cells: pd.DataFrame, column: str, *rows: str) -> pd.DataFrame:
    """Spread each ``cell`` over rows (judges by default) and a column; absent ones are dashes."""
    index = list(rows or ["judge"])
    table = cells.set_index([*index, column])["cell"].unstack(column)
    places = pd.MultiIndex.from_frame(cells[index].drop_duplicates())
    if len(index) == 1:
        places = places.get_level_values(0)
    table = table.reindex(index=places, columns=cells[column].unique())
    return table.fillna(NO_VALUE).rename_axis(columns=None).reset_index()


def percent_with_error(value: float, standard_error: float = math.nan) -> str:
    """Show a share in percent with its standard error, if they are known."""
    if pd.isna(value):
        return NO_VALUE
    percent = f"{100 * value:.1f}"
    if pd.isna(standard_error):
        return percent
    return f"{percent} ± {100 * standard_error:.1f}"


def left_out_notes(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    items: str,
    value: str,
    part: str | None = None,
) -> list[str]:
    """Count items without a judge's value, with reasons, and those not asked about."""
    names = judge_labels(scores)
    notes = []
    for row in scores.to_dict(orient="records"):
        name = names[row["judge"], row["prompt"]]
        if part is not None:
            name += f", {row[part]}"
        if row["failures"]:
            notes.append(f"{name}: {items} without a {value}, counted as errors: {row['failures']}")
        if row["not_asked"]:
            notes.append(f"{name}: {row['not_asked']} {items} missing: left out")
    return [*notes, *failure_notes(verdicts, names)]


def failure_notes(verdicts: pd.DataFrame, names: Mapping[tuple[str, str], str]) -> list[str]:
    """Say why verdicts failed, for each judge of ``names`` with any."""
    failures = judges_of(verdicts[verdicts["failure"].notna()])
    notes = []
    for key, name in names.items():
        if key in failures:
            notes.append(f"{name}: {failure_reasons(failures[key])}")
    return notes


def failure_reasons(verdicts: pd.DataFrame) -> str:
    """Count missing verdicts by reason, each with its first message."""
    parts = []
    # Rows without a failure are in no group.
    for reason, rows in verdicts.groupby("failure", sort=False):
        part = f"{len(rows)} {reason}"
        first_detail = next(filter(None, rows["detail"].fillna("")), None)
        if first_detail is not None:
            part += f" ({first_detail})"
        parts.append(part)
    return ", ".join(parts)


def no_value_notes(reasons: pd.Series) -> list[str]:
    """Say, once each, why values are missing."""
    return [f"No value: {reason}" for reason in reasons.dropna().drop_duplicates()]
