"""Ratings of systems from judgments: estimates, intervals, ranks, tiers, and what limits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import SAME_DECIMALS, generator
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
    MOST_COMPARED,
    RatingModel,
    Uncertainty,
    bootstrap,
    ranks_and_tiers,
)
from arena.rating.posterior import battle_posterior

Floats = npt.NDArray[np.float64]

ESTIMATORS = ("posterior", "likelihood")
SCALES = ("logit", "elo")
ELO_UNIT = 400 / np.log(10)
ELO_CENTER = 1000.0
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
NO_TIES = (
    "no tie was judged: the likelihood is highest where the tie parameter is 0, which is the model "
    "without one (Bradley and Terry's)"
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
            losses, ties, note``, best first; unrated systems last. ``note`` says why a system is
            unrated, or bounded by the prior only.
        tie_parameter: Davidson's nu, 0 where no tie was judged; None without a model of ties.
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
    estimator: str | None = None,
    rounds: int = DEFAULT_ROUNDS,
    scale: str = "logit",
    ridge: float | None = None,
    language: str | None = None,
    judge: str | None = None,
    seed: int = 0,
) -> Ratings:
    """Rate the systems that judgments compare.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id``,
            ``language``, ``judge``; or battles already read.
        ties: ``half``, ``drop`` or ``davidson``.
        position: Estimate the advantage of side A.
        controls: Rate at equal style: some of ``length``, ``citations``, ``markup``; judgments
            of which an answer is absent are left out.
        answers: Columns ``query_id, language, system, answer``, for ``controls``.
        estimator: ``posterior``: ratings and intervals by ``arena.rating.posterior``, right for few
            questions, and where the outcomes of battles chose others; it has no position, controls,
            ridge or model of ties. ``likelihood``: the maximum of the likelihood, and a bootstrap
            over questions. By default the posterior where it can be had.
        rounds: Bootstrap replicates; 0 for ratings of maximum likelihood without intervals.
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
    checked_choice(estimator or ESTIMATORS[0], ESTIMATORS, "estimator")
    checked_choice(scale, SCALES, "scale")
    if rounds < 0 or rounds == 1:
        raise UsageError("rounds must be 0 (no intervals) or at least 2")
    notes: list[str] = []
    if isinstance(judgments, Battles):
        everything = judgments
    else:
        chosen = selected_judgments(judgments, language, judge)
        everything = _battles(chosen, controls, answers, notes)
    connected = (everything.decided() if ties == "drop" else everything).largest_group()
    plain = not position and not controls and ties in TIE_RULES and ridge is None
    if estimator == "posterior" and not plain:
        raise UsageError("a posterior has no position, controls, ridge or model of ties; drop them")
    if estimator is None:
        is_small = len(connected.systems) <= MOST_COMPARED
        estimator = "posterior" if plain and is_small and rounds else "likelihood"
    if estimator == "posterior":
        return _by_posterior(everything, connected, ties, scale)
    counts = connected.count(by_side=position)
    lacks_ties = ties not in TIE_RULES and not counts.totals.ties.any()
    model = RatingModel(counts, "half" if lacks_ties else ties, position)
    with threadpool_limits(1):  # small matrices: threads cost more than they bring
        model, fit = _fit(model, ridge)
        spread = Uncertainty.unknown(len(connected.systems), model.covariates.shape[1])
        if rounds:
            random = generator(seed, "ratings", "bootstrap")
            spread = bootstrap(model, fit.parameters[0], rounds, random)
    if connected.adaptive:
        notes.append(STRETCHED)
    if rounds and counts.n_questions < 2:
        notes.append(ONE_QUESTION)
    notes += _remarks(
        everything, connected, spread, rounds, is_prior_own=ridge is None and bool(model.ridge)
    )
    if lacks_ties:
        notes.append(NO_TIES)
    return Ratings(
        table=_table(everything, connected, fit.coefficients[0], spread, scale, model.ridge > 0),
        tie_parameter=0.0 if lacks_ties else _tie_parameter(fit),
        position_effect=float(fit.effects[0, 0]) if position else None,
        controls=_controls_table(controls, fit.effects[0], spread),
        notes=tuple(notes),
        signature=_signature(
            connected,
            scale,
            f"ties:{ties}|position:{'yes' if position else 'no'}|ridge:{model.ridge:g}"
            f"|controls:{','.join(controls) or 'none'}|estimator:likelihood|rounds:{rounds}"
            f"|seed:{seed}",
        ),
    )


def _by_posterior(everything: Battles, connected: Battles, ties: str, scale: str) -> Ratings:
    with threadpool_limits(1):
        known = battle_posterior(connected)
    spread = Uncertainty(*known.bounds, known.covariance, np.inf, np.empty(0))
    return Ratings(
        table=_table(everything, connected, known.ratings, spread, scale, is_bounded=True),
        tie_parameter=None,
        position_effect=None,
        controls=_controls_table((), np.empty(0), spread),
        notes=tuple(_remarks(everything, connected, spread, 0, is_prior_own=False)),
        signature=_signature(connected, scale, f"ties:{ties}|estimator:posterior"),
    )


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


def _controls_table(names: Sequence[str], effects: Floats, spread: Uncertainty) -> pd.DataFrame:
    own = effects[len(effects) - len(names) :]
    width = spread.effect_widths[len(spread.effect_widths) - len(names) :]
    return pd.DataFrame(
        {"control": list(names), "effect": own, "low": own - width, "high": own + width}
    )


def _table(
    everything: Battles,
    connected: Battles,
    coefficients: Floats,
    spread: Uncertainty,
    scale: str,
    is_bounded: bool,
) -> pd.DataFrame:
    unit, center = (ELO_UNIT, ELO_CENTER) if scale == "elo" else (1.0, 0.0)
    same = pd.Series(coefficients).round(SAME_DECIMALS)
    rated = pd.DataFrame(
        {
            "system": connected.systems,
            "rating": center + unit * coefficients,
            "low": center + unit * spread.low,
            "high": center + unit * spread.high,
            "rank": same.rank(ascending=False, method="min"),
            **ranks_and_tiers(coefficients, spread.covariance, spread.freedom),
        }
    )
    table = everything.records().merge(rated, how="left", on="system")
    return best_first(table.assign(note=_notes(table, is_bounded)))


def best_first(table: pd.DataFrame) -> pd.DataFrame:
    """Bring ratings to the columns, types and order of ``Ratings.table``."""
    ordered = table[list(RATING_COLUMNS)].astype(dict.fromkeys(_WHOLE, "Int64"))
    return ordered.sort_values(["rank", "system"], kind="stable", ignore_index=True)


def _notes(table: pd.DataFrame, is_bounded: bool) -> npt.NDArray[np.object_]:
    """Say why a system is unrated, or its rating rests on the prior."""
    reasons = {
        NOT_CONNECTED: table["rating"].isna(),
        ALL_WON: is_bounded & (table["losses"] + table["ties"] == 0),
        ALL_LOST: is_bounded & (table["wins"] + table["ties"] == 0),
    }
    return np.select(list(reasons.values()), list(reasons), "").astype(object)


def _signature(battles: Battles, scale: str, how: str) -> str:
    return (
        f"bradley-terry|{how}|scale:{scale}|systems:{len(battles.systems)}"
        f"|battles:{battles.judged}|questions:{battles.n_questions}|version:{__version__}"
    )
