"""What ratings say of systems as wholes: a kernel ridge on the means of their answers.

A rating is a mean of its language and functions of what a system's answers are like on average:
linear in its features, and of how it writes (``system_looks``). The one penalty is that by which
systems, left out one at a time, are predicted best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.learning.estimation.field import FieldView
from surrogate.learning.estimation.system_looks import SMALLEST, Looks, Scale

Floats = npt.NDArray[np.float64]
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
        kernels = np.array(_kernels(looks, looks, looks.width if is_alone else None))
        diagonals = np.einsum("knn->k", kernels) / len(target)
        variances = np.where(diagonals > SMALLEST, diagonals, np.inf)
        kernel = np.tensordot(1 / variances, kernels, 1)
        size = max(float(np.trace(kernel)) / len(target), SMALLEST)
        # Each language's mean is not known: the inverse is that of what is about it.
        same = np.equal.outer(looks.languages, looks.languages)
        middle = np.eye(len(target)) - same / same.sum(axis=1)
        values, vectors = np.linalg.eigh(middle @ kernel @ middle)
        vectors = middle @ vectors
        codes = looks.owners.codes
        blocks = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
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
        learned = (variances, penalty, inverse, dual, left_out, spreads)
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
        among = self._kernel(self.looks, self.looks)
        for language in self.scales.keys() & seen.keys():
            rows, rated = looks.languages == language, self.looks.languages == language
            middle = kernels[np.ix_(rows, rated)].mean(axis=1)
            own[rows] += among[np.ix_(rated, rated)].mean() - 2 * middle
            kernels[rows] -= among[rated].mean(axis=0)
        table = pd.DataFrame(looks.keys, columns=["language", "system"])
        lost = np.einsum("mn,nk,mk->m", kernels, self.inverse, kernels)
        variance = np.maximum(own - lost, 0.0) + self.penalty
        return table.assign(rating=kernels @ self.dual, variance=variance)

    def _kernel(self, one: Looks, other: Looks) -> Floats:
        parts = _kernels(one, other, self.looks.width if self.is_alone else None)
        if len(parts) < len(self.variances):  # of one language alone
            parts.append(parts[-1])
        used = parts[: len(self.variances)]
        return np.asarray(sum(part / own for part, own in zip(used, self.variances, strict=True)))

    @property
    def slopes(self) -> Floats:
        """What a standard deviation of each feature adds to a rating, shape (F,)."""
        own = self.looks.reliable if self.is_alone else self.looks.features
        return np.asarray(np.concatenate(list(own.values())).T @ self.dual / self.variances[0])


def _kernels(one: Looks, other: Looks, width: float | None) -> list[Floats]:
    features = [one.linear(other)] if width is None else one.smooth(other, width)
    return [*features, *one.alike(other)]
