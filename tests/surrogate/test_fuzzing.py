"""Damaged and crafted input at every border is read or refused in a sentence; nothing crashes."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzzing.py"
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
    "border",
    [
        *("LLM replies", "TOML", "battles", "arena folder", "store", "surrogate file"),
        *("board folder", "MEMERAG", "WikiEval", "GroUSE", "MIRAGE-Bench"),
    ],
)
def test_much_changed_input_is_read_or_refused(script, border):
    executions = 5000 if border in ("LLM replies", "TOML") else 300
    assert set(script["fuzz"](border, executions, seed=8)) <= ENDS
