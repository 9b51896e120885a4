"""Asking LLMs: many prompts to one model, each answer kept and paid for once."""

from arena.llm.ask import Asked, Llm, ask_table, read_text
from arena.llm.replies import (
    Completion,
    ExpectedScore,
    Reply,
    TokenLogprobs,
    UnparsableError,
    expected_score,
)
from arena.llm.settings import Endpoint, Message, ModelSettings, Prompt
from arena.llm.store import open_store
from arena.llm.usage import Budget, DryRun, Price, Usage, dry_run, read_prices

__all__ = [
    "Asked",
    "Budget",
    "Completion",
    "DryRun",
    "Endpoint",
    "ExpectedScore",
    "Llm",
    "Message",
    "ModelSettings",
    "Price",
    "Prompt",
    "Reply",
    "TokenLogprobs",
    "UnparsableError",
    "Usage",
    "ask_table",
    "dry_run",
    "expected_score",
    "open_store",
    "read_prices",
    "read_text",
]
