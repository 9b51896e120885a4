"""Reading the JSON of a completion, in the forms in which servers send it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.llm.message_parts import (
    THOUGHTS,
    THOUGHTS_FIELDS,
    joined_text,
    parts_of_json,
    storable_text,
)
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
)
from arena.llm.server_errors import nested_values
from arena.llm.token_logprobs import read_logprobs
from arena.text.thoughts import has_thoughts, without_thoughts

FINISH_NAMES = ("finish_reason", "finishReason", "native_finish_reason", "done_reason")
"""Fields of a choice that say why the model stopped, the one that counts most first."""
LATER_FINISH_NAMES = ("done_reason", "stop_reason", "incomplete_details")
"""Fields of an answer that say so."""
_OTHER_INTERFACES = ("content", "output", "candidates", "message", "response")
"""Fields in which answers of other interfaces have their text, such as Anthropic's messages."""
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_FILTER_RESULTS = frozenset({"content_filter_results", "content_filter_result"})
_BAD_WORDS = re.compile(r"error|abort|cancel|malformed|timeout|fail", re.IGNORECASE)
CALLED_TOOL = "the model called a tool in place of an answer"
_TOOL_WORDS = frozenset({"tool_calls", "tool_call", "tool_use", "function_call"})
# Finish reasons, in lower case and with underscores.
_WHOLE_WORDS = re.compile(
    r"|stop|stopped|end_turn|end_of_turn|eos|eos_token|stop_sequence|stop_token|stop_word"
    r"|stop_string|complete|completed|complete_turn|finish|finished|end|done|eot|success|normal"
    r"|null|none|natural|end_of_text|end_of_sequence|eos_found|stop_string_found|eos_token_id"
    r"|stop_token_id|eos_token_found|stop_token_found"
)
_CUT_WORDS = re.compile(
    r"length|max_\w*tokens?|max_tokens?|token_limit|output_limit|context_window|(?<!repetition_)truncat|stop_limit"
    r"|token_budget|^(?:error_)?limit$"
)
_FILTER_WORDS = re.compile(
    r"content_?filter|^filter|safety|recitation|prohibited|blocklist|^blocked|spii|sensitive"
    r"|data_inspection|refusal|moderat|guardrail|content_polic|policy|inappropriate|censor|toxic"
    r"|^risk|1301|model_?armor"
)


class _Finish(NamedTuple):
    """Why the model stopped.

    Attributes:
        reason: The finish reason; None where the server states none.
        failure: The failure that it means; None for none.
        detail: What is shown of the failure.
    """

    reason: str | None
    failure: str | None = None
    detail: str = ""


class MalformedAnswerError(ValueError):
    """The payload is no chat completion; the message says why."""


def read_completion(payload: object, latency_s: float | None = None) -> Completion:
    """Read the JSON of a chat completion.

    The content may be a text or a list of parts; parts that hold thoughts are left out, and so are
    fields such as ``reasoning_content``. Texts are made storable everywhere: NUL and half surrogate
    pairs become U+FFFD. An answer that the server broke off, for another reason than its length,
    fails as ``broken_off`` and can be asked again. An answer without text is ``empty``.

    Raises:
        MalformedAnswerError: If the payload is no chat completion.
    """
    answer = _mapping(payload, "the answer")
    choice = _first_choice(answer)
    message = choice.get("message") or choice.get("delta")
    message = message if isinstance(message, Mapping) else {}
    content = parts_of_json(message.get("content", choice.get("text")))
    text = storable_text(content) if isinstance(content, str) else joined_text(content)
    stated_refusal = storable_text(message.get("refusal")) or joined_text(content, REFUSAL)
    finish_reason, failure, detail = _finish(answer, choice, message)
    is_cut = None
    if finish_reason in {WHOLE, CUT}:
        is_cut = finish_reason == CUT
    shown = without_thoughts(text or "", is_cut).strip().strip(_INVISIBLE)
    if failure is None and stated_refusal:
        failure = REFUSAL
    elif failure is None and not shown:
        failure, detail = EMPTY, _why_empty(answer, choice, message, text, finish_reason)
        filtered = _filtered_names(answer)
        if filtered and finish_reason != CUT:
            failure, detail = CONTENT_FILTER, f"the server filtered {', '.join(filtered)}"
    return Completion(
        text=text,
        finish_reason=finish_reason,
        refusal=stated_refusal or None,
        failure=failure,
        detail=detail,
        served_model=storable_text(answer.get("model")) or None,
        tokens_in=_tokens(answer, "prompt_tokens", "input_tokens"),
        tokens_out=_tokens(answer, "completion_tokens", "output_tokens"),
        latency_s=latency_s,
        logprobs=read_logprobs(choice.get("logprobs")),
    )


def read_embedding(payload: object, latency_s: float | None = None) -> Completion:
    """Read an embedding (else MalformedAnswerError); the text is the vector, as a JSON list."""
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
        latency_s=latency_s,
    )


def finish_kind(reason: str) -> str | None:
    """Return what a finish reason means: ``stop``, ``length``, ``content_filter``, or None."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", reason.strip())
    word = re.sub(r"[\s.-]+", "_", spaced).casefold().removeprefix("finish_reason_")
    if _WHOLE_WORDS.fullmatch(word):
        return WHOLE
    if _FILTER_WORDS.search(word):
        return CONTENT_FILTER
    if _CUT_WORDS.search(word):
        return CUT
    return None


def _finish(
    answer: Mapping[str, Any], choice: Mapping[str, Any], message: Mapping[str, Any]
) -> _Finish:
    reasons = _stated_reasons(answer, choice)
    if not reasons:
        blocked = _blocked(answer)
        return _Finish(None, CONTENT_FILTER if blocked else None, blocked)
    kinds = [finish_kind(reason) for reason in reasons]
    if CONTENT_FILTER in kinds:
        reason = reasons[kinds.index(CONTENT_FILTER)]
        return _Finish(reason, CONTENT_FILTER, f"the server ended the answer: {_shown(reason)}")
    if CUT in kinds:
        return _Finish(CUT)
    if reasons[0].casefold() in _TOOL_WORDS:
        # Some servers say that a tool was called where the reply is a plain text.
        failure = EMPTY if _calls_tool(message) else None
        return _Finish(WHOLE, failure, CALLED_TOOL if failure else "")
    # A gateway's own words for what its server said count only if they are known to be bad.
    for index, (kind, reason) in enumerate(zip(kinds, reasons, strict=True)):
        if kind is None and (index == 0 or _BAD_WORDS.search(reason)):
            detail = f"the answer was broken off: finish_reason {_shown(reason)}"
            return _Finish(reason, BROKEN_OFF, detail)
    return _Finish(WHOLE)


def _stated_reasons(answer: Mapping[str, Any], choice: Mapping[str, Any]) -> list[str]:
    words = [_reason(choice.get(name)) for name in FINISH_NAMES]
    if any(words):
        # A `stop_reason` beside a finish reason may be the text at which the model stopped.
        words += [_reason(answer.get(name)) for name in ("done_reason", "incomplete_details")]
    else:
        words.append(_reason(choice.get("stop_reason")))
        words += [_reason(answer.get(name)) for name in LATER_FINISH_NAMES]
    return [word for word in words if word is not None]


def _calls_tool(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call"))


def _reason(value: object) -> str | None:
    """Return the word of a finish reason; servers also write ``{"type": "length"}``."""
    if not isinstance(value, Mapping):
        return storable_text(value)
    words = (storable_text(value.get(name)) for name in ("type", "reason", "value", "name"))
    return next((word for word in words if word), None)


def _filtered_names(answer: Mapping[str, Any]) -> list[str]:
    names = []
    for results in nested_values(answer, _FILTER_RESULTS):
        if not isinstance(results, Mapping):
            continue
        for name, result in results.items():
            if isinstance(result, Mapping) and result.get("filtered") is True:
                names.append(str(name)[:SHOWN_CHARACTERS])
    return names


def _shown(reason: str) -> str:
    return repr(reason[:SHOWN_CHARACTERS])


def _blocked(answer: Mapping[str, Any]) -> str:
    for name in ("prompt_feedback", "promptFeedback"):
        feedback = answer.get(name)
        if isinstance(feedback, Mapping):
            reason = feedback.get("block_reason") or feedback.get("blockReason")
            if reason:
                return f"the prompt was blocked: {_shown(str(reason))}"
    return ""


def _why_empty(
    answer: Mapping[str, Any],
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    text: str | None,
    finish_reason: str | None,
) -> str:
    in_thoughts = _thought_tokens(answer)
    name = next((name for name in THOUGHTS_FIELDS if message.get(name)), None)
    thoughts = joined_text(parts_of_json(message.get("content")), THOUGHTS)
    holds_thoughts = name is not None or bool(thoughts) or has_thoughts(text or "")
    more = "raise max_tokens (or max_completion_tokens in body), or let the model think less"
    if in_thoughts:
        return f"{in_thoughts} tokens went into thoughts and none into an answer; {more}"
    if finish_reason == CUT:
        used = "thoughts used up all tokens" if holds_thoughts else "all tokens were used up"
        return f"{used} before an answer; {more}"
    if name is not None:
        return (
            f"the reply's text is in `{name}`, which is for thoughts; turn off the server's "
            "reasoning parser, or thinking by a field of body"
        )
    if holds_thoughts:
        return f"the answer holds thoughts alone; {more}"
    if _calls_tool(message):
        return CALLED_TOOL
    if not isinstance(choice.get("message"), Mapping):
        return "the server sent a choice without a message"
    return "the server sent an answer without a text"


def _thought_tokens(answer: Mapping[str, Any]) -> int:
    """Return the tokens that went into thoughts, as the server counts; 0 if it says nothing.

    Where it counts them in the total alone, they are what is neither prompt nor answer.
    """
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return 0
    for part in (
        usage,
        usage.get("completion_tokens_details"),
        usage.get("output_tokens_details"),
    ):
        if not isinstance(part, Mapping):
            continue
        for name in ("reasoning_tokens", "thoughts_token_count", "thoughtsTokenCount"):
            count = _count(part.get(name))
            if count:
                return count
    total = _count(usage.get("total_tokens"))
    tokens_in = _count(usage.get("prompt_tokens"))
    tokens_out = _count(usage.get("completion_tokens"))
    if total is None or tokens_in is None or tokens_out is None:
        return 0
    return max(0, total - tokens_in - tokens_out)


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedAnswerError(f"{name} is not a JSON object")
    return value


def _first_choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice; an empty one where there is none and the prompt was paid for."""
    choices = answer.get("choices")
    if isinstance(choices, list) and choices:
        return _mapping(choices[0], "a choice")
    if choices is None and any(answer.get(name) for name in _OTHER_INTERFACES):
        raise MalformedAnswerError(
            "the answer is of another interface than chat completions; check where base_url leads"
        )
    if isinstance(answer.get("usage"), Mapping) and answer["usage"]:
        return {}
    if _blocked(answer):
        return {}
    raise MalformedAnswerError("there are no choices")


def _is_finite(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_COUNT else None


def _tokens(answer: Mapping[str, Any], *names: str) -> int | None:
    usage = answer.get("usage")
    if not isinstance(usage, Mapping):
        return None
    counts = (_count(usage.get(name)) for name in names)
    return next((count for count in counts if count is not None), None)
