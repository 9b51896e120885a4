"""The example that extends a board by newer systems runs as it is documented."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "extend_board.py"


@pytest.mark.slow
def test_the_example_ranks_three_systems_and_combines_judgments(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--judged", "8", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Placed by their answers alone" in printed
    # Eight questions, each with a verdict on three systems and ten others.
    n_verdicts = 8 * 3 * 8  # questions, newer systems, systems of the board
    assert f"Rated by their answers and {n_verdicts} verdicts" in printed
    for system in ("Mixtral-8x7B-Instruct-v0.1", "Orca-2-7b", "aya-101"):
        assert printed.count(system) >= 3
