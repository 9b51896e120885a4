"""What generating brought: answers, failures, questions left out, and a summary of the counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from arena.data.wording import count_of
from arena.generation.prompt import AnswerPrompt
from arena.generation.questions import GivenQuestion, TimeDependence
from arena.llm.ask import Asked
from arena.llm.settings import LlmSettings
from arena.llm.usage import Usage

ANSWER_COLUMNS = ["query_id", "language", "system", "answer", "prompt", "finish_reason"]
FAILURE_COLUMNS = ["query_id", "language", "system", "reason", "detail", "prompt", "key"]
SKIPPED_COLUMNS = [*FAILURE_COLUMNS, "query"]

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
        fitted: Questions whose passages were trimmed further, for the prompt to fit the context.
        failures: Questions without an answer, by reason, those of which the filter told nothing
            included.
        usage: Calls and tokens for the answers.
        filter_usage: Calls and tokens to tell whether questions are time-dependent, or None.
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
    fitted: int
    failures: dict[str, int]
    usage: Usage
    filter_usage: Usage | None
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = self.usage.as_json() | asdict(self)
        del fields["usage"]
        return fields


@dataclass(frozen=True)
class Generated:
    """The answers of one system.

    Attributes:
        answers: An arena's ``answers``, with ``prompt`` (its version) and ``finish_reason`` (why
            the model stopped, in the endpoint's words).
        failures: Questions without an answer: ``reason``, ``detail``, ``key`` in the store.
        skipped: Questions left out as time-dependent: as ``failures``, ``detail`` the filter's
            rationale, and ``query``.
        summary: What was counted.
    """

    answers: pd.DataFrame
    failures: pd.DataFrame
    skipped: pd.DataFrame
    summary: GenerationSummary


@dataclass(frozen=True)
class LlmSystem:
    """A RAG system.

    Attributes:
        settings: How its model is asked.
        prompt: What it is asked; see ``answer_prompt``.
        name: Its name in the ``system`` column; the model's by default.
    """

    settings: LlmSettings
    prompt: AnswerPrompt
    name: str = ""

    @property
    def system(self) -> str:
        """Name in the ``system`` column."""
        return self.name or self.settings.model


_THOUGHTS = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)


def summarize_generation(
    system: LlmSystem,
    queries: pd.DataFrame,
    left: pd.DataFrame,
    asked: Asked[GivenQuestion, tuple[str, str]],
    tables: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    told: TimeDependence | None,
    there: pd.DataFrame | None,
    fitted: int,
) -> GenerationSummary:
    """Count what a run brought.

    Args:
        system: Who answered.
        queries: Questions chosen.
        left: Those of them without an answer before.
        asked: Those of them that were not left out, with the replies.
        tables: Answers, failures, questions left out.
        told: What the filter told, if there was one.
        there: Answers there were before, or None.
        fitted: Prompts whose passages were trimmed to fit the context.
    """
    answers, failures, skipped = tables
    without_passages = sum(not question.passages for question in asked.rows)
    cut_off = int((answers["finish_reason"] == CUT_OFF).sum())
    return GenerationSummary(
        system=system.system,
        prompt=system.prompt.version,
        questions=len(queries),
        already_answered=len(queries) - len(left),
        time_dependent=len(skipped),
        answered=len(answers),
        cut_off=cut_off,
        without_passages=without_passages,
        fitted=fitted,
        failures={str(name): int(n) for name, n in failures["reason"].value_counts().items()},
        usage=asked.usage,
        filter_usage=None if told is None else told.usage,
        warnings=(
            *_warnings(system, answers, cut_off, without_passages, fitted),
            *_version_warning(system, there),
        ),
    )


def _warnings(
    system: LlmSystem, answers: pd.DataFrame, cut_off: int, without_passages: int, fitted: int
) -> Iterator[str]:
    thinking = sum(_THOUGHTS.search(text) is not None for text in answers["answer"])
    if cut_off:
        cut = count_of(cut_off, "answer")
        yield f"{cut} cut off at the most tokens of an answer; allow for more"
    if without_passages:
        yield f"{count_of(without_passages, 'question')} asked without any passage"
    if fitted:
        yield (
            f"the passages of {count_of(fitted, 'question')} were trimmed further, to prompts of "
            f"{system.prompt.context_tokens} tokens"
        )
    if thinking:
        yield (
            f"{count_of(thinking, 'answer')} with thoughts of a reasoning model; have the server "
            "keep them apart"
        )


def _version_warning(system: LlmSystem, there: pd.DataFrame | None) -> Iterator[str]:
    """Warn where there are answers under the same name from another prompt."""
    if there is None or "prompt" not in there:
        return
    now = system.prompt.version
    own = there.loc[there["system"] == system.system, "prompt"].dropna()
    others = sorted({str(version) for version in own if version != now})
    if others:
        yield (
            f"there are answers of {system.system} to another prompt ({others[0]}, now {now}); "
            "give this system a name of its own to keep them apart"
        )
