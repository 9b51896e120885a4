"""Tables of the store, and the statements that differ between SQLite and PostgreSQL."""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

SCHEMA_VERSION = 1

OPEN = "open"
CLAIMED = "claimed"
DONE = "done"

metadata = sa.MetaData()

info = sa.Table("store_info", metadata, sa.Column("version", sa.Integer, primary_key=True))

calls = sa.Table(
    "calls",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("prompt_version", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("text", sa.Text),
    sa.Column("finish_reason", sa.Text),
    sa.Column("refusal", sa.Text),
    sa.Column("served_model", sa.Text),
    sa.Column("tokens_in", sa.Integer),
    sa.Column("tokens_out", sa.Integer),
    sa.Column("latency_s", sa.Double),
    sa.Column("logprobs", sa.Text),
    sa.Column("failure", sa.Text),
    sa.Column("detail", sa.Text),
    sa.Column("parsed", sa.Text),
    sa.Column("tries", sa.Integer, nullable=False, default=0),
    sa.Column("digest", sa.String(64)),
)

owners = sa.Table(
    "owners",
    metadata,
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("alive_until", sa.Double, nullable=False),
)

_CLOCKS = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
    "postgresql": "extract(epoch from clock_timestamp())",
}


def clock(dialect: str) -> sa.ColumnElement[float]:
    """Return the database's own clock, in seconds: machines that share it may disagree."""
    return sa.literal_column(_CLOCKS[dialect], sa.Double)


@cache
def insert_unless_there(table: sa.Table, dialect: str) -> Any:  # noqa: ANN401
    """Return an insert that leaves rows alone whose key is there already."""
    insert: Any = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing()
