"""The simulated arena, whose true ranking is known."""

import pandas as pd
import pytest

from arena.simulation import simulated_arena, simulated_folder, simulated_truth

TABLES = ("queries", "answers", "judgments")
FILES = {"arena.json", "truth.csv", *(f"{table}.jsonl.gz" for table in TABLES)}


def test_the_simulated_arena_is_small_and_complete():
    files = list(simulated_folder().iterdir())
    assert {path.name for path in files} == FILES
    assert sum(path.stat().st_size for path in files) < 1_500_000


@pytest.mark.slow
def test_win_rates_agree_with_the_truth():
    judgments = simulated_arena().judgments
    points = judgments["winner"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    sides = [("system_a", points), ("system_b", 1.0 - points)]
    rows = pd.concat(
        pd.DataFrame({"system": judgments[side], "language": judgments["language"], "points": won})
        for side, won in sides
    )
    rates = rows.pivot_table(index="system", columns="language", values="points")
    truth = simulated_truth().pivot_table(index="system", columns="language", values="quality")
    for language in simulated_arena().info.languages:
        assert 0.8 <= rates[language].corr(truth[language], method="kendall") <= 0.97
