"""What to do where a disk is full or a folder read-only."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena.data.writing import disk_advice

ROOM = "make room on the disk, then repeat"


def test_a_full_disk_asks_for_room(tmp_path):
    with pytest.raises(OSError, match="No space left") as caught:
        Path("/dev/full").write_text("x")
    assert disk_advice(caught.value, tmp_path) == ROOM
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError, match="is full") as of_sqlite:
            connection.execute("CREATE TABLE t (x)")
    assert disk_advice(of_sqlite.value, tmp_path) == ROOM


def test_a_read_only_place_is_named(tmp_path, monkeypatch):
    refused = PermissionError(13, "Permission denied")
    assert disk_advice(refused, tmp_path / "x") == ""
    access = os.access
    # The tests may run as root, who may write everywhere.
    monkeypatch.setattr("os.access", lambda place, mode: mode != os.W_OK and access(place, mode))
    expected = f"{tmp_path} is read-only: make it writable, or write elsewhere"
    for path in (tmp_path / "x", tmp_path / "no" / "x"):
        assert disk_advice(refused, path) == expected
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path / "no" / "x")
    assert disk_advice(caught.value, tmp_path / "x") == expected
    assert disk_advice(FileNotFoundError(2, "No such file"), tmp_path / "x") == ""
