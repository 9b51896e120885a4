"""What a board says in plain words of its own scores, and the intervals that decide it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.quality.judge_report import WORDS, JudgeLabel, JudgeTest
from features.engine.extraction import feature_columns
from surrogate import build_board
from surrogate.board.conclusions import (
    GAIN_UNSURE,
    GAINED,
    LIKELY,
    LOST,
    NOT_GAINED,
    NOT_SPLIT,
    UNSEEN_BY_CHANCE,
    UNSEEN_BY_DOUBTFUL_JUDGE,
    UNSEEN_CONCLUSIONS,
    UNSEEN_LIKELY,
    UNSEEN_RANKED,
    UNSEEN_UNKNOWN,
    UNSEEN_UNTESTED,
    Agreements,
    of_judge,
    probability_of_use,
)
from surrogate.board.first_place import conclusion, leading
from surrogate.board.summary import MacroSummary


@pytest.mark.parametrize(
    ("unseen", "low", "high", "meant"),
    [
        (0.6, 0.1, 0.9, UNSEEN_RANKED),
        (0.6, -0.1, 0.9, UNSEEN_LIKELY),  # as in other arenas
        (0.3, -0.4, 0.9, UNSEEN_LIKELY),
        (-0.2, -0.6, 0.2, UNSEEN_BY_CHANCE),
        (0.05, 0.01, 0.2, UNSEEN_RANKED),
        (-0.5, -0.9, -0.1, UNSEEN_BY_CHANCE),
        (0.9, None, None, UNSEEN_UNKNOWN),
        (None, None, None, UNSEEN_UNKNOWN),
    ],
)
def test_intervals_decide_what_is_said_of_unseen_systems(unseen, low, high, meant):
    found = Agreements(tau_unseen=unseen, tau_unseen_low=low, tau_unseen_high=high)
    assert found.conclusions[0] == meant
    assert (meant.sentence in found.warnings) == meant.is_warning
    assert meant.is_warning == (meant is not UNSEEN_RANKED)


def test_a_judge_with_a_fault_is_not_said_to_be_as_others_are():
    scores = {"tau_unseen": 0.6, "tau_unseen_low": -0.1, "tau_unseen_high": 0.9}
    label = JudgeLabel("m", "doubtful", (JudgeTest("flips", "doubtful", "verdicts flip"),))
    macro = MacroSummary(**scores, judge=label)
    part = Agreements(**scores)
    assert (
        macro.conclusions[0]
        == of_judge(part.conclusions[0], has_fault=True)
        == UNSEEN_BY_DOUBTFUL_JUDGE
    )
    assert of_judge(part.conclusions[0], has_fault=False) == UNSEEN_LIKELY
    assert MacroSummary(**scores).conclusions[0] == UNSEEN_LIKELY


@pytest.mark.parametrize(
    ("gain", "low", "high", "meant"),
    [
        (0.02, 0.01, 0.03, GAINED),
        (0.02, -0.01, 0.04, NOT_GAINED),
        (0.02, -0.2, 0.3, GAIN_UNSURE),
        (0.0, 0.0, 0.0, NOT_GAINED),
        (-0.1, -0.2, -0.05, LOST),
        (float("nan"), None, None, NOT_SPLIT),
    ],
)
def test_intervals_over_systems_decide_what_is_said_of_the_gain(gain, low, high, meant):
    found = Agreements(gain=gain, gain_low=low, gain_high=high)
    assert found.conclusions[1] == meant


@pytest.mark.slow
def test_a_surrogate_is_worth_verdicts_and_no_more_than_there_are(small_arena, small_board):
    macro = small_board.summary.macro
    parts = small_board.summary.languages.values()
    assert 0 < macro.worth <= max(2 * item.judgments / item.systems_judged for item in parts)
    columns = feature_columns(small_board.features)[:5]
    keys = ["language", "system", "query_id"]
    noise = small_board.features[[*keys, *columns]].copy()
    noise[columns] = np.random.default_rng(0).normal(size=noise[columns].shape)
    worse = build_board(small_arena, feature_table=noise, surrogate="linear", tournaments=2)
    assert worse.summary.macro.worth < macro.worth
    said = f"worth about {float(f'{macro.worth:.2g}'):,.0f} verdicts on it"
    assert (said in macro.conclusions[0].sentence) == macro.ranks_unseen


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


def test_a_mean_over_languages_is_not_stated_of_the_languages(small_board):
    """Some languages may show less than the mean, and their cautions say so next to it."""
    numbers = Agreements(tau_unseen=0.6, tau_unseen_low=0.3, tau_unseen_high=0.8)
    fields = small_board.summary.macro.model_dump(exclude={"conclusions", "judge"})
    fields |= numbers.model_dump(exclude={"conclusions"})
    for mean in ("", "mean over 4 languages"):
        macro = MacroSummary(**{**fields, "mean": mean, "worth": 48})
        sentence = macro.conclusions[0].sentence
        assert sentence.startswith("In the mean over 4 languages the surrogate ranks") == bool(mean)
        assert "about 48 verdicts" in sentence
    one, none = (MacroSummary(**{**fields, "worth": worth}).conclusions[0] for worth in (1.2, 0.3))
    assert "worth about 1 verdict on it" in one.sentence
    assert "worth less than a verdict on it" in none.sentence
    fields |= {"tau_unseen": -0.2, "tau_unseen_low": -0.6, "tau_unseen_high": 0.2}
    unproven = MacroSummary(**{**fields, "mean": "mean over 2 languages"}).conclusions[0]
    # Whether a system without verdicts has a rank is decided in each language.
    assert unproven.is_warning
    assert "has no rank" not in unproven.sentence
    assert small_board.summary.macro.mean == "mean over 2 languages"


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


@pytest.mark.parametrize(
    ("tau", "low", "high", "systems", "standing"),
    [
        (0.6, 0.1, 0.9, 6, "shown"),
        (0.65, -0.05, 1.0, 6, "likely"),  # as good as most arenas
        (0.0, -0.6, 0.6, 6, "likely"),  # six systems can hardly speak against the others
        (-0.3, -0.4, -0.2, 5, "likely"),  # resamples of so few systems are no evidence
        (-0.9, -1.0, -0.3, 9, "unproven"),
        (0.0, -0.2, 0.2, 40, "unproven"),  # many systems, and it is 0
        (0.1, -0.05, 0.25, 40, "unproven"),
        (None, None, None, 0, "unknown"),
    ],
)
def test_few_systems_are_ranked_unless_they_speak_against_other_arenas(
    tau, low, high, systems, standing
):
    found = Agreements(
        tau_unseen=tau, tau_unseen_low=low, tau_unseen_high=high, systems_compared=systems
    )
    assert found.standing == standing
    assert found.ranks_unseen == (standing in ("shown", "likely"))
    assert found.conclusions[0] == UNSEEN_CONCLUSIONS[standing]


def test_systems_are_ranked_with_a_caution_where_too_few_are_judged_to_test():
    found = Agreements(is_untested=True)
    assert found.standing == "untested"
    assert found.ranks_unseen
    assert found.conclusions[0] == UNSEEN_UNTESTED
    assert UNSEEN_UNTESTED.is_warning


@pytest.mark.parametrize(("systems", "most", "fewest"), [(6, 0.9, 0.9), (40, 0.2, 0.95)])
def test_only_many_systems_tell_a_useless_surrogate_from_a_useful_one(systems, most, fewest):
    rng = np.random.default_rng(0)
    error = np.sqrt(2 * (2 * systems + 5) / (9 * systems * (systems - 1)))
    shares = {}
    for truth in (0.0, 0.65):
        taus = np.clip(rng.normal(truth, error, 2000), -1, 1)
        probabilities = [probability_of_use(tau, error, systems) for tau in taus]
        shares[truth] = np.mean(np.array(probabilities) >= LIKELY)
    assert shares[0.0] < most
    assert shares[0.65] > fewest


def test_a_language_ranks_by_its_own_standing_or_by_all_where_that_is_unknown(quick_board):
    summary = quick_board.summary
    own, other = list(summary.languages)[:2]
    unproven = {"tau_unseen": 0.0, "tau_unseen_low": -0.1, "tau_unseen_high": 0.1}
    unproven["systems_compared"] = 40
    unknown = dict.fromkeys(["tau_unseen", "tau_unseen_low", "tau_unseen_high"])
    shown = {"tau_unseen": 0.6, "tau_unseen_low": 0.4, "tau_unseen_high": 0.8}
    languages = dict(summary.languages)
    languages[own] = languages[own].model_copy(update=unproven)
    languages[other] = languages[other].model_copy(update=unknown)
    for macro, ranks in ((shown, True), (unproven, False)):
        altered_macro = summary.macro.model_copy(update=macro)
        changed = summary.model_copy(update={"languages": languages, "macro": altered_macro})
        assert not changed.ranks_unseen_in(own)
        assert changed.ranks_unseen_in(other) == ranks
