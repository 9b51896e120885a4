"""What a value depends on besides its answer: the code that measures it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from features.declare.feature import Feature

_OWN = ("arena", "features")


def code_digest(features: Iterable[Feature]) -> str:
    """Return a digest of all code that some features run, libraries by their versions."""
    modules = {feature.measurement.__module__ for feature in features}
    return _digest(source_digest(module) for module in sorted(modules))


def is_own(feature: Feature) -> bool:
    """Whether the code of a feature is this distribution's; what a user's does may change."""
    module = getattr(feature.measurement, "__module__", None) or ""
    return str(module).partition(".")[0] in _OWN


@lru_cache(maxsize=256)
def source_digest(module: str) -> str:
    """Return a digest of a module's source, of all it imports of ours, and of their libraries."""
    sources: dict[str, str] = {}
    libraries: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        package = name.partition(".")[0]
        if package not in _OWN:
            libraries.add(package)
        elif name not in sources:
            sources[name] = _source(name)
            todo.extend(_imported(sources[name]))
    versions = (f"{library}={_version(library)}" for library in sorted(libraries))
    return _digest([*(sources[name] for name in sorted(sources)), *versions])


def _imported(source: str) -> Iterator[str]:
    """Yield the modules that a source imports, also within functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _source(module: str) -> str:
    spec = find_spec(module)
    return "" if spec is None or spec.origin is None else Path(spec.origin).read_text("utf-8")


def _version(library: str) -> str:
    if library in sys.stdlib_module_names:
        return "standard"
    try:
        return version(library)
    except PackageNotFoundError:
        return "absent"


def _digest(parts: Iterable[str]) -> str:
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()
