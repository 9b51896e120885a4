"""Random pairs, and evalica's Bradley-Terry scores."""

from __future__ import annotations

import evalica
from entry import ask_at_random

WINNERS = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}


def method(arena, ask, budget, seed):
    verdicts = ask_at_random(ask, seed)
    if verdicts.empty:
        return {}
    winners = verdicts["winner"].map(WINNERS)
    result = evalica.bradley_terry(verdicts["system_a"], verdicts["system_b"], winners)
    return result.scores.to_dict()
