"""Scores of judges on MEMERAG as the paper's tables have them: 5, 10 to 13."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from arena.data.wording import count_of
from surrogate.metaevaluation.memerag.comparison import BEST, DAGGER
from surrogate.metaevaluation.memerag.reading import JUDGED
from surrogate.metaevaluation.memerag.scores import MACRO
from surrogate.metaevaluation.report import (
    NO_VALUE,
    ReportTable,
    judge_labels,
    judge_rows,
    judges_of,
    left_out_notes,
    no_value_notes,
    percent_with_error,
    short_prompt,
)

_DAGGER_NOTE = f"{DAGGER} not statistically different from the best of its {{}} (p > 0.05)"
STAR = "*"
_STAR_NOTE = f"{STAR} best of its {{}}"


def score_table(scores: pd.DataFrame, group: str, notes: Sequence[str]) -> ReportTable:
    """Show each judge and prompt by language, with standard errors (tables 10 and 12, figure 2).

    Args:
        scores: As ``mark_best`` returns them.
        group: Among what the best are marked, such as ``column``.
        notes: Further lines below the table.
    """
    sentences = scores.loc[scores["language"] == MACRO, "sentences"]
    rows = [
        [judge, short_prompt(prompt), *cells]
        for judge, prompt, *cells in judge_rows(scores, "language", _score)
    ]
    return ReportTable(
        "Balanced accuracy in percent, with standard errors",
        ["judge", "prompt", *scores["language"].drop_duplicates(), "sentences"],
        [[*row, count] for row, count in zip(rows, sentences, strict=True)],
        [*_mark_notes(scores, group), *notes],
    )


def prompt_table(scores: pd.DataFrame) -> ReportTable:
    """Show prompts by judge, averaged over languages, marks within a judge (table 5).

    Args:
        scores: As ``mark_best`` returns them within judges.
    """
    macro = scores[scores["language"] == MACRO]
    judges = list(macro["judge"].drop_duplicates())
    rows: list[list[object]] = []
    for prompt, part in macro.groupby("prompt", sort=False):
        known = {row["judge"]: row for row in part.to_dict("records")}
        cells = [_score(known[name]) if name in known else NO_VALUE for name in judges]
        rows.append([short_prompt(prompt), *cells])
    title = "Prompts: balanced accuracy in percent, averaged over languages"
    return ReportTable(title, ["prompt", *judges], rows, _mark_notes(macro, "judge"))


def average_table(averages: pd.DataFrame) -> ReportTable:
    """Show prompts by language, averaged over judges (table 11); see ``average_over_judges``."""
    languages = list(averages["language"].drop_duplicates())
    best = averages.groupby("language")["balanced_accuracy"].transform("max")
    rows: list[list[object]] = []
    for prompt, part in averages.assign(best=best).groupby("prompt", sort=False):
        known = {row["language"]: row for row in part.to_dict("records")}
        cells = [_average(known[name]) if name in known else NO_VALUE for name in languages]
        rows.append([short_prompt(prompt), int(part["judges"].max()), *cells])
    title = "Prompts: balanced accuracy in percent, averaged over judges, with standard errors"
    notes = [_STAR_NOTE.format("column"), *no_value_notes(averages["reason"])]
    return ReportTable(title, ["prompt", "judges", *languages], rows, notes)


def fine_grained_tables(fine: pd.DataFrame, scores: pd.DataFrame) -> list[ReportTable]:
    """Show accuracy by fine-grained label, a table a language (table 13).

    Args:
        fine: As ``fine_grained_accuracy`` returns it.
        scores: As ``score_judges`` returns them.
    """
    return [
        _fine_table(str(language), part, scores[scores["language"] == language])
        for language, part in fine.groupby("language", sort=False)
    ]


def _fine_table(language: str, fine: pd.DataFrame, scores: pd.DataFrame) -> ReportTable:
    of_judge = {key: part.set_index("fine_grained_factuality") for key, part in
                judges_of(fine).items()}  # fmt: skip
    rows: list[list[object]] = []
    for coarse in JUDGED:
        part = fine[fine["factuality"] == coarse]
        for label in part["fine_grained_factuality"].drop_duplicates():
            counts = part.loc[part["fine_grained_factuality"] == label, "sentences"]
            cells = [_accuracy(known, [label]) for known in of_judge.values()]
            rows.append([label, int(counts.max()), *cells])
        labels = list(part["fine_grained_factuality"].drop_duplicates())
        cells = [_accuracy(known, labels) for known in of_judge.values()]
        counts = part.groupby("fine_grained_factuality")["sentences"].max()
        rows.append([f"all {coarse.casefold()}", int(counts.sum()), *cells])
    values = {
        (str(row["judge"]), str(row["prompt"])): percent_with_error(
            row["balanced_accuracy"], math.nan
        )
        for row in scores.to_dict("records")
    }
    rows.append(["balanced accuracy", NO_VALUE, *(values.get(key, NO_VALUE) for key in of_judge)])
    header = judge_labels(fine).values()
    title = f"Accuracy in percent by fine-grained label: {language}"
    return ReportTable(title, ["label", "sentences", *header], rows)


def _accuracy(known: pd.DataFrame, labels: Sequence[str]) -> str:
    """Show the accuracy on all sentences with some labels."""
    rows = known[known.index.isin(labels)]
    if rows.empty:
        return NO_VALUE
    return f"{100 * (1 - rows['errors'].sum() / rows['sentences'].sum()):.1f}"


def _score(row: Mapping[Any, Any]) -> str:
    shown = percent_with_error(row["balanced_accuracy"], row["standard_error"])
    return f"{shown} {_MARKS[row['mark']]}" if row["mark"] else shown


_MARKS = {BEST: STAR, DAGGER: DAGGER}


def _average(row: Mapping[Any, Any]) -> str:
    shown = percent_with_error(row["balanced_accuracy"], row["standard_error"])
    return f"{shown} {STAR}" if row["balanced_accuracy"] == row["best"] else shown


def _mark_notes(scores: pd.DataFrame, group: str) -> list[str]:
    marks = {BEST: _STAR_NOTE, DAGGER: _DAGGER_NOTE}
    return [note.format(group) for mark, note in marks.items() if (scores["mark"] == mark).any()]


def left_out(scores: pd.DataFrame, challenging: int) -> list[str]:
    """Say which sentences were not judged, or not answered for."""
    notes = [f"Left out: {count_of(challenging, 'sentence')} challenging to determine"]
    names = judge_labels(scores)
    for row in scores[scores["language"] == MACRO].to_dict(orient="records"):
        name = names[row["judge"], row["prompt"]]
        notes += [f"{name}: {note}" for note in left_out_notes(row, "sentences", "label")]
    prompts = dict.fromkeys(scores["prompt"])
    return [
        *notes,
        *no_value_notes(scores["reason"]),
        *(f"Prompt: {prompt}" for prompt in prompts if short_prompt(prompt) != prompt),
    ]
