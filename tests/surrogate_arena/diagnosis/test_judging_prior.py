"""What judging expects of the systems before the first verdict."""

from dataclasses import replace

import pandas as pd
import pytest

from surrogate import build_board
from surrogate.board.conclusions import UNJUDGED_BY_PREFERENCES
from surrogate.learning.question_scores import shipped_preferences
from surrogate_arena.diagnosis.judging_prior import expected_systems, judging_prior

KEYS = ["language", "system"]


@pytest.fixture(scope="module")
def chat(unjudged):
    empty = pd.Series([[] for _ in range(len(unjudged.queries))], dtype=object)
    return replace(unjudged, queries=unjudged.queries.assign(passages=empty))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unjudged", "chat"])
def test_the_prior_is_that_of_a_first_board_of_the_same_questions(name, request):
    arena = request.getfixturevalue(name)
    prior = judging_prior(arena)
    expected = expected_systems(build_board(arena), arena)
    prior, expected = (table.sort_values(KEYS, ignore_index=True) for table in (prior, expected))
    # A board's ratings are rounded.
    pd.testing.assert_frame_equal(prior, expected, rtol=0.0, atol=1e-5)


def test_a_board_without_passages_says_whose_preferences_it_rests_on(unjudged, chat):
    board = build_board(chat, features="answer_length,repetition")
    for language in board.summary.languages.values():
        assert language.basis == "preferences"
        assert "judges of other arenas" in str(language.remarks[-1])
        for source in shipped_preferences()["arenas"]:
            assert source["arena"] in str(language.remarks[-1])
    assert board.summary.macro.conclusions == (UNJUDGED_BY_PREFERENCES,)
    prior = expected_systems(board, chat)
    with_passages = build_board(unjudged, features="answer_length,repetition")
    assert all(item.basis == "consensus" for item in with_passages.summary.languages.values())
    wider = expected_systems(with_passages, unjudged)
    assert prior["standard_error"].max() < wider["standard_error"].min()
    assert prior["rating"].std() > wider["rating"].std()
