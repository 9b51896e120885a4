"""Is one judge better than another? Paired permutation tests (appendix E).

Under the null hypothesis the two verdicts on a sentence could as well be each other's. Swapping
them changes the difference in balanced accuracy by a fixed amount for each sentence, since the
human labels stay: a replicate is a sum of these amounts with random signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.metaevaluation.memerag.reading import JUDGED, SENTENCE_KEY
from surrogate.metaevaluation.memerag.scores import MACRO, Unit
from surrogate.metaevaluation.report import judges_of

FloatArray = npt.NDArray[np.float64]

PERMUTATIONS = 10_000
SIGNIFICANCE = 0.05
DAGGER = "†"
BEST = "best"
COMPARISON_COLUMNS = [
    *("language", "balanced_accuracy_a", "balanced_accuracy_b", "difference", "p_value"),
    *("sentences", "disagreements", "reason"),
]

_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12


@dataclass(frozen=True)
class JudgeComparison:
    """Two judges on the same sentences.

    Attributes:
        judge_a: Name and prompt of the first.
        judge_b: Name and prompt of the second.
        table: Columns ``COMPARISON_COLUMNS``, one row a language and one for ``macro``.
        left_out: Sentences that only one of them was asked about.
    """

    judge_a: tuple[str, str]
    judge_b: tuple[str, str]
    table: pd.DataFrame
    left_out: int


def compare_judges(
    verdicts_a: pd.DataFrame,
    verdicts_b: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    unit: Unit = "sentence",
) -> JudgeComparison:
    """Test whether two judges differ in balanced accuracy, by language and on average.

    Args:
        verdicts_a: Verdicts of one judge, see ``Memerag``.
        verdicts_b: Verdicts of another judge, or of the same with another prompt.
        permutations: Random swaps.
        seed: Seed of the swaps.
        unit: What is swapped: the verdicts on a sentence, or on all sentences of a question.

    Returns:
        Two-sided p-values ``(1 + hits) / (1 + permutations)``.

    Raises:
        UsageError: If a table holds several judges, or the two have no sentence in common or hold
            different human labels for one.
    """
    joint, left_out = _joint(verdicts_a, verdicts_b)
    rows, amounts = [], []
    for language, part in joint.groupby("language", sort=False):
        amounts.append(_amounts(part, unit))
        rows.append(_row(str(language), part, amounts[-1], permutations, seed))
    everywhere = np.concatenate(amounts) / len(amounts)
    rows.append(_macro_row(pd.DataFrame(rows), everywhere, permutations, seed))
    return JudgeComparison(
        _judge_of(verdicts_a),
        _judge_of(verdicts_b),
        pd.DataFrame(rows, columns=COMPARISON_COLUMNS),
        left_out,
    )


def permutation_p_value(amounts: FloatArray, permutations: int, seed: int, key: str) -> float:
    """Return the two-sided p-value of a sum whose terms may have either sign.

    Args:
        amounts: What each unit adds to the difference, shape (units,).
        permutations: Random signs to try.
        seed: Seed of the signs.
        key: What the test is for; other tests draw other signs.
    """
    moving = amounts[amounts != 0]
    if not len(moving):
        return 1.0
    draws = generator(seed, "permutation test", key)
    observed = abs(moving.sum()) - _ROUNDING
    at_once = max(1, _CELLS_AT_ONCE // len(moving))
    hits = 0
    for start in range(0, permutations, at_once):
        size = min(at_once, permutations - start)
        signs = draws.integers(0, 2, size=(size, len(moving)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ moving) >= observed).sum())
    return (1 + hits) / (1 + permutations)


def _joint(verdicts_a: pd.DataFrame, verdicts_b: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    asked_a, asked_b = (_asked(verdicts) for verdicts in (verdicts_a, verdicts_b))
    joint = asked_a.merge(asked_b, on=SENTENCE_KEY, suffixes=("_a", "_b"))
    if joint.empty:
        raise UsageError("the two judges have no sentence in common; judge the same ones")
    differs = joint["factuality_a"] != joint["factuality_b"]
    if differs.any():
        first = joint.loc[differs, SENTENCE_KEY].iloc[0]
        raise UsageError(
            f"the runs hold different human labels for sentence {first['sentence_id']} of "
            f"{first['query_id']} ({first['language']}); compare runs on the same data"
        )
    return joint, len(asked_a) + len(asked_b) - 2 * len(joint)


def _asked(verdicts: pd.DataFrame) -> pd.DataFrame:
    _judge_of(verdicts)
    asked = verdicts[verdicts["was_asked"].astype(bool)]
    correct = asked["value"] == asked["factuality"]
    return asked[[*SENTENCE_KEY, "factuality"]].assign(correct=correct.to_numpy())


def _judge_of(verdicts: pd.DataFrame) -> tuple[str, str]:
    known = list(judges_of(verdicts))
    if len(known) != 1:
        raise UsageError(f"a table of verdicts holds {len(known)} judges; give those of one")
    return known[0]


def _amounts(joint: pd.DataFrame, unit: Unit) -> FloatArray:
    """Return what each unit adds to the difference in balanced accuracy, shape (units,)."""
    counts = joint["factuality_a"].value_counts()
    weights = joint["factuality_a"].map({label: 0.5 / count for label, count in counts.items()})
    gains = joint["correct_a"].astype(float) - joint["correct_b"].astype(float)
    amounts: FloatArray = (weights * gains).to_numpy(dtype=np.float64)
    if unit == "sentence":
        return amounts
    codes, _ = pd.factorize(joint["query_id"])
    summed: FloatArray = np.bincount(codes, weights=amounts).astype(np.float64)
    return summed


def _row(
    language: str, joint: pd.DataFrame, amounts: FloatArray, permutations: int, seed: int
) -> dict[str, object]:
    row: dict[str, object] = {
        "language": language,
        "sentences": len(joint),
        "disagreements": int((joint["correct_a"] != joint["correct_b"]).sum()),
    }
    absent = [label for label in JUDGED if label not in set(joint["factuality_a"])]
    if absent:
        return row | {"reason": f"no sentence both judged is labeled {absent[0]}"}
    recall = joint.groupby("factuality_a")[["correct_a", "correct_b"]].mean().mean()
    return row | {
        "balanced_accuracy_a": float(recall["correct_a"]),
        "balanced_accuracy_b": float(recall["correct_b"]),
        "difference": float(recall["correct_a"] - recall["correct_b"]),
        "p_value": permutation_p_value(amounts, permutations, seed, language),
    }


def _macro_row(
    rows: pd.DataFrame, amounts: FloatArray, permutations: int, seed: int
) -> dict[str, object]:
    rows = rows.reindex(columns=COMPARISON_COLUMNS)
    row: dict[str, object] = {
        "language": MACRO,
        "sentences": int(rows["sentences"].sum()),
        "disagreements": int(rows["disagreements"].sum()),
    }
    reasons = rows["reason"].dropna()
    if len(reasons):
        return row | {"reason": reasons.iloc[0]}
    means = rows[["balanced_accuracy_a", "balanced_accuracy_b", "difference"]].mean()
    p_value = permutation_p_value(amounts, permutations, seed, MACRO)
    return row | {str(name): float(mean) for name, mean in means.items()} | {"p_value": p_value}


def mark_best(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    within: Sequence[str] = (),
) -> pd.DataFrame:
    """Mark in each language, and on average, the best judge and those that may be as good.

    Args:
        scores: As ``score_judges`` returns them.
        verdicts: The verdicts they are of.
        permutations: Random swaps of each test.
        seed: Seed of the swaps.
        within: Mark among rows that share these columns, too: ``["judge"]`` finds the best prompt
            of each model (table 5), ``["prompt"]`` the best model with each prompt (figure 2).

    Returns:
        The scores with ``p_value`` (of the test against the best of the row's language and group;
        missing for the best) and ``mark``: ``best``, ``†`` where p > 0.05, or nothing.
    """
    of_judge = judges_of(verdicts)
    keys = dict(zip(scores.index, zip(scores["judge"], scores["prompt"], strict=True), strict=True))
    marked = scores.assign(p_value=float("nan"), mark="")
    for (language, *_), rows in scores.groupby(["language", *within], sort=False):
        known = rows[rows["balanced_accuracy"].notna()]
        if len(known) < 2:
            continue
        best = known["balanced_accuracy"].idxmax()
        marked.loc[best, "mark"] = BEST
        for other in known.index.drop(best):
            pair = (of_judge[keys[best]], of_judge[keys[other]])
            p_value = _p_value(*pair, str(language), permutations, seed)
            marked.loc[other, "p_value"] = p_value
            marked.loc[other, "mark"] = DAGGER if p_value > SIGNIFICANCE else ""
    return marked


def with_prompts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of judges that were asked with several prompts."""
    return scores[scores.groupby("judge")["prompt"].transform("nunique") > 1]


def _p_value(
    best: pd.DataFrame, other: pd.DataFrame, language: str, permutations: int, seed: int
) -> float:
    if language != MACRO:
        best, other = (table[table["language"] == language] for table in (best, other))
    table = compare_judges(best, other, permutations, seed).table
    return float(table.loc[table["language"] == language, "p_value"].iloc[0])
