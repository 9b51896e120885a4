"""How right judges are: balanced accuracy with bootstrap standard errors, and by reason of error.

``BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2`` (appendix F). On average over languages each of
them has the same weight (section 5.1). A judge that gave no label was wrong; sentences it was not
asked about are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.bootstrap import resampled_sums
from surrogate.metaevaluation.memerag.sentences import FINE_LABELS, JUDGED, JUDGED_RELEVANCE
from surrogate.metaevaluation.report import BY_JUDGE, VALUES, judges_of

FloatArray = npt.NDArray[np.float64]

MACRO = "macro"
REPLICATES = 1000
SCORE_COLUMNS = [*BY_JUDGE, "language", *VALUES]
AVERAGE_COLUMNS = ["prompt", "language", "judges", "value", "standard_error", "reason"]
FINE_COLUMNS = [
    *(*BY_JUDGE, "language", "truth", "fine"),
    *("sentences", "accuracy", "errors", "share_of_errors"),
]
ERROR_COLUMNS = [*BY_JUDGE, "fine", "sentences", "errors", "share"]


def score_judges(
    verdicts: pd.DataFrame, replicates: int = REPLICATES, seed: int = 0
) -> pd.DataFrame:
    """Compute balanced accuracy of each judge.

    Args:
        verdicts: Of ``Memerag``, see ``evaluate_judges``.
        replicates: Bootstrap replicates of the standard error; the paper takes 1,000.
        seed: Seed of the replicates; judges share them.

    Returns:
        Columns ``SCORE_COLUMNS``, one row a judge and language, and one for ``macro``, the mean of
        the languages. The balanced accuracy is missing, with a reason, where a language lacks
        sentences of one label.

    Raises:
        UsageError: For fewer than two replicates.
    """
    if replicates < 2:
        raise UsageError("replicates are two at least")
    labels = judged_labels(verdicts)
    rows = []
    for (judge, prompt), of_judge in judges_of(verdicts).items():
        for language, estimate in _estimates(of_judge, labels, replicates, seed).items():
            is_counted = (of_judge["language"] == language) | (language == MACRO)
            rows.append(
                {"judge": judge, "prompt": prompt, "language": language}
                | _as_row(estimate)
                | _counts(of_judge[is_counted])
            )
    return pd.DataFrame(rows, columns=SCORE_COLUMNS)


def average_over_judges(
    verdicts: pd.DataFrame, replicates: int = REPLICATES, seed: int = 0
) -> pd.DataFrame:
    """Average the balanced accuracy that judges reach with the same prompt (table 11).

    Args:
        verdicts: Of ``Memerag``, see ``evaluate_judges``.
        replicates: Bootstrap replicates of the standard error.
        seed: Seed of the replicates. Judges share them, so sentences are drawn once for all.

    Returns:
        Columns ``AVERAGE_COLUMNS``, one row a prompt and language, and one for ``macro``, of the
        prompts that several judges were given.
    """
    labels = judged_labels(verdicts)
    rows = []
    for prompt, of_prompt in verdicts[verdicts["prompt"] != ""].groupby("prompt", sort=False):
        judges = [
            _estimates(part, labels, replicates, seed) for part in judges_of(of_prompt).values()
        ]
        for language in judges[0] if len(judges) > 1 else ():
            known = [estimates[language] for estimates in judges if language in estimates]
            row = {"prompt": prompt, "language": language, "judges": len(known)}
            rows.append(row | _as_row(_mean(known)))
    return pd.DataFrame(rows, columns=AVERAGE_COLUMNS)


def judged_labels(verdicts: pd.DataFrame) -> tuple[str, str]:
    """Return the two labels that sentences may have."""
    known = set(verdicts["truth"])
    return JUDGED_RELEVANCE if known & set(JUDGED_RELEVANCE) else JUDGED


class _Estimate(NamedTuple):
    """The value, its bootstrap replicates, and why there is none."""

    value: float
    replicates: FloatArray
    reason: str | None = None


def _estimates(
    of_judge: pd.DataFrame, labels: Sequence[str], replicates: int, seed: int
) -> dict[str, _Estimate]:
    """Return the estimate of each language, and of ``macro``, for one judge."""
    estimates = {
        str(language): _estimate(part, labels, replicates, seed)
        for language, part in of_judge.groupby("language", sort=False)
    }
    return estimates | {MACRO: _mean(list(estimates.values()))}


def _estimate(
    verdicts: pd.DataFrame, labels: Sequence[str], replicates: int, seed: int
) -> _Estimate:
    asked, language = verdicts[verdicts["was_asked"]], str(verdicts["language"].iloc[0])
    absent = [label for label in labels if label not in set(asked["truth"])]
    if absent:
        reason = f"no sentence of {language} that was judged is labeled {absent[0]}"
        return _Estimate(np.nan, np.full(replicates, np.nan), reason)
    positive = (asked["truth"] == labels[0]).to_numpy()
    correct = (asked["value"] == asked["truth"]).to_numpy()
    columns = [positive, positive & correct, ~positive, ~positive & correct]
    parts: FloatArray = np.column_stack(columns).astype(np.float64)
    random = generator(seed, "balanced accuracy", "sentence", language)
    value = float(_balanced(parts.sum(axis=0)[None])[0])
    return _Estimate(value, _balanced(resampled_sums(parts, replicates, random)))


def _balanced(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        balanced: FloatArray = (sums[:, 1] / sums[:, 0] + sums[:, 3] / sums[:, 2]) / 2
    return balanced


def _mean(estimates: Sequence[_Estimate]) -> _Estimate:
    return _Estimate(
        float(np.mean([estimate.value for estimate in estimates])),
        np.mean([estimate.replicates for estimate in estimates], axis=0),
        next((estimate.reason for estimate in estimates if estimate.reason), None),
    )


def _as_row(estimate: _Estimate) -> dict[str, object]:
    known = estimate.replicates[~np.isnan(estimate.replicates)]
    return {
        "value": estimate.value,
        "standard_error": float(known.std(ddof=1)) if len(known) > 1 else np.nan,
        "reason": estimate.reason,
    }


def _counts(verdicts: pd.DataFrame) -> dict[str, int]:
    asked = verdicts[verdicts["was_asked"]]
    return {
        "n": len(asked),
        "failures": int(asked["value"].isna().sum()),
        "not_asked": len(verdicts) - len(asked),
    }


def fine_grained_accuracy(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the accuracy of each judge on the sentences of each fine-grained label.

    Args:
        verdicts: Of ``Memerag``, see ``evaluate_judges``.

    Returns:
        Columns ``FINE_COLUMNS``, one row a judge, language and label that occurs, in the order of
        table 4. ``share_of_errors`` is the label's share of the judge's errors on sentences of the
        same coarse label, missing where it made none. Sentences without a fine-grained label, or
        that the judge was not asked about, are left out.
    """
    asked = verdicts[verdicts["was_asked"] & verdicts["fine"].notna()]
    rows = []
    for key, part in asked.groupby([*BY_JUDGE, "language", "truth"], sort=False):
        wrong = part["value"] != part["truth"]
        of_label = dict(iter(wrong.groupby(part["fine"])))
        for label in (name for name in FINE_LABELS if name in of_label):
            errors = of_label[label]
            share = errors.sum() / wrong.sum() if wrong.any() else float("nan")
            rows.append((*key, label, len(errors), 1 - errors.mean(), int(errors.sum()), share))
    return pd.DataFrame(rows, columns=FINE_COLUMNS)


def error_shares(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Tell how the errors of each judge are spread over fine-grained labels (figure 5).

    Returns:
        Columns ``ERROR_COLUMNS``, one row a judge and label that occurs, all languages together;
        ``share`` of the judge's errors, missing where it made none.
    """
    fine = fine_grained_accuracy(verdicts)
    counts = fine.groupby([*BY_JUDGE, "fine"], sort=False)[["sentences", "errors"]].sum()
    totals = counts.groupby(BY_JUDGE, sort=False)["errors"].transform("sum")
    return counts.assign(share=counts["errors"] / totals.where(totals > 0)).reset_index()
