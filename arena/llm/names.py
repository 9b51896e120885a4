"""Names of models: is the one that answered the one that was asked?"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

_TAG = re.compile(r":[a-z0-9._-]+\Z|\.gguf\Z")
"""How a model is run, where, or how large it is: ``:free``, ``:8b``, ``:together``, ``.gguf``."""
_VERSION = re.compile(
    r"-(?:\d{3,8}|(?:(?:preview|exp)-)?\d\d-\d{2,4}|20\d\d-\d\d-\d\d|latest|i?q\d_\w{1,6}|b?f16)"
)
"""What a server adds to the name of a model: its date, its number, how its weights are stored."""
_DEPLOYMENT_HOST = re.compile(
    r"(?:\A|\.)(?:openai\.azure\.(?:com|us|cn)|services\.ai\.azure\.com|cognitiveservices\.azure"
    r"\.(?:com|us|cn)|azure-api\.net)\Z"
)


def is_same_model(asked: str, served: str) -> bool:
    """Return whether a model that answered is the one asked.

    ``gpt-4o`` is answered by ``gpt-4o-2024-08-06``, ``openai/gpt-4o:nitro`` by ``gpt-4o``,
    ``llama3.1`` by ``llama3.1:8b``; ``gpt-4o`` is not by ``gpt-4o-mini``.
    """
    asked_tag, asked_name = _tag_and_name(asked)
    served_tag, served_name = _tag_and_name(served)
    if asked_tag and served_tag and asked_tag != served_tag:
        return False
    if not asked_name or not served_name.startswith(asked_name):
        return False
    added = served_name.removeprefix(asked_name)
    return not added or _VERSION.fullmatch(added) is not None


def _tag_and_name(name: str) -> tuple[str, str]:
    last = re.split(r"[/\\]", name.strip().casefold())[-1]
    tag = _TAG.search(last)
    if tag is None:
        return "", last.removesuffix("-latest")
    return tag[0].replace(".gguf", ""), last[: tag.start()]


def is_file_name(served: str) -> bool:
    """Return whether a server names its only model's file."""
    return served.casefold().endswith(".gguf") or Path(served).is_absolute()


def names_deployments(base_url: str) -> bool:
    """Return whether users name a server's models, as at Azure."""
    return _DEPLOYMENT_HOST.search((urlsplit(base_url).hostname or "").casefold()) is not None
