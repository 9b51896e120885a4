"""Soft pairwise accuracy: against sampled permutations, at its limits, and under relabeling."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from shared_data import shared_path

from arena import read_arena
from surrogate_arena.papers.pairs.soft_accuracy import (
    soft_accuracy_by_chance,
    soft_pairwise_accuracy,
)

SYSTEMS = {"r": 0.6, "s": 0.2, "t": -0.1, "u": -0.7}
"""Strengths, in logits."""


def tournament(strengths, judge, seed=0, n_questions=40):
    """One verdict on every pair of systems and question."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(n_questions):
        for a, b in combinations(strengths, 2):
            chance = 1 / (1 + np.exp(strengths[b] - strengths[a]))
            winner = "a" if random.random() < chance else "b"
            rows.append((f"q{number}", "en", a, b, winner, judge))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


def points_by_question(judgments):
    """Mean points, a row per question and a column per system."""
    a = judgments.assign(system=judgments["system_a"], points=judgments["winner"] == "a")
    b = judgments.assign(system=judgments["system_b"], points=judgments["winner"] == "b")
    table = pd.concat([a, b]).pivot_table(index="query_id", columns="system", values="points")
    return table.astype(float)


def permutation_accuracy(judgments, reference, n_permutations=4000):
    """The paper's formula with sampled permutations."""
    random = np.random.default_rng(1)
    tables = [points_by_question(judgments), points_by_question(reference)]
    agreements = []
    for first, second in combinations(tables[0].columns, 2):
        p_values = []
        for table in tables:
            differences = (table[first] - table[second]).to_numpy()
            signs = random.choice([-1.0, 1.0], size=(n_permutations, len(differences)))
            permuted = signs @ differences
            total = differences.sum()
            p_values.append((permuted < total).mean() + (permuted == total).mean() / 2)
        agreements.append(1 - abs(p_values[0] - p_values[1]))
    return np.mean(agreements)


@pytest.mark.parametrize("scale", [1.0, 0.2, -0.5])
def test_it_is_that_of_sampled_permutations(scale):
    reference = tournament(SYSTEMS, "people")
    scaled = {system: scale * strength for system, strength in SYSTEMS.items()}
    judgments = tournament(scaled, "j", seed=1)
    soft = soft_pairwise_accuracy(judgments, reference)
    assert soft.value == pytest.approx(permutation_accuracy(judgments, reference), abs=0.02)
    assert soft.n == 6
    assert 0 < soft.standard_error < 0.3


def test_its_limits():
    reference = tournament(SYSTEMS, "people")
    same = soft_pairwise_accuracy(reference.assign(judge="j"), reference)
    assert (same.value, same.standard_error) == (1.0, 0.0)
    sure = {"r": 30.0, "s": 10.0, "t": -10.0, "u": -30.0}
    against = {system: -strength for system, strength in sure.items()}
    opposed = soft_pairwise_accuracy(tournament(against, "j"), tournament(sure, "people"))
    assert opposed.value == pytest.approx(0.0, abs=1e-4)
    # A judge that only ties is unsure of all pairs: half of what is sure is right.
    ties = tournament(sure, "j").assign(winner="tie")
    assert soft_pairwise_accuracy(ties, tournament(sure, "people")).value == pytest.approx(0.5)


def test_it_does_not_depend_on_names_sides_or_rows():
    reference = tournament(SYSTEMS, "people")
    judgments = tournament(SYSTEMS, "j", seed=1)
    names = dict(zip(SYSTEMS, ["z", "b", "y", "a"], strict=True))

    def changed(table, seed):
        mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
        mirrored["winner"] = mirrored["winner"].map({"a": "b", "b": "a"})
        for side in ("system_a", "system_b"):
            mirrored[side] = mirrored[side].map(names)
        return mirrored.sample(frac=1, random_state=seed)

    before = soft_pairwise_accuracy(judgments, reference)
    after = soft_pairwise_accuracy(changed(judgments, 0), changed(reference, 1))
    for name in ("value", "standard_error", "low", "high", "n"):
        assert getattr(after, name) == pytest.approx(getattr(before, name)), name


def test_without_three_shared_systems_there_is_none():
    two = tournament({"r": 1.0, "s": 0.0}, "j")
    soft = soft_pairwise_accuracy(two, tournament(SYSTEMS, "people"))
    assert np.isnan(soft.value)
    assert soft.n == 0
    elsewhere = tournament(SYSTEMS, "j").assign(language="de")
    assert np.isnan(soft_pairwise_accuracy(elsewhere, tournament(SYSTEMS, "people")).value)


def test_languages_have_equal_weight():
    reference = tournament(SYSTEMS, "people")
    judgments = tournament(SYSTEMS, "j", seed=1)
    opposed = {system: -strength for system, strength in SYSTEMS.items()}
    german = tournament(opposed, "j", seed=2, n_questions=400).assign(language="de")
    german_reference = tournament(SYSTEMS, "people", seed=3, n_questions=400).assign(language="de")
    parts = [
        soft_pairwise_accuracy(judgments, reference).value,
        soft_pairwise_accuracy(german, german_reference).value,
    ]
    both = soft_pairwise_accuracy(
        pd.concat([judgments, german]), pd.concat([reference, german_reference])
    )
    assert both.value == pytest.approx(np.mean(parts))


@pytest.mark.slow
def test_of_people_and_gpt_4_it_is_that_of_permutations():
    judgments = read_arena(shared_path("data/arenas/vicuna80")).judgments
    of_gpt_4 = judgments[judgments["judge"] == "gpt-4"]
    people = judgments[judgments["judge"] == "people"]
    soft = soft_pairwise_accuracy(of_gpt_4, people)
    # 1,000 permutations of each pair, computed apart: 0.748.
    assert soft.value == pytest.approx(0.748, abs=0.005)
    assert soft.n == 28


def test_coin_flips_have_a_level_of_their_own():
    reference = tournament(SYSTEMS, "people")
    chance = soft_accuracy_by_chance(tournament(SYSTEMS, "j", seed=1), reference, 60)
    flips = []
    for seed in range(60):
        coin = tournament(dict.fromkeys(SYSTEMS, 0.0), "coin", seed=2 + seed)
        flips.append(soft_pairwise_accuracy(coin, reference, 1).value)
    assert chance.value == pytest.approx(np.mean(flips), abs=0.06)
    assert chance.low == pytest.approx(np.percentile(flips, 2.5), abs=0.1)
    assert chance.high == pytest.approx(np.percentile(flips, 97.5), abs=0.1)
    good = soft_pairwise_accuracy(tournament(SYSTEMS, "j", seed=1), reference)
    assert good.value > chance.high
