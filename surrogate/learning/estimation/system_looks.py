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
import scipy

from arena.data.types import Flags, Floats, Indices
from surrogate.learning.estimation.field import FieldView
from surrogate.learning.training import finite_means

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
    """M systems in languages, as the kernels see them.

    Attributes:
        keys: Language and system of each.
        features: Their features, the consensus left out, shape (M, F).
        reliable: All features, each shrunk by how reliable it is, shape (M, F).
        texts: Their texts, shape (M, D).
    """

    keys: pd.MultiIndex
    features: Floats
    reliable: Floats
    texts: Floats

    @classmethod
    def of(
        cls,
        seen: Mapping[str, FieldView],
        scales: Mapping[str, Scale],
        kept: Mapping[str, Flags] | None = None,
    ) -> Looks:
        """Standardize what is seen in every language, of all systems or of some of them."""
        keys: list[tuple[str, str]] = []
        parts: list[tuple[Floats, Floats, Floats]] = []
        for language, item in seen.items():
            scale, every = scales[language], np.ones(len(item.systems), dtype=bool)
            rows = every if kept is None else kept[language]
            keys += [(language, name) for name in np.array(item.systems, dtype=object)[rows]]
            scaled = scale.features(item)[rows]
            own = scaled[:, :-1] if item.profiles.size else scaled
            parts.append((own, scaled * scale.reliability, scale.texts(item)[rows]))
        return cls(pd.MultiIndex.from_tuples(keys), *map(np.concatenate, zip(*parts, strict=True)))

    def joined(self, other: Looks) -> Looks:
        """Put others behind these."""
        both = [(self.features, other.features), (self.reliable, other.reliable)]
        arrays = map(np.concatenate, [*both, (self.texts, other.texts)])
        return Looks(self.keys.append(other.keys), *arrays)

    @cached_property
    def languages(self) -> npt.NDArray[np.object_]:
        """Language of each, shape (M,)."""
        return np.asarray(self.keys.get_level_values(0), dtype=object)

    @cached_property
    def owners(self) -> tuple[Indices, pd.Index]:
        """Which of all systems each is, shape (M,), and the names of these."""
        codes, names = self.keys.get_level_values(1).factorize(sort=True)
        return np.asarray(codes, dtype=np.intp), names

    @cached_property
    def width(self) -> float:
        """Median squared distance of their features."""
        apart = scipy.spatial.distance.pdist(self.reliable, "sqeuclidean")
        return max(float(np.median(apart)) if apart.size else 0.0, SMALLEST)

    def smooth(self, other: Looks, width: float) -> list[Floats]:
        """Kernels of all features, shrunk: linear, and of their distances; shape (M, N) each."""
        distances = scipy.spatial.distance.cdist(self.reliable, other.reliable, "sqeuclidean")
        return [self.reliable @ other.reliable.T, np.exp(-distances / width)]

    def alike(self, other: Looks, over_languages: bool) -> list[Floats]:
        """Kernels of texts, shape (M, N): in the same language, and over all languages."""
        within = self.texts @ other.texts.T * np.equal.outer(self.languages, other.languages)
        if not over_languages:
            return [within]
        (own, names), (their, others) = self.owners, other.owners
        mine, theirs = np.eye(len(names))[:, own], np.eye(len(others))[:, their]
        across = mine @ within @ theirs.T
        across /= np.sqrt(np.outer(mine.sum(axis=1), theirs.sum(axis=1)))
        return [within, across[np.ix_(own, their)]]

    def covariances(self) -> Floats:
        """Kernels among these M items that ratings may have, mean diagonal 1, shape (K, M, M).

        Of features linear and smooth, and of their means over languages; then of texts. Without
        texts, systems are alike to themselves in other languages.
        """
        found, owners = self.smooth(self, self.width), self.owners[0]
        several = len(set(self.languages)) > 1
        if several:
            means = pd.DataFrame(self.reliable).groupby(owners).transform("mean").to_numpy()
            found.append(means @ means.T)
        if self.texts.any():
            found += self.alike(self, several)
        elif several:
            found.append(np.equal.outer(owners, owners).astype(np.float64))
        kernels = np.array(found)
        diagonals = np.einsum("knn->k", kernels) / len(owners)
        return np.asarray(kernels / np.where(diagonals > SMALLEST, diagonals, 1.0)[:, None, None])
