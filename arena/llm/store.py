"""Every result of every call, kept as it arrives, in SQLite or PostgreSQL."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import sqlalchemy as sa

from arena.data.errors import MissingDependencyError, UsageError
from arena.llm import store_claims, store_rows
from arena.llm.settings import Request
from arena.llm.store_claims import Claim, claim, export_jsonl, export_table, look_up, summary
from arena.llm.store_rows import CLAIMED, OPEN, Result, calls, open_engine, reading

_KEYS_A_QUERY = 500


class Store:
    """Results of calls by request, shared by any number of runs, processes and (PostgreSQL) hosts.

    A request is open, claimed by a run, or done. A run that ends or dies gives its claims back; a
    result that is final stays as it is. Open it by ``arena.llm.open_store``.
    """

    def __init__(self, url: sa.URL) -> None:
        self._engine = open_engine(url)
        self._dialect = self._engine.dialect.name
        self._one_writer = threading.Lock()

    def __repr__(self) -> str:
        return f"Store({self._engine.url.render_as_string(hide_password=True)!r})"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def enter(self) -> str:
        """Register a run that will claim requests; returns its name."""
        with self._writing() as connection:
            return store_claims.enter(connection, self._dialect)

    def renew(self, owner: str) -> None:
        """Say that a run is alive; to be called more often than ``owners.LEASE_S``."""
        with self._writing() as connection:
            store_claims.renew(connection, self._dialect, owner)

    def leave(self, owner: str) -> None:
        """End a run: what it claimed and did not finish is open again."""
        unfinished = (calls.c.owner == owner) & (calls.c.state == CLAIMED)
        with self._writing() as connection:
            connection.execute(sa.update(calls).where(unfinished).values(state=OPEN))
            store_claims.leave(connection, owner)

    def claim(self, owner: str, requests: Sequence[Request], model: str) -> dict[str, Claim]:
        """Claim requests for a run, which is alive by that; see ``arena.llm.claims``."""
        with self._writing() as connection:
            store_claims.renew(connection, self._dialect, owner)
            return claim(connection, self._dialect, owner, requests, model)

    def look_up(self, keys: Sequence[str]) -> dict[str, Result]:
        """Return the final results among these requests, by key."""
        found: dict[str, Result] = {}
        with self._reading() as connection:
            for start in range(0, len(keys), _KEYS_A_QUERY):
                found |= look_up(connection, keys[start : start + _KEYS_A_QUERY])
        return found

    def save(self, owner: str, results: Sequence[Result]) -> None:
        """Write results of claimed requests, all or none.

        A final one is written whoever holds the claim by now, unless there is a final one already.
        """
        with self._writing() as connection:
            store_rows.save(connection, owner, results)

    def save_parsed(self, results: Sequence[Result]) -> None:
        """Write what a changed parser reads from answers that are there already."""
        if results:
            with self._writing() as connection:
                store_rows.save_parsed(connection, results)

    def stats(self) -> pd.DataFrame:
        """Count the store's rows.

        Returns:
            One row per model, state and failure: ``rows``, ``tries`` (calls sent), ``tokens_in``,
            ``tokens_out`` (sums) and ``latency_s`` (mean).
        """
        with self._reading() as connection:
            return summary(connection)

    def export(self) -> pd.DataFrame:
        """Return every row, in the order of keys, without the claims' owners."""
        with self._reading() as connection:
            return export_table(connection)

    def export_jsonl(self, path: str | Path) -> int:
        """Write every row as a line of JSON, compressed where the name ends in .gz or .zst.

        Returns:
            The number of lines.

        Raises:
            UsageError: If the folder does not exist.
        """
        with self._reading() as connection:
            return export_jsonl(connection, Path(path))

    def verify(self) -> int:
        """Check the database, and every row against its key and its digest.

        Returns:
            The number of rows.

        Raises:
            DataError: If something does not hold, with all problems.
        """
        with self._reading() as connection:
            return store_claims.verify(connection, self._dialect)

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._one_writer, self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with reading(self._engine).begin() as connection:
            yield connection


if TYPE_CHECKING:
    pass

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

    pass

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
