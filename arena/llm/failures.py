"""Why an item has no usable answer: the reasons, and which of them a later run tries again."""

from __future__ import annotations

REFUSAL = "refusal"
CONTENT_FILTER = "content_filter"
CONTEXT_LENGTH = "context_length"
EMPTY = "empty"
UNPARSABLE = "unparsable"

RATE_LIMITED = "rate_limited"
SERVER_ERROR = "server_error"
TIMEOUT = "timeout"
CONNECTION = "connection"
MALFORMED = "malformed"
REJECTED = "rejected"
STOPPED = "stopped"

OVER_BUDGET = "over_budget"

FINAL = frozenset({REFUSAL, CONTENT_FILTER, CONTEXT_LENGTH, EMPTY, UNPARSABLE})
"""The model's answer to this prompt: asking again would pay for the same."""

PASSING = frozenset({RATE_LIMITED, SERVER_ERROR, TIMEOUT, CONNECTION, MALFORMED, REJECTED, STOPPED})
"""No answer came: a later run tries again."""


class UnparsableError(ValueError):
    """Raised by a parser of completions where the text holds no verdict; the message says why."""
