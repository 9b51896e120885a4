"""Soft verdicts count by their shares, wherever whole ones count."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from arena import UsageError
from arena.rating.battles import Battles, system_records
from arena.rating.judgments import outcome_rows
from arena.rating.likelihood import BattleLikelihood
from arena.rating.posterior import battle_posterior
from arena.rating.ratings import rate
from arena.rating.soft_verdicts import (
    DEFAULT_TEMPERATURE,
    SMALLEST_PROBABILITY,
    calibrated_judgments,
    learn_temperatures,
    values_by_judge,
)
from arena.rating.tournaments import bootstrap_tournaments

SYSTEMS = ("x", "y", "z")


def table(shares):
    """Make soft judgments of quarters, and the whole ones that they stand for, four times each."""
    soft, whole = [], []
    for number, (a, b) in enumerate(shares):
        key = {"query_id": f"q{number % 4}", "language": "en", "judge": "j"}
        key |= {"system_a": SYSTEMS[number % 3], "system_b": SYSTEMS[(number + 1) % 3]}
        soft.append(key | {"winner": "a"})
        soft[-1] |= {"probability_a": a / 4, "probability_b": b / 4}
        said = ["a"] * a + ["b"] * b + ["tie"] * (4 - a - b)
        whole += [key | {"winner": each, "judge": f"j{k}"} for k, each in enumerate(said)]
    return pd.DataFrame(soft), pd.DataFrame(whole)


QUARTERS = st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda ab: sum(ab) <= 4)


@pytest.mark.slow
@given(st.lists(QUARTERS, min_size=3, max_size=12))
@settings(max_examples=25)
def test_shares_count_as_the_battles_they_stand_for(shares):
    soft, whole = (Battles.from_judgments(each) for each in table(shares))
    assert soft.judged == len(shares)
    np.testing.assert_allclose(4 * soft.items.counts, whole.items.counts)
    np.testing.assert_allclose(4 * soft.items.points, whole.items.points)
    records = system_records(soft).set_index("system") * 4
    np.testing.assert_allclose(records, system_records(whole).set_index("system"))


def test_ratings_and_tournaments_are_those_of_the_battles_they_stand_for():
    soft, whole = table([(3, 1), (2, 2), (1, 2), (4, 0), (0, 3), (2, 1), (1, 1), (2, 0)])
    battles = [Battles.from_judgments(each) for each in (soft, whole)]
    one, two = (rate(each, ridge=0.0, rounds=0).table for each in battles)
    np.testing.assert_allclose(one["rating"], two["rating"], atol=1e-6)
    assert "|battles:8|" in rate(battles[0], rounds=20).signature
    first, second = (bootstrap_tournaments(each, 5, 4, ridge=0.0) for each in (soft, whole))
    np.testing.assert_allclose(first.coefficients, second.coefficients, atol=1e-5)


def test_whole_and_soft_judgments_stand_side_by_side():
    soft, whole = table([(3, 1), (2, 2)])
    both = pd.concat([soft, whole], ignore_index=True)
    rows, position, weight = outcome_rows(both)
    assert weight.sum() == pytest.approx(len(soft) + len(whole))
    assert np.bincount(position, weight).tolist() == pytest.approx([1.0] * len(both))
    assert list(rows.columns) == list(both.columns)
    assert outcome_rows(whole)[2] is None


@pytest.mark.parametrize(("a", "b"), [(None, 0.5), (0.8, 0.4), (-0.1, 0.5), ("much", 0.5)])
def test_unsound_shares_are_refused(a, b):
    soft, _ = table([(3, 1)])
    wrong = soft.astype(object).assign(probability_a=[a], probability_b=b)
    with pytest.raises(UsageError, match="no sound probability_a and probability_b"):
        Battles.from_judgments(wrong)
    with pytest.raises(UsageError, match="need probability_a and probability_b, or neither"):
        Battles.from_judgments(soft.drop(columns="probability_a"))
    with pytest.raises(UsageError, match="need a query_id"):
        Battles.from_judgments(soft.drop(columns="query_id"))


def judged(log_odds, votes=None, ties=0.0):
    """Make judgments of pairs of six systems by a judge of these logits, and people's votes."""
    pairs = [(f"s{i}", f"s{j}") for i in range(6) for j in range(i + 1, 6)]
    rows = []
    for number, value in enumerate(log_odds):
        system_a, system_b = pairs[number % len(pairs)]
        key = {"query_id": f"q{number // len(pairs)}", "language": "en"}
        key |= {"system_a": system_a, "system_b": system_b}
        sides = {"probability_a": (1 - ties) * expit(value)}
        sides["probability_b"] = (1 - ties) * expit(-value)
        rows.append(key | sides | {"winner": "a" if value > 0 else "b", "judge": "model"})
        if votes is not None:
            winner = "a" if votes[number] else "b"
            rows.append(key | {"winner": winner, "judge": "people"})
    return pd.DataFrame(rows)


def swapped(judgments):
    """Show every pair the other way round."""
    columns = {"system_a": "system_b", "system_b": "system_a"}
    columns |= {"probability_a": "probability_b", "probability_b": "probability_a"}
    winner = judgments["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    return judgments.rename(columns=columns).assign(winner=winner)


@pytest.mark.parametrize("true_temperature", [1.0, 3.0, 10.0])
def test_the_temperature_of_people_is_recovered(true_temperature):
    random = np.random.default_rng(5)
    log_odds = true_temperature * random.normal(0, 1.5, 3000)
    votes = random.random(3000) < expit(log_odds / true_temperature)
    # Probabilities below 1e-6 are no longer told apart.
    is_exact = np.abs(log_odds) < -logit(SMALLEST_PROBABILITY)
    (found,) = learn_temperatures(judged(log_odds[is_exact], votes[is_exact]))
    assert (found.judge, found.source, found.n_labels) == ("model", "people", is_exact.sum())
    # The standard error of its logarithm is about .06 here.
    assert found.value == pytest.approx(true_temperature, rel=0.2)
    # A tie of the judge's says nothing against its logits.
    tied = learn_temperatures(judged(log_odds[is_exact], votes[is_exact], ties=0.5))
    assert tied[0].value == pytest.approx(found.value, rel=0.02)


def test_a_judge_that_repeats_itself_less_is_taken_less_at_its_word():
    random = np.random.default_rng(6)
    quality = random.normal(0, 3, 600)
    temperatures = []
    for noise in (0.0, 2.0, 6.0):
        looks = [judged(quality + noise * random.normal(size=600)) for _ in range(2)]
        looks[1] = swapped(looks[1])
        (found,) = learn_temperatures(pd.concat(looks, ignore_index=True))
        assert (found.source, found.n_labels) == ("repeats", 1200)
        temperatures.append(found.value)
    # Repetition alone never says that a judge is right.
    assert temperatures[0] == pytest.approx(DEFAULT_TEMPERATURE, rel=0.01)
    assert temperatures[0] < temperatures[1] < temperatures[2]
    (alone,) = learn_temperatures(looks[0])
    assert (alone.source, alone.value) == ("default", DEFAULT_TEMPERATURE)


def test_copies_are_neither_repeated_verdicts_nor_further_votes():
    random = np.random.default_rng(12)
    log_odds = random.normal(0, 3, 60)
    alone = judged(log_odds)
    voted = judged(log_odds, random.random(60) < 0.7)
    voted.loc[voted["judge"] == "people", "voter"] = "ann"
    for table in (alone, voted):
        twice = pd.concat([table, table], ignore_index=True)
        assert learn_temperatures(twice) == learn_temperatures(table)


@pytest.mark.slow
@given(st.lists(st.floats(-12, 12), min_size=15, max_size=45), st.floats(0, 0.9), st.integers(0, 9))
@settings(max_examples=20)
def test_neither_sides_nor_names_nor_rows_decide(log_odds, ties, seed):
    random = np.random.default_rng(seed)
    table = judged(log_odds, random.random(len(log_odds)) < 0.6, ties)
    learned = learn_temperatures(table)
    counted = calibrated_judgments(table, values_by_judge(learned))
    mirrored = swapped(table)
    assert learn_temperatures(mirrored) == learned
    again = swapped(calibrated_judgments(mirrored, values_by_judge(learned)))
    for name in ("probability_a", "probability_b"):
        np.testing.assert_allclose(again[name], counted[name], atol=1e-12)
    renamed = {f"s{number}": f"s{5 - number}" for number in range(6)}
    others = table.replace({"system_a": renamed, "system_b": renamed})
    assert learn_temperatures(others) == learned
    shuffled = table.sample(frac=1, random_state=seed)
    assert learn_temperatures(shuffled) == learned


def test_at_the_limits_verdicts_are_whole_or_ties():
    random = np.random.default_rng(7)
    table = judged(random.normal(0, 3, 90))
    hard = calibrated_judgments(table, hard=True)
    cold = calibrated_judgments(table, {"model": 1e-9})
    hot = calibrated_judgments(table, {"model": 1e9})
    by_winner = battle_posterior(Battles.from_judgments(hard))
    by_cold = battle_posterior(Battles.from_judgments(cold))
    np.testing.assert_allclose(by_cold.ratings, by_winner.ratings, atol=1e-9)
    by_hot = battle_posterior(Battles.from_judgments(hot))
    np.testing.assert_allclose(by_hot.ratings, 0.0, atol=1e-6)
    assert np.isfinite(by_hot.standard_errors).all()
    # At a temperature of 1 probabilities count as they are.
    plain = calibrated_judgments(table, {"model": 1.0})
    np.testing.assert_allclose(plain["probability_a"], table["probability_a"], atol=1e-12)


def test_probabilities_that_state_whole_verdicts_rate_as_those_do():
    random = np.random.default_rng(8)
    table = judged(random.normal(0, 3, 90))
    winners = np.where(random.random(90) < 0.2, "tie", table["winner"])
    whole = table.assign(
        winner=winners,
        probability_a=(winners == "a") + 0.5 * (winners == "tie"),
        probability_b=(winners == "b") + 0.5 * (winners == "tie"),
    )
    expected = rate(whole.drop(columns=["probability_a", "probability_b"]))
    pd.testing.assert_frame_equal(rate(whole).table, expected.table)
    assert rate(whole).remarks != rate(table).remarks
    assert learn_temperatures(whole) == ()


def test_a_probability_of_one_half_is_a_tie():
    random = np.random.default_rng(9)
    table = judged(random.normal(0, 3, 90))
    is_even = np.arange(90) % 3 == 0
    even = table.copy()
    even.loc[is_even, ["probability_a", "probability_b"]] = 0.5
    tied = table.assign(winner=np.where(is_even, "tie", table["winner"]))
    tied.loc[is_even, ["probability_a", "probability_b"]] = np.nan
    by_even, by_tied = (
        battle_posterior(Battles.from_judgments(calibrated_judgments(each)))
        for each in (even, tied)
    )
    np.testing.assert_allclose(by_even.ratings, by_tied.ratings, atol=0.02)
    items = [Battles.from_judgments(calibrated_judgments(each)).items for each in (even, tied)]
    np.testing.assert_allclose(items[0].points, items[1].points)


def test_the_majority_of_a_panel_counts():
    table = judged([1.0, -2.0, 0.5]).assign(judge="panel(majority)")
    assert learn_temperatures(table) == ()
    assert calibrated_judgments(table)[["probability_a", "probability_b"]].isna().all(axis=None)


def test_soft_verdicts_vary_less_than_wins():
    """The variance of shares is that of the shares, not of the wins they stand for."""
    random = np.random.default_rng(10)
    table = judged(random.normal(0, 2, 1500))
    likelihoods = {}
    for name, temperature in (("sure", 1.0), ("mild", 5.0)):
        battles = Battles.from_judgments(calibrated_judgments(table, {"model": temperature}))
        likelihoods[name] = BattleLikelihood(battles.items)
    at = np.zeros(6)
    shares = expit(np.array([2.0, 0.4])[:, None] * random.normal(size=20_000))
    expected = ((shares - 0.5) ** 2).mean(axis=1) / 0.25
    assert likelihoods["sure"].dispersion(at) == pytest.approx(expected[0], rel=0.1)
    assert likelihoods["mild"].dispersion(at) == pytest.approx(expected[1], rel=0.1)
    hard = Battles.from_judgments(calibrated_judgments(table, hard=True))
    assert BattleLikelihood(hard.items).dispersion(at) == 1.0
    effects = likelihoods["mild"].design_effects(at, 1.0)
    assert effects.by_system.max() < 0.1


@pytest.mark.slow
def test_intervals_of_soft_verdicts_cover():
    """Posterior intervals hold the ratings that endless questions would give."""
    random = np.random.default_rng(11)
    strengths = np.linspace(-0.6, 0.6, 6)
    first, second = np.triu_indices(6, 1)

    def shown(n_questions):
        qualities = strengths + 0.7 * random.normal(size=(n_questions, 6))
        return 4.0 * (qualities[:, first] - qualities[:, second]).ravel()

    def rated(log_odds):
        counted = calibrated_judgments(judged(log_odds), {"model": 6.0})
        return battle_posterior(Battles.from_judgments(counted))

    truth = rated(shown(3000)).ratings
    inside = []
    for _ in range(60):
        low, high = rated(shown(12)).bounds
        inside.append((low <= truth) & (truth <= high))
    coverage = float(np.mean(inside))
    # Of 60 worlds with 5 free ratings each, the standard error is .013.
    assert 0.90 < coverage < 0.995
