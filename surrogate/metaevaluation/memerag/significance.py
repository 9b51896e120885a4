"""Is one judge better than another? Paired permutation tests (appendix E).

Under the null hypothesis the two verdicts on a sentence could as well be each other's. Swapping
them changes the difference in balanced accuracy by a fixed amount for each sentence, since the
human labels stay: a replicate is a sum of these amounts with random signs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.metaevaluation.memerag.accuracy import MACRO, judged_labels
from surrogate.metaevaluation.memerag.sentences import SENTENCE_KEY
from surrogate.metaevaluation.report import judges_of

FloatArray = npt.NDArray[np.float64]

PERMUTATIONS = 10_000
SIGNIFICANCE = 0.05
DAGGER = "†"
BEST = "best"
COMPARISON_COLUMNS = [
    *("language", "value_a", "value_b", "difference", "p_value"),
    *("sentences", "disagreements", "reason"),
]

_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12


def compare_judges(
    verdicts_a: pd.DataFrame,
    verdicts_b: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Test whether two judges differ in balanced accuracy, by language and on average.

    Args:
        verdicts_a: Verdicts of one judge, see ``Memerag``.
        verdicts_b: Verdicts of another judge, or of the same with another prompt.
        permutations: Random swaps.
        seed: Seed of the swaps.

    Returns:
        Columns ``COMPARISON_COLUMNS``, one row a language and one for ``macro``, of the sentences
        that both were asked about; two-sided p-values ``(1 + hits) / (1 + permutations)``.

    Raises:
        UsageError: If a table holds several judges, or the two have no sentence in common or hold
            different human labels for one.
    """
    joint = _joint(verdicts_a, verdicts_b)
    labels = judged_labels(verdicts_a)
    rows, amounts = [], []
    for language, part in joint.groupby("language", sort=False):
        amounts.append(_amounts(part))
        rows.append(_row(str(language), part, labels, amounts[-1], permutations, seed))
    everywhere = np.concatenate(amounts) / len(amounts)
    rows.append(_macro_row(pd.DataFrame(rows), everywhere, permutations, seed))
    return pd.DataFrame(rows, columns=COMPARISON_COLUMNS)


def permutation_p_value(amounts: FloatArray, permutations: int, seed: int, key: str) -> float:
    """Return the two-sided p-value of a sum whose terms may have either sign.

    Args:
        amounts: What each sentence adds to the difference.
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
        known = rows[rows["value"].notna()]
        if len(known) < 2:
            continue
        best = known["value"].idxmax()
        marked.loc[best, "mark"] = BEST
        for other in known.index.drop(best):
            pair = [of_judge[keys[best]], of_judge[keys[other]]]
            if language != MACRO:
                pair = [table[table["language"] == language] for table in pair]
            table = compare_judges(pair[0], pair[1], permutations, seed).set_index("language")
            p_value = float(table.loc[language, "p_value"])
            marked.loc[other, "p_value"] = p_value
            marked.loc[other, "mark"] = DAGGER if p_value > SIGNIFICANCE else ""
    return marked


def with_prompts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of judges that were asked with several prompts."""
    return scores[scores.groupby("judge")["prompt"].transform("nunique") > 1]


def _joint(verdicts_a: pd.DataFrame, verdicts_b: pd.DataFrame) -> pd.DataFrame:
    asked_a, asked_b = (_asked(verdicts) for verdicts in (verdicts_a, verdicts_b))
    joint = asked_a.merge(asked_b, on=SENTENCE_KEY, suffixes=("_a", "_b"))
    if joint.empty:
        raise UsageError("the two judges have no sentence in common; judge the same ones")
    differs = joint["truth_a"] != joint["truth_b"]
    if differs.any():
        first = joint.loc[differs, SENTENCE_KEY].iloc[0]
        raise UsageError(
            f"the runs hold different human labels for sentence {first['sentence_id']} of "
            f"{first['query_id']} ({first['language']}); compare runs on the same data"
        )
    return joint


def _asked(verdicts: pd.DataFrame) -> pd.DataFrame:
    judges = len(judges_of(verdicts))
    if judges != 1:
        raise UsageError(f"a table of verdicts holds {judges} judges; give those of one")
    asked = verdicts[verdicts["was_asked"].astype(bool)]
    correct = asked["value"] == asked["truth"]
    return asked[[*SENTENCE_KEY, "truth"]].assign(correct=correct.to_numpy())


def _amounts(joint: pd.DataFrame) -> FloatArray:
    """Return what each sentence adds to the difference in balanced accuracy."""
    counts = joint["truth_a"].value_counts()
    weights = joint["truth_a"].map({label: 0.5 / count for label, count in counts.items()})
    gains = joint["correct_a"].astype(float) - joint["correct_b"].astype(float)
    amounts: FloatArray = (weights * gains).to_numpy(dtype=np.float64)
    return amounts


def _row(
    language: str,
    joint: pd.DataFrame,
    labels: Sequence[str],
    amounts: FloatArray,
    permutations: int,
    seed: int,
) -> dict[str, object]:
    row: dict[str, object] = {
        "language": language,
        "sentences": len(joint),
        "disagreements": int((joint["correct_a"] != joint["correct_b"]).sum()),
    }
    absent = [label for label in labels if label not in set(joint["truth_a"])]
    if absent:
        return row | {"reason": f"no sentence both judged is labeled {absent[0]}"}
    recall = joint.groupby("truth_a")[["correct_a", "correct_b"]].mean().mean()
    return row | {
        "value_a": float(recall["correct_a"]),
        "value_b": float(recall["correct_b"]),
        "difference": float(recall["correct_a"] - recall["correct_b"]),
        "p_value": permutation_p_value(amounts, permutations, seed, language),
    }


def _macro_row(
    rows: pd.DataFrame, amounts: FloatArray, permutations: int, seed: int
) -> dict[str, object]:
    rows = rows.reindex(columns=COMPARISON_COLUMNS)
    counts = rows[["sentences", "disagreements"]].sum().astype(int).to_dict()
    row: dict[str, object] = {"language": MACRO, **counts}
    reasons = rows["reason"].dropna()
    if len(reasons):
        return row | {"reason": reasons.iloc[0]}
    means = rows[["value_a", "value_b", "difference"]].mean().to_dict()
    p_value = permutation_p_value(amounts, permutations, seed, MACRO)
    return {**row, **means, "p_value": p_value}
