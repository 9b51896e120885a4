"""What ratings say of systems as wholes: a kernel ridge on the means of their answers.

A rating is a mean of its language and functions of what a system's answers are like on average:
linear in its features, and of how it writes (``system_looks``). The one penalty is that by which
systems, left out one at a time, are predicted best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.types import Floats
from surrogate.learning.estimation.field import FieldView
from surrogate.learning.estimation.system_looks import SMALLEST, Looks, Scale

Key = tuple[str, str]

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""As shares of the kernels' mean variance."""


@dataclass(frozen=True)
class SystemRidge:
    """The ridge, fitted to N ratings.

    Attributes:
        scales: Language learned from to how its systems are standardized.
        looks: Of the systems learned from.
        is_alone: Whether it is all there is, and sees the consensus and features' smooth kernel.
        variances: What each kernel is divided by, shape (K,).
        kernel: Of the ratings, shape (N, N).
        penalty: The penalty taken.
        inverse: Of the ratings' covariance, their languages' means not known, shape (N, N).
        dual: Weight of each rating, shape (N,).
        left_out: Language and system to its rating less the mean of the others in the language,
            predicted with the system left out in all languages.
        left_out_variances: Language and system to the variance of that, in units of the kernel.
    """

    scales: Mapping[str, Scale]
    looks: Looks
    is_alone: bool
    variances: Floats
    kernel: Floats
    penalty: float
    inverse: Floats
    dual: Floats
    left_out: Mapping[Key, float]
    left_out_variances: Mapping[Key, float]

    @classmethod
    def fit(
        cls, seen: Mapping[str, FieldView], ratings: Mapping[str, Floats], is_alone: bool = False
    ) -> SystemRidge:
        """Learn from ratings, language to shape (N,); NaN of a system without, two or more known.

        What is seen are the fields' own systems.
        """
        known = {name: np.isfinite(values) for name, values in ratings.items()}
        scales = {name: Scale.of(seen[name], rated) for name, rated in known.items()}
        looks = Looks.of({name: seen[name] for name in known}, scales, known)
        target = np.concatenate([ratings[name][rated] for name, rated in known.items()])
        kernels = np.array(_kernels(looks, looks, looks, is_alone))
        diagonals = np.einsum("knn->k", kernels) / len(target)
        variances = np.where(diagonals > SMALLEST, diagonals, np.inf)
        kernel = np.tensordot(1 / variances, kernels, 1)
        size = max(float(np.trace(kernel)) / len(target), SMALLEST)
        # Each language's mean is not known: the inverse is that of what is about it.
        same = np.equal.outer(looks.languages, looks.languages)
        middle = np.eye(len(target)) - same / same.sum(axis=1)
        values, vectors = np.linalg.eigh(middle @ kernel @ middle)
        vectors = middle @ vectors
        codes, names = looks.owners
        blocks = [np.flatnonzero(codes == code) for code in range(len(names))]
        tried = []
        for penalty in size * np.array(PENALTIES):
            inverse = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
            dual = inverse @ target
            missed, unknown = np.zeros((2, len(target)))
            for rows in blocks:  # each system, left out of all languages
                spread = np.linalg.pinv(inverse[np.ix_(rows, rows)])
                missed[rows], unknown[rows] = spread @ dual[rows], np.diag(spread)
            tried.append((float(missed @ missed), penalty, inverse, dual, missed, unknown))
        _, penalty, inverse, dual, missed, unknown = min(tried, key=lambda found: found[0])
        others = (same @ target - target) / np.maximum(same.sum(axis=1) - 1, 1)
        left_out = dict(zip(looks.keys, target - missed - others, strict=True))
        spreads = dict(zip(looks.keys, unknown, strict=True))
        learned = (variances, kernel, penalty, inverse, dual, left_out, spreads)
        return cls(scales, looks, is_alone, *learned)

    def predict(self, seen: Mapping[str, FieldView], scales: Mapping[str, Scale]) -> pd.DataFrame:
        """Rate the systems seen in languages, less the mean of the language's rated systems.

        Args:
            seen: Language to what is seen of the systems.
            scales: Language to how its field is standardized.

        Returns:
            Columns ``language, system, rating, variance``, the variance in units of the kernel; in
            a language without ratings, by what the others tell of features and texts.
        """
        looks = Looks.of(seen, scales)
        kernels, own = self._kernel(looks, self.looks), self._kernel(looks, looks).diagonal().copy()
        for language in self.scales.keys() & seen.keys():
            rows, rated = looks.languages == language, self.looks.languages == language
            middle = kernels[np.ix_(rows, rated)].mean(axis=1)
            own[rows] += self.kernel[np.ix_(rated, rated)].mean() - 2 * middle
            kernels[rows] -= self.kernel[rated].mean(axis=0)
        table = looks.keys.to_frame(index=False, name=["language", "system"])
        lost = np.einsum("mn,nk,mk->m", kernels, self.inverse, kernels)
        variance = np.maximum(own - lost, 0.0) + self.penalty
        return table.assign(rating=kernels @ self.dual, variance=variance)

    def _kernel(self, one: Looks, other: Looks) -> Floats:
        parts = zip(_kernels(one, other, self.looks, self.is_alone), self.variances, strict=True)
        return np.asarray(sum(part / own for part, own in parts))

    @property
    def slopes(self) -> Floats:
        """What a standard deviation of each feature adds to a rating, shape (F,)."""
        own = self.looks.reliable if self.is_alone else self.looks.features
        return np.asarray(own.T @ self.dual / self.variances[0])


def _kernels(one: Looks, other: Looks, rated: Looks, is_alone: bool) -> list[Floats]:
    """Kernels of M systems with N others, shape (M, N) each, as the rated ones have them."""
    texts = one.alike(other, len(set(rated.languages)) > 1)
    features = one.smooth(other, rated.width) if is_alone else [one.features @ other.features.T]
    return [*features, *texts]
