"""How far verdicts on a question depend on each other, by system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from arena.data.types import Floats

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
