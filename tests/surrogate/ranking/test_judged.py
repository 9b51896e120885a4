"""New systems rated by their answers and some verdicts: the posterior that boards have."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulations import simulated_part

from arena.data.errors import DataError, UsageError
from surrogate import build_board, rank_systems
from surrogate.board.rank_reasons import CONTRADICTED, FEWEST_JUDGED_QUESTIONS
from surrogate.learning.training_data import with_answers
from surrogate.ranking.judged import NOBODY, _judged_in_language, judged_ratings
from surrogate.ranking.rank import place_systems

FEATURES = "answer_length,content_coverage,citation_recall@10"


@pytest.fixture(scope="module")
def whole():
    return simulated_part(languages=["en"], questions=16).arena


@pytest.fixture(scope="module")
def new(whole):
    return next(name for name in whole.info.systems if name != whole.info.reference_system)


@pytest.fixture(scope="module", params=["default", "linear"])
def board(request, whole, new):
    rows = whole.judgments
    old = rows[(rows["system_a"] != new) & (rows["system_b"] != new)]
    answers = whole.answers[whole.answers["system"] != new]
    known = tuple(name for name in whole.info.systems if name != new)
    arena = replace(
        whole,
        info=whole.info.model_copy(update={"systems": known}),
        answers=answers.reset_index(drop=True),
        judgments=old.reset_index(drop=True),
    )
    board = build_board(
        arena, features=FEATURES, surrogate=request.param, tournaments=4, seed=1, holdout=[]
    )
    # Of so few systems it is not shown that a surrogate works; systems without verdicts are ranked.
    macro = board.summary.macro.model_copy(update={"tau_unseen_low": 0.1})
    return replace(board, summary=board.summary.model_copy(update={"macro": macro}))


@pytest.fixture(scope="module")
def table(whole, new):
    from features import extract

    own = whole.answers[whole.answers["system"] == new]
    return with_answers(extract(whole, FEATURES, answers=own), own)


@pytest.fixture(scope="module")
def verdicts(whole, new):
    rows = whole.judgments
    return rows[(rows["system_a"] == new) | (rows["system_b"] == new)].reset_index(drop=True)


@pytest.mark.slow
def test_verdicts_take_the_rating_from_the_surrogates_to_the_arenas(board, whole, table, verdicts):
    [plain] = place_systems(board, table, whole.queries).new.to_dict("records")
    questions = sorted(verdicts["query_id"].unique())
    shares, widths = [0.0], []
    for count in (2, 6, 16):
        some = verdicts[verdicts["query_id"].isin(questions[:count])]
        [row] = place_systems(board, table, whole.queries, judgments=some).new.to_dict("records")
        assert row["surrogate_rating"] == plain["rating"]
        assert row["judgments"] == len(some)
        shares.append(row["verdict_share"])
        widths.append(row["high"] - row["low"])
        kind = "place" if count < FEWEST_JUDGED_QUESTIONS else "rank"
        assert row[f"{kind}_low"] <= row[kind] <= row[f"{kind}_high"]
    assert shares == sorted(shares)
    assert widths == sorted(widths, reverse=True)
    full = build_board(whole, features=FEATURES, surrogate="linear", tournaments=4, seed=1)
    arena = full.ratings.set_index("system")["arena_rating"]
    old = board.ratings.set_index("system")["rating"]
    on_the_boards_scale = arena[row["system"]] - arena[old.index].mean() + old.mean()
    assert row["rating"] == pytest.approx(on_the_boards_scale, abs=0.35)


@pytest.mark.slow
def test_one_verdict_narrows_an_interval_by_what_one_verdict_tells(board, whole, table, verdicts):
    def ranked(judgments=None):
        [row] = place_systems(board, table, whole.queries, judgments=judgments).new.to_dict(
            "records"
        )
        return row

    plain, system = ranked(), table["system"].iloc[0]
    one = verdicts.iloc[:1]
    lost, won = (
        ranked(one.assign(winner=np.where((one["system_a"] == system) == is_won, "a", "b")))
        for is_won in (False, True)
    )
    assert lost["rating"] < plain["rating"] < won["rating"]
    assert lost["place"] >= plain["place"]
    for row in (lost, won):
        narrower = (row["rating"] - row["low"]) / (plain["rating"] - plain["low"])
        # Of independent information, a share s narrows by the root of 1 - s.
        assert np.sqrt(1 - row["verdict_share"]) - 0.1 < narrower < 1
        assert row["verdict_share"] < 0.25


@pytest.mark.slow
def test_copies_and_questions_that_are_not_there_do_not_count(board, whole, table, verdicts):
    one = verdicts.iloc[:2]
    strange = one.assign(query_id="nobody-asked")
    mixed = pd.concat([one] * 30 + [strange], ignore_index=True)
    found = [place_systems(board, table, whole.queries, judgments=some) for some in (one, mixed)]
    pd.testing.assert_frame_equal(found[0].new, found[1].new)
    told = "; ".join(map(str, found[1].remarks))
    assert "58 judgments left out" in told
    assert "2 judgments left out, on questions that the arena does not have" in told


@pytest.mark.slow
def test_many_judges_that_the_board_does_not_know_count_as_one(board, whole, table, verdicts, new):
    """Whoever sends verdicts can invent judges: twenty say no more than one."""
    is_won = (verdicts["winner"] == "a") == (verdicts["system_a"] == new)
    one = verdicts[is_won & (verdicts["winner"] != "tie")].head(1)
    invented = pd.concat([one.assign(judge=f"judge-{number}") for number in range(20)])
    both = [
        place_systems(board, table, whole.queries, judgments=rows).new.iloc[0]
        for rows in (one.assign(judge="judge-0"), invented)
    ]
    assert both[0]["rating"] == pytest.approx(both[1]["rating"])
    assert both[0]["low"] == pytest.approx(both[1]["low"])


def test_sides_and_order_change_nothing_and_others_are_left_aside(board, table, verdicts, whole):
    first = judged_ratings(board, board.surrogate.predict(table), verdicts)
    turned = verdicts.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=verdicts["winner"].replace({"a": "b", "b": "a"})
    )
    others = whole.judgments[~whole.judgments.index.isin(verdicts.index)].head(7)
    among = others[~others[["system_a", "system_b"]].isin(set(table["system"])).any(axis=1)]
    mixed = pd.concat([turned, among]).sample(frac=1, random_state=0)
    second = judged_ratings(board, board.surrogate.predict(table), mixed)
    pd.testing.assert_frame_equal(first, second, atol=1e-6)


def test_a_system_that_wins_all_is_rated_but_not_infinite(board, table, verdicts):
    system = table["system"].iloc[0]
    wins = verdicts.assign(winner=np.where(verdicts["system_a"] == system, "a", "b"))
    [row] = judged_ratings(board, board.surrogate.predict(table), wins).to_dict("records")
    assert np.isfinite(row["rating"])
    assert row["rating"] > board.ratings["rating"].max() - 0.2


@pytest.mark.slow
def test_a_system_that_loses_all_falls_and_people_count_as_one_judge(board, table, verdicts, whole):
    system = table["system"].iloc[0]
    losses = verdicts.assign(winner=np.where(verdicts["system_a"] == system, "b", "a"))
    placed = [place_systems(board, table, whole.queries, judgments=own) for own in (None, losses)]
    before = placed[0].new["place"].iloc[0]
    after = placed[1].new["rank"].iloc[0]
    assert after > before or after == len(board.ratings) + 1
    assert not any("count as those of one judge" in note for note in map(str, placed[1].remarks))
    people = place_systems(board, table, whole.queries, judgments=losses.assign(judge="people"))
    pd.testing.assert_frame_equal(people.new, placed[1].new)
    assert f"{len(losses)} judgments by people count as those of one judge" in str(
        people.remarks[0]
    )


def test_verdicts_without_a_language_are_in_that_of_their_questions(board, whole, new, verdicts):
    answers = whole.answers[whole.answers["system"] == new]
    some = verdicts.head(12)
    bare = some.drop(columns="language")
    expected = rank_systems(board, answers, whole, judgments=some).new
    assert expected["judgments"].tolist() == [12]
    placed = rank_systems(board, answers, whole, judgments=bare)
    pd.testing.assert_frame_equal(placed.new, expected)
    with pytest.raises(DataError, match=r"judgments:1: winner = 'A'"):
        rank_systems(board, answers, whole, judgments=bare.assign(winner="A"))


def test_judgments_that_say_nothing_of_a_new_system_are_refused(board, table, verdicts):
    for part in (
        verdicts.assign(language="fi"),
        verdicts.assign(system_a="x", system_b="y"),
    ):
        with pytest.raises(UsageError, match=NOBODY):
            judged_ratings(board, board.surrogate.predict(table), part)


def test_verdicts_that_contradict_what_answers_promise_decide_a_rating(
    board, table, verdicts, whole
):
    system = table["system"].iloc[0]
    honest = place_systems(board, table, whole.queries, judgments=verdicts)
    assert not any("contradict" in note for note in map(str, honest.remarks))
    mean = board.ratings["rating"].mean()
    is_strong = honest.new["rating"].iloc[0] > mean
    is_first = verdicts["system_a"] == system
    opposite = verdicts.assign(winner=np.where(is_first == is_strong, "b", "a"))
    placed = place_systems(board, table, whole.queries, judgments=opposite)
    assert any(f"{system}: {CONTRADICTED}" in note for note in map(str, placed.remarks))
    assert (placed.new["rating"].iloc[0] > mean) != is_strong


def judged_where_predicted(rating, n_questions):
    """Rate a system in the middle of a board by its verdicts and a prediction."""
    on_board = {"a": 1.0, "b": 0.5, "c": -0.5, "d": -1.0}
    names = [*on_board, "new"]
    prior = pd.DataFrame(
        {
            "language": "en",
            "system": names,
            "rating": [*on_board.values(), rating],
            "standard_error": [0.2] * len(on_board) + [0.8],
        }
    )
    rows = [
        {
            "language": "en",
            "query_id": str(question),
            "system_a": "new",
            "system_b": name,
            "winner": "b" if on_board[name] > 0 else "a",
        }
        for question in range(n_questions)
        for name in on_board
    ]
    return _judged_in_language(prior, pd.DataFrame(rows), {"new"}, 1.0).iloc[0]


@pytest.mark.parametrize(("n_questions", "most_kept"), [(3, 0.25), (6, 0.1), (12, 0.07)])
def test_verdicts_leave_little_of_a_prediction_far_above_them(n_questions, most_kept):
    bought = judged_where_predicted(3.0, n_questions)["rating"]
    honest = judged_where_predicted(0.0, n_questions)["rating"]
    assert 0 <= bought - honest < most_kept * 3.0


def test_a_prediction_that_verdicts_bear_out_keeps_its_weight():
    shares = [judged_where_predicted(rating, 3)["verdict_share"] for rating in (0.0, 0.3, 3.0)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)
    assert shares[2] > shares[0] + 0.1
