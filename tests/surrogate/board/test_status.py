"""Who has no rank on boards and why, and who stands beside what it copies."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surrogate import Board, rank_systems
from surrogate.board.board import Board as BoardType

MADE = ("one for all", "dealt", "shuffled", "copy")
BOUNDS = ["rating", "low", "high"]


@pytest.fixture(scope="module")
def strongest(small_board):
    return small_board.overall["system"].iloc[0]


def forms_of(arena, system):
    """The answers of a system, changed."""
    rows = arena.answers[arena.answers["system"] == system]
    rows = rows.sort_values(["language", "query_id"])
    texts = rows["answer"]
    by_language = rows.groupby("language")["answer"]
    changed = {
        "one for all": by_language.transform("first"),
        "dealt": by_language.transform(lambda answers: np.roll(answers.to_numpy(), -3)),
        "shuffled": texts.map(lambda text: " ".join(sorted(text.split()))),
        "copy": texts,
    }
    return pd.concat([rows.assign(system=name, answer=changed[name]) for name in MADE])


def judged(rows, other, winner):
    return rows[["language", "query_id"]].assign(
        system_a=rows["system"], system_b=other, winner=winner, judge="somebody"
    )


@pytest.fixture(scope="module")
def placed(board_folder, small_arena, strongest):
    return rank_systems(Board.load(board_folder), forms_of(small_arena, strongest), small_arena)


def test_disguises_are_placed_and_nobody_is_accused(placed):
    new = placed.new.set_index("system")
    for name in MADE:
        assert new.loc[name, "rank"].isna().all()
        assert new.loc[name, "place"].notna().all()
    assert not new["note"].str.contains("tamper|attack|suspicious").any()


@pytest.mark.slow
def test_verdicts_on_a_copy_rate_it_below_its_original_and_never_above(
    small_board, small_arena, strongest
):
    rows = forms_of(small_arena, strongest)
    rows = rows[rows["system"] == "copy"]
    last = small_board.overall["system"].iloc[-1]
    originals = small_board.ratings[small_board.ratings["system"] == strongest]
    originals = originals.set_index("language")["rating"]
    for winner, is_below in (("a", False), ("b", True)):
        ranked = rank_systems(small_board, rows, small_arena, judgments=judged(rows, last, winner))
        ratings = ranked.new.set_index("language")["rating"]
        assert (ratings < originals[ratings.index]).all() == is_below
        assert (ratings <= originals[ratings.index]).all()


@pytest.mark.slow
def test_a_copy_stands_beside_its_original(small_board, small_arena, strongest):
    for system in (strongest, *small_arena.info.systems[-2:]):
        copy = small_arena.answers[small_arena.answers["system"] == system].assign(system="copy")
        new = rank_systems(small_board, copy, small_arena).new.set_index("language")
        old = small_board.ratings[small_board.ratings["system"] == system].set_index("language")
        pd.testing.assert_frame_equal(new[BOUNDS], old.loc[new.index, BOUNDS])
        assert new["note"].str.contains(f"near-copy of {system}").all()


@pytest.mark.slow
def test_too_few_answers_give_no_rank_and_few_a_wider_interval(small_board, small_arena, strongest):
    rows = small_arena.answers[small_arena.answers["system"] == strongest]
    english = rows[rows["language"] == "en"].sort_values("query_id")
    english = english.assign(answer=english["answer"].str.upper() + " " + english["query_id"])
    parts = [english.head(size).assign(system=f"answers {size:02}") for size in (4, 6, 10)]
    rows = pd.concat(parts)
    new = rank_systems(small_board, rows, small_arena).new
    new = new[new["language"] == "en"].set_index("system")
    assert new.loc["answers 04", "note"].startswith(
        "not ranked: it answered 4 of 10 questions, and 5 are needed"
    )
    assert new["place"].notna().sort_index().tolist() == [False, True, True]


@pytest.mark.slow
def test_unjudged_copies_of_a_board_stand_beside_their_originals(
    small_arena, strongest, build_quickly, quick_features
):
    rows = forms_of(small_arena, strongest)
    arena = replace(
        small_arena,
        info=small_arena.info.model_copy(update={"systems": (*small_arena.info.systems, *MADE)}),
        answers=pd.concat([small_arena.answers, rows], ignore_index=True),
    )
    measured = quick_features[quick_features["system"] == strongest]
    table = pd.concat([quick_features, *(measured.assign(system=name) for name in MADE)])
    board: BoardType = build_quickly(arena, feature_table=table.reset_index(drop=True))
    ratings = board.ratings.set_index(["system", "language"])
    assert ratings.loc[list(MADE), "rank"].isna().all()
    pd.testing.assert_frame_equal(ratings.loc["copy", BOUNDS], ratings.loc[strongest, BOUNDS])
    places = ratings.loc["copy", "place"]
    assert (places == ratings.loc[strongest, "rank"]).all()
    judged_rows = board.ratings[board.ratings["arena_rating"].notna()]
    assert judged_rows["rank"].notna().all()
