"""Letting judges choose among WikiEval's pairs: one table beside what people preferred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator, seed_sequence
from surrogate.metaevaluation.results import MetaEvaluation
from surrogate.metaevaluation.wikieval.pairs import CRITERIA, Pair, PairJudge, Preference

BETTER, WORSE, TIE = "better", "worse", "tie"

PREFERENCE_COLUMNS = [
    *("judge", "prompt", "criterion", "question", "preferred"),
    *("score_better", "score_worse", "shown_first", "failure", "was_asked"),
]


def judge_pairs(
    pairs: pd.DataFrame, judges: Sequence[PairJudge], limit: int | None = None, seed: int = 0
) -> pd.DataFrame:
    """Let judges choose the better text of every pair.

    Which text a judge sees first is drawn by the pair's content.

    Args:
        pairs: As ``read_wikieval`` returns them.
        judges: Judges, none of which sees which text people preferred.
        limit: Judge the first so many pairs of each criterion only.
        seed: Seed of the order.

    Returns:
        Columns ``PREFERENCE_COLUMNS``, one row a judge and pair. ``preferred`` is ``better``,
        ``worse``, ``tie``, or missing where ``failure`` says why; ``shown_first`` is ``better`` or
        ``worse``; ``was_asked`` is False where the judge could not be reached. Scores are missing
        for judges that give none.

    Raises:
        UsageError: If there is no judge or no pair, two judges have the same name and prompt, or
            a judge does not return one preference a pair.
    """
    chosen = pairs if limit is None else pairs.groupby("criterion", sort=False).head(limit)
    if chosen.empty:
        raise UsageError("there is no pair to judge")
    _check_judges(judges)
    shown = [_better_is_first(row, seed) for row in chosen.to_dict(orient="records")]
    return pd.concat([_judged(chosen, shown, judge) for judge in judges], ignore_index=True)


def _better_is_first(row: dict[str, str], seed: int) -> bool:
    first, second = sorted((row["better"], row["worse"]))
    drawn = seed_sequence(
        seed, "wikieval", "order", row["criterion"], row["question"], first, second
    )
    swapped = bool(drawn.generate_state(1)[0] & 1)
    return bool((row["better"] == first) != swapped)


def _check_judges(judges: Sequence[PairJudge]) -> None:
    if not judges:
        raise UsageError("there is no judge; give one at least")
    known = [(judge.name, judge.prompt) for judge in judges]
    repeated = sorted({pair for pair in known if known.count(pair) > 1})
    if repeated:
        raise UsageError(f"the judge {repeated[0][0]} is given twice; give each once")


def _judged(pairs: pd.DataFrame, shown: Sequence[bool], judge: PairJudge) -> pd.DataFrame:
    preferences = list(judge.judge(_as_shown(pairs, shown)))
    if len(preferences) != len(pairs):
        raise UsageError(
            f"the judge {judge.name} returned {len(preferences)} preferences for {len(pairs)} "
            "pairs; return one for each"
        )
    rows = [_row(each, first) for each, first in zip(preferences, shown, strict=True)]
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]}
    scores = dict.fromkeys(("score_better", "score_worse"), float)
    return (
        pd.DataFrame(columns)
        .assign(
            judge=judge.name,
            prompt=judge.prompt,
            criterion=pairs["criterion"].to_numpy(),
            question=pairs["question"].to_numpy(),
        )[PREFERENCE_COLUMNS]
        .astype({"was_asked": bool, **scores})
    )


def _as_shown(pairs: pd.DataFrame, shown: Sequence[bool]) -> list[Pair]:
    return [
        Pair(
            row["criterion"],
            row["question"],
            row["context"],
            row["better"] if better_first else row["worse"],
            row["worse"] if better_first else row["better"],
        )
        for row, better_first in zip(pairs.to_dict(orient="records"), shown, strict=True)
    ]


def _row(preference: Preference, better_first: bool) -> dict[str, object]:
    winner: str | None = preference.winner
    if winner is not None and winner != TIE:
        winner = BETTER if (winner == "first") == better_first else WORSE
    first, second = preference.scores or (None, None)
    return {
        "preferred": winner,
        "score_better": first if better_first else second,
        "score_worse": second if better_first else first,
        "shown_first": BETTER if better_first else WORSE,
        "failure": preference.failure,
        "was_asked": preference.was_asked,
    }


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
    preferences: pd.DataFrame, ties: str = "random", replicates: int = REPLICATES, seed: int = 0
) -> pd.DataFrame:
    """Compute the share of pairs in which each judge prefers what people preferred.

    Args:
        preferences: As ``judge_pairs`` returns them.
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
        | _row_accuracy(part, str(criterion), ties, replicates, seed)
        for (judge, prompt, criterion), part in preferences.groupby(
            ["judge", "prompt", "criterion"], sort=False
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
    return [
        MetaEvaluation(
            judge=str(row["judge"]),
            dataset=DATASET,
            metric=str(row["criterion"]),
            prompt=str(row["prompt"]),
            value=float(row["accuracy"]),
            standard_error=float(row["standard_error"]),
            n=int(row["pairs"]),
            languages=[LANGUAGE],
            failures=int(row["failures"]),
        )
        for row in scores.to_dict(orient="records")
        if not pd.isna(row["standard_error"])
    ]


def _row_accuracy(
    part: pd.DataFrame, criterion: str, ties: str, replicates: int, seed: int
) -> dict[str, object]:
    asked = part[part["was_asked"]]
    credits = _credits(asked, criterion, ties, seed)
    chose = asked[asked["preferred"].notna() & (asked["preferred"] != TIE)]
    first = chose["preferred"] == chose["shown_first"]
    return {
        "accuracy": float(credits.mean()) if len(credits) else np.nan,
        "standard_error": _standard_error(credits, criterion, replicates, seed),
        "pairs": len(asked),
        "ties": int((asked["preferred"] == TIE).sum()),
        "failures": int(asked["preferred"].isna().sum()),
        "not_asked": len(part) - len(asked),
        "first_share": float(first.mean()) if len(chose) else np.nan,
        "reason": None if len(asked) else f"no pair of {criterion} was judged",
    }


def _credits(asked: pd.DataFrame, criterion: str, ties: str, seed: int) -> FloatArray:
    """Return how right the judge was about each pair, 0 to 1."""
    credits: FloatArray = (asked["preferred"] == BETTER).to_numpy(dtype=np.float64)
    for place in np.flatnonzero((asked["preferred"] == TIE).to_numpy(dtype=bool)):
        if ties == "half":
            credits[place] = 0.5
        else:
            question = str(asked["question"].iloc[place])
            credits[place] = generator(seed, "wikieval", "tie", criterion, question).integers(2)
    return credits


def _standard_error(credits: FloatArray, criterion: str, replicates: int, seed: int) -> float:
    if len(credits) < 2:
        return np.nan
    draws = generator(seed, "wikieval", "bootstrap", criterion)
    times = draws.multinomial(len(credits), np.full(len(credits), 1 / len(credits)), replicates)
    return float((times @ credits / len(credits)).std(ddof=1))


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
