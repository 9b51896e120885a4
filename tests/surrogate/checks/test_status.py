"""Who has no rank on boards and why, and who stands beside what it copies."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surrogate import Board, rank_systems
from surrogate.board.board import Board as BoardType
from surrogate.checks.status import REMARK, without_remarks

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


def test_facts_keep_systems_from_a_rank_and_nobody_is_accused(placed):
    new = placed.new.set_index("system")
    assert new.loc["one for all", "note"].str.contains("100% of its answers are the same").all()
    assert new.loc["dealt", "note"].str.contains("fit other questions").all()
    for name in ("one for all", "dealt"):
        assert new.loc[name, "note"].str.startswith("not ranked: ").all()
        assert new.loc[name, ["rank", "place", *BOUNDS]].isna().all(axis=None)
        assert new.loc[name, "surrogate_rating"].notna().all()
    assert new.loc["shuffled", "rank"].isna().all()
    assert new.loc["shuffled", "place"].notna().all()
    assert new.loc["shuffled", "note"].str.contains(REMARK).all()
    assert not new["note"].str.contains("tamper|attack|suspicious").any()
    overall = placed.overall.set_index("system")["place"]
    assert pd.isna(overall["dealt"])
    assert overall["shuffled"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("winner", ["a", "b"])
def test_one_verdict_leaves_the_bar_where_it_was(
    small_board, small_arena, strongest, placed, winner
):
    rows = forms_of(small_arena, strongest)
    one = rows.groupby(["language", "system"]).head(1)
    other = small_board.overall["system"].iloc[3]
    new = rank_systems(
        small_board, rows, small_arena, judgments=judged(one, other, winner)
    ).new.set_index("system")
    assert new.loc[["one for all", "dealt"], "rank"].isna().all()
    old = placed.new.set_index("system")
    pd.testing.assert_frame_equal(new.loc[["copy"], BOUNDS], old.loc[["copy"], BOUNDS])


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
def test_unjudged_systems_of_a_board_are_held_to_the_same(
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
    for name in ("one for all", "dealt"):
        assert ratings.loc[name, "rank"].isna().all()
        assert ratings.loc[name, "note"].str.startswith("not ranked: ").all()
    pd.testing.assert_frame_equal(ratings.loc["copy", BOUNDS], ratings.loc[strongest, BOUNDS])
    places = ratings.loc["copy", "place"]
    assert (places == ratings.loc[strongest, "rank"]).all()
    judged_rows = board.ratings[board.ratings["arena_rating"].notna()]
    assert judged_rows["rank"].notna().all()


def test_remarks_are_separated_from_what_limits_a_rating():
    remark = f"{REMARK}half of its text is shared with a"
    assert without_remarks(remark) == without_remarks("") == ""
    assert without_remarks(f"by its verdicts alone; {remark}") == "by its verdicts alone"
