"""Published ratings: what a file may hold, what is said of a bad one, and logits."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena import DataError, read_arena, write_arena

FILE = "published_ratings.csv"


@pytest.fixture
def folder(tmp_path):
    """Two systems that answered four questions in English, nobody judged."""
    return written(tmp_path / "small", ["en"])


def written(folder, languages):
    folder.mkdir()
    info = {"name": "small", "languages": languages, "systems": ["x", "y"]}
    (folder / "arena.json").write_text(json.dumps(info))
    keys = [(code, f"q{number}") for code in languages for number in range(4)]
    rows = [{"language": code, "query_id": name} for code, name in keys]
    queries = [{**row, "query": "Why?", "passages": []} for row in rows]
    answers = [{**row, "system": "x", "answer": "So."} for row in rows]
    for name, table in (("queries", queries), ("answers", answers)):
        text = "".join(json.dumps(row) + "\n" for row in table)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


def read(folder, text):
    (folder / FILE).write_text(text)
    return read_arena(folder).published_ratings.set_index(["judge", "system"])


def test_ratings_are_taken_as_they_are_with_systems_that_are_not_here(folder):
    table = read(folder, "system,rating,standard_error,price\nx,1.5,0.25,9\nelsewhere,-2,,7\n")
    assert table.loc[("published", "x")].tolist() == ["en", 1.5, 0.25]
    assert table.loc[("published", "elsewhere"), "rating"] == -2.0
    assert np.isnan(table.loc[("published", "elsewhere"), "standard_error"])
    arena = read_arena(folder)
    assert (arena.judges, arena.rated_systems) == (("published",), ("x",))


@pytest.mark.parametrize(
    "text",
    [
        "system,win_rate,standard_error\nx,80,4\ny,0.5,1\n",
        "system,win_rate,standard_error\nx,0.8,0.04\ny,0.005,0.01\n",
    ],
)
def test_win_rates_in_percent_or_shares_become_log_odds(folder, text):
    table = read(folder, text)
    assert table["rating"].tolist() == pytest.approx([np.log(4.0), np.log(0.005 / 0.995)])
    assert table["standard_error"].tolist() == pytest.approx([0.04 / 0.16, 0.01 / 0.004975])


def test_a_win_rate_without_a_logit_is_moved_by_half_a_question_and_keeps_its_place(folder):
    table = read(folder, "system,win_rate,standard_error\nx,0,0\ny,50,1\n")
    assert table["rating"].tolist() == pytest.approx([np.log(0.125 / 0.875), 0.0])
    assert table["standard_error"].iloc[0] == pytest.approx(1 / 0.875)
    table = read(folder, "system,win_rate\nx,0\ny,2\nz,100\n")
    assert table["rating"].tolist() == pytest.approx(
        [np.log(0.01 / 0.99), np.log(0.02 / 0.98), np.log(0.99 / 0.01)]
    )


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("model,rating\nx,1\n", None, "system"),
        ("system,elo\nx,1\n", None, "rating"),
        ("system,rating\nx,good\n", 2, "rating"),
        ("system,rating\nx,\n", 2, "rating"),
        ("system,rating\ny,1\nx,1041\n", 3, "rating"),
        ("system,win_rate\nx,100.5\n", 2, "win_rate"),
        ("system,win_rate,standard_error\nx,50,-1\n", 2, "standard_error"),
        ("system,rating\n,1\n", 2, "system"),
        ("system,rating\nx,1\nx,2\n", 3, "judge+language+system"),
        ("system,language,rating\nx,fi,1\n", 2, "language"),
    ],
)
def test_a_bad_file_is_named_with_line_field_and_hint(folder, text, line, field):
    with pytest.raises(DataError) as caught:
        read(folder, text)
    (problem,) = caught.value.problems
    assert (problem.source, problem.line, problem.field) == (FILE, line, field)


def test_what_is_written_is_read_again(folder, tmp_path):
    read(folder, "system,win_rate,standard_error\nx,33.3,1.1\ny,0,\n")
    arena = read_arena(folder)
    write_arena(arena, tmp_path / "copy")
    again = read_arena(tmp_path / "copy")
    pd.testing.assert_frame_equal(again.published_ratings, arena.published_ratings)
    assert again.judges == arena.judges
    none = replace(arena, published_ratings=arena.published_ratings.iloc[:0])
    write_arena(none, tmp_path / "copy")
    assert read_arena(tmp_path / "copy").judges == ()
