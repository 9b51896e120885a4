"""The sample arena that comes with the package."""

import pandas as pd

from arena.simulation import sample_arena, sample_folder, sample_truth

TABLES = ("queries", "answers", "judgments")
FILES = {"arena.json", "truth.csv", *(f"{table}.jsonl.gz" for table in TABLES)}


def test_the_sample_is_small_and_complete():
    files = list(sample_folder().iterdir())
    assert {path.name for path in files} == FILES
    assert sum(path.stat().st_size for path in files) < 1_500_000


def test_win_rates_agree_with_the_truth():
    judgments = sample_arena().judgments
    points = judgments["winner"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    sides = [("system_a", points), ("system_b", 1.0 - points)]
    rows = pd.concat(
        pd.DataFrame({"system": judgments[side], "language": judgments["language"], "points": won})
        for side, won in sides
    )
    rates = rows.pivot_table(index="system", columns="language", values="points")
    truth = sample_truth().pivot_table(index="system", columns="language", values="quality")
    for language in sample_arena().info.languages:
        assert 0.8 <= rates[language].corr(truth[language], method="kendall") <= 0.97
