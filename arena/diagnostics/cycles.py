"""Verdicts on one question that run in a circle: A beats B, B beats C, C beats A."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.types import Flags, Floats, Indices
from arena.diagnostics.verdicts import ITEM, majorities, verdicts
from arena.rating.battles import Battles
from arena.rating.posterior import battle_posterior
from arena.statistics.significance import NORMAL_95

LARGEST_FIELD = 300
"""Systems judged on one question above which its circles are not counted."""
FEWEST_QUESTIONS = 10
"""Questions below which the share of circles has no lower bound."""


@dataclass(frozen=True)
class Cycles:
    """Triples of decided verdicts on one question, and how many of them run in a circle.

    Attributes:
        triples: Triples of systems with three decided verdicts on a question.
        circular: Triples that run in a circle (circular triads; Kendall and Babington Smith, 1940).
        expected: Circles expected by the ratings if verdicts were independent given these.
        beyond: Number of circles above the expected, in standard deviations over questions.
        share_low: Lower 95% bound of the share of circular triples, over questions.
    """

    triples: int
    circular: int
    expected: float
    beyond: float
    share_low: float


def cycles(judgments: pd.DataFrame) -> Cycles:
    """Count the triples of one judge's verdicts on a question that run in a circle.

    Verdicts in both orders count once, if they agree. The expected number comes from ratings by
    the decided verdicts: few where systems are far apart, a quarter where they are equal.
    """
    rows: list[tuple[float, float, float]] = []
    for _, language_judgments in judgments[judgments["winner"] != "tie"].groupby("language"):
        rows.extend(_question_cycles(language_judgments))
    triples, circular, expected = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    has_triples = triples > 0
    if not has_triples.any():
        return Cycles(triples=0, circular=0, expected=0.0, beyond=0.0, share_low=0.0)
    triples = triples[has_triples]
    circular = circular[has_triples]
    expected = expected[has_triples]
    n_triples = float(triples.sum())
    surplus = circular - expected
    surplus_deviation = float(np.sqrt(surplus @ surplus))
    beyond = 0.0
    if surplus_deviation > 0:
        beyond = float(surplus.sum()) / surplus_deviation
    share_low = 0.0
    if len(triples) >= FEWEST_QUESTIONS:
        share = float(circular.sum() / n_triples)
        # A ratio's variance over questions (linearized), as in cluster sampling.
        residuals = circular - share * triples
        share_low = share - NORMAL_95 * float(np.sqrt(residuals @ residuals)) / n_triples
    return Cycles(
        triples=round(n_triples),
        circular=round(float(circular.sum())),
        expected=float(expected.sum()),
        beyond=beyond,
        share_low=share_low,
    )


def _question_cycles(decided: pd.DataFrame) -> Iterator[tuple[float, float, float]]:
    """Yield triples, circles and expected circles of each question of one language."""
    posterior = battle_posterior(Battles.from_judgments(decided).largest_group())
    rating_of = pd.Series(posterior.ratings, list(posterior.systems))
    table = majorities(verdicts(decided), ITEM)
    # Ratings of systems that no battle connects are on other scales.
    is_rated = table["first"].isin(rating_of.index) & table["second"].isin(rating_of.index)
    table = table[is_rated & (table["outcome"] != 0)]
    for _, rows in table.groupby("query_id"):
        codes, systems = pd.factorize(pd.concat([rows["first"], rows["second"]]))
        if not 3 <= len(systems) <= LARGEST_FIELD:
            continue
        beats = _wins_matrix(codes, rows["outcome"].to_numpy() > 0, len(systems))
        is_decided = beats + beats.T
        ratings = rating_of[systems].to_numpy()
        expected = expit(ratings[:, None] - ratings[None, :]) * is_decided
        # Without directions each triple can be walked both ways round.
        yield _circles(is_decided) / 2, _circles(beats), _circles(expected)


def _wins_matrix(codes: Indices, is_first_better: Flags, n_systems: int) -> Floats:
    """Return 1 where a row's system beats a column's, else 0, shape (S, S).

    Args:
        codes: The first systems of N decided verdicts, then the second ones, shape (2 N,).
        is_first_better: Whether the first system wins, shape (N,).
        n_systems: Number of systems S.
    """
    first, second = np.split(codes, 2)
    winner = np.where(is_first_better, first, second)
    loser = np.where(is_first_better, second, first)
    beats = np.zeros((n_systems, n_systems))
    beats[winner, loser] = 1.0
    return beats


def _circles(steps: Floats) -> float:
    """Count circles of three steps: trace(A³) / 3, since a circle starts at any of its systems.

    Args:
        steps: Number (or probability) of steps from one system to another, shape (S, S).
    """
    return float(((steps @ steps) * steps.T).sum() / 3)
