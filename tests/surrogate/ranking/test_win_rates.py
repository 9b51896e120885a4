"""New systems of a simulated arena: win rates from a few judgments, and what to judge next."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from arena import write_arena
from arena.data.errors import UsageError
from arena.data.rows import write_rows
from arena.simulation import simulate
from features import extract, parse_features
from surrogate import Board, build_board
from surrogate.ranking.advice import advise, answer_ratings
from surrogate.ranking.prediction_powered import (
    NO_RATING,
    _against_board,
    _matchups,
    _per_question,
    estimate_win_rates,
    prediction_powered_mean,
    rating_of,
)

FEATURES = parse_features(
    "citation_recall@10,ngram_coverage,unsupported_numbers,answer_length,content_coverage"
)
NEW = "sim-delta-chat"
TWO = ["sim-atlas-large", "sim-fjord-multilingual"]


def of(judgments, system):
    return (judgments["system_a"] == system) | (judgments["system_b"] == system)


@pytest.fixture(scope="module")
def whole():
    return simulate(languages=("en",), questions=24, seed=3).arena


@pytest.fixture(scope="module")
def old(whole):
    """The arena before the new system came."""
    systems = tuple(name for name in whole.info.systems if name != NEW)
    return replace(
        whole,
        info=whole.info.model_copy(update={"systems": systems}),
        answers=whole.answers[whole.answers["system"] != NEW].reset_index(drop=True),
        judgments=whole.judgments[~of(whole.judgments, NEW)].reset_index(drop=True),
    )


@pytest.fixture(scope="module")
def table(whole):
    return extract(whole, FEATURES)


@pytest.fixture(scope="module")
def folder(old, table, tmp_path_factory):
    place = tmp_path_factory.mktemp("powered")
    write_arena(old, place / "arena")
    options = {"tournaments": 2, "rows": "question", "seed": 1}
    board = build_board(old, features=FEATURES, surrogate="random-forest", **options)
    board.save(place / "board", place / "arena")
    return place


@pytest.fixture(scope="module")
def published(folder):
    return Board.load(folder / "board")


@pytest.fixture(scope="module")
def own(table):
    return table[table["system"] == NEW].reset_index(drop=True)


@pytest.fixture(scope="module")
def judged(whole):
    """All matchups of the new system on ten questions drawn at random."""
    questions = sorted(whole.queries["query_id"])
    drawn = np.random.default_rng(5).choice(questions, 10, replace=False)
    rows = whole.judgments[of(whole.judgments, NEW)]
    return rows[rows["query_id"].isin(drawn)].reset_index(drop=True)


def test_judged_and_unjudged_questions_make_one_estimate(published, own, judged):
    [row] = estimate_win_rates(published, own, judged).to_dict(orient="records")
    assert (row["judgments"], row["questions"], row["unjudged"], row["opponents"]) == (
        *(len(judged), 10, 14, 11),
    )
    is_a = judged["system_a"] == NEW
    points = judged["winner"].map({"a": 1.0, "b": 0.0, "tie": 0.5})
    assert row["judged_alone"] == pytest.approx(points.where(is_a, 1 - points).mean())
    assert 0 <= row["low"] < row["win_rate"] < row["high"] <= 1
    assert row["rating_low"] < row["rating"] < row["rating_high"]
    assert row["reason"] == ""


def test_which_side_the_new_system_is_on_changes_nothing(published, own, judged):
    turned = judged.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=judged["winner"].replace({"a": "b", "b": "a"})
    )
    first, second = (estimate_win_rates(published, own, part) for part in (judged, turned))
    pd.testing.assert_frame_equal(first, second)


def test_soft_verdicts_count_by_their_shares(published, own, judged):
    of_side_a = judged["winner"].map({"a": 0.7, "b": 0.1, "tie": 0.4})
    soft = judged.assign(soft=True, probability_a=of_side_a, probability_b=0.8 - of_side_a)
    [row] = estimate_win_rates(published, own, soft).to_dict(orient="records")
    points = of_side_a + 0.1  # half of the ties
    assert row["judged_alone"] == pytest.approx(
        points.where(judged["system_a"] == NEW, 1 - points).mean()
    )


def test_opponents_weigh_the_same_in_judged_and_unjudged_questions(published, own, judged):
    """Else a surrogate that is right on average would move the estimate."""
    is_of_two = judged[["system_a", "system_b"]].isin(TWO).any(axis=1)
    asked = sorted(judged["query_id"].unique())
    uneven = pd.concat(
        [
            judged[is_of_two],
            judged[is_of_two & judged["query_id"].isin(asked[:7])],
            judged[~is_of_two & judged["query_id"].isin(asked[5:])],
        ]
    )
    against = _against_board(published, uneven, "en", NEW)
    matchups = _matchups(published, own, against, "en", NEW)
    level = np.linspace(0.2, 0.9, len(matchups.predicted))[:, None]
    constant = replace(matchups, predicted=np.broadcast_to(level, matchups.predicted.shape))
    outcomes, predictions, unjudged = _per_question(constant)
    assert len(np.unique(predictions)) > 1
    assert predictions.mean() == pytest.approx(unjudged.mean())
    of_question = against.groupby("query_id")["points"].mean()
    assert outcomes == pytest.approx(of_question.to_numpy())
    [row] = estimate_win_rates(published, own, uneven).to_dict(orient="records")
    assert row["judged_alone"] == pytest.approx(of_question.mean())


def test_an_opponent_without_a_rating_gives_none(published, own, judged):
    columns = ["rating", "arena_rating"]
    ratings = published.ratings.copy()
    ratings.loc[ratings["system"] == TWO[0], columns] = np.nan
    board = replace(published, ratings=ratings)
    [row] = estimate_win_rates(board, own, judged).to_dict(orient="records")
    assert 0 < row["win_rate"] < 1
    assert np.isnan([row["rating"], row["rating_low"], row["rating_high"]]).all()
    assert row["reason"] == NO_RATING


def test_a_rating_is_the_coefficient_that_has_the_win_rate():
    opponents, shares = np.array([-1.0, 0.0, 2.0]), np.array([0.5, 0.25, 0.25])
    found = rating_of(0.7, opponents, shares)
    assert shares @ expit(found - opponents) == pytest.approx(0.7)
    assert np.isnan(rating_of(1.0, opponents, shares))


def test_too_few_judged_questions_have_no_estimate_and_say_why(published, own, judged):
    few = judged[judged["query_id"].isin(sorted(set(judged["query_id"]))[:3])]
    [row] = estimate_win_rates(published, own, few).to_dict(orient="records")
    assert np.isnan(row["win_rate"])
    assert "3 outcomes are too few" in row["reason"]
    with pytest.raises(UsageError, match="no judgment is of a new system"):
        estimate_win_rates(published, own, judged.assign(language="fi"))


def test_a_rating_is_the_mean_of_those_of_single_answers(published, own):
    questions = sorted(own["query_id"])
    ratings = answer_ratings(published.surrogate, own, "en", [NEW], questions)
    assert ratings.shape == (1, len(questions))
    alone = published.surrogate.predict(own[own["query_id"] == questions[4]])["rating"]
    assert ratings[questions[4]].iloc[0] == pytest.approx(alone.iloc[0])
    [whole] = published.surrogate.predict(own)["rating"]
    assert ratings.to_numpy().mean() == pytest.approx(whole)
    assert (
        answer_ratings(published.surrogate, own, "en", ["nobody"], questions).isna().all(axis=None)
    )


@pytest.mark.slow
def test_intervals_hold_the_win_rate_and_are_narrower_than_without_the_surrogate(published):
    """Questions of other seeds, with their own answers and judgments, are the population."""
    parts = [_population(published, seed) for seed in (11, 12, 13, 14)]
    outcomes, predictions = (np.concatenate(column) for column in zip(*parts, strict=True))
    random, truth = np.random.default_rng(6), outcomes.mean()
    done = []
    for _ in range(1000):
        drawn, others = (random.integers(len(outcomes), size=size) for size in (40, 400))
        done.append(
            prediction_powered_mean(outcomes[drawn], predictions[drawn], predictions[others])
        )
    covered = np.mean([item.powered.low <= truth <= item.powered.high for item in done])
    assert 0.93 <= covered <= 0.97
    assert np.mean([item.width_ratio for item in done]) < 0.95
    assert np.mean([item.powered.value for item in done]) == pytest.approx(truth, abs=0.01)


def _population(published, seed):
    arena = simulate(languages=("en",), questions=24, seed=seed).arena
    table = extract(arena, FEATURES)
    board = replace(published, features=table[table["system"] != NEW])
    own = _against_board(board, arena.judgments, "en", NEW)
    outcomes, predictions, _ = _per_question(
        _matchups(board, table[table["system"] == NEW], own, "en", NEW)
    )
    return outcomes, predictions


def test_advice_names_the_neighbors_and_the_open_questions(published, own, judged):
    advice = advise(published, own, judged=judged, questions=5)
    ratings = published.ratings.set_index("system")["rating"]
    above, below = (
        advice.neighbors[advice.neighbors["side"] == side].iloc[0] for side in ("above", "below")
    )
    assert ratings[above["neighbor"]] > ratings[below["neighbor"]]
    assert above["win_rate"] < 0.5 <= below["win_rate"]
    assert above["rank"] == 1 + (ratings >= ratings[above["neighbor"]]).sum()
    assert above["judgments"] > 0
    assert advice.neighbors[["rank", "judgments"]].dtypes.eq("Int64").all()
    assert not set(advice.questions["query_id"]) & set(judged["query_id"])
    named = advice.questions.set_index("order")["uncertainty"]
    assert list(named.loc[1:5]) == sorted(named.loc[1:5], reverse=True)
    assert named.max() <= 0.25
    assert set(range(1, 6)) <= set(advice.questions["random_order"])
    pd.testing.assert_frame_equal(
        advise(published, own, judged=judged, questions=5).questions, advice.questions
    )


def test_advice_that_cannot_be_given_is_refused(published, own):
    with pytest.raises(UsageError, match="no new system has a rating"):
        advise(published, own.assign(language="fi"))
    with pytest.raises(UsageError, match="questions must be at least 1"):
        advise(published, own, questions=0)


def test_the_command_prints_tables_or_strict_json(folder, whole, judged, run, capsys):
    answers = whole.answers[whole.answers["system"] == NEW]
    write_rows(answers.reset_index(drop=True), folder / "new.jsonl")
    write_rows(judged, folder / "judged.jsonl")
    command = ("advise", folder / "new.jsonl", "--board", folder / "board", "--questions", 3)
    assert run(*command, "--judgments", folder / "judged.jsonl", "--json") == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {row["side"] for row in printed["neighbors"]} == {"above", "below"}
    assert printed["estimates"][0]["questions"] == 10
    assert run(*command) == 0
    shown = capsys.readouterr().out
    assert "Judgments that tell a system from its neighbors at 95% (power 80%)" in shown
    assert "Win rate against" not in shown
    assert run(*command, "--judgments", folder / "judged.jsonl") == 0
    assert "Win rate against" in capsys.readouterr().out
    every = whole.judgments[of(whole.judgments, NEW)].reset_index(drop=True)
    write_rows(every, folder / "every.jsonl")
    assert run(*command, "--judgments", folder / "every.jsonl") == 0
    shown = capsys.readouterr().out
    assert "No question is left to judge" in shown
    assert "too few" not in shown
    rank = ("rank", folder / "new.jsonl", "--board", folder / "board")
    assert run(*rank, "--judgments", folder / "every.jsonl") == 0
    shown = capsys.readouterr().out
    assert "the share that is by a system's own verdicts" in " ".join(shown.split())
    assert re.search(r"│ +-?\d\.\d\d │ -?\d\.\d\d to -?\d\.\d\d │", shown)
