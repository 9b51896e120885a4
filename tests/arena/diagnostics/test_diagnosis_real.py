"""What the diagnosis finds in published arenas."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from arena import read_arena
from arena.diagnostics import diagnose
from arena.diagnostics.verdicts import ITEM, majorities, verdicts

DATA = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(scope="module")
def data():
    if not DATA.is_dir():
        pytest.skip("the shared data are not here")
    return DATA


@pytest.fixture(scope="module")
def crowd(data):
    return read_arena(data / "arenas" / "crowd-rag")


@pytest.fixture(scope="module")
def crowd_diagnosis(crowd):
    return diagnose(crowd)


def row(table, judge):
    return table[table["judge"] == judge].iloc[0]


def severity(found, check, subject):
    return [f.severity for f in found.findings if (f.check, f.subject) == (check, subject)]


def test_crowd_rag_prefers_the_first_side_when_gpt_4o_judges_all_at_once(crowd_diagnosis):
    position = row(crowd_diagnosis.position, "gpt-4o-combined")
    assert position[["won_by_a", "decided"]].tolist() == [386, 693]
    assert position["verdict"] == "side A is favored"
    flips = row(crowd_diagnosis.order_consistency, "gpt-4o-combined")
    assert flips[["items", "consistent", "flipped", "tie_vs_win"]].tolist() == [233, 184, 43, 6]
    assert flips[["flipped_to_a", "flipped_to_b"]].tolist() == [32, 11]
    flips = row(crowd_diagnosis.order_consistency, "gpt-4o-individual")
    assert flips[["items", "flipped", "tie_vs_win"]].tolist() == [233, 10, 13]


def test_crowd_workers_and_gpt_4o_agree_no_better_than_by_chance(crowd, crowd_diagnosis):
    table = crowd_diagnosis.agreement.set_index(["judge", "other_judge"])
    people = table.loc[("crowd-gold", "gpt-4o-combined")]
    assert people[["items", "questions"]].tolist() == [233, 36]
    assert people["kappa"] == pytest.approx(0.0340, abs=1e-4)
    assert people["low"] < 0 < people["high"]
    models = table.loc[("gpt-4o-combined", "gpt-4o-individual")]
    assert models["kappa"] == pytest.approx(0.4637, abs=1e-4)
    assert models["low"] > 0.3
    items = majorities(verdicts(crowd.judgments), ITEM)
    wide = items.pivot(index=["query_id", "first", "second"], columns="judge", values="outcome")
    both = wide[["crowd-gold", "gpt-4o-combined"]].dropna()
    one, other = np.vstack([both.to_numpy(int), -both.to_numpy(int)]).T
    assert people["kappa"] == pytest.approx(cohen_kappa_score(one, other))


def test_rakuda_is_balanced_in_position_and_leans_to_long_answers(data):
    found = diagnose(read_arena(data / "arenas" / "rakuda"))
    assert found.position.iloc[0][["won_by_a", "decided"]].tolist() == [356, 726]
    flips = found.order_consistency.iloc[0]
    assert flips[["items", "consistent", "flipped", "tie_vs_win"]].tolist() == [104, 84, 6, 14]
    assert found.lengths.iloc[0]["share"] == pytest.approx(573 / 726)
    assert found.connections.iloc[0][["groups", "strong_groups"]].tolist() == [1, 1]
    assert found.absent.iloc[0].tolist() == ["ja", "gpt-4", 359, 0, 0]
