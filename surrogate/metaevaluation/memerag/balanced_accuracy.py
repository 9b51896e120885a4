"""Balanced accuracy of judges by language and on average, with bootstrap standard errors.

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
from surrogate.metaevaluation.memerag.reading import NOT_SUPPORTED, SUPPORTED

FloatArray = npt.NDArray[np.float64]
Unit = Literal["sentence", "question"]

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
        verdicts: As ``judge_sentences`` returns them.
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
    for (judge, prompt), of_judge in verdicts.groupby(["judge", "prompt"], sort=False):
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
        "failures": int(asked["label"].isna().sum()),
        "not_asked": int((~verdicts["was_asked"]).sum()),
        "reason": estimate.reason,
    }


def _language(
    verdicts: pd.DataFrame, language: str, replicates: int, seed: int, unit: Unit
) -> _Language:
    asked = verdicts[verdicts["was_asked"]]
    absent = [
        label for label in (SUPPORTED, NOT_SUPPORTED) if label not in set(asked["factuality"])
    ]
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
    correct = (verdicts["label"] == verdicts["factuality"]).to_numpy()
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
