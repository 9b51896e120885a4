"""Settings of asking a model: address, model, limits."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from arena.data.errors import UsageError, argument
from arena.data.wording import split_names

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
"""Environment variable with the address of the server that features ask; files may name it, too."""
MOST_CONNECTIONS = 1000
CHATS, EMBEDDINGS = "/chat/completions", "/embeddings"
"""Where requests go, after the address of a server."""
NEEDED_FIELDS = frozenset({"model", "messages", "input"})
"""Fields that a server needs."""
CONFIDENTIAL = "confidential"
"""Type of the error for a value that may hold a secret, which is never shown."""

_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_STATED_APART = frozenset({"model", "messages", "input", "temperature", "max_tokens"})
_UNUSABLE_FIELDS = frozenset({"stream", "n"})
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_SECRET_NAME = re.compile(
    r"(?:.*[-_.])?(?:api[-_]?key|authorization|password|passwd|secret|credentials?"
    r"|(?:access|auth|bearer|api)[-_]?token)",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"(?:sk|pk|rk|hf|gsk|xai|ghp)[-_]\w[\w.*-]{14,}|bearer\s+\S{8,}", re.I)


def _name_of_variable(value: str) -> str:
    if not _VARIABLE_NAME.fullmatch(value) or value.startswith("sk_"):
        raise PydanticCustomError(
            CONFIDENTIAL,
            "is not the name of an environment variable; name the variable that holds the key, "
            "such as OPENAI_API_KEY, never the key itself",
        )
    return value


def _without_password(value: str) -> str:
    address = urlsplit(value)
    names_user = "@" in address.netloc and address.scheme.startswith("http")
    # Some gateways want the key as a part of the path, which messages and stores would show.
    has_key = any(map(_SECRET_VALUE.match, address.path.split("/")))
    if names_user or has_key or address.password is not None or "password=" in address.query:
        raise PydanticCustomError(
            CONFIDENTIAL,
            "holds credentials; leave them out and give them by the environment "
            "(the key's variable for a server)",
        )
    return value


def _server(value: str) -> str:
    try:
        address = urlsplit(value)
        is_address = address.scheme in ("http", "https") and bool(address.hostname)
        _ = address.port
    except ValueError:
        is_address = False
    if not is_address or address.query:
        such_as = f"such as {OPENAI_URL} or http://localhost:8000/v1"
        raise PydanticCustomError(CONFIDENTIAL, f"is not a plain address; give one {such_as}")
    return _without_password(value)


def checked_body(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse an unusable body, without showing a possible key."""
    fault = None
    if doubled := sorted(_STATED_APART & set(value)):
        fault = f"holds {', '.join(doubled)}; use the settings of that name"
    elif unusable := sorted(_UNUSABLE_FIELDS & set(value)):
        fault = f"holds {', '.join(unusable)}; one whole answer is read for a prompt"
    elif (secret := _secret_in(value)) is not None:
        fault = (
            f"holds what looks like a key ({secret}); what is sent is kept, so give keys by the "
            "environment variable that api_key_env names"
        )
    if fault is not None:
        raise PydanticCustomError(CONFIDENTIAL, "{fault}", {"fault": fault})
    return value


def _secret_in(value: object, name: str = "") -> str | None:
    if isinstance(value, str):
        is_named = bool(value) and _SECRET_NAME.fullmatch(name)
        return name if is_named or _SECRET_VALUE.search(value) else None
    parts: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        parts = [(str(key), part) for key, part in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(name, part) for part in value]
    for key, part in parts:
        secret = _secret_in(part, key)
        if secret:
            return secret
    return None


def _listed_names(value: object) -> object:
    if isinstance(value, str):
        return tuple(split_names(value))
    return tuple(value) if isinstance(value, list) else value


def _omitted(value: tuple[str, ...]) -> tuple[str, ...]:
    if needed := sorted(NEEDED_FIELDS & set(value)):
        fault = f"holds {', '.join(needed)}, which every request needs"
        raise PydanticCustomError("omit", "{fault}", {"fault": fault})
    return value


Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_listed_names),
    WithJsonSchema({"type": ["array", "string"], "items": {"type": "string"}}),
]
Address = Annotated[str, AfterValidator(_without_password)]
Server = Annotated[str, AfterValidator(_server)]
Variable = Annotated[str, AfterValidator(_name_of_variable)]


class SettingUse(NamedTuple):
    """Use of a setting, as metadata of its field.

    Attributes:
        replies: ``value`` or ``file`` (that it names) if replies depend on it, else ``not``.
        plans_pairs: Whether it plans which pairs are judged.
    """

    replies: Literal["value", "file", "not"]
    plans_pairs: bool = False
    is_of_llm: bool = False


_REPLY = SettingUse("value", is_of_llm=True)
_SERVER = SettingUse("not", is_of_llm=True)
_CALL = SettingUse("not")


class LlmSettings(BaseModel):
    """Settings of asking a model, in Python, on the command line and in TOML.

    ``model``, ``temperature``, ``max_tokens``, ``body`` and ``omit`` may change a reply and are
    part of its key in a store.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    model: Annotated[str, _REPLY] = Field(
        default="",
        description="Name of a model on the server, or folder of a model to run here.",
    )
    base_url: Annotated[Server, _SERVER] = Field(
        default=OPENAI_URL, description="OpenAI-compatible server, up to /v1."
    )
    api_key_env: Annotated[Variable | None, _SERVER] = Field(
        default=OPENAI_KEY, description="Environment variable that holds the key."
    )
    temperature: Annotated[float | None, _REPLY] = Field(
        default=0.0, ge=0, description="Randomness; if a model accepts none, omit = temperature."
    )
    max_tokens: Annotated[int | None, _REPLY] = Field(
        default=1024, ge=1, description="Maximum length of a reply in tokens."
    )
    body: Annotated[dict[str, Any], AfterValidator(checked_body), _REPLY] = Field(
        default_factory=dict, description="Further fields of the request, such as top_p."
    )
    omit: Annotated[Names, AfterValidator(_omitted), _REPLY] = Field(
        default=(),
        description="Fields of the request to leave out, such as temperature or top_p.",
    )
    concurrency: Annotated[int, _CALL] = Field(
        default=8, ge=1, le=MOST_CONNECTIONS, description="Maximum number of calls at a time."
    )
    timeout_s: Annotated[float, _CALL] = Field(
        default=60.0, gt=0, description="Timeout of a call in seconds."
    )
    retries: Annotated[int, _CALL] = Field(
        default=5,
        ge=0,
        description="Maximum number of retries of a call after temporary failures.",
    )
    max_calls: Annotated[int | None, _CALL] = Field(
        default=None,
        ge=0,
        description="Maximum number of calls in a run, besides retries; the next run continues.",
    )
    batch: Annotated[bool, _SERVER] = Field(
        default=False,
        description="Send all calls as batches, which servers answer within a day, often for "
        "less; run the same command again to collect the replies.",
    )
    store: Annotated[Address | None, _CALL] = Field(
        default=None, description="SQLite file that keeps every reply."
    )
    any_model: Annotated[bool, _CALL] = Field(
        default=False, description="Accept replies from a different model."
    )

    path: ClassVar[str] = CHATS

    _where: str = PrivateAttr(default="")
    _transport: Any = PrivateAttr(default=None)

    def __hash__(self) -> int:
        return hash((self.model_dump_json(), self._where))

    @property
    def where(self) -> str:
        """Return the server's address, or the place of the function that answers."""
        return self._where or self.base_url

    @property
    def transport(self) -> Any:  # noqa: ANN401 - of a stage above
        """Return what answers in a server's place, if anything."""
        return self._transport

    def handled_by(self, transport: object, where: str, model: str) -> Self:
        """Return settings for what answers in a server's place."""
        stated: dict[str, Any] = {
            "api_key_env": None,
            "temperature": None,
            "max_tokens": None,
            "body": {},
            "omit": (),
        }
        handled = self.model_copy(update={"model": model, **stated})
        handled._where = where
        handled._transport = transport
        return handled

    def with_defaults(self, fields: Mapping[str, Any]) -> Self:
        """Return settings with values for fields that they do not state."""
        settings = {
            name: value
            for name, value in fields.items()
            if name in _STATED_APART and name not in self.model_fields_set
        }
        body = {name: value for name, value in fields.items() if name not in _STATED_APART}
        return self.model_copy(update={**settings, "body": {**body, **self.body}})

    def sending(self, **fields: object) -> Self:
        """Return settings with further fields of the request; None removes one."""
        body = {name: value for name, value in {**self.body, **fields}.items() if value is not None}
        return self.model_copy(update={"body": body})

    def fields(self) -> dict[str, object]:
        """Return the request's fields, without messages and those to ``omit``."""
        fields: dict[str, object] = {"model": self.model, **self.body}
        if self.temperature is not None:
            fields["temperature"] = self.temperature
        if self.max_tokens is not None and self.body.get("max_completion_tokens") is None:
            fields["max_tokens"] = self.max_tokens
        return {
            name: value
            for name, value in fields.items()
            if value is not None and name not in self.omit
        }

    def refuse_key(self, content: str) -> None:
        """Refuse (UsageError) to send, and so to keep, the key itself."""
        key = os.environ.get(self.api_key_env or "", "").strip()
        if len(key) >= 8 and json.dumps(key, ensure_ascii=False)[1:-1] in content:
            raise UsageError(
                f"a prompt or a setting holds the key of {self.api_key_env}; what is sent is kept, "
                "so take the key out of it"
            )

    def api_key(self) -> str:
        """Read the key from the environment, or return a placeholder for a local server.

        Raises:
            UsageError: If it is not set for a remote server, or no header can hold it.
        """
        if self.api_key_env is None or self._transport is not None:
            return "none"
        key = os.environ.get(self.api_key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                f"the key in {self.api_key_env} has a character that cannot be sent, such as … or "
                "a line break; copy the whole key again"
            )
        if key:
            return key
        if urlsplit(self.base_url).hostname in _LOCAL_HOSTS:
            return "none"
        raise UsageError(
            f"there is no key for {self.base_url}: set the environment variable "
            f"{self.api_key_env} (to anything, for a server without keys), or name another one "
            f"with {argument('api_key_env')}"
        )


class EmbeddingSettings(LlmSettings):
    """Settings of a model that embeds texts."""

    temperature: None = None
    max_tokens: None = None

    path: ClassVar[str] = EMBEDDINGS


def fields_by_use(settings: type[LlmSettings], **wanted: object) -> frozenset[str]:
    """Return the fields whose ``SettingUse`` has these values."""
    names: set[str] = set()
    for name, field in settings.model_fields.items():
        uses = [part for part in field.metadata if isinstance(part, SettingUse)]
        if len(uses) != 1:
            raise ValueError(f"{settings.__name__}.{name} needs one SettingUse: {uses}")
        if all(getattr(uses[0], attribute) == value for attribute, value in wanted.items()):
            names.add(name)
    return frozenset(names)
