"""What a board says of its judge: what an arena's folder knows of it."""

from dataclasses import replace

import pytest

from surrogate import rank_systems


@pytest.mark.slow
def test_a_judge_that_always_says_the_same_is_named_first(english_arena, build_quickly):
    sided = english_arena.judgments.assign(winner="a")
    board = build_quickly(replace(english_arena, judgments=sided))
    first, *_ = board.summary.macro.conclusions
    assert first.is_warning
    assert "unreliable" in first.sentence
    assert "whatever the answers are" in first.sentence
    new = english_arena.answers[english_arena.answers["system"] == board.systems[0]]
    placed = rank_systems(
        board,
        new.assign(system="newcomer"),
        english_arena,
        feature_table=board.features[board.features["system"] == board.systems[0]].assign(
            system="newcomer"
        ),
    )
    assert str(placed.remarks[0]) == first.sentence
