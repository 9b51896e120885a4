"""Adaptive pairing as a judging run uses it."""

import itertools

import numpy as np
import pandas as pd
import pytest
from round_robins import round_robin

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.judging.answer_pairs import ArenaTexts
from arena.judging.choosing.pairing import AdaptivePairing
from arena.rating.battles import Battles
from arena.rating.posterior import battle_posterior

COLUMNS = ["query_id", "system_a", "system_b", "winner"]
SYSTEMS = [f"s{index:02}" for index in range(6)]
QUESTIONS = [f"q{index:03}" for index in range(5)]
ITEMS = 15 * 5


def judge(items, failing=()):
    """Prefer the system of the higher number; None for the items whose judgment fails."""
    rows = [
        (question, one, other, None if at in failing else "a" if one > other else "b")
        for at, (question, one, other) in enumerate(items)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def key(item):
    question, one, other = item
    return question, *sorted((one, other))


def run(pairing, n_at_once=7, budget=ITEMS):
    asked = []
    while len(asked) < budget and (
        items := pairing.next_pairs(min(n_at_once, budget - len(asked)))
    ):
        pairing.record(judge(items))
        asked += items
    return asked


@pytest.mark.parametrize("n_systems", [2, 10])
def test_every_item_is_asked_for_once_until_none_is_left(n_systems):
    """Of ten systems, four meet before values are computed again."""
    systems = [f"s{index:02}" for index in range(n_systems)]
    pairing = AdaptivePairing(systems, QUESTIONS)
    asked = run(pairing, budget=10**6)
    expected = {(q, *pair) for q in QUESTIONS for pair in itertools.combinations(systems, 2)}
    assert len(asked) == len(expected)
    assert {key(item) for item in asked} == expected
    assert (pairing.judged, pairing.open, pairing.failed) == (len(expected), 0, 0)
    assert pairing.next_pairs(3) == []


@pytest.mark.slow
def test_close_pairs_meet_more_often_than_lopsided_ones():
    judgments = round_robin(10, 40)
    winner = {
        (row.query_id, row.system_a, row.system_b): row.winner for row in judgments.itertuples()
    }
    pairing = AdaptivePairing(
        [f"s{index:02}" for index in range(10)], sorted(judgments["query_id"].unique())
    )
    distances = []
    for _ in range(60):
        items = pairing.next_pairs(5)
        rows = [(*key(item), winner[key(item)]) for item in items]
        pairing.record(pd.DataFrame(rows, columns=COLUMNS))
        distances += [abs(int(one[1:]) - int(other[1:])) for _, one, other in items]
    assert np.mean(distances[150:]) < np.mean(distances[:50])


def test_missing_answers_are_never_compared():
    answers = pd.DataFrame(
        [(q, s) for q in QUESTIONS for s in SYSTEMS if (q, s) != ("q001", "s03")],
        columns=["query_id", "system"],
    )
    others = pd.DataFrame([("elsewhere", "s00"), ("q000", "stranger")], columns=list(answers))
    pairing = AdaptivePairing(SYSTEMS, QUESTIONS, answers=pd.concat([answers, others]))
    asked = run(pairing)
    assert len(asked) == ITEMS - 5
    assert not any(item[0] == "q001" and "s03" in item for item in asked)
    rows = pd.DataFrame([("q001", "s03", "s04", "a")], columns=COLUMNS)
    with pytest.raises(UsageError, match="q001: s03 and s04"):
        pairing.record(rows)


@pytest.mark.slow
def test_the_same_seed_asks_for_the_same_items():
    asked = run(AdaptivePairing(SYSTEMS, QUESTIONS, seed=5), budget=40)
    assert run(AdaptivePairing(SYSTEMS, QUESTIONS[::-1], seed=5), budget=40) == asked
    assert run(AdaptivePairing(SYSTEMS, QUESTIONS, seed=6), budget=40) != asked


def test_ratings_are_the_posterior_of_what_was_recorded():
    pairing = AdaptivePairing(SYSTEMS, QUESTIONS)
    assert (pairing.ratings()["rating"] == 0).all()
    assert pairing.misordered == pytest.approx(0.5)
    asked = run(pairing, budget=40)
    elsewhere = judge([("another question", "s00", "s01")])
    pairing.record(elsewhere)
    judged = pd.concat([judge(asked), elsewhere])
    known = battle_posterior(Battles.from_judgments(judged))
    ratings = pairing.ratings()
    assert list(ratings["system"]) == sorted(SYSTEMS, reverse=True)
    np.testing.assert_allclose(ratings["rating"], np.sort(known.ratings)[::-1], atol=1e-6)
    assert (pairing.judged, pairing.misordered < 0.1) == (40, True)


@pytest.mark.parametrize(
    "row", [("q000", "s99", "s01", "a"), ("q000", "s00", "s00", "a"), ("q000", "s00", "s01", "b?")]
)
def test_judgments_of_nothing_known_are_refused_as_a_whole(row):
    pairing = AdaptivePairing(SYSTEMS, QUESTIONS)
    rows = pd.DataFrame([("q000", "s02", "s03", "a"), row], columns=COLUMNS)
    with pytest.raises(UsageError, match=row[0]):
        pairing.record(rows)
    assert pairing.judged == 0
    pairing.record(rows.head(1))
    with pytest.raises(UsageError, match="q000"):
        pairing.record(rows.head(1))


def test_a_prior_that_knows_nothing_changes_nothing():
    plain = run(AdaptivePairing(SYSTEMS, QUESTIONS), budget=30)
    for prior in (
        pd.DataFrame(columns=["system", "rating", "standard_error"], dtype=float),
        pd.DataFrame({"system": ["stranger"], "rating": 1.0, "standard_error": 0.5}),
    ):
        assert run(AdaptivePairing(SYSTEMS, QUESTIONS, prior=prior), budget=30) == plain


def test_a_prior_that_knows_the_order_asks_about_neighbors_at_once():
    prior = pd.DataFrame({"system": SYSTEMS, "rating": 1.5 * np.arange(6.0), "standard_error": 0.3})
    asked = AdaptivePairing(SYSTEMS, QUESTIONS, prior=prior).next_pairs(10)
    apart = [abs(int(one[1:]) - int(other[1:])) for _, one, other in asked]
    others = AdaptivePairing(SYSTEMS, QUESTIONS).next_pairs(10)
    plain = [abs(int(one[1:]) - int(other[1:])) for _, one, other in others]
    assert np.mean(apart) < 1.5 < np.mean(plain)


MANY = [f"q{index:03}" for index in range(80)]


def by_number(questions, one, other):
    """Answers to later questions differ more."""
    return np.array([int(question[1:]) / len(MANY) for question in questions])


def test_pairs_meet_where_their_answers_differ_but_for_some():
    asked = AdaptivePairing(SYSTEMS, MANY, unlikeness=by_number).next_pairs(60)
    plain = AdaptivePairing(SYSTEMS, MANY).next_pairs(60)
    unlike, drawn = (
        by_number([question for question, *_ in items], "", "") for items in (asked, plain)
    )
    assert np.mean(unlike) > np.mean(drawn) + 0.1
    # Some are asked on questions on which answers are alike.
    assert np.mean(unlike < 0.3) > 0.05


def test_the_scale_of_a_prior_is_learned_with_the_ratings():
    wide = pd.DataFrame({"system": SYSTEMS, "rating": np.arange(6.0), "standard_error": 0.5})
    pairing = AdaptivePairing(SYSTEMS, QUESTIONS, prior=wide)
    ties = [
        (question, *pair, "tie") for question in QUESTIONS for pair in itertools.pairwise(SYSTEMS)
    ]
    pairing.record(pd.DataFrame(ties, columns=COLUMNS))
    assert np.ptp(pairing.ratings()["rating"]) < np.ptp(pairing.posterior.ratings)


def test_answers_are_unlike_by_what_they_say():
    texts = {"x": "Rivers carry it to the sea.", "y": "Rivers carry it to a lake.", "z": "Nobody."}
    rows = [{"query_id": "q", "system": name, "answer": text} for name, text in texts.items()]
    question = pd.DataFrame([{"query_id": "q", "query": "Where does it go?"}])
    arena = Arena.from_frames(question, pd.DataFrame(rows), language="en", name="x")
    shown = ArenaTexts(arena)
    (same,), (near,), (far,) = (shown.unlikeness("en", ["q"], "x", other) for other in "xyz")
    assert same == pytest.approx(0.0)
    assert 0 < near < far <= 1
