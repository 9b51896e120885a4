"""Letting judges choose among WikiEval's pairs: one table beside what people preferred."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena.errors import UsageError
from arena.metaevaluation.wikieval.pairs import Pair, PairJudge, Preference
from arena.seeds import seed_sequence

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
