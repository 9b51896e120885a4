"""Random pairs, and RAGElo's Elo, mean over ten tournaments."""

from __future__ import annotations

import random

from entry import ask_at_random
from ragelo.agent_rankers.elo_ranker import EloRanker
from ragelo.types.configurations import EloAgentRankerConfig

WINNERS = {"a": "A", "b": "B", "tie": "C"}


def method(arena, ask, budget, seed):
    verdicts = ask_at_random(ask, seed)
    ranker = EloRanker(EloAgentRankerConfig())
    names = verdicts[["query_id", "system_a", "system_b"]].itertuples(index=False)
    winners = verdicts["winner"].map(WINNERS)
    ranker.evaluations = [(*row, winner) for row, winner in zip(names, winners, strict=True)]
    random.seed(seed)
    totals = {}
    for _ in range(ranker.config.tournaments):
        for system, rating in ranker.run_tournament().items():
            totals[system] = totals.get(system, 0) + rating
    return totals
