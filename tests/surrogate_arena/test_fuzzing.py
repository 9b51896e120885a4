"""Damaged and crafted input at every border is read or refused in a sentence; nothing crashes."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzzing.py"
SOAK = SCRIPT.with_name("soak.py")
ENDS = {"read", "refused"}


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        yield runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize(
    ("border", "executions"),
    [
        *(("LLM replies", 200), ("TOML", 60), ("battles", 10), ("arena folder", 5), ("store", 40)),
        *(("MEMERAG", 40), ("WikiEval", 40), ("GroUSE", 40), ("MIRAGE-Bench", 20)),
    ],
)
def test_changed_input_is_read_or_refused(script, border, executions):
    counts = script["fuzz"](border, executions, seed=7)
    assert set(counts) <= ENDS
    assert counts.total() == executions
    assert counts["refused"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("border", "executions"),
    [
        *(("LLM replies", 5000), ("TOML", 100), ("battles", 100), ("arena folder", 100)),
        *(("store", 300), ("surrogate file", 40), ("board folder", 40), ("MEMERAG", 300)),
        *(("WikiEval", 300), ("GroUSE", 300), ("MIRAGE-Bench", 100)),
    ],
)
def test_much_changed_input_is_read_or_refused(script, border, executions):
    assert set(script["fuzz"](border, executions, seed=8)) <= ENDS


@pytest.mark.slow
def test_faults_and_kills_lose_nothing_and_repay_only_what_was_under_way(tmp_path, monkeypatch):
    """The command itself, killed twice: a small version of the script's 10,000 calls."""
    monkeypatch.setattr(sys, "path", [str(SOAK.parent), *sys.path])
    script = runpy.run_path(str(SOAK))
    found = script["soak"](tmp_path, calls=300, faults=0.2, kills=2, concurrency=8)
    assert found.holds
    assert found.lost == 0
    assert 0.1 < found.faults / found.sent < 0.3
    assert found.runs >= 3
