"""Words that are taken from others without the order in which they wrote them.

A list of another answer's words, at the end of an answer say, brings what a surrogate reads of
single words, and none of that answer's sentences. An ordinary text shares words with others, too:
those that nearly all texts have, and rarer ones together with their neighbors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.types import Flags, Floats, Indices
from surrogate.checks.likeness import FURTHEST
from surrogate.checks.word_hashes import (
    Hashes,
    is_of_others,
    largest_by_text,
    of_questions,
    window_sums,
    word_hashes,
)
from surrogate.checks.word_order import whole_words
from surrogate.learning.estimation.answer_texts import FACTOR, mixed

WINDOW = 30
"""Words among which a list of words shows."""


def loose_shares(
    texts: Sequence[str], systems: pd.Series, questions: Indices, is_judged: Flags
) -> Floats:
    """Measure how far a part of an answer consists of other answers' words without their order.

    A word is loose where another system's judged answer to the same question has it, but no such
    answer has it next to (at most ``FURTHEST`` words from) a word that it is next to here. Words
    weigh the more, the fewer questions' answers have them: idf(w) = log((Q + 1) / (n(w) + 1)).

    Args:
        texts: N answers in one language.
        systems: The system of each, shape (N,).
        questions: Number of each one's question, shape (N,).
        is_judged: Whether it is a judged system's, shape (N,).

    Returns:
        The loose words' share of the weight of ``WINDOW`` words, where it is largest in each
        answer; between 0 and 1, shape (N,).
    """
    words_by_text = {text: whole_words(text) for text in dict.fromkeys(texts)}
    hashes = word_hashes([words_by_text[text] for text in texts])
    words = np.concatenate([np.empty(0, np.uint64), *hashes])
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in hashes])
    systems_of_words = pd.factorize(systems)[0][owners]
    by_judged = is_judged[owners]

    word_keys = of_questions(words, questions[owners])
    is_shared = is_of_others(word_keys, systems_of_words, by_judged)
    indices, pairs = _pairs(words, owners)
    first = indices[:, 0]
    pair_keys = of_questions(pairs, questions[owners[first]])
    is_shared_pair = is_of_others(pair_keys, systems_of_words[first], by_judged[first])
    is_in_shared_pair = np.zeros(len(words), dtype=bool)
    is_in_shared_pair[indices[is_shared_pair].ravel()] = True

    weights = _weights(words[by_judged], word_keys[by_judged], words, questions)
    return _largest_shares(weights, is_shared & ~is_in_shared_pair, owners, len(texts))


def _pairs(words: Hashes, owners: Indices) -> tuple[Indices, Hashes]:
    """Return the indices of the two words of each pair, shape (P, 2), and its hash, shape (P,).

    Pairs of all distances up to ``FURTHEST``; the distance is not part of the hash.
    """
    indices = [np.empty((0, 2), dtype=np.intp)]
    hashes = [np.empty(0, np.uint64)]
    for distance in range(1, FURTHEST + 1):
        first = np.flatnonzero(owners[:-distance] == owners[distance:])
        second = first + distance
        indices.append(np.column_stack([first, second]))
        hashes.append(mixed(words[first] * FACTOR + words[second]))
    return np.concatenate(indices), np.concatenate(hashes)


def _weights(
    judged_words: Hashes, judged_keys: Hashes, words: Hashes, questions: Indices
) -> Floats:
    """Weigh words by how few questions' judged answers have them, shape (N,)."""
    by_question = pd.DataFrame({"word": judged_words, "key": judged_keys}).drop_duplicates()
    n_with_word = by_question["word"].value_counts().reindex(words, fill_value=0).to_numpy()
    n_questions = len(np.unique(questions))
    return np.asarray(np.log((n_questions + 1) / (n_with_word + 1)))


def _largest_shares(weights: Floats, is_loose: Flags, owners: Indices, n_texts: int) -> Floats:
    """Return the largest share of the loose words' weight in a window of each text, shape (N,)."""
    # Fewer words are no list: a short answer, or a window at a start, counts as a full one.
    fewest = weights.mean() * WINDOW if len(weights) else 0.0
    in_window = np.maximum(window_sums(weights, owners, WINDOW), fewest)
    shares = np.divide(
        window_sums(weights * is_loose, owners, WINDOW),
        in_window,
        out=np.zeros(len(weights)),
        where=in_window > 0,
    )
    return largest_by_text(shares, owners, n_texts).clip(0.0, 1.0)
