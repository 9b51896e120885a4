"""Peers: the systems of a language, judged or not, that answers are compared with.

Formulas: docs/reference/surrogate.md, section 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.computing.codes import are_among
from arena.data.errors import UsageError
from arena.data.types import Flags, Floats
from arena.statistics.significance import finite_means, mean_of
from arena.text.ngrams import DIMENSIONS, HashedTexts, hashed
from surrogate.learning.answer_texts import (
    HashedAnswers,
    consensus_of,
    cosines_between,
    profiles_of,
)
from surrogate.learning.surrogate import ANSWER_MARK, NO_VALUE
from surrogate.learning.training_data import FeatureTensor, feature_tensor

ANSWER = "answer"
CONSENSUS = "consensus"
"""Feature made here: an answer's mean cosine to the peers' answers to its question."""


@dataclass(frozen=True)
class PeerView:
    """M systems compared with N peers, on their Q questions.

    Attributes:
        answered: Who answered which question, shape (M, Q).
        uncopied: Share of each answer's wording that is no rated system's, shape (M, Q).
        values: F features, the consensus last, shape (M, Q, F).
        peer_values: Of the peers' answers, shape (N, Q, F).
        is_self: Which peer each system is, shape (M, N).
        means: Mean feature less the peers' mean by question, shape (M, F), or NaN.
        errors: Squared standard error of each mean, shape (M, F); NaN with fewer than two values.
        profiles: Mean vectors of answers, shape (M, D); no columns without texts.
        cosines: Of answers to a question, shape (Q, M, N), or 0.
    """

    systems: tuple[str, ...]
    answered: Flags
    uncopied: Floats
    values: Floats
    peer_values: Floats
    is_self: Flags
    means: Floats
    errors: Floats
    profiles: Floats
    cosines: Floats
    peer_texts: HashedAnswers

    @property
    def uncopied_shares(self) -> Floats:
        """Return the mean of ``uncopied`` over answers, shape (M,)."""
        return np.asarray(self.uncopied.sum(axis=1) / np.maximum(self.answered.sum(axis=1), 1))

    @cached_property
    def mean_cosines(self) -> Floats:
        """Return mean cosines over common questions, (M, N), or 0."""
        answered = self.answered.astype(np.float64)
        n_shared = answered @ (self.peer_texts.places >= 0).T.astype(np.float64)
        return np.asarray(self.cosines.sum(axis=0) / np.maximum(n_shared, 1))

    def likeness(self, weights: Floats) -> Floats:
        """Return weighted (N, Q) sums of cosines to the peers, (M, Q)."""
        return np.asarray(np.einsum("qmn,nq->mq", self.cosines, weights))

    @cached_property
    def ranks(self) -> Floats:
        """Rank values among the other peers' answers, (M, Q, F).

        A rank is the mean sign of the differences, 0 without a value: 3, 5, 5, 9 have the ranks -1,
        0, 0, 1.
        """
        signs = np.zeros(self.values.shape, dtype=np.int32)
        for index, others in enumerate(self.peer_values):
            # Comparisons with a missing value are false, so its sign is 0.
            above = np.subtract(self.values > others, self.values < others, dtype=np.int8)
            # A peer is not compared with itself.
            signs += above * ~self.is_self[:, index, None, None]
        is_known = np.isfinite(self.peer_values).astype(np.float64)
        n_others = is_known.sum(axis=0) - np.tensordot(self.is_self.astype(np.float64), is_known, 1)
        return np.asarray(signs / np.maximum(n_others, 1))


@dataclass(frozen=True)
class PeerAnswers:
    """Answers of the N systems of a language to Q questions.

    With ``hashes`` of texts, the last of the F features is the consensus, which ``tensor`` lacks.
    """

    names: tuple[str, ...]
    tensor: FeatureTensor
    hashes: HashedTexts | None

    @classmethod
    def of(
        cls,
        rows: pd.DataFrame,
        language: str,
        features: Sequence[str],
        arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> PeerAnswers:
        """Take the peers from rows; ``arrays`` may replace texts.

        Raises:
            UsageError: If the arrays are not of as many answers.
        """
        hashes = _hashes_from(arrays, len(rows)) if arrays else _hashed_answers(rows)
        names = tuple(features)
        if hashes is not None:
            names += (CONSENSUS,)
        tensor = feature_tensor(rows, language, features)
        return cls(names, tensor, hashes)

    @cached_property
    def self_view(self) -> PeerView:
        """Compare the peers with each other."""
        return self._view(self.tensor, self.texts)

    def unused_features(self, features: Sequence[str]) -> dict[str, str]:
        """Return reasons why features tell no systems apart."""
        n_values = np.isfinite(self.tensor.values).sum(axis=(0, 1))
        differences = np.abs(self.self_view.ranks).sum(axis=(0, 1))
        reasons = {}
        for index, feature in enumerate(features):
            if not differences[index]:
                has_values = n_values[index] > 0
                reasons[feature] = "the same for all training systems" if has_values else NO_VALUE
        return reasons

    @cached_property
    def texts(self) -> HashedAnswers:
        """Return the texts of the answers, in the order of the rows."""
        weights = np.empty(0) if self.hashes is None else self.hashes.document_weights
        return HashedAnswers(self.hashes, weights, self.tensor.rows)

    def compare(self, rows: pd.DataFrame) -> PeerView:
        """Compare systems with the peers, but for themselves and parts of them.

        A part is named by its system, ``ANSWER_MARK`` and anything.
        """
        questions = self.tensor.questions
        rows = rows[are_among(rows["query_id"], questions)]
        features = [name for name in self.names if name != CONSENSUS]
        tensor = feature_tensor(rows, self.tensor.language, features, questions=questions)
        hashes = None
        if self.hashes is not None:
            hashes = _hashed_answers(rows.assign(**{ANSWER: rows.get(ANSWER, "")}))
        return self._view(tensor, replace(self.texts, texts=hashes, places=tensor.rows))

    def _view(self, tensor: FeatureTensor, texts: HashedAnswers) -> PeerView:
        owners = np.array([name.split(ANSWER_MARK)[0] for name in tensor.systems], dtype=object)
        is_self = np.equal.outer(owners, np.array(self.tensor.systems, dtype=object))
        vectors = texts.vectors()
        cosines = cosines_between(vectors, self.texts.vectors())
        values = tensor.values
        if self.hashes is not None:
            consensus = consensus_of(cosines, self.tensor.answered, is_self)
            consensus[~tensor.answered] = np.nan
            values = np.concatenate([values, consensus[:, :, None]], axis=2)
        peer_values = values if texts is self.texts else self.self_view.values
        centered = (values - finite_means(peer_values)).transpose(1, 0, 2)  # (Q, M, F)
        means = finite_means(centered)
        n_values = np.isfinite(centered).sum(axis=0)
        variances = finite_means((centered - means) ** 2)
        return PeerView(
            systems=tensor.systems,
            answered=tensor.answered,
            uncopied=tensor.answered.astype(np.float64),
            values=values,
            peer_values=peer_values,
            is_self=is_self,
            means=means,
            errors=mean_of(variances, n_values - 1),
            profiles=profiles_of(vectors),
            cosines=cosines,
            peer_texts=self.texts,
        )


def system_batches(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Split rows by systems, to compare them with peers in bounded memory."""
    batch_size = 100
    systems: Sequence[str] = rows["system"].unique()
    for start in range(0, len(systems), batch_size):
        yield rows[rows["system"].isin(systems[start : start + batch_size])]


def views_of(
    peers: Mapping[str, PeerAnswers], rows: pd.DataFrame
) -> Iterator[tuple[str, PeerView]]:
    """Compare the systems of a table with their peers, language by language."""
    for name, part in rows.groupby("language"):
        language = str(name)
        if language not in peers:
            continue
        view = peers[language].compare(part)
        if view.systems:  # none if they answered other questions alone
            yield language, view


def _hashed_answers(rows: pd.DataFrame) -> HashedTexts | None:
    if ANSWER not in rows:
        return None
    # A list holds references to the texts; a column of strings would copy them.
    return hashed([str(text) for text in rows[ANSWER].fillna("")])


def _hashes_from(arrays: Mapping[str, npt.NDArray[Any]], n_answers: int) -> HashedTexts:
    is_complete = set(arrays) == {"values", "columns", "ends"}
    if not is_complete or arrays["ends"].shape != (n_answers + 1,):
        raise UsageError(f"the vectors of its answers are not those of {n_answers} answers")
    values = arrays["values"]
    columns = arrays["columns"]
    ends = arrays["ends"]
    is_sound = (
        columns.dtype.kind == ends.dtype.kind == "u"
        and values.shape == columns.shape == (int(ends[-1]),)
        and ends[0] == 0
        and (ends[1:] >= ends[:-1]).all()
        and (columns < DIMENSIONS).all()
        and np.isfinite(values).all()
    )
    if not is_sound:
        raise UsageError("the vectors of its answers are not finite")
    return HashedTexts(
        values=values.astype(np.float16),
        columns=columns.astype(np.uint16),
        ends=ends.astype(np.uint64),
    )
