"""How often is a cheaper system as good as its board claims?

The questions of an arena are split at random. A board from one half states the probability that
a system wins at least 45% against another. Costs are drawn at random, so that either system of a
pair may be the cheaper one. The verdicts on the other half test the claims. Ratings by these
verdicts have errors, too, so that a true claim fails there now and then. Printed are the share of
pairs above 45% in the other half, and the share to expect if the probabilities are right.

Run:  python benchmarks/savings.py [--splits 4] ARENA FEATURES [JUDGE]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logit, ndtr, ndtri

from arena.data.arena import Arena
from arena.data.folder import read_arena
from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags, Floats
from arena.rating.ratings import rate
from arena.statistics.significance import EVEN, MARGIN, NORMAL_95
from surrogate.board.build import build_board
from surrogate.board.savings import LIKELY_ENOUGH

BOUND = float(logit(EVEN - MARGIN))


def half_of(arena: Arena, is_kept: Flags) -> Arena:
    """Keep some of an arena's questions."""
    keys = arena.queries.loc[is_kept, QUESTION_KEY]
    return replace(
        arena,
        queries=arena.queries.merge(keys),
        answers=arena.answers.merge(keys),
        judgments=arena.judgments.merge(keys),
    )


def claims_of(arena: Arena, features: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the claims of a board of half of the questions, with what the other half shows."""
    rng = np.random.default_rng(seed)
    is_first_half = rng.permutation(len(arena.queries)) % 2 == 0
    systems = sorted(arena.info.systems)
    costs = [str(cost) for cost in rng.random(len(systems))]
    attributes = pd.DataFrame({"system": systems, "cost": costs})
    first_half = replace(half_of(arena, is_first_half), attributes=attributes)
    board = build_board(first_half, feature_table=features, seed=seed)
    claims = board.savings.dropna(subset=["probability"])
    # The error of a claim cannot be told from a probability of 0 or 1.
    claims = claims[claims["probability"].between(0.001, 0.9999)]
    ratings = ratings_by_verdicts(half_of(arena, ~is_first_half))
    of_systems = ratings.reindex(claims["system"])
    of_opponents = ratings.reindex(claims["opponent"])
    differences = of_systems["rating"].to_numpy() - of_opponents["rating"].to_numpy()
    variances = of_systems["variance"].to_numpy() + of_opponents["variance"].to_numpy()
    expected = expected_shares(claims, variances)
    return claims.assign(is_above=differences > BOUND, expected=expected)


def ratings_by_verdicts(arena: Arena) -> pd.DataFrame:
    """Return ``rating`` (logits) and its ``variance`` by system."""
    table = rate(arena.judgments, language="all").table
    standard_errors = (table["high"] - table["low"]) / (2 * NORMAL_95)
    table = table.assign(variance=standard_errors**2)
    return table.groupby("system")[["rating", "variance"]].mean()


def expected_shares(claims: pd.DataFrame, variances: Floats) -> Floats:
    """Return how likely each claim holds by verdicts with errors of these variances, shape (N,)."""
    distances = logit(claims["win_rate"].to_numpy()) - BOUND
    # The board's probability is that of its distance in standard errors of its own.
    board_errors = distances / ndtri(claims["probability"].to_numpy())
    errors = np.hypot(board_errors, np.sqrt(variances))
    return np.asarray(ndtr(distances / errors))


def main() -> None:
    """Print the shares by how probable the claims are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arena", type=Path)
    parser.add_argument("features", type=Path)
    parser.add_argument("judge", nargs="?")
    parser.add_argument("--splits", type=int, default=4)
    options = parser.parse_args()
    arena = read_arena(options.arena).judged_by(options.judge)
    features = pd.read_parquet(options.features)
    parts = [claims_of(arena, features, seed) for seed in range(options.splits)]
    claims = pd.concat(parts, ignore_index=True)
    edges = [0, 0.5, 0.8, LIKELY_ENOUGH, 1]
    groups = claims.groupby(pd.cut(claims["probability"], edges), observed=True)
    table = groups.agg(
        claims=("is_above", "size"),
        probability=("probability", "mean"),
        above=("is_above", "mean"),
        expected=("expected", "mean"),
    )
    print(f"{arena.info.name}, {options.splits} splits")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
