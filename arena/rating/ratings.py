"""Ratings of systems from battles: estimates, intervals, ranks, tiers, and what limits them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.data.version import __version__
from arena.rating.battle_codes import BattleCodes
from arena.rating.bradley_terry import DEFAULT_RIDGE, RatingModel
from arena.rating.controls import Controls
from arena.rating.outcomes import Outcomes, count_outcomes, outcomes_of_battles
from arena.rating.ranks import rank_intervals, tiers
from arena.rating.solver import BradleyTerryFit, ConvergenceError
from arena.rating.uncertainty import Uncertainty, bootstrap, sandwich

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]

INTERVALS = ("bootstrap", "bca", "sandwich")
SCALES = ("logit", "elo")
ELO_UNIT = 400 / np.log(10)
ELO_CENTER = 1000.0
DEFAULT_ROUNDS = 1000

MOST_COMPARED = 1_500
TOO_MANY = f"rank intervals and tiers compare all pairs: not done above {MOST_COMPARED:,} systems"
NOT_CONNECTED = "no battles connect it with the largest group of systems: not on one scale"
PRIOR_NEEDED = (
    "some systems win or lose all, in the data or in a bootstrap sample: "
    f"a Gaussian prior of precision {DEFAULT_RIDGE:g} keeps their ratings finite"
)


@dataclass(frozen=True)
class Ratings:
    """Rated systems.

    Attributes:
        table: Columns ``system, rating, low, high, rank, rank_low, rank_high, tier, wins,
            losses, ties``, best first; unrated systems last.
        tie_parameter: Davidson's nu or Rao and Kupper's eta; None without a model of ties.
        position_effect: Advantage of side A in log-odds; None where it is not modelled.
        controls: Columns ``control, effect, low, high``: the log-odds that one standard deviation
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
    codes: BattleCodes,
    ties: str = "half",
    position: bool = False,
    ridge: float | None = None,
    interval: str = "bootstrap",
    rounds: int = DEFAULT_ROUNDS,
    scale: str = "logit",
    seed: int = 0,
    controls: Controls | None = None,
) -> Ratings:
    """Rate the systems of a set of battles.

    Args:
        codes: Battles of one language and one judge.
        ties: ``half``, ``drop``, ``davidson`` or ``rao-kupper``.
        position: Estimate the advantage of side A.
        ridge: Precision of the Gaussian prior; by default 0 where the maximum likelihood exists
            for the data and every bootstrap sample, and 0.1 (with a note) elsewhere.
        interval: ``bootstrap`` over questions (percentile), ``bca`` (bias-corrected and
            accelerated), or ``sandwich`` (clustered by question).
        rounds: Bootstrap replicates.
        scale: ``logit`` (log-odds, centerd on 0) or ``elo`` (400 points a factor of ten in odds,
            centerd on 1000).
        seed: Seed of the resamples.
        controls: Style of each battle's answers, to rate systems at equal style; see
            ``arena.controls``.

    Raises:
        UsageError: For an unknown choice, or fewer than two connected systems.
        ConvergenceError: With a given ``ridge`` that leaves a fit without maximum.
    """
    _check_choice("interval", interval, INTERVALS)
    _check_choice("scale", scale, SCALES)
    if rounds < 2:
        raise UsageError("rounds must be at least 2")
    model = RatingModel(ties, position, DEFAULT_RIDGE if ridge is None else ridge)
    connected, left_out, kept = _largest_group(codes)
    if controls is None:
        outcomes = count_outcomes(connected, by_side=position)
    else:
        outcomes = outcomes_of_battles(connected, controls.values[kept])
    notes = [f"{system}: {NOT_CONNECTED}" for system in left_out]
    if ridge is None and _is_strongly_connected(outcomes):
        model = replace(model, ridge=0.0)
    with threadpool_limits(1):  # small matrices: threads cost more than they bring
        try:
            fit, found = _fit(outcomes, model, interval, rounds, seed)
        except ConvergenceError:
            if ridge is not None:
                raise
            model = replace(model, ridge=DEFAULT_RIDGE)
            fit, found = _fit(outcomes, model, interval, rounds, seed)
    if ridge is None and model.ridge:
        notes.append(PRIOR_NEEDED)
    if len(connected.systems) > MOST_COMPARED:
        notes.append(TOO_MANY)
    return Ratings(
        table=_table(codes, connected, found, scale),
        tie_parameter=None if fit.tie_parameter is None else float(fit.tie_parameter[0]),
        position_effect=float(fit.effects[0, 0]) if position else None,
        controls=_controls_table(controls, fit, found),
        notes=tuple(notes),
        signature=_signature(model, interval, rounds, scale, seed, connected, controls),
    )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"unknown {name} {value!r}; use one of {', '.join(choices)}")


def _fit(
    outcomes: Outcomes, model: RatingModel, interval: str, rounds: int, seed: int
) -> tuple[BradleyTerryFit, Uncertainty]:
    fit = model.fit(outcomes, outcomes.totals)
    random = generator(seed, "ratings", interval)
    parameters = fit.parameters[0]
    if interval == "sandwich":
        return fit, sandwich(outcomes, model, parameters, random)
    return fit, bootstrap(outcomes, model, parameters, rounds, random, bca=interval == "bca")


def _largest_group(codes: BattleCodes) -> tuple[BattleCodes, list[str], Booleans]:
    """Keep the battles of the largest connected group of systems; say also which these are."""
    size = len(codes.systems)
    ones = np.ones(len(codes.side_a))
    graph = coo_array((ones, (codes.side_a, codes.side_b)), shape=(size, size)).tocsr()
    groups, label = connected_components(graph, directed=False)
    if groups == 1:
        return codes, [], np.ones(len(codes.winner), dtype=np.bool_)
    kept = label == np.argmax(np.bincount(label))
    if kept.sum() < 2:
        raise UsageError("no two systems met: there is nothing to rate")
    place = np.cumsum(kept) - 1
    battles = kept[codes.side_a]
    question = None if codes.question is None else codes.question[battles]
    n_questions = int(battles.sum())
    if question is not None:
        distinct, question = np.unique(question, return_inverse=True)
        n_questions = len(distinct)
    systems = zip(codes.systems, kept.tolist(), strict=True)
    inside = [name for name, is_kept in systems if is_kept]
    return (
        BattleCodes(
            tuple(inside),
            place[codes.side_a[battles]],
            place[codes.side_b[battles]],
            codes.winner[battles],
            question,
            n_questions,
        ),
        [name for name in codes.systems if name not in set(inside)],
        battles,
    )


def _is_strongly_connected(outcomes: Outcomes) -> bool:
    """Tell whether wins lead from every system to every other (ties lead both ways)."""
    totals, size = outcomes.totals, len(outcomes.systems)
    tied = totals.ties[0] > 0
    won, lost = (totals.wins[0] > 0) | tied, (totals.losses[0] > 0) | tied
    start = np.concatenate([outcomes.first[won], outcomes.second[lost]])
    end = np.concatenate([outcomes.second[won], outcomes.first[lost]])
    graph = coo_array((np.ones(len(start)), (start, end)), shape=(size, size)).tocsr()
    return int(connected_components(graph, directed=True, connection="strong")[0]) == 1


def _controls_table(
    controls: Controls | None, fit: BradleyTerryFit, found: Uncertainty
) -> pd.DataFrame:
    names = controls.names if controls else ()
    effects = fit.effects[0][fit.effects.shape[1] - len(names) :]
    width = norm.ppf(0.975) * found.effect_errors[len(found.effect_errors) - len(names) :]
    return pd.DataFrame(
        {"control": names, "effect": effects, "low": effects - width, "high": effects + width}
    )


def _table(
    codes: BattleCodes, connected: BattleCodes, found: Uncertainty, scale: str
) -> pd.DataFrame:
    unit, center = (ELO_UNIT, ELO_CENTER) if scale == "elo" else (1.0, 0.0)
    best, worst, tier = _told_apart(found)
    rated = pd.DataFrame(
        {
            "system": connected.systems,
            "rating": center + unit * found.coefficients,
            "low": center + unit * found.low,
            "high": center + unit * found.high,
            "rank": pd.Series(found.coefficients).rank(ascending=False, method="min"),
            "rank_low": best,
            "rank_high": worst,
            "tier": tier,
        }
    )
    table = _record(codes).merge(rated, how="left", on="system")
    whole = ["rank", "rank_low", "rank_high", "tier"]
    columns = ["system", "rating", "low", "high", *whole, "wins", "losses", "ties"]
    ordered = table[columns].astype(dict.fromkeys(whole, "Int64"))
    return ordered.sort_values(["rank", "system"], kind="stable", ignore_index=True)


def _told_apart(found: Uncertainty) -> tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]:
    """Return best rank, worst rank and tier of each system; missing for too many systems."""
    size = len(found.coefficients)
    if size > MOST_COMPARED:
        missing = np.full(size, np.nan)
        return missing, missing, missing
    best, worst = rank_intervals(found.coefficients, found.replicates)
    return best, worst, tiers(found.coefficients, found.replicates)


def _record(codes: BattleCodes) -> pd.DataFrame:
    """Count each system's wins, losses and ties."""
    size = len(codes.systems)

    def counted(side_a_outcome: int, side_b_outcome: int) -> Integers:
        on_a = np.bincount(codes.side_a[codes.winner == side_a_outcome], minlength=size)
        on_b = np.bincount(codes.side_b[codes.winner == side_b_outcome], minlength=size)
        return np.asarray(on_a + on_b)

    return pd.DataFrame(
        {
            "system": codes.systems,
            "wins": counted(0, 1),
            "losses": counted(1, 0),
            "ties": counted(2, 2),
        }
    )


def _signature(
    model: RatingModel,
    interval: str,
    rounds: int,
    scale: str,
    seed: int,
    codes: BattleCodes,
    controls: Controls | None,
) -> str:
    replicates = "" if interval == "sandwich" else f"|rounds:{rounds}"
    style = ",".join(controls.names) if controls else "none"
    return (
        f"bradley-terry|{model.signature}|controls:{style}"
        f"|interval:{interval}{replicates}|scale:{scale}"
        f"|systems:{len(codes.systems)}|battles:{len(codes.winner)}"
        f"|questions:{codes.n_questions}|seed:{seed}|version:{__version__}"
    )
