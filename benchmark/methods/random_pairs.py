"""Anchor: random pairs, and the Bradley-Terry model by choix."""

from __future__ import annotations

import choix
from entry import ask_at_random

ALPHA = 0.1
"""choix's regularization: without it a system that always wins has no rating."""


def method(arena, ask, budget, seed):
    verdicts = ask_at_random(ask, seed)
    systems = sorted({*verdicts["system_a"], *verdicts["system_b"]})
    wins = []
    for verdict in verdicts.itertuples():
        pair = (systems.index(verdict.system_a), systems.index(verdict.system_b))
        if verdict.winner in ("a", "tie"):
            wins.append(pair)
        if verdict.winner in ("b", "tie"):
            wins.append(pair[::-1])
    if not wins:
        return {}
    ratings = choix.ilsr_pairwise(len(systems), wins, alpha=ALPHA)
    return dict(zip(systems, ratings, strict=True))
