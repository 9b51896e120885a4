"""Opening a store by path or URL."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from arena.llm.store import Store

_SERVERS = ("postgresql://", "postgres://", "postgresql+psycopg://")


def open_store(where: str | Path) -> Store:
    """Open a store, and make it where there is none.

    Args:
        where: Path of an SQLite file on a local disk, or ``postgresql://user@host/database``.

    Returns:
        The store; close it, or use it in a ``with`` block.

    Raises:
        MissingDependencyError: If SQLAlchemy or the server's driver is not installed.
        UsageError: If the folder or the database does not exist, or something else is in it.
    """
    _require("sqlalchemy", "keeping the results of LLM calls", "llm")
    from sqlalchemy import URL, make_url

    from arena.llm.store import Store

    text = str(where)
    if text.startswith(_SERVERS):
        _require("psycopg", "a store on PostgreSQL", "postgres")
        return Store(make_url(text).set(drivername="postgresql+psycopg"))
    if "://" in text:
        scheme = text.partition("://")[0]
        raise UsageError(
            f"there are no stores at {scheme} URLs; give a path or a postgresql:// URL"
        )
    path = Path(where)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the store {path.name} in")
    return Store(URL.create("sqlite", database=str(path)))


def _require(package: str, purpose: str, extra: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise MissingDependencyError(purpose, package, extra)
