"""A board tests its surrogate as ``validate`` does."""

import pytest

from surrogate.board import language_study
from surrogate_arena.studies import validate


@pytest.mark.slow
def test_tau_of_unseen_systems_has_the_interval_that_validate_gives(small_arena, small_board):
    found = validate(
        *(small_arena, "leave-systems-out", "default"),
        feature_table=small_board.features,
        tournaments=10,
        seed=3,
        repeats=language_study.SPLITS,
    )
    for language, item in small_board.summary.languages.items():
        scores = found.table.set_index("language").loc[language]
        assert item.tau_unseen == pytest.approx(scores["tau"])
        assert item.tau_unseen_low == pytest.approx(scores["tau_low"])
        assert item.tau_unseen_high == pytest.approx(scores["tau_high"])
    macro = small_board.summary.macro
    assert macro.tau_unseen_low == pytest.approx(found.table.iloc[-1]["tau_low"])
    assert macro.tau_unseen_low < macro.tau_unseen < macro.tau_unseen_high
