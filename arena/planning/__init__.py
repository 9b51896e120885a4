"""Judging less: what a part of the judgments is worth, and which to make next."""

from arena.planning.adaptive import AdaptivePairing
from arena.planning.study import (
    SampledTaus,
    SamplingStudy,
    connected_battles,
    sample_taus,
    study_sampling,
)
from arena.planning.subsets import DESIGNS

__all__ = [
    "DESIGNS",
    "AdaptivePairing",
    "SampledTaus",
    "SamplingStudy",
    "connected_battles",
    "sample_taus",
    "study_sampling",
]
