"""Ratings: golden values, peers, properties, and what cannot be rated."""

import itertools
from pathlib import Path

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kendalltau, norm

from arena import read_arena
from arena.data.errors import UsageError
from arena.rating.baselines import elo, win_rate
from arena.rating.battles import Battles
from arena.rating.bradley_terry import ConvergenceError, fit_bradley_terry
from arena.rating.ratings import (
    ALL_LOST,
    ALL_WON,
    MOST_COMPARED,
    NO_TIES,
    NOT_CONNECTED,
    PRIOR_NEEDED,
    TOO_MANY,
    rate,
)

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


def judgments(rows):
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language="en", judge="judge")


def arena_of(strength, questions, seed=0, side=0.0, tie=0.0):
    """Judgments of systems whose logits are known; ties by Davidson's model."""
    random = np.random.default_rng(seed)
    names = [f"s{index}" for index in range(len(strength))]
    rows = []
    for question in range(questions):
        for i, j in itertools.combinations(range(len(strength)), 2):
            if random.random() < 0.5:
                i, j = j, i
            logits = strength[i] - strength[j] + side
            weights = np.array([np.exp(logits / 2), np.exp(-logits / 2), tie])
            winner = random.choice(["a", "b", "tie"], p=weights / weights.sum())
            rows.append((f"q{question}", names[i], names[j], winner))
    return judgments(rows)


def clustered_battles(strength, questions, seed):
    """Battles whose logits are known and which hang together within a question.

    On each question a system has a latent standard normal deviate; a pair's uniform deviate comes
    from the difference of the two, so that each pair's chance of a win is exactly that of the
    Bradley-Terry model while battles of a question are dependent.
    """
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(len(strength), 1)
    latent = random.normal(size=(questions, len(strength)))
    uniform = norm.cdf((latent[:, second] - latent[:, first]) / np.sqrt(2))
    won = uniform < expit(strength[first] - strength[second])
    return Battles(
        systems=tuple(f"s{index}" for index in range(len(strength))),
        side_a=np.tile(first, questions),
        side_b=np.tile(second, questions),
        winner=np.where(won, 0, 1).ravel(),
        question=np.repeat(np.arange(questions), len(first)),
        n_questions=questions,
    )


def rated(table, **options):
    return rate(table, **{"rounds": 50, **options})


def by_system(ratings):
    return ratings.table.set_index("system")["rating"].sort_index()


@needs_shared
def test_rakuda_equals_the_published_fit_with_a_position_term():
    arena = read_arena(SHARED / "arenas" / "rakuda")
    ratings = rated(arena.judgments, position=True, scale="elo")
    golden = pd.read_csv(SHARED / "arenas" / "rakuda" / "mle_golden.csv", index_col="model_id")
    ours = ratings.table.set_index("system")["rating"]
    assert (ours - golden["notebook_mle_elo"]).abs().max() < 0.02
    assert (ours - golden["scout_refit_elo"]).abs().max() < 1e-3
    assert ratings.position_effect == pytest.approx(-0.156, abs=0.001)


@needs_shared
@pytest.mark.parametrize("pair", ["fin-eng", "rus-eng"])
@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_wmt16_agrees_with_the_published_trueskill_order(pair, ties):
    table = pd.read_csv(SHARED / "battles" / f"wmt16-{pair}.csv.gz", dtype=str)
    published = pd.read_csv(SHARED / "battles" / f"wmt16-{pair}.trueskill.csv")
    ours = rated(table.assign(language="en"), ties=ties, judge="all").table
    both = published.merge(ours, on="system", suffixes=("_published", ""))
    assert len(both) == len(published)
    assert kendalltau(both["trueskill"], both["rating"]).statistic >= 0.97


@pytest.mark.parametrize("model", ["davidson", "rao-kupper"])
def test_models_of_ties_reach_the_maximum_of_their_likelihood(model):
    table = arena_of([0.8, 0.1, -0.9], 40, seed=3, side=0.4, tie=0.6)
    ratings = rated(table, ties=model, position=True, ridge=0.0, interval="sandwich")
    codes = Battles.from_judgments(table)

    def loss(parameters):
        theta = np.append(parameters[:2], -parameters[:2].sum())
        logits = theta[codes.side_a] - theta[codes.side_b] + parameters[2]
        if model == "davidson":
            nu = np.exp(parameters[3])
            probabilities = np.array([np.exp(logits / 2), np.exp(-logits / 2), nu + 0 * logits])
            probabilities /= probabilities.sum(axis=0)
        else:
            eta = np.exp(parameters[3])
            win, lose = expit(logits - eta), expit(-logits - eta)
            probabilities = np.array([win, lose, 1 - win - lose])
        return -np.log(probabilities[codes.winner, np.arange(len(logits))]).sum()

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7})
    ours = by_system(ratings).to_numpy()
    np.testing.assert_allclose(ours[:2], best.x[:2], atol=1e-5)
    assert ratings.position_effect == pytest.approx(best.x[2], abs=1e-5)
    assert ratings.tie_parameter == pytest.approx(np.exp(best.x[3]), abs=1e-5)


@pytest.mark.parametrize("model", ["davidson", "rao-kupper"])
@pytest.mark.parametrize("position", [False, True])
def test_a_model_of_ties_without_a_tie_is_bradley_terry_and_says_so(model, position):
    table = arena_of([0.5, 0.0, -0.5], 30)
    ours = rated(table, ties=model, position=position, rounds=20)
    plain = rated(table, position=position, rounds=20)
    pd.testing.assert_frame_equal(ours.table, plain.table)
    assert (ours.tie_parameter, plain.tie_parameter) == (0.0, None)
    assert ours.notes == (*plain.notes, NO_TIES)
    assert PRIOR_NEEDED not in ours.notes
    assert f"ties:{model}" in ours.signature
    # The maximum is approached as ties become rare.
    one = table.iloc[:1].assign(winner="tie")
    rare = rated(pd.concat([table] * 300 + [one]), ties=model, position=position, interval="none")
    np.testing.assert_allclose(by_system(rare), by_system(ours), atol=2e-3)


def test_a_model_of_ties_with_nothing_else_has_no_maximum():
    table = arena_of([0.5, 0.0, -0.5], 30).assign(winner="tie")
    with pytest.raises(ConvergenceError, match="nothing but ties"):
        rated(table, ties="davidson", ridge=0.0)
    assert PRIOR_NEEDED in rated(table, ties="davidson").notes


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["half", "davidson", "rao-kupper", "drop"]))
def test_relabelling_mirroring_duplicating_and_order_change_no_rating(seed, ties):
    table = arena_of([0.6, 0.2, -0.1, -0.7], 12, seed=seed, tie=0.5)
    options = {"ties": ties, "interval": "sandwich", "ridge": 0.0}
    try:
        plain = by_system(rated(table, **options))
    except ConvergenceError:
        return
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    )
    doubled = pd.concat([table, table.assign(query_id=table["query_id"] + "'")])
    shuffled = table.sample(frac=1.0, random_state=seed)
    for changed in (mirrored, doubled, shuffled):
        np.testing.assert_allclose(by_system(rated(changed, **options)), plain, atol=1e-7)
    names = {"s0": "z", "s1": "s1", "s2": "a", "s3": "m"}
    relabeled = table.replace({"system_a": names, "system_b": names})
    ours = by_system(rated(relabeled, **options))
    np.testing.assert_allclose(ours[[names[name] for name in plain.index]], plain, atol=1e-7)


def test_mirroring_turns_the_position_effect_round():
    table = arena_of([0.5, 0.0, -0.5], 60, seed=1, side=0.8)
    swapped = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map({"a": "b", "b": "a"})
    )
    one = rated(table, position=True, interval="sandwich")
    other = rated(swapped, position=True, interval="sandwich")
    assert one.position_effect == pytest.approx(-other.position_effect, abs=1e-8)
    assert one.position_effect > 0.3


def test_transitive_data_are_ranked_in_order():
    names = ["d", "a", "c", "b"]
    rows = [
        (f"q{question}", one, other, "a")
        for question in range(5)
        for one, other in itertools.combinations(names, 2)
    ]
    ratings = rated(judgments(rows))
    assert list(ratings.table["system"]) == names
    assert ratings.notes == (PRIOR_NEEDED,)
    assert list(ratings.table["note"]) == [ALL_WON, "", "", ALL_LOST]
    assert np.isfinite(ratings.table[["rating", "low", "high"]].to_numpy()).all()


@pytest.mark.parametrize("interval", ["bootstrap", "bca", "sandwich"])
def test_intervals_hold_their_rating_and_agree_with_each_other(interval):
    table = arena_of([0.8, 0.3, -0.2, -0.9], 150, seed=2)
    ratings = rated(table, interval=interval, rounds=400).table
    assert (ratings["low"] < ratings["rating"]).all()
    assert (ratings["rating"] < ratings["high"]).all()
    reference = rated(table, interval="sandwich").table
    widths = (ratings["high"] - ratings["low"]) / (reference["high"] - reference["low"])
    assert widths.between(0.8, 1.25).all()


def test_rank_intervals_and_tiers_separate_only_what_differs():
    clear = rated(arena_of([1.5, 1.5, -1.5, -1.5], 100, seed=4), rounds=200).table
    assert list(clear["tier"]) == [1, 1, 2, 2]
    assert list(clear["rank_low"]) == [1, 1, 3, 3]
    assert list(clear["rank_high"]) == [2, 2, 4, 4]
    unclear = rated(arena_of([0.0, 0.0, 0.0, 0.0], 10, seed=5), rounds=200).table
    assert set(unclear["tier"]) == {1}
    assert set(unclear["rank_low"]) == {1}
    assert set(unclear["rank_high"]) == {4}


def test_two_islands_are_not_put_on_one_scale():
    table = pd.concat([arena_of([0.5, 0.0, -0.5], 10), judgments([("q", "x", "y", "a")])])
    ratings = rated(table)
    unrated = ratings.table.set_index("system").loc[["x", "y"]]
    assert unrated["rating"].isna().all()
    assert unrated["rank"].isna().all()
    assert list(unrated["wins"]) == [1, 0]
    assert list(unrated["note"]) == [NOT_CONNECTED, NOT_CONNECTED]
    assert ratings.notes[0] == "2 of 5 systems are unrated"


def test_ten_thousand_systems_with_one_battle_each_are_rated_as_far_as_they_connect():
    rows = [("q", f"s{index:05}", f"s{index + 1:05}", "a") for index in range(0, 10_000, 2)]
    ratings = rated(judgments(rows), interval="sandwich")
    assert ratings.table["rating"].notna().sum() == 2
    assert (ratings.table["note"] == NOT_CONNECTED).sum() == 10_000 - 2


def test_thousands_of_systems_that_meet_at_random_are_solved_to_the_optimum():
    random = np.random.default_rng(0)
    size, battles = 3_100, 40_000
    first = random.integers(size, size=battles)
    second = (first + 1 + random.integers(size - 1, size=battles)) % size
    won = random.integers(2, size=(1, battles)).astype(float)
    fit = fit_bradley_terry(won, np.ones_like(won), first, second, size, ridge=0.1)
    theta = fit.coefficients[0]
    residual = expit(theta[first] - theta[second]) - won[0]
    gradient = (
        0.1 * theta + np.bincount(first, residual, size) - np.bincount(second, residual, size)
    )
    assert np.abs(gradient).max() < 1e-7


def test_too_many_systems_to_compare_all_pairs_are_rated_without_rank_intervals():
    size = MOST_COMPARED + 1
    rows = [(f"q{i}", f"s{i:05}", f"s{(i + 1) % size:05}", "tie") for i in range(size)]
    ratings = rated(judgments(rows), rounds=2, ridge=0.1)
    assert ratings.table["rating"].notna().all()
    assert ratings.table[["rank_low", "rank_high", "tier"]].isna().all(axis=None)
    assert TOO_MANY in ratings.notes


def test_thousands_of_systems_are_solved_sparsely():
    size = 3_200
    first = np.arange(size - 1)
    points = np.where(first % 2 == 0, 0.75, 0.25)[None]
    fit = fit_bradley_terry(points, np.ones_like(points), first, first + 1, size, ridge=1e-9)
    expected = np.where(first % 2 == 0, np.log(3), -np.log(3))
    np.testing.assert_allclose(-np.diff(fit.coefficients[0]), expected, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
def test_nominal_95_percent_intervals_hold_the_truth_93_to_97_percent_of_the_time(interval):
    truth = np.array([0.9, 0.4, 0.1, -0.2, -0.5, -0.7])
    codes = [clustered_battles(truth, questions=80, seed=seed) for seed in range(200)]
    held = [rate(item, interval=interval, rounds=200, ridge=0.0).table for item in codes]
    tables = [table.sort_values("system") for table in held]
    inside = [(table["low"] <= truth) & (truth <= table["high"]) for table in tables]
    assert 0.93 <= np.mean(inside) <= 0.97


@pytest.mark.parametrize("interval", ["bootstrap", "bca", "sandwich", "none"])
def test_a_rating_does_not_depend_on_how_its_interval_is_made(interval):
    """Half of the bootstrap samples miss the one question on which the best system loses."""
    rows = [(f"q{number}", "x", "y", "a" if number % 3 else "b") for number in range(12)]
    rows += [(f"q{number}", "z", "y", "b" if number == 5 else "a") for number in range(12)]
    exact = rated(judgments(rows), ridge=0.0, interval="none")
    ratings = rated(judgments(rows), interval=interval, rounds=200)
    np.testing.assert_allclose(by_system(ratings), by_system(exact), atol=1e-12)
    assert "ridge:0|" in ratings.signature
    counted = [note for note in ratings.notes if "bootstrap samples" in note]
    assert len(counted) == (interval in ("bootstrap", "bca"))
    if counted:
        assert 40 < int(counted[0].split()[1]) < 100
        assert np.isfinite(ratings.table[["low", "high"]].to_numpy()).all()
    assert ratings.table["low"].isna().all() == (interval == "none")


def test_the_columns_of_a_plain_table_choose_a_language_and_a_judge():
    table = arena_of([0.5, 0.0, -0.5], 20)
    both = pd.concat([table, arena_of([-0.5, 0.0, 0.5], 20, seed=1).assign(language="fi")])
    with pytest.raises(UsageError, match=r"several languages, choose one \(or all\): en, fi"):
        rated(both)
    np.testing.assert_array_equal(by_system(rated(both, language="en")), by_system(rated(table)))
    together = rated(both, language="all")
    assert "battles:120|questions:40" in together.signature
    with pytest.raises(UsageError, match="no judge 'me' here; there is judge"):
        rated(table, judge="me")
    bare = rated(table[["system_a", "system_b", "winner"]], interval="sandwich")
    np.testing.assert_allclose(by_system(bare), by_system(rated(table)), atol=1e-9)


def test_records_count_wins_losses_and_ties():
    rows = [("q1", "x", "y", "a"), ("q2", "y", "x", "a"), ("q3", "x", "y", "tie")]
    table = rated(judgments(rows)).table.set_index("system")
    assert table[["wins", "losses", "ties"]].to_numpy().tolist() == [[1, 1, 1], [1, 1, 1]]


def test_one_seed_gives_one_result():
    codes = Battles.from_judgments(arena_of([0.5, 0.0, -0.5], 30))
    one, same, other = (rate(codes, rounds=50, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one.table, same.table)
    assert not one.table["low"].equals(other.table["low"])
    assert one.signature.startswith("bradley-terry|ties:half|position:no|ridge:0|controls:none|")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "win"}, "unknown tie rule 'win'; use one of half, drop, davidson, rao-kupper"),
        ({"interval": "wald"}, "unknown interval 'wald'; use one of bootstrap, bca, sandwich"),
        ({"scale": "percent"}, "unknown scale 'percent'; use one of logit, elo"),
        ({"rounds": 1}, "rounds must be at least 2"),
        ({"ridge": -1.0}, "ridge must be at least 0"),
    ],
)
def test_unknown_choices_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        rated(arena_of([0.5, -0.5], 5), **options)


def test_nothing_to_rate_is_said():
    with pytest.raises(UsageError, match="no judgments to count"):
        Battles.from_judgments(judgments([]))
    with pytest.raises(UsageError, match="unknown winner: c"):
        rated(judgments([("q", "x", "y", "c")]))
    with pytest.raises(UsageError, match="x is judged against itself"):
        rated(judgments([("q", "x", "x", "a")]))
    with pytest.raises(UsageError, match="a system without a name"):
        rated(judgments([("q", "x", None, "a")]))
    with pytest.raises(UsageError, match="no judgments to count"):
        rated(judgments([("q", "x", "y", "tie")]), ties="drop")


def test_win_rate_counts_ties_half():
    rows = [("q1", "x", "y", "a"), ("q2", "y", "x", "tie"), ("q3", "x", "z", "b")]
    table = win_rate(Battles.from_judgments(judgments(rows))).set_index("system")
    assert table["rating"].to_dict() == {"z": 1.0, "x": 0.5, "y": 0.25}
    assert table["battles"].to_dict() == {"z": 1, "x": 3, "y": 2}


def test_elo_after_one_battle_is_the_formula():
    table = elo(Battles.from_judgments(judgments([("q", "x", "y", "a")])), k=32, orders=3)
    assert table.set_index("system")["rating"].to_dict() == {"x": 1016.0, "y": 984.0}


def test_elo_and_win_rate_rank_as_bradley_terry_on_plenty_of_data():
    codes = Battles.from_judgments(arena_of([1.0, 0.3, -0.4, -0.9], 100, seed=6))
    expected = list(rate(codes, rounds=2).table["system"])
    assert list(win_rate(codes)["system"]) == expected
    assert list(elo(codes, orders=20)["system"]) == expected
    with pytest.raises(UsageError, match="K must be above 0"):
        elo(codes, k=0)


def test_ratings_equal_evalicas_on_battles_with_ties():
    table = arena_of([0.9, 0.4, 0.0, -0.4, -0.9], 40, seed=8, tie=0.5)
    winners = table["winner"].map(
        {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    )
    scores = evalica.bradley_terry(
        list(table["system_a"]),
        list(table["system_b"]),
        list(winners),
        tolerance=1e-12,
        limit=10_000,
    ).scores
    expected = np.log(scores) - np.log(scores).mean()
    ours = by_system(rated(table, ridge=0.0, interval="sandwich"))
    np.testing.assert_allclose(ours, expected.reindex(ours.index), atol=1e-6)
