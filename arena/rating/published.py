"""Published ratings instead of judgments: tournaments drawn around them, and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from arena.data import __version__
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.data.wording import Remark, count_of
from arena.rating.battles import Battles
from arena.rating.intervals import MOST_COMPARED, ranks_and_tiers
from arena.rating.ratings import TOO_MANY, Ratings, best_first
from arena.rating.tournaments import (
    DECIMALS,
    DEFAULT_QUESTIONS,
    DEFAULT_TOURNAMENTS,
    RatedBy,
    Tournaments,
)
from arena.statistics.bootstrap import bootstrap_weights, generator, places_by_value
from arena.statistics.significance import NORMAL_95

NO_ERRORS = (
    "ratings are published without standard errors: they count as exact, with ranks without "
    "intervals, and no tiers"
)
ASSUMED = "no standard error is published: {:.3g}, the median of the others', is assumed"
SOME_ASSUMED = (
    "{} of {} ratings are published without a standard error: {:.3g}, the median of the others', "
    "is assumed"
)


def completed_variances(variances: Floats) -> Floats:
    """Replace unknown variances of ratings by the median of the others'.

    Errors of ratings from one source are similar, whereas a rating taken as exact would determine
    all others. Exact ratings, such as that of the reference system, do not show how far others may
    be off, and are not counted.

    Args:
        variances: Sampling variance of each rating, shape (S,); NaN where it is not known.

    Returns:
        Shape (S,); NaN where it is not known and no other one is above 0.
    """
    positive = variances[np.isfinite(variances) & (variances > 0)]
    assumed = np.median(positive) if len(positive) else np.nan
    return np.asarray(np.where(np.isnan(variances), assumed, variances))


@dataclass(frozen=True)
class PublishedTournaments(Tournaments):
    """A parametric bootstrap of published ratings, in the form of tournaments without battles.

    Questions are drawn as from judgments; coefficients come from independent normal distributions
    about the ratings, and their mean over the tournaments is the rating.

    Attributes:
        ratings: Published rating of each system (logits), shape (S,).
        standard_errors: Their standard errors, shape (S,); NaN where none is published.
    """

    ratings: Floats
    standard_errors: Floats

    @property
    def mean_coefficients(self) -> Floats:
        """The published ratings, shape (S,)."""
        return self.ratings

    @property
    def variance(self) -> Floats:
        """Sampling variance of each rating, shape (S,); NaN where it is not known."""
        return np.asarray(self.standard_errors**2)

    @property
    def errors(self) -> Floats:
        """Standard errors as published or assumed, shape (S,); see ``completed_variances``."""
        return np.asarray(np.sqrt(completed_variances(self.variance)))

    def first(self, count: int) -> Self:
        """Keep the first tournaments, about the same ratings."""
        part = super().first(count)
        deviations = part.coefficients.mean(axis=0) - self.ratings
        return replace(part, coefficients=np.round(part.coefficients - deviations, DECIMALS))

    def without(self, systems: Sequence[str]) -> Self:
        """Drop systems; the published ratings of the others stay."""
        is_left = ~np.isin(self.systems, list(systems))
        return replace(
            super().without(systems),
            ratings=self.ratings[is_left],
            standard_errors=self.standard_errors[is_left],
        )

    def rate(self, by: RatedBy = "judgments") -> Ratings:  # noqa: ARG002
        """Return the published ratings with normal 95% intervals, ranks and tiers.

        Errors of different systems are taken as independent, see ``errors``.
        """
        errors = self.errors
        half_widths = NORMAL_95 * errors
        is_assumed = np.isnan(self.standard_errors) & np.isfinite(errors)
        n_assumed = int(is_assumed.sum())
        assumed_error = float(errors[is_assumed].max(initial=0.0))
        table = pd.DataFrame(
            {
                "system": self.systems,
                "rating": self.ratings,
                "low": self.ratings - half_widths,
                "high": self.ratings + half_widths,
                "rank": pd.Series(self.ratings).rank(ascending=False, method="min"),
                **ranks_and_tiers(self.ratings, np.diag(errors**2)),
                **dict.fromkeys(("wins", "losses", "ties"), 0),
                "note": np.where(is_assumed, ASSUMED.format(assumed_error), ""),
            }
        )
        notes = []
        if not np.isfinite(errors).all():
            notes.append(NO_ERRORS)
        if n_assumed:
            notes.append(SOME_ASSUMED.format(n_assumed, len(self.ratings), assumed_error))
        if len(self.ratings) > MOST_COMPARED:
            notes.append(TOO_MANY)
        return Ratings(
            table=best_first(table),
            notes=tuple(notes),
            signature=f"published|systems:{len(table)}|seed:{self.seed}|version:{__version__}",
        )


def published_tournaments(
    published: pd.DataFrame,
    questions: Sequence[str],
    tournaments: int = DEFAULT_TOURNAMENTS,
    drawn: int = DEFAULT_QUESTIONS,
    seed: int = 0,
) -> PublishedTournaments:
    """Draw tournaments around published ratings.

    Args:
        published: Columns ``language, system, rating, standard_error`` (logits; NaN without an
            error); of one language and one judge.
        questions: Query ids of the questions that the systems answered.
        tournaments: Number of tournaments N_t.
        drawn: Questions drawn with replacement for each tournament, at most as many as there are.
        seed: Seed of the draws.

    Raises:
        UsageError: For a number below 1, several languages, or no ratings.
    """
    if tournaments < 1 or drawn < 1:
        raise UsageError("tournaments and questions must be at least 1")
    languages = sorted(published["language"].unique())
    if len(languages) != 1:
        raise UsageError(f"one language at a time, not {', '.join(languages) or 'none'}")
    rows = published.sort_values("system")
    ratings = rows["rating"].to_numpy(np.float64).round(DECIMALS)
    errors = rows["standard_error"].to_numpy(np.float64)
    n_drawn = min(drawn, len(questions))
    random = generator(seed, "published ratings", languages[0])
    draws = bootstrap_weights(len(questions), tournaments, random, n_drawn)
    normal = random.normal(size=(tournaments, len(ratings)))
    # In the order of their ratings, so that renamed systems have the same draws.
    deviations = normal[:, places_by_value(ratings, errors)]
    deviations *= np.sqrt(np.nan_to_num(completed_variances(errors**2)))
    return PublishedTournaments(
        battles=Battles.none(rows["system"].tolist(), sorted(questions)),
        draws=draws,
        coefficients=np.round(ratings + deviations - deviations.mean(axis=0), DECIMALS),
        ties="half",
        dropped_ties=0,
        seed=seed,
        ratings=ratings,
        standard_errors=errors,
    )


def published_remarks(arena: Arena) -> Iterator[Remark]:
    """Report whose ratings are published, and which have no answers here."""
    for (language, judge), rows in arena.published_ratings.groupby(["language", "judge"]):
        subject = f"{language}, {judge}"
        answered = set(arena.answers.loc[arena.answers["language"] == language, "system"])
        rated = set(rows["system"])
        yield Remark(
            "published", "info", f"{count_of(len(rated), 'rating')} are published", subject=subject
        )
        without_answers = rated - answered
        if without_answers:
            sentence = (
                f"{count_of(len(without_answers), 'published rating')} of systems without answers "
                "here: nothing is learned from them"
            )
            yield Remark("published", "warning", sentence, subject=subject)
        unrated = answered - rated
        if unrated:
            sentence = (
                f"{count_of(len(unrated), 'system')} of {len(answered)} that answered have no "
                "published rating"
            )
            yield Remark("published", "warning", sentence, subject=subject)
