"""Summaries of GroUSE's scores: tests passed, and agreement with people's or a judge's scores."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from arena.statistics.significance import degrees_of_freedom
from surrogate_arena.papers.grouse.metrics import LIKERT, METRICS, SCALES
from surrogate_arena.papers.grouse.unit_tests import FAILURE_MODES, TEST_TYPES
from surrogate_arena.papers.reports import BY_JUDGE, judges_of, scores_by_part, verdict_counts
from surrogate_arena.papers.share_intervals import share_interval

TOTAL, MEAN = "total", "mean"
SPEARMAN, MACRO_F1 = "spearman", "macro_f1"
_KEY = ["test_id", "metric"]


def pass_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count passed tests by judge and metric (table 3), and over all metrics as ``total``.

    Errors and 95% intervals are over topics, in all languages; a question without a topic is one of
    its own. Scores are verdicts of ``Grouse``.

    Returns:
        Columns ``judge, prompt, metric, value, standard_error, low, high, n, failures, not_asked,
        reason, passed``. ``failures`` are among the ``n``, ``not_asked`` are not.
    """
    checked = scores[scores["condition"].notna()]
    return scores_by_part(checked, "metric", _rate, METRICS, TOTAL)


def _rate(part: pd.DataFrame, metric: str) -> dict[str, Any]:  # noqa: ARG001
    checks = _checks_made(part)
    n_checks = len(checks)
    rate = float(checks["passed"].mean())
    questions = checks["language"].fillna("") + "\x1f" + checks["question"]
    topics = checks["topic"].fillna(questions)
    residual_sums = (checks["passed"] - rate).groupby(topics).sum()
    n_topics = len(residual_sums)
    error = math.nan
    if n_topics > 1:
        # That of a ratio of two sums over topics: of a few, the bootstrap's is too small.
        scale = n_topics / (n_topics - 1)
        error = math.sqrt(scale * float((residual_sums**2).sum())) / n_checks
    degrees = degrees_of_freedom(residual_sums.to_numpy())
    low, high = share_interval(rate, error, n_topics, degrees)
    reason = None
    if len(part) and not n_checks:
        reason = "the judge could not be reached"
    elif n_checks and math.isnan(error):
        reason = "all tests are of one topic"
    return {
        "value": rate,
        "standard_error": error,
        "low": low,
        "high": high,
        **verdict_counts(part, may_be_null=True),
        "reason": reason,
        "passed": int(checks["passed"].sum()),
    }


def _checks_made(scores: pd.DataFrame) -> pd.DataFrame:
    checks = scores[scores["condition"].notna() & scores["was_asked"].astype(bool)]
    return checks.assign(passed=checks["passed"].eq(True).astype(int))


def type_matrix(scores: pd.DataFrame) -> pd.DataFrame:
    """Count tests ``passed``, of ``tests``, by judge, type and metric (figures 13 to 15).

    Returns:
        Columns ``judge, prompt, test_type, metric, passed, tests``.
    """
    groups = _checks_made(scores).groupby([*BY_JUDGE, "test_type", "metric"], sort=False)
    return groups.agg(passed=("passed", "sum"), tests=("passed", "size")).reset_index()


def failure_mode_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Count how often each failure mode is found where it occurs (table 1, figure 4).

    Returns:
        Columns ``judge, prompt, failure_mode, meaning, metric, passed, tests``.
    """
    rows = []
    for (judge, prompt), checks in judges_of(_checks_made(scores)).items():
        for mode in FAILURE_MODES:
            types = [kind.name for kind in TEST_TYPES if mode.name in kind.failure_modes]
            # Figure 4: a mode counts as found where the metric that measures it is right.
            has_mode = checks["test_type"].isin(types)
            passed = checks.loc[has_mode & (checks["metric"] == mode.metric), "passed"]
            row = {"judge": judge, "prompt": prompt, "failure_mode": mode.name}
            row |= {"meaning": mode.meaning, "metric": mode.metric}
            if len(passed):
                rows.append({**row, "passed": int(passed.sum()), "tests": len(passed)})
    return pd.DataFrame(rows)


def mean_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Average each judge's scores of answers by metric, and over metrics as ``mean`` (section 4.4).

    ``value`` is the mean over ``answers`` with a defined metric, ``nulls`` counts the others,
    ``readable`` is the share of requested scores that could be read.
    """
    return scores_by_part(scores, "metric", _mean, METRICS, MEAN)


def _mean(scores: pd.DataFrame, metric: str) -> dict[str, Any]:
    judged = scores[scores["was_asked"].astype(bool)]
    values = judged["value"].astype(float)
    is_read = judged["failure"].isna()
    mean = values.mean()
    if metric == MEAN:
        # Each metric weighs alike, however many answers it is defined for.
        mean = values.groupby(judged["metric"], sort=False).mean().mean()
    return {
        "value": float(mean),
        "answers": int(values.count()),
        "nulls": int((values.isna() & is_read).sum()),
        "readable": is_read.mean(),
        "not_asked": len(scores) - len(judged),
    }


def reference_scores(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the scores of a trusted judge, for ``calibration``; failures are left out."""
    scored = scores[(scores["judge"] == reference) & scores["failure"].isna()]
    if scored.empty:
        raise UsageError(f"the reference {reference} has no score; give a judge that has some")
    return scored[[*_KEY, "value"]]


def calibration(scores: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Compare judges' scores with reference scores, by people or by a trusted judge (table 4).

    Ranks of relevancy and completeness are compared (Spearman), without nulls; the classes 0, 1 and
    null of the other metrics by a macro-averaged F1 (section 5.1). ``exact`` is the share of
    answers with equal scores, null or not (table 5).

    Args:
        scores: Verdicts of ``Grouse``.
        human: Columns ``test_id, metric, value``; missing is null.

    Returns:
        Columns ``judge, prompt, metric, measure, value, n, nulls_left_out, failures_left_out,
        exact, reason``.
    """
    joint = scores[[*BY_JUDGE, *_KEY, "value", "failure"]].merge(
        human[[*_KEY, "value"]], on=_KEY, suffixes=("", "_human"), validate="many_to_one"
    )
    if joint.empty:
        raise UsageError("scores and human have no test and metric in common")
    return scores_by_part(joint, "metric", _agreement, METRICS)


def confusion(scores: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Count ``answers`` by ``reference`` score and the judge's ``value`` (figure 6).

    Missing reference scores are null; answers that the judge failed on are left out.

    Returns:
        Columns ``judge, prompt, metric, reference, value, answers``.
    """
    reference = human[[*_KEY, "value"]].rename(columns={"value": "reference"})
    joint = scores[scores["failure"].isna()][[*BY_JUDGE, *_KEY, "value"]].merge(reference, on=_KEY)
    by = [*BY_JUDGE, "metric", "reference", "value"]
    return joint.groupby(by, sort=False, dropna=False).size().rename("answers").reset_index()


def _agreement(pairs: pd.DataFrame, metric: str) -> dict[str, Any]:
    from scipy.stats import spearmanr
    from sklearn.metrics import f1_score

    answered = pairs[pairs["failure"].isna()]
    scores = answered[["value_human", "value"]].astype(float)
    # Null is a class of its own: macro F1 and the share of equal scores count it.
    classes = scores.fillna(-1).astype(int)
    ranked = scores.dropna()
    result: dict[str, Any] = {
        "measure": MACRO_F1,
        "value": math.nan,
        "n": len(scores),
        "nulls_left_out": 0,
        "failures_left_out": len(pairs) - len(answered),
        "exact": float((classes["value"] == classes["value_human"]).mean()),
        "reason": None,
    }
    if SCALES[metric] == LIKERT:
        result["measure"] = SPEARMAN
        result["n"] = len(ranked)
        result["nulls_left_out"] = len(scores) - len(ranked)
        if len(ranked) < 2:
            result["reason"] = "fewer than two answers have a score on both sides"
        elif (ranked.nunique() < 2).any():
            result["reason"] = "one side gives the same score to all answers"
        else:
            result["value"] = float(spearmanr(ranked).statistic)
    elif classes.empty:
        result["reason"] = "no answer has a score on both sides"
    else:
        f1 = f1_score(classes["value_human"], classes["value"], average="macro", zero_division=0)
        result["value"] = float(f1)
    return result
