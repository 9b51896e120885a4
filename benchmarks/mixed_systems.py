"""Simulated systems between the default ones: as many as wanted, close to each other."""

from __future__ import annotations

from arena.data.seeds import generator
from arena.simulation.systems import DEFAULT_SYSTEMS, ERRORS, SystemProfile


def mix_systems(count: int, seed: int) -> list[SystemProfile]:
    """Mix the error rates of two default systems, drawn at random, for each of a number of systems.

    Args:
        count: Number of systems.
        seed: Seed of the draws; a further system changes none before it.
    """
    return [_mixed(f"mixed-{index:03}", seed) for index in range(count)]


def _mixed(name: str, seed: int) -> SystemProfile:
    random = generator(seed, "mixed systems", name)
    one, other = random.choice(len(DEFAULT_SYSTEMS), size=2, replace=False)
    part = float(random.random())
    rates = {
        error: part * getattr(DEFAULT_SYSTEMS[one], error)
        + (1.0 - part) * getattr(DEFAULT_SYSTEMS[other], error)
        for error in ERRORS
    }
    return SystemProfile(name=name, **rates)
