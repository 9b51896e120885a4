"""Printing meta-evaluations as tables or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from arena.statistics.agreement import AgreementReport
from arena.statistics.raters import Coefficient
from surrogate.cli import printing
from surrogate.metaevaluation.grouse.pass_rates import TOTAL
from surrogate.metaevaluation.grouse.unit_tests import METRICS
from surrogate.metaevaluation.grouse_session import GrouseSession
from surrogate.metaevaluation.memerag.balanced_accuracy import MACRO
from surrogate.metaevaluation.memerag.comparison import DAGGER, NOTICE, JudgeComparison
from surrogate.metaevaluation.sessions import Session
from surrogate.metaevaluation.wikieval.accuracy import PUBLISHED
from surrogate.metaevaluation.wikieval_session import WikievalSession

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
    level = "coarse" if coarse else "as labeled"
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


_BY_JUDGE = ["judge", "prompt"]
_HEADINGS = ("relevancy", "complete", "useful", "faithful", "accepts", "rejects")


def print_grouse(session: GrouseSession, as_json: bool) -> None:
    """Print pass rates by metric and type, judge by judge."""
    run = session.run
    if as_json:
        printing.print_json(
            {
                "source": None if session.source is None else str(session.source),
                "tests": session.tests,
                "results": [asdict(result) for result in run.results],
                "pass_rates": printing.records(run.pass_rates),
                "matrix": printing.records(run.matrix),
                "calls": printing.records(run.calls),
                "scores": printing.records(run.scores),
                "usage": [asdict(usage) for usage in session.usages],
            }
        )
        return
    source = "tests of this project" if session.source is None else f"tests of {session.source}"
    print(f"{session.tests} {source}")
    for (judge, prompt), rates in run.pass_rates.groupby(_BY_JUDGE, sort=False):
        rows = [_type_row(name, part) for name, part in _by_type(run.matrix, judge, prompt)]
        printing.print_table(
            f"Tests passed by {judge}",
            ["test type", *_HEADINGS, "total"],
            [*rows, _rate_row(rates)],
        )
        print(f"Prompts and settings: {prompt}")
        _print_notes_grouse_printing(run.calls, str(judge), str(prompt), rates, run.scores)
    for usage in session.usages:
        print(usage)


def _by_type(matrix: pd.DataFrame, judge: object, prompt: object) -> list[tuple[str, pd.DataFrame]]:
    of_judge = matrix[(matrix["judge"] == judge) & (matrix["prompt"] == prompt)]
    return [(str(name), part) for name, part in of_judge.groupby("test_type", sort=False)]


def _type_row(name: str, part: pd.DataFrame) -> list[object]:
    counts = [_share(part[part["metric"] == metric]) for metric in METRICS]
    return [name, *counts, _share(part)]


def _rate_row(rates: pd.DataFrame) -> list[object]:
    by_metric = rates.set_index("metric")
    return ["pass rate", *(_rate(by_metric.loc[name]) for name in (*METRICS, TOTAL))]


def _share(part: pd.DataFrame) -> str:
    if part.empty:
        return "–"
    return f"{int(part['passed'].sum())}/{int(part['tests'].sum())}"


def _rate(row: pd.Series) -> str:
    if pd.isna(row["pass_rate"]):
        return "–"
    share = f"{100 * row['pass_rate']:.1f}"
    return (
        share if pd.isna(row["standard_error"]) else f"{share} ± {100 * row['standard_error']:.1f}"
    )


def _print_notes_grouse_printing(
    calls: pd.DataFrame, judge: str, prompt: str, rates: pd.DataFrame, scores: pd.DataFrame
) -> None:
    counts = calls[(calls["judge"] == judge) & (calls["prompt"] == prompt)].iloc[0]
    print(
        f"{judge}: {counts['calls']} marks asked for, {counts['saved']} that followed from others"
    )
    total = rates[rates["metric"] == TOTAL].iloc[0]
    of_judge = scores[(scores["judge"] == judge) & (scores["prompt"] == prompt)]
    if total["failures"]:
        failed = of_judge[of_judge["failure"].notna() & of_judge["was_asked"].astype(bool)]
        print(
            f"{judge}: {total['failures']} checks without a mark, counted as not passed: "
            f"{_counted(failed['failure'])}"
        )
    if total["not_asked"]:
        absent = of_judge[~of_judge["was_asked"].astype(bool)]
        print(
            f"{judge}: {total['not_asked']} checks were not answered and are left out; run again: "
            f"{_counted(absent['failure'])}"
        )
    for reason in rates["reason"].dropna().drop_duplicates():
        print(f"No value: {reason}")


def _counted(reasons: pd.Series) -> str:
    return ", ".join(f"{count} {name}" for name, count in reasons.value_counts().items())


PAPER = "Es et al. (2023)"


def print_wikieval(session: WikievalSession, as_json: bool) -> None:
    """Print the accuracies of judges side by side, and the published ones."""
    criteria = list(session.scores["criterion"].drop_duplicates())
    if as_json:
        printing.print_json(
            {
                "scores": printing.records(session.scores),
                "published": printing.records(PUBLISHED[PUBLISHED["criterion"].isin(criteria)]),
                "label_matches": session.label_matches,
                "usage": [asdict(usage) for usage in session.usages],
            }
        )
        return
    rows = [
        [judge, *(_cell(part, criterion) for criterion in criteria)]
        for (judge, _), part in session.scores.groupby(["judge", "prompt"], sort=False)
    ]
    for judge, part in PUBLISHED.groupby("judge", sort=False):
        known = part.set_index("criterion")["accuracy"]
        rows.append([f"{judge}, {PAPER}", *(f"{100 * known[name]:.0f}" for name in criteria)])
    header = ["judge", *(name.replace("_", " ") for name in criteria)]
    printing.print_table("Accuracy in percent, with standard errors (pairs)", header, rows)
    _print_notes_wikieval_printing(session)


def _cell(part: pd.DataFrame, criterion: str) -> str:
    row = part[part["criterion"] == criterion]
    if row.empty or row["accuracy"].isna().any():
        return "–"
    accuracy, spread, pairs = row.iloc[0][["accuracy", "standard_error", "pairs"]]
    around = "" if pd.isna(spread) else f" ± {100 * spread:.1f}"
    return f"{100 * accuracy:.1f}{around} ({pairs})"


def _print_notes_wikieval_printing(session: WikievalSession) -> None:
    for row in session.scores.to_dict(orient="records"):
        for note in _notes({str(name): value for name, value in row.items()}):
            print(f"{row['judge']}, {str(row['criterion']).replace('_', ' ')}: {note}")
    for criterion, (matches, pairs) in session.label_matches.items():
        if matches < pairs:
            print(
                f"{criterion.replace('_', ' ')}: label 1 is the better text in {matches} of "
                f"{pairs} pairs; texts count by where they come from (--better label: by label)"
            )
    for usage in session.usages:
        print(usage)


def _notes(row: Mapping[str, Any]) -> list[str]:
    notes = []
    if row["ties"]:
        notes.append(f"{row['ties']} {'tie' if row['ties'] == 1 else 'ties'}")
    if row["failures"]:
        notes.append(f"{row['failures']} pairs without a choice, counted as errors")
    if row["not_asked"]:
        notes.append(f"{row['not_asked']} pairs were not answered and are left out; run again")
    if row["reason"]:
        notes.append(f"no value: {row['reason']}")
    return notes
