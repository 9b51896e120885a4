"""Fixed pairs: drawn before any verdict, and asked at once or as the cost allows."""

from __future__ import annotations

from arena.judging.choosing.drawn_pairs import draw_pairs
from arena.judging.judging_result import Judging
from arena.judging.plans.plan import JudgingPlan, JudgingRun


class FixedPlan(JudgingPlan):
    """Judges are asked about the same pairs, drawn beforehand."""

    def judge(self, run: JudgingRun) -> Judging:
        """Judge all pairs drawn, or as many as the cost allows."""
        return run.ask(draw_pairs(run.arena, run.settings), run.budget())

    def forecast(self, run: JudgingRun) -> None:
        """Return None: the pairs are known beforehand."""


PLAN = FixedPlan()
