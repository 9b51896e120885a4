"""Runs that are killed, runs at the same time, and stores that are damaged."""

import importlib.util
import multiprocessing
import time

import pytest
import sqlalchemy as sa
from llm_job import ask_all
from llm_requests import SETTINGS, endpoint, prompts

from arena.data.errors import DataError, MissingDependencyError, UsageError
from arena.llm import complete, open_store, store_claims
from arena.llm.settings import request_for
from arena.llm.store_rows import Result

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["arena.llm.client", "arena.llm.store"])


def start(store_url, server, count, concurrency=8):
    receiver, sender = PROCESSES.Pipe(duplex=False)
    job = PROCESSES.Process(
        target=ask_all, args=(store_url, server.url, count, concurrency, sender)
    )
    job.start()
    sender.close()
    return job, receiver


def report(process):
    job, receiver = process
    assert receiver.poll(60)
    told = receiver.recv()
    job.join()
    return told


def kill(process):
    job, receiver = process
    job.kill()
    job.join()
    receiver.close()


def wait_until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize(("concurrency", "in_flight"), [(8, 8), (32, 36)])
def test_a_killed_run_loses_nothing_and_pays_nothing_twice(
    serve, store_url, concurrency, in_flight
):
    server, count = serve(latency_s=0.02), 400
    for asked in (100, 200):
        process = start(store_url, server, count, concurrency)
        wait_until(lambda asked=asked: sum(server.asked.values()) >= asked)
        kill(process)
    resumed = report(start(store_url, server, count, concurrency))
    assert resumed["values"] == [f"echo question {n}" for n in range(count)]
    assert len(server.asked) == count
    assert sum(server.asked.values()) <= count + 2 * in_flight
    with open_store(store_url) as store:
        assert store.verify() == count
        assert list(store.stats()["state"]) == ["done"]


def test_two_processes_share_a_store_and_pay_once(serve, store_url):
    server, count = serve(latency_s=0.02), 300
    reports = [report(each) for each in [start(store_url, server, count) for _ in range(2)]]
    for each in reports:
        assert each["values"] == [f"echo question {n}" for n in range(count)]
    assert set(server.asked.values()) == {1}
    assert sum(each["usage"]["calls"] for each in reports) == count == len(server.asked)


def test_a_survivor_takes_over_what_a_killed_run_had_claimed(serve, store_url):
    server, count = serve(latency_s=0.05), 200
    victim, survivor = start(store_url, server, count), start(store_url, server, count)
    wait_until(lambda: sum(server.asked.values()) >= 60)
    kill(victim)
    assert report(survivor)["values"] == [f"echo question {n}" for n in range(count)]
    assert sum(server.asked.values()) <= count + 8


def test_claims_of_the_living_are_respected_until_their_lease_ends(store, monkeypatch):
    request = request_for(prompts(1)[0], SETTINGS)
    first, second = store.enter(), store.enter()
    assert store.claim(first, [request], "m")[request.key].state == "mine"
    assert store.claim(second, [request], "m")[request.key].state == "busy"
    monkeypatch.setattr(store_claims, "LEASE_S", -1.0)
    store.renew(first)
    monkeypatch.undo()
    assert store.claim(second, [request], "m")[request.key].state == "mine"
    assert store.claim(first, [request], "m")[request.key].state == "busy"
    store.leave(second)
    assert store.claim(first, [request], "m")[request.key].state == "mine"


def test_a_late_result_does_not_replace_a_final_one(store):
    request = request_for(prompts(1)[0], SETTINGS)
    first, second = store.enter(), store.enter()
    store.claim(first, [request], "m")
    store.save(first, [Result(request.key, None, "refusal", tries=1)])
    store.save(second, [Result(request.key, None, "empty", tries=1)])
    store.save(second, [Result(request.key, None, "timeout", tries=1)])
    assert store.look_up([request.key])[request.key].failure == "refusal"


def test_a_store_that_cannot_be_written_stops_the_run(serve, sqlite_store, monkeypatch):
    def full(owner, results):
        raise OSError("disk full")

    monkeypatch.setattr(sqlite_store, "save", full)
    server = serve()
    with pytest.raises(OSError, match="disk full"):
        list(complete(prompts(99), SETTINGS, endpoint=endpoint(server), store=sqlite_store))
    assert sum(server.asked.values()) <= 8


def test_export_and_stats(ask, store, tmp_path):
    ask(prompts(5), store)
    path = tmp_path / "out.jsonl.zst"
    assert store.export_jsonl(path) == 5
    table = store.export()
    assert table["key"].is_monotonic_increasing
    assert set(table["state"]) == {"done"}
    stats = store.stats().to_dict(orient="records")
    assert [(each["model"], each["rows"], each["tries"]) for each in stats] == [("m", 5, 5)]
    assert (stats[0]["tokens_in"], stats[0]["tokens_out"]) == (50, 15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE calls SET text = 'forged'", "does not match what the model answered"),
        ("UPDATE calls SET request = '{}'", "is not the digest of the request"),
        ("UPDATE calls SET failure = 'timeout'", "is not final"),
        ("UPDATE calls SET parsed = '{'", "JSON that cannot be read"),
    ],
)
def test_verify_finds_changed_rows(ask, store_url, change, words):
    with open_store(store_url) as store:
        ask(prompts(2), store)
        assert store.verify() == 2
        with store._engine.begin() as connection:
            connection.execute(sa.text(change))
        with pytest.raises(DataError, match=words) as caught:
            store.verify()
        assert len(caught.value.problems) == 2


def test_verify_finds_damaged_files(ask, tmp_path):
    path = tmp_path / "store.db"
    with open_store(path) as store:
        ask(prompts(300), store)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(content)
    with open_store(path) as store, pytest.raises(DataError):
        store.verify()


def test_what_is_no_store_is_told(tmp_path):
    (tmp_path / "notes.txt").write_text("no database" * 1000)
    with pytest.raises(UsageError, match=r"notes\.txt"):
        open_store(tmp_path / "notes.txt")
    with pytest.raises(UsageError, match="there is no folder"):
        open_store(tmp_path / "nowhere" / "store.db")
    with pytest.raises(UsageError, match="no stores at mysql URLs"):
        open_store("mysql://host/db")


def test_another_version_is_told(store_url):
    with open_store(store_url) as store, store._engine.begin() as connection:
        connection.execute(sa.text("UPDATE store_info SET version = 99"))
    with pytest.raises(UsageError, match="version is 99"):
        open_store(store_url)


@pytest.mark.parametrize(
    ("package", "where", "extra"),
    [("sqlalchemy", "store.db", "llm"), ("psycopg", "postgresql://host/db", "postgres")],
)
def test_missing_packages_are_named_with_their_extra(monkeypatch, package, where, extra):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == package else find(name)
    )
    with pytest.raises(MissingDependencyError, match=rf"{package}.*surrogate-arena\[{extra}\]"):
        open_store(where)


def test_a_missing_sdk_is_told_when_a_call_is_due(serve, ask, sqlite_store, monkeypatch):
    ask(prompts(1), sqlite_store)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "openai" else find(name)
    )
    where = endpoint(serve())
    stored = list(complete(prompts(1), SETTINGS, endpoint=where, store=sqlite_store))
    assert stored[0].from_store
    with pytest.raises(MissingDependencyError, match=r"openai.*surrogate-arena\[llm\]"):
        list(complete(prompts(2), SETTINGS, endpoint=where, store=sqlite_store))
    assert not sqlite_store.stats()["state"].eq("claimed").any()


def test_passwords_are_not_shown():
    pytest.importorskip("psycopg")
    with pytest.raises(UsageError) as caught:
        open_store("postgresql://me:hidden@127.0.0.1:9/db")
    assert "hidden" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
