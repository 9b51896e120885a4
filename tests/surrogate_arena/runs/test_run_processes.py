"""Two runs at once, and runs that are killed, leave a folder whole."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from surrogate_arena.runs.config import read_configuration
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
def test_of_two_runs_at_once_each_step_is_made_by_one(configure, place):
    boards = configure("[boards.a]\narena = 'arena'\n")
    runs = [start(place), start(place)]
    told = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    states = [re.findall(r"^(\w+) a: (\w+)", text, re.MULTILINE) for text in told]
    assert sorted(states) == [
        [("features", "current"), ("board", "current"), ("history", "current")],
        [("features", "made"), ("board", "made"), ("history", "made")],
    ]
    assert bring_up_to_date(boards, boards.out, check=True).is_current


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(made, configure, place):
    boards = configure(
        "[boards.a]\narena = 'arena'\n[boards.b]\narena = 'arena'\ntournaments = 40\n"
    )
    run = start(place)
    folder = boards.out / "b"
    until = time.monotonic() + 300
    made = folder / "features"
    while (
        not (made.exists() and list(folder.glob(".writing-*")))
        and run.poll() is None
        and time.monotonic() < until
    ):
        time.sleep(0.005)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert list(folder.glob(".writing-*"))
    steps = bring_up_to_date(boards, boards.out, check=True).steps
    told = {f"{step.board}/{step.stage}": step.state for step in steps}
    assert told == {
        **dict.fromkeys(["a/features", "a/board", "a/history", "b/features"], "current"),
        "b/board": "would run",
        "b/history": "would run",
    }
    again = read_configuration(place / "boards.toml")
    report = bring_up_to_date(again, again.out)
    assert [step.state for step in report.steps] == [*["current"] * 4, "made", "made"]
    assert not list(boards.out.rglob(".writing-*"))
