"""Words and runs of words of answers as hashes, and which of them others share.

Millions of runs are compared as numbers, without their texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.types import Flags, Floats, Indices
from surrogate.learning.answer_texts import FACTOR, mixed

Hashes = npt.NDArray[np.uint64]


def word_hashes(texts: Sequence[Sequence[str]]) -> list[Hashes]:
    """Return a hash of each word of each text, the same for the same word."""
    codes = defaultdict[str, int](count(1).__next__)
    numbers = np.fromiter(map(codes.__getitem__, chain.from_iterable(texts)), dtype=np.uint64)
    ends = np.cumsum([len(text) for text in texts])
    return np.split(mixed(numbers), ends[:-1])


def word_runs(texts: Sequence[Hashes], offsets: Sequence[int]) -> tuple[Hashes, Indices]:
    """Return a hash of the words at some offsets from each word, and the index of its text.

    The offsets are not part of the hash: a pair stays the same when a word between is left out.
    """
    words = np.concatenate([np.empty(0, np.uint64), *texts])
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return hashed_runs(words, owners, offsets)


def hashed_runs(units: Hashes, owners: Indices, offsets: Sequence[int]) -> tuple[Hashes, Indices]:
    """Return a hash of the units at some offsets from each unit, and the index of its text.

    Args:
        units: Hashes of the words, or codes of the letters, of all texts, one after another.
        owners: The index of each one's text.
        offsets: Rising from 0.
    """
    n_runs = max(len(units) - offsets[-1], 0)
    hashes = np.zeros(n_runs, np.uint64)
    for offset in offsets:
        hashes = hashes * FACTOR + units[offset : offset + n_runs]
    # Texts follow each other without a gap: a run may not reach into the next one.
    is_inside = owners[:n_runs] == owners[offsets[-1] :]
    return mixed(hashes[is_inside]), owners[:n_runs][is_inside]


def of_owners(hashes: Hashes, owners: Indices) -> Hashes:
    """Make a hash of a text's and its owner, which is the number of a text or a system."""
    return np.asarray(hashes ^ mixed(owners.astype(np.uint64) + np.uint64(1)))


def of_questions(hashes: Hashes, questions: Indices) -> Hashes:
    """Make a hash of a text's and its question: only answers to the same question are compared."""
    of_question = mixed(questions.astype(np.uint64) + np.uint64(1))
    return mixed(hashes * FACTOR + of_question)


def is_of_others(keys: Hashes, systems: Indices, by_judged: Flags) -> Flags:
    """Flag keys that an answer of another judged system has.

    Args:
        keys: Hashes of words, pairs or runs with their question, of ``of_questions``, shape (N,).
        systems: The system of each, shape (N,).
        by_judged: Whether that is a judged system, shape (N,).
    """
    judged = pd.DataFrame({"key": keys[by_judged], "system": systems[by_judged]})
    n_systems = judged.drop_duplicates()["key"].value_counts()
    n_holding = n_systems.reindex(keys, fill_value=0).to_numpy()
    # A judged system is itself one of those that have its words.
    return np.asarray(n_holding > by_judged)


def is_among(hashes: Hashes, among: Hashes) -> Flags:
    """Flag hashes that are among others; pandas looks them up faster than ``numpy.isin``."""
    return np.asarray(pd.Index(hashes).isin(among))


def largest_counts(flags: Flags, owners: Indices, window: int, n_texts: int) -> Floats:
    """Count the flagged of so many runs side by side, where they are most in each text.

    Args:
        flags: Of the N runs of all texts, one after another, shape (N,).
        owners: The text of each, shape (N,).
        window: Number of runs among which they are counted.
        n_texts: Number of texts.

    Returns:
        The number of each text, shape (n_texts,).
    """
    return largest_by_text(window_sums(flags, owners, window), owners, n_texts)


def window_sums(values: npt.NDArray[Any], owners: Indices, window: int) -> npt.NDArray[Any]:
    """Return of each value its sum with those before it in a window of its text, shape (N,)."""
    cumulative = np.concatenate([[0], np.cumsum(values)])
    ends = np.arange(len(values)) + 1
    text_starts = np.searchsorted(owners, owners)
    return np.asarray(cumulative[ends] - cumulative[np.maximum(ends - window, text_starts)])


def largest_by_text(values: npt.NDArray[Any], owners: Indices, n_texts: int) -> Floats:
    """Return the largest value of each text, shape (n_texts,); 0 without one."""
    largest = np.zeros(n_texts)
    np.maximum.at(largest, owners, values)
    return largest
