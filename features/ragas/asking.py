"""Asking an LLM in stages, each prompt kept and paid for once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from arena.llm.client import complete
from arena.llm.completions import Completion
from arena.llm.failures import OVER_BUDGET
from arena.llm.outcomes import Outcome
from arena.llm.prompts import Prompt
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage

if TYPE_CHECKING:
    from arena.llm.store import Store

T = TypeVar("T")


@dataclass
class Asker:
    """Asks one model, stage after stage.

    Attributes:
        settings: The model.
        endpoint: Where it is asked.
        store: Where replies are kept.
        calls_left: Most prompts still to send; None for any number.
        progress: Called with the prompts done and all of a stage.
        usages: What each stage asked and used.
    """

    settings: ModelSettings
    endpoint: Endpoint
    store: Store
    calls_left: int | None = None
    progress: Callable[[int, int], None] | None = None
    usages: list[Usage] = field(default_factory=list)

    def ask(
        self,
        prompts: Sequence[Prompt],
        parse: Callable[[Completion], T],
        settings: ModelSettings | None = None,
    ) -> list[Outcome[T]]:
        """Ask prompts, in their order.

        Raises:
            UsageError: If the endpoint cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        if not prompts:
            return []
        run = complete(
            prompts,
            settings or self.settings,
            endpoint=self.endpoint,
            store=self.store,
            parse=parse,
            max_calls=self.calls_left,
        )
        self.usages.append(run.usage)
        outcomes: list[Outcome[T]] = []
        with run:
            for outcome in run:
                outcomes.append(outcome)
                if self.progress is not None:
                    self.progress(len(outcomes), len(prompts))
        self._count(outcomes)
        return outcomes

    def _count(self, outcomes: Sequence[Outcome[T]]) -> None:
        if self.calls_left is not None:
            sent = sum(not each.from_store and each.failure != OVER_BUDGET for each in outcomes)
            self.calls_left = max(self.calls_left - sent, 0)
