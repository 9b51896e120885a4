"""Random generators seeded by content, so that adding an item never reshuffles the others."""

from __future__ import annotations

import hashlib

import numpy as np


def seed_sequence(seed: int, *keys: str) -> np.random.SeedSequence:
    """Derive a seed sequence from the user's seed and what it is for.

    Args:
        seed: The user's seed, at least 0.
        keys: Stage and item, such as ``("tournaments", "fi")``.

    Returns:
        The same sequence for the same arguments on any machine, independent of hash seeds.
    """
    digest = hashlib.sha256("\x1f".join(keys).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4")
    return np.random.SeedSequence([seed, *(int(word) for word in words)])


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Return a random generator for one stage and item; see ``seed_sequence``."""
    return np.random.default_rng(seed_sequence(seed, *keys))
