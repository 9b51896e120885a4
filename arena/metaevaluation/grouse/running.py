"""A run: judges take the unit tests, and all that is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.metaevaluation.grouse.judges import Judge
from arena.metaevaluation.grouse.own_tests import own_unit_tests
from arena.metaevaluation.grouse.pass_rates import (
    GrouseResult,
    call_counts,
    grouse_results,
    pass_rates,
    type_matrix,
)
from arena.metaevaluation.grouse.scoring import score_tests
from arena.metaevaluation.grouse.unit_tests import UnitTest


@dataclass(frozen=True)
class GrouseRun:
    """What came of a run.

    Attributes:
        scores: Every mark, see ``scoring.score_tests``.
        pass_rates: By judge and metric, see ``pass_rates.pass_rates``.
        matrix: By judge, test type and metric, see ``pass_rates.type_matrix``.
        calls: Calls made and saved, see ``pass_rates.call_counts``.
        results: One for each judge, for boards.
    """

    scores: pd.DataFrame
    pass_rates: pd.DataFrame
    matrix: pd.DataFrame
    calls: pd.DataFrame
    results: tuple[GrouseResult, ...]


def run_grouse(judges: Sequence[Judge], tests: Sequence[UnitTest] | None = None) -> GrouseRun:
    """Let judges take unit tests.

    Args:
        judges: Judges, each of which sees the answers without the conditions.
        tests: Of ``read_unit_tests``; those that come with this project if left out.

    Raises:
        UsageError: See ``score_tests``.
    """
    scores = score_tests(own_unit_tests() if tests is None else tests, judges)
    return GrouseRun(
        scores,
        pass_rates(scores),
        type_matrix(scores),
        call_counts(scores),
        tuple(grouse_results(scores)),
    )
