"""Counting what a run of one system brought."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from arena.generation.generated import CUT_OFF, GenerationSummary
from arena.generation.llm_system import LlmSystem
from arena.generation.time_dependence import TimeDependence
from arena.llm.usage import Usage

_THOUGHTS = re.compile(r"<think(?:ing)?>", re.IGNORECASE)


def summarize(
    system: LlmSystem,
    queries: pd.DataFrame,
    left: pd.DataFrame,
    asked: pd.DataFrame,
    tables: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    usage: Usage,
    told: TimeDependence | None,
    there: pd.DataFrame | None,
) -> GenerationSummary:
    """Count what a run brought.

    Args:
        system: Who answered.
        queries: Questions chosen.
        left: Those of them without an answer before.
        asked: Those of them that were not left out.
        tables: Answers, failures, questions left out.
        usage: Calls and tokens for the answers.
        told: What the filter told, if there was one.
        there: Answers there were before, or None.
    """
    answers, failures, skipped = tables
    filtering = Usage("") if told is None else told.usage
    without_passages = sum(len(passages) == 0 for passages in asked["passages"])
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
        calls=usage.calls,
        retries=usage.retries,
        from_store=usage.from_store,
        filter_calls=filtering.calls,
        failures={str(name): int(n) for name, n in failures["reason"].value_counts().items()},
        tokens_in=usage.tokens_in + filtering.tokens_in,
        tokens_out=usage.tokens_out + filtering.tokens_out,
        warnings=(
            *_cut_off_warning(cut_off),
            *_passages_warning(without_passages),
            *_thoughts_warning(answers),
            *_version_warning(system, there),
        ),
    )


def _cut_off_warning(cut_off: int) -> Iterator[str]:
    if cut_off:
        yield f"{cut_off} answers were cut off at the most tokens of an answer; allow for more"


def _passages_warning(without_passages: int) -> Iterator[str]:
    if without_passages:
        yield f"{without_passages} questions were asked without any passage"


def _thoughts_warning(answers: pd.DataFrame) -> Iterator[str]:
    count = sum(_THOUGHTS.search(text) is not None for text in answers["answer"])
    if count:
        yield (
            f"{count} answers hold thoughts of a reasoning model; have the server keep them apart"
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
