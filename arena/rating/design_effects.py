"""How far verdicts on a question depend on each other, by system, and sums by question or voter.

There are P pairs and K parameters: S ratings, then C coefficients of judges' biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from arena.computing.codes import DENSE, blocks, summable
from arena.data.types import Flags, Floats, Indices
from arena.rating.biases import Biases
from arena.rating.pairs import Pairs

LEAST_EFFECT = 0.25
"""Smallest design effect of whole verdicts that is believed: an estimate from few questions may be
far too small."""


@dataclass(frozen=True)
class DesignEffects:
    """Dependence of verdicts on a question, of S systems.

    Attributes:
        estimates: Variance of a score over drawn questions, relative to independent battles, (S,);
            NaN without battles, or on too few questions.
        n_questions: Questions on which each system was judged, shape (S,).
        least: Smallest effect that is believed.
        of_biases: The same of the judges' biases, shape (C,).
        if_unknown: Effect where no system's is known.
        common_variance: Relative variance of the mean effect as an estimate; 0 if it is exact.
    """

    estimates: Floats
    n_questions: Floats
    least: float = LEAST_EFFECT
    of_biases: Floats = field(default_factory=lambda: np.empty(0))
    if_unknown: float = 1.0
    common_variance: float = 0.0

    @classmethod
    def known(cls, effect: float, n_systems: int, n_biases: int) -> DesignEffects:
        """Take one effect, known from other verdicts, for everything."""
        several_questions = 2.0
        return cls(
            estimates=np.full(n_systems, effect),
            n_questions=np.full(n_systems, several_questions),
            of_biases=np.full(n_biases, effect),
        )

    @classmethod
    def of_all(cls, parts: Sequence[DesignEffects]) -> DesignEffects:
        """Concatenate the systems of several languages."""
        return cls(
            estimates=np.concatenate([np.empty(0), *(part.estimates for part in parts)]),
            n_questions=np.concatenate([np.empty(0), *(part.n_questions for part in parts)]),
            least=min((part.least for part in parts), default=LEAST_EFFECT),
            if_unknown=max((part.if_unknown for part in parts), default=1.0),
            common_variance=sum(part.common_variance for part in parts) / max(len(parts), 1) ** 2,
        )

    @property
    def common(self) -> float:
        """Return the mean of known effects, at least ``least``."""
        is_known = np.isfinite(self.estimates)
        if not is_known.any():
            return self.if_unknown
        return max(float(self.estimates[is_known].mean()), self.least)

    @property
    def by_parameter(self) -> Floats:
        """Return the effects of systems, then biases, shape (K,)."""
        return np.append(self.by_system, self.by_bias)

    @property
    def by_bias(self) -> Floats:
        """Return each bias's effect, (C,), at least the systems' mean."""
        return np.fmax(self.of_biases, self.common)

    @property
    def by_system(self) -> Floats:
        """Draw each system's effect to the common one (empirical Bayes), shape (S,).

        From Q questions its relative variance is about 2 / (Q - 1); the rest is systems' (moments).
        """
        is_known = np.isfinite(self.estimates)
        common = self.common
        effects = np.full(len(self.estimates), common)
        if is_known.sum() < 2:
            return effects
        deviations = self.estimates[is_known] / common - 1.0
        error_variance = 2.0 / np.maximum(self.n_questions[is_known] - 1.0, 1.0)
        observed_variance = float(deviations @ deviations) / (len(deviations) - 1)
        between_systems = max(observed_variance - float(error_variance.mean()), 0.0)
        weight = between_systems / (between_systems + error_variance)
        shrunken = common * (1.0 + weight * deviations)
        # An effect that is estimated with a relative variance r calls for Student's quantiles; at
        # 90% and 95% these are those of a normal distribution of a variance of 1 + r.
        variance = weight * error_variance + (1.0 - weight) * self.common_variance
        widened = shrunken * (1.0 + variance)
        effects[is_known] = np.maximum(widened, self.least)
        return effects


@dataclass(frozen=True)
class Clusters:
    """N items in clusters: questions, voters, or the questions of voters.

    Attributes:
        pair: Pair of each item, shape (N,).
        cluster: Cluster of each item, shape (N,).
    """

    pairs: Pairs
    biases: Biases
    pair: Indices
    cluster: Indices
    n_clusters: int

    @property
    def n_parameters(self) -> int:
        """Count ratings and coefficients of biases."""
        return self.pairs.n_systems + len(self.biases)

    def moments(self, values: Floats, power: int, exponents: Sequence[int]) -> Floats:
        """Count clusters, and add up their sums to each exponent, shape (1 + exponents, K).

        A sum is of items' values, (N,), times derivatives of their logits to a power. The order of
        items and clusters changes no bit.
        """
        largest_value = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
        # Each parameter has its own bound, as traits may have units of any size.
        largest_terms = largest_value * self._largest_derivatives**power
        largest_sums = largest_terms * int(np.bincount(self.cluster).max(initial=0))
        largest_powers = []
        for exponent in exponents:
            largest_powers.append(len(values) * largest_terms * largest_sums ** (exponent - 1))
        largest_total = largest_value * len(values)
        if self.n_clusters * self.n_parameters > DENSE * len(values):
            rounded = summable(values, largest_total)
            return self._sparse_moments(rounded, power, exponents, largest_powers)
        sums, has_values = self._dense_sums(values, power, largest_total)
        moments = [has_values.sum(axis=0, dtype=np.float64)]
        for exponent, largest in zip(exponents, largest_powers, strict=True):
            moments.append(summable(sums**exponent, largest).sum(axis=0))
        return np.array(moments)

    @property
    def _largest_derivatives(self) -> Floats:
        """Return the largest absolute derivative of any logit by each parameter, shape (K,)."""
        of_traits = np.abs(self.biases.values).max(axis=0, initial=0.0)
        of_biases = np.tile(of_traits, len(self.biases.judges))
        return np.append(np.ones(self.pairs.n_systems), of_biases)

    def _sparse_moments(
        self,
        values: Floats,
        power: int,
        exponents: Sequence[int],
        largest_powers: Sequence[Floats],
    ) -> Floats:
        moments = np.zeros((1 + len(exponents), self.n_parameters))
        shape = (self.n_clusters, len(self.pairs))
        by_pair = coo_array((values, (self.cluster, self.pair)), shape=shape).tocsr()
        design = self.pairs.design(self.biases)
        derivatives = design.power(power)
        squared_derivatives = design.power(2)
        for rows in blocks(self.n_clusters):
            part = by_pair[rows]
            sums = part @ derivatives
            for row, exponent in enumerate(exponents):
                powers = summable(sums.data**exponent, largest_powers[row][sums.indices])
                moments[1 + row] += np.bincount(sums.indices, powers, self.n_parameters)
            # A sparse product drops sums of 0, whose clusters count, too.
            part.data[:] = 1.0
            counted = part @ squared_derivatives
            moments[0] += np.bincount(counted.indices, minlength=self.n_parameters)
        return moments

    def _dense_sums(self, values: Floats, power: int, largest_total: float) -> tuple[Floats, Flags]:
        """Add up values times derivatives by cluster, and flag which have any, (clusters, K).

        Many battles on few questions take a third of the time of sparse products.
        """
        sums = np.zeros(self.n_clusters * self.n_parameters)
        has_values = np.zeros(len(sums), dtype=np.bool_)
        for parameter, derivative in self._derivatives():
            factor = derivative**power
            if not factor.any():
                continue
            largest = largest_total * float(np.abs(factor).max())
            for rows in blocks(len(values)):
                pair = self.pair[rows]
                cells = self.cluster[rows] * self.n_parameters + parameter[pair]
                factors = factor if len(factor) == 1 else factor[pair]
                np.add.at(sums, cells, summable(values[rows] * factors, largest))
                if not factors.all():
                    cells = cells[factors != 0]
                has_values[cells] = True
        by_cluster = (self.n_clusters, self.n_parameters)
        return sums.reshape(by_cluster), has_values.reshape(by_cluster)

    def _derivatives(self) -> list[tuple[npt.NDArray[np.int32], Floats]]:
        """Return parameters of pairs, (P,), and their logits' derivatives by these, (P,) or (1,).

        The first two are by the ratings of a pair's systems, the others by each trait.
        """
        biases = self.biases
        derivatives = [(self.pairs.first, np.ones(1)), (self.pairs.second, -np.ones(1))]
        first_of_judges = self.pairs.n_systems + biases.judge * len(biases.traits)
        for trait, differences in enumerate(biases.values.T):
            is_constant = len(differences) > 0 and bool((differences == differences[0]).all())
            derivatives.append(
                (first_of_judges + trait, differences[:1] if is_constant else differences)
            )
        # Indices of 32 bits are looked up in half the time.
        return [(parameter.astype(np.int32), values) for parameter, values in derivatives]
