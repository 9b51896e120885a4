"""Published ratings in the place of judgments: tournaments and ratings, drawn around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator, places_by_value
from arena.data.version import __version__
from arena.rating.battles import Battles, TieRule
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.intervals import DRAWS
from arena.rating.ratings import MOST_COMPARED, TOO_MANY, Ratings, best_first, ranks_and_tiers
from arena.rating.tournaments import (
    DECIMALS,
    DEFAULT_QUESTIONS,
    DEFAULT_TOURNAMENTS,
    RatedBy,
    Tournaments,
)
from arena.statistics.bootstrap import bootstrap_weights
from arena.statistics.significance import NORMAL_QUANTILE

Floats = npt.NDArray[np.float64]

NO_ERRORS = (
    "ratings are published without the standard error of every system: ranks without intervals, "
    "and no tiers"
)


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
        """Sampling variance of each rating, shape (S,); 0 where it is not known."""
        return np.asarray(np.nan_to_num(self.standard_errors) ** 2)

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

        Errors of two systems are taken as independent.

        Args:
            by: Not used: there are no judgments, and tournaments are drawn around the ratings.
        """
        width = NORMAL_QUANTILE * self.standard_errors
        random = generator(self.seed, "ratings", "published")
        is_known = bool(np.isfinite(self.standard_errors).all())
        draws = random.normal(size=(DRAWS if is_known else 0, len(self.ratings)))
        draws = draws[:, places_by_value(self.ratings, self.standard_errors)]
        table = pd.DataFrame(
            {
                "system": self.systems,
                "rating": self.ratings,
                "low": self.ratings - width,
                "high": self.ratings + width,
                "rank": pd.Series(self.ratings).rank(ascending=False, method="min"),
                **ranks_and_tiers(self.ratings, self.ratings + self.standard_errors * draws),
                **dict.fromkeys(("wins", "losses", "ties"), 0),
                "note": "",
            }
        )
        limits = {NO_ERRORS: not is_known, TOO_MANY: len(self.ratings) > MOST_COMPARED}
        return Ratings(
            table=best_first(table),
            tie_parameter=None,
            position_effect=None,
            controls=pd.DataFrame(columns=["control", "effect", "low", "high"]),
            notes=tuple(note for note, is_so in limits.items() if is_so),
            signature=f"published|systems:{len(table)}|seed:{self.seed}|version:{__version__}",
        )


def published_tournaments(
    published: pd.DataFrame,
    questions: Sequence[str],
    tournaments: int = DEFAULT_TOURNAMENTS,
    drawn: int = DEFAULT_QUESTIONS,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> PublishedTournaments:
    """Draw tournaments around published ratings.

    Args:
        published: Columns ``language, system, rating, standard_error`` (logits; NaN without an
            error); of one language and one judge.
        questions: Query ids of the questions that the systems answered.
        tournaments: Number of tournaments N_t.
        drawn: Questions drawn with replacement for each tournament, at most as many as there are.
        ties: Noted only: there are no judgments.
        ridge: Likewise.
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
    spread = normal[:, places_by_value(ratings, errors)] * np.nan_to_num(errors)
    return PublishedTournaments(
        battles=Battles.none(rows["system"].tolist(), sorted(questions)),
        draws=draws,
        coefficients=np.round(ratings + spread - spread.mean(axis=0), DECIMALS),
        questions_per_tournament=size,
        ties=ties,
        dropped_ties=0,
        ridge=ridge,
        seed=seed,
        ratings=ratings,
        standard_errors=errors,
    )
