"""A long judging run against a local server that fails one call in five, killed again and again.

    python benchmarks/soak.py --calls 10000 --faults 0.2 --kills 3

runs ``surrogate-arena judge`` on a made-up arena, kills it (SIGKILL) when given shares of the calls
are paid for, runs it again until nothing is left to ask, and prints what was lost and what was paid
for twice. A call is paid for when a whole reply was sent; those that a killed run was waiting for
may be asked once more, and no others.
"""

import argparse
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from arena import Arena, read_arena, write_arena

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests" / "support"))

chat_server: Any = import_module("chat_server")
"""The server that the tests have."""

SYSTEMS = 12
CALLS_A_QUESTION = SYSTEMS * (SYSTEMS - 1)
"""All pairs in both orders."""
COMMAND = [sys.executable, "-c", "from surrogate_arena.cli.app import main; main()", "judge"]
FAULTS = ("rate_limited", "broken", "dropped", "cut_body", "truncated_json", "empty_choices")
RUNS = 5
"""At most, after the last kill: calls whose every try failed are asked again by the next run."""
PATIENCE_S = 3600.0
LATENCY = 0.01
"""Seconds until the server replies."""


@dataclass(frozen=True)
class Soak:
    """What a run came to.

    Attributes:
        calls: Prompts to ask.
        sent: Requests that the server got.
        faults: Of these, those it answered with a fault.
        kills: Runs that were killed.
        runs: Runs in all.
        lost: Prompts without a verdict at the end.
        repaid: Replies that were paid for beyond one a prompt.
        under_way: Calls at most that were under way in all kills.
        seconds: Wall time.
        store_mb: Size of the store at the end.
    """

    calls: int
    sent: int
    faults: int
    kills: int
    runs: int
    lost: int
    repaid: int
    under_way: int
    seconds: float
    store_mb: float

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, and nothing repaid but what was under way."""
        return self.lost == 0 and self.repaid <= self.under_way


class FaultyServer:
    """Answers prompts with a verdict, or with a fault, each by its own text and try."""

    def __init__(self, share: float) -> None:
        self.paid: Counter[str] = Counter()
        self.faults = 0
        self._share = share

    def behave(self, prompt: str, earlier: int) -> Any:  # noqa: ANN401 - a reply of the tests' server
        """Reply to the nth same prompt."""
        drawn = zlib.crc32(f"{earlier} {prompt}".encode())
        if drawn % 1000 < 1000 * self._share:
            self.faults += 1
            make = getattr(chat_server, FAULTS[drawn // 1000 % len(FAULTS)])
            return make(0) if make is chat_server.rate_limited else make()
        self.paid[prompt] += 1
        return chat_server.completion("It is better supported. [[{}]]".format("AB"[drawn % 2]))


def _arena(calls: int) -> Arena:
    query_ids = [f"q{number}" for number in range(math.ceil(calls / CALLS_A_QUESTION))]
    answers = []
    for query_id, number in product(query_ids, range(SYSTEMS)):
        text = f"Answer {number} to {query_id}."
        answers.append({"query_id": query_id, "system": f"s{number:02d}", "answer": text})
    texts = [f"What is {query_id}?" for query_id in query_ids]
    queries = pd.DataFrame({"query_id": query_ids, "query": texts})
    return Arena.from_frames(queries, pd.DataFrame(answers), language="en", name="soak")


def soak(
    folder: Path,
    calls: int,
    faults: float,
    kills: int,
    concurrency: int,
) -> Soak:
    """Judge in a folder, killed some times; see the module.

    Args:
        folder: Empty folder to work in.
        calls: How many calls to make at least: both orders of every pair.
        faults: Share of the replies that are faults.
        kills: Runs to kill, at even shares of the calls.
        concurrency: Calls at the same time.
    """
    arena = _arena(calls)
    write_arena(arena, folder / "arena")
    n_calls = len(arena.queries) * CALLS_A_QUESTION
    server = FaultyServer(faults)
    started = time.monotonic()
    runs = 0
    with chat_server.ChatServer(server.behave, LATENCY) as local:
        settings = f"any_model = true\nconcurrency = {concurrency}\n"
        (folder / "judge.toml").write_text(settings, encoding="utf-8")
        arguments = ["arena", "--model", "m", "--base-url", local.url, "--json"]
        arguments += ["--questions", str(len(arena.queries)), "--config", "judge.toml"]
        arguments += ["--pairs", "all", "--audit", "1"]
        for kill in range(1, kills + 1):
            with _started(folder, arguments) as run:
                _wait(run, server, kill * n_calls // (kills + 1))
                run.send_signal(signal.SIGKILL)
            runs += 1
        for _ in range(RUNS):
            with _started(folder, arguments) as run:
                run.wait(PATIENCE_S)
            runs += 1
            if len(server.paid) == n_calls:
                break
        sent = sum(local.asked.values())
    judgments = read_arena(folder / "arena").judgments
    store = folder / "arena" / "judging.sqlite"
    with closing(sqlite3.connect(store)) as connection:
        [n_stored] = connection.execute("SELECT COUNT(*) FROM calls").fetchone()
    return Soak(
        calls=n_calls,
        sent=sent,
        faults=server.faults,
        kills=kills,
        runs=runs,
        lost=n_calls - min(n_stored, len(server.paid), len(judgments)),
        repaid=sum(server.paid.values()) - len(server.paid),
        under_way=kills * concurrency,
        seconds=round(time.monotonic() - started, 1),
        store_mb=round(store.stat().st_size / 2**20, 1),
    )


def _started(folder: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "OPENAI_API_KEY": "none"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait(run: subprocess.Popen[bytes], server: FaultyServer, paid: int) -> None:
    """Wait until this many prompts are paid for."""
    end = time.monotonic() + PATIENCE_S
    while len(server.paid) < paid and run.poll() is None and time.monotonic() < end:
        time.sleep(0.005)


def main() -> None:
    """Soak and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--faults", type=float, default=0.2)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = soak(
            Path(folder), options.calls, options.faults, options.kills, options.concurrency
        )
    print(json.dumps(asdict(result), indent=1))
    print("held" if result.holds else "BROKEN")


if __name__ == "__main__":
    main()
