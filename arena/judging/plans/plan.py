"""The protocol of plans of judging."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.types import Progress
from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser
from arena.judging.choosing.drawn_pairs import draw_pairs, sample_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.judged_pairs import judge_pairs
from arena.judging.judging_result import Judging
from arena.judging.judging_settings import JudgingSettings, PlanName
from arena.judging.llm_judge import LlmJudge, llm_judges
from arena.llm.store import Store, open_store
from arena.llm.usage import Budget, Price
from arena.quality.people_agreement import PeopleAgreement


@dataclass(frozen=True)
class JudgingRun:
    """Arena, settings and store of a run."""

    arena: Arena
    settings: JudgingSettings
    store: Store | Path | str
    prior: pd.DataFrame | None = None
    failed: pd.DataFrame | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    progress: Progress | None = None
    people: Mapping[str, PeopleAgreement] | None = None

    def budget(self) -> Budget:
        """Return the budget of the run's calls."""
        return judging_budget(self.settings, self.prices)

    def ask(self, pairs: PairChooser, budget: Budget) -> Judging:
        """Ask the judges of the settings about pairs, within a budget."""
        judges = llm_judges(self.settings)
        with self._replies(judges) as store:
            return judge_pairs(
                self.arena,
                judges,
                pairs,
                store,
                budget=budget,
                prices=self.prices,
                progress=self.progress,
                people=self.people,
            )

    @contextmanager
    def _replies(self, judges: Sequence[LlmJudge]) -> Iterator[Store]:
        if isinstance(self.store, Store):
            yield self.store
            return
        if not Path(self.store).exists():
            # Without a key no call can be made: say so before an empty store is left behind.
            for judge in judges:
                judge.settings.api_key()
        with open_store(self.store) as store:
            yield store


class JudgingPlan(ABC):
    """Plan of which judges are asked about which pairs, and until when."""

    @abstractmethod
    def judge(self, run: JudgingRun) -> Judging:
        """Judge as planned."""

    @abstractmethod
    def forecast(self, run: JudgingRun) -> Forecast | None:
        """Forecast a run; None if its pairs are known before."""

    def judges(self, settings: JudgingSettings) -> list[LlmJudge]:
        """Return all judges that may be asked."""
        return llm_judges(settings)

    def likely_pairs(
        self, run: JudgingRun, expected: Forecast | None
    ) -> list[tuple[LlmJudge, ChosenPairs]]:
        """Return each judge with its pairs, or as many random ones."""
        expected = expected or self.forecast(run)
        planned = []
        for judge in self.judges(run.settings):
            if expected is None:
                pairs = draw_pairs(run.arena, run.settings)
            else:
                n_pairs = expected.by_judge[judge.judge]
                pairs = sample_pairs(run.arena, run.settings, n_pairs)
            planned.append((judge, pairs))
        return planned


def plan_of(name: PlanName) -> JudgingPlan:
    """Return the plan in the module of its name."""
    plan: JudgingPlan = import_module(f"arena.judging.plans.{name}").PLAN
    return plan


def judging_budget(settings: JudgingSettings, prices: Mapping[str, Price] | None) -> Budget:
    """Return the budget of a run's calls."""
    prices = prices or {}
    models = [settings.model, *settings.panel]
    if settings.escalate is not None:
        models.append(settings.escalate)
    without_price = [model for model in models if model not in prices]
    if settings.max_cost is not None and without_price:
        raise UsageError(
            f"{argument('max_cost')} needs the price of {', '.join(without_price)} "
            f"({argument('prices')})"
        )
    return Budget(settings.max_calls, max_cost=settings.max_cost, prices=prices)
