"""Judging through faults and kills loses nothing, and repays only what was under way."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "soak.py"


@pytest.mark.slow
def test_faults_and_kills_lose_nothing_and_repay_only_what_was_under_way(tmp_path, monkeypatch):
    """The command itself, killed twice: a small version of the script's 10,000 calls."""
    monkeypatch.setattr(sys, "path", [str(SCRIPT.parent), *sys.path])
    script = runpy.run_path(str(SCRIPT))
    found = script["soak"](tmp_path, calls=300, faults=0.2, kills=2, concurrency=8)
    assert found.holds
    assert found.lost == 0
    assert 0.1 < found.faults / found.sent < 0.3
    assert found.runs >= 3
