"""The example that extends a board by newer systems runs as it is documented."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "extend_board.py"


@pytest.mark.slow
def test_the_example_ranks_four_systems_and_combines_judgments(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--judged", "8", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Ranked by their answers alone" in printed
    assert "Rated by their answers and 256 verdicts" in printed
    assert printed.count("sim-harbor-tiny") >= 3
