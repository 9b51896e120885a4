"""Runs by batches that are killed while they send or collect."""

import multiprocessing
import time

import batch_server
import chat_server as say
import pytest
from llm_job import ask_by_batches
from llm_requests import kept

from arena.llm import open_store
from arena.llm.batches import sender as sending

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["arena.llm.ask", "arena.llm.batches.sender"])
PATIENCE_S = 600
COUNT = 600
"""More than are collected at a time."""

pytestmark = pytest.mark.slow


def start(store_path, server):
    receiver, sender = PROCESSES.Pipe(duplex=False)
    job = PROCESSES.Process(target=ask_by_batches, args=(store_path, server.url, COUNT, sender))
    job.start()
    sender.close()
    return job, receiver


def report(store_path, server):
    job, receiver = start(store_path, server)
    assert receiver.poll(PATIENCE_S)
    brought = receiver.recv()
    job.join()
    return brought


def kill_during(store_path, server, name):
    """Run until the server has carried out a request, and kill before its reply comes."""
    server.stall = {name}
    n_before = server.carried_out.count(name)
    job, _ = start(store_path, server)
    deadline = time.monotonic() + PATIENCE_S
    while server.carried_out.count(name) == n_before:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    job.kill()
    job.join()
    server.stall = set()


def one_in_ten_fails(prompt, earlier):
    return say.broken() if prompt.endswith("0") and earlier == 0 else say.completion(prompt)


@pytest.mark.parametrize(
    "sending_killed",
    [[], ["POST /v1/files"], ["POST /v1/batches"], ["POST /v1/files", "POST /v1/batches"]],
)
def test_a_killed_run_loses_nothing_and_pays_nothing_twice(store_path, sending_killed):
    with batch_server.BatchServer(one_in_ten_fails) as server:
        for name in sending_killed:
            kill_during(store_path, server, name)
        assert report(store_path, server) == {"awaited": COUNT}
        assert len(server.batches) == 1
        server.work()
        batch = server.batches["batch_1"]
        # Before anything is read; then after the results, before the file of errors.
        for file_id in (batch["output_file_id"], batch["error_file_id"]):
            kill_during(store_path, server, f"GET /v1/files/{file_id}/content")
        with open_store(store_path) as store:
            assert len(kept(store)) == COUNT - COUNT // 10
        kill_during(store_path, server, "POST /v1/batches")
        assert report(store_path, server) == {"awaited": COUNT // 10}
        server.work()
        assert report(store_path, server)["values"] == [f"question {n}" for n in range(COUNT)]
        assert sum(server.asked.values()) == COUNT + COUNT // 10
        assert len(server.batches) == 2


def test_two_processes_send_one_batch(store_path):
    with batch_server.BatchServer() as server:
        jobs = [start(store_path, server) for _ in range(2)]
        assert [receiver.poll(PATIENCE_S) and receiver.recv() for _, receiver in jobs] == [
            {"awaited": COUNT}
        ] * 2
        assert len(server.batches) == 1
        server.work()
        assert None not in report(store_path, server)["values"]
        assert set(server.asked.values()) == {1}


@pytest.mark.parametrize("fatal", range(1, 6))
def test_an_error_while_collecting_loses_nothing(store_path, monkeypatch, fatal):
    """Each write to the ledger fails once, as on a full disk; the next run continues."""
    writes = []

    def failing(method):
        def write(*args, **kwargs):
            writes.append(method.__name__)
            if len(writes) == fatal:
                raise OSError("no space left on device")
            return method(*args, **kwargs)

        return write

    with batch_server.BatchServer() as server:
        pipe = multiprocessing.SimpleQueue()
        pipe.send = pipe.put
        for name in ("add_batch", "note_file", "note_batch", "settle", "drop"):
            method = getattr(sending.BatchLedger, name)
            monkeypatch.setattr(sending.BatchLedger, name, failing(method))
        for _ in range(4):
            try:
                ask_by_batches(store_path, server.url, COUNT, pipe)
            except OSError:
                continue
            if pipe.get()["awaited"]:
                server.work()
        ask_by_batches(store_path, server.url, COUNT, pipe)
        assert None not in pipe.get()["values"]
        assert set(server.asked.values()) == {1}
        assert len(server.batches) == 1
    assert len(writes) >= fatal
