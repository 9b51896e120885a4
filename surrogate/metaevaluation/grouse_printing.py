"""Printing what judges pass of unit tests, as tables or JSON."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd

from arena.metaevaluation.grouse import METRICS
from arena.metaevaluation.grouse.pass_rates import TOTAL
from surrogate.commands import printing
from surrogate.metaevaluation.grouse_session import GrouseSession

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
        _print_notes(run.calls, str(judge), str(prompt), rates, run.scores)
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


def _print_notes(
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
