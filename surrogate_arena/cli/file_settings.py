"""Settings of calls that stand in a file, which somebody else may have written."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

from arena.data.errors import UsageError
from arena.data.files import resolved
from arena.llm.llm_settings import OPENAI_URL, URL_VARIABLE, LlmSettings

Settings = TypeVar("Settings", bound=LlmSettings)

KEY_ENDING = "_API_KEY"
"""End of the names of variables that a file may name: their values are sent to a server."""
PATHS = ("store", "template", "prior")


def checked_settings(
    settings: Settings, folders: Mapping[str, Path], servers: Collection[str] = ()
) -> Settings:
    """Return settings with the paths of files in place; those are below the file's folder.

    Raises:
        UsageError: If a file names another variable than those of keys, a server that the user
            has not named, or a path outside its folder.
    """
    variable = settings.api_key_env
    if "api_key_env" in folders and variable and not variable.endswith(KEY_ENDING):
        raise UsageError(
            f"a file may name variables that end in {KEY_ENDING} alone, not {variable}: their "
            "values are sent away; keep the server's key in such a variable"
        )
    server = settings.base_url
    named = {OPENAI_URL, os.environ.get(URL_VARIABLE), *servers}
    if "base_url" in folders and server not in named:
        raise UsageError(
            f"a file names the server {server}, which would get texts and the key; if you trust "
            f"it, add --base-url {server}"
        )
    paths: dict[str, object] = {}
    for name in PATHS:
        if name in folders and getattr(settings, name):
            paths[name] = str(path_below(folders[name], getattr(settings, name)))
    return settings.model_copy(update=paths)


def path_below(folder: Path, name: Path | str) -> Path:
    """Return a path below a folder, links resolved."""
    root = resolved(folder)
    path = resolved(root / name)
    links = [inner for inner in path.rglob("*") if inner.is_symlink()]
    for place in (path, *map(resolved, links)):
        if not place.is_relative_to(root):
            raise UsageError(f"{str(name)!a} is outside {root}; name a path below it")
    return path
