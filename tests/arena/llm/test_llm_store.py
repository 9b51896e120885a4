"""Runs that are killed, runs at the same time, and stores that are damaged."""

import multiprocessing
import os
import sqlite3
import threading
import time
from contextlib import closing, suppress

import pytest
from llm_job import ask_all
from llm_requests import SETTINGS, kept, prompts

from arena.data.errors import ArenaError, UsageError
from arena.llm import Completion, ask_table, open_store, read_text
from arena.llm.requests import request_for

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["arena.llm.ask", "arena.llm.transport"])
PATIENCE_S = 600
"""Until a process counts as dead: far more than it needs on a busy machine."""


def start(store_path, server, count, concurrency=8):
    receiver, sender = PROCESSES.Pipe(duplex=False)
    job = PROCESSES.Process(
        target=ask_all, args=(store_path, server.url, count, concurrency, sender)
    )
    job.start()
    sender.close()
    return job, receiver


def report(process):
    job, receiver = process
    assert receiver.poll(PATIENCE_S)
    told = receiver.recv()
    job.join()
    return told


def kill(process):
    job, receiver = process
    job.kill()
    job.join()
    receiver.close()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_killed_run_loses_nothing_and_pays_nothing_twice(serve, store_path):
    server, count, concurrency = serve(latency_s=0.02), 300, 8
    for asked in (100, 200):
        process = start(store_path, server, count, concurrency)
        wait_until(lambda asked=asked: sum(server.asked.values()) >= asked)
        kill(process)
    resumed = report(start(store_path, server, count, concurrency))
    assert resumed["values"] == [f"echo question {n}" for n in range(count)]
    assert len(server.asked) == count
    assert sum(server.asked.values()) <= count + 2 * concurrency
    with open_store(store_path) as store:
        assert len(kept(store)) == count


def test_two_processes_share_a_store_and_pay_once(serve, store_path):
    server, count = serve(latency_s=0.02), 300
    reports = [report(each) for each in [start(store_path, server, count) for _ in range(2)]]
    for each in reports:
        assert each["values"] == [f"echo question {n}" for n in range(count)]
    assert set(server.asked.values()) == {1}
    assert sum(each["usage"]["calls"] for each in reports) == count == len(server.asked)


def test_a_run_says_whom_it_waits_for(serve, llm_at, store, monkeypatch, caplog):
    monkeypatch.setattr("arena.data.writing.NOTICE_AFTER_S", 0.1)
    began, end = threading.Event(), threading.Event()

    def hold():
        with store.asking("m"):
            began.set()
            end.wait(PATIENCE_S)

    other = threading.Thread(target=hold)
    other.start()
    began.wait()
    threading.Timer(0.5, end.set).start()
    asked = ask_table(prompts(1), lambda row: row, read_text, llm_at(serve()))
    other.join()
    assert asked.values == ["echo question 0"]
    assert ["Waiting" in record.message for record in caplog.records] == [True]


def test_a_late_result_does_not_replace_a_final_one(store):
    request = request_for(prompts(1)[0], SETTINGS)
    for failure in ("timeout", "refusal", "empty", "timeout"):
        store.save(request, Completion(None, failure=failure))
    assert store.look_up([request.key])[request.key].failure == "refusal"


@pytest.mark.parametrize(
    "change",
    [
        "request = '{}'",
        "request = CAST('{}' AS BLOB)",
        "reply = ''",
        "reply = 'none'",
        """reply = '{"text": 5}'""",
        """reply = '{"text": "4", "tokens_in": "few"}'""",
        """reply = '{"text": "4", "logprobs": [["4"]]}'""",
        "reply = CAST(x'ff41' AS BLOB)",
        "reply = CAST(x'ff41' AS TEXT)",
        "key = NULL",
    ],
)
def test_damaged_rows_are_a_sentence_or_asked_again(ask, store, store_path, change):
    ask(prompts(2))
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute(f"UPDATE calls SET {change}")
    for use in (lambda: store.look_up(["k"]), lambda: ask(prompts(2))):
        with suppress(ArenaError):
            use()


def test_a_full_disk_asks_for_room_and_not_for_a_copy(ask, store, store_path):
    store._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(UsageError, match=r"is full\); make room on the disk, then repeat$"):
        ask(prompts(100))
    with closing(sqlite3.connect(store_path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_is_no_store_is_told(tmp_path):
    (tmp_path / "notes.txt").write_text("no database" * 1000)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE calls (x)")
    before = (tmp_path / "other.db").read_bytes()
    for name in ("notes.txt", "nowhere/store.db", "", "fifo", "loop", "other.db"):
        with pytest.raises(UsageError):
            open_store(tmp_path / name)
    assert (tmp_path / "other.db").read_bytes() == before
    with pytest.raises(UsageError):
        open_store("postgresql://host/db")
