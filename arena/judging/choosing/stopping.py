"""When a ranking is known well enough to stop judging."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.posterior import RatingPosterior
from arena.statistics.significance import NORMAL_90

Floats = npt.NDArray[np.float64]

DECIDED = 0.95
"""Probability at which the order of two systems, or that they are tied, counts as known."""
DEFAULTS = MappingProxyType({"first": 0.95, "pairs": 0.2, "width": None})
"""What may be asked for, and the value where none is stated."""


@dataclass(frozen=True)
class Precision:
    """What has to be known of a ranking.

    Attributes:
        aim: ``first``: which system is best; ``pairs``: the order of all neighbors in the
            ranking, or that they are tied; ``width``: all ratings.
        value: Of ``first`` the probability; of ``pairs`` the difference in logits that is a tie;
            of ``width`` the width in logits of the widest 90% interval.
    """

    aim: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Precision:
        """Read ``first=0.95``, ``pairs=0.2`` or ``width=0.5``; ``first`` and ``pairs`` have these.

        Raises:
            UsageError: For anything else.
        """
        aim, has_value, stated = text.strip().partition("=")
        try:
            value = float(stated) if has_value else DEFAULTS.get(aim)
        except ValueError:
            value = None
        most = 1.0 if aim == "first" else np.inf
        if aim not in DEFAULTS or value is None or not 0 < value < most:
            raise UsageError(
                f"`until` is {text!r}; write first=0.95 (probability that the leader is best), "
                "pairs or pairs=0.2 (neighbors decided, or within so many logits), or width=0.5 "
                "(of the widest 90% interval)"
            )
        return cls(aim, value)

    def __str__(self) -> str:
        return f"{self.aim}={self.value:g}"

    def judge(self, posterior: RatingPosterior) -> tuple[bool, str]:
        """Say whether it is reached, and how far it is in words.

        Args:
            posterior: What is known of the ratings.
        """
        if self.aim == "first":
            leader, share = probability_of_first(posterior)
            return share >= self.value, f"{leader} is first with probability {share:.3f}"
        if self.aim == "pairs":
            known = neighbors_known(posterior, self.value)
            return bool(known.all()), f"{known.sum()} of {len(known)} neighbors decided or tied"
        width = 2.0 * NORMAL_90 * float(posterior.standard_errors.max())
        return width < self.value, f"the widest 90% interval is {width:.3f} logits"


def probability_of_first(posterior: RatingPosterior) -> tuple[str, float]:
    """Return the leader, and the probability that no system is better."""
    leader = int(np.argmax(posterior.ratings))
    draws = posterior.draws(generator(0, "stopping"))
    return posterior.systems[leader], float((draws.argmax(axis=1) == leader).mean())


def neighbors_known(posterior: RatingPosterior, margin: float) -> npt.NDArray[np.bool_]:
    """Tell of each two neighbors in the ranking whether they are decided, or tied.

    Args:
        posterior: Ratings of S systems.
        margin: Difference in logits below which two systems are tied.

    Returns:
        Shape (S - 1,), the leader's first.
    """
    order = np.argsort(-posterior.ratings, kind="stable")
    ratings, covariance = posterior.ratings[order], posterior.covariance[np.ix_(order, order)]
    apart = ratings[:-1] - ratings[1:]
    own, next_to = np.diag(covariance), np.diag(covariance, 1)
    error = np.sqrt(np.maximum(own[:-1] + own[1:] - 2.0 * next_to, np.finfo(float).tiny))
    decided = ndtr(apart / error) >= DECIDED
    tied = ndtr((margin - apart) / error) - ndtr((-margin - apart) / error) >= DECIDED
    return np.asarray(decided | tied)


def misordered(posterior: RatingPosterior) -> float:
    """Return the expected share of pairs that the ranking has in the wrong order."""
    first, second = np.triu_indices(len(posterior.systems), k=1)
    variance = np.diag(posterior.covariance)
    spread = variance[first] + variance[second] - 2.0 * posterior.covariance[first, second]
    apart = np.abs(posterior.ratings[first] - posterior.ratings[second])
    return float(ndtr(-apart / np.sqrt(np.maximum(spread, np.finfo(float).tiny))).mean())
