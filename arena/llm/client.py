"""Asking a model many prompts: what the store has is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from arena.errors import UsageError
from arena.llm.completions import Completion
from arena.llm.parsing import text_of
from arena.llm.prompts import Prompt
from arena.llm.run import Run
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage

if TYPE_CHECKING:
    from arena.llm.store import Store

T = TypeVar("T")


@overload
def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: None = None,
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> Run[str]: ...


@overload
def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: Callable[[Completion], T],
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> Run[T]: ...


def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: Callable[[Completion], Any] | None = None,
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> Run[Any]:
    """Ask a model, and hand out one outcome for each prompt, in their order.

    Prompts are taken some hundreds ahead of the outcome handed out, so memory does not grow with
    their number. Each answer is in the store before it is handed out, and is asked once: by this
    run, by a later one, or by another process with the same store. What failed in passing (see
    ``arena.llm.failures``) is a counted failure after its retries, and a later run tries it again.

    Nothing is sent before the first outcome is taken. To leave early, use the run in a ``with``
    block or ``close`` it: calls under way are waited for and kept.

    Args:
        prompts: What to ask; may be a generator.
        settings: Of which model.
        endpoint: Where.
        store: Where answers are and go.
        parse: Reads a value, which JSON can hold, from an answer, or raises ``UnparsableError``.
            It runs in another thread; None takes the text. Answers of the store are parsed anew.
        max_calls: Most prompts to send; the rest end as ``over_budget``, unless in the store.
        progress: Called with the counts before each outcome.

    Returns:
        An iterator of ``Outcome``; its ``usage`` counts calls, tokens and failures.

    Raises:
        UsageError: From the iterator: if there is no key, or the endpoint says what no further
            call can change (a wrong key, an unknown model, no server at the address).
        MissingDependencyError: From the iterator: if the SDK is not installed and a call is due.
    """
    if max_calls is not None and max_calls < 0:
        raise UsageError(f"max_calls is {max_calls}; give 0 or more, or None for no limit")
    return Run(prompts, settings, endpoint, store, parse or text_of, max_calls, progress)
