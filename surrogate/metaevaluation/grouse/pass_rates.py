"""How many tests a judge passes: by metric, by type, and altogether."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import pandas as pd

from surrogate.metaevaluation.grouse.unit_tests import JUDGED_METRICS, METRICS

TOTAL = "total"
RATE_COLUMNS = [
    *("judge", "prompt", "metric", "passed", "tests", "pass_rate", "standard_error"),
    *("failures", "not_asked", "reason"),
]
MATRIX_COLUMNS = ["judge", "prompt", "test_type", "metric", "passed", "tests"]
CALL_COLUMNS = ["judge", "prompt", "answers", "calls", "saved"]

_BY_JUDGE = ["judge", "prompt"]


@dataclass(frozen=True)
class GrouseResult:
    """What a board says of a judge.

    Attributes:
        judge: Its name.
        prompt: Its prompts, with versions.
        name: ``pass_rate``.
        value: Share of passed checks, all metrics together, 0 to 1.
        standard_error: Its standard error, see ``pass_rates``; None if there is none.
        n: Checks: tests times metrics, those left out that could not be asked.
        tests: Tests that at least one check of could be asked.
        languages: Languages of these tests, where they are known.
        failures: Checks without a mark, counted as not passed.
    """

    judge: str
    prompt: str
    name: str
    value: float
    standard_error: float | None
    n: int
    tests: int
    languages: tuple[str, ...]
    failures: int


def pass_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count passed tests by judge and metric (table 3).

    Tests of one question share texts and are passed or failed together, so the standard error
    takes questions for the units (a ratio estimate over clusters); it needs two questions.

    Args:
        scores: As ``score_tests`` returns them.

    Returns:
        Columns ``RATE_COLUMNS``, a row for each metric of each judge and one for ``total``, over
        the checks by all six. ``failures`` are among the tests and not passed; ``not_asked`` are
        left out of them. ``reason`` says why a number is missing.
    """
    rows = []
    for (judge, prompt), of_judge in scores.groupby(_BY_JUDGE, sort=False):
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
    by = [*_BY_JUDGE, "test_type", "metric"]
    table = counted.groupby(by, sort=False)[["passed", "tests"]].sum()
    return table.reset_index()[MATRIX_COLUMNS]


def call_counts(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the calls that the pipeline made and saved.

    Returns:
        Columns ``CALL_COLUMNS``. ``saved`` counts marks that followed from others, of the four
        that could be asked for; marks that could not be asked for as another one failed are in
        neither count.
    """
    rows = []
    for (judge, prompt), of_judge in scores.groupby(_BY_JUDGE, sort=False):
        judged = of_judge[of_judge["metric"].isin(JUDGED_METRICS)]
        followed = ~judged["was_called"].astype(bool) & judged["failure"].isna()
        counts = {
            "answers": int(judged["test_id"].nunique()),
            "calls": int(judged["was_called"].sum()),
            "saved": int(followed.sum()),
        }
        rows.append({"judge": judge, "prompt": prompt} | counts)
    return pd.DataFrame(rows, columns=CALL_COLUMNS)


def grouse_results(scores: pd.DataFrame) -> list[GrouseResult]:
    """Sum up scores for a board.

    Returns:
        One result a judge; judges that could not be asked at all are left out.
    """
    rates = pass_rates(scores)
    found = []
    for row in rates[(rates["metric"] == TOTAL) & (rates["tests"] > 0)].to_dict(orient="records"):
        of_judge = scores[(scores["judge"] == row["judge"]) & (scores["prompt"] == row["prompt"])]
        asked = of_judge[of_judge["was_asked"].astype(bool)]
        found.append(_result({str(name): value for name, value in row.items()}, asked))
    return found


def _result(row: dict[str, object], asked: pd.DataFrame) -> GrouseResult:
    spread = float(str(row["standard_error"]))
    return GrouseResult(
        judge=str(row["judge"]),
        prompt=str(row["prompt"]),
        name="pass_rate",
        value=float(str(row["pass_rate"])),
        standard_error=None if math.isnan(spread) else spread,
        n=len(asked),
        tests=int(asked["test_id"].nunique()),
        languages=tuple(str(each) for each in asked["language"].dropna().unique()),
        failures=int(asked["failure"].notna().sum()),
    )


def _rate(part: pd.DataFrame) -> dict[str, Hashable]:
    asked = part[part["was_asked"].astype(bool)]
    counts: dict[str, Hashable] = {
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
