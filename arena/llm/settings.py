"""What is asked of which model: endpoint, settings, messages."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, UsageError

OPENAI_URL = "https://api.openai.com/v1"
MOST_CONNECTIONS = 1000

_OWN_FIELDS = frozenset(
    {
        "model",
        "messages",
        "temperature",
        "max_tokens",
        "seed",
        "logprobs",
        "top_logprobs",
        "response_format",
        "stop",
    }
)
_UNUSABLE_FIELDS = frozenset({"stream", "n"})
_SECRET_NAME = re.compile(
    r"(?:.*[-_.])?(?:api[-_]?key|authorization|password|passwd|secret|credentials?"
    r"|(?:access|auth|bearer|api)[-_]?token)",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"(?:sk|pk|rk|hf|gsk|xai|ghp)[-_]\w[\w.*-]{14,}|bearer\s+\S{8,}", re.I)


def _secret_in(value: object, name: str = "") -> str | None:
    """Return the name of a field that holds a key, or seems to."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if isinstance(part, str) and part and _SECRET_NAME.fullmatch(str(key)):
                return str(key)
            found = _secret_in(part, str(key))
            if found is not None:
                return found
    elif isinstance(value, list | tuple):
        return next((found for part in value if (found := _secret_in(part, name))), None)
    elif isinstance(value, str) and _SECRET_VALUE.search(value):
        return name
    return None


_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class ModelSettings:
    """The model and everything that may change its answer; all of it is part of the store's key.

    Attributes:
        model: Name of the model at the endpoint.
        temperature: Sampling temperature; None leaves it out (some models take none).
        max_tokens: Most tokens of an answer; None leaves it out. Models that want another
            field get it by ``extra_body``, such as ``{"max_completion_tokens": 500}``.
        seed: Seed of the model's sampling, where the endpoint knows one.
        logprobs: Number of alternatives whose log-probability is returned for each token.
        response_format: Such as ``{"type": "json_object"}``.
        stop: Texts that end an answer.
        extra_body: Further fields of the request, such as ``top_p`` or a grammar.
    """

    model: str
    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    seed: int | None = None
    logprobs: int | None = None
    response_format: Mapping[str, object] | None = None
    stop: tuple[str, ...] = ()
    extra_body: Mapping[str, object] = field(default_factory=dict)

    path: ClassVar[str] = "/chat/completions"
    """Where requests go, after the endpoint's ``base_url``."""

    def __post_init__(self) -> None:
        if not self.model:
            raise UsageError("model is empty; name the model as the endpoint does")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"max_tokens is {self.max_tokens}; ask for 1 at least, or None")
        if self.logprobs is not None and self.logprobs < 0:
            raise UsageError(f"logprobs is {self.logprobs}; ask for 0 alternatives at least")
        doubled = sorted(_OWN_FIELDS & set(self.extra_body))
        if doubled:
            raise UsageError(f"extra_body holds {', '.join(doubled)}; use the fields of that name")
        unusable = sorted(_UNUSABLE_FIELDS & set(self.extra_body))
        if unusable:
            raise UsageError(
                f"extra_body holds {', '.join(unusable)}; one whole answer is read for a prompt; "
                "tell repetitions apart by the prompt's purpose"
            )
        secret = _secret_in(self.extra_body)
        if secret is not None:
            raise UsageError(
                f"extra_body holds what looks like a key ({secret}); what is sent is kept, so give "
                "keys by the environment variable that api_key_env names"
            )

    @classmethod
    def stated(
        cls, model: str, temperature: float, max_tokens: int, body: Mapping[str, object]
    ) -> ModelSettings:
        """Return the settings that a user states.

        Args:
            model: The model's name.
            temperature: Sampling temperature; below 0, none is sent.
            max_tokens: Most tokens of a reply; not sent where the body limits them.
            body: Further fields of the request.

        Raises:
            UsageError: If a setting cannot be used.
        """
        return cls(
            model,
            temperature=None if temperature < 0 else temperature,
            max_tokens=None if "max_completion_tokens" in body else max_tokens,
            extra_body=body,
        )

    def fields(self) -> dict[str, object]:
        """Return the fields of the request, without messages; what is None is left out."""
        fields: dict[str, object] = {"model": self.model}
        for name in ("temperature", "max_tokens", "seed"):
            value = getattr(self, name)
            if value is not None:
                fields[name] = value
        if self.logprobs is not None:
            fields |= {"logprobs": True, "top_logprobs": self.logprobs}
        if self.response_format is not None:
            fields["response_format"] = self.response_format
        if self.stop:
            fields["stop"] = list(self.stop)
        return fields | dict(self.extra_body)


@dataclass(frozen=True)
class EmbeddingSettings(ModelSettings):
    """A model that embeds texts (``/embeddings``): what comes back is a vector, as JSON.

    Attributes:
        dimensions: Length of vectors, where the endpoint knows of several; None leaves it out.
    """

    temperature: None = None
    max_tokens: None = None
    dimensions: int | None = None

    path: ClassVar[str] = "/embeddings"

    def fields(self) -> dict[str, object]:
        """Return the fields of the request, without the text."""
        sized = {} if self.dimensions is None else {"dimensions": self.dimensions}
        return {"model": self.model, **sized, **self.extra_body}


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server and how hard to press it; no part of an answer's key.

    Attributes:
        base_url: Up to where ``/chat/completions`` begins, usually ending in ``/v1``.
        api_key_env: Environment variable that holds the key; None for a server without keys.
        concurrency: Most calls under way at the same time.
        timeout_s: Seconds until a call counts as lost.
        retries: Most further tries after a call that failed in passing.
        backoff_s: Wait before the first retry in seconds, doubled each time, with jitter.
        longest_wait_s: Longest wait before a retry. A server that asks for more is not asked
            again in this run: the item is a counted failure, which a later run tries again.
        any_model: Whether answers count that come from another model than the one asked; where
            a server names the file it runs, they do.
        local: Path of a model that runs in this process instead, one call at a time; a call that
            runs here is never lost, so ``timeout_s`` does not bound it.
    """

    base_url: str = OPENAI_URL
    api_key_env: str | None = "OPENAI_API_KEY"
    concurrency: int = 8
    timeout_s: float = 60.0
    retries: int = 5
    backoff_s: float = 0.5
    longest_wait_s: float = 60.0
    any_model: bool = False
    local: str = ""

    def __post_init__(self) -> None:
        try:
            address = urlsplit(self.base_url)
            _ = address.port
        except ValueError as error:
            raise UsageError(f"base_url is {self.base_url!r}, no address ({error})") from None
        if "@" in address.netloc or address.query:
            raise UsageError(
                "`base_url` holds credentials or a query; give the plain address, and the key by "
                "the environment variable that `api_key_env` names"
            )
        if address.scheme not in ("http", "https") or not address.hostname:
            raise UsageError(
                f"`base_url` is {self.base_url!r}; give an address such as {OPENAI_URL} or "
                "http://localhost:8000/v1"
            )
        if not 1 <= self.concurrency <= MOST_CONNECTIONS:
            raise UsageError(
                f"`concurrency` is {self.concurrency}; ask for 1 to {MOST_CONNECTIONS} calls at "
                "once"
            )
        if self.timeout_s <= 0 or self.retries < 0 or self.backoff_s < 0 or self.longest_wait_s < 0:
            raise UsageError("`timeout_s` must be above 0; retries and waits must not be below 0")

    @property
    def where(self) -> str:
        """The server's address, or the path of the model that runs here."""
        return self.local or self.base_url

    def refuse_key(self, content: str) -> None:
        """Refuse to send, and so to keep, a prompt or a setting that holds the key itself.

        Raises:
            UsageError: If it does.
        """
        key = os.environ.get(self.api_key_env or "", "").strip()
        if len(key) >= 8 and json.dumps(key, ensure_ascii=False)[1:-1] in content:
            raise UsageError(
                f"a prompt or a setting holds the key of {self.api_key_env}; what is sent is kept, "
                "so take the key out of it"
            )

    def api_key(self) -> str:
        """Read the key from the environment.

        Returns:
            The key, or a stand-in for a server without keys.

        Raises:
            UsageError: If the variable is not set and the server is not on this machine.
        """
        if self.api_key_env is None or self.local:
            return "none"
        key = os.environ.get(self.api_key_env, "").strip()
        if key:
            return key
        if urlsplit(self.base_url).hostname in _LOCAL_HOSTS:
            return "none"
        raise UsageError(
            f"there is no key for {self.base_url}: set the environment variable "
            f"{self.api_key_env} (to anything, for a server without keys), or name another one "
            "with `api_key_env`"
        )


Role = Literal["system", "developer", "user", "assistant"]


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
        body: What is sent: canonical JSON.
        content: Canonical JSON of the body and the prompt's purpose.
        version: The prompt's version.
        path: Where it goes, after the endpoint's ``base_url``.
    """

    key: str
    body: str
    content: str
    version: str
    path: str = ModelSettings.path


def request_for(prompt: Prompt, settings: ModelSettings) -> Request:
    """Put a prompt to a model.

    Raises:
        UsageError: If there are no messages, or a text or a setting cannot be sent as JSON.
    """
    if not prompt.messages:
        raise UsageError("a prompt has no messages; give one at least")
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    try:
        embeds = isinstance(settings, EmbeddingSettings)
        asked = {"input": messages[-1]["content"]} if embeds else {"messages": messages}
        body = canonical_json(settings.fields() | asked)
        content = f'{{"body":{body},"purpose":{canonical_json(prompt.purpose)}}}'
        return Request(digest(content), body, content, prompt.version, settings.path)
    except UnicodeEncodeError as error:
        raise UsageError(f"a prompt {HALF_SURROGATE}; {HALF_SURROGATE_HINT}") from error
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
