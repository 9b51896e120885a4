"""Languages with verdicts on few systems: all are rated, by what other languages tell of answers.

The few ratings are data of the same process. They say how their systems differ, and nothing of
where these lie among the others: ratings there are about the mean of all systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from arena.rating.posterior import RatingPosterior
from surrogate.learning.posterior.observations import Observation
from surrogate.learning.surrogate import FEWEST_SYSTEMS

ENOUGH_SYSTEMS = 8
"""Judged systems of a language from which on systems are seen beside these; else beside all."""
UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""


def borrowing_languages(
    answers: Mapping[str, pd.DataFrame], rated: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Find the languages with so few rated systems that all are seen beside each other.

    As in a language without any, features and texts are those beside all systems that answered;
    the few ratings are data like those of other languages. Elsewhere there must be more of them.
    """
    most = max((len(systems) for systems in rated.values()), default=0)
    if most < FEWEST_SYSTEMS:
        return frozenset()
    enough = ENOUGH_SYSTEMS if most >= ENOUGH_SYSTEMS else FEWEST_SYSTEMS
    return frozenset(
        language
        for language, systems in rated.items()
        if len(systems) < enough and answers[language]["system"].nunique() >= FEWEST_SYSTEMS
    )


def with_unjudged(observed: Observation, systems: Sequence[str]) -> Observation:
    """Put systems that have no verdict behind those that have."""
    others = [name for name in systems if name not in observed.systems]
    return replace(
        observed,
        systems=observed.systems + tuple(others),
        ratings=np.concatenate([observed.ratings, np.zeros(len(others))]),
        noise=np.asarray(block_diag(observed.noise, UNKNOWN * np.eye(len(others)))),
    )


def about_all(found: RatingPosterior, judged: int) -> RatingPosterior:
    """Rate about the mean of all systems, of which the first have verdicts.

    These were rated about their own mean: where it lies is not known, and nobody's verdicts tell.
    """
    size = len(found.systems)
    middle = np.eye(size) - 1 / size
    own = np.where(np.arange(size) < judged, found.shares - 1 / max(judged, 1), 0.0)
    return RatingPosterior(
        found.systems,
        middle @ found.ratings,
        middle @ found.covariance @ middle,
        np.clip(own, 0.0, 1.0),
    )
