"""Ranks cannot be bought: who is not ranked on boards, and why."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surrogate import Board, rank_systems
from surrogate.integrity.check import LOOKS, NOT_RANKED, without_remarks
from surrogate.integrity.damage import DAMAGES, Original

TAMPERED, UNUSUAL = (text.split("{")[0] for text in (NOT_RANKED, LOOKS))
SMALL = 0.05
"""Logits."""
OTHER_QUESTIONS = "fit other questions better than their own"


@pytest.fixture(scope="module")
def strongest(small_board):
    return small_board.overall["system"].iloc[0]


def forms_of(arena, system):
    """The answers of a system as they are, and damaged in each way."""
    asked = arena.queries.set_index(["language", "query_id"])
    parts = []
    for _, own in arena.answers[arena.answers["system"] == system].groupby("language"):
        rows = asked.loc[list(zip(own["language"], own["query_id"], strict=True))]
        passages = [[item["text"] for item in items] for items in rows["passages"]]
        random = np.random.default_rng(0)
        original = Original(list(own["answer"]), list(rows["query"]), passages, random)
        parts.append(own.assign(system="as it is"))
        parts += [
            own.assign(answer=change(original), system=name) for name, change in DAMAGES.items()
        ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def placed(small_board, small_arena, strongest, tmp_path_factory):
    """Ranked by the folder of the board alone, and the arena's questions."""
    folder = tmp_path_factory.mktemp("board")
    small_board.save(folder)
    return rank_systems(Board.load(folder), forms_of(small_arena, strongest), small_arena)


def test_no_damaged_form_ranks_above_the_original(placed, small_board):
    new = placed.new.pivot(index="system", columns="language", values="rank").astype(float)
    unranked = new.isna().all(axis=1)
    assert not unranked["as it is"]
    for form in ("empty", "words shuffled", "other questions", "repeated", "question repeated"):
        assert unranked[form], form
    ratings = placed.new.pivot(index="system", columns="language", values="rating")
    for form in new.index[~unranked]:
        above = ratings.loc[form] > ratings.loc["as it is"] + SMALL  # missing where not ranked
        assert not above.any(), form


def test_why_a_system_is_not_ranked_is_said_everywhere(placed):
    rows = placed.new[placed.new["system"] == "other questions"]
    assert rows["note"].str.startswith(TAMPERED).all()
    assert rows["note"].str.contains(OTHER_QUESTIONS).all()
    assert rows[["rank", "rating", "low", "high"]].isna().all(axis=None)
    assert rows["surrogate_rating"].notna().all()
    found = placed.explanations[placed.explanations["system"] == "other questions"]["anomalies"]
    assert {"measure", "share", "limit", "is_grave", "sentence"} == set(found.iloc[0][0])
    overall = placed.overall.set_index("system")
    assert pd.isna(overall.loc["other questions", "rank"])
    assert pd.notna(overall.loc["as it is", "rank"])


def test_a_copy_is_rated_no_higher_than_its_original(small_board, small_arena):
    for system in small_arena.info.systems[-4:]:
        copy = small_arena.answers[small_arena.answers["system"] == system].assign(system="copy")
        new = rank_systems(small_board, copy, small_arena).new.set_index("language")
        old = small_board.ratings[small_board.ratings["system"] == system].set_index("language")
        assert (new["rating"] <= old["rating"] + 1e-6).all()
        assert new["note"].str.contains(f"near-copy of {system}: 100% of its answers").all()


def test_too_few_answers_give_no_rank_and_few_a_wider_interval(small_board, small_arena, strongest):
    own = small_arena.answers[small_arena.answers["system"] == strongest]
    english = own[own["language"] == "en"].sort_values("query_id")
    rows = pd.concat(
        [english.head(size).assign(system=f"answers {size:02}") for size in (4, 6, 10)]
    )
    new = rank_systems(small_board, rows, small_arena).new
    new = new[new["language"] == "en"].set_index("system")
    assert new.loc["answers 04", "note"].startswith(
        "not ranked: it answered 4 of 10 questions, and 5 are needed"
    )
    assert new["rank"].notna().sort_index().tolist() == [False, True, True]
    widths = new["rating"] - new["low"]
    assert widths["answers 06"] > widths["answers 10"] > 0


def test_with_verdicts_a_system_is_rated_by_them_and_its_answers_are_remarked(
    small_board, small_arena, strongest
):
    forms = forms_of(small_arena, strongest)
    rows = forms[forms["system"] == "other questions"]
    other = small_board.overall["system"].iloc[1]
    judged = rows[["language", "query_id"]].assign(
        system_a="other questions", system_b=other, winner="b", judge="somebody"
    )
    new = rank_systems(small_board, rows, small_arena, judgments=judged).new
    assert new["rank"].notna().all()
    assert new["note"].str.contains(UNUSUAL + ".*" + OTHER_QUESTIONS).all()


@pytest.fixture(scope="module")
def with_unjudged(small_arena, strongest, build_quickly, quick_features):
    """A board of an arena that holds two unjudged systems, one of them tampered with."""
    forms = forms_of(small_arena, strongest)
    rows = forms[forms["system"].isin(["as it is", "other questions"])]
    systems = (*small_arena.info.systems, "as it is", "other questions")
    arena = replace(
        small_arena,
        info=small_arena.info.model_copy(update={"systems": systems}),
        answers=pd.concat([small_arena.answers, rows], ignore_index=True),
    )
    own = quick_features[quick_features["system"] == strongest]
    table = pd.concat(
        [quick_features, *(own.assign(system=name) for name in systems[-2:])], ignore_index=True
    )
    return build_quickly(arena, feature_table=table)


def test_boards_do_not_rank_unjudged_systems_that_were_tampered_with(with_unjudged):
    rows = with_unjudged.ratings.set_index("system")
    assert rows.loc[["other questions"], "rank"].isna().all()
    assert rows.loc[["other questions"], "note"].str.startswith(TAMPERED).all()
    assert rows.loc[["as it is"], "rank"].notna().all()
    for summary in with_unjudged.summary.languages.values():
        assert TAMPERED in summary.skipped.systems_unranked["other questions"]


def test_judged_systems_keep_their_ranks_and_the_board_says_what_it_can_tell(small_board):
    judged = small_board.ratings[small_board.ratings["arena_rating"].notna()]
    assert judged["rank"].notna().all()
    for summary in small_board.summary.languages.values():
        integrity = summary.integrity
        assert integrity.judged == judged["system"].nunique()
        assert integrity.alarms <= 1
        assert "other questions" in integrity.told
        assert not set(integrity.told) & set(integrity.not_told)


def test_remarks_are_told_from_what_limits_a_rating():
    remark = LOOKS.format("half of its text is copied")
    assert without_remarks(remark) == without_remarks("") == ""
    assert without_remarks(f"by its verdicts alone; {remark}") == "by its verdicts alone"
