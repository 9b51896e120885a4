"""Who costs less than another system, or is faster, and how surely it is not much worse."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, logit, ndtr

from arena.data.schema import COST, LATENCY
from arena.data.types import Floats
from arena.statistics.significance import EVEN, MARGIN
from surrogate.board.board import Board
from surrogate.board.costs import AnswerAmounts, shown_amount, uncompared_board
from surrogate.board.first_place import shown_probability
from surrogate.board.tables import SAVINGS

LIKELY_ENOUGH = 0.95
"""Probability of not being worse by the margin from which a board says so."""
WORSE_BY_MARGIN = f"{100 * MARGIN:g} points of win rate worse"
LESS = {"cost": "costs less", "latency": "is faster"}


def savings_table(
    amounts: AnswerAmounts,
    ratings: pd.DataFrame,
    covariance: pd.DataFrame,
    systems: list[str],
) -> pd.DataFrame:
    """List who costs less than another system, or is faster, and how much worse it may be.

    Ratings of all languages are jointly normal, so that the mean over languages of the difference
    of two systems is normal, too, and no draws are needed: with mean d and variance v, a system is
    worse by less than the margin m with probability Phi((d - logit(1/2 - m)) / sqrt(v)).

    Args:
        amounts: What the answers took.
        ratings: ``tables.RATINGS``.
        covariance: Of all ratings, see ``overall.joint_covariance``.
        systems: Those that are compared: rated in every language.

    Returns:
        ``tables.SAVINGS``, a row for each system and a dearer or slower opponent, sorted by both.
        Ratios are over the questions where both state the amount: of mean costs in one currency,
        and of median latencies. ``win_rate`` is the expected one against the opponent,
        ``probability`` that of more than one half less the margin; NaN where an error is unknown.
    """
    names = sorted(systems)
    if amounts.is_empty or len(names) < 2:
        return SAVINGS.empty()
    cost_ratios = _mean_ratios(amounts.amounts[COST][names].to_numpy(np.float64))
    currencies = np.array([amounts.currencies[name] for name in names], dtype=object)
    cost_ratios[currencies[:, None] != currencies[None, :]] = np.nan
    latency_ratios = median_ratios(amounts.amounts[LATENCY][names].to_numpy(np.float64))
    differences, variances = mean_differences(ratings, covariance, names)
    probabilities = probability_above(differences, variances, float(logit(EVEN - MARGIN)))
    is_saving = (cost_ratios < 1) | (latency_ratios < 1)
    cheap, dear = np.nonzero(is_saving)
    table = pd.DataFrame(
        {
            "system": np.array(names, dtype=object)[cheap],
            "opponent": np.array(names, dtype=object)[dear],
            "cost_ratio": cost_ratios[cheap, dear],
            "latency_ratio": latency_ratios[cheap, dear],
            "win_rate": expit(differences[cheap, dear]),
            "probability": probabilities[cheap, dear],
        }
    )
    return table[list(SAVINGS.names)]


def mean_differences(
    ratings: pd.DataFrame, covariance: pd.DataFrame, systems: list[str]
) -> tuple[Floats, Floats]:
    """Return how far systems are apart, mean over languages of the same weight.

    Returns:
        Differences of a row's system from a column's (logits) and their variances, each of shape
        (S, S); NaN where a rating or covariance is not known.
    """
    languages = sorted(ratings["language"].unique())
    index = pd.MultiIndex.from_product([languages, systems])
    values = ratings.set_index(["language", "system"])["rating"].reindex(index)
    by_language = values.to_numpy(np.float64).reshape(len(languages), len(systems))
    means = by_language.mean(axis=0)
    joint = covariance.reindex(index=index, columns=index).to_numpy(np.float64)
    shape = (len(languages), len(systems), len(languages), len(systems))
    of_means = joint.reshape(shape).mean(axis=(0, 2))
    own = np.diag(of_means)
    return means[:, None] - means[None, :], own[:, None] + own[None, :] - 2 * of_means


def probability_above(means: npt.ArrayLike, variances: npt.ArrayLike, bound: float) -> Floats:
    """Return the probability that normal values are above a bound; 0 or 1 without a variance."""
    rounding_error = 1e-12  # variances below it are 0, but for rounding
    distances = np.asarray(means, dtype=np.float64) - bound
    variance = np.asarray(variances, dtype=np.float64)
    is_certain = variance <= rounding_error
    deviations = np.sqrt(np.where(is_certain, 1.0, variance))
    return np.where(is_certain, (distances > 0).astype(np.float64), ndtr(distances / deviations))


def _mean_ratios(amounts: Floats) -> Floats:
    """Return the mean of a row's system over that of a column's, where both have an amount.

    Args:
        amounts: Questions by systems; NaN for none.
    """
    is_known = ~np.isnan(amounts)
    sums = np.where(is_known, amounts, 0.0).T @ is_known
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = sums / sums.T
    # Nothing costs less than what is free.
    return np.where(sums.T > 0, ratios, np.nan)


def median_ratios(amounts: Floats) -> Floats:
    """Return the median of a row's system over that of a column's, where both have an amount."""
    n_systems = amounts.shape[1]
    ratios = np.full((n_systems, n_systems), np.nan)
    # Systems with amounts on the same questions share their medians; mostly all of them do.
    patterns, pattern_of = np.unique(~np.isnan(amounts), axis=1, return_inverse=True)
    # NumPy 2.0 gives the inverse another shape.
    pattern_of = pattern_of.ravel()
    members = [np.flatnonzero(pattern_of == number) for number in range(patterns.shape[1])]
    for one, other in product(range(len(members)), repeat=2):
        is_common = patterns[:, one] & patterns[:, other]
        if not is_common.any():
            continue
        common = amounts[is_common]
        medians = np.median(common[:, members[one]], axis=0)
        other_medians = np.median(common[:, members[other]], axis=0)
        # Nothing is faster than what takes no time.
        divisors = np.where(other_medians > 0, other_medians, np.nan)
        ratios[np.ix_(members[one], members[other])] = medians[:, None] / divisors
    return ratios


def saving_sentence(board: Board) -> str:
    """Say who costs less than the first system, or is faster, without being much worse.

    Returns:
        One sentence, such as ``B costs 20% of what A does (0.2 against 1 USD for 1,000 answers) and
        is at most 5 points of win rate worse (98% likely).``; empty where no amount is stated. It
        says of all that they are likely worse by more if all are so at once, by Bonferroni.
    """
    if board.costs.empty:
        return ""
    general = uncompared_board(board.summary)
    if general:
        return f"Costs are not held against quality: {general}."
    leader = board.costs.iloc[0]
    measure = "cost" if board.costs["cost"].notna().any() else "latency"
    if board.costs[measure].isna().all():
        return ""
    if pd.isna(leader[f"on_{measure}_frontier"]):
        return f"Costs are not held against quality: of {leader['system']}, {leader['note']}."
    return _saving_sentence(board, leader, measure)


def _saving_sentence(board: Board, leader: pd.Series, measure: str) -> str:
    """Say which system costs less than the leader, or is faster, and how surely it is as good."""
    ratio = f"{measure}_ratio"
    against_leader = board.savings[board.savings["opponent"] == leader["system"]]
    savings = against_leader[against_leader[ratio] < 1]
    if savings.empty:
        return _first_for_least(board, leader, measure)
    known = savings[savings["probability"].notna()]
    if known.empty:
        less = LESS[measure]
        return f"How much worse than {leader['system']} a system is that {less} is not known."
    good_enough = known[known["probability"] >= LIKELY_ENOUGH]
    if not good_enough.empty:
        cheapest = good_enough.sort_values([ratio, "system"]).iloc[0]
        likely = shown_probability(cheapest["probability"])
        price = _price(board, cheapest, leader, measure)
        return f"{price} and is at most {WORSE_BY_MARGIN} ({likely} likely)."
    nearest = known.sort_values(["probability", "system"], ascending=[False, True]).iloc[0]
    # That all are worse by more is wrong if one is not (Bonferroni).
    are_all_worse = bool(savings["probability"].sum(skipna=False) <= 1 - LIKELY_ENOUGH)
    if len(savings) == 1:
        return _only_saving(_price(board, nearest, leader, measure), nearest, are_all_worse)
    return _nearest_of_several(nearest, leader, measure, are_all_worse)


def _only_saving(price: str, saving: pd.Series, is_worse: bool) -> str:
    """Say of the only system that takes less that it is likely worse by the margin, or may be."""
    probability = saving["probability"]
    if is_worse:
        likely = shown_probability(1 - probability)
        return f"{price}, but is likely to be over {WORSE_BY_MARGIN} ({likely})."
    likely = shown_probability(probability)
    return f"{price}; whether it is at most {WORSE_BY_MARGIN} is open ({likely} likely)."


def _nearest_of_several(
    nearest: pd.Series, leader: pd.Series, measure: str, are_all_worse: bool
) -> str:
    """Say that no system that takes less is likely good enough, and which one comes closest."""
    that_takes_less = f"system that {LESS[measure]} than {leader['system']}"
    if are_all_worse:
        return (
            f"Every {that_takes_less} is likely ({LIKELY_ENOUGH:.0%}) to be over {WORSE_BY_MARGIN}."
        )
    share = shown_probability(nearest[f"{measure}_ratio"])
    likely = shown_probability(nearest["probability"])
    return (
        f"No {that_takes_less} is likely ({LIKELY_ENOUGH:.0%}) to be at most {WORSE_BY_MARGIN}; "
        f"{nearest['system']}, at {share} of the {measure}, comes closest ({likely})."
    )


def _first_for_least(board: Board, leader: pd.Series, measure: str) -> str:
    """Say that the first system takes least; nothing where too little is known for that."""
    costs = board.costs[board.costs[f"on_{measure}_frontier"].notna()]
    if measure == "cost":
        costs = costs[costs["currency"] == leader["currency"]]
    if len(costs) < 2 or costs[measure].min() < leader[measure]:
        return ""
    least = "costs least" if measure == "cost" else "is fastest"
    return f"{leader['system']} is first and {least} of the {len(costs)} systems compared."


def _price(board: Board, saving: pd.Series, leader: pd.Series, measure: str) -> str:
    """Say how a system's cost, or latency, compares with the leader's."""
    name = saving["system"]
    amount = board.costs.set_index("system").loc[name, measure]
    share = shown_probability(saving[f"{measure}_ratio"])
    amounts = f"{shown_amount(amount)} against {shown_amount(leader[measure])}"
    if measure == "latency":
        return f"{name} takes {share} of the time of {leader['system']} (median {amounts} seconds)"
    unit = f" {leader['currency']}" if leader["currency"] else ""
    share_of_cost = f"{share} of what {leader['system']} does"
    return f"{name} costs {share_of_cost} ({amounts}{unit} for 1,000 answers)"
