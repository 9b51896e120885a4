"""What ratings say of systems as wholes: a kernel ridge on the means of their answers.

A rating is a mean of its language and functions of what a system's answers are like on average:
linear in its features, and of how it writes, the mean of its answers' vectors (in the spirit of the
data kernel perspective space, Helm et al., 2024, arXiv 2410.01106); both in each language and over
the languages a system has, so that what is learned in one is used in the others. The one penalty
is that by which systems, left out one at a time, are predicted best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.learning.field import Seen
from surrogate.learning.training import finite_means

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Key = tuple[str, str]

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""As shares of the kernels' mean variance."""
FURTHEST = 2.5
"""Standard deviations that a feature counts at most, so that no outlier decides."""
SMALLEST = 1e-9


@dataclass(frozen=True)
class Scale:
    """How means of a language are standardized by its rated systems.

    Attributes:
        center: Mean of each feature, shape (F,).
        deviation: Standard deviation, shape (F,); infinite where systems do not differ.
        text_center: Mean of the profiles, shape (D,).
        text_scale: Root of their mean squared distance from it; infinite where there is none.
    """

    center: Floats
    deviation: Floats
    text_center: Floats
    text_scale: float

    @classmethod
    def of(cls, seen: Seen, rated: Flags) -> Scale:
        """Learn it from the rated systems of a field, shape (N,)."""
        center = finite_means(seen.means[rated])
        deviation = np.sqrt(finite_means((seen.means[rated] - center) ** 2))
        profiles = seen.profiles[rated]
        middle = profiles.mean(axis=0)
        apart = float(np.sqrt(np.mean(np.sum((profiles - middle) ** 2, axis=1))))
        usable = np.nan_to_num(deviation) > SMALLEST
        return cls(
            np.nan_to_num(center),
            np.where(usable, deviation, np.inf),
            middle,
            apart if apart > SMALLEST else np.inf,
        )

    def features(self, seen: Seen) -> Floats:
        """Standardized features, shape (M, F); what is not known counts as the mean."""
        scaled = np.nan_to_num((seen.means - self.center) / self.deviation)
        return np.asarray(np.clip(scaled, -FURTHEST, FURTHEST))

    def texts(self, seen: Seen) -> Floats:
        """Likewise of profiles, shape (M, D)."""
        return np.asarray((seen.profiles - self.text_center) / self.text_scale)


@dataclass(frozen=True)
class Looks:
    """Systems in languages, as the kernels see them.

    Attributes:
        features: Language to the features of its M systems, shape (M, F).
        texts: Language to their texts, shape (M, D).
        systems: Language to the names of the systems.
    """

    features: Mapping[str, Floats]
    texts: Mapping[str, Floats]
    systems: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        seen: Mapping[str, Seen],
        scales: Mapping[str, Scale],
        kept: Mapping[str, Flags] | None = None,
    ) -> Looks:
        """Standardize what is seen in every language, of all systems or of some of them."""
        features, texts, systems = {}, {}, {}
        for language, item in seen.items():
            rows = slice(None) if kept is None else kept[language]
            features[language] = scales[language].features(item)[rows]
            texts[language] = scales[language].texts(item)[rows]
            systems[language] = tuple(np.array(item.systems, dtype=object)[rows])
        return cls(features, texts, systems)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Language and system of each item."""
        return [(language, name) for language, names in self.systems.items() for name in names]

    def kernels(self, other: Looks) -> Floats:
        """Of these M items with N others, shape (K, M, N).

        Linear in features; of texts in the same language; and of texts over all languages, where
        the others have several.
        """
        found = np.zeros((3, len(self.keys), len(other.keys)))
        found[0] = self._stacked @ other._stacked.T
        one, two = self.owners, other.owners
        alike = np.zeros((len(one.categories), len(two.categories)))
        for language in sorted(self.systems.keys() & other.systems.keys()):
            rows, columns = self._rows(language), other._rows(language)
            own = self.texts[language] @ other.texts[language].T
            found[1][np.ix_(rows, columns)] = own
            alike[np.ix_(one.codes[rows], two.codes[columns])] += own
        alike /= np.sqrt(np.outer(np.bincount(one.codes), np.bincount(two.codes)))
        found[2] = alike[np.ix_(one.codes, two.codes)]
        return found if len(other.systems) > 1 else found[:2]

    @cached_property
    def _stacked(self) -> Floats:
        return np.concatenate(list(self.features.values()))

    @cached_property
    def owners(self) -> pd.Categorical:
        """System of each item."""
        return pd.Categorical([name for _, name in self.keys])

    def _rows(self, language: str) -> Integers:
        return np.flatnonzero([name == language for name, _ in self.keys])


@dataclass(frozen=True)
class SystemRidge:
    """The ridge, fitted to N ratings.

    Attributes:
        scales: Language to how its systems are standardized.
        looks: Of the systems learned from.
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
    variances: Floats
    penalty: float
    inverse: Floats
    dual: Floats
    left_out: Mapping[Key, float]
    left_out_variances: Mapping[Key, float]

    @classmethod
    def fit(cls, seen: Mapping[str, Seen], ratings: Mapping[str, Floats]) -> SystemRidge:
        """Learn from ratings, language to shape (N,); NaN of a system without, two or more known.

        What is seen are the fields' own systems.
        """
        known = {name: np.isfinite(values) for name, values in ratings.items()}
        scales = {name: Scale.of(seen[name], rated) for name, rated in known.items()}
        looks = Looks.of({name: seen[name] for name in known}, scales, known)
        target = np.concatenate([ratings[name][rated] for name, rated in known.items()])
        kernels = looks.kernels(looks)
        diagonals = np.einsum("knn->k", kernels) / len(target)
        variances = np.where(diagonals > SMALLEST, diagonals, np.inf)
        kernel = np.tensordot(1 / variances, kernels, 1)
        size = max(float(np.trace(kernel)) / len(target), SMALLEST)
        # Each language's mean is not known: the inverse is that of what is about it.
        groups = np.array([language for language, _ in looks.keys], dtype=object)
        same = np.equal.outer(groups, groups)
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
        return cls(scales, looks, variances, penalty, inverse, dual, left_out, spreads)

    def predict(self, seen: Mapping[str, Seen]) -> pd.DataFrame:
        """Rate the systems seen in languages, less the mean of the language's rated systems.

        Returns:
            Columns ``language, system, rating, variance``, the variance in units of the kernel; in
            a language without ratings, by what the others tell of features and texts.
        """
        scales = {
            name: self.scales.get(name) or Scale.of(item, np.ones(len(item.systems), dtype=bool))
            for name, item in seen.items()
        }
        looks = Looks.of(seen, scales)
        kernels = np.tensordot(1 / self.variances, looks.kernels(self.looks), 1)
        own = np.tensordot(1 / self.variances, looks.kernels(looks), 1).diagonal().copy()
        among = np.tensordot(1 / self.variances, self.looks.kernels(self.looks), 1)
        known = np.array([language for language, _ in self.looks.keys], dtype=object)
        languages = np.array([language for language, _ in looks.keys], dtype=object)
        for language in self.scales.keys() & seen.keys():
            rows, rated = languages == language, known == language
            middle = kernels[np.ix_(rows, rated)].mean(axis=1)
            own[rows] += among[np.ix_(rated, rated)].mean() - 2 * middle
            kernels[rows] -= among[rated].mean(axis=0)
        table = pd.DataFrame(looks.keys, columns=["language", "system"])
        lost = np.einsum("mn,nk,mk->m", kernels, self.inverse, kernels)
        variance = np.maximum(own - lost, 0.0) + self.penalty
        return table.assign(rating=kernels @ self.dual, variance=variance)

    @property
    def slopes(self) -> Floats:
        """What a standard deviation of each feature adds to a rating, shape (F,)."""
        features = np.concatenate(list(self.looks.features.values()))
        return np.asarray(features.T @ self.dual / self.variances[0])
