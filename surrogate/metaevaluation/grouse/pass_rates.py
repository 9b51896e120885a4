"""How many tests a judge passes: by metric, by failure mode, by type, and altogether."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from surrogate.metaevaluation.grouse.unit_tests import (
    FAILURE_MODES,
    JUDGED_METRICS,
    METRICS,
    TEST_TYPES,
)
from surrogate.metaevaluation.report import BY_JUDGE, VALUES, judges_of

TOTAL = "total"
RATE_COLUMNS = [*BY_JUDGE, "metric", *VALUES, "passed"]
MATRIX_COLUMNS = [*BY_JUDGE, "test_type", "metric", "passed", "tests"]
MODE_COLUMNS = [*BY_JUDGE, "failure_mode", "metric", "passed", "tests"]
CALL_COLUMNS = [*BY_JUDGE, "answers", "calls", "saved"]


def pass_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count passed tests by judge and metric (table 3).

    Tests of one question share texts and are passed or failed together, so the standard error
    takes questions for the units (a ratio estimate over clusters); it needs two questions.

    Args:
        scores: Verdicts, see ``Grouse``.

    Returns:
        Columns ``RATE_COLUMNS``, a row for each metric of each judge and one for ``total``, over
        the checks by all. ``failures`` are among the tests and not passed; ``not_asked`` are
        left out of them. ``reason`` says why a number is missing.
    """
    checked = scores[scores["condition"].notna()]
    rows = []
    for (judge, prompt), of_judge in judges_of(checked).items():
        parts = [(name, of_judge[of_judge["metric"] == name]) for name in METRICS]
        for metric, part in [*parts, (TOTAL, of_judge)]:
            rows.append({"judge": judge, "prompt": prompt, "metric": metric} | _rate(part))
    table = pd.DataFrame(rows, columns=RATE_COLUMNS)
    return table.assign(reason=table["reason"].astype(object))


def type_matrix(scores: pd.DataFrame) -> pd.DataFrame:
    """Count passed tests by judge, test type and metric (figures 13 to 15).

    Returns:
        Columns ``MATRIX_COLUMNS``, types in order of the tests. A type and metric of which no
        test could be asked has no row.
    """
    counted = _asked(scores).assign(tests=1)
    by = [*BY_JUDGE, "test_type", "metric"]
    table = counted.groupby(by, sort=False)[["passed", "tests"]].sum()
    return table.reset_index()[MATRIX_COLUMNS]


def failure_mode_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count how often each failure mode is found where it is (table 1, figure 4).

    Returns:
        Columns ``MODE_COLUMNS``, a row a judge and mode that some test has: of the tests with it,
        those passed by the metric that measures it.
    """
    rows = []
    for key, of_judge in judges_of(_asked(scores)).items():
        for mode in FAILURE_MODES:
            types = [kind.name for kind in TEST_TYPES if mode.name in kind.failure_modes]
            of_mode = of_judge["test_type"].isin(types) & (of_judge["metric"] == mode.metric)
            passed = of_judge.loc[of_mode, "passed"]
            if len(passed):
                rows.append((*key, mode.name, mode.metric, int(passed.sum()), len(passed)))
    return pd.DataFrame(rows, columns=MODE_COLUMNS)


def call_counts(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the calls that the pipeline made and saved.

    Returns:
        Columns ``CALL_COLUMNS``. ``saved`` counts scores that followed from others, of the four
        that could be asked for; scores that could not be asked for as another one failed are in
        neither count.
    """
    rows = []
    for key, of_judge in judges_of(scores).items():
        judged = of_judge[of_judge["metric"].isin(JUDGED_METRICS)]
        called = judged["was_called"].astype(bool)
        saved = int((~called & judged["failure"].isna()).sum())
        rows.append((*key, int(judged["test_id"].nunique()), int(called.sum()), saved))
    return pd.DataFrame(rows, columns=CALL_COLUMNS)


def _asked(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the checks that were made, ``passed`` as a number."""
    made = scores[scores["condition"].notna() & scores["was_asked"].astype(bool)]
    return made.assign(passed=made["passed"].eq(True).astype(int))


def _rate(part: pd.DataFrame) -> dict[str, Any]:
    asked = _asked(part)
    rate = float(asked["passed"].mean()) if len(asked) else math.nan
    error = _standard_error(asked) if len(asked) else math.nan
    reason = "all tests share one question" if len(asked) and math.isnan(error) else None
    return {
        "value": rate,
        "standard_error": error,
        "n": len(asked),
        "failures": int(asked["failure"].notna().sum()),
        "not_asked": len(part) - len(asked),
        "reason": "the judge could not be reached" if len(part) and asked.empty else reason,
        "passed": int(asked["passed"].sum()),
    }


def _standard_error(asked: pd.DataFrame) -> float:
    """Return the standard error of a share whose units are questions (a ratio of two sums)."""
    residuals = asked["passed"] - asked["passed"].mean()
    sums = residuals.groupby([asked["language"].fillna(""), asked["question"]]).sum()
    if len(sums) < 2:
        return math.nan
    correction = len(sums) / (len(sums) - 1)
    return math.sqrt(correction * float((sums**2).sum())) / len(asked)
