"""Verdicts rank, predictions are placed: who has a rank, who a place, and that neither moves."""

from dataclasses import replace

import pandas as pd
import pytest
from scipy.special import expit

from surrogate import build_board, rank_systems
from surrogate.board.rank_reasons import FEWEST_JUDGED_QUESTIONS
from surrogate.board.ranks import PLACE_COLUMNS, RANK_COLUMNS, places_among, wins_against

OPTIONS = {"features": "answer_length,bleu", "tournaments": 2}


def without_verdicts_on(arena, systems, but_on=()):
    """Leave out the verdicts on some systems, except on these questions."""
    rows = arena.judgments
    is_on_them = rows["system_a"].isin(systems) | rows["system_b"].isin(systems)
    kept = rows[~is_on_them | rows["query_id"].isin(but_on)]
    return replace(arena, judgments=kept.reset_index(drop=True))


def without_systems(arena, systems):
    names = tuple(name for name in arena.info.systems if name not in systems)
    answers = arena.answers[arena.answers["system"].isin(names)].reset_index(drop=True)
    return replace(
        without_verdicts_on(arena, systems),
        info=arena.info.model_copy(update={"systems": names}),
        answers=answers,
    )


def lines_without(table, systems):
    kept = table[~table["system"].isin(systems)]
    return kept.to_csv(index=False)


@pytest.fixture(scope="module")
def unjudged(six_systems):
    reference = six_systems.info.reference_system
    return [name for name in six_systems.info.systems if name != reference][-2:]


@pytest.fixture(scope="module")
def board(six_systems, unjudged):
    return build_board(without_verdicts_on(six_systems, unjudged), **OPTIONS)


@pytest.fixture(scope="module")
def alone(six_systems, unjudged):
    return build_board(without_systems(six_systems, unjudged), **OPTIONS)


def test_rows_of_judged_systems_are_the_same_without_the_unjudged(board, alone, unjudged):
    assert lines_without(board.ratings, unjudged) == alone.ratings.to_csv(index=False)
    assert lines_without(board.overall, unjudged) == alone.overall.to_csv(index=False)
    assert board.verdict_ratings.equals(alone.verdict_ratings)


def test_a_system_that_nobody_judged_has_a_place_and_no_rank(board, unjudged):
    for table in (board.ratings, board.overall):
        is_placed = table["system"].isin(unjudged)
        assert table.loc[is_placed, RANK_COLUMNS].isna().all(axis=None)
        assert table.loc[~is_placed, PLACE_COLUMNS].isna().all(axis=None)
        assert table.loc[~is_placed, "rank"].notna().all()
    rows = board.ratings[board.ratings["system"].isin(unjudged)]
    for row in rows.to_dict("records"):
        ranked = board.ratings[
            (board.ratings["language"] == row["language"]) & board.ratings["rank"].notna()
        ]
        assert row["place"] == 1 + (ranked["rating"] > row["rating"]).sum()
        assert row["place_low"] <= row["place"] <= row["place_high"] <= len(ranked) + 1
        assert "nobody has judged it" in row["note"]


def test_the_same_system_new_on_the_board_has_the_same_place(board, alone, six_systems, unjudged):
    answers = six_systems.answers
    new = answers[answers["system"].isin(unjudged)].reset_index(drop=True)
    placed = rank_systems(alone, new, six_systems).new
    columns = ["language", "system", *PLACE_COLUMNS, "rating", "low", "high"]
    expected = board.ratings.loc[board.ratings["system"].isin(unjudged), columns]
    order = ["language", "system"]
    pd.testing.assert_frame_equal(
        placed[columns].sort_values(order, ignore_index=True),
        expected.sort_values(order, ignore_index=True),
    )


@pytest.mark.parametrize("judged", [FEWEST_JUDGED_QUESTIONS - 1, FEWEST_JUDGED_QUESTIONS])
def test_so_many_judged_questions_rank_a_system(bilingual_arena, unjudged, judged):
    questions = bilingual_arena.judgments.groupby("language")["query_id"].unique()
    some = [name for names in questions for name in sorted(names)[:judged]]
    arena = without_verdicts_on(bilingual_arena, unjudged[:1], but_on=some)
    board = build_board(arena, **OPTIONS)
    rows = board.ratings[board.ratings["system"] == unjudged[0]]
    is_ranked = judged >= FEWEST_JUDGED_QUESTIONS
    assert (rows["rank"].notna() == is_ranked).all()
    assert (rows["place"].isna() == is_ranked).all()
    if not is_ranked:
        assert rows["note"].str.contains("judged on 2 of the 3 questions").all()


def test_whoever_asks_for_it_ranks_all(six_systems, unjudged):
    arena = without_verdicts_on(six_systems, unjudged)
    board = build_board(arena, unjudged="ranked", **OPTIONS)
    assert board.ratings["rank"].notna().all()
    assert board.ratings["place"].isna().all()
    assert build_board(arena, preset="mirage", **OPTIONS).summary.settings.unjudged == "ranked"


def test_where_nobody_is_ranked_each_is_placed_among_the_others():
    """A system once was its own opponent: wins were drawn to a half, and places went beyond S."""
    names = ["a", "b", "c"]
    rows = pd.DataFrame(
        {"rating": [1.0, 0.0, -1.0], "low": [-2.0, -3.0, -4.0], "high": [4.0, 3.0, 2.0]}, names
    )
    nobody = pd.Series(dtype=float)
    places = places_among(rows, nobody)
    assert places["place"].tolist() == [1, 2, 3]
    assert places["place_low"].tolist() == [1, 1, 1]
    assert places["place_high"].tolist() == [3, 3, 3]
    wins = wins_against(nobody, rows)["wins"]
    chances = expit([1.0, 2.0])
    assert wins["a"] == pytest.approx(chances.mean())
    assert wins["a"] + wins["c"] == pytest.approx(1)
    assert wins["b"] == pytest.approx(0.5)
