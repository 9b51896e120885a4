"""Ratings of systems from judgments: estimates, intervals, ranks, tiers, and what limits them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from arena.data import __version__
from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import SAME_DECIMALS, generator
from arena.rating.battles import TIE_RULES, Battles, selected_judgments
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior, PenalizedLikelihood, solve
from arena.rating.intervals import MOST_COMPARED, Uncertainty, bootstrap, ranks_and_tiers
from arena.rating.pairs import checked_number
from arena.rating.posterior import battle_posterior

Floats = npt.NDArray[np.float64]

DEFAULT_ROUNDS = 1000
RATING_COLUMNS = (
    *("system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"),
    *("wins", "losses", "ties", "note"),
)
_WHOLE = ("rank", "rank_low", "rank_high", "tier")

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
            losses, ties, note``, best first; unrated systems last. Ratings are logits, centered
            on 0. ``note`` says why a system is unrated, or bounded by the prior only.
        position_effect: Advantage of side A in logits; None where it is not modeled.
        notes: Sentences on what limits the ratings.
        signature: Settings that reproduce them.
    """

    table: pd.DataFrame
    position_effect: float | None
    notes: tuple[str, ...]
    signature: str


def rate(
    judgments: pd.DataFrame | Battles,
    *,
    ties: str = "half",
    position: bool = False,
    ridge: float | None = None,
    rounds: int = DEFAULT_ROUNDS,
    language: str | None = None,
    judge: str | None = None,
    seed: int = 0,
) -> Ratings:
    """Rate the systems that judgments compare.

    By default ratings and intervals are those of ``arena.rating.posterior``, right for few
    questions, and where the outcomes of battles chose others. With a position or a ridge they are
    the maximum of the likelihood and a bootstrap over questions.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id``,
            ``language``, ``judge``; or battles already read.
        ties: ``half`` a win for both, or ``drop``.
        position: Estimate the advantage of side A.
        ridge: Precision of the Gaussian prior; 0 is maximum likelihood. With a position it is 0
            by default where that exists, and 0.1 (with a note) elsewhere. Bootstrap samples
            without a maximum have a prior by themselves.
        rounds: Bootstrap replicates, where there is a bootstrap; 0 for no intervals.
        language: Language to take, where there are several; or ``all``.
        judge: Judge to take, likewise.
        seed: Seed of the resamples.

    Raises:
        UsageError: For an unknown choice, a choice to be made, or fewer than two connected
            systems.
        ConvergenceError: With a given ``ridge`` that leaves the data without maximum.
    """
    checked_choice(ties, TIE_RULES, "tie rule")
    if rounds < 0 or rounds == 1:
        raise UsageError("rounds must be 0 (no intervals) or at least 2")
    everything = (
        judgments
        if isinstance(judgments, Battles)
        else Battles.from_judgments(selected_judgments(judgments, language, judge))
    )
    connected = (everything.decided() if ties == "drop" else everything).largest_group()
    systems = checked_number(len(connected.systems))
    if not position and ridge is None:
        known = battle_posterior(connected)
        spread = Uncertainty(*known.bounds, known.covariance)
        return _ratings(everything, connected, known.ratings, spread, f"ties:{ties}|posterior")
    items = connected.items_by_side if position else connected.items
    points, counts = (total[:, None] for total in items.totals)
    prior = NormalPrior.ridge(systems, ridge or 0.0)
    problem = PenalizedLikelihood(items.pairs, points, counts, prior, position)
    notes: list[str] = []
    with threadpool_limits(1):  # small matrices: threads cost more than they bring
        fit = solve(problem)
        if ridge is None and not fit.converged.all():
            problem = replace(problem, prior=NormalPrior.ridge(systems, DEFAULT_RIDGE))
            fit = solve(problem)
            notes.append(PRIOR_NEEDED)
        fit.checked()
        spread = Uncertainty.unknown(systems)
        if rounds:
            spread = bootstrap(items, problem, fit, rounds, generator(seed, "ratings", "bootstrap"))
    if connected.adaptive:
        notes.append(STRETCHED)
    if rounds and items.n_questions < 2:
        notes.append(ONE_QUESTION)
    if spread.regularized and PRIOR_NEEDED not in notes:
        notes.append(SAMPLES_REGULARIZED.format(f"{spread.regularized:,}", f"{rounds:,}"))
    how = (
        f"ties:{ties}|position:{'yes' if position else 'no'}"
        f"|ridge:{problem.prior.precisions.max(initial=0.0):g}|rounds:{rounds}|seed:{seed}"
    )
    found = _ratings(everything, connected, fit.coefficients[0], spread, how)
    effect = float(fit.parameters[0, -1]) if position else None
    return replace(found, position_effect=effect, notes=(*notes, *found.notes))


def _ratings(
    everything: Battles, connected: Battles, coefficients: Floats, spread: Uncertainty, how: str
) -> Ratings:
    signature = (
        f"bradley-terry|{how}|systems:{len(connected.systems)}"
        f"|battles:{connected.judged}|questions:{connected.n_questions}|version:{__version__}"
    )
    same = pd.Series(coefficients).round(SAME_DECIMALS)
    rated = pd.DataFrame(
        {
            "system": connected.systems,
            "rating": coefficients,
            "low": spread.low,
            "high": spread.high,
            "rank": same.rank(ascending=False, method="min"),
            **ranks_and_tiers(coefficients, spread.covariance, spread.freedom),
        }
    )
    table = everything.records().merge(rated, how="left", on="system")
    reasons = {
        NOT_CONNECTED: table["rating"].isna(),
        ALL_WON: table["losses"] + table["ties"] == 0,
        ALL_LOST: table["wins"] + table["ties"] == 0,
    }
    table["note"] = np.select(list(reasons.values()), list(reasons), "").astype(object)
    outside = len(everything.systems) - len(connected.systems)
    notes = [f"{outside:,} of {len(everything.systems):,} systems are unrated"] if outside else []
    if len(connected.systems) > MOST_COMPARED:
        notes.append(TOO_MANY)
    return Ratings(best_first(table), None, tuple(notes), signature)


def best_first(table: pd.DataFrame) -> pd.DataFrame:
    """Bring ratings to the columns, types and order of ``Ratings.table``."""
    ordered = table[list(RATING_COLUMNS)].astype(dict.fromkeys(_WHOLE, "Int64"))
    return ordered.sort_values(["rank", "system"], kind="stable", ignore_index=True)
