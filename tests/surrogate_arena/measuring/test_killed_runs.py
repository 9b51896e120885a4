"""A run of features that is killed goes on where it stopped."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from arena import write_arena
from arena.simulation import simulated_arena
from features.engine.cache import CACHE_FILE

FEATURES = "citation_recall,rouge_l,target_language,answer_length"
KILLED_RUN = """
import sys
from features.engine import extraction
from surrogate_arena.cli.app import main
extraction.CHUNK = 8
main(["features", sys.argv[1], "--out", sys.argv[2], "--features", "{features}", "--jobs", "1"])
"""


def rows_kept(folder):
    if not (folder / CACHE_FILE).is_file():
        return 0
    with sqlite3.connect(folder / CACHE_FILE) as file:
        try:
            return file.execute("SELECT count(*) FROM kept").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.mark.slow
def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path):
    arena = tmp_path / "arena"
    arena.mkdir()
    write_arena(simulated_arena(), arena)
    whole, broken = tmp_path / "whole" / "f.parquet", tmp_path / "broken" / "f.parquet"
    whole.parent.mkdir()
    broken.parent.mkdir()
    code = KILLED_RUN.format(features=FEATURES + ",bleu,citations")
    command = [sys.executable, "-c", code, str(arena)]
    kept = broken.with_name("f.parquet.cache")
    process = subprocess.Popen([*command, str(broken)], stdout=subprocess.DEVNULL)
    while rows_kept(kept) < 32:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not broken.exists()
    subprocess.run([*command, str(broken)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, str(whole)], check=True, stdout=subprocess.DEVNULL)
    assert broken.read_bytes() == whole.read_bytes()
