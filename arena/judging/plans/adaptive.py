"""Adaptive pairs: chosen as verdicts come, until the ranking is settled."""

from __future__ import annotations

from dataclasses import replace

from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.judging_result import Judging
from arena.judging.plans.plan import JudgingPlan, JudgingRun
from arena.llm.usage import Budget


class AdaptivePlan(JudgingPlan):
    """Judges are asked about the pairs that tell most, round by round."""

    def judge(self, run: JudgingRun) -> Judging:
        """Judge until the ranking is settled, or the budget is spent."""
        budget = run.budget()
        pairs = AdaptivePairs(run.arena, run.settings, run.prior, run.failed, budget)
        judging = run.ask(pairs, budget)
        return replace(judging, progress=pairs.progress(), ratings=pairs.ratings())

    def forecast(self, run: JudgingRun) -> Forecast:
        """Say how many verdicts settle the ranking."""
        budget = Budget(run.settings.max_calls)
        return AdaptivePairs(run.arena, run.settings, run.prior, run.failed, budget).forecast()


PLAN = AdaptivePlan()
