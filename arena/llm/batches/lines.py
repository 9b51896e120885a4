"""The lines of a batch's files: requests as they are sent, and the answers to them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO

from arena.llm import replies
from arena.llm.answers import read_answer
from arena.llm.replies import Completion, Fault
from arena.llm.requests import Request
from arena.llm.server_errors import reported, reported_error

MOST_LINE_BYTES = 32 * 2**20
"""Most bytes of a line that is read; longer ones answer nothing."""
EXPIRED_FAULT = Fault(replies.TIMEOUT, "the batch expired before it was answered", again=True)
CANCELLED_FAULT = Fault(replies.CANCELLED, "the batch was cancelled before it was answered")
_FAULTS = {"batch_expired": EXPIRED_FAULT, "batch_cancelled": CANCELLED_FAULT}
"""Of requests that a batch did not send to the model, by the code of their line's error."""


def request_line(request: Request) -> bytes:
    """Return the line of a request."""
    fields = f'"custom_id":"{request.key}","method":"POST","url":"/v1{request.path}"'
    return f'{{{fields},"body":{request.body}}}\n'.encode()


def result_lines(file: IO[bytes]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield each line with its key; other lines are skipped."""
    while line := file.readline(MOST_LINE_BYTES):
        try:
            result = json.loads(line)
        except (ValueError, RecursionError):
            continue
        key = result.get("custom_id") if isinstance(result, dict) else None
        if isinstance(key, str):
            yield key, result


def read_result_line(
    request: Request, result: Mapping[str, object], api_key: str
) -> Completion | Fault:
    """Read the answer to a request from its line."""
    response = result.get("response")
    if isinstance(response, Mapping):
        status, body = response.get("status_code"), response.get("body")
        report = reported_error(body)
        if isinstance(status, int) and status >= 400:
            report = reported(status, json.dumps(body))
        return read_answer(request, body, report, {}, api_key)
    error = result.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and code in _FAULTS:
        return _FAULTS[code]
    report = reported_error({"error": error})
    if report is None:
        return Fault(replies.MALFORMED, "its line has no answer", again=True)
    return read_answer(request, None, report, {}, api_key)
