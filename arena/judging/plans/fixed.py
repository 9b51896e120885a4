"""Fixed pairs: drawn before any verdict, and asked at once or as the cost allows."""

from __future__ import annotations

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.choosing.drawn_pairs import choose_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.forms import JUDGE_FORMS
from arena.judging.judged_pairs import judge_pairs
from arena.judging.judging_result import Judging
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import LlmJudge, llm_judges
from arena.judging.plans.plan import JudgingPlan, JudgingRun, judging_budget


class FixedPlan(JudgingPlan):
    """Every judge is asked about the same pairs, which are drawn beforehand."""

    def judge(self, run: JudgingRun) -> Judging:
        """Judge all pairs drawn, or as many as the cost allows."""
        settings = run.settings
        judges = llm_judges(settings)
        budget = judging_budget(settings, run.prices)
        pairs = draw_pairs(run.arena, settings)
        with run.replies(judges) as store:
            return judge_pairs(
                run.arena,
                judges,
                pairs,
                store,
                budget=budget,
                prices=run.prices,
                progress=run.progress,
                people=run.people,
            )

    def forecast(self, run: JudgingRun) -> Forecast | None:  # noqa: ARG002 - the same for all runs
        """Return None: the pairs are known beforehand."""
        return None

    def likely_pairs(
        self,
        run: JudgingRun,
        expected: Forecast | None,  # noqa: ARG002 - nothing has to be expected
    ) -> list[tuple[LlmJudge, ChosenPairs]]:
        """Return every judge with the pairs drawn."""
        pairs = draw_pairs(run.arena, run.settings)
        return [(judge, pairs) for judge in llm_judges(run.settings)]


def draw_pairs(arena: Arena, settings: JudgingSettings) -> ChosenPairs:
    """Draw the pairs to judge before any verdict; see ``choose_pairs``.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    settings.require_plan()
    pairs = settings.pairs or "all"
    if settings.is_adaptive or pairs == "adaptive":
        raise UsageError("adaptive pairs are chosen as verdicts come, not beforehand")
    budget = settings.budget
    if budget is None and settings.pairs is None and settings.form == "pairwise":
        answers = arena.answers
        if settings.languages:
            answers = answers[answers["language"].isin(settings.languages)]
        n_systems = int(answers.groupby("language")["system"].nunique().sum())
        budget = settings.default_budget(n_systems)
    is_limited = budget is not None or settings.max_cost is not None
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        pairs=pairs,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        # Marks and orders are asked question by question.
        spread=is_limited and settings.form == "pairwise",
    )
    if budget is None:
        return chosen
    return JUDGE_FORMS[settings.form].within(chosen, budget // len(settings.judges))
