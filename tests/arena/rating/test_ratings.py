"""Ratings: golden values, peers, properties, and what cannot be rated."""

import itertools
from dataclasses import replace

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import kendalltau, norm
from shared_data import shared_path
from simulations import small_simulation

from arena.data.errors import UsageError
from arena.rating.battles import Battles
from arena.rating.bradley_terry import ConvergenceError
from arena.rating.group_ratings import Method
from arena.rating.ratings import (
    ALL_LOST,
    ALL_WON,
    NOT_CONNECTED,
    rate,
    rate_battles,
)


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


@pytest.mark.parametrize("pair", ["fin-eng", "rus-eng"])
def test_wmt16_agrees_with_the_published_trueskill_order(pair):
    battles = shared_path("data/battles")
    table = pd.read_csv(battles / f"wmt16-{pair}.csv.gz", dtype=str)
    published = pd.read_csv(battles / f"wmt16-{pair}.trueskill.csv")
    ours = rated(table.assign(language="en"), judge="all").table
    both = published.merge(ours, on="system", suffixes=("_published", ""))
    assert len(both) == len(published)
    assert kendalltau(both["trueskill"], both["rating"]).statistic >= 0.97


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["half", "drop"]))
def test_relabelling_mirroring_duplicating_and_order_change_no_rating(seed, ties):
    table = arena_of([0.6, 0.2, -0.1, -0.7], 12, seed=seed, tie=0.5)
    options = {"ties": ties, "rounds": 0, "ridge": 0.0}
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


@pytest.mark.parametrize("ridge", [None, 0.1])
def test_of_systems_that_only_win_or_lose_the_order_stands_and_the_reason(ridge):
    names = ["d", "a", "c", "b"]
    pairs = list(itertools.combinations(names, 2))
    ratings = rated(
        judgments([(f"q{question}", *pair, "a") for question in range(5) for pair in pairs]),
        ridge=ridge,
    )
    assert list(ratings.table["system"]) == names
    assert list(ratings.table["note"]) == [ALL_WON, "", "", ALL_LOST]
    assert np.isfinite(ratings.table["rating"]).all()
    # Resamples of questions on which all verdicts are the same do not differ.
    has_intervals = ratings.table[["low", "high"]].notna().all(axis=None)
    assert has_intervals == (ridge is None)


def held(systems, questions, number, **options):
    """Rate equal systems: how often one leads alone, and what ranks and intervals contain.

    Of equal systems any order is the true one: here it is that of their names.
    """
    tables = [
        rate(clustered_battles(np.zeros(systems), questions, seed), **options).table
        for seed in range(number)
    ]
    alone = [(table["rank_low"] == 1).sum() == 1 for table in tables]
    ranks = []
    for table in tables:
        places = table["system"].rank()
        ranks.append(places.between(table["rank_low"], table["rank_high"]))
    inside = [(table["low"] <= 0) & (table["high"] >= 0) for table in tables]
    return np.mean(alone), np.mean(ranks), np.mean(inside)


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "questions"), [(12, 10), (12, 25), (53, 12)])
def test_equal_systems_are_ranked_equal(systems, questions):
    alone, ranks, inside = held(systems, questions, 24)
    assert alone <= 0.25  # .1 at most, and two standard errors
    assert ranks >= 0.87
    assert inside >= 0.87


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"ridge": 0.0, "rounds": 200}])
@pytest.mark.parametrize("questions", [5, 50])
def test_ranks_and_intervals_hold_in_90_percent(questions, options):
    alone, ranks, inside = held(12, questions, 200, **options)
    assert alone <= 0.13
    assert ranks >= 0.88
    assert inside >= 0.84 if options else 0.89


def test_the_two_estimators_agree_where_verdicts_are_many():
    table = arena_of([0.8, 0.3, -0.2, -0.9], 300, seed=2)
    posterior, likelihood = (
        rated(table, ridge=ridge, rounds=400).table.set_index("system").sort_index()
        for ridge in (None, 0.0)
    )
    np.testing.assert_allclose(posterior["rating"], likelihood["rating"], atol=0.02)
    widths = [table["high"] - table["low"] for table in (posterior, likelihood)]
    assert (widths[0] / widths[1]).between(0.8, 1.25).all()
    without = rated(table, ridge=0.0, rounds=0).table
    assert without[["low", "high", "rank_low", "tier"]].isna().all(axis=None)


def test_bootstrap_samples_without_a_maximum_have_a_prior_of_their_own():
    """Half of the bootstrap samples miss the one question on which the best system loses."""
    rows = [(f"q{number}", "x", "y", "a" if number % 3 else "b") for number in range(12)]
    rows += [(f"q{number}", "z", "y", "b" if number == 5 else "a") for number in range(12)]
    exact = rated(judgments(rows), ridge=0.0, rounds=0)
    ratings = rated(judgments(rows), ridge=0.0, rounds=200, seed=1)
    np.testing.assert_allclose(by_system(ratings), by_system(exact), atol=1e-12)
    (counted,) = [note for note in map(str, ratings.remarks) if "bootstrap samples" in note]
    assert 40 < int(counted.split()[1]) < 100
    assert np.isfinite(ratings.table[["low", "high"]].to_numpy()).all()
    again = rated(judgments(rows), ridge=0.0, rounds=200, seed=1)
    pd.testing.assert_frame_equal(ratings.table, again.table)


def test_systems_that_no_battles_connect_are_not_put_on_one_scale():
    table = pd.concat([arena_of([0.5, 0.0, -0.5], 10), judgments([("q", "x", "y", "a")])])
    ratings = rated(table)
    apart = ratings.table.set_index("system").loc[["x", "y"]]
    assert list(apart["group"]) == [2, 2]
    assert list(apart["rank"]) == [1, 2]
    assert apart["rating"].sum() == pytest.approx(0)
    assert list(ratings.table["group"]) == [1, 1, 1, 2, 2]
    assert "cannot be compared" in str(ratings.remarks[0])
    alone = rated(arena_of([0.5, 0.0, -0.5], 10)).table
    columns = ["system", "rating", "low", "high", "rank", "tier"]
    pd.testing.assert_frame_equal(ratings.table[columns][:3], alone[columns])


def test_a_board_rates_the_largest_group_alone():
    table = pd.concat([arena_of([0.5, 0.0, -0.5], 10), judgments([("q", "x", "y", "a")])])
    ratings = rate_battles(Battles.from_judgments(table), Method(), largest_only=True)
    unrated = ratings.table.set_index("system").loc[["x", "y"]]
    assert unrated[["rating", "rank"]].isna().all(axis=None)
    assert list(unrated["wins"]) == [1, 0]
    assert list(unrated["note"]) == [NOT_CONNECTED, NOT_CONNECTED]
    assert "2 of 5 systems are unrated" in map(str, ratings.remarks)


FIRST_SIDE = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("b", "a"), ("c", "b")]


def test_where_every_verdict_names_the_first_side_systems_are_equal():
    rows = [(f"q{n}", *pair, "a") for n, pair in enumerate(FIRST_SIDE)]
    ratings = rate(judgments(rows))
    assert ratings.table["rating"].abs().max() < 1e-6
    (bias,) = ratings.biases
    assert bias.coefficient > 0.4


@pytest.mark.parametrize("options", [{"ridge": 0.0}, {"ridge": 0.1}])
def test_there_is_no_interval_where_all_samples_are_the_same(options):
    rows = [("q1", "a", "b", "tie"), ("q2", "b", "c", "tie"), ("q3", "c", "a", "tie")]
    ratings = rate(judgments(rows), **options)
    assert ratings.table[["low", "high", "rank_low", "tier"]].isna().all(axis=None)
    assert any("samples" in note for note in map(str, ratings.remarks))


def test_a_weight_counts_as_so_many_battles_in_every_method():
    table = arena_of([0.5, 0.0, -0.5], 30, tie=0.3)
    weights = np.random.default_rng(0).integers(1, 4, len(table))
    weighted, repeated = table.assign(weight=weights), table.loc[np.repeat(table.index, weights)]
    repeated = repeated.assign(judge="human").reset_index(drop=True)
    for options in ({}, {"ridge": 0.1}, {"ties": "drop"}):
        one, other = (rate(each, rounds=50, **options) for each in (weighted, repeated))
        for name in ("rating", "low", "high", "wins", "losses", "ties"):
            np.testing.assert_allclose(one.table[name], other.table[name], atol=1e-8)


def test_copies_that_count_once_are_said():
    table = arena_of([0.5, 0.0, -0.5], 5)
    named = pd.concat([table, table[:3]]).assign(judge="gpt-4")
    assert any("3 judgments left out" in note for note in map(str, rate(named).remarks))
    assert not any(
        "left out" in note for note in map(str, rate(named.assign(judge="human")).remarks)
    )


def test_notes_say_what_limits_ratings():
    """Pairs chosen by verdicts, one question, names that look alike, and pairs of bad answers."""
    names = [f"model {number}" for number in range(7)]
    rows = [("q1", first, second, "a") for first, second in itertools.pairwise(names)]
    lookalikes = [
        ("q1", name.replace("o", "\N{CYRILLIC SMALL LETTER O}"), name, "tie") for name in names
    ]
    table = judgments([*rows, *lookalikes])
    table = table.assign(chosen="adaptive", both_bad=[True] * len(rows) + [False] * len(lookalikes))
    remarks = rate(table, ridge=0.1, rounds=20).remarks
    notes = " | ".join(map(str, remarks))
    assert "pairs were chosen by the verdicts on others" in notes
    assert "all verdicts are on one question" in notes
    assert [remark.name for remark in remarks].count("names") == len(names)
    assert "in 6 judgments of 13 (46%) neither answer is good" in notes


def test_rank_intervals_and_tiers_separate_only_what_differs():
    clear = rated(arena_of([1.5, 1.5, -1.5, -1.5], 100, seed=4), rounds=200).table
    assert list(clear["tier"]) == [1, 1, 2, 2]
    assert list(clear["rank_low"]) == [1, 1, 3, 3]
    assert list(clear["rank_high"]) == [2, 2, 4, 4]
    unclear = rated(arena_of([0.0, 0.0, 0.0, 0.0], 10, seed=5), rounds=200).table
    assert set(unclear["tier"]) == {1}
    assert set(unclear["rank_low"]) == {1}
    assert set(unclear["rank_high"]) == {4}


def test_the_columns_of_a_plain_table_choose_a_language_and_a_judge():
    table = arena_of([0.5, 0.0, -0.5], 20)
    both = pd.concat([table, arena_of([-0.5, 0.0, 0.5], 20, seed=1).assign(language="fi")])
    with pytest.raises(UsageError, match=r"several languages \(en, fi\)"):
        rated(both)
    np.testing.assert_array_equal(by_system(rated(both, language="en")), by_system(rated(table)))
    together = rated(both, language="all")
    assert "battles:120|questions:40" in together.signature
    with pytest.raises(UsageError, match="no judge 'me' here"):
        rated(table, judge="me")
    bare = rated(table[["system_a", "system_b", "winner"]], ridge=0.0, rounds=0)
    exact = rated(table, ridge=0.0, rounds=0)
    np.testing.assert_allclose(by_system(bare), by_system(exact), atol=1e-9)


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([], {}),
        ([("q", "x", "y", "c")], {}),
        ([("q", "x", "x", "a")], {}),
        ([("q", "x", None, "a")], {}),
        ([("q", "x", "y", "tie")], {"ties": "drop"}),
        ([("q", "x", "y", "a")], {"ties": "win"}),
        ([("q", "x", "y", "a")], {"rounds": 1}),
    ],
)
def test_nothing_to_rate_is_said(rows, options):
    with pytest.raises(UsageError):
        rate(judgments(rows), **options)


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
    ours = by_system(rated(table, ridge=0.0, rounds=0))
    np.testing.assert_allclose(ours, expected.reindex(ours.index), atol=1e-6)


def test_an_arena_is_rated_by_its_judgments_and_shown_in_a_line_or_a_table():
    arena = small_simulation(range(4), ["en"], questions=2).arena
    ratings = rate(arena)
    pd.testing.assert_frame_equal(ratings.table, rate(arena.judgments).table)
    best = ratings.table["system"].iloc[0]
    assert repr(ratings).startswith(f"<Ratings: {best} ")
    named = replace(ratings, table=ratings.table.assign(system="<b>ada</b>"))
    assert "&lt;b&gt;ada&lt;/b&gt;" in named._repr_html_()
    with pytest.raises(UsageError, match="judgments is of type list"):
        rate([1])


@pytest.mark.parametrize(
    ("n_votes", "n_others"),
    [(60, 0), (60, 5), pytest.param(60, 80, marks=pytest.mark.slow)],
)
def test_many_votes_on_one_question_do_not_say_who_is_best_on_others(n_votes, n_others):
    """Equal systems, of which each answers some questions better than others."""
    n_sole_firsts = 0
    rounds = range(20)
    for seed in rounds:
        random = np.random.default_rng(seed)
        rows = []
        for question in range(1 + n_others):
            strengths = random.normal(0.0, 1.0, 3)
            for _ in range(n_votes if question == 0 else 1):
                for first, second in itertools.permutations(range(3), 2):
                    is_won = random.random() < expit(strengths[first] - strengths[second])
                    rows.append((f"q{question}", f"s{first}", f"s{second}", "a" if is_won else "b"))
        table = rate(judgments(rows)).table
        n_sole_firsts += int((table["rank_low"] == 1).sum() == 1)
    assert n_sole_firsts <= 0.15 * len(rounds)
