"""Ratings of normal errors, as a process is conditioned on them."""

from surrogate.learning.posterior.observations import Observation


def normal_ratings(ratings, noise):
    """What is observed of ratings with a sampling covariance: no battles."""
    return Observation(tuple(f"s{place}" for place in range(len(ratings))), ratings, noise)
