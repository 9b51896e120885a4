"""Scores of judges on unit tests as the paper's tables have them: 3, 4, 5, 7 and 9."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.data.wording import count_of
from surrogate.metaevaluation.grouse.calibration import SPEARMAN
from surrogate.metaevaluation.grouse.pass_rates import TOTAL
from surrogate.metaevaluation.grouse.unit_tests import FAILURE_MODES, METRICS
from surrogate.metaevaluation.report import (
    NO_VALUE,
    ReportTable,
    judge_labels,
    judges_of,
    no_value_notes,
    percent_with_error,
)

HEADINGS = ("relevancy", "complete", "useful", "faithful", "accepts", "rejects")


def judge_names(scores: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Name each judge of a table; one that was asked in several ways, by what replies held."""
    return judge_labels(scores, lambda prompt: "|".join(prompt.split("|")[1:2]))


def rate_table(rates: pd.DataFrame, notes: Sequence[str]) -> ReportTable:
    """Show the percentage passed by metric, a row a judge (tables 3 and 7)."""
    names = (*METRICS, TOTAL)
    rows = []
    shown = judge_names(rates)
    for key, of_judge in judges_of(rates).items():
        known = of_judge.set_index("metric")
        rows.append([shown[key], *(percent_with_error(*_rate(known, name)) for name in names)])
    notes = [*notes, *no_value_notes(rates["reason"])]
    title = "Pass rate in percent, with standard errors"
    return ReportTable(title, ["judge", *HEADINGS, TOTAL], rows, notes)


def _rate(known: pd.DataFrame, name: str) -> tuple[float, float]:
    rate, error = known.loc[name, ["pass_rate", "standard_error"]]
    return float(rate), float(error)


def mode_table(modes: pd.DataFrame) -> ReportTable:
    """Show how often failure modes are found, a column a judge (table 1, figure 4)."""
    of_judge = {key: part.set_index("failure_mode") for key, part in judges_of(modes).items()}
    rows = [
        [mode.name, mode.meaning, mode.metric, *(_share(known, mode.name) for known in
        of_judge.values())]
        for mode in FAILURE_MODES
        if mode.name in set(modes["failure_mode"])
    ]  # fmt: skip
    header = ["mode", "what is wrong", "found by", *judge_names(modes).values()]
    return ReportTable("Failure modes found, of the tests that have them", header, rows)


def _share(known: pd.DataFrame, name: str) -> str:
    if name not in known.index:
        return NO_VALUE
    row = known.loc[name]
    return f"{row['passed']}/{row['tests']}"


def type_table(judge: str, matrix: pd.DataFrame, notes: Sequence[str]) -> ReportTable:
    """Show how many tests of each type a judge passes, metric by metric (figures 13 to 15)."""
    metrics = [name for name in METRICS if name in set(matrix["metric"])] or list(METRICS)
    rows: list[list[object]] = [
        [name, *(_passed(part[part["metric"] == metric]) for metric in metrics), _passed(part)]
        for name, part in matrix.groupby("test_type", sort=False)
    ]
    shown = [HEADINGS[METRICS.index(name)] for name in metrics]
    header = ["test type", *shown, TOTAL]
    return ReportTable(f"Tests passed by {judge}", header, rows, notes)


def _passed(part: pd.DataFrame) -> str:
    if part.empty:
        return NO_VALUE
    return f"{int(part['passed'].sum())}/{int(part['tests'].sum())}"


def calibration_tables(calibration: pd.DataFrame, reference: str) -> list[ReportTable]:
    """Show how judges' scores follow a reference's (tables 4 and 9), and are the same (table 5).

    Args:
        calibration: As ``calibration`` returns it.
        reference: Name of the judge that is taken for right.
    """
    followed: list[list[object]] = []
    same: list[list[object]] = []
    shown = judge_names(calibration)
    for key, of_judge in judges_of(calibration).items():
        exact = 100 * of_judge["exact"]
        followed.append([shown[key], *map(_two_decimals, of_judge["value"])])
        same.append([shown[key], *map(_two_decimals, [*exact, exact.mean(skipna=False)])])
    graded = calibration.loc[calibration["measure"] == SPEARMAN, "metric"].unique()
    left_out = calibration[["nulls_left_out", "failures_left_out"]].sum()
    notes = [
        f"Spearman's correlation for {' and '.join(graded)}, where both give a score; macro F1 of "
        "0, 1 and null for the others",
        f"Left out: {count_of(left_out.iloc[0], 'pair')} with a null, {left_out.iloc[1]} without a "
        "score",
        *no_value_notes(calibration["reason"]),
    ]
    titles = (f"Calibration against {reference}", f"The same score as {reference}, in percent")
    return [
        ReportTable(titles[0], ["judge", *HEADINGS], followed, notes),
        ReportTable(titles[1], ["judge", *HEADINGS, TOTAL], same),
    ]


def _two_decimals(value: float) -> str:
    return NO_VALUE if pd.isna(value) else f"{value:.2f}"
