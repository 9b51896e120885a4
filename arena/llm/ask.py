"""Asking a model about the rows of a table: one prompt a row in, one value or reason a row out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import pandas as pd

from arena.llm.client import complete
from arena.llm.replies import Completion, Reply
from arena.llm.settings import Endpoint, ModelSettings, Prompt
from arena.llm.usage import Budget, Usage

if TYPE_CHECKING:
    from arena.llm.store import Store

R = TypeVar("R")
T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the rows done, and all rows."""


@dataclass(frozen=True)
class Llm:
    """A model, where it is asked, and where its replies are kept.

    ``dataclasses.replace(llm, settings=...)`` asks another model on the same budget.

    Attributes:
        settings: The model and how it samples.
        endpoint: Where it is asked.
        store: Keeps every reply: what it has is not asked again.
        budget: Most prompts to send, shared by all that asks with it; and what was used.
    """

    settings: ModelSettings
    endpoint: Endpoint
    store: Store = field(repr=False, compare=False)
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)


@dataclass(frozen=True)
class Asked(Generic[R, T]):
    """What a model was asked about rows, and what it replied.

    Attributes:
        rows: The rows.
        replies: A reply a row, in the order of the rows.
        usage: Calls, tokens, and failures by reason.
    """

    rows: Sequence[R]
    replies: list[Reply[T]]
    usage: Usage

    def __iter__(self) -> Iterator[tuple[R, Reply[T]]]:
        return zip(self.rows, self.replies, strict=True)

    @property
    def values(self) -> list[T | None]:
        """The value of each row; None where there is none."""
        return [reply.value for reply in self.replies]

    def table(self) -> pd.DataFrame:
        """Return columns ``value, reason, detail, key, from_store``, a row a row."""
        columns = ["value", "reason", "detail", "key", "from_store"]
        records = [tuple(getattr(reply, name) for name in columns) for reply in self.replies]
        return pd.DataFrame(records, columns=columns, dtype=object)


def read_text(completion: Completion) -> str:
    """Take the text of an answer as it is: the parser for those who want no other."""
    return completion.text or ""


def ask_table(
    rows: Sequence[R],
    prompt: Callable[[R], Prompt],
    parse: Callable[[Completion], T],
    llm: Llm,
    *,
    stage: str = "",
    progress: Progress | None = None,
) -> Asked[R, T]:
    """Ask a model about every row of a table.

    Prompts are made as they are sent. Each answer is in the store before it is read, and is asked
    once: by this call, by a later one, or by another process with the same store; rows with equal
    prompts share a call. What failed in passing is a counted failure after its retries, and a
    later call tries it again. An interrupt (Ctrl-C) waits for calls under way and keeps them.

    Args:
        rows: What to ask about, such as ``list(table.itertuples(index=False))``.
        prompt: Makes a row's prompt; called once a row, in their order.
        parse: Reads a value from an answer, or raises ``UnparsableError``; see ``read_text``.
        llm: Which model, where, with which store and budget.
        stage: Name that is passed to ``progress``.
        progress: Called with the stage, the rows done, and all rows.

    Raises:
        UsageError: If there is no key, a prompt or setting cannot be sent, or the endpoint says
            what no further call can change (a wrong key, an unknown model, no server there).
        MissingDependencyError: If the extra ``llm`` is not installed and a call is due.
    """
    run = complete(
        map(prompt, rows),
        llm.settings,
        endpoint=llm.endpoint,
        store=llm.store,
        parse=parse,
        max_calls=llm.budget.calls_left,
    )
    llm.budget.usages.append(run.usage)
    replies: list[Reply[T]] = []
    with run:
        for outcome in run:
            replies.append(
                Reply(
                    outcome.value, outcome.failure, outcome.detail, outcome.key, outcome.from_store
                )
            )
            if progress is not None:
                progress(stage, len(replies), len(rows))
    return Asked(rows, replies, run.usage)
