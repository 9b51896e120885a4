"""Prompts, and the request each becomes: its content is its key in the store."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from arena.errors import HALF_SURROGATE, HALF_SURROGATE_MEND, UsageError
from arena.llm.settings import ModelSettings

Role = Literal["system", "developer", "user", "assistant"]

_BEFORE_BODY = '{"body":'
_BEFORE_PURPOSE = ',"purpose":'


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked once.

    Attributes:
        messages: The messages, in order.
        version: Version of the template, kept with the result. No part of the key: the text is.
        purpose: Part of the key, no part of what is sent: tells equal prompts apart that shall
            be asked each on its own, such as repetitions (``"repetition 2"``).
    """

    messages: tuple[Message, ...]
    version: str = ""
    purpose: str = ""

    @classmethod
    def of(cls, user: str, system: str | None = None, version: str = "") -> Prompt:
        """Build a prompt of one user message, after a system message if one is given."""
        first = () if system is None else (Message("system", system),)
        return cls((*first, Message("user", user)), version)


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt to one model.

    Attributes:
        key: Digest of ``content``: 64 hexadecimal digits.
        content: Canonical JSON of the request's body and the prompt's purpose.
        version: The prompt's version.
    """

    key: str
    content: str
    version: str

    def body(self) -> bytes:
        """Return what is sent: JSON, cut from the content as it stands there."""
        end = self.content.rindex(_BEFORE_PURPOSE)  # no text holds this: its quotes are escaped
        return self.content[len(_BEFORE_BODY) : end].encode()


def request_for(prompt: Prompt, settings: ModelSettings) -> Request:
    """Put a prompt to a model.

    Raises:
        UsageError: If there are no messages, or a text or a setting cannot be sent as JSON.
    """
    if not prompt.messages:
        raise UsageError("a prompt has no messages; give one at least")
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    asked = {"body": settings.fields() | {"messages": messages}, "purpose": prompt.purpose}
    try:
        content = canonical_json(asked)
        return Request(digest(content), content, prompt.version)
    except UnicodeEncodeError as error:
        raise UsageError(f"a prompt {HALF_SURROGATE}; {HALF_SURROGATE_MEND}") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"the model's settings are no JSON ({error}); use plain values") from error


def canonical_json(value: object) -> str:
    """Write a value as JSON in the one way that is digested.

    Raises:
        TypeError: If the value holds something that JSON cannot.
        ValueError: If it holds a number that JSON cannot.
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def digest(text: str) -> str:
    """Return the SHA-256 of a text in 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
