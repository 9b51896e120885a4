"""The batches whose replies are awaited, and their requests, in the file of the store.

A request is written before it is sent, in one batch at a time: a killed run neither loses nor
repeats it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.llm.llm_settings import LlmSettings
from arena.llm.replies import Completion
from arena.llm.requests import Request, request_of_content
from arena.llm.store import Store, save_completion

ROWS_AT_A_TIME = 500
_OF_KEYS = "key IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class NotedBatch:
    """A batch, with the server's names so far."""

    number: int
    path: str
    file_id: str | None
    batch_id: str | None


class BatchLedger:
    """Batches of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def batches(self, settings: LlmSettings) -> list[NotedBatch]:
        """Return a model's batches at a server, the oldest first."""
        query = """
            SELECT batch, path, file_id, batch_id FROM batches
            WHERE base_url = ? AND model = ? ORDER BY batch
        """
        with self._store.transaction() as connection:
            rows = connection.execute(query, (settings.base_url, settings.model)).fetchall()
        return [NotedBatch(*row) for row in rows]

    def servers(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the server at which each request is awaited, by key."""
        query = f"""
            SELECT key, base_url FROM batch_requests JOIN batches USING (batch) WHERE {_OF_KEYS}
        """  # noqa: S608  (constants of this file)
        with self._store.transaction() as connection:
            return dict(map(tuple, connection.execute(query, (json.dumps(keys),))))

    def add_batch(self, settings: LlmSettings) -> int:
        """Note a batch to be sent; return its number."""
        query = "INSERT INTO batches (base_url, model, path) VALUES (?, ?, ?)"
        with self._store.transaction("IMMEDIATE") as connection:
            cursor = connection.execute(query, (settings.base_url, settings.model, settings.path))
            return int(cursor.lastrowid or 0)

    def add_requests(
        self, number: int, requests: Sequence[Request], tries: Mapping[str, int]
    ) -> None:
        """Note requests to be sent; ``tries`` counts earlier ones by key."""
        rows = [
            (request.key, number, request.version, request.content, tries.get(request.key, 0) + 1)
            for request in requests
        ]
        with self._store.transaction("IMMEDIATE") as connection:
            connection.executemany("INSERT INTO batch_requests VALUES (?, ?, ?, ?, ?)", rows)

    def note_file(self, number: int, file_id: str) -> None:
        """Note that the requests were uploaded."""
        with self._store.transaction("IMMEDIATE") as connection:
            connection.execute("UPDATE batches SET file_id = ? WHERE batch = ?", (file_id, number))

    def note_batch(self, number: int, batch_id: str) -> None:
        """Note that the batch was created."""
        with self._store.transaction("IMMEDIATE") as connection:
            connection.execute(
                "UPDATE batches SET batch_id = ? WHERE batch = ?", (batch_id, number)
            )

    def requests(self, batch: NotedBatch) -> Iterator[tuple[Request, int]]:
        """Yield a batch's requests without a reply, and their tries."""
        query = "SELECT * FROM batch_requests WHERE batch = ? AND key > ? ORDER BY key LIMIT ?"
        last_key = ""
        while True:
            with self._store.transaction() as connection:
                values = (batch.number, last_key, ROWS_AT_A_TIME)
                rows = connection.execute(query, values).fetchall()
            if not rows:
                return
            last_key = rows[-1]["key"]
            for row in rows:
                yield _request(row, batch), row["tries"]

    def find(self, batch: NotedBatch, keys: Sequence[str]) -> dict[str, tuple[Request, int]]:
        """Return those requests that await a reply, and their tries."""
        query = f"SELECT * FROM batch_requests WHERE batch = ? AND {_OF_KEYS}"  # noqa: S608
        with self._store.transaction() as connection:
            rows = connection.execute(query, (batch.number, json.dumps(keys))).fetchall()
        return {row["key"]: (_request(row, batch), row["tries"]) for row in rows}

    def settle(self, completions: Sequence[tuple[Request, Completion, int]]) -> None:
        """Store completions and take their requests off the ledger, at once."""
        keys = [request.key for request, _, _ in completions]
        with self._store.transaction("IMMEDIATE") as connection:
            for request, completion, tries in completions:
                save_completion(connection, request, completion, tries)
            connection.execute(
                f"DELETE FROM batch_requests WHERE {_OF_KEYS}",  # noqa: S608
                (json.dumps(keys),),
            )

    def drop(self, number: int) -> None:
        """Drop a batch; unanswered requests count as not sent."""
        with self._store.transaction("IMMEDIATE") as connection:
            connection.execute("DELETE FROM batch_requests WHERE batch = ?", (number,))
            connection.execute("DELETE FROM batches WHERE batch = ?", (number,))


def _request(row: sqlite3.Row, batch: NotedBatch) -> Request:
    return request_of_content(row["request"], row["version"], batch.path)
