"""Longer answers are better: what no method should lose to."""

from __future__ import annotations


def method(arena, ask, budget, seed):
    lengths = arena.answers["answer"].str.len()
    return lengths.groupby(arena.answers["system"]).mean().to_dict()
