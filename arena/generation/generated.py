"""What generating brought: answers, failures, questions left out, and a summary of the counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

ANSWER_COLUMNS = ["query_id", "language", "system", "answer", "prompt", "finish_reason"]
FAILURE_COLUMNS = ["query_id", "language", "system", "reason", "detail", "prompt", "key"]
SKIPPED_COLUMNS = ["query_id", "language", "system", "query", "reason", "rationale"]

CUT_OFF = "length"
"""``finish_reason`` of an answer that reached the most tokens it may have."""


@dataclass(frozen=True)
class GenerationSummary:
    """Counts of one system's run.

    Attributes:
        system: The system.
        prompt: Version of its prompt.
        questions: Questions chosen.
        already_answered: Those of them that had an answer of this system.
        time_dependent: Those of them that were left out as time-dependent.
        answered: Answers of this run.
        cut_off: Those of the answers that reached the most tokens.
        without_passages: Questions asked without any passage.
        calls: Calls sent for answers, retries among them.
        retries: Calls sent again.
        from_store: Answers that were in the store.
        filter_calls: Calls sent to tell whether questions are time-dependent.
        failures: Questions without an answer, by reason.
        tokens_in: Tokens of the calls' prompts, the filter's included.
        tokens_out: Tokens of the replies.
        warnings: Sentences on what limits the answers.
    """

    system: str
    prompt: str
    questions: int
    already_answered: int
    time_dependent: int
    answered: int
    cut_off: int
    without_passages: int
    calls: int
    retries: int
    from_store: int
    filter_calls: int
    failures: dict[str, int]
    tokens_in: int
    tokens_out: int
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"warnings": list(self.warnings)}


@dataclass(frozen=True)
class Generated:
    """The answers of one system.

    Attributes:
        answers: An arena's ``answers``, with ``prompt`` (its version) and ``finish_reason`` (why
            the model stopped, in the endpoint's words).
        failures: Questions without an answer: ``reason``, ``detail``, ``key`` in the store.
        skipped: Questions left out as time-dependent, with the filter's ``rationale``.
        summary: What was counted.
    """

    answers: pd.DataFrame
    failures: pd.DataFrame
    skipped: pd.DataFrame
    summary: GenerationSummary
