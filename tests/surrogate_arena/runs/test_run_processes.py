"""Two runs at once, and runs that are killed, leave a folder whole."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from surrogate_arena.runs.run import bring_up_to_date

pytest.importorskip("fcntl", reason="needs a system that locks folders")

COMMAND = [sys.executable, "-c", "from surrogate_arena.cli.app import main; main()", "run"]


def start(place):
    return subprocess.Popen(
        [*COMMAND, str(place / "boards.toml"), "--jobs", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.slow
def test_of_two_runs_at_once_each_board_is_made_by_one(configure, place):
    boards = configure("[boards.a]\narena = 'arena'\n")
    runs = [start(place), start(place)]
    told = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    states = [re.findall(r"^a: (\w+)", text, re.MULTILINE) for text in told]
    assert sorted(states) == [["current"], ["made"]]
    assert bring_up_to_date(boards, boards.out, check=True).is_current


@pytest.mark.slow
def test_a_killed_run_goes_on_with_the_same_bytes(made, configure, place, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    shutil.rmtree(made.out)
    bring_up_to_date(made, made.out)
    boards = configure(
        "[boards.a]\narena = 'arena'\n[boards.b]\narena = 'arena'\ntournaments = 40\n"
    )
    run = start(place)
    folder = boards.out / "b"
    until = time.monotonic() + 300
    while not list(folder.glob(".writing-*")) and run.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert list(folder.glob(".writing-*"))
    report = bring_up_to_date(boards, boards.out, check=True)
    assert [outcome.state for outcome in report.boards] == ["current", "would run"]
    report = bring_up_to_date(boards, boards.out)
    assert [outcome.state for outcome in report.boards] == ["current", "made"]
    assert not list(boards.out.rglob(".writing-*"))
    bring_up_to_date(boards, place / "again")
    assert contents(boards.out) == contents(place / "again")


def contents(out):
    return {
        path.relative_to(out): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and not path.relative_to(out).parts[0].startswith(".")
    }
