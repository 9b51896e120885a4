"""Reading the JSON of a completion, as OpenAI's chat interface defines it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from arena.llm.replies import (
    BROKEN_OFF,
    CONTENT_FILTER,
    CUT,
    EMPTY,
    MOST_COUNT,
    REFUSAL,
    SHOWN_CHARACTERS,
    WHOLE,
    Completion,
    storable_text,
)
from arena.llm.token_logprobs import read_logprobs
from arena.text.thoughts import has_thoughts, without_thoughts

FINISH_KINDS = MappingProxyType(
    {
        "stop": WHOLE,
        "end_turn": WHOLE,
        "eos": WHOLE,
        "eos_token": WHOLE,
        "stop_sequence": WHOLE,
        "complete": WHOLE,
        "completed": WHOLE,
        "tool_calls": WHOLE,
        "tool_use": WHOLE,
        "function_call": WHOLE,
        "length": CUT,
        "max_tokens": CUT,
        "max_output_tokens": CUT,
        "model_length": CUT,
        "model_context_window_exceeded": CUT,
        "content_filter": CONTENT_FILTER,
        "safety": CONTENT_FILTER,
        "recitation": CONTENT_FILTER,
        "prohibited_content": CONTENT_FILTER,
        "blocklist": CONTENT_FILTER,
        "spii": CONTENT_FILTER,
        "sensitive": CONTENT_FILTER,
        "refusal": CONTENT_FILTER,
        "guardrail_intervened": CONTENT_FILTER,
    }
)
"""What finish reasons mean, in lower case: those of OpenAI, Anthropic, Google, Mistral, Hugging
Face and others, which gateways pass on. Any other one means that the answer was broken off."""
THOUGHTS_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message that hold thoughts."""
_TEXT_TYPES = ("text", "output_text")
"""Types of the parts of a content that are the answer; those of thoughts have others."""
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_WORD = re.compile(r"\s*([A-Za-z_]+)")


class _Finish(NamedTuple):
    reason: str | None
    failure: str | None = None
    detail: str = ""


class MalformedAnswerError(ValueError):
    """The payload is no chat completion; the message says why."""


def read_completion(payload: object) -> Completion:
    """Read the JSON of a chat completion without thoughts.

    NUL and half surrogate pairs become U+FFFD. An answer that the server broke off (``broken_off``)
    can be asked again.
    """
    answer = _mapping(payload, "the answer")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise MalformedAnswerError("there are no choices; check where base_url leads")
    choice = _mapping(choices[0], "a choice")
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    text = _text(message.get("content"))
    refusal = storable_text(message.get("refusal"))
    finish_reason, failure, detail = _finish(choice.get("finish_reason"))
    is_cut = {CUT: True, WHOLE: False}.get(finish_reason or "")
    shown = without_thoughts(text or "", is_cut).strip().strip(_INVISIBLE)
    if failure is None and refusal:
        failure, detail = REFUSAL, refusal[:SHOWN_CHARACTERS]
    elif failure is None and not shown:
        failure, detail = EMPTY, _why_empty(message, text, finish_reason)
    return Completion(
        text=text,
        finish_reason=finish_reason,
        failure=failure,
        detail=detail,
        served_model=storable_text(answer.get("model")) or None,
        tokens_in=_tokens(answer, "prompt_tokens"),
        tokens_out=_tokens(answer, "completion_tokens"),
        logprobs=read_logprobs(choice.get("logprobs")),
    )


def read_embedding(payload: object) -> Completion:
    """Read an embedding (else MalformedAnswerError) as text: a JSON list."""
    answer = _mapping(payload, "the answer")
    listed = answer.get("data")
    if not isinstance(listed, list) or not listed:
        raise MalformedAnswerError("there are no data")
    vector = _mapping(listed[0], "an embedding").get("embedding")
    if not isinstance(vector, list) or not vector or not all(map(_is_finite, vector)):
        raise MalformedAnswerError("the embedding is not a list of finite numbers")
    tokens_in = _tokens(answer, "prompt_tokens")
    return Completion(
        text=json.dumps(vector, separators=(",", ":")),
        served_model=storable_text(answer.get("model")),
        tokens_in=tokens_in,
        tokens_out=None if tokens_in is None else 0,
    )


def _text(content: object) -> str | None:
    if not isinstance(content, list):
        return storable_text(content)
    texts: list[str] = []
    for part in content:
        is_text = isinstance(part, Mapping) and part.get("type") in _TEXT_TYPES
        text = part.get("text") if is_text else part
        if isinstance(text, str):
            texts.append(text)
    return storable_text("".join(texts)) if texts else None


def _finish(stated: object) -> _Finish:
    reason = storable_text(stated)
    if not reason:
        return _Finish(None)
    word = _WORD.match(reason)
    kind = None if word is None else FINISH_KINDS.get(word[1].casefold())
    shown = repr(reason[:SHOWN_CHARACTERS])
    if kind == CONTENT_FILTER:
        return _Finish(reason, CONTENT_FILTER, f"the server ended the answer: {shown}")
    if kind is None:
        return _Finish(reason, BROKEN_OFF, f"the answer was broken off: finish_reason {shown}")
    return _Finish(kind)


def _why_empty(message: Mapping[str, Any], text: str | None, finish_reason: str | None) -> str:
    more = "raise max_tokens (or max_completion_tokens in body), or let the model think less"
    if message.get("tool_calls") or message.get("function_call"):
        return "the model called a tool in place of an answer"
    if finish_reason == CUT:
        return f"all tokens were used up before an answer, perhaps by thoughts; {more}"
    if has_thoughts(text or "") or isinstance(message.get("content"), list):
        return f"the answer holds thoughts alone; {more}"
    for name in THOUGHTS_FIELDS:
        if message.get(name):
            return (
                f"the reply's text is in `{name}`, which is for thoughts; turn off the server's "
                "reasoning parser, or thinking by a field of body"
            )
    return "the server sent an answer without a text"


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedAnswerError(f"{name} is not a JSON object")
    return value


def _is_finite(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def _tokens(answer: Mapping[str, Any], name: str) -> int | None:
    usage = answer.get("usage")
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if type(count) is int and 0 <= count <= MOST_COUNT else None
