"""Reading what a server reports of an error: message, codes, status and fields, in any JSON."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MOST_READ = 20_000
"""Characters of a message that are read."""
MOST_LEVELS = 6
"""Levels of JSON in which a message is looked for."""
MOST_ENTRIES = 20
"""Entries of a list of errors that are read."""
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|center|h1|\?xml)\b", re.IGNORECASE)
_NO_WORDS_OF_PAGE = re.compile(
    r"<(style|script)\b.*?</\1\s*>|<!--.*?-->|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
_MESSAGE_NAMES = (
    "message",
    "msg",
    "error_msg",
    "error_message",
    "error_description",
    "title",
    "Message",
)
_CODE_NAMES = (
    "code",
    "Code",
    "status",
    "type",
    "error_code",
    "statusCode",
    "status_code",
    "object",
    "reason",
    "__type",
)
_FIELD_NAMES = ("param", "field", "path", "parameter", "property")
"""Where an error names the field of the request that caused it."""
# Statuses by words in codes, the most specific first.
_STATUS_OF_CODE = (
    (re.compile(r"insufficient_?(?:quota|balance|fund)|billing|payment|arrearage|credit"), 402),
    (re.compile(r"api_?key|authenticat|unauthori[sz]ed|invalid_?(?:token|iam)"), 401),
    (re.compile(r"permission|forbidden|access_?denied|not_?allowed_?region"), 403),
    (re.compile(r"model_?not|not_?found|deployment_?not|no_?such_?model|unknown_?model"), 404),
    (re.compile(r"rate_?limit|too_?many_?requests|resource_?exhausted|throttl|quota"), 429),
    (re.compile(r"overload|unavailable|capacity|engine_?busy|model_?not_?ready"), 503),
    (re.compile(r"time_?out|deadline"), 504),
    (re.compile(r"internal|server_?error|api_?error|bad_?gateway|upstream|provider_?error"), 500),
    (re.compile(r"invalid|bad_?request|unprocessable|unsupported|validation|failed_?precond"), 400),
)  # fmt: skip


@dataclass(frozen=True)
class ReportedError:
    """An error, as a server reported it.

    Attributes:
        message: Its message, followed by that of an upstream server.
        codes: Its codes, types and states, as it writes them.
        status: HTTP status, or the one that the codes stand for; None if there is neither.
        names: Fields of the request that it names as the cause, such as ``max_tokens``.
        body: The JSON of the whole answer.
        is_paid: Whether an answer was begun, which may have to be paid for.
        is_page: Whether it is a page for people, by a gateway that knows nothing of prompts.
    """

    message: str
    codes: tuple[str, ...] = ()
    status: int | None = None
    names: tuple[str, ...] = ()
    body: object = field(default=None, repr=False)
    is_paid: bool = False
    is_page: bool = False


def reported(status: int, text: str) -> ReportedError:
    """Read an answer with an error status: JSON in any form, a page of HTML, or plain text."""
    if _PAGE.match(text):
        return ReportedError(_words_of_page(text), status=status, is_page=True)
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return ReportedError(text[:MOST_READ], status=status)
    report = _report(_error_part(body), body)
    # Gateways send a general status for what their codes say exactly.
    is_narrower = (
        (report.status in {401, 402, 403, 404} and status not in {413, 429})
        or (report.status == 429 and status in {400, 403, 500})
        or (report.status == 503 and status == 400)
    )
    return replace(
        report,
        message=report.message or text[:MOST_READ],
        status=report.status if is_narrower else status,
    )


def _words_of_page(page: str) -> str:
    """Return what a reader of a page of HTML sees."""
    words = _NO_WORDS_OF_PAGE.sub(" ", page[:MOST_READ])
    return " ".join(html.unescape(words).split())


def reported_error(payload: object) -> ReportedError | None:
    """Return the error that an answer with status 200 has instead of a completion, if any.

    It is in ``error``, at the top or in the first choice, or is the whole answer
    (``{"detail": …}``, ``{"message": …, "code": …}``).
    """
    answer = payload[0] if isinstance(payload, list) and len(payload) == 1 else payload
    if not isinstance(answer, Mapping):
        return None
    base_response = answer.get("base_resp")  # of MiniMax
    if isinstance(base_response, Mapping):
        code = base_response.get("status_code")
        if code not in (None, 0, "0"):
            return _report({"code": code, "message": base_response.get("status_msg")}, answer)
    error = answer.get("error")
    if _is_error(error):
        return _report(error, answer)
    choices = answer.get("choices")
    if isinstance(choices, list) and choices:
        return _choice_error(choices[0])
    # Embeddings and empty answers that were paid for are answers all the same.
    if answer.get("data") or answer.get("usage"):
        return None
    if any(answer.get(name) for name in ("detail", "errors")):
        return _report(_error_part(answer), answer)
    has_message = any(isinstance(answer.get(name), str) for name in _MESSAGE_NAMES)
    return _report(answer, answer) if has_message else None


def _choice_error(choice: object) -> ReportedError | None:
    """Return the error in a choice, or in its message, if there is one."""
    if not isinstance(choice, Mapping):
        return None
    message = choice.get("message")
    candidates = [choice.get("error")]
    if isinstance(message, Mapping):
        candidates.append(message.get("error"))
    for error in candidates:
        if _is_error(error):
            return replace(_report(error, choice), is_paid=True)
    return None


def _is_error(value: object) -> bool:
    """Return whether the value of ``error`` is one: not null, empty, or a success."""
    if isinstance(value, Mapping):
        is_success = str(value.get("code", "")).casefold() in {"0", "200", "success", "ok"}
        return bool(value) and not (is_success and not value.get("message"))
    return isinstance(value, str | list) and bool(value)


def _error_part(body: object) -> object:
    """Return the part of an error's JSON that has the message."""
    for _ in range(MOST_LEVELS):
        if isinstance(body, list) and body:
            is_of_pydantic = isinstance(body[0], Mapping) and "loc" in body[0]
            if is_of_pydantic:
                return body
            body = body[0]
            continue
        if not isinstance(body, Mapping):
            return body
        inner = next((body[name] for name in ("error", "detail", "errors") if body.get(name)), None)
        if inner is None or (isinstance(inner, str) and _first_text(body)):
            return body
        body = inner
    return body


def _report(part: object, body: object) -> ReportedError:
    """Read the part that has the message."""
    if isinstance(part, str):
        return ReportedError(part[:MOST_READ], body=body)
    if isinstance(part, list):
        return _validation_report(part, body)
    if not isinstance(part, Mapping):
        return ReportedError("", body=body)
    message = _first_text(part)
    upstream = _upstream(part)
    if upstream and upstream not in message:
        message = f"{message}: {upstream}" if message else upstream
    codes = _codes(part)
    names = []
    for name in _FIELD_NAMES:
        value = part.get(name)
        if isinstance(value, list):
            value = ".".join(map(str, value))
        if isinstance(value, str):
            names.append(value)
    return ReportedError(
        message=message[:MOST_READ],
        codes=codes,
        status=_status_of(codes),
        names=tuple(names),
        body=body,
    )


def _validation_report(entries: list[Any], body: object) -> ReportedError:
    """Read errors as pydantic lists them: ``[{"loc": ["body", "top_k"], "msg": …}]``."""
    names = []
    messages = []
    for entry in entries[:MOST_ENTRIES]:
        if not isinstance(entry, Mapping):
            continue
        location = entry.get("loc")
        place = ""
        if isinstance(location, list):
            place = ".".join(map(str, location))
            # The first part is where the field was sent: body, query or header.
            names += [str(name) for name in location[1:2]]
        messages.append(f"{place}: {_first_text(entry)}")
    return ReportedError(
        message="; ".join(messages)[:MOST_READ],
        codes=("validation_error",),
        status=422,
        names=tuple(names),
        body=body,
    )


def _codes(part: Mapping[str, Any]) -> tuple[str, ...]:
    """Return codes, types and states, those of inner errors too."""
    values = [part.get(name) for name in _CODE_NAMES]
    inner = part.get("innererror")  # of Azure
    if isinstance(inner, Mapping):
        values.append(inner.get("code"))
    details = part.get("details")  # of Google
    if isinstance(details, list):
        for detail in details[:MOST_ENTRIES]:
            if isinstance(detail, Mapping):
                values.append(detail.get("reason"))
    return tuple(
        str(value) for value in values if isinstance(value, str | int) and value is not True
    )


def _first_text(part: Mapping[str, Any]) -> str:
    texts = (part.get(name) for name in (*_MESSAGE_NAMES, "detail", "error"))
    return next((text for text in texts if isinstance(text, str) and text), "")


def _upstream(part: Mapping[str, Any]) -> str:
    """Return the error of the server behind a gateway (OpenRouter: ``metadata.raw``)."""
    metadata = part.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if isinstance(raw, Mapping):
        raw = json.dumps(raw, ensure_ascii=False)
    return raw[:MOST_READ] if isinstance(raw, str) else ""


def _status_of(codes: Collection[str]) -> int | None:
    """Return the HTTP status that codes stand for: 429, ``"429"`` or ``rate_limit_exceeded``."""
    for code in codes:
        if code.isdecimal() and len(code) <= 3 and 400 <= int(code) < 600:
            return int(code)
    for code in codes:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", code).casefold().replace("-", "_")
        for words, status in _STATUS_OF_CODE:
            if words.search(name):
                return status
    return None
