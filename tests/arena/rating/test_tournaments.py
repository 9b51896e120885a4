"""Bootstrapped tournaments."""

import itertools

import choix
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.errors import UsageError
from arena.rating import bradley_terry, pairs
from arena.rating.ratings import rate
from arena.rating.tournaments import bootstrap_tournaments


def judgments(rows, language="en"):
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language=language, judge="judge")


def round_robin(systems, questions, seed=0, noise=1.0):
    """Judgments of systems whose strength falls in the order given."""
    random = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        for (i, one), (j, other) in itertools.combinations(enumerate(systems), 2):
            better = (j - i) + noise * random.logistic()
            winner = "tie" if abs(better) < 0.2 else "a" if better > 0 else "b"
            if random.random() < 0.5:
                rows.append((f"q{question}", one, other, winner))
            else:
                swapped = {"a": "b", "b": "a", "tie": "tie"}[winner]
                rows.append((f"q{question}", other, one, swapped))
    return judgments(rows)


def test_dropped_ties_are_counted():
    rows = [("q1", "x", "y", "tie"), ("q2", "x", "y", "a")]
    held = bootstrap_tournaments(judgments(rows), 5, ties="drop")
    assert held.dropped_ties == 1
    assert held.battles.questions == ("q2",)
    with pytest.raises(UsageError, match="no judgments to count"):
        bootstrap_tournaments(judgments(rows[:1]), ties="drop")
    with pytest.raises(UsageError, match="unknown tie rule 'win'; use one of half, drop"):
        bootstrap_tournaments(judgments(rows), ties="win")


def test_many_systems_are_fitted_a_part_at_a_time_and_too_many_refused(monkeypatch):
    table = round_robin("abcdefgh", 12)
    whole = bootstrap_tournaments(table, 20)
    monkeypatch.setattr(pairs, "BLOCK_ENTRIES", 60)
    parts = bootstrap_tournaments(table, 20)
    np.testing.assert_allclose(parts.coefficients, whole.coefficients, atol=2e-8)
    monkeypatch.setattr(pairs, "MOST_SYSTEMS", 7)
    for rated in (bootstrap_tournaments, rate):
        with pytest.raises(UsageError, match="at most 7 are rated together"):
            rated(table)


def hardly_beaten(questions, random):
    """Judgments of four systems, of which the first loses on a single question."""
    for number in range(questions):
        for one, other in itertools.combinations(["top", "mid", "low", "last"], 2):
            wins = number > 0 if one == "top" else random.random() < 0.6
            yield f"q{number}", one, other, "a" if wins else "b"


def test_coefficients_are_the_same_to_the_bit_however_many_pairs_are_computed_at_a_time(
    monkeypatch,
):
    table = judgments(round_robin("abcdefg", 8))
    at_once = bootstrap_tournaments(table, tournaments=20, questions=5).coefficients
    monkeypatch.setattr(bradley_terry, "ENTRIES_AT_ONCE", 1)
    one_by_one = bootstrap_tournaments(table, tournaments=20, questions=5).coefficients
    np.testing.assert_array_equal(one_by_one, at_once)


@pytest.mark.slow
def test_tournaments_equal_choix_on_their_comparisons_and_without_a_maximum_its_fallback():
    table = judgments(list(hardly_beaten(12, np.random.default_rng(4))))
    held = bootstrap_tournaments(table, 30, 12, ridge=0.0)
    position = {system: index for index, system in enumerate(held.systems)}
    fell_back = 0
    for draws, coefficients in zip(held.draws, held.coefficients, strict=True):
        listed = []
        for row in table.itertuples():
            pair = (position[row.system_a], position[row.system_b])
            times = int(draws[held.battles.questions.index(row.query_id)])
            listed += [pair if row.winner == "a" else pair[::-1]] * times
        try:
            with np.errstate(all="ignore"):  # of a chain that one system absorbs
                expected, tolerance = choix.ilsr_pairwise(4, listed), 1e-6
        except (ValueError, RuntimeError):
            expected, tolerance = choix.opt_pairwise(4, listed, tol=1e-12), 0.02  # stops early
            fell_back += 1
        np.testing.assert_allclose(coefficients, expected - expected.mean(), atol=tolerance)
    assert 0 < fell_back < 30
    assert held.regularized == fell_back


def test_ratings_by_tournaments_are_their_means_and_percentiles():
    held = bootstrap_tournaments(round_robin(["a", "b", "c", "d"], 30, noise=2.0), 50, ridge=0.0)
    table = held.rate("tournaments").table.set_index("system").loc[list(held.systems)]
    np.testing.assert_allclose(table["rating"], held.coefficients.mean(axis=0))
    bounds = np.percentile(held.coefficients, [2.5, 97.5], axis=0)
    np.testing.assert_allclose(table[["low", "high"]].to_numpy().T, bounds)
    by_judgments = held.rate().table.set_index("system").loc[list(held.systems)]
    assert table["tier"].equals(by_judgments["tier"])
    assert not table["rating"].equals(by_judgments["rating"])


def test_a_tournament_without_a_systems_battles_leaves_it_missing_not_zero():
    rows = [(f"q{i}", "a", "b", "a" if i % 2 else "b") for i in range(6)]
    rows.append(("q0", "rare", "a", "a"))
    held = bootstrap_tournaments(judgments(rows), 100)
    rare = held.coefficients[:, held.systems.index("rare")]
    drew_it = held.draws[:, held.battles.questions.index("q0")] > 0
    np.testing.assert_array_equal(np.isnan(rare), ~drew_it)
    assert np.isfinite(held.mean_coefficients).all()


def test_a_tournament_that_rates_nobody_is_missing():
    rows = [("q1", "a", "b", "a"), ("q1", "b", "c", "a"), ("q2", "x", "y", "a")]
    held = bootstrap_tournaments(judgments(rows), 20, 1)
    is_rated = np.isfinite(held.coefficients).any(axis=1)
    np.testing.assert_array_equal(is_rated, held.draws[:, 0] > 0)
    assert is_rated.any()
    assert not is_rated.all()


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_order_of_rows_and_sides_change_nothing(seed):
    table = round_robin(["x", "y", "z"], 6, seed=seed)
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    )
    changed = mirrored.sample(frac=1.0, random_state=seed)
    one, other = bootstrap_tournaments(table, 10), bootstrap_tournaments(changed, 10)
    np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_one_seed_gives_one_result_and_languages_draw_differently():
    table = round_robin(["x", "y", "z"], 12)
    one, same, other = (bootstrap_tournaments(table, 30, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.coefficients, same.coefficients)
    assert (one.draws != other.draws).any()
    assert (bootstrap_tournaments(table.assign(language="fi"), 30, seed=1).draws != one.draws).any()
