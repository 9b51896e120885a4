"""Batches at a server of the tests' own: sent once, fetched later, and what goes wrong."""

import json

import pytest
from llm_requests import at

pytest.importorskip("openai", reason="needs the extra llm")

from batch_server import BatchServer, answered, refused_line

from arena import UsageError
from arena.llm import Prompt, ask_table, open_store, read_text
from arena.llm.ask import Llm
from arena.llm.batch import run_batches
from arena.llm.usage import Budget

ROWS = [f"question {n}" for n in range(5)]


@pytest.fixture
def server():
    with BatchServer() as opened:
        yield opened


@pytest.fixture
def look(server, tmp_path):
    def look(rows=ROWS, **options):
        with open_store(tmp_path / "store.sqlite") as store:
            return run_batches(
                map(Prompt.of, rows),
                at(server, retries=0),
                store,
                tmp_path / "batches.json",
                **options,
            )

    return look


def stored(server, tmp_path):
    """What is answered from the store alone."""
    with open_store(tmp_path / "store.sqlite") as store:
        llm = Llm(at(server), store, Budget(0))
        return ask_table(ROWS, Prompt.of, read_text, llm).values


def test_a_batch_is_sent_once_and_fetched_by_a_later_run(look, server, tmp_path):
    first = look()
    assert (first.submitted, first.waiting, first.received) == (5, 5, 0)
    assert first.batches == {"batch-0": "in_progress"}
    rows = server.sent("batch-0")
    assert {row["url"] for row in rows} == {"/v1/chat/completions"}
    assert [row["body"]["messages"][0]["content"] for row in rows] == ROWS
    assert {row["body"]["model"] for row in rows} == {"m"}
    assert server.batches["batch-0"]["endpoint"] == "/v1/chat/completions"
    again = look()
    assert (again.submitted, again.waiting) == (0, 5)
    more = look([*ROWS, "another"])
    assert (more.submitted, more.waiting) == (1, 6)
    server.end("batch-0", lambda key: answered(key, f"of {key[:4]}"))
    server.end("batch-1")
    done = look()
    assert (done.received, done.waiting, done.submitted) == (6, 0, 0)
    assert not (tmp_path / "batches.json").exists()
    keys = [row["custom_id"] for row in rows]
    assert stored(server, tmp_path) == [f"of {key[:4]}" for key in keys]
    assert look().submitted == 0
    assert len(server.batches) == 2


def test_what_failed_is_counted_and_sent_again_by_the_next_run(look, server, tmp_path):
    look()
    keys = [row["custom_id"] for row in server.sent("batch-0")]

    def some(key):
        return answered(key) if key in keys[:2] else None

    def others(key):
        return refused_line(key) if key == keys[2] else None

    server.end("batch-0", some, others, status="expired")
    found = look()
    assert (found.received, found.submitted, found.waiting) == (2, 0, 0)
    assert found.failed == {"rejected": 1, "batch_expired": 2}
    assert stored(server, tmp_path) == ["[[A]]", "[[A]]", None, None, None]
    assert look().submitted == 3


def test_what_no_later_batch_would_change_is_not_sent_again(look, server, tmp_path):
    look()
    keys = [row["custom_id"] for row in server.sent("batch-0")]
    said = dict(zip(keys, ["maximum context length is 9", "content_filter", "slow"], strict=False))
    server.end(
        "batch-0", lambda key: refused_line(key, said[key]) if key in said else answered(key)
    )
    found = look()
    assert (found.received, found.failed) == (4, {"rejected": 1})
    with open_store(tmp_path / "store.sqlite") as store:
        llm = Llm(at(server), store, Budget(0))
        asked = ask_table(ROWS, Prompt.of, read_text, llm)
    assert asked.usage.failures == {"context_length": 1, "content_filter": 1, "over_budget": 1}
    assert look().submitted == 1


def test_lines_that_are_no_answers_do_no_harm(look, server, tmp_path):
    look()
    keys = [row["custom_id"] for row in server.sent("batch-0")]
    server.end("batch-0", lambda key: answered(key, "mine") if key == keys[0] else None)
    name = server.batches["batch-0"]["output_file_id"]
    server.files[name] += "\n".join(
        [
            "{",
            "[]",
            '"text"',
            json.dumps(answered("0" * 64, "of nobody")),
            json.dumps({"custom_id": keys[1], "response": {"status_code": 200, "body": {}}}),
            json.dumps({"custom_id": keys[2], "response": "no"}),
        ]
    )
    found = look()
    assert found.received == 1
    assert found.failed == {"malformed": 1, "rejected": 1, "batch_completed": 2}
    assert stored(server, tmp_path)[0] == "mine"
    with open_store(tmp_path / "store.sqlite") as store:
        assert store.verify() == 5


def test_a_limit_of_calls_and_equal_prompts(look, server):
    assert look([*ROWS, *ROWS], max_calls=3).submitted == 3
    assert look([*ROWS, *ROWS]).submitted == 2
    assert [len(server.sent(batch)) for batch in server.batches] == [3, 2]


def test_large_runs_are_several_batches(look, server, monkeypatch):
    monkeypatch.setattr("arena.llm.batch.MOST_REQUESTS", 2)
    assert look().submitted == 5
    assert [len(server.sent(batch)) for batch in server.batches] == [2, 2, 1]


def test_a_server_without_batches_is_said(server, tmp_path):
    elsewhere = at(server, base_url=f"{server.url}/chat", retries=0)
    record = tmp_path / "batches.json"
    with (
        open_store(tmp_path / "store.sqlite") as store,
        pytest.raises(UsageError, match=r"takes no batch \(status 404: .*--batch"),
    ):
        run_batches(map(Prompt.of, ROWS), elsewhere, store, record)
    assert not record.exists()


def test_a_key_that_a_batch_repeats_or_a_prompt_holds_is_written_nowhere(
    server, tmp_path, monkeypatch
):
    monkeypatch.setenv("BATCH_KEY", key := "sk-planted-0123456789")
    settings = at(server, api_key_env="BATCH_KEY", retries=0)

    def look(rows):
        with open_store(tmp_path / "store.sqlite") as store:
            record = tmp_path / "batches.json"
            return run_batches(map(Prompt.of, rows), settings, store, record)

    with pytest.raises(UsageError, match="holds the key of BATCH_KEY"):
        look([f"what is {key}?"])
    look(ROWS)
    first = server.sent("batch-0")[0]["custom_id"]

    def line(of):
        if of != first:
            return answered(of, f"it is {key}")
        body = {"error": {"message": f"no model for {key}"}}
        return {"custom_id": of, "response": {"status_code": 400, "body": body}, "error": None}

    server.end("batch-0", line)
    look(ROWS)
    for path in tmp_path.iterdir():
        assert key.encode() not in path.read_bytes()
    with open_store(tmp_path / "store.sqlite") as store:
        assert "it is [key]" in set(store.export()["text"].dropna())
