"""Printing meta-evaluations as tables or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from arena.metaevaluation.agreement import AgreementReport, Coefficient
from arena.metaevaluation.memerag import JudgeComparison
from arena.metaevaluation.memerag.balanced_accuracy import MACRO
from arena.metaevaluation.memerag.best_judges import DAGGER
from arena.metaevaluation.memerag.run_file import NOTICE
from surrogate.commands import printing
from surrogate.metaevaluation.session import Session

_COEFFICIENTS = ("ac1", "fleiss_kappa", "krippendorff_alpha", "percent_agreement")


def print_agreement(
    reports: Sequence[tuple[Path, AgreementReport]], field: str, coarse: bool, as_json: bool
) -> None:
    """Print the agreement on each file."""
    if as_json:
        files = [{"file": str(path)} | report.as_json() for path, report in reports]
        printing.print_json({"field": field, "coarse": coarse, "files": files})
        return
    header = ["file", "items", "with pairs", "raters", *(_spaced(name) for name in _COEFFICIENTS)]
    rows = [
        [path.name, report.items, report.items_with_pairs, report.raters]
        + [_with_interval(report.coefficients[name]) for name in _COEFFICIENTS]
        for path, report in reports
    ]
    level = "coarse" if coarse else "as labelled"
    printing.print_table(f"Agreement on {field}, {level} (95% interval)", header, rows)
    labels = dict.fromkeys(label for _, report in reports for label in report.categories)
    print(f"Labels: {', '.join(labels)}")
    for path, report in reports:
        for reason in dict.fromkeys(
            found.reason for found in report.coefficients.values() if found.reason
        ):
            print(f"{path.name}: {reason}")


def print_memerag(session: Session, as_json: bool) -> None:
    """Print the scores of judges side by side."""
    if as_json:
        printing.print_json(
            {
                "scores": printing.records(session.scores),
                "fine_grained": printing.records(session.fine_grained),
                "challenging": session.challenging,
                "usage": [asdict(usage) for usage in session.usages],
                "notice": NOTICE,
            }
        )
        return
    languages = list(session.scores["language"].drop_duplicates())
    rows = [
        [judge, prompt, *(_score(part, language) for language in languages), _count(part)]
        for (judge, prompt), part in session.scores.groupby(["judge", "prompt"], sort=False)
    ]
    printing.print_table(
        "Balanced accuracy in percent, with standard errors",
        ["judge", "prompt", *languages, "sentences"],
        rows,
    )
    _print_notes(session)


def print_comparisons(comparisons: Sequence[JudgeComparison], as_json: bool) -> None:
    """Print the tests of pairs of judges."""
    if as_json:
        content = [
            {
                "judge_a": _named(each.judge_a),
                "judge_b": _named(each.judge_b),
                "left_out": each.left_out,
                "languages": printing.records(each.table),
            }
            for each in comparisons
        ]
        printing.print_json({"comparisons": content})
        return
    for each in comparisons:
        title = f"A: {' '.join(each.judge_a)}   B: {' '.join(each.judge_b)}"
        columns = [
            name for name in each.table if name != "reason" or each.table[name].notna().any()
        ]
        printing.print_columns(title, each.table, columns)
        if each.left_out:
            print(f"{each.left_out} sentences left out, which one of the two was not asked about")


def _named(judge: tuple[str, str]) -> dict[str, str]:
    return {"judge": judge[0], "prompt": judge[1]}


def _print_notes(session: Session) -> None:
    scores = session.scores
    if (scores["mark"] == DAGGER).any():
        print(f"{DAGGER} not statistically different from the best of its column (p > 0.05)")
    print(f"Left out: {session.challenging} sentences that are challenging to determine")
    for row in scores[scores["language"] == MACRO].to_dict(orient="records"):
        if row["failures"]:
            print(f"{row['judge']}: {row['failures']} sentences without a label, counted as errors")
        if row["not_asked"]:
            print(
                f"{row['judge']}: {row['not_asked']} sentences were not answered and are left out; "
                "run again"
            )
    for reason in scores["reason"].dropna().drop_duplicates():
        print(f"No value: {reason}")
    for usage in session.usages:
        print(usage)


def _score(part: pd.DataFrame, language: str) -> str:
    row = part[part["language"] == language]
    if row.empty or row["balanced_accuracy"].isna().any():
        return "–"
    value, spread, mark = row.iloc[0][["balanced_accuracy", "standard_error", "mark"]]
    shown = f"{100 * value:.1f} ± {100 * spread:.1f}"
    return f"{shown} {mark}" if mark == DAGGER else shown


def _count(part: pd.DataFrame) -> int:
    return int(part.loc[part["language"] == MACRO, "sentences"].iloc[0])


def _with_interval(found: Coefficient) -> str:
    if found.reason:
        return "–"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _spaced(name: str) -> str:
    return name.replace("_", " ")
