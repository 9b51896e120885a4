"""Tournaments that surrogates are trained on: bootstrapped, or drawn around published ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Literal, Self

import numpy as np
import pandas as pd

from arena.data import __version__
from arena.data.errors import UsageError, checked_choice
from arena.data.types import Flags, Floats, Integers
from arena.data.wording import Remark
from arena.rating.battles import TIE_RULES, Battles, TieRule
from arena.rating.bradley_terry import (
    DEFAULT_RIDGE,
    NormalPrior,
    PenalizedLikelihood,
    around,
    regularize,
    solve,
)
from arena.rating.group_ratings import Method
from arena.rating.intervals import MOST_COMPARED, Uncertainty, rating_rows
from arena.rating.pairs import Pairs, checked_number, connected_groups
from arena.rating.ratings import TOO_MANY, Ratings, best_first, rate_battles
from arena.statistics.bootstrap import (
    bootstrap_weights,
    generator,
    percentile_intervals,
    places_by_value,
)
from arena.statistics.significance import completed_variances, finite_means

DEFAULT_TOURNAMENTS = 200
DEFAULT_QUESTIONS = 100
WEAKEST_RIDGE = 2e-6
"""Precision of the prior if none is wanted but the likelihood has no maximum: that of
``choix.opt_pairwise``, which MIRAGE-Bench's code falls back on where ``ilsr_pairwise`` fails."""
TOURNAMENTS_REGULARIZED = (
    "in {} of {} tournaments the likelihood has no maximum: these have a Gaussian prior of "
    f"precision {WEAKEST_RIDGE:g}, as choix falls back on"
)
RatedBy = Literal["judgments", "tournaments"]
DECIMALS = 8
"""Decimals of coefficients (logits), so that no surrogate learns from rounding errors."""


@dataclass(frozen=True)
class Tournaments:
    """T tournaments of one language, each over questions drawn with replacement.

    Attributes:
        battles: The judgments.
        draws: How often each tournament drew each question, shape (T, Q).
        coefficients: Logits, centered on 0, shape (T, S); NaN where no battle connects the system.
        regularized: Tournaments without a maximum, fitted with ``WEAKEST_RIDGE``.
    """

    battles: Battles
    draws: Integers
    coefficients: Floats
    ties: TieRule
    dropped_ties: int
    seed: int
    regularized: int = field(default=0, kw_only=True)

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the judged systems, sorted by name."""
        return self.battles.systems

    @property
    def mean_coefficients(self) -> Floats:
        """Return the mean over tournaments, shape (S,); NaN if never rated."""
        return finite_means(self.coefficients)

    @property
    def variance(self) -> Floats | None:
        """Return ratings' sampling variance, (S,), if coefficients hide it."""
        return None

    def rate(self, by: RatedBy = "judgments") -> Ratings:
        """Rate the systems, with intervals over 1,000 resamples of questions.

        ``tournaments`` give mean coefficients with percentiles, as in MIRAGE-Bench, tables 7 and 8;
        ranks and tiers are those of all judgments.
        """
        method = Method(ties=self.ties, seed=self.seed)
        rated = rate_battles(self.battles, method, largest_only=True)
        if by == "judgments":
            return rated
        low, high = percentile_intervals(self.coefficients)
        means = pd.DataFrame(
            {"system": self.systems, "rating": self.mean_coefficients, "low": low, "high": high}
        )
        means["rank"] = means["rating"].rank(ascending=False, method="min")
        records = rated.table.drop(columns=["rating", "low", "high", "rank"])
        return replace(rated, table=best_first(records.merge(means, on="system")))

    def first(self, count: int) -> Self:
        """Keep the first tournaments."""
        return self._part(slice(count))

    def single(self, index: int) -> Self:
        """Keep one tournament."""
        return self._part(slice(index, index + 1))

    def _part(self, rows: slice) -> Self:
        return replace(self, draws=self.draws[rows], coefficients=self.coefficients[rows])

    def without(self, systems: Sequence[str]) -> Self:
        """Drop systems and their battles, without another fit."""
        is_left = ~np.isin(self.systems, list(systems))
        names = list(compress(self.systems, is_left))
        return replace(
            self, battles=self.battles.among(names), coefficients=self.coefficients[:, is_left]
        )


def bootstrap_tournaments(
    judgments: pd.DataFrame | Battles,
    tournaments: int = DEFAULT_TOURNAMENTS,
    questions: int = DEFAULT_QUESTIONS,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
    language: str = "",
) -> Tournaments:
    """Bootstrap tournaments over questions and fit each (MIRAGE-Bench, Algorithm 1).

    No more than the judged questions are drawn each time. ``language`` keys the draws of battles.
    """
    if tournaments < 1 or questions < 1:
        raise UsageError("tournaments and questions must be at least 1")
    if isinstance(judgments, pd.DataFrame):
        languages = sorted(judgments["language"].unique())
        if len(languages) > 1:
            raise UsageError(f"one language at a time, not {', '.join(languages)}")
        judgments = Battles.from_judgments(judgments)
        language = languages[0]
    checked_choice(ties, TIE_RULES, "tie rule")
    battles = judgments.counted(ties)
    checked_number(len(battles.systems))
    random = generator(seed, "tournaments", language)
    n_drawn = min(questions, battles.n_questions)
    draws = bootstrap_weights(battles.n_questions, tournaments, random, n_drawn)
    coefficients, regularized = fit_coefficients(battles, draws, ridge)
    return Tournaments(
        battles=battles,
        draws=draws,
        coefficients=coefficients,
        ties=ties,
        dropped_ties=judgments.judged - battles.judged,
        seed=seed,
        regularized=regularized,
    )


def fit_coefficients(battles: Battles, draws: Integers, ridge: float) -> tuple[Floats, int]:
    """Fit every tournament; ``draws`` holds each question's number, shape (T, Q).

    With ``ridge`` 0, those without a maximum, which are counted, have ``WEAKEST_RIDGE``.
    """
    items = battles.items
    prior = NormalPrior.ridge(len(battles.systems), ridge)
    fits = []
    n_regularized = 0
    start = None
    # A single block starts from its own mean; several share a start, so that blocks do not matter.
    if len(draws) > items.block:
        points, counts = (total[:, None] for total in items.totals)
        start = around(PenalizedLikelihood(items.pairs, points, counts, prior))
    for points, counts in items.in_blocks(draws):
        problem = PenalizedLikelihood(items.pairs, points, counts, prior)
        fit = solve(problem, start)
        if not ridge:
            n_regularized += regularize(fit, problem, WEAKEST_RIDGE)
        fitted = fit.checked().coefficients
        fits.append(np.where(_is_connected(items.pairs, counts.T), fitted, np.nan))
    coefficients = np.concatenate(fits)
    # A tournament in which nobody is rated stays NaN.
    centered = coefficients - finite_means(coefficients.T)[:, None]
    return np.asarray(np.round(centered, DECIMALS)), n_regularized


def _is_connected(pairs: Pairs, counts: Floats) -> Flags:
    """Return who is in the largest group of all battles and of each tournament's, (T, S)."""
    totals = counts.sum(axis=0)
    groups = connected_groups(pairs.first, pairs.second, pairs.n_systems, battles=totals)
    is_connected = np.tile(groups == 0, (len(counts), 1))
    # Tournaments in which all pairs met have the groups of all battles.
    for tournament in np.flatnonzero((counts == 0).any(axis=1)):
        has_met = counts[tournament] > 0
        groups = connected_groups(
            pairs.first[has_met],
            pairs.second[has_met],
            pairs.n_systems,
            battles=counts[tournament][has_met],
        )
        is_connected[tournament] &= groups == 0
    return is_connected


NO_ERRORS = Remark(
    "published",
    "warning",
    "ratings are published without standard errors: they count as exact, with ranks without "
    "intervals, and no tiers",
)
ASSUMED = "no standard error is published: {:.3g}, the median of the others', is assumed"
SOME_ASSUMED = (
    "{} of {} ratings are published without a standard error: {:.3g}, the median of the others', "
    "is assumed"
)


@dataclass(frozen=True)
class PublishedTournaments(Tournaments):
    """A parametric bootstrap of published ratings: independent normals about these, (S,).

    ``standard_errors``, (S,), are NaN where none is published.
    """

    ratings: Floats
    standard_errors: Floats

    @property
    def mean_coefficients(self) -> Floats:
        """Return the published ratings, shape (S,)."""
        return self.ratings

    @property
    def variance(self) -> Floats:
        """Return the ratings' sampling variance, shape (S,); NaN where not known."""
        return self.standard_errors**2

    @property
    def errors(self) -> Floats:
        """Return standard errors as published or assumed, shape (S,)."""
        return np.sqrt(completed_variances(self.variance))

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
        """Return published ratings with normal 90% intervals (errors independent) and ranks."""
        errors = self.errors
        is_assumed = np.isnan(self.standard_errors) & np.isfinite(errors)
        n_assumed = int(is_assumed.sum())
        assumed_error = float(errors[is_assumed].max(initial=0.0))
        covariance = np.diag(errors**2)
        uncertainty = Uncertainty.normal(self.ratings, covariance)
        table = rating_rows(self.systems, self.ratings, uncertainty).assign(
            wins=0,
            losses=0,
            ties=0,
            note=np.where(is_assumed, ASSUMED.format(assumed_error), ""),
        )
        remarks = []
        if not np.isfinite(errors).all():
            remarks.append(NO_ERRORS)
        if n_assumed:
            sentence = SOME_ASSUMED.format(n_assumed, len(self.ratings), assumed_error)
            remarks.append(Remark("published", "warning", sentence))
        if len(self.ratings) > MOST_COMPARED:
            remarks.append(TOO_MANY)
        return Ratings(
            table=best_first(table),
            remarks=tuple(remarks),
            signature=f"published|systems:{len(table)}|seed:{self.seed}|version:{__version__}",
            covariance=pd.DataFrame(covariance, self.systems, self.systems),
        )


def published_tournaments(
    published: pd.DataFrame,
    questions: Sequence[str],
    tournaments: int,
    drawn: int,
    seed: int = 0,
) -> PublishedTournaments:
    """Draw ``tournaments`` of ``drawn`` questions around one language's published ratings."""
    rows = published.sort_values("system")
    ratings = rows["rating"].to_numpy(np.float64).round(DECIMALS)
    errors = rows["standard_error"].to_numpy(np.float64)
    n_drawn = min(drawn, len(questions))
    random = generator(seed, "published ratings", rows["language"].iloc[0])
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
