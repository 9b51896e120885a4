"""Random generators seeded by content, so that adding an item never reshuffles the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.data.types import Indices

SAME_DECIMALS = 8
"""Decimals to which values are equal: sums in another order differ only beyond them."""


def seed_sequence(seed: int, *keys: str) -> np.random.SeedSequence:
    """Derive a seed sequence from the user's seed and what it is for, the same on any machine.

    Args:
        seed: The user's seed, at least 0.
        keys: Stage and item, such as ``("tournaments", "fi")``.
    """
    digest = hashlib.sha256("\x1f".join(keys).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4")
    return np.random.SeedSequence([seed, *(int(word) for word in words)])


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Return a random generator for one stage and item; see ``seed_sequence``."""
    return np.random.default_rng(seed_sequence(seed, *keys))


def by_content(systems: Iterable[str], answers: pd.DataFrame) -> list[str]:
    """Order systems by their answers, so that draws among them do not depend on their names.

    Args:
        systems: Systems to order, by digests of their answers; those with equal ones, by name.
        answers: Columns ``language, query_id, system``, and ``answer`` if there are any.
    """
    names = sorted(set(systems))
    if "answer" not in answers:
        return names
    answers = answers[answers["system"].isin(names)]
    row_hashes = pd.util.hash_pandas_object(answers[[*QUESTION_KEY, "answer"]], index=False)
    # A sum of hashes does not depend on the order of rows; it wraps around at 64 bits.
    digests = row_hashes.groupby(answers["system"].to_numpy()).sum()
    return sorted(names, key=lambda name: int(digests.get(name, 0)))


def places_by_value(*values: npt.ArrayLike) -> Indices:
    """Return each system's place in the order of its ratings, shape (S,).

    ``draws[:, places_by_value(ratings)]`` gives every system the same draws whatever it is called.

    Args:
        values: Ratings of S systems, sorted by the first, then by those that follow; NaN last.
    """
    # lexsort takes its last key first.
    rounded = [np.asarray(value).round(SAME_DECIMALS) for value in values[::-1]]
    # argsort of a permutation is its inverse: from the order to each system's place in it.
    return np.argsort(np.lexsort(rounded))
