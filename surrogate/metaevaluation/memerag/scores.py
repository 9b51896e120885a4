"""How right judges are: balanced accuracy with bootstrap standard errors, and by reason of error.

``BAcc = (TP / (TP + FN) + TN / (TN + FP)) / 2`` with ``Supported`` as positive (appendix F). On
average over languages each of them has the same weight (section 5.1). A judge that gave no label
was wrong; sentences it was not asked about are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.metaevaluation.memerag.reading import COARSE_OF_FINE, JUDGED, SUPPORTED
from surrogate.metaevaluation.results import MetaEvaluation
from surrogate.metaevaluation.runner import judges_of

FloatArray = npt.NDArray[np.float64]
Unit = Literal["sentence", "question"]

DATASET = "memerag"
MACRO = "macro"
REPLICATES = 1000
SCORE_COLUMNS = [
    *("judge", "prompt", "language", "balanced_accuracy", "standard_error"),
    *("sentences", "supported", "failures", "not_asked", "reason"),
]


@dataclass(frozen=True)
class _Language:
    """Estimates of one language: the value, its replicates, and why there is none."""

    value: float
    replicates: FloatArray
    reason: str | None


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
        languages = list(of_judge["language"].drop_duplicates())
        found = {
            language: _language(
                of_judge[of_judge["language"] == language], language, replicates, seed, unit
            )
            for language in languages
        }
        named = {"judge": judge, "prompt": prompt}
        for language, estimate in found.items():
            part = of_judge[of_judge["language"] == language]
            rows.append(named | {"language": language} | _row(estimate, part))
        rows.append(named | {"language": MACRO} | _row(_macro(found), of_judge))
    return pd.DataFrame(rows, columns=SCORE_COLUMNS)


def _row(estimate: _Language, verdicts: pd.DataFrame) -> dict[str, object]:
    asked = verdicts[verdicts["was_asked"]]
    spread = estimate.replicates[~np.isnan(estimate.replicates)]
    return {
        "balanced_accuracy": estimate.value,
        "standard_error": float(spread.std(ddof=1)) if len(spread) > 1 else np.nan,
        "sentences": len(asked),
        "supported": int((asked["factuality"] == SUPPORTED).sum()),
        "failures": int(asked["value"].isna().sum()),
        "not_asked": int((~verdicts["was_asked"]).sum()),
        "reason": estimate.reason,
    }


def _language(
    verdicts: pd.DataFrame, language: str, replicates: int, seed: int, unit: Unit
) -> _Language:
    asked = verdicts[verdicts["was_asked"]]
    absent = [label for label in JUDGED if label not in set(asked["factuality"])]
    if absent:
        reason = f"no sentence of {language} that was judged is labeled {absent[0]}"
        return _Language(np.nan, np.full(replicates, np.nan), reason)
    parts = _parts(asked, unit)
    times = _draws(language, len(parts), replicates, seed, unit)
    value = float(_balanced(parts.sum(axis=0)[None])[0])
    return _Language(value, _balanced(times @ parts), None)


def _parts(verdicts: pd.DataFrame, unit: Unit) -> FloatArray:
    """Return, of each unit: supported sentences, hits among them, the others, hits among those."""
    positive = (verdicts["factuality"] == SUPPORTED).to_numpy()
    correct = (verdicts["value"] == verdicts["factuality"]).to_numpy()
    columns = [positive, positive & correct, ~positive, ~positive & correct]
    parts = np.column_stack(columns).astype(np.float64)
    if unit == "sentence":
        return parts
    codes, _ = pd.factorize(verdicts["query_id"])
    summed = np.zeros((codes.max() + 1, parts.shape[1]))
    np.add.at(summed, codes, parts)
    return summed


def _draws(language: str, units: int, replicates: int, seed: int, unit: Unit) -> FloatArray:
    """Return how often each unit is drawn, shape (replicates, units)."""
    draws = generator(seed, "balanced accuracy", unit, language)
    times = draws.multinomial(units, np.full(units, 1 / units), size=replicates)
    return times.astype(np.float64)


def _balanced(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        balanced: FloatArray = (sums[:, 1] / sums[:, 0] + sums[:, 3] / sums[:, 2]) / 2
    return balanced


def _macro(languages: dict[str, _Language]) -> _Language:
    estimates: Sequence[_Language] = list(languages.values())
    reasons = [estimate.reason for estimate in estimates if estimate.reason]
    return _Language(
        float(np.mean([estimate.value for estimate in estimates])),
        np.mean([estimate.replicates for estimate in estimates], axis=0),
        reasons[0] if reasons else None,
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
    keys = ["judge", "prompt", "language", "factuality"]
    for key, part in asked.groupby(keys, sort=False):
        wrong = part["value"] != part["factuality"]
        for label in _labels_in_order(part):
            is_label = part["fine_grained_factuality"] == label
            sentences, errors = int(is_label.sum()), int((wrong & is_label).sum())
            rows.append(
                (
                    *(*key, label, sentences, 1 - errors / sentences),
                    *(errors, errors / int(wrong.sum()) if wrong.any() else float("nan")),
                )
            )
    return pd.DataFrame(rows, columns=FINE_GRAINED_COLUMNS)


def _labels_in_order(verdicts: pd.DataFrame) -> list[str]:
    there = set(verdicts["fine_grained_factuality"])
    return [label for label in COARSE_OF_FINE if label in there]


def memerag_metaevaluations(scores: pd.DataFrame) -> list[MetaEvaluation]:
    """Sum up scores for an arena's ``metaevaluation.json``.

    Args:
        scores: As ``score_judges`` returns them.

    Returns:
        One entry a judge; judges without a balanced accuracy are left out.
    """
    entries = []
    for (judge, prompt), rows in judges_of(scores).items():
        macro = rows[rows["language"] == MACRO].iloc[0]
        if pd.isna(macro["balanced_accuracy"]) or pd.isna(macro["standard_error"]):
            continue
        entries.append(
            MetaEvaluation(
                judge=judge,
                dataset=DATASET,
                metric="balanced_accuracy",
                prompt=prompt,
                value=float(macro["balanced_accuracy"]),
                standard_error=float(macro["standard_error"]),
                n=int(macro["sentences"]),
                languages=[str(language) for language in rows["language"] if language != MACRO],
                failures=int(macro["failures"]),
            )
        )
    return entries
