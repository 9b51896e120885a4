"""Surrogates on a real arena."""

from pathlib import Path

import pytest

from arena import read_arena
from features import extract
from surrogate.validation import TournamentSettings, validate

RAKUDA = Path(__file__).parents[4] / "shared" / "data" / "arenas" / "rakuda"
FEATURES = "answer_length,repetition,truncation,markup_artifacts"


@pytest.mark.skipif(not RAKUDA.is_dir(), reason="the shared arenas are absent")
def test_a_surrogate_ranks_unseen_systems_of_a_real_arena():
    arena = read_arena(RAKUDA)
    done = validate(
        *(arena, "leave-systems-out", "ridge"),
        feature_table=extract(arena, FEATURES),
        tournaments=TournamentSettings(tournaments=10),
    )
    assert done.scores.n_systems == 9
    assert done.scores.tau > 0.4
