"""Ratings of new systems by their answers and some verdicts, on a board that stays as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior
from arena.statistics.significance import NORMAL_90
from surrogate.board.board import Board
from surrogate.learning.estimation.ratings import posterior_ratings
from surrogate.learning.training import TrainingRatings

JUDGED_COLUMNS = [
    *("language", "system", "judgments", "rating", "standard_error", "verdict_share"),
]
SMALLEST_SHARE = 1e-6
NOBODY = "no judgment is of a new system and a judged one, on a question of the arena"
PUBLISHED = "the ratings of this board are published, so that judgments are on another scale"


def usable_judgments(board: Board, systems: set[str], judgments: pd.DataFrame) -> pd.Series:
    """Tell which judgments are of a new system against one judged on the board, or another new one.

    Args:
        board: The board.
        systems: The new systems.
        judgments: Columns ``language, system_a, system_b``.
    """
    known = {
        (language, name)
        for language, item in board.surrogate.ratings_.items()
        for name in {*item.systems, *systems}
    }
    a, b = (
        [key in known for key in zip(judgments["language"], judgments[side], strict=True)]
        for side in ("system_a", "system_b")
    )
    return pd.Series(a, judgments.index) & pd.Series(b, judgments.index) & _of(judgments, systems)


def judged_ratings(board: Board, table: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Rate new systems by their answers and verdicts: the posterior that boards have.

    Their battles join those the board was built from; the weights that the surrogate has learned
    stay. What is expected of a system has the error that its conformal interval tells, not the
    smaller one of the process, and the verdicts add their information to that.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features; with a column
            ``answer`` where the surrogate reads them.
        judgments: Columns ``language, query_id, system_a, system_b, winner``; those that are not
            ``usable_judgments`` do not count.

    Returns:
        ``JUDGED_COLUMNS``, a row a language and new system with judgments there: how many, the
        rating (logits) with its standard error, and how much of it rests on them.

    Raises:
        UsageError: If no judgment can be used, or the board's ratings are published.
    """
    if board.summary.is_published:
        raise UsageError(PUBLISHED)
    new = set(table["system"])
    usable = judgments[usable_judgments(board, new, judgments)]
    if usable.empty:
        raise UsageError(NOBODY)
    known = dict(board.surrogate.ratings_)
    for language, rows in usable.groupby("language"):
        known[language] = _joined(known[language], rows, board.summary.settings.ties == "drop")
    surrogate, predicted = board.surrogate, board.surrogate.predict(table)
    columns = ["language", "system", "rating"]
    own = board.ratings.assign(rating=board.ratings["surrogate_rating"])
    expected = pd.concat([own[columns], predicted[columns]], ignore_index=True)
    before, after = (
        posterior_ratings(surrogate, ratings, expected, table)
        for ratings in (surrogate.ratings_, known)
    )
    found = predicted.set_index(["language", "system"])
    rated = []
    for language, rows in usable.groupby("language"):
        for system in sorted(new & set(after[language].systems)):
            count = int(_of(rows, {system}).sum())
            if not count:
                continue
            told = found.loc[(language, system)] if (language, system) in found.index else None
            rating, variance, share = _rated(
                board, language, system, told, before[language], after[language], new
            )
            rated.append([language, system, count, rating, math.sqrt(variance), share])
    return pd.DataFrame(rated, columns=JUDGED_COLUMNS)


def _rated(
    board: Board,
    language: str,
    system: str,
    told: pd.Series | None,
    before: RatingPosterior,
    after: RatingPosterior,
    new: set[str],
) -> tuple[float, float, float]:
    """Return a system's rating, its variance, and the share that rests on its verdicts."""
    place = after.systems.index(system)
    on_board = board.ratings[board.ratings["language"] == language].set_index("system")["rating"]
    shift = float((on_board.reindex(list(after.systems)) - after.ratings).mean())
    rating, share = float(after.ratings[place]) + shift, float(after.shares[place])
    variance = float(after.covariance[place, place])
    if told is None or not np.isfinite(told["rating"]):
        return rating, variance, share
    then, now = (_beside(item, system, new) for item in (before, after))
    interval = board.summary.languages[language].interval
    half = float(interval.width(np.array(told.get("standard_error", np.nan))))
    old = variance / max(1 - share, SMALLEST_SHARE)
    prior = (half / NORMAL_90) ** 2 if np.isfinite(half) else old
    wider = 1 / (1 / prior + share / variance) / variance
    return told["rating"] + wider * (now - then), wider * variance, min(share * wider, 1.0)


def _beside(posterior: RatingPosterior, system: str, new: set[str]) -> float:
    """Rating of a system less the mean of those that are not new."""
    place = posterior.systems.index(system)
    is_known = np.array([name not in new for name in posterior.systems])
    level = float(posterior.ratings[is_known].mean())
    return float(posterior.ratings[place]) - level


def _of(judgments: pd.DataFrame, systems: set[str]) -> pd.Series:
    return judgments["system_a"].isin(systems) | judgments["system_b"].isin(systems)


def _joined(known: TrainingRatings, judgments: pd.DataFrame, drop_ties: bool) -> TrainingRatings:
    """Put further battles beside those that a surrogate was trained on."""
    battles = Battles.from_judgments(judgments)
    if drop_ties:
        battles = battles.decided()
    systems = tuple(sorted({*known.systems, *battles.systems}))
    questions = tuple(sorted({*known.questions, *battles.questions}))
    own, further = (
        part.items.placed(
            *(_places(part.systems, systems), len(systems)),
            *(_places(part.questions, questions), len(questions)),
        )
        for part in (known, battles)
    )
    return replace(
        known,
        systems=systems,
        questions=questions,
        draws=np.ones((1, len(questions)), dtype=np.intp),
        coefficients=np.zeros((1, len(systems))),
        items=own.joined(further),
    )


def _places(names: Sequence[str], among: Sequence[str]) -> npt.NDArray[np.intp]:
    place = {name: index for index, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.intp)
