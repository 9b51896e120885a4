"""The sample arena that comes with the package: what the simulator makes, to the byte."""

import pandas as pd
import pytest

from arena.simulation import (
    DEFAULT_SYSTEMS,
    LANGUAGES,
    sample_arena,
    sample_folder,
    sample_truth,
    simulate,
)

TABLES = ("queries", "answers", "judgments")
FILES = {"arena.json", "truth.csv", *(f"{table}.jsonl.gz" for table in TABLES)}


@pytest.fixture(scope="module")
def default():
    return simulate()


def test_simulating_again_gives_the_sample(default):
    sample = sample_arena()
    assert default.arena.info == sample.info
    for table in TABLES:
        pd.testing.assert_frame_equal(getattr(default.arena, table), getattr(sample, table))
    pd.testing.assert_frame_equal(default.truth, sample_truth())


def test_the_sample_is_small_and_complete():
    files = list(sample_folder().iterdir())
    assert {path.name for path in files} == FILES
    assert sum(path.stat().st_size for path in files) < 1_500_000


def test_win_rates_agree_with_the_truth(default):
    judgments = default.arena.judgments
    points = judgments["winner"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    sides = [("system_a", points), ("system_b", 1.0 - points)]
    rows = pd.concat(
        pd.DataFrame({"system": judgments[side], "language": judgments["language"], "points": won})
        for side, won in sides
    )
    rates = rows.pivot_table(index="system", columns="language", values="points")
    truth = default.truth.pivot_table(index="system", columns="language", values="quality")
    for language in LANGUAGES:
        assert 0.8 <= rates[language].corr(truth[language], method="kendall") <= 0.97


def test_further_systems_languages_and_questions_change_nothing_else(default):
    some = simulate(DEFAULT_SYSTEMS[2:5][::-1], ["sw", "ja"], questions=7)
    for name in ("answers", "judgments"):
        few, all_rows = getattr(some.arena, name), getattr(default.arena, name)
        assert len(few) == 2 * 7 * 3
        assert len(few.merge(all_rows, how="inner", on=list(few.columns))) == len(few)
    both = some.arena.queries.merge(default.arena.queries, on=["language", "query_id"])
    assert len(both) == 14
    assert (both["passages_x"] == both["passages_y"]).all()
