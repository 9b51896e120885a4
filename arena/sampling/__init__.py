"""Judging less: what a part of the judgments is worth, and which to make next."""

from arena.sampling.adaptive import AdaptivePairing
from arena.sampling.rank_agreement import taus_with
from arena.sampling.study import (
    SampledTaus,
    SamplingStudy,
    connected_battles,
    sample_taus,
    study_sampling,
)
from arena.sampling.subsets import DESIGNS

__all__ = [
    "DESIGNS",
    "AdaptivePairing",
    "SampledTaus",
    "SamplingStudy",
    "connected_battles",
    "sample_taus",
    "study_sampling",
    "taus_with",
]
