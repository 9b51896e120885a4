"""Server-sent events, which some gateways answer with though no stream was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from arena.llm.completions import FINISH_NAMES, LATER_FINISH_NAMES, MalformedAnswerError
from arena.llm.message_parts import text_of_parts

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b": ")


def is_event_stream(content_type: str, body: bytes) -> bool:
    """Return whether an answer is a stream of events."""
    return "text/event-stream" in content_type or body.lstrip()[:8].startswith(_BEGINNINGS)


def joined_events(body: bytes) -> dict[str, Any]:
    """Join the events of a whole stream to the JSON of a plain answer.

    Raises:
        MalformedAnswerError: If an event is no JSON, or the stream ends before its end.
    """
    answer: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
    tokens: list[object] = []
    is_done = False
    for event in _events(body):
        if event is None:
            is_done = True
            break
        if event.get("error"):
            return dict(event)
        for name in ("model", "usage", *LATER_FINISH_NAMES):
            if event.get(name):
                answer[name] = event[name]
        part = _first_choice(event)
        if part is None:
            continue
        if part.get("error"):
            return {"error": part["error"]}
        for name in FINISH_NAMES:
            if part.get(name):
                choice[name] = part[name]
        delta = part.get("delta") or part.get("message")
        if isinstance(delta, Mapping):
            for name in _TEXTS:
                texts[name].append(text_of_parts(delta.get(name)))
        logprobs = part.get("logprobs")
        if isinstance(logprobs, Mapping) and isinstance(logprobs.get("content"), list):
            tokens += logprobs["content"]
    if not is_done and not choice:
        raise MalformedAnswerError(
            "the server streams events, and the stream ended early; let it send whole answers"
        )
    choice["message"] = {name: "".join(parts) for name, parts in texts.items() if any(parts)}
    if tokens:
        choice["logprobs"] = {"content": tokens}
    answer["choices"] = [choice]
    return answer


def _first_choice(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the part of an event that is of the answer, and not of a further one."""
    choices = event.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    first = choices[0]
    return first if isinstance(first, Mapping) and first.get("index", 0) == 0 else None


def _events(body: bytes) -> Iterator[dict[str, Any] | None]:
    """Yield the JSON of each event; None for the end."""
    data: list[bytes] = []
    for line in [*body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), b""]:
        if line.startswith(b"data:"):
            data.append(line[5:].strip())
            continue
        if line or not data:
            continue
        text = b"\n".join(data)
        data = []
        if text == b"[DONE]":
            yield None
            return
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedAnswerError(
                "the server streams events, and one is no JSON; let it send whole answers"
            ) from None
        if isinstance(event, dict):
            yield event
