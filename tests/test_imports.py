"""Importing the packages, and asking for help, loads nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = (
    *("torch", "transformers", "openai", "datasets", "xgboost", "matplotlib", "plotly"),
    *("aiohttp", "jinja2", "playwright", "onnxruntime", "distributed"),
)


@pytest.mark.parametrize(
    "statement",
    [
        "import arena, features, surrogate",
        "from surrogate import Board, build_board, rank_systems",
        "from arena.adapters import read_mirage, read_battles",
        "from surrogate.cli.app import main; sys.argv = ['x', '--help']; main()",
    ],
)
def test_nothing_heavy_is_loaded(statement):
    code = f"""
import sys
try:
    {statement}
except SystemExit:
    pass
print("loaded:", sorted(set({HEAVY}) & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_unknown_names_are_missing_attributes():
    import surrogate

    with pytest.raises(AttributeError, match="No surrogate attribute oracle"):
        _ = surrogate.oracle
