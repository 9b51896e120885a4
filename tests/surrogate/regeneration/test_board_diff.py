"""What moved between two boards, in words, with reasons where that cannot be said."""

import csv
import io
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from arena import DataError, UsageError
from surrogate import write_board
from surrogate.diff.diff import diff_boards


@pytest.fixture(scope="module")
def old(small_board, tmp_path_factory):
    folder = tmp_path_factory.mktemp("old")
    write_board(small_board, folder)
    return folder


@pytest.fixture
def new(old, tmp_path):
    shutil.copytree(old, tmp_path / "new")
    return tmp_path / "new"


def change(folder, name, alter):
    path = folder / name
    alter(pd.read_csv(path)).to_csv(path, index=False)


def change_signature(folder, old, new):
    path = folder / "summary.json"
    content = json.loads(path.read_text())
    assert old in content["signature"]
    content["signature"] = content["signature"].replace(old, new)
    path.write_text(json.dumps(content))


def row_of(diff, language, kind, system):
    table = diff.changes.set_index(["language", "kind", "system"])
    return table.loc[(language, kind, system)]


@pytest.fixture(scope="module")
def best(old):
    return pd.read_csv(old / "overall.csv")["system"].iloc[0]


def shifted(system, by, columns=("rating", "low", "high")):
    def shift(table):
        rows = table["system"] == system
        table.loc[rows, list(columns)] += by
        table["rank"] = table.groupby("language")["rating"].rank(ascending=False, method="min")
        return table

    return shift


def test_a_board_does_not_differ_from_itself(old):
    diff = diff_boards(old, old)
    assert set(diff.changes["verdict"]) == {"within noise"}
    assert (diff.changes["rating_change"] == 0).all()
    assert (diff.changes["rank_change"] == 0).all()
    assert diff.settings.empty
    assert set(diff.changes["language"]) == {"overall", "en", "sw"}
    assert any("the same questions" in note for note in diff.notes)


def test_what_moved_far_is_told_from_what_did_not(old, new, best):
    change(new, "arena.csv", shifted(best, -4.0))
    diff = diff_boards(old, new)
    moved = row_of(diff, "en", "arena", best)
    assert moved["verdict"] == "moved"
    assert moved["rank_change"] < 0
    assert moved["rating_change"] == pytest.approx(-4.0)
    assert moved["p_value"] < 0.05
    others = diff.changes[(diff.changes["kind"] == "arena") & (diff.changes["system"] != best)]
    assert set(others["verdict"]) == {"within noise"}
    assert row_of(diff, "overall", "arena", best)["verdict"] == "moved"
    assert set(diff.changes[diff.changes["kind"] == "synthetic"]["verdict"]) == {"within noise"}


def test_a_small_step_is_within_noise(old, new, best):
    change(new, "arena.csv", shifted(best, -0.05))
    assert row_of(diff_boards(old, new), "en", "arena", best)["verdict"] == "within noise"


def test_synthetic_ratings_are_held_against_their_intervals(old, new, best):
    change(new, "board.csv", shifted(best, -20.0))
    assert row_of(diff_boards(old, new), "sw", "synthetic", best)["verdict"] == "moved"
    change(new, "board.csv", lambda table: table.drop(columns=["low", "high"]))
    found = row_of(diff_boards(old, new), "sw", "synthetic", best)
    assert found["verdict"] == "not comparable"
    assert found["reason"] == "a board holds no interval of this rating"


def test_new_and_gone_systems_and_what_is_relative_to_the_rest(old, new, best):
    for name in ("arena.csv", "board.csv", "overall.csv"):
        change(new, name, lambda table: table.replace({"system": {best: "newcomer"}}))
    change(new, "arena.csv", shifted("newcomer", 12.0))
    change(new, "arena.csv", lambda table: table.assign(rating=table["rating"] - 1.0))
    diff = diff_boards(old, new)
    assert row_of(diff, "en", "arena", best)["verdict"] == "gone"
    assert row_of(diff, "en", "arena", "newcomer")["verdict"] == "new"
    assert row_of(diff, "overall", "synthetic", "newcomer")["verdict"] == "new"
    both = diff.changes[(diff.changes["language"] == "en") & (diff.changes["kind"] == "arena")]
    both = both[~both["system"].isin([best, "newcomer"])]
    np.testing.assert_allclose(both["rating_change"], 0, atol=1e-9)
    assert (both["rank_change"] == 0).all()
    assert any("do not rate the same systems (arena)" in note for note in diff.notes)


@pytest.mark.parametrize(
    ("before", "after", "kinds", "reason"),
    [
        ("ties:half", "ties:drop", {"arena", "synthetic"}, "another scale: the tie rule changed"),
        ("judge:", "judge:other-", {"arena", "synthetic"}, "another scale: the judge changed"),
        ("features:", "features:more,", {"synthetic"}, "another measurement: the features changed"),
        ("rows:system", "rows:question", {"synthetic"}, "another measurement: the training rows"),
        ("tournaments:30", "tournaments:3", {"arena"}, "fewer than 5 tournaments"),
    ],
)
def test_what_is_not_comparable_is_not_compared(old, new, before, after, kinds, reason):
    change_signature(new, before, after)
    diff = diff_boards(old, new)
    verdicts = diff.changes.groupby("kind")["verdict"].agg(set).to_dict()
    for kind in ("arena", "synthetic"):
        assert verdicts[kind] == ({"not comparable"} if kind in kinds else {"within noise"})
    languages = diff.changes[diff.changes["language"] != "overall"]
    told = languages[languages["kind"].isin(kinds)]["reason"]
    assert told.str.contains(reason, regex=False).all()
    (row,) = diff.settings.to_dict("records")
    assert row["field"] == before.partition(":")[0]


def test_ratings_that_only_the_prior_bounds_are_not_compared(old, new, best):
    def note(table):
        return table.assign(note=np.where(table["system"] == best, "wins every battle", None))

    change(new, "arena.csv", note)
    found = row_of(diff_boards(old, new), "en", "arena", best)
    assert (found["verdict"], found["reason"]) == ("not comparable", "wins every battle")
    overall = row_of(diff_boards(old, new), "overall", "arena", best)
    assert overall["reason"] == "it is not comparable in every language: en, sw"


def test_languages_on_one_board_only_are_noted(old, new):
    for name in ("arena.csv", "board.csv"):
        change(new, name, lambda table: table[table["language"] == "en"])
    diff = diff_boards(old, new)
    assert "sw is on the old board only" in diff.notes
    assert set(diff.changes["language"]) == {"overall", "en"}
    for name in ("arena.csv", "board.csv"):
        change(new, name, lambda table: table.assign(language="fi"))
    with pytest.raises(UsageError, match="no language in common"):
        diff_boards(old, new)


def test_a_folder_without_a_board_and_a_damaged_one_are_refused(old, new, tmp_path):
    with pytest.raises(UsageError, match=r"holds no board: board.csv"):
        diff_boards(old, tmp_path)
    (new / "summary.json").write_text("{}")
    with pytest.raises(DataError, match="build the board anew"):
        diff_boards(old, new)


def test_the_command_prints_tables_json_and_csv(run, old, new, best, capsys):
    change(new, "arena.csv", shifted(best, -4.0))
    change_signature(new, "seed:3", "seed:4")
    assert run("diff", old, new) == 0
    printed = capsys.readouterr().out
    assert "overall, arena rating: " in printed
    assert "Settings that changed" in printed
    assert "1 moved" in printed
    assert run("diff", old, new, "--json", "--language", "en") == 0
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {row["language"] for row in told["changes"]} == {"en"}
    assert told["settings"] == [{"field": "seed", "old": "3", "new": "4"}]
    assert run("diff", old, new, "--csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["verdict"] for row in rows} == {"moved", "within noise"}
    assert run("diff", old, new, "--csv", "--json") == 2
    assert run("diff", old, new, "--language", "e") == 2
    assert "did you mean 'en'?" in capsys.readouterr().err


def test_names_that_a_spreadsheet_would_run_are_guarded_in_csv(old, new, best):
    evil = '=HYPERLINK("x","<b>")'
    for name in ("arena.csv", "board.csv", "overall.csv"):
        change(new, name, lambda table: table.replace({"system": {best: evil}}))
    diff = diff_boards(old, new)
    assert row_of(diff, "en", "arena", evil)["verdict"] == "new"
    cells = {row["system"] for row in csv.DictReader(io.StringIO(diff.as_csv()))}
    assert f"'{evil}" in cells
    assert evil not in cells
