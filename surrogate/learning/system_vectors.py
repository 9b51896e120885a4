"""Systems as mean standardized features and mean vectors of answers, and kernels of these.

In the spirit of Helm et al., 2024, arXiv 2410.01106. Formulas: docs/reference/surrogate.md, section
2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.types import Flags, Floats, Indices
from arena.statistics.significance import finite_means
from surrogate.learning.peers import PeerView
from surrogate.learning.training_data import SMALLEST, rating_keys


class Scale(NamedTuple):
    """A scale of a language's means, by its rated systems.

    Features have a center, a deviation (infinite where systems do not differ) and a reliability by
    which they shrink (Fuller, 1987, chapter 1), (F,). Profiles have a center (D,), and a scale: the
    root mean squared distance from it.
    """

    center: Floats
    deviation: Floats
    reliability: Floats
    text_center: Floats
    text_scale: float

    @classmethod
    def of(cls, view: PeerView, is_rated: Flags) -> Scale:
        """Learn it from the rated systems of the peers, shape (N,)."""
        means = view.means[is_rated]
        center = finite_means(means)
        deviation = np.sqrt(finite_means((means - center) ** 2))
        deviation = np.where(np.nan_to_num(deviation) > SMALLEST, deviation, np.inf)
        noise = np.nan_to_num(finite_means(view.errors[is_rated]))
        profiles = view.profiles[is_rated]
        text_center = profiles.mean(axis=0)
        squared_distances = np.sum((profiles - text_center) ** 2, axis=1)
        text_scale = float(np.sqrt(np.mean(squared_distances)))
        return cls(
            center=np.nan_to_num(center),
            deviation=deviation,
            reliability=np.clip(1 - noise / deviation**2, 0.0, 1.0),
            text_center=text_center,
            text_scale=text_scale if text_scale > SMALLEST else np.inf,
        )

    def features(self, view: PeerView) -> Floats:
        """Return standardized features, (M, F), the mean where missing."""
        largest = 2.5  # standard deviations, so that no outlier decides
        standardized = np.nan_to_num((view.means - self.center) / self.deviation)
        return np.clip(standardized, -largest, largest) * view.uncopied_shares[:, None]

    def texts(self, view: PeerView) -> Floats:
        """Return standardized profiles, shape (M, D)."""
        center = view.uncopied_shares[:, None] * self.text_center
        return (view.profiles - center) / self.text_scale


@dataclass(frozen=True)
class SystemVectors:
    """M systems in languages, as the kernels see them.

    Attributes:
        features: Standardized features without the consensus, shape (M, F).
        reliable: All features, shrunk by reliability, shape (M, F).
        texts: Standardized profiles, shape (M, D).
    """

    keys: pd.MultiIndex
    features: Floats
    reliable: Floats
    texts: Floats

    @classmethod
    def of(
        cls,
        views: Mapping[str, PeerView],
        scales: Mapping[str, Scale],
        selected: Mapping[str, Flags] | None = None,
    ) -> SystemVectors:
        """Standardize the selected systems of every language."""
        systems: dict[str, list[str]] = {}
        features = []
        reliable = []
        texts = []
        for language, view in views.items():
            scale = scales[language]
            rows = slice(None) if selected is None else selected[language]
            systems[language] = list(np.array(view.systems, dtype=object)[rows])
            standardized = scale.features(view)[rows]
            has_consensus = view.profiles.size > 0
            features.append(standardized[:, :-1] if has_consensus else standardized)
            reliable.append(standardized * scale.reliability)
            texts.append(scale.texts(view)[rows])
        return cls(
            keys=rating_keys(systems),
            features=np.concatenate(features),
            reliable=np.concatenate(reliable),
            texts=np.concatenate(texts),
        )

    def joined(self, others: SystemVectors) -> SystemVectors:
        """Append other systems."""
        return SystemVectors(
            keys=self.keys.append(others.keys),
            features=np.concatenate([self.features, others.features]),
            reliable=np.concatenate([self.reliable, others.reliable]),
            texts=np.concatenate([self.texts, others.texts]),
        )

    @cached_property
    def languages(self) -> npt.NDArray[np.object_]:
        """Language of each, shape (M,)."""
        return np.asarray(self.keys.get_level_values(0), dtype=object)

    @cached_property
    def owners(self) -> tuple[Indices, pd.Index]:
        """Return codes of systems, (M,), and their names."""
        codes, names = self.keys.get_level_values(1).factorize(sort=True)
        return np.asarray(codes, dtype=np.intp), names

    @cached_property
    def over_languages(self) -> bool:
        """Return whether a system answered in several languages."""
        return len(set(self.languages)) > 1

    def designs(self, *, is_shrunk: bool, over_languages: bool) -> list[Floats]:
        """Return what ratings are linear in, shape (M, F) each."""
        features = self.reliable if is_shrunk else self.features
        if not over_languages:
            return [features]
        codes, systems = self.owners
        membership = np.eye(len(systems))[codes]
        means = membership.T @ features / membership.sum(axis=0)[:, None]
        return [features, means[codes]]

    def kernels(
        self, others: SystemVectors, *, is_shrunk: bool, over_languages: bool
    ) -> list[Floats]:
        """Return kernels of features and texts with others, (M, N) each."""
        designs = self.designs(is_shrunk=is_shrunk, over_languages=over_languages)
        other_designs = others.designs(is_shrunk=is_shrunk, over_languages=over_languages)
        kernels = []
        for design, other_design in zip(designs, other_designs, strict=True):
            kernels.append(design @ other_design.T)
        return [*kernels, *self.alike(others, over_languages)]

    def alike(self, others: SystemVectors, over_languages: bool) -> list[Floats]:
        """Return text kernels, (M, N): by language, and over all."""
        within = np.zeros((len(self.keys), len(others.keys)))
        for language in set(self.languages):
            rows = self.languages == language
            columns = others.languages == language
            within[np.ix_(rows, columns)] = self.texts[rows] @ others.texts[columns].T
        if not over_languages:
            return [within]
        codes, systems = self.owners
        other_codes, other_systems = others.owners
        membership = np.eye(len(systems))[:, codes]
        other_membership = np.eye(len(other_systems))[:, other_codes]
        across = membership @ within @ other_membership.T
        n_languages = np.outer(membership.sum(axis=1), other_membership.sum(axis=1))
        across /= np.sqrt(n_languages)
        return [within, across[np.ix_(codes, other_codes)]]

    def covariances(self) -> Floats:
        """Return kernels of mean diagonal 1, shape (K, M, M)."""
        kernels = self.kernels(self, is_shrunk=True, over_languages=self.over_languages)
        if not self.texts.any():
            kernels.extend(same_system(self.keys))
        stacked = np.array(kernels)
        diagonals = np.einsum("knn->k", stacked) / len(self.keys)
        is_informative = diagonals > SMALLEST
        return np.asarray(stacked[is_informative] / diagonals[is_informative, None, None])


def same_system(keys: pd.MultiIndex) -> Floats:
    """Return the kernel of same systems, shape (1, N, N); (0, N, N) for one language."""
    if len(keys.unique(level=0)) < 2:
        return np.empty((0, len(keys), len(keys)))
    names = np.asarray(keys.get_level_values(1), dtype=object)
    return np.asarray(np.equal.outer(names, names)[None], dtype=np.float64)
