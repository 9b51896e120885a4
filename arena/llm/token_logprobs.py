"""Log-probabilities of tokens, in the forms in which servers send them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.llm.message_parts import storable_text
from arena.llm.replies import LEAST_LOGPROB, MOST_LOGPROB, TokenLogprobs

NUMBERED = "token_id:"
"""Before the numbers by which vLLM names tokens where it is told to."""


def read_logprobs(value: object) -> tuple[TokenLogprobs, ...] | None:
    """Read the tokens of an answer, and at each place the likeliest ones.

    ``{"content": […]}`` is the form of chat completions; ``{"tokens": […], "token_logprobs": […],
    "top_logprobs": […]}`` that of older completions, which some servers still send. None if there
    are none or they are malformed: the answer is paid for and still counts.
    """
    if not isinstance(value, Mapping):
        return None
    content = value.get("content")
    if content is None:
        content = _entries_of_columns(value)
    if not isinstance(content, list):
        return None
    tokens = []
    try:
        for entry in content:
            token, logprob = _pair(entry)
            tokens.append(TokenLogprobs(token, logprob, tuple(_alternatives(entry))))
    except (AttributeError, KeyError, TypeError, OverflowError):
        return None
    return tuple(tokens)


def _entries_of_columns(value: Mapping[str, Any]) -> list[dict[str, object]] | None:
    """Write the older form as the one of chat completions; None if it is not that either."""
    tokens = value.get("tokens")
    logprobs = value.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        return None
    likeliest = value.get("top_logprobs")
    if not isinstance(likeliest, list) or len(likeliest) != len(tokens):
        likeliest = [None] * len(tokens)
    entries: list[dict[str, object]] = []
    for token, logprob, alternatives in zip(tokens, logprobs, likeliest, strict=False):
        listed = []
        if isinstance(alternatives, Mapping):
            listed = [{"token": name, "logprob": chance} for name, chance in alternatives.items()]
        entries.append({"token": token, "logprob": logprob, "top_logprobs": listed})
    return entries


def _alternatives(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    alternatives = entry.get("top_logprobs")
    if not isinstance(alternatives, list):
        return
    for alternative in alternatives:
        try:
            yield _pair(alternative)
        except (KeyError, TypeError, OverflowError):
            continue


def _pair(entry: Any) -> tuple[str, float]:  # noqa: ANN401 - of JSON
    token, logprob = storable_text(_text(entry)), entry["logprob"]
    if token is None or not logprob <= MOST_LOGPROB:
        raise TypeError("a token has no log-probability")
    return token, min(max(float(logprob), LEAST_LOGPROB), 0.0)


def _text(entry: Mapping[str, Any]) -> object:
    """Return a token's text, which is in its bytes alone where a server writes tokens as ids."""
    token = entry["token"]
    if isinstance(token, str) and token.startswith(NUMBERED) and entry.get("bytes"):
        try:
            return bytes(entry["bytes"]).decode()
        except (TypeError, ValueError):
            return token
    return token
