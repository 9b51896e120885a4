"""Asking prompt by prompt: for callers that have not moved to ``ask_table`` yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from arena.llm.ask import Llm, ask_table, read_text
from arena.llm.replies import Completion, Outcome
from arena.llm.settings import Endpoint, ModelSettings, Prompt
from arena.llm.store import Store
from arena.llm.usage import Budget, Usage


class Run:
    """The outcomes of ``complete``."""

    def __init__(self, prompts: list[Prompt], llm: Llm, parse: Callable[[Completion], Any]) -> None:
        self.usage = Usage(llm.settings.model)
        asked = ask_table(prompts, lambda prompt: prompt, parse, llm)
        self.usage = asked.usage
        self._outcomes = (
            Outcome(prompt, each.key, None, each.value, each.reason, each.detail, each.from_store)
            for prompt, each in asked
        )

    def __iter__(self) -> Iterator[Outcome[Any]]:
        return self._outcomes

    def __next__(self) -> Outcome[Any]:
        return next(self._outcomes)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        return


def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: Callable[[Completion], Any] | None = None,
    max_calls: int | None = None,
) -> Run:
    """Ask prompts in their order."""
    llm = Llm(settings, endpoint, store, Budget(max_calls))
    return Run(list(prompts), llm, parse or read_text)
