"""How many tests a judge passes: by metric, by type, and altogether."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from surrogate.board.judge.metaevaluations import MetaEvaluation
from surrogate.metaevaluation.grouse.unit_tests import (
    FAILURE_MODES,
    JUDGED_METRICS,
    METRICS,
    TEST_TYPES,
)
from surrogate.metaevaluation.report import BY_JUDGE, judges_of, metaevaluations

TOTAL = "total"
RATE = "pass_rate"
RATE_COLUMNS = [
    *("judge", "prompt", "metric", "passed", "tests", "pass_rate", "standard_error"),
    *("failures", "not_asked", "reason"),
]
MATRIX_COLUMNS = ["judge", "prompt", "test_type", "metric", "passed", "tests"]
CALL_COLUMNS = ["judge", "prompt", "answers", "calls", "saved"]


def pass_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count passed tests by judge and metric (table 3).

    Tests of one question share texts and are passed or failed together, so the standard error
    takes questions for the units (a ratio estimate over clusters); it needs two questions.

    Args:
        scores: Verdicts, see ``Grouse``.

    Returns:
        Columns ``RATE_COLUMNS``, a row for each metric of each judge and one for ``total``, over
        the checks by all six. ``failures`` are among the tests and not passed; ``not_asked`` are
        left out of them. ``reason`` says why a number is missing.
    """
    rows = []
    for (judge, prompt), of_judge in judges_of(scores).items():
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
    asked = scores[scores["was_asked"].astype(bool)]
    counted = asked.assign(passed=asked["passed"].eq(True).astype(int), tests=1)
    by = [*BY_JUDGE, "test_type", "metric"]
    table = counted.groupby(by, sort=False)[["passed", "tests"]].sum()
    return table.reset_index()[MATRIX_COLUMNS]


MODE_COLUMNS = ["judge", "prompt", "failure_mode", "metric", "passed", "tests"]


def failure_mode_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count how often each failure mode is found where it is (table 1, figure 4).

    Returns:
        Columns ``MODE_COLUMNS``, a row a judge and mode that some test has: of the tests with it,
        those passed by the metric that measures it.
    """
    asked = scores[scores["was_asked"].astype(bool)]
    rows = []
    for (judge, prompt), of_judge in judges_of(asked).items():
        for mode in FAILURE_MODES:
            types = [kind.name for kind in TEST_TYPES if mode.name in kind.failure_modes]
            of_mode = of_judge["test_type"].isin(types) & (of_judge["metric"] == mode.metric)
            passed = of_judge.loc[of_mode, "passed"].eq(True)
            if len(passed):
                row = (judge, prompt, mode.name, mode.metric, int(passed.sum()), len(passed))
                rows.append(row)
    return pd.DataFrame(rows, columns=MODE_COLUMNS)


def call_counts(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the calls that the pipeline made and saved.

    Returns:
        Columns ``CALL_COLUMNS``. ``saved`` counts scores that followed from others, of the four
        that could be asked for; scores that could not be asked for as another one failed are in
        neither count.
    """
    rows = []
    for (judge, prompt), of_judge in judges_of(scores).items():
        judged = of_judge[of_judge["metric"].isin(JUDGED_METRICS)]
        followed = ~judged["was_called"].astype(bool) & judged["failure"].isna()
        counts = {
            "answers": int(judged["test_id"].nunique()),
            "calls": int(judged["was_called"].sum()),
            "saved": int(followed.sum()),
        }
        rows.append({"judge": judge, "prompt": prompt} | counts)
    return pd.DataFrame(rows, columns=CALL_COLUMNS)


def grouse_metaevaluations(
    scores: pd.DataFrame, dataset: str, metric: str = RATE
) -> list[MetaEvaluation]:
    """Sum up scores for an arena's ``metaevaluation.json``.

    Args:
        scores: Verdicts, see ``Grouse``.
        dataset: Name of the tests.
        metric: Name of the pass rate.

    Returns:
        One entry a judge; those without a pass rate or a standard error, and tests in no known
        language, are left out.
    """
    entries = []
    for (judge, prompt), of_judge in judges_of(scores).items():
        asked = of_judge[of_judge["was_asked"].astype(bool)]
        languages = [str(language) for language in asked["language"].dropna().unique()]
        if languages:
            rate = _rate(of_judge)
            row = {"judge": judge, "prompt": prompt, "value": rate["pass_rate"], "n": rate["tests"]}
            entries += metaevaluations([rate | row], dataset, metric, languages)
    return entries


def _rate(part: pd.DataFrame) -> dict[str, Any]:
    asked = part[part["was_asked"].astype(bool)]
    counts: dict[str, Any] = {
        "passed": int(asked["passed"].eq(True).sum()),
        "tests": len(asked),
        "failures": int(asked["failure"].notna().sum()),
        "not_asked": len(part) - len(asked),
    }
    if asked.empty:
        rate = {"pass_rate": math.nan, "standard_error": math.nan}
        return counts | rate | {"reason": "the judge could not be reached"}
    rate = {"pass_rate": float(asked["passed"].eq(True).mean())}
    spread = _standard_error(asked)
    reason = "all tests share one question" if math.isnan(spread) else None
    return counts | rate | {"standard_error": spread, "reason": reason}


def _standard_error(asked: pd.DataFrame) -> float:
    """Return the standard error of a share whose units are questions (a ratio of two sums)."""
    passed = asked["passed"].eq(True).astype(float)
    residuals = passed - passed.mean()
    languages = asked["language"].fillna("")
    sums = residuals.groupby([languages, asked["question"]]).sum()
    if len(sums) < 2:
        return math.nan
    correction = len(sums) / (len(sums) - 1)
    return math.sqrt(correction * float((sums**2).sum())) / len(asked)
