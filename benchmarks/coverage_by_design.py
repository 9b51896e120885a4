"""How often intervals of ratings hold, and bounds of ranks, by the design of the battles.

    python benchmarks/tables.py coverage

Ratings are compared after centering; an interval that holds less often than it says is too narrow.
At separation (a system or a group won all) it may be wider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from design_effects import true_ratings
from scipy.special import expit

from arena.data.types import Floats, Indices
from arena.rating.ratings import rate

ARENAS = 150


@dataclass(frozen=True)
class Design:
    """How battles are drawn.

    Attributes:
        n_systems: Number of systems.
        shape: Which of them meet.
        spread: Standard deviation of their ratings, in logits.
        per_question: Battles on one question; of several, every pair is judged twice with one
            outcome.
        winner: Whether a system is far above the others, and nearly surely wins all.
        taste: Standard deviation of what each of 20 voters adds to every system's rating.
        unequal: Standard deviation of the logarithm of a voter's number of votes.
    """

    n_systems: int = 8
    shape: str = "round robin"
    spread: float = 1.0
    per_question: int = 1
    winner: bool = False
    taste: float = 0.0
    unequal: float = 0.0


DESIGNS: Mapping[str, Design] = {
    "8 systems, all pairs": Design(),
    "2 systems": Design(2),
    "20 systems, all pairs": Design(20),
    "all against one": Design(shape="star"),
    "systems nearly equal": Design(spread=0.3),
    "systems far apart": Design(spread=3.0),
    "ten battles a question": Design(per_question=10),
    "one wins all": Design(winner=True),
    "voters of their own taste": Design(taste=1.0),
    "some voters vote often": Design(taste=1.0, unequal=1.5),
}
"""Each changes the first one: eight systems in all pairs, each on a question of its own."""


def pairs_of(design: Design) -> tuple[Indices, Indices]:
    if design.shape == "round robin":
        return np.triu_indices(design.n_systems, 1)
    others = np.arange(1, design.n_systems)
    return np.zeros_like(others), others


def drawn(design: Design, seed: int, per_system: int = 60) -> tuple[pd.DataFrame, Floats]:
    """Draw battles; return them and the true ratings, centered."""
    rng = np.random.default_rng(seed)
    ratings = rng.normal(0.0, design.spread, design.n_systems)
    if design.winner:
        ratings[0] = ratings.max() + 6.0
    first, second = pairs_of(design)
    n_battles = per_system * design.n_systems // 2
    number = np.arange(n_battles)
    # Pairs that are judged twice have one outcome, but for the side.
    draw_of = number // 2 if design.per_question > 1 else number
    pair = rng.permutation(number % len(first))[draw_of]
    is_turned = rng.random(n_battles) < 0.5
    first, second = first[pair], second[pair]
    side = np.where(is_turned, -0.3, 0.3)
    question = number // design.per_question
    logits = ratings[first] - ratings[second] + side
    if design.taste:
        voter, tastes = drawn_voters(design, n_battles, rng)
        logits += tastes[voter, first] - tastes[voter, second]
        ratings = true_ratings(ratings, np.full(design.n_systems, design.taste), rng)
    is_won = (rng.random(n_battles)[draw_of] < expit(logits)) != is_turned
    names = np.array([f"s{index:02}" for index in range(design.n_systems)])
    table = pd.DataFrame({"query_id": [f"q{index}" for index in question]})
    table["system_a"] = names[np.where(is_turned, second, first)]
    table["system_b"] = names[np.where(is_turned, first, second)]
    table["winner"] = np.where(is_won, "a", "b")
    table["sides"] = "shown"
    if design.taste:
        table = table.assign(judge="people", voter=[f"v{number}" for number in voter])
    return table, ratings - ratings.mean()


def drawn_voters(
    design: Design, n_battles: int, rng: np.random.Generator
) -> tuple[Indices, Floats]:
    """Draw each battle's voter, and what each voter adds to ratings, shape (voters, systems)."""
    n_voters = 20
    activity = rng.lognormal(sigma=design.unequal, size=n_voters)
    voter = rng.choice(n_voters, n_battles, p=activity / activity.sum())
    return voter, design.taste * rng.normal(size=(n_voters, design.n_systems))


def share_of_ranks_held(rated: pd.DataFrame, truth: Floats) -> float:
    """Return how many of the bounds of ranks hold the true rank."""
    rank = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    return float(((rated["rank_low"] <= rank) & (rank <= rated["rank_high"])).mean())


def coverage(name: str) -> list[float]:
    """Return the share of ratings and ranks in their intervals, and of separation."""
    design = DESIGNS[name]
    ratings_held, ranks_held, separated = [], [], []
    for seed in range(ARENAS):
        table, truth = drawn(design, seed)
        rated = rate(table).table.set_index("system").sort_index()
        if rated["group"].nunique() > 1 or len(rated) < design.n_systems:
            continue
        ratings_held.append(((rated["low"] <= truth) & (truth <= rated["high"])).mean())
        ranks_held.append(share_of_ranks_held(rated, truth))
        separated.append(rated["note"].ne("").any())
    return [float(np.mean(values)) for values in (ratings_held, ranks_held, separated)]
