"""How far a judge's scores follow people's (table 4, section 5.1).

Answer relevancy and completeness are graded, so their ranks are compared (Spearman); where either
score is null there is no rank, and the pair is left out and counted. The other metrics have three
classes, 0, 1 and null, which a macro-averaged F1 compares.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from surrogate.metaevaluation.grouse.unit_tests import LIKERT, METRICS, SCALES, Metric
from surrogate.metaevaluation.report import BY_JUDGE, judges_of

CALIBRATION_COLUMNS = [
    *(*BY_JUDGE, "metric", "measure", "value", "n", "nulls_left_out"),
    *("failures_left_out", "exact", "reason"),
]
CONFUSION_COLUMNS = [*BY_JUDGE, "metric", "reference", "value", "answers"]
SPEARMAN = "spearman"
MACRO_F1 = "macro_f1"

_KEY = ["test_id", "metric"]
_NULL = -1


def calibration(scores: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Compare judges' scores with reference scores, by people or by a trusted judge.

    Args:
        scores: Verdicts, see ``Grouse``, or any table with columns ``judge``, ``prompt``,
            ``test_id``, ``metric``, ``value`` and ``failure``.
        human: Columns ``test_id``, ``metric`` and ``value``, a row a test and metric; a missing
            value is null.

    Returns:
        Columns ``CALIBRATION_COLUMNS``, a row for each metric of each judge. ``n`` counts the
        pairs that were compared. Classes that neither side uses do not count in F1. ``exact`` is
        the share of answers with the same score on both sides, null or not (table 5).

    Raises:
        UsageError: If ``human`` holds a test and metric twice, or the two have no score in common.
    """
    if human.duplicated(_KEY).any():
        test_id, metric = human.loc[human.duplicated(_KEY), _KEY].iloc[0]
        raise UsageError(f"human holds {metric} of {test_id} twice; keep one score for each")
    joint = scores[[*BY_JUDGE, *_KEY, "value", "failure"]].merge(
        human[[*_KEY, "value"]], on=_KEY, suffixes=("", "_human")
    )
    if joint.empty:
        raise UsageError("scores and human have no test and metric in common")
    rows = [
        {"judge": judge, "prompt": prompt, "metric": metric}
        | _agreement(of_judge[of_judge["metric"] == metric], metric)
        for (judge, prompt), of_judge in judges_of(joint).items()
        for metric in METRICS
    ]
    table = pd.DataFrame(rows, columns=CALIBRATION_COLUMNS)
    return table.assign(reason=table["reason"].astype(object))


def confusion(scores: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Count answers by reference score and judge's score (figure 6).

    Returns:
        Columns ``CONFUSION_COLUMNS``, a row for each pair of scores that occurs; a missing score
        is null. Answers that the judge gave no score for are left out.
    """
    joint = scores[scores["failure"].isna()][[*BY_JUDGE, *_KEY, "value"]].merge(
        human[[*_KEY, "value"]].rename(columns={"value": "reference"}), on=_KEY
    )
    by = [*BY_JUDGE, "metric", "reference", "value"]
    counts = joint.groupby(by, sort=False, dropna=False).size().rename("answers")
    return counts.reset_index()[CONFUSION_COLUMNS]


def reference_scores(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the scores of a trusted judge, for ``calibration``; failures are left out.

    Raises:
        UsageError: If no judge has that name.
    """
    known = scores[(scores["judge"] == reference) & scores["failure"].isna()]
    if known.empty:
        raise UsageError(f"the reference {reference} has no score; give a judge that has some")
    return known[[*_KEY, "value"]]


def _agreement(pairs: pd.DataFrame, metric: Metric) -> dict[str, Any]:
    answered = pairs[pairs["failure"].isna()]
    scores = answered[["value", "value_human"]].astype(float)
    classes = scores.fillna(_NULL).astype(int)
    same = classes["value"] == classes["value_human"]
    ranked = scores.dropna()
    is_graded = SCALES[metric] == LIKERT
    value, reason = _spearman(ranked) if is_graded else _macro_f1(classes)
    return {
        "measure": SPEARMAN if is_graded else MACRO_F1,
        "value": value,
        "reason": reason,
        "n": len(ranked) if is_graded else len(scores),
        "nulls_left_out": len(scores) - len(ranked) if is_graded else 0,
        "failures_left_out": len(pairs) - len(answered),
        "exact": float(same.mean()) if len(same) else math.nan,
    }


def _spearman(scores: pd.DataFrame) -> tuple[float, str | None]:
    from scipy.stats import spearmanr

    if len(scores) < 2:
        return math.nan, "fewer than two answers have a score on both sides"
    if (scores.nunique() < 2).any():
        return math.nan, "one side gives the same score to all answers"
    return float(spearmanr(scores["value_human"], scores["value"]).statistic), None


def _macro_f1(classes: pd.DataFrame) -> tuple[float, str | None]:
    from sklearn.metrics import f1_score

    if classes.empty:
        return math.nan, "no answer has a score on both sides"
    both = (classes["value_human"], classes["value"])
    return float(f1_score(*both, average="macro", zero_division=0)), None
