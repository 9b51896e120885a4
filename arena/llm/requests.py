"""Prompts and requests: the canonical JSON that is sent and digested."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import PydanticCustomError

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, UsageError, argument
from arena.llm.llm_settings import EMBEDDINGS, NEEDED_FIELDS, LlmSettings, checked_body

Role = Literal["system", "developer", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt, to be answered once.

    Attributes:
        messages: In order.
        version: Of the template; not part of the key.
        purpose: Part of the key, but not sent: tells equal prompts apart, such as ``"repetition
            2"``.
    """

    messages: tuple[Message, ...]
    version: str = ""
    purpose: str = ""

    @classmethod
    def of(cls, user: str, system: str | None = None, version: str = "") -> Prompt:
        """Build a prompt of one user message, after a system message if given.

        Examples:
            >>> Prompt.of("Who wrote Faust?").messages
            (Message(role='user', content='Who wrote Faust?'),)
        """
        first = () if system is None else (Message("system", system),)
        return cls((*first, Message("user", user)), version)


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt to one model: ``body`` is sent, ``content`` digested.

    Both are canonical JSON; ``path`` follows the server's address.
    """

    key: str
    body: str
    content: str
    version: str
    model: str
    path: str
    fields: tuple[str, ...]


def request_for(prompt: Prompt, settings: LlmSettings) -> Request:
    """Make a prompt's request; UsageError if it cannot be sent."""
    if not settings.model:
        raise UsageError("no model is named; name it as the server does")
    try:
        checked_body(settings.body)  # of a copy, which is not checked as it is made
    except PydanticCustomError as error:
        raise UsageError(f"{argument('body')} {error}") from error
    if not prompt.messages:
        raise UsageError("a prompt has no messages; give at least one")
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    try:
        fields = settings.fields()
        names = tuple(name for name in fields if name != "model")
        if settings.path == EMBEDDINGS:
            fields["input"] = messages[-1]["content"]
        else:
            fields["messages"] = messages
        body = canonical_json(fields)
        content = f'{{"body":{body},"purpose":{canonical_json(prompt.purpose)}}}'
        return Request(
            key=digest(content),
            body=body,
            content=content,
            version=prompt.version,
            model=settings.model,
            path=settings.path,
            fields=names,
        )
    except UnicodeEncodeError as error:
        raise UsageError(f"a prompt {HALF_SURROGATE}; {HALF_SURROGATE_HINT}") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"the settings are not JSON ({error}); use plain values") from error


def request_of_content(content: str, version: str, path: str) -> Request:
    """Make a request again of its content."""
    fields = json.loads(content)["body"]
    return Request(
        key=digest(content),
        body=canonical_json(fields),
        content=content,
        version=version,
        model=fields["model"],
        path=path,
        fields=tuple(name for name in fields if name not in NEEDED_FIELDS),
    )


def canonical_json(value: object) -> str:
    """Write a value as the JSON that is digested."""
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def digest(text: str) -> str:
    """Return the SHA-256 of a text in 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def object_schema(properties: Mapping[str, object]) -> dict[str, Any]:
    """Return the strict schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def schema_format(name: str, schema: Mapping[str, object]) -> dict[str, Any]:
    """Return the ``response_format`` for JSON by a schema."""
    named = {"name": name, "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": named}
