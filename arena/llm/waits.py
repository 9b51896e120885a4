"""How long a server asks to wait: in headers, in the JSON of an error, or in its words."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DEEPEST = 7
"""Levels of JSON in which a wait is looked for."""
MOST_READ = 20_000
"""Characters of a message in which a wait is looked for."""
EPOCH_S = 1e9
EPOCH_MS = 1e12
"""Numbers from these on are moments, in seconds or milliseconds since 1970, not waits."""

_SECONDS_OF = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNIT = (
    r"(?:ms|milliseconds?|millis|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
_PART = rf"\d{{1,12}}(?:\.\d{{1,12}})?\s{{0,2}}{_UNIT}"
_DURATION = re.compile(rf"(\d{{1,12}}(?:\.\d{{1,12}})?)\s{{0,2}}({_UNIT})", re.IGNORECASE)
_STATED = re.compile(
    r"(?:try|retry|retrying|wait|again|available|reset(?:s|ting)?|retry-after)"
    r"\W{1,3}(?:(?:again|your request|the request|for|in|after|at least|about|approximately|it"
    rf"|another)\W{{1,3}}){{0,4}}({_PART}(?:[\s,]{{0,2}}(?:and )?{_PART}){{0,3}})",
    re.IGNORECASE,
)
_WAIT_NAMES = frozenset(
    {"retryDelay", "retry_delay", "retryAfter", "retry_after", "retry_after_seconds", "Retry-After"}
    | {"retryAfterSeconds", "retry_after_s", "retry-after", "estimated_time", "estimatedTime"}
)
_WAIT_MS_NAMES = frozenset({"retry_after_ms", "retryAfterMs", "retry_after_milliseconds"})
_STATED_SECONDS = re.compile(
    r"retry[ _-]?after[\"']?\s{0,2}[:=]\s{0,2}[\"']?(\d{1,6}(?:\.\d{1,6})?)(?![\w.%])",
    re.IGNORECASE,
)
_LIMIT_RESET = re.compile(r"\b(?:reset|t)\s?=\s?(\d{1,9}(?:\.\d{1,6})?)(?![\w.])", re.IGNORECASE)
_LIMIT_LEFT = re.compile(r"\b(?:remaining|r)\s?=\s?(\d{1,12})", re.IGNORECASE)
"""Parts of the header ``RateLimit``: ``limit=10, remaining=0, reset=9``, ``"day";r=0;t=9``."""
_RESET = re.compile(r"(?:.*-)?rate-?limit(?:-[a-z-]+)?-reset(?:-[a-z-]+)?")
"""Names of headers such as ``x-ratelimit-reset-tokens-minute``, ``anthropic-ratelimit-…-reset``."""
_HEADERS = frozenset({"headers"})


def asked_wait(headers: Mapping[str, str], body: object, message: str = "") -> float:
    """Return the seconds that a server asks to wait; 0 if it does not.

    The first of these counts: the headers ``retry-after-ms`` and ``Retry-After`` (seconds or a
    date), such fields anywhere in the body (Google's ``retryDelay``), the words of the message
    ("try again in 1m30s"), and the time at which a used-up limit is reset (``x-ratelimit-reset…``).

    Args:
        headers: Of the answer, by lower-case names.
        body: JSON of the error.
        message: Its words.
    """
    wait = _first_wait(headers, body, message)
    return 0.0 if wait is None or math.isnan(wait) else max(0.0, wait)


def _first_wait(headers: Mapping[str, str], body: object, message: str) -> float | None:
    waits = [_of_headers(headers), _of_body(body), _of_words(message), _reset(headers)]
    # Gateways put the headers of the server behind them into the body.
    for inner in nested_values(body, _HEADERS):
        if isinstance(inner, Mapping):
            inner_headers = {str(name).lower(): str(value) for name, value in inner.items()}
            waits += [_of_headers(inner_headers), _reset(inner_headers)]
    return next((wait for wait in waits if wait is not None), None)


def nested_values(value: object, names: Collection[str], depth: int = DEEPEST) -> Iterator[object]:
    """Yield the values of some names anywhere in JSON, within a few levels."""
    if depth == 0:
        return
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name in names:
                yield part
            yield from nested_values(part, names, depth - 1)
    elif isinstance(value, list):
        for part in value[:50]:
            yield from nested_values(part, names, depth - 1)


def _of_headers(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    retry_after = headers.get("retry-after", "")
    seconds = _seconds(retry_after)
    return _until_date(retry_after) if seconds is None else seconds


def _of_body(body: object) -> float | None:
    for value in nested_values(body, _WAIT_MS_NAMES):
        milliseconds = _number(value)
        if milliseconds is not None:
            return milliseconds / 1000
    for value in nested_values(body, _WAIT_NAMES):
        seconds = _seconds(value)
        if seconds is not None:
            return seconds
    return None


def _of_words(message: str) -> float | None:
    text = message[:MOST_READ]
    match = _STATED.search(text) or _STATED_SECONDS.search(text)
    return None if match is None else _seconds(match[1])


def _reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until all limits that are used up are reset."""
    waits = []
    for name, value in headers.items():
        if not _RESET.fullmatch(name):
            continue
        remaining = headers.get(name.removesuffix("-after").replace("reset", "remaining"))
        if remaining is not None and _number(remaining) != 0:
            continue
        seconds = _seconds(value)
        if seconds is None:
            seconds = _until_date(value)
        if seconds is not None:
            waits.append(seconds)
    for policy in headers.get("ratelimit", "")[:MOST_READ].split(',"'):
        reset = _LIMIT_RESET.search(policy)
        remaining_calls = _LIMIT_LEFT.search(policy)
        is_used_up = remaining_calls is None or int(remaining_calls[1]) == 0
        if reset is not None and is_used_up:
            waits.append(float(reset[1]))
    return max(waits, default=None)


def _seconds(value: object) -> float | None:
    """Read a wait: 20, "20", "20s", "1m30s", "500ms", {"seconds": 20}, or a moment since 1970."""
    if isinstance(value, Mapping):
        seconds = _number(value.get("seconds", 0))
        nanoseconds = _number(value.get("nanos", 0))
        return None if seconds is None else seconds + (nanoseconds or 0.0) / 1e9
    number = _number(value)
    if number is not None:
        now = datetime.now(UTC).timestamp()
        if number >= EPOCH_MS:
            return max(0.0, number / 1000 - now)
        if number >= EPOCH_S:
            return max(0.0, number - now)
        return number
    if not isinstance(value, str):
        return None
    parts = _DURATION.findall(value[:100])
    if not parts:
        return None
    return math.fsum(float(count) * _SECONDS_OF[_unit(unit)] for count, unit in parts)


def _unit(name: str) -> str:
    lowered = name.lower()
    return "ms" if lowered.startswith(("ms", "mil")) else lowered[0]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _until_date(date: str) -> float | None:
    """Return the seconds until a date, as mails write it or as ISO 8601 does."""
    try:
        is_iso = date[:4].isdecimal()
        moment = datetime.fromisoformat(date) if is_iso else parsedate_to_datetime(date)
        return max(0.0, moment.timestamp() - datetime.now(UTC).timestamp())
    except (ValueError, OverflowError, TypeError, IndexError):  # of absurd dates
        return None
