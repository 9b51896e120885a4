"""How often judges prefer the better text of WikiEval's pairs, and what the paper published."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.bootstrap import resampled_sums
from surrogate.board.judge.metaevaluations import MetaEvaluation
from surrogate.metaevaluation.report import BY_JUDGE, metaevaluations
from surrogate.metaevaluation.wikieval.judges import CRITERIA, TIE

BETTER, WORSE = "better", "worse"
FloatArray = npt.NDArray[np.float64]
Ties = Literal["random", "half"]
TIES: tuple[Ties, ...] = get_args(Ties)

DATASET = "wikieval"
LANGUAGE = "en"
REPLICATES = 1000
ACCURACY_COLUMNS = [
    *("judge", "prompt", "criterion", "accuracy", "standard_error"),
    *("pairs", "ties", "failures", "not_asked", "first_share", "reason"),
]


def score_preferences(
    verdicts: pd.DataFrame, ties: str = "random", replicates: int = REPLICATES, seed: int = 0
) -> pd.DataFrame:
    """Compute the share of pairs in which each judge prefers what people preferred.

    Args:
        verdicts: Verdicts, see ``Wikieval``.
        ties: ``random`` breaks each by a draw that rests on the question, as the paper does for
            scores of an LLM; ``half`` counts each as half right, the mean of all such draws.
        replicates: Bootstrap replicates of the standard error, over pairs.
        seed: Seed of replicates and draws; judges share them.

    Returns:
        Columns ``ACCURACY_COLUMNS``, one row a judge and criterion. Pairs that the judge was not
        asked about are left out; where it did not choose, it is wrong. ``first_share`` is how
        often it preferred the text shown first, among those where it chose one. The accuracy is
        missing, with a reason, where no pair is left; the standard error, where one is.

    Raises:
        UsageError: For unknown ties, or fewer than two replicates.
    """
    if ties not in TIES or replicates < 2:
        raise UsageError(
            f"ties are {' or '.join(TIES)}, and replicates are two at least; "
            f"not {ties!r} and {replicates}"
        )
    rows = [
        {"judge": judge, "prompt": prompt, "criterion": criterion}
        | _row(part, str(criterion), ties, replicates, seed)
        for (judge, prompt, criterion), part in verdicts.groupby(
            [*BY_JUDGE, "criterion"], sort=False
        )
    ]
    return pd.DataFrame(rows, columns=ACCURACY_COLUMNS)


def wikieval_metaevaluations(scores: pd.DataFrame) -> list[MetaEvaluation]:
    """Sum up scores for an arena's ``metaevaluation.json``.

    Args:
        scores: As ``score_preferences`` returns them.

    Returns:
        One entry a judge and criterion, whose metric is the criterion; those without an accuracy
        or a standard error are left out.
    """
    rows = scores.rename(columns={"accuracy": "value", "pairs": "n"}).to_dict("records")
    return [
        entry
        for row in rows
        for entry in metaevaluations([row], DATASET, str(row["criterion"]), [LANGUAGE])
    ]


def _row(
    part: pd.DataFrame, criterion: str, ties: str, replicates: int, seed: int
) -> dict[str, object]:
    asked = part[part["was_asked"]]
    credits = _credits(asked, criterion, ties, seed)
    chose = asked[asked["value"].isin([BETTER, WORSE])]
    first = chose["value"] == chose["shown_first"]
    return {
        "accuracy": float(credits.mean()) if len(credits) else np.nan,
        "standard_error": _standard_error(credits, criterion, replicates, seed),
        "pairs": len(asked),
        "ties": int((asked["value"] == TIE).sum()),
        "failures": int(asked["value"].isna().sum()),
        "not_asked": len(part) - len(asked),
        "first_share": float(first.mean()) if len(chose) else np.nan,
        "reason": None if len(asked) else f"no pair of {criterion} was judged",
    }


def _credits(asked: pd.DataFrame, criterion: str, ties: str, seed: int) -> FloatArray:
    """Return how right the judge was about each pair, 0 to 1."""
    credits: FloatArray = (asked["value"] == BETTER).to_numpy(dtype=np.float64)
    for row in np.flatnonzero((asked["value"] == TIE).to_numpy(dtype=bool)):
        if ties == "half":
            credits[row] = 0.5
        else:
            question = str(asked["question"].iloc[row])
            credits[row] = generator(seed, "wikieval", "tie", criterion, question).integers(2)
    return credits


def _standard_error(credits: FloatArray, criterion: str, replicates: int, seed: int) -> float:
    if len(credits) < 2:
        return np.nan
    random = generator(seed, "wikieval", "bootstrap", criterion)
    return float((resampled_sums(credits[:, None], replicates, random) / len(credits)).std(ddof=1))


_ROWS = {
    "Ragas": (0.95, 0.78, 0.70),
    "GPT Score": (0.72, 0.52, 0.63),
    "GPT Ranking": (0.54, 0.40, 0.52),
}

PUBLISHED = pd.DataFrame(
    [
        (judge, criterion, accuracy)
        for judge, row in _ROWS.items()
        for criterion, accuracy in zip(CRITERIA, row, strict=True)
    ],
    columns=["judge", "criterion", "accuracy"],
)
"""Columns ``judge, criterion, accuracy``: 50 pairs a criterion, judged by gpt-3.5-turbo-16k."""
