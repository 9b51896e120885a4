"""How much of an answer's wording other texts explain, even if the copying is disguised.

A text is the vector of its pairs of words at most three apart: leaving words out, adding or
negating some, or taking sentences from several texts leaves most pairs as they are. The share of a
text that others explain is the share of its vector's squared length that the best combination of
their vectors reaches: a ridge regression in closed form, so no number of words in a row decides.
What passages explain that all systems were shown counts for nobody: two systems that quote them
are no versions of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from surrogate.checks.hashed_words import Hashes, word_runs
from surrogate.learning.answer_texts import unit_rows

FURTHEST = 3
"""Maximum distance of the two words of a pair: one or two between may be left out."""
DIMENSIONS = 2**16
NOISE = 0.05
"""Ridge, for vectors of length 1: texts that are alike by chance explain little."""
FEWEST_JUDGED = 3
"""Minimum number of judged systems, or answers to a question, that show what is usual."""


@dataclass(frozen=True)
class Likeness:
    """How far N answers consist of other answers.

    Attributes:
        answers: By answer: ``shared``, what judged answers to the same question explain of it
            beyond the passages, as if all questions were alike; ``repeated``, what its system's
            other answers explain; ``elsewhere``, its largest cosine to the judged answers to
            another question together. NaN where too few judged systems answered.
        nearest: By system without verdicts the judged system that explains most of its answers.
    """

    answers: pd.DataFrame
    nearest: pd.Series


def measure_likeness(
    texts: Sequence[Hashes],
    rows: pd.DataFrame,
    is_judged: Flags,
    questions_of_passages: Indices,
) -> Likeness:
    """Measure how far answers consist of other answers.

    Args:
        texts: Words of each of N answers and then of P shown passages, of ``word_hashes``.
        rows: By answer: ``system`` and the number of its ``question``.
        is_judged: Whether it is a judged system's, shape (N,).
        questions_of_passages: The number of the question that each passage was shown for, shape
            (P,).
    """
    systems, names = pd.factorize(rows["system"])
    shared = np.full(len(rows), np.nan)
    # What is shared by the judged answers to an answer's question, the median.
    typical = np.full(len(rows), np.nan)
    # What the answers of a system without verdicts (row) share with those of a judged one (column).
    by_source = np.zeros((len(names), len(names)))
    compared_parts = [np.empty(0, dtype=np.intp)]
    vector_parts = [sparse.csr_array((0, DIMENSIONS))]
    for batch in _batches(texts, rows, is_judged, questions_of_passages):
        for question, products in zip(batch.questions, batch.products(), strict=True):
            n_judged = len(question.judged)
            beyond, explained = _beyond_passages(products, n_judged, len(question.new))
            answers = np.concatenate([question.judged, question.new])
            shared[answers] = beyond
            typical[answers] = np.median(beyond[:n_judged])
            by_source[np.ix_(systems[question.new], systems[question.judged])] += explained
        is_answer = batch.texts < len(rows)
        compared_parts.append(batch.texts[is_answer])
        vector_parts.append(batch.vectors[is_answer])
    compared = np.concatenate(compared_parts)
    # Questions differ in how alike their answers are, and a system may have answered only those
    # with alike answers: each answer is measured from what is typical of its question.
    mean_typical = np.nanmean(typical) if len(compared) else np.nan
    vectors = sparse.vstack(vector_parts, format="csr")
    across = _across_questions(vectors, rows.iloc[compared], is_judged[compared])
    return Likeness(
        answers=across.reindex(rows.index).assign(shared=shared + (mean_typical - typical)),
        nearest=pd.Series(names[by_source.argmax(axis=1)], names),
    )


def _beyond_passages(products: Floats, n_judged: int, n_new: int) -> tuple[Floats, Floats]:
    """Return what judged answers to a question explain that its passages do not.

    Args:
        products: Inner products of the J judged and M new answers and the passages, in this order.
        n_judged: J.
        n_new: M.

    Returns:
        What all other judged answers explain of each answer beyond the passages, shape (J + M,);
        and what each judged answer explains of each new one among all sources, shape (M, J).
    """
    n_answers = n_judged + n_new
    among_passages = products[n_answers:, n_answers:]
    by_passages = explained_by(products[:n_answers, n_answers:], among_passages).sum(axis=1)
    is_source = np.ones(len(products), dtype=bool)
    is_source[n_judged:n_answers] = False
    among_sources = products[np.ix_(is_source, is_source)]
    of_judged = explained_by_others(among_sources)[:n_judged]
    by_source = explained_by(products[n_judged:n_answers, is_source], among_sources)
    explained = np.concatenate([of_judged, by_source.sum(axis=1)])
    return explained - by_passages, by_source[:, :n_judged]


@dataclass(frozen=True)
class _Question:
    """The texts to a question, by their indices among all texts.

    Attributes:
        judged: Answers of judged systems.
        new: Answers of systems without verdicts.
        passages: Passages that were shown.
    """

    judged: Indices
    new: Indices
    passages: Indices

    @property
    def texts(self) -> Indices:
        """All of them, in this order."""
        return np.concatenate([self.judged, self.new, self.passages])


@dataclass(frozen=True)
class _Batch:
    """The texts to some questions, one question after the other.

    Attributes:
        questions: The questions.
        vectors: Of their T texts, shape (T, D).
    """

    questions: Sequence[_Question]
    vectors: sparse.csr_array

    @property
    def texts(self) -> Indices:
        """Indices of the texts among all, shape (T,)."""
        return np.concatenate([question.texts for question in self.questions])

    def products(self) -> Iterator[Floats]:
        """Yield the inner products of the n texts to each question, shape (n, n)."""
        sizes = np.array([len(question.texts) for question in self.questions])
        question_of = np.repeat(np.arange(len(sizes)), sizes)
        # With columns of their own, texts to different questions have a product of 0: one
        # multiplication gives the products of all questions.
        apart = _with_columns_by(question_of, self.vectors)
        products = sparse.coo_array(apart @ apart.T)
        question = question_of[products.coords[0]]
        first_texts = np.cumsum(sizes) - sizes
        rows = products.coords[0] - first_texts[question]
        columns = products.coords[1] - first_texts[question]
        # The cells of all matrices, one question's after the other's, each row by row.
        ends = np.cumsum(sizes**2)
        starts = ends - sizes**2
        cells = np.zeros(ends[-1])
        cells[starts[question] + rows * sizes[question] + columns] = products.data
        for size, start, end in zip(sizes, starts, ends, strict=True):
            yield cells[start:end].reshape(size, size)


def _batches(
    texts: Sequence[Hashes],
    rows: pd.DataFrame,
    is_judged: Flags,
    questions_of_passages: Indices,
) -> Iterator[_Batch]:
    """Compare the texts to some questions at a time; see ``measure_likeness``.

    Questions that too few judged systems answered are left out.
    """
    # Pairs of texts whose products are held at a time.
    most_pairs = 250_000
    passages = pd.Series(questions_of_passages).groupby(questions_of_passages).indices
    questions: list[_Question] = []
    n_pairs = 0
    for number, answers in rows.groupby("question").indices.items():
        is_judged_here = is_judged[answers]
        if is_judged_here.sum() < FEWEST_JUDGED:
            continue
        question = _Question(
            judged=answers[is_judged_here],
            new=answers[~is_judged_here],
            # Among all texts, passages follow the answers.
            passages=len(rows) + passages.get(number, np.empty(0, dtype=np.intp)),
        )
        n_more = len(question.texts) ** 2
        if questions and n_pairs + n_more > most_pairs:
            yield _batch_of(questions, texts)
            questions = []
            n_pairs = 0
        questions.append(question)
        n_pairs += n_more
    if questions:
        yield _batch_of(questions, texts)


def _batch_of(questions: Sequence[_Question], texts: Sequence[Hashes]) -> _Batch:
    compared: list[Hashes] = []
    question_parts = []
    is_judged_parts = []
    for number, question in enumerate(questions):
        indices = question.texts
        compared.extend(texts[index] for index in indices)
        question_parts.append(np.full(len(indices), number))
        is_judged_parts.append(np.arange(len(indices)) < len(question.judged))
    vectors = local_vectors(
        pair_counts(compared),
        questions=np.concatenate(question_parts),
        is_judged=np.concatenate(is_judged_parts),
    )
    return _Batch(questions, vectors)


def _with_columns_by(groups: Indices, vectors: sparse.csr_array) -> sparse.csr_array:
    """Give the vectors of each group columns of their own, only those that are not empty."""
    owners = np.repeat(groups, np.diff(vectors.indptr))
    columns, distinct = pd.factorize(owners * DIMENSIONS + vectors.indices)
    shape = (vectors.shape[0], len(distinct))
    return sparse.csr_array((vectors.data, columns, vectors.indptr), shape=shape)


def _across_questions(
    vectors: sparse.csr_array, rows: pd.DataFrame, is_judged: Flags
) -> pd.DataFrame:
    """Compare answers with those to other questions: ``repeated`` and ``elsewhere``.

    Args:
        vectors: Of N answers, shape (N, D).
        rows: By answer: ``system`` and the number of its ``question``.
        is_judged: Whether it is a judged system's, shape (N,).
    """
    # A system's answers explain each other by an inverse, which takes the cube of their number.
    most_together = 200
    repeated = np.zeros(len(rows))
    for indices in rows.groupby("system").indices.values():
        for part in np.array_split(indices, -(-len(indices) // most_together)):
            together = vectors[part]
            repeated[part] = explained_by_others((together @ together.T).toarray())
    elsewhere = _largest_cosines_elsewhere(vectors, rows["question"].to_numpy(), is_judged)
    return pd.DataFrame({"repeated": repeated, "elsewhere": elsewhere}, rows.index)


def _largest_cosines_elsewhere(
    vectors: sparse.csr_array, questions: Indices, is_judged: Flags
) -> Floats:
    """Return the largest cosine of N answers to the sums of other questions', shape (N,)."""
    # The cosines of so many answers are held at a time.
    batch_size = 10_000
    n_questions = questions.max(initial=-1) + 1
    sums = unit_rows(sums_by_question(vectors[is_judged], questions[is_judged], n_questions))
    largest = np.zeros(len(questions))
    for start in range(0, len(questions), batch_size):
        batch = slice(start, start + batch_size)
        cosines = (vectors[batch] @ sums.T).toarray()
        cosines[np.arange(len(cosines)), questions[batch]] = 0.0
        largest[batch] = cosines.max(axis=1)
    return largest


def sums_by_question(
    vectors: sparse.csr_array, questions: Indices, n_questions: int
) -> sparse.csr_array:
    """Add up the vectors of N answers by question, shape (Q, D)."""
    n_answers = len(questions)
    entries = (np.ones(n_answers), (questions, np.arange(n_answers)))
    return sparse.csr_array(entries, shape=(n_questions, n_answers)) @ vectors


def pair_counts(texts: Sequence[Hashes]) -> sparse.csr_array:
    """Count the hashed pairs of words of N texts by their logarithm, shape (N, D)."""
    cells = []
    for distance in range(1, FURTHEST + 1):
        hashes, owners = word_runs(texts, (0, distance))
        columns = (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
        cells.append(owners * DIMENSIONS + columns)
    present, times = np.unique(np.concatenate(cells), return_counts=True)
    entries = (np.log1p(times), (present // DIMENSIONS, present % DIMENSIONS))
    return sparse.csr_array(entries, shape=(len(texts), DIMENSIONS))


def local_vectors(
    counts: sparse.csr_array, questions: Indices, is_judged: Flags
) -> sparse.csr_array:
    """Weigh pairs by how few judged answers to the question have them; bring texts to length 1.

    What all answers to a question must say weighs little.

    Args:
        counts: Pairs of N answers, of ``pair_counts``.
        questions: The question of each, shape (N,).
        is_judged: Whether it is a judged system's, shape (N,).
    """
    codes, labels = pd.factorize(questions)
    n_judged = np.bincount(codes[is_judged], minlength=len(labels))
    owners = np.repeat(np.arange(len(codes)), np.diff(counts.indptr))
    # The same pair of words in answers to two questions is two.
    apart = _with_columns_by(codes, counts)
    n_holding = np.bincount(apart.indices[is_judged[owners]], minlength=apart.shape[1])
    # The inverse document frequency, as of ``document_weights``.
    n_answers = n_judged[codes[owners]]
    weights = np.log((1 + n_answers) / (1 + n_holding[apart.indices])) + 1
    weighted = (counts.data * weights, counts.indices, counts.indptr)
    return unit_rows(sparse.csr_array(weighted, shape=counts.shape))


def explained_by_others(products: Floats) -> Floats:
    """Return what the other texts explain of each of N texts, shape (N,), between 0 and 1.

    Args:
        products: Inner products of the texts' vectors, shape (N, N).
    """
    gram = _gram(products)
    # The leave-one-out residual of a ridge is in the inverse's diagonal.
    residuals = 1 / np.linalg.inv(gram).diagonal()
    return np.asarray(gram.diagonal() - residuals)


def explained_by(with_sources: Floats, among_sources: Floats) -> Floats:
    """Return what each of N sources adds to what all explain of each of M texts, shape (M, N).

    Args:
        with_sources: Inner products of the texts and the sources, shape (M, N).
        among_sources: Inner products of the sources, shape (N, N).
    """
    slopes = np.linalg.solve(_gram(among_sources), with_sources.T).T
    return np.asarray(slopes * with_sources)


def _gram(products: Floats) -> Floats:
    return np.asarray(products + NOISE * np.eye(len(products)))
