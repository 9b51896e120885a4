"""Boards on published ratings: as from judgments, but for what only judgments tell."""

from dataclasses import replace

import pandas as pd
import pytest

from arena import rate
from surrogate import Board, build_board
from surrogate_arena.pages.site import write_site


def as_published(arena):
    """Put the ratings of an arena's judgments in the place of them."""
    parts = []
    for language, rows in arena.judgments.groupby("language"):
        table = rate(rows, rounds=50).table
        error = (table["high"] - table["low"]) / (2 * 1.959963984540054)
        parts.append(table.assign(judge="published", language=language, standard_error=error))
    columns = list(arena.published_ratings)
    ratings = pd.concat(parts, ignore_index=True)[columns]
    return replace(arena, judgments=arena.judgments.iloc[:0], published_ratings=ratings)


@pytest.fixture(scope="module")
def published(small_arena):
    return as_published(small_arena)


@pytest.fixture(scope="module")
def features(quick_features):
    return quick_features


@pytest.fixture(scope="module")
def board(published, features):
    return build_board(published, feature_table=features, tournaments=2, seed=3)


def test_its_site_and_files_are_like_any_other(board, tmp_path):
    saved = board.save(tmp_path / "board")
    assert Board.load(tmp_path / "board").summary == saved.summary
    index = write_site(saved, tmp_path / "site").read_text(encoding="utf-8")
    assert "24 published ratings" in index
    assert "by published" not in index
