"""Whether systems' answers fit their questions, or would do for any other as well."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
from scipy import sparse

from arena.data.types import Floats, Indices
from surrogate.checks.likeness import sums_by_question
from surrogate.learning.estimation.answer_texts import document_weights, hashed, unit_rows

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
