"""Who a board says is first, how surely, and by what judge."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.quality.judge_report import WORDS, JudgeLabel, JudgeTest
from surrogate import build_board
from surrogate_arena.cli.first_place import conclusion, leading

PASSED = JudgeTest("length", "consistent", "length makes no difference")


def altered(board, grade="consistent", probability=0.71, **alike):
    label = replace(board.summary.macro.judge, grade=grade, tests=(PASSED,))
    macro = board.summary.macro.model_copy(update={"judge": label})
    places = board.ratings["system"].map(list(board.overall["system"]).index)
    tiers = 1 + (places > board.ratings["language"].map(alike)).astype("Int64")
    summary = board.summary.model_copy(update={"macro": macro})
    ranks = np.arange(1, len(board.overall) + 1)
    overall = board.overall.assign(probability_best=probability, rank=ranks)
    ratings = board.ratings.assign(tier=tiers)
    return replace(board, ratings=ratings, overall=overall, summary=summary)


@pytest.mark.slow
@pytest.mark.parametrize("grade", ["consistent", "doubtful", "not known", "agrees", "unreliable"])
@pytest.mark.parametrize("alike", [0, 1, 2])
def test_a_board_names_its_leader_who_may_be_as_good_and_its_judge(quick_board, grade, alike):
    codes, names = quick_board.languages, list(quick_board.overall["system"])
    said = conclusion(altered(quick_board, grade, **dict.fromkeys(codes, alike)))
    assert quick_board.summary.judge in said
    assert said.endswith(f"{WORDS[grade]}.")
    if grade == "unreliable":
        assert not any(name in said for name in names)
        assert "leads" not in said
        return
    assert said.startswith(names[0])
    assert "71%" in said
    assert ("leads" in said) == (alike == 0)
    assert ("every other system is worse in both languages" in said) == (alike == 0)
    next_ones = {1: "the next system", 2: "the next 2 systems"}
    if alike:
        assert f"{next_ones[alike]} may be as good in at least 1 of 2 languages" in said
    assert " to " not in said


def test_half_of_the_languages_are_enough_not_to_be_distinguishable(quick_board):
    said = conclusion(altered(quick_board, **dict(zip(quick_board.languages, (0, 1), strict=True))))
    assert "the next system may be as good in at least 1 of 2 languages" in said
    apart = conclusion(altered(quick_board, **dict.fromkeys(quick_board.languages, 0)))
    assert "every other system is worse in both languages" in apart


@pytest.mark.parametrize("probability", [0.4, 0.999])
@pytest.mark.parametrize(
    ("alike", "named"),
    [
        (["C"], "C may"),
        (["C", "E"], "C and E may"),
        (list("CEFG"), "4 systems may"),
        (["B"], "the next system may"),
        (list("BC"), "the next 2 systems may"),
        (list("BCDEFGH"), "every other system may"),
    ],
)
def test_systems_that_may_be_as_good_are_named_or_counted_with_the_test(alike, named, probability):
    """Intervals that do not overlap may lie next to the sentence, as may a sure first place."""
    sentence = leading(list("ABCDEFGH"), alike, probabilities=[probability])
    assert sentence.startswith("A is first (")
    assert f"by a test of all pairs {named} be as good" in sentence


def test_systems_that_share_first_place_are_named_together(quick_board):
    codes = quick_board.languages
    board = altered(quick_board, **dict.fromkeys(codes, 2))
    names = list(board.overall["system"])
    shared = board.overall.assign(
        rank=board.overall["rank"].replace(2, 1),
        probability_best=np.where(board.overall["rank"] == 2, 0.31, 0.48),
    )
    said = conclusion(replace(board, overall=shared))
    assert said.startswith(f"{names[0]} and {names[1]} tie for first place (48% and 31% likely")
    assert "is first" not in said
    assert "the next system may be as good" in said
    many = leading(list("ABCDEFGH"), [], n_first=4, probabilities=[0.2] * 4)
    assert many.startswith("4 systems tie for first place: ")


def test_systems_without_a_rank_are_not_said_to_be_worse(quick_board):
    board = altered(quick_board, **dict.fromkeys(quick_board.languages, 0))
    n_ranked = len(board.overall) - 1
    unranked = board.overall.assign(rank=board.overall["rank"].mask(board.overall["rank"] == 1))
    said = conclusion(replace(board, overall=unranked))
    assert f"among the {n_ranked} systems with a rank" in said
    assert "likely the best of these" in said
    assert "every other system" not in said


def test_a_leader_that_nobody_has_judged_is_said_to_be_rated_by_its_answers(quick_board):
    board = altered(quick_board, **dict.fromkeys(quick_board.languages, 1))
    leader = board.overall["system"].iloc[0]
    is_leader = board.ratings["system"] == leader
    unjudged = board.ratings.assign(split=board.ratings["split"].mask(is_leader, "unjudged"))
    assert "by its answers alone" not in conclusion(board)
    assert conclusion(replace(board, ratings=unjudged)).startswith(
        f"{leader}, rated by its answers alone, is first"
    )


def test_an_unjudged_leader_may_tell_from_one_other_or_be_the_only_one():
    pair = leading(["A", "B"], ["B"], is_unjudged=True)
    assert pair == (
        "A, rated by its answers alone, is first, but by a test of all pairs B may be as good"
    )
    alone = leading(["A"], [], is_unjudged=True)
    assert alone == "A, rated by its answers alone, is the only system with a rank"


def test_where_nothing_was_tested_nothing_is_not_distinguishable(quick_board):
    board = replace(quick_board, ratings=quick_board.ratings.assign(tier=pd.NA))
    said = conclusion(board)
    assert "distinguishable" not in said
    assert "leads" not in said
    assert "tested" in said


def test_only_a_judge_that_always_says_the_same_says_nothing(tiny_arena):
    """A judge that often flips: its ranks may be right, and nothing else is claimed of them."""
    board = build_board(tiny_arena, surrogate="linear", tournaments=2)
    macro = board.summary.macro
    for is_one_sided in (True, False):
        tests = [JudgeTest("flips", "unreliable", "of 90 pairs judged in both orders 36 flip")]
        if is_one_sided:
            tests.append(JudgeTest("same verdict", "unreliable", "all are side A"))
        judge = JudgeLabel("m", "unreliable", tuple(tests))
        summary = board.summary.model_copy(
            update={"macro": macro.model_copy(update={"judge": judge})}
        )
        text = conclusion(replace(board, summary=summary))
        ranks_unseen = summary.ranks_unseen_in("en")
        assert not (is_one_sided and ranks_unseen)
        nothing_to_learn = "nothing for a surrogate to learn" in " ".join(summary.macro.cautions)
        assert nothing_to_learn == is_one_sided
        assert "is unreliable: of 90 pairs" in text
        assert not any(word in text for word in ("is first", "distinguishable", "leads"))


@pytest.mark.slow
def test_who_always_says_a_is_unreliable_and_a_first_board_judged_by_nobody(tiny_arena):
    says_a = replace(tiny_arena, judgments=tiny_arena.judgments.assign(winner="a"))
    board = build_board(says_a, surrogate="linear", tournaments=2)
    assert conclusion(board).startswith(
        "No system has a rank. Judge simulated-teacher is unreliable"
    )
    assert (
        board.ratings[["rank", "low", "high", "rank_low", "tier", "arena_low"]]
        .isna()
        .all(axis=None)
    )
    assert board.arena[["low", "high"]].isna().all(axis=None)
    assert board.ratings["rating"].notna().any()
    unjudged = replace(tiny_arena, judgments=tiny_arena.judgments.iloc[:0])
    said = conclusion(build_board(unjudged))
    assert "Nobody has judged" in said
    assert not any(word in said for word in ("leads", "distinguishable", "first"))
