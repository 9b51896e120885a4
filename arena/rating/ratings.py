"""Ratings of systems from judgments: estimates, intervals, ranks, tiers, and what limits them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from arena.data import __version__
from arena.data.cells import is_true
from arena.data.errors import UsageError, checked_choice
from arena.data.judgments import copies_of_others
from arena.data.schema import BOTH_BAD
from arena.data.seeds import SAME_DECIMALS, generator
from arena.data.systems import alike
from arena.data.types import Floats
from arena.data.wording import count_of
from arena.rating.battles import TIE_RULES, Battles, selected_judgments
from arena.rating.bradley_terry import (
    DEFAULT_RIDGE,
    BradleyTerryFit,
    NormalPrior,
    PenalizedLikelihood,
    solve,
)
from arena.rating.intervals import MOST_COMPARED, Uncertainty, bootstrap, ranks_and_tiers
from arena.rating.pairs import checked_number
from arena.rating.posterior import battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments, learn_temperatures, temperature_notes

DEFAULT_ROUNDS = 1000
RATING_COLUMNS = (
    "system",
    "rating",
    "low",
    "high",
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "wins",
    "losses",
    "ties",
    "group",
    "note",
)

TOO_MANY = f"rank intervals and tiers compare all pairs: not done above {MOST_COMPARED:,} systems"
NOT_CONNECTED = "no battles connect it with the largest group of systems: not on one scale"
ALL_WON = "wins every battle; its rating is bounded by the prior only"
ALL_LOST = "loses every battle; its rating is bounded by the prior only"
PRIOR_NEEDED = (
    "the likelihood has no maximum (some systems win or lose all, say): "
    f"a Gaussian prior of precision {DEFAULT_RIDGE:g} keeps ratings finite"
)
STRETCHED = (
    "pairs were chosen by the verdicts on others: ratings are stretched, and intervals too narrow, "
    "unless they are the posterior's"
)
APART = (
    "the systems fall into {} groups that never met: each is rated on a scale of its own, and "
    "ratings and ranks of two groups cannot be compared"
)
EFFECT_OF_LARGEST = "the advantage of side A is that of the largest group"
EFFECT_WITHOUT_MAXIMUM = (
    "the advantage of side A has no maximum of the likelihood (one side wins nearly always): "
    f"a Gaussian prior of precision {DEFAULT_RIDGE:g} keeps it finite"
)
ALL_SAMPLES_ALIKE = (
    "there are no intervals: all bootstrap samples give the same ratings, as the verdicts on "
    "all questions agree; the default method, without `ridge` and `position`, has intervals"
)
SOME_SAMPLES_ALIKE = "a rating that is the same in all bootstrap samples has no interval"
ONE_QUESTION = "all verdicts are on one question: there is nothing to resample, and no interval"
SAMPLES_REGULARIZED = (
    "in {} of {} bootstrap samples the likelihood has no maximum: these have a Gaussian prior of "
    f"precision {DEFAULT_RIDGE:g}; the ratings themselves have none"
)


@dataclass(frozen=True)
class Ratings:
    """Rated systems.

    Attributes:
        table: Columns ``system, rating, low, high, rank, rank_low, rank_high, tier, wins,
            losses, ties, group, note``, best first; unrated systems last. Ratings are logits,
            centered on 0 in each ``group`` of systems that battles connect, of which 1 is the
            largest; those of two groups cannot be compared. ``note`` says why a system is unrated,
            or bounded by the prior only.
        position_effect: Advantage of side A in logits; None where it is not modeled.
        notes: Sentences on what limits the ratings.
        signature: Settings that reproduce them.
    """

    table: pd.DataFrame
    position_effect: float | None
    notes: tuple[str, ...]
    signature: str


class RatingOptions(TypedDict, total=False):
    """How ratings are estimated; see ``rate_battles`` for the defaults.

    Attributes:
        ties: ``half`` a win for both, or ``drop``.
        position: Estimate the advantage of side A.
        ridge: Precision of the Gaussian prior; 0 is maximum likelihood. With a position it is 0
            by default where that exists, and 0.1 (with a note) elsewhere. Bootstrap samples
            without a maximum have a prior by themselves.
        rounds: Bootstrap replicates, where there is a bootstrap; 0 for no intervals.
        seed: Seed of the resamples.
    """

    ties: str
    position: bool
    ridge: float | None
    rounds: int
    seed: int


def rate(
    judgments: pd.DataFrame | Battles,
    *,
    language: str | None = None,
    judge: str | None = None,
    hard_verdicts: bool = False,
    **options: Unpack[RatingOptions],
) -> Ratings:
    """Rate the systems that judgments compare.

    By default ratings and intervals are those of ``arena.rating.posterior``, right for few
    questions, and where the outcomes of battles chose others. With a position or a ridge they are
    the maximum of the likelihood and a bootstrap over questions.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id``,
            ``language``, ``judge``, ``probability_a`` and ``probability_b``; or battles already
            read.
        language: Language to take, where there are several; or ``all``.
        judge: Judge to take, where there are several; or ``all``.
        hard_verdicts: Count the winner alone, where judgments have probabilities. By default these
            count, at a temperature (``arena.rating.soft_verdicts``).
        options: ``ties="half"`` (or ``drop``), ``position=False``, ``ridge=None``,
            ``rounds=1000`` and ``seed=0``; see ``RatingOptions``.

    Raises:
        UsageError: For an unknown choice, a choice to be made, or fewer than two connected
            systems.
        ConvergenceError: With a given ``ridge`` that leaves the data without maximum.
    """
    if isinstance(judgments, Battles):
        return rate_battles(judgments, **options)
    # All judges first: the votes of people tell the temperatures of the others.
    temperatures = () if hard_verdicts else learn_temperatures(judgments)
    counted = calibrated_judgments(judgments, temperatures, hard=hard_verdicts)
    selected = selected_judgments(counted, language, judge)
    copies = int(copies_of_others(selected).sum())
    rated = rate_battles(Battles.from_judgments(selected), **options)
    notes = list(rated.notes)
    if copies:
        notes.append(copies_note(copies))
    notes += judgment_notes(selected)
    notes += temperature_notes(temperatures, selected)
    notes += name_notes(rated.table["system"])
    return replace(rated, notes=tuple(notes))


def rate_battles(
    battles: Battles,
    *,
    ties: str = "half",
    position: bool = False,
    ridge: float | None = None,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = 0,
    largest_only: bool = False,
) -> Ratings:
    """Rate the systems of battles, each group that battles connect on a scale of its own.

    Args:
        battles: The battles.
        ties: As in ``RatingOptions``; so are the others up to ``seed``.
        position: Estimate the advantage of side A.
        ridge: Precision of the Gaussian prior.
        rounds: Bootstrap replicates.
        seed: Seed of the resamples.
        largest_only: Leave all but the largest group without a rating.

    Raises:
        UsageError: For an unknown choice, or without two systems that met.
        ConvergenceError: With a given ``ridge`` that leaves the data without maximum.
    """
    checked_choice(ties, TIE_RULES, "tie rule")
    if rounds < 0 or rounds == 1:
        raise UsageError("rounds must be 0 (no intervals) or at least 2")
    method = _Method(ties, position, ridge, rounds, seed)
    counted = battles.decided() if ties == "drop" else battles
    groups = counted.groups()
    if largest_only or not groups:
        groups = [counted.largest_group()]
    for group in groups:
        checked_number(len(group.systems))
    rated = [_rate_group(group, method) for group in groups]
    table = _table(battles, groups, rated)
    # Without duplicates, in the order in which they first appear.
    notes = list(dict.fromkeys(chain.from_iterable(ratings.notes for ratings in rated)))
    if len(groups) > 1:
        notes.insert(0, APART.format(f"{len(groups):,}"))
        if position:
            notes.insert(1, EFFECT_OF_LARGEST)
    unrated = int(table["rating"].isna().sum())
    if unrated:
        notes.append(f"{unrated:,} of {len(battles.systems):,} systems are unrated")
    if any(len(group.systems) > MOST_COMPARED for group in groups):
        notes.append(TOO_MANY)
    n_systems = sum(len(group.systems) for group in groups)
    n_battles = sum(group.judged for group in groups)
    n_questions = groups[0].n_questions
    if len(groups) > 1:
        # Groups may share questions, which count once.
        n_questions = counted.on_battled_questions().n_questions
    signature = (
        f"bradley-terry|{rated[0].signature}|systems:{n_systems}"
        f"|battles:{n_battles}|questions:{n_questions}|version:{__version__}"
    )
    return Ratings(table, rated[0].position_effect, tuple(notes), signature)


@dataclass(frozen=True)
class _Method:
    """How a group is rated; see ``rate``."""

    ties: str
    position: bool
    ridge: float | None
    rounds: int
    seed: int


@dataclass(frozen=True)
class _GroupRatings:
    """Ratings of one group of systems that battles connect; ``signature`` names the method."""

    coefficients: Floats
    uncertainty: Uncertainty
    signature: str
    position_effect: float | None = None
    notes: tuple[str, ...] = ()


def _rate_group(battles: Battles, method: _Method) -> _GroupRatings:
    if not method.position and method.ridge is None:
        posterior = battle_posterior(battles)
        uncertainty = Uncertainty(*posterior.bounds, posterior.covariance)
        return _GroupRatings(posterior.ratings, uncertainty, f"ties:{method.ties}|posterior")
    systems = len(battles.systems)
    items = battles.items_by_side if method.position else battles.items
    points, counts = (total[:, None] for total in items.totals)
    prior = NormalPrior.ridge(systems, method.ridge or 0.0)
    problem = PenalizedLikelihood(items.pairs, points, counts, prior, method.position)
    # The matrices are small: threads cost more time than they save.
    with threadpool_limits(1):
        problem, fit = _fit_with_priors(problem, may_add_ridge=method.ridge is None)
        uncertainty = Uncertainty.unknown(systems)
        if method.rounds:
            random = generator(method.seed, "ratings", "bootstrap")
            uncertainty = bootstrap(items, problem, fit, method.rounds, random)
    signature = (
        f"ties:{method.ties}|position:{'yes' if method.position else 'no'}"
        f"|ridge:{problem.prior.precisions.max(initial=0.0):g}"
        f"|rounds:{method.rounds}|seed:{method.seed}"
    )
    effect = float(fit.parameters[0, -1]) if method.position else None
    notes = tuple(_group_notes(battles, method, problem, uncertainty))
    return _GroupRatings(fit.coefficients[0], uncertainty, signature, effect, notes)


def _group_notes(
    battles: Battles, method: _Method, problem: PenalizedLikelihood, uncertainty: Uncertainty
) -> Iterator[str]:
    """Note which priors a group's ratings needed, and what their intervals leave out."""
    has_added_ridge = method.ridge is None and bool(problem.prior.precisions.any())
    if has_added_ridge:
        yield PRIOR_NEEDED
    if problem.position_precision:
        yield EFFECT_WITHOUT_MAXIMUM
    if battles.adaptive:
        yield STRETCHED
    # There is nothing to resample.
    if method.rounds and battles.n_questions < 2:
        yield ONE_QUESTION
    if uncertainty.constant is not None and uncertainty.constant.any():
        yield ALL_SAMPLES_ALIKE if uncertainty.constant.all() else SOME_SAMPLES_ALIKE
    if uncertainty.regularized and not has_added_ridge:
        n_regularized = f"{uncertainty.regularized:,}"
        yield SAMPLES_REGULARIZED.format(n_regularized, f"{method.rounds:,}")


def _fit_with_priors(
    problem: PenalizedLikelihood, *, may_add_ridge: bool
) -> tuple[PenalizedLikelihood, BradleyTerryFit]:
    """Fit with the fewest weak priors that give the likelihood a maximum.

    Raises:
        ConvergenceError: If there is no maximum with any prior that may be added.
    """
    ridge = NormalPrior.ridge(problem.pairs.n_systems, DEFAULT_RIDGE)
    attempts = [problem]
    if may_add_ridge:
        attempts.append(replace(problem, prior=ridge))
    if problem.position:
        attempts += [replace(attempt, position_precision=DEFAULT_RIDGE) for attempt in attempts]
    for attempt in attempts:
        fit = solve(attempt)
        if fit.converged.all():
            return attempt, fit
    return attempts[-1], solve(attempts[-1]).checked()


def _table(
    battles: Battles, groups: Sequence[Battles], rated: Sequence[_GroupRatings]
) -> pd.DataFrame:
    """Join the ratings of all groups, and add the records of all systems."""
    parts = []
    for number, (group, ratings) in enumerate(zip(groups, rated, strict=True), start=1):
        coefficients = ratings.coefficients
        uncertainty = ratings.uncertainty
        # Rounding errors must not rank systems of equal ratings.
        rounded = pd.Series(coefficients).round(SAME_DECIMALS)
        part = pd.DataFrame(
            {
                "system": group.systems,
                "rating": coefficients,
                "low": uncertainty.low,
                "high": uncertainty.high,
                "rank": rounded.rank(ascending=False, method="min"),
                "group": number,
            }
        )
        bounds = ranks_and_tiers(coefficients, uncertainty.covariance, uncertainty.freedom)
        parts.append(part.assign(**bounds))
    table = battles.records().merge(pd.concat(parts), how="left", on="system")
    reasons = {
        NOT_CONNECTED: table["rating"].isna(),
        ALL_WON: table["losses"] + table["ties"] == 0,
        ALL_LOST: table["wins"] + table["ties"] == 0,
    }
    table["note"] = np.select(list(reasons.values()), list(reasons), "").astype(object)
    return best_first(table)


def copies_note(copies: int) -> str:
    """Note how many judgments are exact copies, which count once."""
    return f"{count_of(copies, 'judgment')} left out: exact copies of others by the same judge"


def name_notes(systems: Iterable[str]) -> list[str]:
    """Note names of systems that look like another's."""
    pairs = [f"{first!a} and {name!a}" for first, name in alike(systems)]
    if not pairs:
        return []
    n_shown = 5
    listed = "; ".join(pairs[:n_shown])
    if len(pairs) > n_shown:
        listed += f"; and {len(pairs) - n_shown:,} more"
    return [f"names look alike, and are of two systems: {listed}"]


def judgment_notes(judgments: pd.DataFrame) -> list[str]:
    """Note facts about judgments that ratings do not show.

    Args:
        judgments: An arena's ``judgments``, of one judge or several.
    """
    notes: list[str] = []
    if BOTH_BAD in judgments and len(judgments):
        bad = int(is_true(judgments[BOTH_BAD]).sum())
        share = bad / len(judgments)
        if bad:
            notes.append(
                f"in {count_of(bad, 'judgment')} of {len(judgments):,} ({share:.0%}) neither "
                "answer is good: ratings take these as ties"
            )
    return notes


def best_first(table: pd.DataFrame) -> pd.DataFrame:
    """Return ratings in the columns, types and order of ``Ratings.table``."""
    grouped = table if "group" in table else table.assign(group=1)
    # Nullable integers: unrated systems have no rank.
    whole = dict.fromkeys(("rank", "rank_low", "rank_high", "tier", "group"), "Int64")
    ordered = grouped[list(RATING_COLUMNS)].astype(whole)
    return ordered.sort_values(["group", "rank", "system"], kind="stable", ignore_index=True)
