"""Contenders that learn nothing: scores of answers, and other judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.data.wording import did_you_mean
from arena.statistics.significance import finite_means, mean_of
from features.engine.extraction import feature_columns
from surrogate.learning.language_data import LanguageData
from surrogate.learning.outcomes import Outcome
from surrogate_arena.studies.scores import Contender, drawn_ratings

Rates = Callable[[LanguageData], tuple[Floats, Floats | None]]
"""From a language to a rating of each system, shape (S,), and in B resamples of the questions."""


def untrained(
    languages: Sequence[LanguageData], rate: Rates, folds: Sequence[Outcome]
) -> Contender:
    """Rate the systems of every language, in the folds of a surrogate's outcomes, if any."""
    outcomes = []
    drawn = {}
    for index, data in enumerate(languages):
        ratings, of_draws = rate(data)
        if of_draws is not None:
            drawn[data.language] = of_draws
        if folds:
            like = folds[index]
        else:
            is_reference = np.array(data.systems) == data.reference
            compared = np.where(is_reference, np.nan, data.arena_ratings)[None]
            like = Outcome(data.language, data.systems, compared, compared)
        # Scores are on another scale than ratings: they have no R², and no errors.
        outcomes.append(
            replace(
                like,
                predicted=np.tile(ratings, (len(like.predicted), 1)),
                standard_errors=None,
                r2=np.nan,
                reasons=(),
            )
        )
    return Contender(outcomes, drawn)


def rate_by_score(
    data: LanguageData, column: str, draws: pd.DataFrame | None
) -> tuple[Floats, Floats | None]:
    """Return the mean of a column over systems' answers to judged questions."""
    if column not in data.X:
        known = feature_columns(data.X.drop(columns="answer", errors="ignore"))
        hint = did_you_mean(column, known) or f"there is {', '.join(known)}"
        raise UsageError(f"there is no score {column!r}; {hint}")
    questions = list(data.tournaments.battles.questions)
    table = data.rows().pivot_table(index="system", columns="query_id", values=column)
    scores = table.reindex(index=data.systems, columns=questions).to_numpy(np.float64)
    means = finite_means(scores.T)
    if draws is None:
        return means, None
    times = draws[questions].to_numpy(np.float64)
    totals = times @ np.nan_to_num(scores).T
    counts = times @ np.isfinite(scores).T
    return means, mean_of(totals, counts)


def rate_by_judge(
    data: LanguageData, judged: Mapping[str, LanguageData], draws: pd.DataFrame | None
) -> tuple[Floats, Floats | None]:
    """Return the ratings by another judge, where it judged the language and the system."""
    if data.language not in judged:
        return np.full(len(data.systems), np.nan), None
    other = judged[data.language]
    places = pd.Index(other.systems).get_indexer(pd.Index(data.systems))
    ratings = np.where(places >= 0, other.arena_ratings[places], np.nan)
    if draws is None:
        return ratings, None
    return ratings, np.where(places >= 0, drawn_ratings(other, draws)[:, places], np.nan)
