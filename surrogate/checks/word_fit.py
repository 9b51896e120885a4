"""Whether words fit their neighbors as others write them, and answers fit their questions.

The words of a shuffled or sorted text are those of an answer, and what a surrogate reads of
single words is what it would read of the answer. Its pairs of neighbors are as often the reverse
of what others write as they are what others write. An ordinary text reverses few.

A list of another answer's words, at the end of an answer say, brings what a surrogate reads of
single words, and none of that answer's sentences. An ordinary text shares words with others, too:
those that nearly all texts have, and rarer ones together with their neighbors.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
import pandas as pd
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from features.text.tokens import folded_words
from surrogate.checks.hashed_words import (
    Hashes,
    is_among,
    is_of_others,
    largest_by_text,
    of_owners,
    of_questions,
    window_sums,
    word_hashes,
    word_runs,
)
from surrogate.checks.likeness import FURTHEST, sums_by_question
from surrogate.learning.answer_texts import FACTOR, document_weights, hashed, mixed, unit_rows

WINDOW = 30
"""Words among which a list of words shows."""
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


FEWEST_ANSWERS = 5
"""Minimum number of different answers, and of questions, to say whether answers fit."""


def measure_fit(
    rows: pd.DataFrame, judged: Collection[str], measured: Collection[str] | None = None
) -> pd.DataFrame:
    """Measure how far systems say the same whatever was asked, and what fits other questions.

    Args:
        rows: Of ``plain_answers``.
        judged: The judged systems that all are compared with, each with the others.
        measured: Systems to compare; by default all.

    Returns:
        By system, ``same`` and ``misfit``, which is NaN where it was not measured.
    """
    plain = rows["plain"].str.strip()
    is_same = is_most_frequent_or_empty(plain, rows["system"])
    measures = is_same.groupby(rows["system"]).mean().to_frame("same").assign(misfit=np.nan)
    profiles = QuestionProfiles.of(rows[rows["system"].isin(judged)], rows["question"].max() + 1)
    # The vectors of one system's answers are held at a time.
    for system, answers in rows.groupby("system"):
        if measured is not None and system not in measured:
            continue
        if plain[answers.index].nunique() < FEWEST_ANSWERS:
            continue
        vectors = profiles.unit_vectors(answers["answer"])
        questions = answers["question"].to_numpy()
        compared = profiles
        if system in judged:
            # A judged system is compared with the other judged systems, not with itself.
            compared = profiles.without(vectors, questions)
        measures.loc[system, "misfit"] = compared.misfit(vectors, questions)
    return measures


def is_most_frequent_or_empty(plain: pd.Series, systems: pd.Series) -> pd.Series:
    """Flag answers that are empty, or the text that a system gave most often, if twice or more."""
    times = plain.groupby([systems, plain]).transform("size")
    most = times.groupby(systems).transform("max")
    # Of several texts given equally often, one counts: the first by alphabet.
    is_candidate = (times == most) & (times > 1)
    repeated = plain.where(is_candidate).groupby(systems).transform("min")
    return ((plain == repeated) | (plain == "")).astype(np.float64)


@dataclass(frozen=True)
class QuestionProfiles:
    """Profiles of the judged answers to each of Q questions.

    Attributes:
        sums: Sum of the unit vectors of the answers to each question, shape (Q, D).
        n_answers: Number of these answers, shape (Q,).
        weights: Of each dimension: the fewer judged answers have an n-gram, the more, shape (D,).
    """

    sums: Floats
    n_answers: Indices
    weights: Floats

    @classmethod
    def of(cls, rows: pd.DataFrame, n_questions: int) -> Self:
        """Add up judged answers by question.

        Args:
            rows: Columns ``answer, question``.
            n_questions: Number of questions, judged or not.
        """
        counts = _folded(rows["answer"])
        weights = document_weights(counts)
        questions = rows["question"].to_numpy()
        sums = sums_by_question(unit_rows(counts, weights), questions, n_questions).toarray()
        return cls(sums, np.bincount(questions, minlength=n_questions), weights)

    def unit_vectors(self, answers: pd.Series) -> sparse.csr_array:
        """Return the weighted n-grams of N answers, shape (N, D)."""
        return unit_rows(_folded(answers), self.weights)

    def without(self, vectors: sparse.csr_array, questions: Indices) -> Self:
        """Leave out one answer, given by its vector, to each of some questions."""
        sums = self.sums.copy()
        sums[questions] -= vectors.toarray()
        n_answers = self.n_answers.copy()
        n_answers[questions] -= 1
        return replace(self, sums=sums, n_answers=n_answers)

    def misfit(self, vectors: sparse.csr_array, questions: Indices) -> float:
        """Return the share of other questions that a system's answers fit better than their own.

        An answer fits a question by its cosine to the sum of the judged answers. 0.5 is chance.
        Answers that are like those to no question in particular, such as "I do not know", count
        little: each as much as its cosine to the most similar question exceeds the median.

        Args:
            vectors: Of the system's N answers, shape (N, D).
            questions: Numbers of their questions, shape (N,).

        Returns:
            The share, 0 to 1; NaN where the system has too few answers to questions with judged
            answers, or none that tells questions apart.
        """
        has_answers = self.n_answers > 0
        is_usable = has_answers[questions]
        if is_usable.sum() < FEWEST_ANSWERS:
            return float("nan")
        sums = self.sums[has_answers]
        lengths = np.linalg.norm(sums, axis=1)
        # A shorter sum is the rounding error of one without words: nothing is like it.
        shortest = 1e-6
        cosines = (vectors[is_usable] @ sums.T) / np.where(lengths > shortest, lengths, 1.0)
        # No rounding error may make a cosine larger than its equal.
        cosines = np.round(cosines, 12)
        # The column of each question among those that have answers.
        columns = np.cumsum(has_answers) - 1
        answered = columns[questions[is_usable]]
        own_cosines = cosines[np.arange(len(answered)), answered][:, None]
        n_above = (cosines > own_cosines).sum(axis=1)
        n_equal = (cosines == own_cosines).sum(axis=1) - 1
        distinctness = cosines.max(axis=1) - np.median(cosines, axis=1)
        total = distinctness.sum()
        if total <= 0:
            return float("nan")
        mean_above = (n_above + n_equal / 2) @ distinctness / total
        return float(mean_above / (len(sums) - 1))


def _folded(answers: pd.Series) -> sparse.csr_array:
    """Count character n-grams in few dimensions, shape (N, D)."""
    n_dimensions = 1024
    counts = sparse.coo_array(hashed(list(answers)))
    entries = (counts.data, (counts.row, counts.col % n_dimensions))
    return sparse.csr_array(entries, shape=(len(answers), n_dimensions))
