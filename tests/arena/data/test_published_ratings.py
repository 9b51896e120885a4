"""Published ratings: what a file may hold, what is said of a bad one, and logits."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena import DataError, UsageError, read_arena, write_arena

FILE = "published_ratings.csv"


@pytest.fixture
def folder(tmp_path):
    """Two systems that answered four questions in English, nobody judged."""
    return written(tmp_path / "small", ["en"])


def written(folder, languages):
    folder.mkdir()
    info = {"name": "small", "languages": languages, "systems": ["x", "y"]}
    (folder / "arena.json").write_text(json.dumps(info))
    asked = [(code, f"q{number}") for code in languages for number in range(4)]
    rows = [{"language": code, "query_id": name} for code, name in asked]
    queries = [{**row, "query": "Why?", "passages": []} for row in rows]
    answers = [{**row, "system": "x", "answer": "So."} for row in rows]
    for name, table in (("queries", queries), ("answers", answers)):
        text = "".join(json.dumps(row) + "\n" for row in table)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


def read(folder, text):
    (folder / FILE).write_text(text)
    return read_arena(folder).published_ratings.set_index(["judge", "system"])


def faults(folder, text):
    with pytest.raises(DataError) as caught:
        read(folder, text)
    return [str(problem) for problem in caught.value.problems]


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


def test_other_columns_are_judges_of_their_own_and_chosen_by_name(folder):
    text = "system,rating,standard_error,adjusted_winrate,adjusted_winrate_standard_error\n"
    read(folder, text + "x,1,0.1,60,5\ny,2,0.2,,\n")
    arena = read_arena(folder)
    assert arena.judges == ("published", "published:adjusted_winrate")
    assert arena.judged_by().judges == ("published",)
    other = arena.judged_by("published:adjusted_winrate").published_ratings
    assert other["system"].tolist() == ["x"]
    assert other["rating"].tolist() == pytest.approx([np.log(1.5)])
    assert other["standard_error"].tolist() == pytest.approx([0.05 / 0.24])
    with pytest.raises(UsageError, match="the judges are published, published:adjusted_winrate"):
        arena.judged_by("people")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "model,rating\nx,1\n",
            ": system = None: this column is missing; add it to every row, or rename one of model, "
            "rating",
        ),
        (
            "system,elo\nx,1\n",
            ": rating = None: this column is missing; "
            "add it, in logits, or the column win_rate, in percent or as a share",
        ),
        (
            "system,rating\nx,good\n",
            ":2: rating = 'good': is not a number; "
            "write it as a decimal number, or leave the cell empty",
        ),
        (
            "system,rating\nx,\n",
            ":2: rating = None: is missing; give it a value or leave the system out",
        ),
        (
            "system,rating\ny,1\nx,1041\n",
            ":3: rating = '1041': is no rating in logits; "
            "write it in logits; an Elo rating is 173.7 (400 / ln 10) times as much",
        ),
        (
            "system,win_rate\nx,100.5\n",
            ":2: win_rate = '100.5': is no win rate; "
            "write the share of battles won, in percent or from 0 to 1",
        ),
        (
            "system,win_rate,standard_error\nx,50,-1\n",
            ":2: standard_error = '-1': is below 0; write the standard error, 0 or more",
        ),
        ("system,rating\n,1\n", ":2: system = None: is missing; give it a value"),
        (
            "system,rating\nx,1\nx,2\n",
            ":3: judge+language+system = ('published', 'en', 'x'): "
            "this system already stands on line 2; keep one of the two",
        ),
        (
            "system,language,rating\nx,fi,1\n",
            ":2: language = 'fi': no question of the arena is in it; "
            "add its questions or leave it out",
        ),
    ],
)
def test_a_bad_file_is_named_with_line_field_and_hint(folder, text, said):
    assert faults(folder, text) == [f"{FILE}{said}"]


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".parquet"])
def test_what_is_written_is_read_again(folder, tmp_path, suffix):
    read(folder, "system,win_rate,standard_error,other_winrate\nx,33.3,1.1,7\ny,0,,\n")
    arena = read_arena(folder)
    write_arena(arena, tmp_path / "copy", suffix)
    again = read_arena(tmp_path / "copy")
    pd.testing.assert_frame_equal(again.published_ratings, arena.published_ratings)
    assert again.judges == arena.judges
    none = replace(arena, published_ratings=arena.published_ratings.iloc[:0])
    write_arena(none, tmp_path / "copy", suffix)
    assert read_arena(tmp_path / "copy").judges == ()
