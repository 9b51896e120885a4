"""What judging brought: verdicts, failures, and a summary that counts everything."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from arena.judging.judging_summary import JudgingSummary

JUDGMENT_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "winner", "judge"),
    *("probability", "probability_a", "probability_b", "flags", "prompt"),
]
FAILURE_COLUMNS = [
    *("query_id", "language", "system_a", "system_b", "judge"),
    *("reason", "detail", "flags", "prompt", "key"),
]

PROBABILITY_COLUMNS = ["probability", "probability_a", "probability_b"]

IDENTICAL = "identical"
"""Flag of a tie that nobody was asked about: the two answers are the same text."""


@dataclass(frozen=True)
class Judged:
    """The judgments of one judge.

    Attributes:
        judgments: An arena's ``judgments``, with ``probability`` (of the verdict among the three)
            and ``probability_a, probability_b`` where log-probabilities were read, ``flags``
            (comma-separated) and ``prompt`` (its version).
        failures: Pairs without a verdict: ``reason``, ``detail``, and ``key`` in the store.
        summary: What was counted.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    summary: JudgingSummary
