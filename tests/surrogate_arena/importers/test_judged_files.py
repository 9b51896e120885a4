"""New systems rated by their answers and some verdicts: the posterior that boards have."""

from dataclasses import replace

import pandas as pd
import pytest
from simulations import simulated_part

from arena.data.errors import DataError
from surrogate import build_board, rank_systems
from surrogate_arena.importers.judgments import read_judgments

FEATURES = "answer_length,content_coverage,citation_recall@10"


@pytest.fixture(scope="module")
def whole():
    return simulated_part(languages=["en"], questions=16).arena


@pytest.fixture(scope="module")
def new(whole):
    return next(name for name in whole.info.systems if name != whole.info.reference_system)


@pytest.fixture(scope="module", params=["answers", "linear"])
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
def verdicts(whole, new):
    rows = whole.judgments
    return rows[(rows["system_a"] == new) | (rows["system_b"] == new)].reset_index(drop=True)


def test_verdicts_without_a_language_are_in_that_of_their_questions(
    board, whole, new, verdicts, tmp_path
):
    answers = whole.answers[whole.answers["system"] == new]
    some = verdicts.head(12)
    bare = some.drop(columns="language")
    bare.to_csv(tmp_path / "few.csv", index=False)
    expected = rank_systems(board, answers, whole, judgments=some).new
    assert expected["judgments"].tolist() == [12]
    for given in (bare, read_judgments(tmp_path / "few.csv", whole.queries)):
        placed = rank_systems(board, answers, whole, judgments=given)
        pd.testing.assert_frame_equal(placed.new, expected)
    with pytest.raises(DataError, match=r"judgments:1: winner = 'A'"):
        rank_systems(board, answers, whole, judgments=bare.assign(winner="A"))
