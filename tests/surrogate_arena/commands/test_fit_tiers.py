"""The command ``fit`` gives the arena's table of a board."""

import json

import numpy as np
import pandas as pd
import pytest

from arena.rating.ratings import rate


@pytest.mark.slow
def test_the_arena_table_and_tiers_of_a_board_are_those_of_fit(
    small_arena, small_board, run, arena_folder, capsys
):
    columns = ["rank", "rating", "low", "high", "tier", "rank_low", "rank_high"]
    for language, rows in small_board.verdict_ratings.groupby("language"):
        fitted = rate(small_arena.judgments, language=language, seed=3).table
        capsys.readouterr()
        assert run("fit", arena_folder, "--language", language, "--seed", 3, "--json") == 0
        printed = pd.DataFrame(json.loads(capsys.readouterr().out)["ratings"])
        ours = rows.set_index("system")[columns].astype(float)
        for fit in (fitted, printed):
            expected = fit.set_index("system")[columns].astype(float).reindex(ours.index)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)
