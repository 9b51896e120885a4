"""``fit`` as a user runs it, and tables as they are printed."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from arena.data.folder import write_arena
from surrogate_arena.cli.printing import print_notes, print_table

COLUMNS = {"system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"}


def strict_json(capsys):
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.slow
def test_fit_prints_a_table_or_strict_json(run, arena_folder, capsys, monkeypatch):
    # Headings of two words break before anything else does.
    monkeypatch.setattr("surrogate_arena.cli.printing.WIDTH_WHERE_PIPED", 90)
    assert run("fit", arena_folder, "--language", "sw") == 0
    printed = capsys.readouterr().out
    assert "Ratings" in printed
    assert "bradley-terry" in printed
    assert max(len(line.rstrip()) for line in printed.splitlines() if "|" not in line) <= 90
    assert {"system", "rating", "place", "interval", "losses"} <= set(printed.split())
    assert run("fit", arena_folder, "--language", "en", "--json") == 0
    found = strict_json(capsys)
    assert set(found["ratings"][0]) == COLUMNS | {"wins", "losses", "ties", "note", "group"}
    sides = [row for row in found["biases"] if row["trait"] == "side"]
    assert all(row["low"] < row["logits"] < row["high"] for row in sides)
    assert sides
    assert len(found["covariance"]["matrix"]) == len(found["covariance"]["systems"])
    assert {"probability", "win_rate"} < set(found["pairs"][0])


def test_fit_asks_for_a_language_only_where_there_are_several(
    run, arena_folder, tiny_folder, capsys
):
    assert run("fit", arena_folder) == 2
    refusal = capsys.readouterr().err
    assert "en, sw" in refusal
    assert run("fit", tiny_folder, "--json") == 0
    assert strict_json(capsys)["ratings"]
    assert run("fit", "-h") == 0
    (of_language,) = re.findall(r"--language(.*?)--column", capsys.readouterr().out, re.DOTALL)
    # No language is assumed: an arena with several needs one, or "all".
    assert "default" not in of_language.lower()


def test_fit_rates_at_equal_length_where_there_are_answers(run, arena_folder, tmp_path, capsys):
    assert run("fit", arena_folder, "--language", "en", "--equal", "style", "--json") == 0
    found = strict_json(capsys)
    traits = [row["trait"] for row in found["biases"]]
    assert {"side", "length", "lists", "headings", "bold"} == set(traits)
    assert "equal:length+lists+headings+bold" in found["signature"]
    assert run("fit", arena_folder, "--language", "en", "--equal", "weight") == 2
    assert "no columns of 'weight'" in capsys.readouterr().err
    assert run("fit", arena_folder, "--language", "en", "--equal", "length", "--ridge", 1) == 2
    assert "plain model" in capsys.readouterr().err
    file = next(Path(arena_folder).glob("judgments.*"))
    assert run("fit", file, "--language", "en", "--equal", "length") == 2
    assert "arena folder" in capsys.readouterr().err


def test_fit_rates_in_parts_by_a_column_of_the_file_or_of_the_questions(
    run, small_arena, tmp_path, capsys
):
    topics = [f"topic {number % 2}" for number in range(len(small_arena.queries))]
    arena = replace(small_arena, queries=small_arena.queries.assign(topic=topics))
    write_arena(arena.select(["en"]), tmp_path / "arena")
    assert run("fit", tmp_path / "arena", "--by", "topic", "--json") == 0
    found = strict_json(capsys)
    assert {row["part"] for row in found["parts"]} == {"topic 0", "topic 1"}
    assert {row["system"] for row in found["ratings"]} == set(found["covariance"]["systems"])
    keys = ["language", "query_id"]
    file = tmp_path / "battles.csv"
    arena.judgments.merge(arena.queries[[*keys, "topic"]], on=keys).to_csv(file, index=False)
    assert run("fit", file, "--language", "en", "--by", "topic", "--json") == 0
    ratings = [row["rating"] for row in strict_json(capsys)["parts"]]
    assert ratings == pytest.approx([row["rating"] for row in found["parts"]])
    assert run("fit", file, "--by", "topic", "--ridge", "0") == 2


def test_in_80_columns_no_word_or_interval_is_broken(capsys):
    names = ["tau", "tau 95%", "tau verdicts", "tau surrogate", "gain", "gain 95%", "inside"]
    values = ["0.79", "0.52 to 0.97", "0.88", "0.67", "-0.09", "-0.23 to -0.10", "0.88"]
    print_table("", pd.DataFrame([["macro", *values]], columns=["language", *names]), width=80)
    printed = capsys.readouterr().out
    assert all(printed.count(value) >= 1 for value in [*values, "surrogate", "inside"])
    assert max(map(len, printed.splitlines())) <= 80


def test_lists_that_are_cut_count_what_is_left_out(capsys):
    """Where lines had no title, the noun was lost: "and 66 more s"."""
    print_notes([f"line {number}" for number in range(70)], "", most=4)
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["line 0", "line 1", "line 2", "line 3", "… and 66 more; --json has all"]


@pytest.mark.parametrize("winner", ["a", "b", "tie"])
def test_fit_says_that_a_judge_says_the_same_and_gives_no_rank(run, tmp_path, capsys, winner):
    rows = [
        (f"q{q}", one, other, winner, "j")
        for q, (one, other) in itertools.product(range(6), itertools.permutations("xyz", 2))
    ]
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    path = tmp_path / "verdicts.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    assert run("fit", path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (label,) = found["judges"]
    assert label["grade"] == "unreliable"
    assert "same verdict" in [test["name"] for test in label["tests"]]
    assert "unreliable" in found["remarks"][0]["sentence"]
    for row in found["ratings"]:
        withheld = ("rank", "low", "high", "rank_low", "rank_high", "tier")
        assert [row[name] for name in withheld] == [None] * 6


def test_fit_and_board_say_the_same_of_a_judge(run, small_arena, small_board, arena_folder, capsys):
    assert run("fit", arena_folder, "--language", small_arena.info.languages[0], "--json") == 0
    (label,) = json.loads(capsys.readouterr().out)["judges"]
    macro = small_board.summary.macro.judge
    assert (label["grade"], label["judge"]) == (macro.grade, macro.judge)
    assert [test["sentence"] for test in label["tests"]] == [t.sentence for t in macro.tests]
