"""What is known of systems in a language: features against the training systems', and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from surrogate.learning.answer_texts import (
    AnswerTexts,
    mean_vectors,
    read_answer_texts,
)
from surrogate.learning.surrogate import ANSWER_MARK
from surrogate.learning.training import mean_of

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

ANSWER = "answer"
CONSENSUS = "consensus"
"""Feature made here: an answer's mean cosine to the other systems' answers to its question."""
FURTHEST = 2.5
"""Standard deviations that a feature counts at most, so that no outlier decides."""
SMALLEST_DEVIATION = 1e-9


@dataclass(frozen=True)
class SystemProfiles:
    """Features and texts of S systems of one language, as kernels see them.

    Attributes:
        features: Features relative to the training systems, in standard deviations times the
            features' reliability, shape (S, F).
        texts: Mean vector of a system's answers less that of the training systems, shape (S, D);
            no columns where there are no texts.
    """

    systems: tuple[str, ...]
    features: Floats
    texts: Floats

    def joined(self, others: SystemProfiles) -> SystemProfiles:
        """Put other systems behind these."""
        return SystemProfiles(
            self.systems + others.systems,
            np.concatenate([self.features, others.features]),
            np.concatenate([self.texts, others.texts]),
        )


@dataclass(frozen=True)
class LanguageProfiles:
    """The training systems of one language, and how others are seen beside them.

    Attributes:
        names: The F features, the consensus of answers among them where there are texts.
        usable: Which features differ between training systems, shape (F,).
        levels: Mean of each feature over the training systems' answers to a question, shape (Q, F).
        center: Mean of the training systems' features less these levels, shape (F,).
        deviation: Standard deviation of the same, shape (F,).
        reliability: Share of the variance of the same that is no noise of few answers, shape (F,).
        texts: Vectors of the training systems' answers; None without texts.
        text_center: Mean of the training systems' mean vectors, shape (D,).
        text_scale: Root of their mean squared distance from it.
        consensus: Of each training answer, in the order of the rows, shape (N,).
    """

    language: str
    training: SystemProfiles
    names: tuple[str, ...]
    usable: npt.NDArray[np.bool_]
    questions: Mapping[str, int]
    levels: Floats
    center: Floats
    deviation: Floats
    reliability: Floats
    texts: AnswerTexts | None
    text_center: Floats
    text_scale: float
    consensus: Floats

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What stands for the training answers, where there are texts."""
        if self.texts is None:
            return {}
        return self.texts.arrays() | {"consensus": self.consensus.astype(np.float32)}

    def of(self, rows: pd.DataFrame) -> SystemProfiles:
        """Return the profiles of other systems.

        Args:
            rows: Their answers in this language: ``system, query_id``, the features, and the
                ``answer`` where there are texts. Of answers to questions that no training system
                answered, the level of the other questions is taken.
        """
        systems, codes = np.unique(rows["system"].to_numpy(object), return_inverse=True)
        places = _places(rows, self.questions)
        values = _values(rows, self.names)
        texts = np.zeros((len(systems), len(self.text_center)))
        if self.texts is not None and ANSWER in rows:
            answers = rows[ANSWER].fillna("").astype(str).to_numpy(object)
            known = places >= 0
            own = self._own(systems[codes])
            vectors = self.texts.vectors(answers)
            values[known, -1] = self.texts.consensus(vectors, places, own)[known]
            profiles = mean_vectors(vectors, codes, len(systems))
            texts = (profiles - self.text_center) / self.text_scale
        means = _system_means(values - _levels(self.levels, places), codes, len(systems))
        features = _standardized(means, self.center, self.deviation, self.usable)
        return SystemProfiles(tuple(systems), features * self.reliability, texts)

    def _own(self, systems: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Whether an answer is among those that it would be compared with."""
        names = np.array([str(name).split(ANSWER_MARK)[0] for name in systems], dtype=object)
        return np.isin(names, np.array(self.training.systems, dtype=object))


def learn_profiles(
    rows: pd.DataFrame,
    language: str,
    systems: Sequence[str],
    features: Sequence[str],
    kept: Mapping[str, npt.NDArray[Any]] | None = None,
) -> LanguageProfiles:
    """Learn how systems of a language are seen from those that are trained on.

    Args:
        rows: Answers of the training systems: ``system, query_id``, the features, and the
            ``answer`` where texts are to be learned from.
        language: Their language.
        systems: The S training systems.
        features: Feature columns.
        kept: What ``AnswerTexts.arrays`` gave, in place of the texts.
    """
    place = {name: index for index, name in enumerate(systems)}
    rows = rows[rows["system"].isin(place)]
    codes = rows["system"].map(place).to_numpy(np.intp)
    questions = {name: index for index, name in enumerate(sorted(rows["query_id"].unique()))}
    places = _places(rows, questions)
    texts, names, consensus = None, tuple(features), np.empty(0)
    values = _values(rows, names)
    shape = (len(systems), len(questions))
    if kept:
        learned = dict(kept)
        consensus = np.asarray(learned.pop("consensus", ()), np.float64)
        if consensus.shape != (len(rows),):
            raise UsageError(f"the consensus of its answers is not that of {len(rows)} rows")
        texts = AnswerTexts.from_arrays(learned, *shape)
    elif ANSWER in rows:
        answers = rows[ANSWER].fillna("").astype(str).to_numpy(object)
        read, consensus = read_answer_texts(answers, codes, places, shape)
        texts = AnswerTexts.from_arrays(read.arrays(), *shape)  # as it will be read from a file
        consensus = consensus.astype(np.float32).astype(np.float64)
    if texts is not None:
        names, values = (*names, CONSENSUS), np.column_stack([values, consensus])
    levels = _system_means(values, places, len(questions))
    relative = values - _levels(levels, places)
    means = _system_means(relative, codes, len(systems))
    center, deviation = _spread(means)
    usable = deviation > SMALLEST_DEVIATION
    reliability = _reliability(relative, codes, means, deviation)
    profiles = texts.profiles if texts is not None else np.zeros((len(systems), 0))
    text_center = profiles.mean(axis=0)
    distance = float(np.sqrt(np.mean(np.sum((profiles - text_center) ** 2, axis=1))))
    text_scale = distance if distance > SMALLEST_DEVIATION else 1.0
    training = SystemProfiles(
        tuple(systems),
        _standardized(means, center, deviation, usable) * reliability,
        (profiles - text_center) / text_scale,
    )
    return LanguageProfiles(
        language,
        training,
        names,
        usable,
        questions,
        levels,
        center,
        deviation,
        reliability,
        texts,
        text_center,
        text_scale,
        consensus,
    )


def _places(rows: pd.DataFrame, questions: Mapping[str, int]) -> Integers:
    return np.asarray(rows["query_id"].map(questions).fillna(-1), dtype=np.intp)


def _values(rows: pd.DataFrame, names: Sequence[str]) -> Floats:
    return np.array(rows.reindex(columns=list(names)), dtype=np.float64)


def _levels(levels: Floats, places: Integers) -> Floats:
    """Level of each answer's question; of an unknown one, the mean of the others."""
    known = _system_means(levels, np.zeros(len(levels), dtype=np.intp), 1)
    return np.asarray(np.nan_to_num(np.concatenate([levels, known])[places]))


def _system_means(values: Floats, codes: Integers, size: int) -> Floats:
    """Mean of the finite values of each group, shape (N, F) to (size, F); NaN without any."""
    present = np.isfinite(values)
    totals, times = np.zeros((2, size, values.shape[1]))
    np.add.at(totals, codes, np.where(present, values, 0.0))
    np.add.at(times, codes, present.astype(np.float64))
    return mean_of(totals, times)


def _spread(means: Floats) -> tuple[Floats, Floats]:
    groups = np.zeros(len(means), dtype=np.intp)
    center = _system_means(means, groups, 1)[0]
    return center, np.sqrt(np.nan_to_num(_system_means((means - center) ** 2, groups, 1)[0]))


def _reliability(values: Floats, codes: Integers, means: Floats, deviation: Floats) -> Floats:
    """Share of the variance between systems' means that their answers' spread does not explain.

    A mean of few answers is a noisy measurement, and a feature whose systems differ by no more
    than that says little: its values are shrunk as measurement error asks (Fuller, 1987, chapter
    1). Noise is the squared standard error of a mean, averaged over systems with two answers. Of
    values less the level of the question, shape (N, F); between 0 and 1, shape (F,), and 1 where no
    system has two answers.
    """
    times = np.zeros(means.shape)
    np.add.at(times, codes, np.isfinite(values).astype(np.float64))
    squares = _system_means((values - means[codes]) ** 2, codes, len(means))
    errors = mean_of(squares, times - 1)
    noise = np.nan_to_num(_system_means(errors, np.zeros(len(means), dtype=np.intp), 1)[0])
    shares = np.divide(noise, deviation**2, out=np.zeros_like(noise), where=deviation > 0)
    return np.asarray(np.clip(1 - shares, 0.0, 1.0))


def _standardized(
    means: Floats, center: Floats, deviation: Floats, usable: npt.NDArray[np.bool_]
) -> Floats:
    """Distance from the training systems; what is not known counts as their mean."""
    scaled = np.divide(means - center, deviation, out=np.zeros_like(means), where=usable)
    return np.asarray(np.clip(np.nan_to_num(scaled), -FURTHEST, FURTHEST))
