"""What a rating says of every two systems: difference, probability, expected share of points."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from arena.rating.intervals import expected_shares
from arena.rating.ratings import rate
from arena.statistics.significance import NORMAL_90


def judgments(n_questions=40, strengths=(1.0, 0.2, -0.4, -0.8), seed=0):
    random = np.random.default_rng(seed)
    rows = []
    for question, (i, j) in itertools.product(
        range(n_questions), itertools.permutations(range(len(strengths)), 2)
    ):
        winner = "a" if random.random() < expit(strengths[i] - strengths[j]) else "b"
        rows.append((f"q{question}", f"s{i}", f"s{j}", winner))
    return pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])


@pytest.mark.parametrize("options", [{}, {"ridge": 0.0, "rounds": 300}])
def test_intervals_of_ratings_and_of_differences_come_from_one_covariance(options):
    ratings = rate(judgments(), **options)
    systems = list(ratings.table["system"])
    assert list(ratings.covariance) == list(ratings.covariance.index) == systems
    variance = ratings.covariance.to_numpy().diagonal()
    half_widths = (ratings.table["high"] - ratings.table["low"]) / 2
    tolerance = 1e-7 if not options else 0.15
    np.testing.assert_allclose(half_widths, NORMAL_90 * np.sqrt(variance), rtol=tolerance)
    pairs = ratings.pairs()
    assert list(zip(pairs["system"], pairs["opponent"], strict=True)) == list(
        itertools.combinations(systems, 2)
    )
    first = pairs.iloc[0]
    a, b = first["system"], first["opponent"]
    covariance = ratings.covariance
    variance = covariance.loc[a, a] + covariance.loc[b, b] - 2 * covariance.loc[a, b]
    assert first["high"] - first["difference"] == pytest.approx(NORMAL_90 * np.sqrt(variance))
    assert (pairs["probability"] >= 0.5).all()


def test_shares_are_means_over_normal_logits():
    random = np.random.default_rng(0)
    logits = np.array([-1.0, 0.0, 2.0, 2.0])
    errors = np.array([0.5, 3.0, 1.5, np.nan])
    drawn = expit(logits + np.nan_to_num(errors) * random.normal(size=(400_000, 4))).mean(axis=0)
    np.testing.assert_allclose(expected_shares(logits, errors), drawn, atol=2e-3)


def test_predicted_win_rates_are_those_that_are_won():
    """Of the simulated battles, by how often each pair's first system won."""
    table = judgments(n_questions=400)
    pairs = rate(table).pairs().set_index(["system", "opponent"])["win_rate"]
    won = table.assign(
        winner=np.where(table["winner"] == "a", table["system_a"], table["system_b"])
    )
    for (system, opponent), expected in pairs.items():
        met = won[
            won["system_a"].isin([system, opponent]) & won["system_b"].isin([system, opponent])
        ]
        assert (met["winner"] == system).mean() == pytest.approx(expected, abs=0.05)


def test_systems_of_two_groups_are_not_compared():
    table = judgments(n_questions=6)
    other = table.replace({f"s{index}": f"t{index}" for index in range(4)})
    ratings = rate(pd.concat([table, other.assign(query_id="t" + other["query_id"])]))
    assert len(ratings.pairs()) == 2 * 6
    assert np.isnan(ratings.covariance.loc["s0", "t0"])
    assert np.isfinite(ratings.covariance.loc["t1", "t0"])


def test_without_intervals_the_win_rate_is_that_of_the_ratings():
    ratings = rate(judgments(), ridge=0.1, rounds=0)
    pairs = ratings.pairs()
    assert pairs["probability"].isna().all()
    np.testing.assert_allclose(pairs["win_rate"], expit(pairs["difference"]), atol=1e-12)


battle = st.tuples(
    st.sampled_from(["q1", "q2", "q3"]),
    st.sampled_from(list(itertools.permutations(["s0", "s1", "s2"], 2))),
    st.sampled_from(["a", "b", "tie"]),
)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(battle, min_size=6, max_size=30), st.randoms(use_true_random=False))
def test_comparisons_do_not_depend_on_names_sides_or_the_order_of_rows(battles, random):
    rows = [(question, *sides, winner) for question, sides, winner in battles]
    rows += [("q0", "s0", "s1", "a"), ("q0", "s1", "s2", "b")]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])

    def win_rates(table, names=None):
        pairs = rate(table).pairs().replace(names or {})
        forward = pairs.set_index(["system", "opponent"])["win_rate"]
        backward = 1 - pairs.set_index(["opponent", "system"])["win_rate"]
        return pd.concat([forward, backward.rename_axis(["system", "opponent"])]).sort_index()

    expected = win_rates(table)
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    )
    shuffled = table.iloc[random.sample(range(len(table)), len(table))]
    renamed = table.replace({"s0": "z"})
    found = [win_rates(mirrored), win_rates(shuffled), win_rates(renamed, {"z": "s0"})]
    for changed in found:
        np.testing.assert_allclose(changed, expected, atol=1e-7)
