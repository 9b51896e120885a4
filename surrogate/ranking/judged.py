"""Ratings of new systems by their answers and some verdicts, on a board that stays as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior
from arena.statistics.significance import NORMAL_90
from surrogate.board.board import Board
from surrogate.integrity.coverage import Key
from surrogate.learning.posterior.observations import observe
from surrogate.learning.posterior.ratings import posterior_ratings
from surrogate.learning.training import TrainingRatings

Floats = npt.NDArray[np.float64]

JUDGED_COLUMNS = [
    *("language", "system", "judgments", "left_aside", "rating", "standard_error"),
    "verdict_share",
]
SMALLEST_SHARE = 1e-6
NOBODY = "no judgment is of a new system against a system on the board, or another new one"
PUBLISHED = "the ratings of this board are published, so that judgments are on another scale"


def judged_ratings(board: Board, table: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Rate new systems by their answers and verdicts: the posterior that boards have.

    Their battles join those the board was built from; the weights that the surrogate has learned
    stay. Languages with verdicts on a system tell of it in each other and, where the surrogate is a
    Gaussian process, in those where it has answers alone: what is expected of it moves there as the
    posterior does.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features; with a column
            ``answer`` where the surrogate reads them.
        judgments: Columns ``language, query_id, system_a, system_b, winner``. Those between
            systems of which one is unknown, or both are on the board, are left aside.

    Returns:
        A row a language and new system, ``JUDGED_COLUMNS``, where it has judgments, or these move
        its rating from elsewhere: how many judgments there are (0 there) and are left aside in the
        language, the rating (logits) with its standard error, and how much of it rests on the
        system's own verdicts in the language.

    Raises:
        UsageError: If no judgment can be used, or the board's ratings are published.
    """
    if board.summary.is_published:
        raise UsageError(PUBLISHED)
    new = set(table["system"])
    known = dict(board.surrogate.ratings_)
    used, aside = {}, {}
    for language, rows in judgments.groupby("language"):
        own = known.get(str(language))
        there = new if own is None else {*new, *own.systems}
        both = rows["system_a"].isin(there) & rows["system_b"].isin(there)
        usable = rows[both & _takes_part(rows, new)]
        aside[str(language)] = len(rows) - len(usable)
        if own is not None and len(usable):
            used[str(language)] = usable
            known[str(language)] = _joined(own, usable, board.summary.settings.ties == "drop")
    if not used:
        raise UsageError(NOBODY)
    found = posterior_ratings(board.surrogate, known, _expected(board, table), table)
    counts = {
        (language, system): number
        for language, rows in used.items()
        for system in new
        if (number := int(_takes_part(rows, {system}).sum()))
    }
    judged = {system for _, system in counts}
    keys = [
        (language, system)
        for language, posterior in found.items()
        for system in posterior.systems
        if system in judged
    ]
    known_before = observe(board.surrogate.ratings_)
    told = _Judged(
        board,
        board.surrogate.predict(table).set_index(["language", "system"]),
        board.surrogate.posterior(known_before, table) or {},
        found,
        new,
    )
    rated = [
        *(told.rated(key, counts[key]) for key in keys if key in counts),
        *(told.moved(key) for key in keys if key not in counts),
    ]
    ratings = pd.DataFrame(rated, columns=JUDGED_COLUMNS)
    return ratings.assign(left_aside=ratings["language"].map(aside).fillna(0).astype(int))


@dataclass(frozen=True)
class _Judged:
    """What is known of systems before and after some verdicts.

    Attributes:
        board: The board.
        expected: What the surrogate predicts, by language and system.
        before: What the process has without the verdicts; empty of other surrogates.
        found: Ratings with the verdicts.
        new: The new systems.
    """

    board: Board
    expected: pd.DataFrame
    before: Mapping[str, RatingPosterior]
    found: Mapping[str, RatingPosterior]
    new: set[str]

    def rated(self, key: Key, judgments: int) -> dict[str, Any]:
        """Rate a system by its own verdicts and its answers.

        What is expected has the error that its conformal interval tells, not the smaller one of
        the process, and the verdicts add their information to that. The process says how far they
        move it, and how much they tell.
        """
        language, system = key
        posterior = self.found[language]
        place = posterior.systems.index(system)
        rating = posterior.ratings[place] + _shift(self.board, language, posterior)
        variance, share = posterior.covariance[place, place], posterior.shares[place]
        known = self.expected.loc[key] if key in self.expected.index else pd.Series(dtype=float)
        expected = float(known.get("rating", np.nan))
        if np.isfinite(expected):
            moved, old = rating - expected, variance / max(1 - share, SMALLEST_SHARE)
            if language in self.before:
                after = _beside(posterior, system, self.new)[0]
                old_rating, old_error = _beside(self.before[language], system, self.new)
                moved, old = after - old_rating, old_error**2
            interval = self.board.summary.languages[language].interval
            half = interval.around(0.0, float(known.get("standard_error", np.nan)))[1]
            prior = max(old, np.nan_to_num(half / NORMAL_90) ** 2)
            wider = 1 / (1 / prior + max(1 / variance - 1 / old, 0.0)) / variance
            rating, variance = expected + wider * moved, wider * variance
            share = min(share * wider, 1.0)
        return {
            "language": language,
            "system": system,
            "judgments": judgments,
            "rating": rating,
            "standard_error": math.sqrt(variance),
            "verdict_share": share,
        }

    def moved(self, key: Key) -> dict[str, Any]:
        """Rate a system that has verdicts in other languages alone.

        What is expected of it moves by as much as its posterior beside the board's systems: where
        few are judged, that is about another level. Its error falls by the root of the factor by
        which the posterior has it: how far languages agree on a system is learned from few, and
        with the whole factor conformal intervals do not hold (``benchmarks/other_languages.py``).
        """
        language, system = key
        rating, error = _beside(self.found[language], system, self.new)
        old_rating, old_error = _beside(self.before[language], system, self.new)
        known, ratio = self.expected.loc[key], error / old_error
        interval = self.board.summary.languages[language].interval
        half = interval.around(0.0, float(known["standard_error"]))[1]
        prior = max(half / NORMAL_90, known["standard_error"])  # none without an interval
        return {
            "language": language,
            "system": system,
            "judgments": 0,
            "rating": known["rating"] + rating - old_rating,
            "standard_error": prior * max(ratio, math.sqrt(ratio)),
            "verdict_share": 0.0,
        }


def _beside(posterior: RatingPosterior, system: str, new: set[str]) -> tuple[float, float]:
    """Rating of a system less the mean of those that are not new, and its standard error."""
    place = posterior.systems.index(system)
    is_known = np.array([name not in new for name in posterior.systems])
    level = float(posterior.ratings[is_known].mean())
    return float(posterior.ratings[place]) - level, float(posterior.standard_errors[place])


def _shift(board: Board, language: str, posterior: RatingPosterior) -> float:
    """What to add so that the board's systems are on average where they are on the board."""
    own = board.ratings[board.ratings["language"] == language].set_index("system")["rating"]
    moved = own.reindex(list(posterior.systems)) - posterior.ratings
    return float(moved.mean())


def _takes_part(judgments: pd.DataFrame, systems: set[str]) -> pd.Series:
    return judgments["system_a"].isin(systems) | judgments["system_b"].isin(systems)


def _expected(board: Board, table: pd.DataFrame) -> pd.DataFrame:
    """What surrogates that have not seen a system expect, of the board's systems and the new."""
    columns = ["language", "system", "rating"]
    known = board.ratings.assign(rating=board.ratings["surrogate_rating"])
    new = board.surrogate.predict(table)
    return pd.concat([known[columns], new[columns]], ignore_index=True)


def _joined(known: TrainingRatings, judgments: pd.DataFrame, drop_ties: bool) -> TrainingRatings:
    """Put further battles beside those that a surrogate was trained on."""
    battles = Battles.from_judgments(judgments)
    if drop_ties:
        battles = battles.decided()
    systems = tuple(sorted({*known.systems, *battles.systems}))
    questions = tuple(sorted({*known.questions, *battles.questions}))
    own, new = (
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
        items=own.joined(new),
    )


def _places(names: Sequence[str], among: Sequence[str]) -> npt.NDArray[np.intp]:
    place = {name: index for index, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.intp)
