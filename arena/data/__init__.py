"""Formats: the arena's tables and files, and what is wrong with them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

LazyNames = tuple[Callable[[str], object], Callable[[], list[str]], list[str]]


def lazy_names(package: str, file: str) -> LazyNames:
    """Return ``__getattr__, __dir__, __all__`` of a package from the stub beside ``file``.

    The stub holds lines ``from MODULE import NAME as NAME``; nothing is imported before it is asked
    for.
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes: dict[str, str] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            homes.update({alias.name: module for alias in node.names})

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"No {package} attribute {name}")
        home = homes[name]
        if home == package:  # a folder or file of the package itself
            return import_module(f"{package}.{name}")
        loaded = getattr(import_module(home), name)
        setattr(import_module(package), name, loaded)
        return loaded

    def names() -> list[str]:
        return sorted(homes)

    return load, names, names()


def __getattr__(name: str) -> str:
    """Return the installed version."""
    from importlib import metadata

    if name != "__version__":
        raise AttributeError(name)
    try:
        globals()[name] = version = metadata.version("surrogate-arena")  # asked for once
    except metadata.PackageNotFoundError:  # of files that nothing has installed
        return "0.0.0"
    return version
