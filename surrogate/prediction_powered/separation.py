"""How many judgments two systems need before it can be said which is the better."""

from __future__ import annotations

import math

from scipy.stats import norm

from arena.errors import UsageError

LEVEL = 0.95
POWER = 0.8
SMALLEST_MARGIN = 1e-6


def judgments_to_separate(
    win_rate: float, level: float = LEVEL, power: float = POWER
) -> int | None:
    """Return how many judgments of a pair tell a win rate from one half.

    The number at which a two-sided test of one half finds the difference with the given power
    (normal approximation of the binomial; ties, which vary less, need no more):

        ((z(level) / 2 + z(power) sqrt(p (1 - p))) / (p - 1/2))^2

    Args:
        win_rate: Share of points p that one system is expected to win against the other.
        level: Confidence of the statement.
        power: Probability of reaching it, if the win rate is as expected.

    Returns:
        None where no number is enough: the two are expected to be equal.

    Raises:
        UsageError: For a number out of range.
    """
    if not 0 <= win_rate <= 1:
        raise UsageError(f"win_rate = {win_rate:g} is out of range; use 0 to 1")
    if not (0 < level < 1 and 0 < power < 1):
        raise UsageError("level and power must be above 0 and below 1")
    margin = abs(win_rate - 0.5)
    if margin < SMALLEST_MARGIN:
        return None
    by_chance = float(norm.ppf((1 + level) / 2)) / 2
    as_expected = float(norm.ppf(power)) * math.sqrt(win_rate * (1 - win_rate))
    return math.ceil(((by_chance + as_expected) / margin) ** 2)
