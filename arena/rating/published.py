"""Published ratings in the place of judgments: tournaments and ratings, drawn around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from arena.data import __version__
from arena.data.errors import UsageError
from arena.data.seeds import generator, places_by_value
from arena.data.types import Floats
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
from arena.statistics.bootstrap import bootstrap_weights
from arena.statistics.significance import NORMAL_QUANTILE

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
    """Assume the median of the others' variances where a rating's is not known.

    Of ratings made alike, errors are alike, while to count one as exact would fix everything else
    by it. Exact ratings, such as that of the system that the others are rated against, say nothing
    of how far others may be off.

    Args:
        variances: Sampling variance of each rating, shape (S,); NaN where it is not known.

    Returns:
        Shape (S,); NaN where it is not known and no other one is above 0.
    """
    known = variances[np.isfinite(variances) & (variances > 0)]
    assumed = np.median(known) if len(known) else np.nan
    return np.asarray(np.where(np.isnan(variances), assumed, variances))


@dataclass(frozen=True)
class PublishedTournaments(Tournaments):
    """What tournaments would be that gave the published ratings: a parametric bootstrap.

    There are no battles. Questions are drawn as from judgments, coefficients from independent
    normal distributions about the ratings; their mean over the tournaments is the rating.

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
        kept = super().first(count)
        away = kept.coefficients.mean(axis=0) - self.ratings
        return replace(kept, coefficients=np.round(kept.coefficients - away, DECIMALS))

    def without(self, systems: Sequence[str]) -> Self:
        """Leave systems out; what is published of the others stays."""
        kept = ~np.isin(self.systems, list(systems))
        return replace(
            self,
            battles=Battles.none(
                [name for name, is_kept in zip(self.systems, kept, strict=True) if is_kept],
                self.battles.questions,
            ),
            coefficients=self.coefficients[:, kept],
            ratings=self.ratings[kept],
            standard_errors=self.standard_errors[kept],
        )

    def rate(self, by: RatedBy = "judgments") -> Ratings:  # noqa: ARG002
        """Return the published ratings with normal 95% intervals, ranks and tiers.

        Errors of two systems are taken as independent; those not published as ``errors`` has them.
        """
        errors = self.errors
        width = NORMAL_QUANTILE * errors
        is_known = bool(np.isfinite(errors).all())
        assumed = np.isnan(self.standard_errors) & np.isfinite(errors)
        assumed_error = float(errors[assumed].max(initial=0.0))
        table = pd.DataFrame(
            {
                "system": self.systems,
                "rating": self.ratings,
                "low": self.ratings - width,
                "high": self.ratings + width,
                "rank": pd.Series(self.ratings).rank(ascending=False, method="min"),
                **ranks_and_tiers(self.ratings, np.diag(errors**2)),
                **dict.fromkeys(("wins", "losses", "ties"), 0),
                "note": np.where(assumed, ASSUMED.format(assumed_error), ""),
            }
        )
        counted = (int(assumed.sum()), len(self.ratings), assumed_error)
        limits = {
            NO_ERRORS: not is_known,
            SOME_ASSUMED.format(*counted): bool(assumed.any()),
            TOO_MANY: len(self.ratings) > MOST_COMPARED,
        }
        return Ratings(
            table=best_first(table),
            position_effect=None,
            notes=tuple(note for note, is_so in limits.items() if is_so),
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
    size = min(drawn, len(questions))
    random = generator(seed, "published ratings", languages[0])
    draws = bootstrap_weights(len(questions), tournaments, random, size)
    normal = random.normal(size=(tournaments, len(ratings)))
    spread = normal[:, places_by_value(ratings, errors)]
    spread *= np.sqrt(np.nan_to_num(completed_variances(errors**2)))
    return PublishedTournaments(
        battles=Battles.none(rows["system"].tolist(), sorted(questions)),
        draws=draws,
        coefficients=np.round(ratings + spread - spread.mean(axis=0), DECIMALS),
        ties="half",
        dropped_ties=0,
        seed=seed,
        ratings=ratings,
        standard_errors=errors,
    )
