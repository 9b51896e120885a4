"""Asking LLMs: many prompts to one model, each answer kept and paid for once."""

from arena.llm.client import complete
from arena.llm.replies import (
    Completion,
    ExpectedScore,
    Outcome,
    TokenLogprobs,
    UnparsableError,
    expected_score,
)
from arena.llm.run import Run
from arena.llm.settings import Endpoint, Message, ModelSettings, Prompt
from arena.llm.store import open_store
from arena.llm.usage import DryRun, Price, Usage, dry_run

__all__ = [
    "Completion",
    "DryRun",
    "Endpoint",
    "ExpectedScore",
    "Message",
    "ModelSettings",
    "Outcome",
    "Price",
    "Prompt",
    "Run",
    "TokenLogprobs",
    "UnparsableError",
    "Usage",
    "complete",
    "dry_run",
    "expected_score",
    "open_store",
]
