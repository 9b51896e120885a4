"""Log-probabilities of tokens in a chat completion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.llm.replies import LEAST_LOGPROB, MOST_LOGPROB, TokenLogprobs, storable_text


def read_logprobs(value: object) -> tuple[TokenLogprobs, ...] | None:
    """Read tokens, and the likeliest ones at each place."""
    content = value.get("content") if isinstance(value, Mapping) else None
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
    token, logprob = storable_text(entry["token"]), entry["logprob"]
    if token is None or not logprob <= MOST_LOGPROB:
        raise TypeError("a token has no log-probability")
    return token, min(max(float(logprob), LEAST_LOGPROB), 0.0)
