"""What comes back from a model: completions, outcomes, why a call failed."""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

REFUSAL = "refusal"
CONTENT_FILTER = "content_filter"
CONTEXT_LENGTH = "context_length"
EMPTY = "empty"
UNPARSABLE = "unparsable"
OTHER_MODEL = "other_model"
"""Another model than the one asked has answered."""

RATE_LIMITED = "rate_limited"
SERVER_ERROR = "server_error"
TIMEOUT = "timeout"
CONNECTION = "connection"
MALFORMED = "malformed"
REJECTED = "rejected"
STOPPED = "stopped"

OVER_BUDGET = "over_budget"

FINAL = frozenset({REFUSAL, CONTENT_FILTER, CONTEXT_LENGTH, EMPTY})
"""The model's answer to this prompt: asking again would pay for the same."""

PASSING = frozenset({RATE_LIMITED, SERVER_ERROR, TIMEOUT, CONNECTION, MALFORMED, REJECTED, STOPPED})
"""No answer came: a later run tries again."""


class UnparsableError(ValueError):
    """Raised by a parser of completions where the text holds no verdict; the message says why."""


LEAST_LOGPROB = -9999.0
"""Stands for a probability of 0, since JSON has no minus infinity."""

MOST_LOGPROB = 0.01
"""What servers round a probability of 1 to at most; of more, a log-probability is none."""

MOST_COUNT = 2**53
"""Tokens beyond which a count is none: no sum of such is exact, or can be stored."""

_LARGEST = sys.float_info.max
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

THOUGHTS = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)"
    r"|\A(?:(?!<think(?:ing)?>).)*?</think(?:ing)?>",  # the chat template has opened them
    re.DOTALL | re.IGNORECASE,
)
"""What some models write before their answer; thoughts that do not end go on to the end."""

Alternatives = tuple[tuple[str, float], ...]


class MalformedAnswerError(ValueError):
    """What came is no chat completion; the message says why."""


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One token of an answer.

    Attributes:
        token: The token that was chosen.
        logprob: Its log-probability (natural logarithm).
        alternatives: The likeliest tokens at its place, with their log-probabilities.
    """

    token: str
    logprob: float
    alternatives: Alternatives


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model answered.

    Attributes:
        text: The answer; None where there is none.
        finish_reason: Why the model stopped, in the endpoint's words.
        refusal: The model's refusal, where the endpoint tells it from an answer.
        failure: Why there is no answer (see above), or None.
        served_model: The model that answered, in the endpoint's words.
        tokens_in: Tokens of the prompt; None where the endpoint does not say.
        tokens_out: Tokens of the answer; None where the endpoint does not say.
        latency_s: Seconds from sending to the whole answer, without waits and earlier tries.
        logprobs: Tokens with their log-probabilities, where asked for and given.
    """

    text: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    failure: str | None = None
    served_model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_s: float = 0.0
    logprobs: tuple[TokenLogprobs, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call brought no completion.

    Attributes:
        reason: One of those of ``this module``.
        detail: What the server or the network said, without keys.
        again: Whether to try again in this run.
        asked_wait_s: How long the server asks to wait, if it does.
        advice: What the user must do first, where no call can succeed before; else None.
        answered: Whether a server answered at all.
    """

    reason: str
    detail: str
    again: bool = False
    asked_wait_s: float | None = None
    advice: str | None = None
    answered: bool = True


def read_completion(payload: object, latency_s: float) -> Completion:
    """Read the JSON of a chat completion.

    Texts are made storable everywhere: NUL and half surrogate pairs become U+FFFD.

    Raises:
        MalformedAnswerError: If the payload is no chat completion with an answer in it.
    """
    answer = _mapping(payload, "the answer")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise MalformedAnswerError(f"there are no choices{_stated_error(answer)}")
    choice = _mapping(choices[0], "a choice")
    message = _mapping(choice.get("message"), "a message")
    text = _text(message.get("content"))
    refusal = _text(message.get("refusal"))
    finish_reason = _text(choice.get("finish_reason"))
    tokens_in, tokens_out = _usage(answer.get("usage"))
    return Completion(
        text=text,
        finish_reason=finish_reason,
        refusal=refusal,
        failure=_failure(text, refusal, finish_reason),
        served_model=_text(answer.get("model")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        latency_s=latency_s,
        logprobs=_logprobs(choice.get("logprobs")),
    )


def read_embedding(payload: object, latency_s: float) -> Completion:
    """Read the JSON of an embedding: the completion's text is the vector, as a JSON list.

    Raises:
        MalformedAnswerError: If the payload holds no vector of finite numbers.
    """
    answer = _mapping(payload, "the answer")
    data = answer.get("data")
    if not isinstance(data, list) or not data:
        raise MalformedAnswerError(f"there are no data{_stated_error(answer)}")
    vector = _mapping(data[0], "an embedding").get("embedding")
    if not isinstance(vector, list) or not vector or not all(map(_is_finite, vector)):
        raise MalformedAnswerError("the embedding is no list of finite numbers")
    tokens_in, _ = _usage(answer.get("usage"))
    return Completion(
        text=json.dumps(vector, separators=(",", ":")),
        served_model=_text(answer.get("model")),
        tokens_in=tokens_in,
        tokens_out=None if tokens_in is None else 0,
        latency_s=latency_s,
    )


def is_same_model(asked: str, served: str) -> bool:
    """Say whether a model that answered is the one asked, as endpoints write names.

    ``gpt-4o`` is answered by ``gpt-4o-2024-08-06``, ``openai/gpt-4o`` by ``gpt-4o``, ``llama3`` by
    ``llama3:latest``, ``mistral-large-latest`` by ``mistral-large-2411``; ``gpt-4o`` is not by
    ``gpt-4o-mini``.
    """
    wanted, got = (_plain_name(name) for name in (asked, served))
    return got == wanted or (got.startswith(wanted) and _is_version(got[len(wanted) :]))


def is_file_name(served: str) -> bool:
    """Say whether a server names the file it runs: it has one model, and knows no other name."""
    return served.casefold().endswith(".gguf") or Path(served).is_absolute()


def _plain_name(name: str) -> str:
    last = re.split(r"[/\\]", name.strip().casefold())[-1]
    return re.sub(r"(?:[-:]latest|:free|\.gguf)\Z", "", last)


def _is_version(rest: str) -> bool:
    return re.fullmatch(r"[-@](?:\d{3,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4})", rest) is not None


def read_vector(completion: Completion) -> tuple[float, ...]:
    """Return the vector of a completion of ``read_embedding``.

    Raises:
        UnparsableError: If it has no direction: all its numbers are 0.
    """
    vector = tuple(map(float, json.loads(completion.text or "[]")))
    if not any(vector):
        raise UnparsableError("the embedding is 0 everywhere")
    return vector


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _failure(text: str | None, refusal: str | None, finish_reason: str | None) -> str | None:
    if finish_reason == "content_filter":
        return CONTENT_FILTER
    if refusal:
        return REFUSAL
    if text is None or not text.strip():
        return EMPTY
    return None


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedAnswerError(f"{name} is not a JSON object")
    return value


def _stated_error(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    return "" if error is None else f", but an error: {error}"


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return _UNSTORABLE.sub("\ufffd", value)


def _usage(value: object) -> tuple[int | None, int | None]:
    if not isinstance(value, Mapping):
        return None, None
    return _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNT
    return value if is_count and isinstance(value, int) else None


def _logprobs(value: object) -> tuple[TokenLogprobs, ...] | None:
    """Read tokens; None where they are none: the answer beside them is paid for all the same."""
    content = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(content, list):
        return None
    try:
        return tuple(_token(_mapping(entry, "a token")) for entry in content)
    except (MalformedAnswerError, OverflowError):
        return None


def _token(entry: Mapping[str, Any]) -> TokenLogprobs:
    token, logprob = _pair(entry)
    listed = entry.get("top_logprobs")
    alternatives: Sequence[object] = listed if isinstance(listed, list) else ()
    pairs = tuple(_pair(_mapping(each, "an alternative")) for each in alternatives)
    return TokenLogprobs(token, logprob, pairs)


def _pair(entry: Mapping[str, Any]) -> tuple[str, float]:
    token, logprob = _text(entry.get("token")), entry.get("logprob")
    if token is None or not isinstance(logprob, int | float) or not logprob <= MOST_LOGPROB:
        raise MalformedAnswerError("a token has no log-probability")
    return token, min(max(float(logprob), LEAST_LOGPROB), 0.0)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """What came of one row's prompt.

    Attributes:
        value: What was read from the model's answer; None if there is a reason.
        reason: Why there is no value (``unparsable``, ``refusal``, ``timeout`` ...), or None.
        detail: More about the reason, for people.
        key: The prompt's key in the store.
        from_store: Whether the answer was in the store: from before, or by another process.
    """

    value: T | None
    reason: str | None
    detail: str
    key: str
    from_store: bool

    @property
    def was_asked(self) -> bool:
        """Whether the model has answered, if only unusably; else a later run asks again."""
        return self.reason not in PASSING and self.reason != OVER_BUDGET


def candidate_masses(token: TokenLogprobs, candidates: Collection[str]) -> dict[str, float]:
    """Add up the probabilities of each candidate's spellings at one place: "A", " A", "Ａ".

    Returns:
        Probability by candidate; candidates that are not among the likeliest tokens are absent.
    """
    likeliest = dict(token.alternatives)
    likeliest.setdefault(token.token, token.logprob)  # it need not be among the likeliest
    masses: dict[str, float] = {}
    for text, logprob in likeliest.items():
        name = unicodedata.normalize("NFKC", text).strip()
        if name in candidates:
            masses[name] = masses.get(name, 0.0) + math.exp(logprob)
    return masses


def expected_score(token: TokenLogprobs, scores: Mapping[str, float]) -> float:
    """Average scores over the candidates at one place of an answer (as G-Eval does).

    Args:
        token: The place, where the model wrote one of the candidates.
        scores: Score of each candidate; a candidate must be a single token of the model.

    Raises:
        UnparsableError: If no candidate was written there, or none has a probability.
    """
    if token.token.strip() not in scores:
        raise UnparsableError(f"{token.token!r} is none of {', '.join(scores)}")
    masses = candidate_masses(token, scores)
    mass = math.fsum(masses.values())
    if mass <= 0:
        raise UnparsableError("the candidates have no probability")
    return math.fsum(scores[name] * part for name, part in masses.items()) / mass


SHOWN_CHARACTERS = 300
KEY_STAND_IN = "[key]"
LEAST_KEY = 8
"""Characters of a key below which it is a stand-in, and its like may be in any text."""
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]+")


def without_key(completion: Completion, api_key: str) -> Completion:
    """Take the key out of an answer that repeats it, so that it is nowhere written down."""
    if len(api_key) < LEAST_KEY:
        return completion
    names = ("text", "finish_reason", "refusal", "served_model")
    texts = {name: text for name in names if (text := getattr(completion, name))}
    cleaned = {
        name: text.replace(api_key, KEY_STAND_IN) for name, text in texts.items() if api_key in text
    }
    tokens = completion.logprobs or ()
    chosen = "".join(token.token for token in tokens)
    others = "\n".join(text for token in tokens for text, _ in token.alternatives)
    if cleaned or api_key in chosen or api_key in others:  # tokens hold it in pieces
        return replace(completion, **cleaned, logprobs=None)
    return completion


def shown_detail(text: str, api_key: str) -> str:
    """Return what a server or the network said as it is shown and kept: short, without keys."""
    if len(api_key) >= LEAST_KEY:
        text = text.replace(api_key, KEY_STAND_IN)
    text = _KEY_LIKE.sub(KEY_STAND_IN, " ".join(text.split()))
    text = text.replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
