"""What the tests of the client ask, and where; what a store keeps."""

import json
import sqlite3
from contextlib import closing

from arena.llm import LlmSettings, Prompt

SETTINGS = LlmSettings(model="m")


def at(server, settings=SETTINGS, **fields):
    """Return settings that ask a server of the tests, which is quick to give up."""
    quick = {"timeout_s": 5.0, "api_key_env": None}
    return settings.model_copy(update={"base_url": server.url} | quick | fields)


def prompts(count):
    return [Prompt.of(f"question {number}") for number in range(count)]


def kept(store):
    """Return a store's rows, each with the fields of its reply."""
    with closing(sqlite3.connect(store.path)) as connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM calls ORDER BY key").fetchall()
    return [json.loads(row["reply"]) | dict(row) for row in rows]
