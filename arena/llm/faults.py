"""What went wrong with one call, from the answer or the exception: passing, final, or fatal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
import httpx2
import openai

from arena.llm import failures
from arena.llm.completions import MalformedAnswerError
from arena.llm.http_client import Answer
from arena.llm.retries import asked_wait

SHOWN_CHARACTERS = 300

_FILTER_CODES = ("content_filter", "content_policy", "ResponsibleAIPolicyViolation", "moderation")
_CONTEXT_SIGNS = ("context_length", "context length", "context window", "maximum context", "n_ctx")
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]+")
_PASSING_STATUS = {408: failures.TIMEOUT, 409: failures.SERVER_ERROR, 429: failures.RATE_LIMITED}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call brought no completion.

    Attributes:
        reason: One of ``arena.llm.failures``.
        detail: What the server or the network said, without keys.
        again: Whether to try again in this run.
        asked_wait_s: How long the server asks to wait, if it does.
        advice: What the user must mend, where no call can succeed before; else None.
        answered: Whether a server answered at all.
    """

    reason: str
    detail: str
    again: bool = False
    asked_wait_s: float | None = None
    advice: str | None = None
    answered: bool = True


def fault_of(error: Exception, api_key: str) -> Fault:
    """Say what an exception of a call means.

    Raises:
        Exception: ``error`` itself, if it is none that a call is known to end in.
    """
    if isinstance(error, MalformedAnswerError):
        return Fault(failures.MALFORMED, _shown(str(error), api_key), again=True)
    if isinstance(
        error, openai.APIConnectionError | httpx2.RequestError | aiohttp.ClientError | OSError
    ):
        return _connection_fault(error, api_key)
    raise error


def status_fault(answer: Answer, api_key: str) -> Fault:
    """Say what an answer with an error status means."""
    status, said = answer.status, answer.content.decode(errors="replace").strip()
    message = _message(said)
    detail = _shown(f"status {status}: {message}" if message else f"status {status}", api_key)
    if status in (400, 403, 413, 422):
        if any(code.lower() in said.lower() for code in _FILTER_CODES):
            return Fault(failures.CONTENT_FILTER, detail)
        if any(sign in said.lower() for sign in _CONTEXT_SIGNS):
            return Fault(failures.CONTEXT_LENGTH, detail)
    advice = _advice(status, said)
    if advice is not None:  # what a server says of a wrong key may hold parts of it
        shown = f"status {status}" if status in (401, 403) else detail
        return Fault(failures.REJECTED, shown, advice=advice)
    if status in _PASSING_STATUS or status >= 500:
        reason = _PASSING_STATUS.get(status, failures.SERVER_ERROR)
        return Fault(reason, detail, again=True, asked_wait_s=asked_wait(answer.headers))
    return Fault(failures.REJECTED, detail)


def _advice(status: int, said: str) -> str | None:
    if status == 401:
        return "the key is not accepted; check it, and the variable that api_key_env names"
    if status == 403:
        return "the key may not use this model; check the model's name and the key's permissions"
    if status == 404:
        return "check the model's name, and that base_url ends where /chat/completions begins"
    if status == 402 or (status == 429 and "insufficient_quota" in said):
        return "the account has no credit left; the results so far are in the store"
    return None


def _message(said: str) -> str:
    """Take the message out of what a server said, if it said it in JSON."""
    try:
        body = json.loads(said)
    except (ValueError, RecursionError):
        return said
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = error.get("message") if isinstance(error, Mapping) else None
    return str(message or error or said)


def _connection_fault(error: Exception, api_key: str) -> Fault:
    causes = _causes(error)
    unreachable = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes)
    if not unreachable and any(isinstance(cause, TimeoutError) for cause in causes):
        return Fault(failures.TIMEOUT, "no answer in time", again=True, answered=False)
    detail = _shown(str(causes[-1]) or type(causes[-1]).__name__, api_key)
    advice = "nothing answers there; start the server, or mend base_url" if unreachable else None
    return Fault(failures.CONNECTION, detail, again=True, advice=advice, answered=False)


def _causes(error: BaseException) -> list[BaseException]:
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    return causes


def _shown(text: str, api_key: str) -> str:
    if len(api_key) >= 8:
        text = text.replace(api_key, "[key]")
    text = _KEY_LIKE.sub("[key]", " ".join(text.split()))
    text = text.replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
