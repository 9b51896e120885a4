"""What the diagnosis finds in published arenas."""

import pytest
from shared_data import shared_path

from arena import read_arena
from surrogate_arena.diagnosis import diagnose


@pytest.fixture(scope="module")
def crowd_diagnosis():
    return diagnose(shared_path("data/arenas/crowd-rag"))


def row(table, judge):
    return table[table["judge"] == judge].iloc[0]


def severity(found, name, subject):
    return [r.severity for r in found.remarks if (r.name, r.subject) == (name, subject)]


def sentence(found, name, judge):
    tests = found.tests
    return tests[(tests["name"] == name) & (tests["judge"] == judge)]["sentence"].item()


def test_of_crowd_rag_exact_copies_of_gpt_4o_verdicts_count_once(crowd_diagnosis):
    combined = row(crowd_diagnosis.counts, "gpt-4o-combined")
    assert combined["judgments"] == 474  # of 693, 219 are copies
    # Side A won 55% in all, 61% between answers that are rated alike.
    assert severity(crowd_diagnosis, "side", "en, gpt-4o-combined") == ["warning"]
    for judge in ("gpt-4o-combined", "gpt-4o-individual"):
        assert "of 233 pairs judged in both orders" in sentence(crowd_diagnosis, "flips", judge)


def test_crowd_workers_and_gpt_4o_agree_no_better_than_by_chance(crowd_diagnosis):
    table = crowd_diagnosis.agreement.set_index(["judge", "other_judge"])
    people = table.loc[("crowd-gold", "gpt-4o-combined")]
    assert people[["items", "questions"]].tolist() == [233, 36]
    assert people["kappa"] == pytest.approx(0.0340, abs=1e-4)
    assert people["low"] < 0 < people["high"]
    models = table.loc[("gpt-4o-combined", "gpt-4o-individual")]
    assert models["kappa"] == pytest.approx(0.4637, abs=1e-4)
    assert models["low"] > 0.3


def test_rakuda_is_balanced_in_position_and_leans_to_long_answers():
    found = diagnose(read_arena(shared_path("data/arenas/rakuda")))
    counts = found.counts.iloc[0]
    assert counts[["groups", "strong_groups", "answers", "not_judged"]].tolist() == [1, 1, 359, 0]
    tests = found.tests.set_index("name")
    assert "of 104 pairs judged in both orders, 6 flip" in tests.loc["flips", "sentence"]
    assert tests.loc["side", "grade"] == "consistent"
    assert tests.loc["length", "low"] > 0.5
