"""Random pairs, and the share of points won."""

from __future__ import annotations

from entry import ask_at_random, shares_of_points


def method(arena, ask, budget, seed):
    return shares_of_points(ask_at_random(ask, seed)).to_dict()
