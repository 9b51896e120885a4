"""Results as rows of the store, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.llm.completions import Completion, TokenLogprobs
from arena.llm.failures import PASSING, UNPARSABLE
from arena.llm.prompts import canonical_json, digest

_DIGESTED = (
    "key",
    "text",
    "finish_reason",
    "refusal",
    "served_model",
    "tokens_in",
    "tokens_out",
    "latency_s",
    "logprobs",
)

RESULT_COLUMNS = (*_DIGESTED[1:], "failure", "detail", "parsed", "digest")


@dataclass(frozen=True, slots=True)
class Result:
    """How one request ended.

    Attributes:
        key: The request's key.
        completion: The model's answer; None if none came.
        failure: Why there is no usable answer, or None.
        detail: More about the failure, for people.
        parsed: What was read from the answer, as JSON; None if nothing was.
        tries: Calls sent for it.
    """

    key: str
    completion: Completion | None
    failure: str | None = None
    detail: str = ""
    parsed: str | None = None
    tries: int = 0


def row_of(result: Result) -> dict[str, object]:
    """Write a result's columns, without state and owner."""
    completion = result.completion or Completion(text=None)
    row: dict[str, object] = {
        "key": result.key,
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "refusal": completion.refusal,
        "served_model": completion.served_model,
        "tokens_in": completion.tokens_in,
        "tokens_out": completion.tokens_out,
        "latency_s": completion.latency_s,
        "logprobs": _logprobs_json(completion.logprobs),
        "failure": result.failure,
        "detail": result.detail,
        "parsed": result.parsed,
        "tries": result.tries,
    }
    return row | {"digest": row_digest(row)}


def result_of(row: Mapping[str, Any]) -> Result:
    """Read a result from its row."""
    failure = row["failure"]
    if failure in PASSING:
        return Result(row["key"], None, failure, row["detail"] or "", tries=row["tries"])
    completion = Completion(
        text=row["text"],
        finish_reason=row["finish_reason"],
        refusal=row["refusal"],
        failure=None if failure == UNPARSABLE else failure,
        served_model=row["served_model"],
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        latency_s=row["latency_s"] or 0.0,
        logprobs=_read_logprobs(row["logprobs"]),
    )
    return Result(row["key"], completion, failure, row["detail"] or "", row["parsed"], row["tries"])


def row_digest(row: Mapping[str, Any]) -> str:
    """Digest what the model answered, so that later changes to the row are found."""
    return digest(canonical_json([row[name] for name in _DIGESTED]))


def _logprobs_json(logprobs: tuple[TokenLogprobs, ...] | None) -> str | None:
    if logprobs is None:
        return None
    return canonical_json([[each.token, each.logprob, each.alternatives] for each in logprobs])


def _read_logprobs(text: str | None) -> tuple[TokenLogprobs, ...] | None:
    if text is None:
        return None
    return tuple(
        TokenLogprobs(token, logprob, tuple((name, value) for name, value in alternatives))
        for token, logprob, alternatives in json.loads(text)
    )
