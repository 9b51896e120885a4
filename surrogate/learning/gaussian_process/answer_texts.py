"""What answers say, as vectors: how alike systems write, and how near an answer is to the others.

Vectors are of character n-grams within words (scikit-learn's ``char_wb``), hashed with signs that
keep inner products on average (Weinberger et al., 2009), weighted by their inverse document
frequency, of unit length: a few thousand numbers a system stand for all its answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from arena.data.errors import UsageError
from surrogate.learning.training import mean_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

DIMENSIONS = 4096
TEXTS_KEPT = 2**16
"""Texts whose hashed n-grams a process remembers, some 5 kB each."""
NGRAMS = (3, 5)
"""Characters of the shortest and of the longest n-grams."""

_SPACE = ord(" ")
_FACTOR = np.uint64(0x100000001B3)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
KEPT = np.float16
"""Type in which vectors are kept, small enough to travel with a board."""
ANSWERS_AT_ONCE = 2_000
"""Whose products are found together, which bounds memory."""


@dataclass(frozen=True)
class AnswerTexts:
    """Vectors of the training systems' answers in one language.

    Attributes:
        weights: Inverse document frequency of each hashed n-gram, shape (D,).
        profiles: Mean vector of each training system's answers, shape (S, D).
        sums: Sum of the training systems' vectors of each question, shape (Q, D).
        counts: Training systems that answered each question, shape (Q,).
    """

    weights: Floats
    profiles: Floats
    sums: Floats
    counts: Floats

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """What to keep of it."""
        return {
            "weights": self.weights.astype(np.float32),
            "profiles": self.profiles.astype(KEPT),
            "sums": self.sums.astype(KEPT),
            "counts": self.counts.astype(np.float32),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[np.generic]], systems: int, questions: int
    ) -> AnswerTexts:
        """Undo ``arrays``, which a file may have held.

        Raises:
            UsageError: If they are not those of that many systems and questions.
        """
        shapes = {
            "weights": (DIMENSIONS,),
            "profiles": (systems, DIMENSIONS),
            "sums": (questions, DIMENSIONS),
            "counts": (questions,),
        }
        if {name: values.shape for name, values in arrays.items()} != shapes:
            raise UsageError(f"texts that are not of {systems} systems and {questions} questions")
        values = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
        if not all(np.isfinite(array).all() for array in values.values()):
            raise UsageError("texts with values that are no numbers")
        return cls(**values)

    def vectors(self, texts: Sequence[str]) -> sparse.csr_array:
        """Return the unit vectors of texts, shape (N, D); of an empty text, zeros."""
        return _unit(hashed(texts), self.weights)

    def consensus(
        self, vectors: sparse.csr_array, questions: Integers, own: npt.NDArray[np.bool_]
    ) -> Floats:
        """Return each answer's mean cosine to the training systems' answers to its question.

        Args:
            vectors: Those of N answers, shape (N, D).
            questions: Place of each one's question, shape (N,); -1 of one that nobody answered.
            own: Whether an answer is a training system's own, and so not compared with itself.

        Returns:
            Shape (N,); NaN where no other training system answered.
        """
        cosines = _products(vectors, self.sums, questions)
        others = np.where(questions >= 0, self.counts[questions] - own, 0.0)
        return mean_of(cosines - own * _squares(vectors), others)


def read_answer_texts(
    texts: Sequence[str], systems: Integers, questions: Integers, shape: tuple[int, int]
) -> tuple[AnswerTexts, Floats]:
    """Learn from the training systems' answers.

    Args:
        texts: N answers.
        systems: Place of each one's system, shape (N,).
        questions: Place of each one's question, shape (N,).
        shape: Number of systems S and of questions Q.

    Returns:
        What was learned, and each answer's mean cosine to the other systems' answers to its
        question, shape (N,); NaN where nobody else answered.
    """
    counts = hashed(texts)
    present = np.bincount(counts.indices, minlength=DIMENSIONS)
    weights = np.log((1 + len(texts)) / (1 + present)) + 1
    vectors = _unit(counts, weights)
    profiles = mean_vectors(vectors, systems, shape[0])
    sums = _sums(vectors, questions, shape[1])
    times = np.bincount(questions, minlength=shape[1]).astype(np.float64)
    learned = AnswerTexts(weights, profiles, sums, times)
    to_all = _products(vectors, sums, questions)
    return learned, mean_of(to_all - _squares(vectors), times[questions] - 1)


def mean_vectors(vectors: sparse.csr_array, systems: Integers, size: int) -> Floats:
    """Return the mean vector of the answers of each place, (N, D) to (S, D); zeros without any."""
    answered = np.maximum(np.bincount(systems, minlength=size), 1)
    return _sums(vectors, systems, size) / answered[:, None]


def _sums(vectors: sparse.csr_array, places: Integers, size: int) -> Floats:
    """Sum of the vectors of each place, shape (N, D) to (size, D)."""
    ones, columns = np.ones(len(places)), np.arange(len(places))
    added = sparse.csr_array((ones, (places, columns)), shape=(size, len(places))) @ vectors
    return np.asarray(added.toarray(), np.float64)


def _products(vectors: sparse.csr_array, others: Floats, places: Integers) -> Floats:
    """Inner product of each vector with one of the others, shape (N,).

    By what is not zero: a dense row an answer would be 32 kB each.
    """
    found: list[Floats] = [np.empty(0)]
    for start in range(0, vectors.shape[0], ANSWERS_AT_ONCE):
        block = vectors[start : start + ANSWERS_AT_ONCE]
        row = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        values = block.data * others[places[start : start + ANSWERS_AT_ONCE][row], block.indices]
        found.append(np.asarray(np.bincount(row, values, block.shape[0]), np.float64))
    return np.concatenate(found)


def _squares(vectors: sparse.csr_array) -> Floats:
    """Squared length of each unit vector, shape (N,): 1, or 0 of an empty text."""
    return np.asarray(np.diff(vectors.indptr) > 0, dtype=np.float64)


def _unit(counts: sparse.csr_array, weights: Floats) -> sparse.csr_array:
    """Weigh the counts of texts, and bring each text's to length 1, in place."""
    counts.data *= weights[counts.indices]
    return sparse.csr_array(normalize(counts, copy=False))


def hashed(texts: Sequence[str]) -> sparse.csr_array:
    """Count character n-grams by signed hash, damped by the logarithm, shape (N, D)."""
    rows = [_hashed(text) for text in texts]
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([columns for columns, _ in rows]) if rows else np.empty(0)
    values = np.concatenate([values for _, values in rows]) if rows else np.empty(0)
    matrix = values.astype(np.float64), columns.astype(np.int32), ends
    return sparse.csr_array(matrix, shape=(len(rows), DIMENSIONS))


def ngram_hashes(text: str) -> npt.NDArray[np.uint64]:
    """Return the hash of every n-gram within the words of a text, shape (N,).

    Words stand between spaces; an n-gram may begin or end with one, but has none inside.
    """
    spaced = f" {' '.join(text.lower().split())} "
    codes = np.frombuffer(spaced.encode("utf-32-le", "surrogatepass"), np.uint32)
    if len(codes) <= len("  "):
        return np.empty(0, np.uint64)
    is_space = codes == _SPACE
    hashes = []
    for size in range(NGRAMS[0], NGRAMS[1] + 1):
        windows = len(codes) - size + 1
        if windows < 1:
            break
        value = np.full(windows, size, np.uint64)
        within = np.ones(windows, np.bool_)
        for offset in range(size):
            value = value * _FACTOR + codes[offset : offset + windows]
            if 0 < offset < size - 1:
                within &= ~is_space[offset : offset + windows]
        hashes.append(value[within])
    values = np.concatenate(hashes)
    # What differs in few bits is spread over all of them (the last steps of SplitMix64).
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * mixer
    return values ^ (values >> np.uint64(31))


@lru_cache(maxsize=TEXTS_KEPT)
def _hashed(text: str) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float16]]:
    """Hash one text; a process that trains many surrogates on the same answers does it once."""
    hashes = ngram_hashes(text)
    columns = (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
    signs = np.where(hashes >> np.uint64(63), -1.0, 1.0)
    counts = np.bincount(columns, signs, DIMENSIONS)
    present = np.flatnonzero(counts)
    damped = np.sign(counts[present]) * np.log1p(np.abs(counts[present]))
    return present.astype(np.uint16), damped.astype(np.float16)
