"""``surrogate-arena store`` as a user runs it."""

import json
import sqlite3

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion

from arena.llm import Llm, LlmSettings, Prompt, ask_table, open_store, read_text


@pytest.fixture
def store_file(tmp_path):
    path = tmp_path / "replies.sqlite"
    with ChatServer(lambda *_: completion("[[A]]")) as server, open_store(path) as store:
        prompts = [Prompt.of(f"question {n}") for n in range(5)]
        settings = LlmSettings(model="m", base_url=server.url, api_key_env=None)
        llm = Llm(settings, store)
        assert ask_table(prompts, lambda row: row, read_text, llm).values == ["[[A]]"] * 5
    return path


def test_stats_count_replies(run, store_file, capsys):
    assert run("store", "stats", store_file, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["model"], row["state"], row["rows"]) for row in rows] == [("m", "done", 5)]
    assert run("store", "stats", store_file) == 0
    assert "Replies in the store" in capsys.readouterr().out


def test_verify_finds_what_was_changed(run, store_file, capsys):
    assert run("store", "verify", store_file) == 0
    assert "5 rows checked: sound" in capsys.readouterr().out
    with sqlite3.connect(store_file) as connection:
        connection.execute("UPDATE calls SET reply = '[[B]]'")
    connection.close()
    assert run("store", "verify", store_file) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["stats", "verify"])
def test_a_store_is_never_made_by_looking(run, tmp_path, capsys, command):
    assert run("store", command, tmp_path / "absent.sqlite") == 2
    assert "there is no store at" in capsys.readouterr().err
    assert not (tmp_path / "absent.sqlite").exists()
