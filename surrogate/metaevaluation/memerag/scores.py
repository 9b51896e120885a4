"""How right judges are: balanced accuracy with bootstrap standard errors, and by reason of error.

``BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2`` with ``Supported`` as positive (appendix F). On
average over languages each of them has the same weight (section 5.1). A judge that gave no label
was wrong; sentences it was not asked about are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.bootstrap import resampled_sums
from surrogate.board.judge.metaevaluations import MetaEvaluation
from surrogate.metaevaluation.memerag.reading import COARSE_OF_FINE, JUDGED, SUPPORTED
from surrogate.metaevaluation.report import BY_JUDGE, judges_of, metaevaluations

FloatArray = npt.NDArray[np.float64]
Unit = Literal["sentence", "question"]

DATASET = "memerag"
MACRO = "macro"
REPLICATES = 1000
SCORE_COLUMNS = [
    *("judge", "prompt", "language", "balanced_accuracy", "standard_error"),
    *("sentences", "supported", "failures", "not_asked", "reason"),
]


def score_judges(
    verdicts: pd.DataFrame,
    replicates: int = REPLICATES,
    seed: int = 0,
    unit: Unit = "sentence",
) -> pd.DataFrame:
    """Compute balanced accuracy of each judge.

    Args:
        verdicts: Of ``Memerag``, see ``evaluate_judges``.
        replicates: Bootstrap replicates of the standard error; the paper takes 1,000.
        seed: Seed of the replicates; judges share them.
        unit: What is drawn: sentences, as in the paper, or questions with all their sentences.

    Returns:
        Columns ``SCORE_COLUMNS``, one row a judge and language, and one for ``macro``, the mean of
        the languages. The balanced accuracy is missing, with a reason, where a language lacks
        sentences of one label.

    Raises:
        UsageError: For an unknown unit, or fewer than two replicates.
    """
    if unit not in ("sentence", "question") or replicates < 2:
        raise UsageError("unit is sentence or question, and replicates are two at least")
    rows = []
    for (judge, prompt), of_judge in judges_of(verdicts).items():
        for language, estimate in _estimates(of_judge, replicates, seed, unit).items():
            is_counted = (of_judge["language"] == language) | (language == MACRO)
            rows.append(
                {"judge": judge, "prompt": prompt, "language": language}
                | _as_row(estimate)
                | _counts(of_judge[is_counted])
            )
    return pd.DataFrame(rows, columns=SCORE_COLUMNS)


AVERAGE_COLUMNS = ["prompt", "language", "judges", "balanced_accuracy", "standard_error", "reason"]


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
    rows = []
    for prompt, of_prompt in verdicts.groupby("prompt", sort=False):
        judges = [
            _estimates(part, replicates, seed, "sentence") for part in judges_of(of_prompt).values()
        ]
        for language in judges[0] if len(judges) > 1 else ():
            known = [estimates[language] for estimates in judges if language in estimates]
            row = {"prompt": prompt, "language": language, "judges": len(known)}
            rows.append(row | _as_row(_mean(known)))
    return pd.DataFrame(rows, columns=AVERAGE_COLUMNS)


class _Estimate(NamedTuple):
    """The value, its bootstrap replicates, and why there is none."""

    value: float
    replicates: FloatArray
    reason: str | None = None


def _estimates(
    of_judge: pd.DataFrame, replicates: int, seed: int, unit: Unit
) -> dict[str, _Estimate]:
    """Return the estimate of each language, and of ``macro``, for one judge."""
    estimates = {
        str(language): _estimate(part, str(language), replicates, seed, unit)
        for language, part in of_judge.groupby("language", sort=False)
    }
    return estimates | {MACRO: _mean(list(estimates.values()))}


def _as_row(estimate: _Estimate) -> dict[str, object]:
    return {
        "balanced_accuracy": estimate.value,
        "standard_error": _standard_error(estimate.replicates),
        "reason": estimate.reason,
    }


def _counts(verdicts: pd.DataFrame) -> dict[str, int]:
    asked = verdicts[verdicts["was_asked"]]
    return {
        "sentences": len(asked),
        "supported": int((asked["factuality"] == SUPPORTED).sum()),
        "failures": int(asked["value"].isna().sum()),
        "not_asked": len(verdicts) - len(asked),
    }


def _estimate(
    verdicts: pd.DataFrame, language: str, replicates: int, seed: int, unit: Unit
) -> _Estimate:
    asked = verdicts[verdicts["was_asked"]]
    absent = [label for label in JUDGED if label not in set(asked["factuality"])]
    if absent:
        reason = f"no sentence of {language} that was judged is labeled {absent[0]}"
        return _Estimate(np.nan, np.full(replicates, np.nan), reason)
    parts = _parts(asked, unit)
    random = generator(seed, "balanced accuracy", unit, language)
    value = float(_balanced(parts.sum(axis=0)[None])[0])
    return _Estimate(value, _balanced(resampled_sums(parts, replicates, random)))


def _parts(verdicts: pd.DataFrame, unit: Unit) -> FloatArray:
    """Return, of each unit: supported sentences, hits among them, the others, hits among those."""
    positive = (verdicts["factuality"] == SUPPORTED).to_numpy()
    correct = (verdicts["value"] == verdicts["factuality"]).to_numpy()
    parts = pd.DataFrame([positive, positive & correct, ~positive, ~positive & correct]).T
    if unit == "question":
        parts = parts.astype(float).groupby(verdicts["query_id"].to_numpy(), sort=False).sum()
    summed: FloatArray = parts.to_numpy(dtype=np.float64)
    return summed


def _standard_error(replicates: FloatArray) -> float:
    known = replicates[~np.isnan(replicates)]
    return float(known.std(ddof=1)) if len(known) > 1 else np.nan


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


FINE_GRAINED_COLUMNS = [
    *("judge", "prompt", "language", "factuality", "fine_grained_factuality"),
    *("sentences", "accuracy", "errors", "share_of_errors"),
]


def fine_grained_accuracy(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the accuracy of each judge on the sentences of each fine-grained label.

    Args:
        verdicts: Of ``Memerag``, see ``evaluate_judges``.

    Returns:
        Columns ``FINE_GRAINED_COLUMNS``, one row a judge, language and label that occurs, in the
        order of table 4. ``share_of_errors`` is the label's share of the judge's errors on
        sentences of the same coarse label, missing where it made none. Sentences without a
        fine-grained label, or that the judge was not asked about, are left out.
    """
    asked = verdicts[verdicts["was_asked"] & verdicts["fine_grained_factuality"].notna()]
    rows = []
    keys = [*BY_JUDGE, "language", "factuality"]
    for key, part in asked.groupby(keys, sort=False):
        wrong = part["value"] != part["factuality"]
        of_label = dict(iter(wrong.groupby(part["fine_grained_factuality"])))
        for label in (name for name in COARSE_OF_FINE if name in of_label):
            errors = of_label[label]
            share = errors.sum() / wrong.sum() if wrong.any() else float("nan")
            rows.append((*key, label, len(errors), 1 - errors.mean(), int(errors.sum()), share))
    return pd.DataFrame(rows, columns=FINE_GRAINED_COLUMNS)


ERROR_COLUMNS = ["judge", "prompt", "fine_grained_factuality", "sentences", "errors", "share"]


def error_shares(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Tell how the errors of each judge are spread over fine-grained labels (figure 5).

    Returns:
        Columns ``ERROR_COLUMNS``, one row a judge and label that occurs, all languages together;
        ``share`` of the judge's errors, missing where it made none.
    """
    fine = fine_grained_accuracy(verdicts)
    by = [*BY_JUDGE, "fine_grained_factuality"]
    counts = fine.groupby(by, sort=False)[["sentences", "errors"]].sum().reset_index()
    totals = counts.groupby(BY_JUDGE, sort=False)["errors"].transform("sum")
    return counts.assign(share=counts["errors"] / totals.where(totals > 0))


def memerag_metaevaluations(scores: pd.DataFrame) -> list[MetaEvaluation]:
    """Sum up scores for an arena's ``metaevaluation.json``.

    Args:
        scores: As ``score_judges`` returns them.

    Returns:
        One entry a judge; judges without a balanced accuracy are left out.
    """
    entries = []
    named = scores.rename(columns={"balanced_accuracy": "value", "sentences": "n"})
    for rows in judges_of(named).values():
        is_macro = rows["language"] == MACRO
        languages = rows.loc[~is_macro, "language"].astype(str).tolist()
        macro = rows[is_macro].to_dict("records")
        entries += metaevaluations(macro, DATASET, "balanced_accuracy", languages)
    return entries
