"""Errors of servers, and their meaning for the run.

HTTP status, codes and the field that an error names decide, then ``PHRASES``; all else fails that
call alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from arena.data.errors import argument
from arena.llm.replies import (
    CONTENT_FILTER,
    CONTEXT_LENGTH,
    RATE_LIMITED,
    REJECTED,
    SERVER_ERROR,
    TIMEOUT,
    Fault,
    shown_detail,
)

NO_CREDIT, WRONG_KEY, NO_PERMISSION, NOT_FOUND = 402, 401, 403, 404
PHRASES: Mapping[str | int, tuple[str, ...]] = MappingProxyType(
    {
        NO_CREDIT: (
            "insufficient quota",
            "insufficient credit",
            "insufficient balance",
            "insufficient funds",
            "no credits",
            "run out of credits",
            "billing",
        ),
        CONTENT_FILTER: (
            "content filter",
            "content policy",
            "inappropriate content",
            "data inspection",
            "moderation",
            "prohibited content",
            "safety",
        ),
        CONTEXT_LENGTH: (
            "context length",
            "context size",
            "context window",
            "exceed context",
            "maximum number of tokens",
            "too long",
        ),
        WRONG_KEY: ("invalid api key", "incorrect api key", "api key not valid"),
        NOT_FOUND: ("model not found", "no such model", "model does not exist"),
        RATE_LIMITED: ("rate limit", "too many requests", "throttl"),
        SERVER_ERROR: ("overloaded",),
    }
)
"""Words of messages and codes, without regard to case, ``_`` and ``-``, and what they mean: the
first that fits. Numbers stand for the status of an error that ends the run."""

_NO_MORE_CALLS: Mapping[int, str] = MappingProxyType(
    {
        WRONG_KEY: (
            "the key is not accepted; check it, and the variable that "
            f"{argument('api_key_env')} names"
        ),
        NO_CREDIT: "the account has no credit left; the results so far are in the store",
        NO_PERMISSION: (
            "the key may not use this model; check the model's name and the key's permissions"
        ),
        NOT_FOUND: (
            "check the model's name, and that base_url ends where /chat/completions or "
            "/embeddings begins"
        ),
    }
)
_ABOUT_THE_PROMPT = frozenset({None, 400, 403, 413, 422, 500})
"""Statuses with which a filtered or too long prompt may be reported."""
_WAIT_NAMES = frozenset({"retryDelay", "retryAfter", "retry_after", "retry-after"})
_MOST_READ = 20_000
_DEEPEST = 7


@dataclass(frozen=True)
class ReportedError:
    """An error, as a server reported it.

    Attributes:
        codes: Its code, type and status.
        status: HTTP status, or such a code in an answer with status 200.
        field_name: Field of the request that it names as the cause, such as ``max_tokens``.
        is_paid: Whether an answer was begun, which may have to be paid for.
    """

    message: str
    codes: tuple[str, ...] = ()
    status: int | None = None
    field_name: str | None = None
    body: object = field(default=None, repr=False)
    is_paid: bool = False


def reported(status: int, text: str) -> ReportedError:
    """Read an error answer: JSON, HTML, or plain text."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return ReportedError(text[:_MOST_READ], status=status)
    return _report(body, status)


def reported_error(payload: object) -> ReportedError | None:
    """Return the error in an answer with status 200, if any."""
    answer = payload[0] if isinstance(payload, list) and len(payload) == 1 else payload
    if not isinstance(answer, Mapping):
        return None
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, Mapping) and choice.get("error"):
        return _report(choice, status=None, is_paid=True)
    if answer.get("error"):
        return _report(answer, status=None)
    return None


def fault_of(
    report: ReportedError, headers: Mapping[str, str], api_key: str, fields: Collection[str] = ()
) -> Fault:
    """Return what an error means."""
    status = report.status
    parts = [f"status {status}"] if status else []
    if report.message:
        parts.append(report.message)
    detail = shown_detail(": ".join(parts) or "an error without a word", api_key)
    meaning = _meaning(report)
    if meaning in {CONTENT_FILTER, CONTEXT_LENGTH} and status in _ABOUT_THE_PROMPT:
        return Fault(str(meaning), detail)
    if status == 413:
        return Fault(CONTEXT_LENGTH, detail)
    if status == 405:  # base_url leads to something else
        status = NOT_FOUND
    hopeless = meaning if isinstance(meaning, int) else status
    if hopeless is not None and hopeless in _NO_MORE_CALLS:
        # A message about a wrong key may repeat parts of it.
        shown = f"status {hopeless}" if hopeless == WRONG_KEY else detail
        return Fault(REJECTED, shown, advice=_NO_MORE_CALLS[hopeless])
    if report.field_name in fields and status in {None, 400, 422}:
        return Fault(REJECTED, detail, setting=_setting_advice(report))
    reason = _passing_reason(status, meaning)
    if reason is None:
        return Fault(REJECTED, detail)
    wait = _asked_wait(headers, report.body)
    return Fault(reason, detail, again=True, asked_wait_s=wait, is_paid=report.is_paid)


def _asked_wait(headers: Mapping[str, str], body: object) -> float:
    """Return the seconds to wait by header (in lower case) or field; 0 without."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after")
    waits = [_seconds(stated), _seconds_until(stated)]
    waits += [_seconds(value) for value in _waits(body)]
    return next((wait for wait in waits if wait is not None), 0.0)


def _waits(value: object, depth: int = _DEEPEST) -> Iterator[object]:
    if depth == 0:
        return
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name in _WAIT_NAMES:
                yield part
            yield from _waits(part, depth - 1)
    elif isinstance(value, list):
        most_entries = 50
        for part in value[:most_entries]:
            yield from _waits(part, depth - 1)


def _meaning(report: ReportedError) -> str | int | None:
    if report.body is None:
        return None
    words = " ".join([report.message, *report.codes])
    folded = words.casefold().replace("_", " ").replace("-", " ")
    for meaning, phrases in PHRASES.items():
        if any(phrase in folded for phrase in phrases):
            return meaning
    return None


def _passing_reason(status: int | None, meaning: str | int | None) -> str | None:
    if status == 429 or meaning == RATE_LIMITED:
        return RATE_LIMITED
    if status in {408, 504}:
        return TIMEOUT
    if status == 501:  # the server cannot do it
        return None
    is_passing = status is None or status in {409, 425} or status >= 500
    return SERVER_ERROR if is_passing or meaning == SERVER_ERROR else None


def _setting_advice(report: ReportedError) -> str:
    name = report.field_name
    if name == "max_tokens" and "max_completion_tokens" in report.message:
        # Models that want this name mostly take no temperature but their own either.
        return 'change the settings: body = {max_completion_tokens = N} and omit = ["temperature"]'
    advice = f'change the settings: omit = ["{name}"], or another value'
    if name == "response_format":
        advice += f" (metaeval: {argument('replies')} text)"
    if name in {"logprobs", "top_logprobs"}:
        advice += '; judge with verdict = "text"'
    return advice


def _report(body: object, status: int | None, is_paid: bool = False) -> ReportedError:
    error = _innermost_error(body)
    if not isinstance(error, Mapping):
        text = error if isinstance(error, str) else json.dumps(body)
        return ReportedError(text[:_MOST_READ], status=status, body=body, is_paid=is_paid)
    shown_codes = []
    for name in ("code", "type", "status"):
        if isinstance(error.get(name), str | int):
            shown_codes.append(str(error[name]))
    if status is None:
        numbers = [int(code) for code in shown_codes if code.isascii() and code.isdecimal()]
        status = next((number for number in numbers if 400 <= number < 600), None)
    message = error.get("message") or error.get("msg")
    field_name = error.get("param")
    location = error.get("loc")  # of pydantic's errors, such as ["body", "top_k"]
    if isinstance(location, list) and len(location) > 1:
        field_name = location[1]
    return ReportedError(
        message=(message if isinstance(message, str) else json.dumps(error))[:_MOST_READ],
        codes=tuple(shown_codes),
        status=status,
        field_name=field_name if isinstance(field_name, str) else None,
        body=body,
        is_paid=is_paid,
    )


def _innermost_error(body: object) -> object:
    """Return what OpenAI, Google and FastAPI say about an error."""
    for _ in range(_DEEPEST):
        inner = None
        if isinstance(body, list) and body:
            inner = body[0]
        elif isinstance(body, Mapping):
            inner = body.get("error") or body.get("detail")
        if not isinstance(inner, Mapping | list | str):
            break
        body = inner
    return body


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value.removesuffix("s") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if seconds == seconds else None


def _seconds_until(date: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(date or "")
        return max(0.0, moment.timestamp() - datetime.now(UTC).timestamp())
    except (ValueError, OverflowError, TypeError, IndexError):  # of absurd dates
        return None
