"""The sample arena that comes with the package."""

from itertools import combinations

import pandas as pd
import pytest

from arena import rate
from arena.sample import sample_arena, sample_folder

FILES = {
    "ATTRIBUTION.md",
    "arena.json",
    "queries.jsonl.gz",
    "answers.jsonl.gz",
    "judgments.jsonl.gz",
}
MOST_BYTES = 500_000


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("crowd-rag", ("Gienapp", "Attribution 4.0", "Changes")),
        ("nomiracl", ("NoMIRACL", "Apache License 2.0", "Wikipedia", "ShareAlike", "Changes")),
    ],
)
def test_samples_are_small_complete_and_attributed(name, stated):
    files = list(sample_folder(name).iterdir())
    assert {path.name for path in files} == FILES
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    attribution = (sample_folder(name) / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for text in stated:
        assert text in attribution


def test_the_sample_of_the_demo_has_cited_answers_that_people_and_a_machine_judged():
    arena = sample_arena()
    assert len(arena.queries) == 38
    assert (arena.queries["passages"].map(len) == 20).all()
    assert len(arena.answers) == 38 * len(arena.info.systems)
    assert arena.answers["answer"].str.contains(r"\[\d+(?:, ?\d+)*\]").mean() > 0.9
    assert set(arena.judgments["judge"]) == {"crowd", "gpt-4o"}
    assert not arena.judgments.duplicated().any()


@pytest.mark.slow
def test_every_system_answers_and_every_pair_is_judged():
    arena = sample_arena("nomiracl")
    counts = arena.counts().set_index("language")
    assert list(counts.index) == ["en", "es", "hi", "zh"]
    assert (counts["questions"] == 40).all()
    assert (counts["answers"] == 40 * 11).all()
    pairs = arena.judgments.apply(
        lambda row: (row["language"], row["query_id"], *sorted(row[["system_a", "system_b"]])),
        axis=1,
    )
    keys = arena.queries[["language", "query_id"]].itertuples(index=False, name=None)
    systems = sorted(arena.info.systems)
    assert sorted(pairs) == sorted(
        (*key, *pair) for key in keys for pair in combinations(systems, 2)
    )


@pytest.mark.slow
def test_a_question_divides_systems_into_those_that_are_right_and_those_that_are_wrong():
    """Verdicts follow from one label per question, so winners never lose and losers never win."""
    judgments = sample_arena("nomiracl").judgments
    decided = judgments[judgments["winner"] != "tie"]
    is_a = decided["winner"] == "a"
    keys = decided[["language", "query_id"]]
    winners = keys.assign(system=decided["system_a"].where(is_a, decided["system_b"]))
    losers = keys.assign(system=decided["system_b"].where(is_a, decided["system_a"]))
    assert winners.merge(losers).empty
    points = winners.drop_duplicates().groupby(["language", "system"]).size()
    for language, rows in judgments.groupby("language"):
        ratings = rate(rows, rounds=0).table.set_index("system")["rating"]
        rights = points[language].reindex(ratings.index).fillna(0)
        assert ratings.corr(rights, method="kendall") > 0.85


@pytest.mark.slow
def test_labels_that_verdicts_were_derived_from_are_left_out():
    passages = sample_arena("nomiracl").queries["passages"].explode()
    assert pd.isna([passage["relevance"] for passage in passages]).all()
    assert (sample_arena("nomiracl").queries["passages"].map(len) == 10).all()
