"""The Hugging Face hub, and digests of the large files that come from it."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from arena.data.errors import MissingDependencyError
from arena.data.files import file_digest


def hub(purpose: str, extra: str) -> ModuleType:
    """Return the package huggingface_hub, with its telemetry switched off."""
    if find_spec("huggingface_hub") is None:
        raise MissingDependencyError(purpose, "huggingface-hub", extra)
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    return import_module("huggingface_hub")


def model_file_digest(path: Path) -> str:
    """Digest a file of gigabytes, once while it stays unchanged."""
    stat = path.stat()
    return _digest_once(path.resolve(), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1024)
def _digest_once(path: Path, _changed_ns: int, _size: int) -> str:
    return file_digest(path)
