"""Names of models: whether the one that answered is the one that was asked."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

_VERSION = re.compile(
    r"-(?:\d{3,8}|\d{8}-v\d{1,2}|(?:(?:preview|exp)-)?\d\d-\d{2,4}|v\d{1,2})"
    r"|[-.:](?:i?q\d_\w{1,6}|b?f16|fp16)"  # how a file's weights are stored
)
_SIZE = re.compile(r":(?=\d{1,4}(?:[.]\d{1,2})?b(?:-|\Z))")
_REGION = re.compile(r"\A(?:us|eu|ap|apac|jp|au|ca|sa|uk|me|af|us-gov|global)\.(?=[a-z0-9]+\.)")
_PROVIDER = re.compile(
    r"\A(?:anthropic|meta|amazon|mistral|cohere|ai21|deepseek|openai|qwen|google|writer|nvidia"
    r"|moonshotai?|minimax|zai|stability|luma|twelvelabs)\.(?=[a-z])"
)
_BEDROCK_VERSION = re.compile(r"-v\d{1,2}:\d{1,2}(?::\w{1,5})?\Z")
_VARIANT = re.compile(
    r"(?:[-:]latest|:fastest|:cheapest|:free|:nitro|:floor|:online|:thinking|:extended|:beta|:exacto|:default|\.gguf)\Z"
)
_HOST = re.compile(r"(.+/.+):[a-z]+(?:-[a-z]+)*")
"""``org/model:together``: a router is told which host to ask, and mostly answers without it."""
_DATE = re.compile(r"(?<=[-@])(20\d\d)-(\d\d)-(\d\d)(?!\d)")
_POINT = re.compile(r"(?<=\d)[.](?=\d)")
_AZURE_GPT_35 = re.compile(r"\A(gpt)-35(?=-|\Z)")
_DEPLOYMENT_HOST = re.compile(
    r"(?:\A|\.)(?:openai\.azure\.(?:com|us|cn)|services\.ai\.azure\.com|cognitiveservices\.azure"
    r"\.(?:com|us|cn)|azure-api\.net)\Z"
)


def is_same_model(asked: str, served: str) -> bool:
    """Return whether a model that answered is the one asked, as endpoints write names.

    ``gpt-4o`` is answered by ``gpt-4o-2024-08-06``, ``openai/gpt-4o:nitro`` by ``gpt-4o``,
    ``gpt-35-turbo`` (of Azure) by ``gpt-3.5-turbo-0125``, ``mistral-large-latest`` by
    ``mistral-large-2411``, ``claude-sonnet-4-0`` and ``us.anthropic.claude-sonnet-4-20250514-v1:0``
    by ``claude-sonnet-4-20250514``, ``llama3.1`` by ``llama3.1:8b``, ``org/m:together`` by
    ``m``; ``gpt-4o`` is not by ``gpt-4o-mini``.
    """
    if _is_with_tag(asked, served):
        return True
    with_host = _HOST.fullmatch(asked.strip().casefold())
    if with_host is not None and ":" not in served:
        asked = with_host[1]
    asked_name = _plain_name(asked)
    served_name = _plain_name(served)
    if served_name == asked_name:
        return True
    if not asked_name or not served_name.startswith(asked_name):
        return False
    return _VERSION.fullmatch(served_name.removeprefix(asked_name)) is not None


def _is_with_tag(asked: str, served: str) -> bool:
    """Return whether a server added the default tag to a name without one, as Ollama does."""
    name, colon, tag = served.strip().casefold().rpartition(":")
    return bool(colon and tag) and name == asked.strip().casefold()


def is_file_name(served: str) -> bool:
    """Return whether a server names the file it runs: it has one model, and knows no other name."""
    return served.casefold().endswith(".gguf") or Path(served).is_absolute()


def names_deployments(base_url: str) -> bool:
    """Return whether models have names at a server that its users choose, as at Azure."""
    return _DEPLOYMENT_HOST.search((urlsplit(base_url).hostname or "").casefold()) is not None


def _plain_name(name: str) -> str:
    """Return a name without what says where or how it is run, in one way of writing."""
    plain = re.split(r"[/\\]", name.strip().casefold())[-1]
    plain = _PROVIDER.sub("", _REGION.sub("", plain))
    plain = _BEDROCK_VERSION.sub("", plain)
    stripped = _VARIANT.sub("", plain)
    while stripped != plain:
        plain, stripped = stripped, _VARIANT.sub("", stripped)
    plain = _DATE.sub(r"\1\2\3", plain)
    plain = _AZURE_GPT_35.sub(r"\1-3.5", plain)
    plain = _SIZE.sub("-", plain)
    plain = _POINT.sub("-", plain).replace("@", "-")
    return _claude_name(plain) if plain.startswith("claude-") else plain


def _claude_name(plain: str) -> str:
    """Write ``claude-4-sonnet``, ``claude-sonnet-4-0`` and ``claude-sonnet-4`` in one way."""
    parts = plain.split("-")
    words = sorted(part for part in parts[1:] if not part.isdecimal())
    versions = [part for part in parts if part.isdecimal() and len(part) < 3]
    dates = [part for part in parts if part.isdecimal() and len(part) >= 3]
    if len(versions) == 2 and versions[1] == "0":
        versions.pop()
    return "-".join(["claude", *words, *versions, *dates])
