"""``surrogate-arena check`` of a store of replies."""

import json
import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion
from llm_requests import at, prompts

from arena.llm import Llm, ask_table, open_store, read_text


@pytest.fixture
def store_file(tmp_path):
    path = tmp_path / "replies.sqlite"
    with ChatServer(lambda *_: completion("[[A]]")) as server, open_store(path) as store:
        ask_table(prompts(5), lambda row: row, read_text, Llm(at(server), store))
    return path


def test_replies_are_counted(run, store_file, capsys):
    assert run("check", store_file, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["model"], row["rows"]) for row in told["replies"]] == [("m", 5)]


def test_damage_is_found(run, store_file, capsys):
    with closing(sqlite3.connect(store_file)) as connection, connection:
        connection.execute("UPDATE calls SET reply = '[[B]]'")
    assert run("check", store_file) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_a_file_of_somebody_else_stays_as_it_is(run, tmp_path, capsys):
    (tmp_path / "notes").touch()
    assert run("check", tmp_path / "notes") == 2
    assert "it is empty" in capsys.readouterr().err
    assert (tmp_path / "notes").read_bytes() == b""
