"""What systems are like as wholes, and how alike two of them are: the kernels of ratings.

A system is the means of its answers' features beside those of the rated systems, and the mean of
its answers' vectors: how it writes (in the spirit of the data kernel perspective space, Helm et
al., 2024, arXiv 2410.01106); both in each language, and over the languages it has, so that what is
learned of a system in one is used in the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.spatial.distance import cdist

from surrogate.learning.estimation.field import FieldView
from surrogate.learning.training import finite_means

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

FURTHEST = 2.5
"""Standard deviations that a feature counts at most, so that no outlier decides."""
SMALLEST = 1e-9


@dataclass(frozen=True)
class Scale:
    """How means of a language are standardized by its rated systems.

    Attributes:
        center: Mean of each feature, shape (F,).
        deviation: Standard deviation, shape (F,); infinite where systems do not differ.
        reliability: Share of its square that is no noise of few answers, shape (F,): a mean of few
            answers is a noisy measurement, shrunk as measurement error asks (Fuller, 1987, ch. 1).
        text_center: Mean of the profiles, shape (D,).
        text_scale: Root of their mean squared distance from it; infinite where there is none.
    """

    center: Floats
    deviation: Floats
    reliability: Floats
    text_center: Floats
    text_scale: float

    @classmethod
    def of(cls, seen: FieldView, rated: Flags) -> Scale:
        """Learn it from the rated systems of a field, shape (N,)."""
        center = finite_means(seen.means[rated])
        deviation = np.sqrt(finite_means((seen.means[rated] - center) ** 2))
        profiles = seen.profiles[rated]
        middle = profiles.mean(axis=0)
        apart = float(np.sqrt(np.mean(np.sum((profiles - middle) ** 2, axis=1))))
        usable = np.nan_to_num(deviation) > SMALLEST
        noise = np.nan_to_num(finite_means(seen.errors[rated]))
        return cls(
            np.nan_to_num(center),
            np.where(usable, deviation, np.inf),
            np.clip(1 - noise / np.where(usable, deviation, np.inf) ** 2, 0.0, 1.0),
            middle,
            apart if apart > SMALLEST else np.inf,
        )

    def features(self, seen: FieldView) -> Floats:
        """Standardized features, shape (M, F); what is not known counts as the mean."""
        scaled = np.nan_to_num((seen.means - self.center) / self.deviation)
        return np.asarray(np.clip(scaled, -FURTHEST, FURTHEST))

    def texts(self, seen: FieldView) -> Floats:
        """Likewise of profiles, shape (M, D)."""
        return np.asarray((seen.profiles - self.text_center) / self.text_scale)


@dataclass(frozen=True)
class Looks:
    """Systems in languages, as the kernels see them.

    Attributes:
        systems: Language to the names of its M systems.
        features: Language to their features, the consensus left out, shape (M, F).
        reliable: Language to all of them, shrunk by how reliable they are, shape (M, F).
        texts: Language to their texts, shape (M, D).
    """

    systems: Mapping[str, tuple[str, ...]]
    features: Mapping[str, Floats]
    reliable: Mapping[str, Floats]
    texts: Mapping[str, Floats]

    @classmethod
    def of(
        cls,
        seen: Mapping[str, FieldView],
        scales: Mapping[str, Scale],
        kept: Mapping[str, Flags] | None = None,
    ) -> Looks:
        """Standardize what is seen in every language, of all systems or of some of them."""
        systems, features, reliable, texts = {}, {}, {}, {}
        for language, item in seen.items():
            rows, scale = slice(None) if kept is None else kept[language], scales[language]
            systems[language] = tuple(np.array(item.systems, dtype=object)[rows])
            scaled = scale.features(item)[rows]
            features[language] = scaled[:, :-1] if item.profiles.size else scaled
            reliable[language] = scaled * scale.reliability
            texts[language] = scale.texts(item)[rows]
        return cls(systems, features, reliable, texts)

    def joined(self, others: Looks) -> Looks:
        """Put other systems behind these, in the languages that both have."""

        def both(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> dict[str, Floats]:
            return {
                name: np.concatenate([own, other[name]]) if name in other else own
                for name, own in one.items()
            }

        return Looks(
            {name: own + others.systems.get(name, ()) for name, own in self.systems.items()},
            both(self.features, others.features),
            both(self.reliable, others.reliable),
            both(self.texts, others.texts),
        )

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Language and system of each item."""
        return [(language, name) for language, names in self.systems.items() for name in names]

    @cached_property
    def languages(self) -> npt.NDArray[np.object_]:
        """Language of each item, shape (N,)."""
        return np.array([language for language, _ in self.keys], dtype=object)

    @cached_property
    def owners(self) -> pd.Categorical:
        """System of each item."""
        return pd.Categorical([name for _, name in self.keys])

    def linear(self, other: Looks) -> Floats:
        """Kernel of the features of these M items with those of N others, shape (M, N)."""
        own, their = (np.concatenate(list(item.features.values())) for item in (self, other))
        return np.asarray(own @ their.T)

    @cached_property
    def stacked(self) -> Floats:
        """All features of the items, shrunk, shape (N, F)."""
        return np.concatenate(list(self.reliable.values()))

    @cached_property
    def width(self) -> float:
        """Median squared distance of these items' features."""
        distances = cdist(self.stacked, self.stacked, "sqeuclidean")
        apart = distances[np.triu_indices(len(distances), 1)]
        return max(float(np.median(apart)) if apart.size else 0.0, SMALLEST)

    def smooth(self, other: Looks, width: float) -> list[Floats]:
        """Kernels of all features, shrunk: linear, and of their distances; shape (M, N) each."""
        distances = cdist(self.stacked, other.stacked, "sqeuclidean")
        return [self.stacked @ other.stacked.T, np.exp(-distances / width)]

    def alike(self, other: Looks) -> list[Floats]:
        """Kernels of texts, shape (M, N) each.

        In the same language; and over all languages, where the others have several.
        """
        within = np.zeros((len(self.keys), len(other.keys)))
        one, two = self.owners, other.owners
        across = np.zeros((len(one.categories), len(two.categories)))
        for language in sorted(self.systems.keys() & other.systems.keys()):
            rows = np.flatnonzero(self.languages == language)
            columns = np.flatnonzero(other.languages == language)
            own = self.texts[language] @ other.texts[language].T
            within[np.ix_(rows, columns)] = own
            across[np.ix_(one.codes[rows], two.codes[columns])] += own
        if len(other.systems) == 1:
            return [within]
        across /= np.sqrt(np.outer(np.bincount(one.codes), np.bincount(two.codes)))
        return [within, across[np.ix_(one.codes, two.codes)]]

    def covariances(self) -> Floats:
        """Kernels among these N items that ratings may have, mean diagonal 1, shape (K, N, N).

        Of features linear and smooth, and of their means over languages; then of texts. Without
        texts, systems are alike to themselves in other languages.
        """
        features, found = self.stacked, self.smooth(self, self.width)
        texts = self.alike(self)
        if len(self.systems) > 1:
            means = pd.DataFrame(features).groupby(self.owners.codes).transform("mean").to_numpy()
            found.append(means @ means.T)
            if not texts[0].any():
                texts = [np.equal.outer(self.owners.codes, self.owners.codes).astype(np.float64)]
        if texts[0].any():
            found += texts
        kernels = np.array(found)
        diagonals = np.einsum("knn->k", kernels) / len(features)
        return kernels / np.where(diagonals > SMALLEST, diagonals, 1.0)[:, None, None]
