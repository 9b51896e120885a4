"""Adaptive pairs: chosen as verdicts come, until the ranking is settled."""

from __future__ import annotations

from dataclasses import replace

from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.choosing.drawn_pairs import sample_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.judged_pairs import judge_pairs
from arena.judging.judging_result import Judging
from arena.judging.llm_judge import LlmJudge, llm_judges
from arena.judging.plans.plan import JudgingPlan, JudgingRun, judging_budget
from arena.llm.usage import Budget


class AdaptivePlan(JudgingPlan):
    """Every judge is asked about the pairs that tell most about the ranking, round by round."""

    def judge(self, run: JudgingRun) -> Judging:
        """Judge until the ranking is settled, or the budget is spent."""
        judges = llm_judges(run.settings)
        budget = judging_budget(run.settings, run.prices)
        pairs = AdaptivePairs(run.arena, run.settings, run.prior, run.failed, budget)
        with run.replies(judges) as store:
            judging = judge_pairs(
                run.arena,
                judges,
                pairs,
                store,
                budget=budget,
                prices=run.prices,
                progress=run.progress,
                people=run.people,
            )
        return replace(judging, progress=pairs.progress(), ratings=pairs.ratings())

    def forecast(self, run: JudgingRun) -> Forecast:
        """Say how many verdicts settle the ranking, by the prior and the verdicts so far."""
        budget = Budget(run.settings.max_calls)
        return AdaptivePairs(run.arena, run.settings, run.prior, run.failed, budget).forecast()

    def likely_pairs(
        self, run: JudgingRun, expected: Forecast | None
    ) -> list[tuple[LlmJudge, ChosenPairs]]:
        """Return every judge with as many random pairs as it is expected to judge."""
        by_judge = (expected or self.forecast(run)).by_judge
        planned = []
        for judge in llm_judges(run.settings):
            pairs = sample_pairs(run.arena, run.settings, by_judge[judge.judge])
            planned.append((judge, pairs))
        return planned
