"""Asking LLMs: many prompts to one model, each answer kept and paid for once."""

from arena.llm.client import complete
from arena.llm.completions import Completion, TokenLogprobs
from arena.llm.dry_run import DryRun, dry_run
from arena.llm.expected_scores import ExpectedScore, expected_score
from arena.llm.failures import UnparsableError
from arena.llm.open_store import open_store
from arena.llm.outcomes import Outcome
from arena.llm.prompts import Message, Prompt
from arena.llm.run import Run
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Price, Usage

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
