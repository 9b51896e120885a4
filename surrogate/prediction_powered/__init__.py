"""A few judgments of a new system and the surrogate's predictions of all, in one estimate."""

from surrogate.prediction_powered.advice import Advice, advise
from surrogate.prediction_powered.mean_estimate import (
    MeanEstimate,
    PoweredMean,
    prediction_powered_mean,
)
from surrogate.prediction_powered.separation import judgments_to_separate
from surrogate.prediction_powered.win_rates import estimate_win_rates

__all__ = [
    "Advice",
    "MeanEstimate",
    "PoweredMean",
    "advise",
    "estimate_win_rates",
    "judgments_to_separate",
    "prediction_powered_mean",
]
