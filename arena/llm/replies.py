"""Replies of a model: completions, faults, and why there is no usable answer."""

from __future__ import annotations

import json
import math
import re
import string
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from arena.data.errors import ARGUMENT_MARK
from arena.text.thoughts import without_thoughts

REFUSAL = "refusal"
CONTENT_FILTER = "content_filter"
CONTEXT_LENGTH = "context_length"
EMPTY = "empty"
UNPARSABLE = "unparsable"
OTHER_MODEL = "other_model"

RATE_LIMITED = "rate_limited"
SERVER_ERROR = "server_error"
TIMEOUT = "timeout"
CONNECTION = "connection"
MALFORMED = "malformed"
BROKEN_OFF = "broken_off"
REJECTED = "rejected"
RAISED = "raised"
CANCELLED = "cancelled"

OVER_BUDGET = "over_budget"

FINAL = frozenset({REFUSAL, CONTENT_FILTER, CONTEXT_LENGTH, EMPTY})
"""The model's answer to this prompt: asking again would pay for the same."""
PASSING = frozenset(
    {RATE_LIMITED, SERVER_ERROR, TIMEOUT, CONNECTION, MALFORMED, BROKEN_OFF, REJECTED, RAISED}
    | {CANCELLED}
)
"""No whole answer came: a later run tries again."""

WHOLE = "stop"
CUT = "length"
"""Finish reasons that all servers' words for a whole answer, and for one cut off, are read as."""

LEAST_LOGPROB = -9999.0
"""Stands for a probability of 0, since JSON has no minus infinity."""
MOST_LOGPROB = 0.01
"""What servers round a probability of 1 to at most; anything larger is no log-probability."""
MOST_COUNT = 2**53
"""Tokens beyond which a count is none: no sum of such is exact, or can be stored."""
SHOWN_CHARACTERS = 300
KEY_STAND_IN = "[key]"
LEAST_KEY = 8
"""Characters of a key below which it is a stand-in, and its like may be in any text."""

_KEY_LIKE = re.compile(
    r"\bsk-[\w*.-]+|\b(?:gsk|hf|xai|pplx|nvapi|csk|tgp|fw|r8)[-_][\w*.-]{8,}|\bAIza[\w*.-]+"
)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_TOKEN_SPACES = string.whitespace + "\u2581\u0120"
"""Spaces around a token, and the letters that stand for them where a server does not decode it."""
T = TypeVar("T")


class UnparsableError(ValueError):
    """Raised by a parser where the text holds no value; the message says why."""


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """A chosen token, the likeliest ones at its place, and their log-probabilities."""

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer to one request, or the reason why there is none.

    Attributes:
        text: The answer, if any.
        finish_reason: ``stop``, ``length`` (cut off), or the endpoint's word for anything else.
        failure: Why there is no usable answer, one of ``FINAL`` or ``PASSING``.
        detail: More about it, for people.
        served_model: The model that answered, in the endpoint's words.
        tokens_in: Tokens of the prompt, if the endpoint counts.
        tokens_out: Tokens of the answer, likewise.
        logprobs: Where asked for and given.
    """

    text: str | None
    finish_reason: str | None = None
    failure: str | None = None
    detail: str = ""
    served_model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    logprobs: tuple[TokenLogprobs, ...] | None = None

    @property
    def is_cut(self) -> bool | None:
        """Return whether a limit ended the text; None if unknown."""
        return {CUT: True, WHOLE: False}.get(self.finish_reason or "")

    @property
    def answer(self) -> str:
        """Return the text without thoughts; empty if there is none."""
        return without_thoughts(self.text or "", self.is_cut)

    @property
    def is_final(self) -> bool:
        """Return whether asking again would bring the same."""
        return self.failure is None or self.failure in FINAL


@dataclass(frozen=True, slots=True)
class Fault:
    """Reason why a call brought no completion.

    Attributes:
        detail: Message of the server or the network, without keys.
        again: Whether to try again in this run.
        asked_wait_s: Seconds that the server asks to wait.
        advice: Step that the user must take before any call can succeed.
        setting: Which settings to change, where a field is refused.
        is_paid: Whether each further try may cost as much.
    """

    reason: str
    detail: str
    again: bool = False
    asked_wait_s: float = 0.0
    advice: str | None = None
    setting: str | None = None
    is_paid: bool = False


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """The reply to one row's prompt.

    Attributes:
        value: Read from the model's answer; None if there is a reason.
        reason: Why there is no value (``unparsable``, ``refusal``, ``timeout`` ...).
        detail: More about the reason.
        key: Key in the store.
        from_store: Whether the store had it.
    """

    value: T | None
    reason: str | None
    detail: str
    key: str
    from_store: bool

    @property
    def was_asked(self) -> bool:
        """Return whether the model answered; else a later run asks again."""
        return self.reason not in PASSING and self.reason != OVER_BUDGET


def storable_text(value: object) -> str | None:
    """Return a text with U+FFFD for what cannot be stored."""
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else None


def read_vector(completion: Completion) -> tuple[float, ...]:
    """Return the vector; UnparsableError if it is 0 everywhere."""
    vector = tuple(map(float, json.loads(completion.text or "[]")))
    if not any(vector):
        raise UnparsableError("the embedding is 0 everywhere")
    return vector


def candidate_masses(token: TokenLogprobs, candidates: Collection[str]) -> dict[str, float]:
    """Add up each candidate's spellings: "A", " A", "Ａ", "ĠA"."""
    likeliest = dict(token.alternatives)
    likeliest.setdefault(token.token, token.logprob)  # it need not be among the likeliest
    masses: dict[str, float] = {}
    for text, logprob in likeliest.items():
        name = unicodedata.normalize("NFKC", text).strip(_TOKEN_SPACES)
        if name in candidates:
            masses[name] = masses.get(name, 0.0) + math.exp(logprob)
    return masses


def without_key(completion: Completion, api_key: str) -> Completion:
    """Remove the key from an answer that repeats it."""
    if len(api_key) < LEAST_KEY:
        return completion
    cleaned: dict[str, str] = {}
    for name in ("text", "finish_reason", "detail", "served_model"):
        text = getattr(completion, name) or ""
        if api_key in text:
            cleaned[name] = text.replace(api_key, KEY_STAND_IN)
    # Tokens hold a key in pieces, so all log-probabilities go if it is in them.
    tokens = completion.logprobs or ()
    texts = ["".join(token.token for token in tokens)]
    for token in tokens:
        texts += [text for text, _ in token.alternatives]
    if cleaned or any(api_key in text for text in texts):
        return replace(completion, **cleaned, logprobs=None)  # type: ignore[arg-type]
    return completion


def shown_detail(text: str, api_key: str) -> str:
    """Shorten a message, and remove keys, to show and keep it."""
    if len(api_key) >= LEAST_KEY:
        text = text.replace(api_key, KEY_STAND_IN)
    text = _KEY_LIKE.sub(KEY_STAND_IN, " ".join(text.split()))
    text = text.replace("\0", "").replace(ARGUMENT_MARK, "").encode(errors="replace").decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
