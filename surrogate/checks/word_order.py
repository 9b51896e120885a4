"""Whether neighboring words have the order in which others write them.

The words of a shuffled or sorted text are those of an answer, and what a surrogate reads of
single words is what it would read of the answer. Its pairs of neighbors are as often the reverse
of what others write as they are what others write. An ordinary text reverses few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import pandas as pd

from arena.data.types import Flags, Floats, Indices
from features.text.tokens import folded_words
from surrogate.checks.word_hashes import Hashes, is_among, of_owners, word_hashes, word_runs

FEWEST_PAIRS = 400
"""Minimum number of a system's pairs that others write, in either order, to say which is usual."""


def reversed_shares(texts: Sequence[str], systems: pd.Series, is_judged: Flags) -> pd.Series:
    """Measure how many neighboring words have the reverse order of other systems' answers.

    Args:
        texts: N answers, to any questions of one language.
        systems: The system of each, shape (N,).
        is_judged: Whether it is a judged system's, shape (N,).

    Returns:
        System to the share of its pairs of neighbors whose reverse other judged answers have, of
        those that others have in either order: 0.5 of a shuffled text. A pair that others have in
        both orders counts half. NaN with fewer than ``FEWEST_PAIRS``.
    """
    words_by_text = {text: whole_words(text) for text in dict.fromkeys(texts)}
    words = word_hashes([words_by_text[text] for text in texts])
    pairs, texts_of_pairs = word_runs(words, (0, 1))
    # Each text backward: its pairs are the same ones, swapped.
    swapped, texts_of_swapped = word_runs([text[::-1] for text in words], (0, 1))
    codes, names = pd.factorize(systems)
    is_by_judged = is_judged[texts_of_pairs]
    judged_pairs = _PairsOfSystems.of(pairs[is_by_judged], codes[texts_of_pairs[is_by_judged]])
    n_forward = judged_pairs.count(pairs, codes[texts_of_pairs], len(names))
    n_backward = judged_pairs.count(swapped, codes[texts_of_swapped], len(names))
    n_either = n_forward + n_backward
    shares = np.where(n_either >= FEWEST_PAIRS, n_backward / np.maximum(n_either, 1), np.nan)
    return pd.Series(shares, names)


def whole_words(text: str) -> list[str]:
    """Cut a text at its spaces; where it has hardly any, into characters as ``folded_words``.

    Syllables of Korean stay together: those within a word keep their order when words are shuffled.
    """
    # Parts are longer on average where a script has no spaces between words.
    longest_mean = 12
    parts = text.split()
    if len(text) > longest_mean * len(parts):
        return folded_words(text)
    return [word for word in map(_joined_words, parts) if word]


@lru_cache(maxsize=2**16)  # texts share most of their words
def _joined_words(part: str) -> str:
    return "".join(folded_words(part))


@dataclass(frozen=True)
class _PairsOfSystems:
    """Pairs of words that systems write, each once per system.

    Attributes:
        n_systems: Pair to the number of systems that write it.
        keys: Hashes of pair and system.
    """

    n_systems: pd.Series
    keys: Hashes

    @classmethod
    def of(cls, pairs: Hashes, systems: Indices) -> Self:
        """Collect N pairs and the system of each, both of shape (N,)."""
        distinct = pd.DataFrame({"pair": pairs, "system": systems}).drop_duplicates()
        keys = of_owners(distinct["pair"].to_numpy(), distinct["system"].to_numpy())
        return cls(distinct["pair"].value_counts(), keys)

    def count(self, pairs: Hashes, systems: Indices, n_systems: int) -> Floats:
        """Count those of each system's N pairs that another system writes, shape (n_systems,)."""
        n_writing = self.n_systems.reindex(pairs, fill_value=0).to_numpy()
        is_own = is_among(of_owners(pairs, systems), self.keys)
        return np.bincount(systems, n_writing > is_own, n_systems).astype(np.float64)
