"""Kernels of ratings: how alike two systems are as wholes, and the Gaussian process with them.

A system is its mean standardized features, and its answers' mean vector (in the spirit of Helm et
al., 2024, arXiv 2410.01106), in each language and over all.

The model of small areas (Fay and Herriot, 1979): a rating is a sum of functions, each with a
kernel, and a residual, observed with its sampling covariance; each group has its own unknown mean
(Rasmussen and Williams, 2006, section 2.7). Variances maximize the restricted likelihood (Patterson
and Thompson, 1971). Formulas: docs/reference/surrogate.md, section 2; docs/reference/formulas.md,
"Verdicts and surrogate".
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
from surrogate.learning.field import FieldView
from surrogate.learning.training import finite_means

JITTER = 1e-9
"""Added to the diagonal of the covariance, which is singular if exact ratings are alike."""
CONTRADICTION = 3.0
"""Joint standard errors beyond which a rating contradicts what the others make expected. Answers
composed to please a surrogate kept 44% of what they gain after two judged questions and 12% after
six, on three arenas, where no ordinary system came so far."""
MOST_CONTRADICTED = 3
"""Ratings that may be found to contradict the others: of more, the kernels are to blame."""
OWN_VARIANCE = 100.0
"""Residual variance, in squared logits, of a rating that is left to its own observation."""
MANY = 500
"""Largest number of ratings to learn variances from: more add little, and time grows as a cube."""


@dataclass(frozen=True)
class GaussianProcess:
    """A process of known variances, conditioned on N ratings.

    Attributes:
        variances: Of each of K kernels, then of the residual, shape (K + 1,).
        noise: Sampling covariance of the ratings, shape (N, N).
        restricted: The matrix P of restricted likelihood, shape (N, N).
        means: Estimated mean of each of G groups, shape (G,).
        is_contradicted: Which ratings rest on their own observation alone, shape (N,).
        half: Half the log-determinants in the restricted likelihood.
    """

    variances: Floats
    ratings: Floats
    noise: Floats
    restricted: Floats
    means: Floats
    is_contradicted: Flags
    half: float

    @classmethod
    def of(
        cls,
        variances: Floats,
        kernels: Floats,
        ratings: Floats,
        noise: Floats,
        groups: Floats,
        is_contradicted: Flags | None = None,
    ) -> GaussianProcess:
        """Condition a process of known variances."""
        if is_contradicted is None:
            is_contradicted = np.zeros(len(ratings), dtype=bool)
        own_variances = np.where(is_contradicted, OWN_VARIANCE, 0.0) + variances[-1] + JITTER
        residual: Floats = noise + np.diag(own_variances)
        covariance = residual + np.tensordot(variances[:-1], kernels, 1)
        inverse = np.linalg.inv(covariance)
        solved = inverse @ groups
        precision = groups.T @ solved
        means: Floats = np.asarray(np.linalg.solve(precision, solved.T @ ratings), np.float64)
        restricted = np.asarray(inverse - solved @ np.linalg.solve(precision, solved.T), np.float64)
        half = 0.5 * (np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(precision)[1])
        return cls(variances, ratings, noise, restricted, means, is_contradicted, float(half))

    def resolved(self, kernels: Floats, groups: Floats) -> GaussianProcess:
        """Leave ratings that contradict predictions to themselves.

        Answers written to please a surrogate gain nothing once judged. A left-out rating's residual
        is (P y)ᵢ / Pᵢᵢ, its variance 1 / Pᵢᵢ.
        """
        process = self
        for _ in range(MOST_CONTRADICTED):
            # A rating that is alone in its group has neither a residual nor a precision.
            precisions = np.maximum(np.diag(process.restricted), JITTER)
            deviations = np.abs(process.dual) / np.sqrt(precisions)
            worst = int(np.argmax(deviations))
            if deviations[worst] <= CONTRADICTION:
                break
            is_contradicted = process.is_contradicted.copy()
            is_contradicted[worst] = True
            process = GaussianProcess.of(
                self.variances, kernels, self.ratings, self.noise, groups, is_contradicted
            )
        return process

    @property
    def dual(self) -> Floats:
        """Weight of each rating in predictions, shape (N,)."""
        return self.restricted @ self.ratings

    def posterior(self) -> tuple[Floats, Floats, Floats]:
        """Estimate ratings without noise (Fay and Herriot, 1979).

        Returns:
            Means, shape (N,); covariance, shape (N, N); and the weight of each item's own rating,
            (N,), from 0 (nothing but noise) to 1 (none), unless noise is shared.
        """
        # The noise that is estimated from the ratings is this matrix times them, shape (N, N).
        noise_filter = self.noise @ self.restricted
        means = self.ratings - self.noise @ self.dual
        covariance = self.noise - noise_filter @ self.noise
        return means, covariance, np.clip(1.0 - noise_filter.diagonal(), 0.0, 1.0)

    def slopes(self, kernels: Floats) -> Floats:
        """Return the restricted likelihood's negative gradient, (K + 1,)."""
        dual = self.dual
        of_kernels = np.tensordot(kernels, self.restricted, 2) - kernels @ dual @ dual
        of_residual = np.trace(self.restricted) - dual @ dual
        return 0.5 * np.append(of_kernels, of_residual)


def fit_process(kernels: Floats, ratings: Floats, noise: Floats, groups: Floats) -> GaussianProcess:
    """Condition a Gaussian process on ratings (N,), kernels (K, N, N).

    ``noise`` is their sampling covariance, ``groups`` are one-hot, (N, G). Variances have wide
    log-normal priors centered on equal shares of the signal, and the likelihood is multiplied by
    their sum (Li and Lahiri, 2010): with few ratings the plain likelihood often takes everything
    for noise.
    """
    # Standard deviation of the logarithm of each variance: a factor of 4.5 up or down
    prior_deviation = 1.5
    if len(ratings) > MANY:
        rows = _spread_sample(ratings, groups)
        # The mean of a group without a sampled item cannot be estimated.
        is_present = groups[rows].any(axis=0)
        sampled = fit_process(
            kernels[:, rows[:, None], rows],
            ratings[rows],
            noise[np.ix_(rows, rows)],
            groups[rows][:, is_present],
        )
        return GaussianProcess.of(sampled.variances, kernels, ratings, noise, groups)
    n_variances = len(kernels) + 1
    start = np.full(n_variances, np.log(_signal_variance(ratings, noise, groups) / n_variances))

    def loss(logs: Floats) -> tuple[float, Floats]:
        """Return minus the variances' log density, and its gradient."""
        variances = np.exp(logs)
        deviations = logs - start
        prior_slopes = deviations / prior_deviation**2
        process = GaussianProcess.of(variances, kernels, ratings, noise, groups)
        value = 0.5 * float(ratings @ process.dual) + process.half - np.log(variances.sum())
        value += 0.5 * float(prior_slopes @ deviations)
        slopes = process.slopes(kernels) - 1 / variances.sum()
        # The chain rule: the slope by a logarithm is that by the variance, times the variance.
        return value, variances * slopes + prior_slopes

    best = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
    return GaussianProcess.of(np.exp(best), kernels, ratings, noise, groups)


def _spread_sample(ratings: Floats, groups: Floats) -> Indices:
    """Choose ``MANY`` ratings, evenly from the lowest to the highest of each group."""
    ordered = np.lexsort((ratings, groups.argmax(axis=1)))
    positions = np.linspace(0, len(ordered) - 1, MANY).round().astype(np.intp)
    return np.asarray(ordered[positions])


def _signal_variance(ratings: Floats, noise: Floats, groups: Floats) -> float:
    # Smallest share of the ratings' variance, or of their noise, that is taken for signal
    smallest_share = 0.25
    group_means = np.linalg.lstsq(groups, ratings, rcond=None)[0]
    residuals = ratings - groups @ group_means
    freedom = max(len(ratings) - groups.shape[1], 1)
    variance = float(residuals @ residuals) / freedom
    signal = variance - float(np.diag(noise).mean())
    # Equal ratings are not known to be equal, by as much as their noise, and a logit at most.
    smallest = max(variance, min(float(np.diag(noise).min()), 1.0))
    return float(max(signal, smallest_share * smallest, JITTER))


SMALLEST = 1e-9
"""Below it, a number is 0 but for rounding."""


@dataclass(frozen=True)
class Scale:
    """How means of a language are standardized by its rated systems.

    Features have a center, a deviation (infinite where systems do not differ) and a reliability,
    (F,): a mean of few answers is noisy, and is shrunk (Fuller, 1987, chapter 1). Profiles have a
    center (D,), and a scale: the root mean squared distance from it.
    """

    center: Floats
    deviation: Floats
    reliability: Floats
    text_center: Floats
    text_scale: float

    @classmethod
    def of(cls, view: FieldView, is_rated: Flags) -> Scale:
        """Learn it from the rated systems of a field, shape (N,)."""
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

    def features(self, view: FieldView) -> Floats:
        """Return standardized features, (M, F), the mean where missing."""
        largest = 2.5  # standard deviations, so that no outlier decides
        standardized = np.nan_to_num((view.means - self.center) / self.deviation)
        return np.asarray(np.clip(standardized, -largest, largest))

    def texts(self, view: FieldView) -> Floats:
        """Return standardized profiles, shape (M, D)."""
        return np.asarray((view.profiles - self.text_center) / self.text_scale)


@dataclass(frozen=True)
class SystemVectors:
    """M systems in languages, as the kernels see them.

    Attributes:
        features: Standardized features without the consensus, shape (M, F).
        reliable: All features, each shrunk by its reliability, shape (M, F).
        texts: Standardized profiles, shape (M, D).
    """

    keys: pd.MultiIndex
    features: Floats
    reliable: Floats
    texts: Floats

    @classmethod
    def of(
        cls,
        views: Mapping[str, FieldView],
        scales: Mapping[str, Scale],
        selected: Mapping[str, Flags] | None = None,
    ) -> SystemVectors:
        """Standardize the selected systems of every language."""
        keys: list[tuple[str, str]] = []
        features = []
        reliable = []
        texts = []
        for language, view in views.items():
            scale = scales[language]
            rows = (
                np.ones(len(view.systems), dtype=bool) if selected is None else selected[language]
            )
            names = np.array(view.systems, dtype=object)[rows]
            keys.extend((language, name) for name in names)
            standardized = scale.features(view)[rows]
            has_consensus = view.profiles.size > 0
            features.append(standardized[:, :-1] if has_consensus else standardized)
            reliable.append(standardized * scale.reliability)
            texts.append(scale.texts(view)[rows])
        return cls(
            keys=pd.MultiIndex.from_tuples(keys),
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
        """Whether a system answered in several languages."""
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
        same_language = np.equal.outer(self.languages, others.languages)
        within = self.texts @ others.texts.T * same_language
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
    """Return the kernel of a system over languages, shape (1, N, N); (0, N, N) for one."""
    if len(keys.unique(level=0)) < 2:
        return np.empty((0, len(keys), len(keys)))
    names = np.asarray(keys.get_level_values(1), dtype=object)
    return np.asarray(np.equal.outer(names, names)[None], dtype=np.float64)
