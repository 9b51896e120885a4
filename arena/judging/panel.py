"""Truth and judges' errors from votes alone, by expectation maximization (Dawid, Skene, 1979)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import WINNERS
from arena.judging.summary import JUDGMENT_COLUMNS, PROBABILITY_COLUMNS
from arena.planning.study import SAME_RATING_DECIMALS
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.ratings import rate
from arena.statistics.rank_agreement import kendall_taus

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-8
MOST_ROUNDS = 2_000
PRIOR_VOTES = 10.0
"""Votes that each judge is taken to have cast beforehand on items of each class."""
PRIOR_RIGHT = 0.7
"""Share of them that are right."""


@dataclass(frozen=True)
class DawidSkene:
    """A fit of N items, J judges, and K classes.

    Attributes:
        classes: Probability of each item's classes, shape (N, K).
        shares: Share of each class among the items, shape (K,).
        confusion: Probability that a judge votes l on an item of class k, shape (J, K, K).
        log_likelihood: Logarithm of the likelihood of the votes, without the prior.
        rounds: Rounds of expectation maximization.
        converged: Whether the last round changed no probability by more than the tolerance.
    """

    classes: Floats
    shares: Floats
    confusion: Floats
    log_likelihood: float
    rounds: int
    converged: bool


def fit_dawid_skene(
    votes: npt.ArrayLike, prior_votes: float = PRIOR_VOTES, tolerance: float = TOLERANCE
) -> DawidSkene:
    """Estimate each item's class and each judge's confusion matrix.

    Starts from each item's share of votes, as in the paper (equation 3.1). Unlike the paper's,
    judges are taken to be rather right than wrong: the plain likelihood has maxima where a class
    that hardly occurs, such as ties, stands for the disagreements of judges.

    Args:
        votes: How often each judge voted for each class of each item, shape (N, J, K); all zero
            where a judge has no vote on an item.
        prior_votes: Votes a judge is taken to have cast beforehand on items of each class, 70% of
            them right. 0 gives the plain maximum likelihood of the paper.
        tolerance: Largest change of a probability in the last round.

    Raises:
        UsageError: For votes of the wrong shape, negative ones, or an item without any.

    Source: A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates
    using the EM algorithm", Applied Statistics 28, 1979.
    """
    counts = np.asarray(votes, dtype=np.float64)
    _check(counts, prior_votes)
    prior = _prior(counts.shape[2], prior_votes)
    totals = counts.sum(axis=1)
    classes = totals / totals.sum(axis=1, keepdims=True)
    rounds, change = 0, np.inf
    while rounds < MOST_ROUNDS and change > tolerance:
        shares, confusion = _maximize(counts, classes, prior)
        expected, log_likelihood = _expect(counts, shares, confusion)
        change = float(np.abs(expected - classes).max())
        classes, rounds = expected, rounds + 1
    return DawidSkene(classes, shares, confusion, log_likelihood, rounds, change <= tolerance)


def _check(counts: Floats, prior_votes: float) -> None:
    if counts.ndim != 3 or not counts.size:
        raise UsageError("votes must be (items, judges, classes), with one of each at least")
    if not np.isfinite(counts).all() or (counts < 0).any() or not 0 <= prior_votes < np.inf:
        raise UsageError("votes and prior_votes must be finite and at least 0")
    if (counts.sum(axis=(1, 2)) == 0).any():
        raise UsageError("an item has no votes; leave it out")


def _prior(size: int, prior_votes: float) -> Floats:
    """Return the votes cast beforehand, shape (K, K)."""
    wrong = (1 - PRIOR_RIGHT) / max(size - 1, 1)
    shares = np.full((size, size), wrong) + (PRIOR_RIGHT - wrong) * np.eye(size)
    return np.asarray(prior_votes * shares)


def _maximize(counts: Floats, classes: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Estimate shares and confusion matrices from the classes (equations 2.3 and 2.4)."""
    cast = np.einsum("nk,njl->jkl", classes, counts)
    return classes.mean(axis=0), _normalized(cast + prior)


def _normalized(weights: Floats) -> Floats:
    """Make rows sum to 1; a class that no item has is voted for evenly."""
    total = weights.sum(axis=-1, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[-1])
    return np.asarray(np.divide(weights, total, out=even, where=total > 0))


def _expect(counts: Floats, shares: Floats, confusion: Floats) -> tuple[Floats, float]:
    """Estimate the classes from shares and confusion matrices (equation 2.5)."""
    floor = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(shares, floor)) + np.einsum(
        "njl,jkl->nk", counts, np.log(np.maximum(confusion, floor))
    )
    highest = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - highest)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, float((highest + np.log(total)).sum())


Aggregate = Literal["majority", "dawid-skene"]
AGGREGATES: tuple[Aggregate, ...] = ("majority", "dawid-skene")

SPLIT = "split"
"""Flag of a tie that stands for a panel without a winner of most votes."""

_ITEM = ["language", "query_id", "system_a", "system_b"]
_TIE = WINNERS.index("tie")


@dataclass(frozen=True)
class Panel:
    """What a panel of judges says.

    Attributes:
        judgments: An arena's ``judgments`` by ``panel(majority)`` or ``panel(dawid-skene)``, with
            its probabilities: shares of votes, or Dawid and Skene's.
        too_few: Items left out, for fewer than half of the judges gave a verdict.
        split: Items without a verdict of most votes, which are ties.
        judges: Columns ``language, judge, items, tau`` (Kendall tau-b of the systems as this
            judge ranks them, with the panel of the others) and, by Dawid and Skene, ``accuracy``
            (estimated share of its verdicts that are right).
    """

    judgments: pd.DataFrame
    too_few: int
    split: int
    judges: pd.DataFrame


def panel_name(aggregate: Aggregate) -> str:
    """Return the name under which a panel stands in the ``judge`` column."""
    return f"panel({aggregate})"


def hold_panel(
    judgments: pd.DataFrame, judges: Sequence[str], aggregate: Aggregate = "majority"
) -> Panel:
    """Make one verdict of several judges' verdicts on the same pair in the same order.

    An item needs verdicts of half of the judges at least. By majority, the verdict with the most
    votes wins, and a panel without one is tied. By Dawid and Skene, each language by itself, the
    likeliest verdict wins, given how each judge is estimated to err.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``; of several
            verdicts of a judge on the same item the last one counts.
        judges: The panel, two at least.
        aggregate: ``majority`` or ``dawid-skene``.

    Raises:
        UsageError: If the rule is unknown, there are fewer than two judges, or no item has
            enough verdicts.
    """
    if aggregate not in AGGREGATES:
        raise UsageError(f"unknown aggregate {aggregate!r}; use one of {', '.join(AGGREGATES)}")
    members = list(dict.fromkeys(judges))
    if len(members) < 2:
        raise UsageError("a panel needs two judges at least")
    votes = _votes(judgments, members)
    enough = votes.notna().sum(axis=1) >= len(members) / 2
    kept = votes[enough]
    if kept.empty:
        raise UsageError("no pair has verdicts of half of the panel's judges")
    parts = [_aggregated(part, aggregate) for _, part in kept.groupby(level="language", sort=True)]
    table = pd.concat([part for part, _ in parts])
    accuracy = pd.concat([of_judges for _, of_judges in parts]) if parts[0][1] is not None else None
    verdicts = _as_judgments(table, members, aggregate)
    return Panel(
        judgments=verdicts,
        too_few=int((~enough).sum()),
        split=int((verdicts["flags"] == SPLIT).sum()),
        judges=_with_accuracy(_taus(kept, members, aggregate), accuracy),
    )


def _votes(judgments: pd.DataFrame, members: list[str]) -> pd.DataFrame:
    """Return the judges' verdicts as classes 0, 1, 2, NaN where there is none: (items, judges)."""
    cast = judgments[judgments["judge"].isin(members)]
    last = cast.drop_duplicates([*_ITEM, "judge"], keep="last")
    coded = last.assign(vote=pd.Index(WINNERS).get_indexer(pd.Index(last["winner"].astype(object))))
    return coded.pivot(index=_ITEM, columns="judge", values="vote").reindex(columns=members)


def _one_hot(votes: pd.DataFrame) -> Floats:
    """Count votes, shape (items, judges, classes)."""
    return np.asarray(votes.to_numpy()[..., None] == np.arange(len(WINNERS)), dtype=np.float64)


def _aggregated(
    votes: pd.DataFrame, aggregate: Aggregate
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Aggregate one language: class, probability and whether split; and the judges' accuracy."""
    counts = _one_hot(votes)
    accuracy = None
    if aggregate == "majority":
        chances = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
    else:
        fit = fit_dawid_skene(counts)
        chances = fit.classes
        right = np.einsum("k,jkk->j", fit.shares, fit.confusion)
        language = votes.index.get_level_values("language")[0]
        accuracy = pd.DataFrame(
            {"language": language, "judge": list(votes.columns), "accuracy": right}
        )
    best = chances.max(axis=1)
    is_split = np.isclose(chances, best[:, None], rtol=0, atol=1e-9).sum(axis=1) > 1
    winner = np.where(is_split, _TIE, chances.argmax(axis=1))
    rows = pd.DataFrame(
        {
            "class": winner,
            "probability": chances[np.arange(len(winner)), winner],
            "probability_a": chances[:, WINNERS.index("a")],
            "probability_b": chances[:, WINNERS.index("b")],
            "is_split": is_split,
        },
        index=votes.index,
    )
    return rows, accuracy


def _as_judgments(table: pd.DataFrame, members: list[str], aggregate: Aggregate) -> pd.DataFrame:
    rows = table.reset_index()
    judgments = rows.assign(
        winner=np.array(WINNERS, dtype=object)[rows["class"].to_numpy()],
        judge=panel_name(aggregate),
        flags=np.where(rows["is_split"], SPLIT, ""),
        prompt=f"panel of {', '.join(sorted(members))}",
    )[JUDGMENT_COLUMNS].round(dict.fromkeys(PROBABILITY_COLUMNS, 6))
    return judgments.astype({"winner": "str", "judge": "str", "flags": "str", "prompt": "str"})


def _taus(votes: pd.DataFrame, members: list[str], aggregate: Aggregate) -> pd.DataFrame:
    rows = []
    for language, part in votes.groupby(level="language", sort=True):
        for judge in members:
            others = [name for name in members if name != judge]
            both = part[part[judge].notna() & part[others].notna().any(axis=1)]
            tau = _tau_with_others(both, judge, others, aggregate)
            rows.append((language, judge, int(part[judge].notna().sum()), tau))
    return pd.DataFrame(rows, columns=["language", "judge", "items", "tau"])


def _tau_with_others(
    votes: pd.DataFrame, judge: str, others: list[str], aggregate: Aggregate
) -> float:
    """Agreement on the items that both judged; NaN where either ranks no system above another."""
    if votes.empty:
        return float("nan")
    rule: Aggregate = aggregate if len(others) > 1 else "majority"
    theirs, _ = _aggregated(votes[others], rule)
    reference = _ratings(votes.index, theirs["class"].to_numpy())
    own = _ratings(votes.index, votes[judge].to_numpy().astype(int))
    return float(kendall_taus(own[None], reference[None], SAME_RATING_DECIMALS)[0, 0])


def _ratings(items: pd.Index, classes: npt.NDArray[np.int64]) -> Floats:
    """Rate the systems of some items by the verdicts given on them, in the order of names."""
    judgments = items.to_frame(index=False).assign(winner=np.array(WINNERS, dtype=object)[classes])
    table = rate(judgments, ridge=DEFAULT_RIDGE, interval="none").table
    return np.asarray(table.sort_values("system")["rating"], dtype=np.float64)


def _with_accuracy(taus: pd.DataFrame, accuracy: pd.DataFrame | None) -> pd.DataFrame:
    if accuracy is None:
        return taus
    return taus.merge(accuracy, on=["language", "judge"], how="left")
