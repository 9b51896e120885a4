"""The calls that a run would make, and their cost, without making them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from arena.llm.batches.ledger import BatchLedger
from arena.llm.llm_settings import LlmSettings
from arena.llm.requests import Prompt, request_for
from arena.llm.trimming import BYTES_A_TOKEN
from arena.llm.usage import Price

if TYPE_CHECKING:
    from arena.llm.store import Store


@dataclass(frozen=True)
class DryRun:
    """The calls that a run would make, and their cost.

    Attributes:
        in_store: Distinct prompts that the store has answered.
        awaited: Distinct prompts that are in batches under way.
        calls: Calls that are left, without retries.
        tokens_in: Estimated tokens of these calls' prompts.
        tokens_out_at_most: Maximum tokens of the answers; None without a limit.
        cost_at_most: Maximum cost; None without a price or a limit.
    """

    prompts: int
    distinct: int
    in_store: int
    awaited: int
    calls: int
    tokens_in: int
    tokens_out_at_most: int | None
    cost_at_most: float | None

    @classmethod
    def total(cls, runs: Sequence[DryRun]) -> DryRun:
        """Add up runs of different prompts; a maximum that one lacks is None."""
        totals: dict[str, Any] = {}
        for field in fields(cls):
            values = [getattr(run, field.name) for run in runs]
            totals[field.name] = None if None in values else sum(values)
        return cls(**totals)


def dry_run(
    prompts: Iterable[Prompt],
    settings: LlmSettings,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> DryRun:
    """Count what ``ask_table`` would ask; nothing is sent.

    Tokens are estimated by bytes: right within a factor of two for most scripts.

    Args:
        prompts: The prompts.
        settings: How the model is asked.
        store: Replies in it cost nothing.
        prices: Price of each model.

    Returns:
        Prompts, calls, tokens and cost.

    Raises:
        UsageError: If a prompt or a setting cannot be sent.

    Examples:
        >>> from arena.llm import LlmSettings, Prompt
        >>> dry_run([Prompt.of("Hello!"), Prompt.of("Hello!")], LlmSettings(model="gpt-4o")).calls
        1
    """
    n_prompts = 0
    tokens_of: dict[str, int] = {}
    for prompt in prompts:
        n_prompts += 1
        tokens_of[request_for(prompt, settings).key] = _estimated_tokens(prompt)
    keys = list(tokens_of)
    answered: set[str] = set()
    awaited: set[str] = set()
    keys_at_once = 500
    if store is not None:
        for start in range(0, len(keys), keys_at_once):
            part = keys[start : start + keys_at_once]
            answered.update(store.look_up(part))
            awaited.update(BatchLedger(store).servers(part))
    awaited -= answered
    due = tokens_of.keys() - answered - awaited
    tokens_in = sum(tokens_of[key] for key in due)
    tokens_out = _most_tokens_out(settings, len(due))
    return DryRun(
        prompts=n_prompts,
        distinct=len(keys),
        in_store=len(answered),
        awaited=len(awaited),
        calls=len(due),
        tokens_in=tokens_in,
        tokens_out_at_most=tokens_out,
        cost_at_most=_highest_cost(settings, prices or {}, tokens_in, tokens_out),
    )


def _most_tokens_out(settings: LlmSettings, n_calls: int) -> int | None:
    limit = settings.body.get("max_completion_tokens", settings.max_tokens)
    return n_calls * limit if isinstance(limit, int) else None


def _highest_cost(
    settings: LlmSettings, prices: Mapping[str, Price], tokens_in: int, tokens_out: int | None
) -> float | None:
    price = prices.get(settings.model)
    if price is None or tokens_out is None:
        return None
    return price.of(tokens_in, tokens_out)


def _estimated_tokens(prompt: Prompt) -> int:
    tokens = 0
    for message in prompt.messages:
        # Chat formats add some 4 tokens for the role and the ends of a message.
        tokens += math.ceil(len(message.content.encode()) / BYTES_A_TOKEN) + 4
    return tokens
