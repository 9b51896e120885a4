"""Ratings of systems from judgments: estimates, intervals, ranks, tiers, and what limits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import generator
from arena.data.version import __version__
from arena.data.wording import count_of
from arena.rating.battle_files import selected_judgments
from arena.rating.battles import TIE_RULES, Battles
from arena.rating.bradley_terry import (
    DEFAULT_RIDGE,
    TIE_MODELS,
    BradleyTerryFit,
    ConvergenceError,
    checked_ridge,
)
from arena.rating.controls import style_differences
from arena.rating.intervals import (
    RatingModel,
    Uncertainty,
    bootstrap,
    rank_intervals,
    sandwich,
    tiers,
)
from arena.rating.posterior import battle_posterior
from arena.statistics.significance import NORMAL_QUANTILE

Floats = npt.NDArray[np.float64]

INTERVALS = ("bootstrap", "bca", "sandwich", "posterior", "none")
SCALES = ("logit", "elo")
ELO_UNIT = 400 / np.log(10)
ELO_CENTER = 1000.0
DEFAULT_ROUNDS = 1000
RATING_COLUMNS = (
    *("system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"),
    *("wins", "losses", "ties", "note"),
)
_WHOLE = ("rank", "rank_low", "rank_high", "tier")

MOST_COMPARED = 1_500
TOO_MANY = f"rank intervals and tiers compare all pairs: not done above {MOST_COMPARED:,} systems"
NOT_CONNECTED = "no battles connect it with the largest group of systems: not on one scale"
ALL_WON = "wins every battle; its rating is bounded by the prior only"
ALL_LOST = "loses every battle; its rating is bounded by the prior only"
PRIOR_NEEDED = (
    "the likelihood has no maximum (some systems win or lose all, say): "
    f"a Gaussian prior of precision {DEFAULT_RIDGE:g} keeps ratings finite"
)
NO_TIES = (
    "no tie was judged: the likelihood is highest where the tie parameter is 0, which is the model "
    "without one (Bradley and Terry's)"
)
CHOSEN_BY_OUTCOMES = (
    "pairs were chosen by the verdicts on others: ratings and intervals are the posterior of these"
)
STRETCHED = (
    "pairs were chosen by the verdicts on others: ratings are stretched, and intervals too narrow, "
    "unless they are the posterior's"
)
SAMPLES_REGULARIZED = (
    "in {} of {} bootstrap samples the likelihood has no maximum: these have a Gaussian prior of "
    f"precision {DEFAULT_RIDGE:g}; the ratings themselves have none"
)


@dataclass(frozen=True)
class Ratings:
    """Rated systems.

    Attributes:
        table: Columns ``system, rating, low, high, rank, rank_low, rank_high, tier, wins,
            losses, ties, note``, best first; unrated systems last. ``note`` says why a system is
            unrated, or bounded by the prior only.
        tie_parameter: Davidson's nu or Rao and Kupper's eta, both 0 where no tie was judged; None
            without a model of ties.
        position_effect: Advantage of side A in logits; None where it is not modeled.
        controls: Columns ``control, effect, low, high``: the logits that one standard deviation
            of difference in style brings; empty without controls.
        notes: Sentences on what limits the ratings.
        signature: Settings that reproduce them.
    """

    table: pd.DataFrame
    tie_parameter: float | None
    position_effect: float | None
    controls: pd.DataFrame
    notes: tuple[str, ...]
    signature: str


def rate(
    judgments: pd.DataFrame | Battles,
    *,
    ties: str = "half",
    position: bool = False,
    controls: Sequence[str] = (),
    answers: pd.DataFrame | None = None,
    interval: str | None = None,
    rounds: int = DEFAULT_ROUNDS,
    scale: str = "logit",
    ridge: float | None = None,
    language: str | None = None,
    judge: str | None = None,
    seed: int = 0,
) -> Ratings:
    """Rate the systems that judgments compare.

    The ratings do not depend on how their intervals are made, but for ``posterior``: they are of
    maximum likelihood where that exists.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id``,
            ``language``, ``judge``; or battles already read.
        ties: ``half``, ``drop``, ``davidson`` or ``rao-kupper``.
        position: Estimate the advantage of side A.
        controls: Rate at equal style: some of ``length``, ``citations``, ``markup``; judgments
            of which an answer is absent are left out.
        answers: Columns ``query_id, language, system, answer``, for ``controls``.
        interval: ``bootstrap`` over questions (percentile), ``bca`` (bias-corrected and
            accelerated), ``sandwich`` (clustered by question), ``posterior`` (ratings and
            intervals by ``arena.rating.posterior``, right where the outcomes of battles chose
            others) or ``none``; by default ``posterior`` where judgments were chosen so, else
            ``bootstrap``.
        rounds: Bootstrap replicates.
        scale: ``logit`` (centered on 0) or ``elo`` (400 points a factor of ten in odds,
            centered on 1000).
        ridge: Precision of the Gaussian prior; by default 0 where the maximum likelihood exists,
            and 0.1 (with a note) elsewhere. Bootstrap samples without one have it by themselves.
        language: Language to take, where there are several; or ``all``.
        judge: Judge to take, likewise.
        seed: Seed of the resamples.

    Raises:
        UsageError: For an unknown choice, a choice to be made, or fewer than two connected
            systems.
        ConvergenceError: With a given ``ridge`` that leaves the data without maximum.
    """
    checked_choice(ties, TIE_MODELS, "tie rule")
    checked_choice(interval or INTERVALS[0], INTERVALS, "interval")
    checked_choice(scale, SCALES, "scale")
    if rounds < 2:
        raise UsageError("rounds must be at least 2")
    notes: list[str] = []
    if isinstance(judgments, Battles):
        everything = judgments
    else:
        chosen = selected_judgments(judgments, language, judge)
        everything = _battles(chosen, controls, answers, notes)
    connected = (everything.decided() if ties == "drop" else everything).largest_group()
    plain = not position and not controls and ties in TIE_RULES and ridge is None
    if interval is None:
        interval = "posterior" if connected.adaptive and plain else "bootstrap"
    if interval == "posterior" and not plain:
        raise UsageError("a posterior has no position, controls, ridge or model of ties; drop them")
    counts = connected.count(by_side=position)
    lacks_ties = ties not in TIE_RULES and not counts.totals.ties.any()
    model = RatingModel(counts, "half" if lacks_ties else ties, position)
    with threadpool_limits(1):  # small matrices: threads cost more than they bring
        model, fit = _fit(model, ridge)
        random = generator(seed, "ratings", interval)
        if interval == "posterior":
            model, fit, spread = _by_posterior(model, fit, connected, rounds, random)
        else:
            spread = _uncertainty(model, fit.parameters[0], interval, rounds, random)
    if connected.adaptive:
        notes.append(CHOSEN_BY_OUTCOMES if interval == "posterior" else STRETCHED)
    notes += _remarks(
        everything, connected, spread, rounds, is_prior_own=ridge is None and bool(model.ridge)
    )
    if lacks_ties:
        notes.append(NO_TIES)
    asked = replace(model, ties=ties)
    return Ratings(
        table=_table(everything, connected, fit, spread, scale),
        tie_parameter=0.0 if lacks_ties else _tie_parameter(fit),
        position_effect=float(fit.effects[0, 0]) if position else None,
        controls=_controls_table(controls, fit, spread),
        notes=tuple(notes),
        signature=_signature(asked, interval, rounds, scale, seed, connected, controls),
    )


def _by_posterior(
    model: RatingModel,
    fit: BradleyTerryFit,
    battles: Battles,
    draws: int,
    random: np.random.Generator,
) -> tuple[RatingModel, BradleyTerryFit, Uncertainty]:
    """Put the posterior's ratings and intervals in the place of a fit's."""
    known = battle_posterior(battles)
    spread = Uncertainty(known.draws(random, draws), *known.bounds, np.full(0, np.nan))
    fit = replace(fit, coefficients=known.ratings[None], ridge=0.0)
    return replace(model, ridge=0.0), fit, spread


def _remarks(
    everything: Battles,
    connected: Battles,
    spread: Uncertainty,
    rounds: int,
    *,
    is_prior_own: bool,
) -> Iterator[str]:
    """Say who is unrated, where a prior was needed, and what was not compared."""
    outside = len(everything.systems) - len(connected.systems)
    if outside:
        yield f"{outside:,} of {len(everything.systems):,} systems are unrated"
    if is_prior_own:
        yield PRIOR_NEEDED
    elif spread.regularized:
        yield SAMPLES_REGULARIZED.format(f"{spread.regularized:,}", f"{rounds:,}")
    if len(connected.systems) > MOST_COMPARED:
        yield TOO_MANY


def _tie_parameter(fit: BradleyTerryFit) -> float | None:
    return None if fit.tie_parameter is None else float(fit.tie_parameter[0])


def _battles(
    judgments: pd.DataFrame,
    controls: Sequence[str],
    answers: pd.DataFrame | None,
    notes: list[str],
) -> Battles:
    if not controls:
        return Battles.from_judgments(judgments)
    if answers is None:
        raise UsageError("controls of style need the answers")
    values, both = style_differences(judgments, answers, controls)
    if not both.all():
        notes.append(f"{count_of((~both).sum(), 'judgment')} of absent answers left out")
    return Battles.from_judgments(judgments[both], values)


def _fit(model: RatingModel, ridge: float | None) -> tuple[RatingModel, BradleyTerryFit]:
    """Fit with the prior asked for; by default without one, unless there is no maximum."""
    if ridge is not None:
        asked = replace(model, ridge=checked_ridge(ridge))
        return asked, asked.fit()
    if model.counts.is_strongly_connected:
        try:
            return model, model.fit()
        except ConvergenceError:  # such as a model of ties where all are
            pass
    regular = replace(model, ridge=DEFAULT_RIDGE)
    return regular, regular.fit()


def _uncertainty(
    model: RatingModel,
    parameters: Floats,
    interval: str,
    rounds: int,
    random: np.random.Generator,
) -> Uncertainty:
    if interval == "sandwich":
        return sandwich(model, parameters, random)
    if interval != "none":
        return bootstrap(model, parameters, rounds, random, bca=interval == "bca")
    systems = model.counts.pairs.n_systems
    unknown = np.full(systems, np.nan)
    effects = np.full(model.covariates.shape[1], np.nan)
    return Uncertainty(np.empty((0, systems)), unknown, unknown, effects)


def _controls_table(
    names: Sequence[str], fit: BradleyTerryFit, spread: Uncertainty
) -> pd.DataFrame:
    effects = fit.effects[0][fit.effects.shape[1] - len(names) :]
    width = NORMAL_QUANTILE * spread.effect_errors[len(spread.effect_errors) - len(names) :]
    return pd.DataFrame(
        {"control": list(names), "effect": effects, "low": effects - width, "high": effects + width}
    )


def _table(
    everything: Battles,
    connected: Battles,
    fit: BradleyTerryFit,
    spread: Uncertainty,
    scale: str,
) -> pd.DataFrame:
    unit, center = (ELO_UNIT, ELO_CENTER) if scale == "elo" else (1.0, 0.0)
    coefficients = fit.coefficients[0]
    rated = pd.DataFrame(
        {
            "system": connected.systems,
            "rating": center + unit * coefficients,
            "low": center + unit * spread.low,
            "high": center + unit * spread.high,
            "rank": pd.Series(coefficients).rank(ascending=False, method="min"),
            **ranks_and_tiers(coefficients, spread.replicates),
        }
    )
    table = everything.records().merge(rated, how="left", on="system")
    return best_first(table.assign(note=_notes(table, fit.ridge)))


def best_first(table: pd.DataFrame) -> pd.DataFrame:
    """Bring ratings to the columns, types and order of ``Ratings.table``."""
    ordered = table[list(RATING_COLUMNS)].astype(dict.fromkeys(_WHOLE, "Int64"))
    return ordered.sort_values(["rank", "system"], kind="stable", ignore_index=True)


def _notes(table: pd.DataFrame, ridge: float) -> npt.NDArray[np.object_]:
    """Say why a system is unrated, or its rating rests on the prior."""
    is_bounded = ridge > 0
    reasons = {
        NOT_CONNECTED: table["rating"].isna(),
        ALL_WON: is_bounded & (table["losses"] + table["ties"] == 0),
        ALL_LOST: is_bounded & (table["wins"] + table["ties"] == 0),
    }
    return np.select(list(reasons.values()), list(reasons), "").astype(object)


def ranks_and_tiers(coefficients: Floats, replicates: Floats) -> dict[str, npt.ArrayLike]:
    """Return best rank, worst rank and tier of each system; missing where they are not made.

    Args:
        coefficients: Estimates, shape (S,).
        replicates: Draws around them, shape (B, S); none where their errors are not known.
    """
    if not len(replicates) or len(coefficients) > MOST_COMPARED:
        return dict.fromkeys(("rank_low", "rank_high", "tier"), np.nan)
    best, worst = rank_intervals(coefficients, replicates)
    return {"rank_low": best, "rank_high": worst, "tier": tiers(coefficients, replicates)}


def _signature(
    model: RatingModel,
    interval: str,
    rounds: int,
    scale: str,
    seed: int,
    battles: Battles,
    controls: Sequence[str],
) -> str:
    replicates = f"|rounds:{rounds}" if interval in ("bootstrap", "bca") else ""
    return (
        f"bradley-terry|ties:{model.ties}|position:{'yes' if model.position else 'no'}"
        f"|ridge:{model.ridge:g}|controls:{','.join(controls) or 'none'}"
        f"|interval:{interval}{replicates}|scale:{scale}"
        f"|systems:{len(battles.systems)}|battles:{battles.judged}"
        f"|questions:{battles.n_questions}|seed:{seed}|version:{__version__}"
    )
