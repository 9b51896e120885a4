"""Which judge is best, and which are not statistically different from it (table 5, figure 2)."""

from __future__ import annotations

import pandas as pd

from arena.metaevaluation.memerag.balanced_accuracy import MACRO
from arena.metaevaluation.memerag.comparison import PERMUTATIONS, SIGNIFICANCE, compare_judges

DAGGER = "†"
BEST = "best"


def mark_best(
    scores: pd.DataFrame,
    verdicts: pd.DataFrame,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Mark in each language, and on average, the best judge and those that may be as good.

    Args:
        scores: As ``score_judges`` returns them.
        verdicts: The verdicts they are of.
        permutations: Random swaps of each test.
        seed: Seed of the swaps.

    Returns:
        The scores with ``p_value`` (of the test against the best judge of the row's language;
        missing for the best) and ``mark``: ``best``, ``†`` where p > 0.05, or nothing.
    """
    of_judge = dict(iter(verdicts.groupby(["judge", "prompt"], sort=False)))
    marked = scores.assign(p_value=float("nan"), mark="")
    for language, rows in scores.groupby("language", sort=False):
        known = rows[rows["balanced_accuracy"].notna()]
        if len(known) < 2:
            continue
        best = known["balanced_accuracy"].idxmax()
        marked.loc[best, "mark"] = BEST
        for place in known.index.drop(best):
            pair = [of_judge[_judge(scores, row)] for row in (best, place)]
            p_value = _p_value(pair, str(language), permutations, seed)
            marked.loc[place, "p_value"] = p_value
            marked.loc[place, "mark"] = DAGGER if p_value > SIGNIFICANCE else ""
    return marked


def _judge(scores: pd.DataFrame, row: object) -> tuple[str, str]:
    return str(scores.loc[row, "judge"]), str(scores.loc[row, "prompt"])


def _p_value(pair: list[pd.DataFrame], language: str, permutations: int, seed: int) -> float:
    if language != MACRO:
        pair = [verdicts[verdicts["language"] == language] for verdicts in pair]
    table = compare_judges(pair[0], pair[1], permutations, seed).table
    return float(table.loc[table["language"] == language, "p_value"].iloc[0])
