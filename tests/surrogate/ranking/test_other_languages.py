"""New systems with verdicts in one language: what these say of them in the others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.simulation import simulate
from arena.statistics.significance import NORMAL_90
from features import extract
from surrogate import build_board
from surrogate.board.ratings.table import BEYOND
from surrogate.integrity.notes import Note
from surrogate.integrity.standing import Looks
from surrogate.learning.languages import with_answers
from surrogate.ranking.advice import advise
from surrogate.ranking.judged import judged_ratings
from surrogate.ranking.rank import ELSEWHERE, place_systems

FEATURES = "answer_length,content_coverage,citation_recall@10"
NEW = 2
"""Systems that are not on the board."""


@pytest.fixture(scope="module")
def whole():
    return simulate(languages=["en", "sw"], questions=12, seed=4).arena


@pytest.fixture(scope="module")
def names(whole):
    reference = whole.info.reference_system
    return [name for name in whole.info.systems if name != reference][:NEW]


def proven(board):
    """Of so few systems it is not shown that a surrogate works: rank those without verdicts."""
    macro = board.summary.macro.model_copy(update={"tau_unseen_low": 0.1})
    return replace(board, summary=board.summary.model_copy(update={"macro": macro}))


@pytest.fixture(scope="module")
def make(whole, names):
    """Build a board without the new systems; in Swahili with a number of judged systems."""
    known = tuple(name for name in whole.info.systems if name not in names)

    def made(surrogate="gaussian-process", judged=20, languages=("en", "sw")):
        rows = whole.judgments[whole.judgments["language"].isin(languages)]
        some = known[:judged]
        both = rows["system_a"].isin(known) & rows["system_b"].isin(known)
        both &= (rows["language"] == "en") | (
            rows["system_a"].isin(some) & rows["system_b"].isin(some)
        )
        answers = whole.answers[whole.answers["system"].isin(known)]
        arena = replace(
            whole,
            info=whole.info.model_copy(update={"systems": known, "languages": tuple(languages)}),
            queries=only(whole.queries, languages),
            answers=only(answers, languages),
            judgments=rows[both].reset_index(drop=True),
        )
        return proven(
            build_board(
                arena, features=FEATURES, surrogate=surrogate, tournaments=4, seed=1, holdout=[]
            )
        )

    return made


def only(rows, languages):
    return rows[rows["language"].isin(languages)].reset_index(drop=True)


@pytest.fixture(scope="module")
def board(make):
    return make()


@pytest.fixture(scope="module")
def table(whole, names):
    own = whole.answers[whole.answers["system"].isin(names)]
    return with_answers(extract(whole, FEATURES, answers=own), own)


@pytest.fixture(scope="module")
def verdicts(whole, names):
    """English judgments of the first new system beside those on the board."""
    rows = whole.judgments[whole.judgments["language"] == "en"]
    is_first = rows[["system_a", "system_b"]].isin(names[:1]).any(axis=1)
    is_second = rows[["system_a", "system_b"]].isin(names[1:]).any(axis=1)
    return rows[is_first & ~is_second].reset_index(drop=True)


@pytest.fixture(scope="module")
def wins(verdicts, names):
    return verdicts.assign(winner=np.where(verdicts["system_a"] == names[0], "a", "b"))


@pytest.fixture(scope="module")
def losses(wins):
    return wins.assign(winner=wins["winner"].replace({"a": "b", "b": "a"}))


@pytest.fixture
def placed(board, table, whole):
    """Rows of the new systems, by language and system."""

    def place(judgments=None, board=board, table=table, **found):
        ranked = place_systems(board, table, whole.queries, judgments=judgments, **found)
        return ranked.new.set_index(["language", "system"])

    return place


def with_interval(board, **changed):
    summary = board.summary
    own = summary.languages["sw"]
    own = own.model_copy(update={"interval": own.interval.model_copy(update=changed)})
    languages = summary.languages | {"sw": own}
    return replace(board, summary=summary.model_copy(update={"languages": languages}))


def test_a_verdict_in_one_language_moves_the_others_in_the_same_direction(
    placed, wins, losses, names
):
    key = ("sw", names[0])
    plain, better, worse = placed(), placed(wins), placed(losses)
    assert worse.loc[key, "rating"] < plain.loc[key, "rating"] - 0.05
    assert better.loc[key, "rating"] > plain.loc[key, "rating"] + 0.05
    for rows in (better, worse):
        row = rows.loc[key]
        assert row["surrogate_rating"] == plain.loc[key, "rating"]
        assert row["worth"] == plain.loc[key, "worth"]
        assert row["verdict_share"] == row["judgments"] == 0
        assert ELSEWHERE in row["note"]
        assert ELSEWHERE not in rows.loc[("en", names[0]), "note"]
        assert rows.loc[("en", names[0]), "judgments"] == len(wins)


def test_without_a_verdict_on_it_a_system_stays_as_it_was(placed, wins, names):
    for language in ("en", "sw"):
        key = (language, names[1])
        pd.testing.assert_series_equal(placed(wins).loc[key], placed().loc[key])


def test_the_more_verdicts_the_smaller_the_error_elsewhere(board, table, verdicts, names):
    questions, errors = sorted(verdicts["query_id"].unique()), []
    for count in (1, 4, 12):
        some = verdicts[verdicts["query_id"].isin(questions[:count])]
        rated = judged_ratings(board, table, some).set_index(["language", "system"])
        errors.append(rated.loc[("sw", names[0]), "standard_error"])
    assert (np.diff(errors) < 0).all()


def test_the_interval_is_as_much_narrower_as_the_error_and_no_narrower_than_the_posteriors(
    board, placed, table, wins, names
):
    key = ("sw", names[0])
    plain = board.surrogate.predict(table).set_index(["language", "system"])
    for half_width in (2.5, 0.5):  # the second is too narrow
        narrow = with_interval(board, half_width=half_width, frontier=None)
        row = placed(wins, board=narrow).loc[key]
        before = max(half_width, NORMAL_90) * plain.loc[key, "standard_error"]
        assert row["high"] - row["rating"] == pytest.approx(row["rating"] - row["low"], abs=2e-6)
        assert 0.3 * before < row["high"] - row["rating"] < 1.3 * before
    row = placed(wins, board=with_interval(board, half_width=None, frontier=None)).loc[key]
    assert row[["low", "high"]].isna().all()


def test_one_language_is_rated_as_if_no_other_system_were_there(make, table, wins, names, whole):
    single, english = make(languages=("en",)), only(table, ("en",))
    own = english[english["system"] == names[0]]
    both, alone = (
        place_systems(single, rows, only(whole.queries, ("en",)), judgments=wins).new
        for rows in (english, own)
    )
    assert not both["note"].str.contains(ELSEWHERE).any()
    first = both[both["system"] == names[0]].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, alone, atol=1e-5)


def test_where_a_system_did_not_answer_verdicts_elsewhere_do_not_rate_it(
    placed, table, wins, names
):
    english = table[(table["language"] == "en") | (table["system"] != names[0])]
    row = placed(wins, table=english).loc[("sw", names[0])]
    assert np.isnan(row["rating"])
    assert ELSEWHERE not in row["note"]


def test_checks_of_systems_without_verdicts_hold_there(board, placed, table, wins, names):
    key = ("sw", names[0])
    own = table[(table["system"] == names[0]) & (table["language"] == "sw")]
    few = placed(wins, table=table.drop(own.index[4:])).loc[key]
    assert few["note"].startswith("not ranked: it answered 4 of 12 questions")
    assert few[["rank", "rating", "low", "high"]].isna().all()
    assert ELSEWHERE not in few["note"]
    same = Note("same", 1.0, 0.0, True, "its answers are one text")
    barred = placed(wins, looks=Looks({key: [same]}))
    assert "its answers are one text" in barred.loc[key, "note"]
    assert pd.isna(barred.loc[key, "rank"])
    assert barred.loc[("en", names[0]), "rank"] >= 1
    part = table.drop(own.index[8:])
    rated = judged_ratings(board, part, wins).set_index(["language", "system"]).loc[key]
    some = placed(wins, table=part).loc[key]
    assert some["rating"] - some["low"] > 1.001 * NORMAL_90 * rated["standard_error"]
    rows = board.ratings[board.ratings["language"] == "sw"].set_index("system")["rating"]
    copied = placed(wins, looks=Looks(originals={key: rows.idxmin()})).loc[key]
    assert copied["rating"] == pytest.approx(rows.min(), abs=1e-6)
    assert "near-copy" in copied["note"]


def test_a_system_that_verdicts_elsewhere_lift_above_all_may_be_beyond(
    board, placed, wins, losses, names
):
    key = ("sw", names[0])
    plain = placed().loc[key, "rating"]
    near = with_interval(board, best=plain + 0.01, frontier=0.0)
    assert BEYOND not in placed(board=near).loc[key, "note"]
    assert BEYOND not in placed(losses, board=near).loc[key, "note"]
    lifted = placed(wins, board=near).loc[key]
    assert BEYOND in lifted["note"]
    assert np.isinf(lifted["high"])


def test_advice_starts_from_the_same_rating(board, table, losses, names):
    def rank(judged):
        found = advise(board, table, judged=judged, questions=1).neighbors
        return found.set_index(["language", "system"]).loc[("sw", names[0]), "rank"].max()

    assert rank(losses) > rank(None)


def test_other_surrogates_rate_language_by_language(make, placed, wins, names):
    ridge, key = make(surrogate="ridge"), ("sw", names[0])
    pd.testing.assert_series_equal(placed(wins, board=ridge).loc[key], placed(board=ridge).loc[key])


def test_where_few_are_judged_only_systems_with_verdicts_move(
    make, placed, verdicts, wins, losses, names
):
    few = make(judged=3)
    assert few.surrogate.borrowing_ == {"sw"}
    plain, better, worse = (placed(some, board=few) for some in (None, wins, losses))
    key = ("sw", names[0])
    assert worse.loc[key, "rating"] < plain.loc[key, "rating"] < better.loc[key, "rating"]
    some = placed(verdicts, board=few)
    assert 0.5 < (some["rating"] - some["low"])[key] / (plain["rating"] - plain["low"])[key] < 1
    pd.testing.assert_series_equal(better.loc[("sw", names[1])], plain.loc[("sw", names[1])])
