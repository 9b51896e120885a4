"""Only what changed is made again, and everything that changed is."""

import json
import shutil

import pandas as pd
import pytest

from arena import DataError, read_arena
from arena.data.tables import read_rows, write_rows
from surrogate import Board, build_board
from surrogate_arena.runs.records import RunRecords
from surrogate_arena.runs.run import bring_up_to_date

BOARD = "[boards.a]\narena = 'arena'\n"


def checked(boards):
    return bring_up_to_date(boards, boards.out, check=True)


def rewritten(path, change):
    """Change a table of rows in place."""
    write_rows(change(read_rows(path).table), path)


def test_a_second_run_makes_nothing_and_touches_nothing(made, make, states):
    boards = made
    before = {path: path.stat().st_mtime_ns for path in boards.out.rglob("*") if path.is_file()}
    assert set(states(make(boards)).values()) == {"current"}
    assert checked(boards).is_current
    after = {path: path.stat().st_mtime_ns for path in boards.out.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.slow
def test_the_board_is_that_of_the_board_command(made, make, place, tmp_path):
    arena = read_arena(place / "arena")
    quick = {"surrogate": "linear", "tournaments": 2, "holdout": []}
    built = build_board(arena, features="answer_length,citations", **quick)
    built.save(tmp_path / "alone")
    folder = made.out / "a" / "board"
    for path in (tmp_path / "alone").glob("*.csv"):
        assert (folder / path.name).read_bytes() == path.read_bytes(), path.name
    summaries = [
        json.loads((place_of / "summary.json").read_text())
        for place_of in (folder, tmp_path / "alone")
    ]
    assert (folder / summaries[0].pop("arena_folder")).resolve() == (place / "arena").resolve()
    del summaries[1]["arena_folder"]
    assert summaries[0] == summaries[1]


def test_a_board_is_made_again_where_a_setting_changed(made, configure, make):
    changed = configure(BOARD + "tournaments = 3\nfeatures = 'citations,bleu'\n")
    (outcome,) = checked(changed).boards
    assert outcome.reasons == [
        "features: answer_length, citations → citations, bleu",
        "tournaments: 2 → 3",
    ]
    assert make(changed)["a"].state == "made"
    assert checked(changed).is_current


def test_a_board_is_made_again_where_costs_of_systems_or_further_tables_changed(made, place):
    """These were once no part of what a board is made from, and its pages stayed as they were."""
    (place / "arena" / "systems.csv").write_text("system,cost\n")
    (place / "arena" / "further").mkdir()
    (place / "arena" / "further" / "nuggets.jsonl").write_text("")
    (outcome,) = checked(made).boards
    assert outcome.reasons == [
        "arena/further/nuggets.jsonl changed",
        "arena/systems.csv changed",
    ]


def test_what_was_removed_is_made_again(configure, make):
    boards = configure(BOARD + "publish = true\n")
    make(boards)
    shutil.rmtree(boards.out / "_site" / "a")
    (outcome,) = checked(boards).boards
    assert outcome.reasons == ["its pages are gone"]
    shutil.rmtree(boards.out / "a" / "board")
    (outcome,) = checked(boards).boards
    assert outcome.reasons == ["it was never made"]


def test_one_board_that_fails_leaves_the_others(configure, make, states):
    boards = configure(
        """
        [boards.absent]
        arena = "<b>nowhere"
        [boards.nobody]
        arena = "arena"
        judge = "nobody"
        publish = true
        [boards.good]
        arena = "arena"
        """
    )
    outcomes = make(boards)
    assert states(outcomes) == {"absent": "failed", "nobody": "failed", "good": "made"}
    assert "is not an arena folder" in outcomes["absent"].error
    assert "no judge 'nobody' here" in outcomes["nobody"].error
    page = (boards.out / "_site" / "index.html").read_text()
    assert page.count("could not be brought up to date") == 2
    # What went wrong may quote paths and texts, which are not for readers of the pages.
    assert "nowhere" not in page
    assert bring_up_to_date(boards, boards.out).failing == ["absent", "nobody"]
    assert not (boards.out / "nobody" / "board").exists()


def test_a_board_that_fails_keeps_what_was_made_before(made, make, place):
    boards = made
    before = (boards.out / "a" / "board" / "board.csv").read_bytes()
    (place / "arena" / "judgments.jsonl").write_text("{}\n")
    assert make(boards)["a"].state == "failed"
    assert (boards.out / "a" / "board" / "board.csv").read_bytes() == before
    assert not checked(boards).is_current


@pytest.mark.slow
def test_the_manifest_says_what_was_made_from_what_and_no_place_or_secret(
    configure, make, place, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    boards = configure(BOARD)
    make(boards)
    text = (boards.out / "manifest.json").read_text()
    assert str(place) not in text
    assert "hunter2" not in text
    (record,) = RunRecords.read(boards.out).boards.values()
    names = record.ingredients.keys()
    assert {name for name in names if "/" in name} == {
        *("arena/arena.json", "arena/queries.jsonl", "arena/answers.jsonl"),
        "arena/judgments.jsonl",
    }
    assert record.ingredients["seed"] == "0"
    assert {"surrogate-arena", "numpy", "scikit-learn"} <= names


@pytest.mark.slow
def test_two_runs_at_one_time_write_the_same_bytes(configure, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    boards = configure(BOARD + "publish = true\n[boards.broken]\narena = 'nowhere'\n")
    contents = []
    for name in ("first", "second"):
        out = tmp_path / name
        bring_up_to_date(boards, out)
        files = [path for path in out.rglob("*") if path.is_file()]
        contents.append({path.relative_to(out).as_posix(): path.read_bytes() for path in files})
    assert contents[0] == contents[1]


def test_a_damaged_manifest_is_refused_with_the_hint(configure, make):
    boards = configure(BOARD)
    boards.out.mkdir()
    (boards.out / "manifest.json").write_text('{"boards": {"a": 3}}')
    with pytest.raises(DataError, match=r"manifest.json.*is damaged.*remove it"):
        make(boards)


def test_pages_follow_the_board(made, configure, make, place):
    boards = configure(BOARD + "publish = true\n")
    assert make(boards)["a"].error == ""
    assert (boards.out / "_site" / "a" / "index.html").is_file()
    assert checked(boards).is_current
    rewritten(place / "arena" / "judgments.jsonl", lambda table: table.iloc[1:])
    (outcome,) = checked(boards).boards
    assert outcome.reasons == ["arena/judgments.jsonl changed"]


def test_a_system_whose_answers_vanished_is_unranked_and_the_run_says_so(
    made, make, place, capsys, run
):
    lost = read_arena(place / "arena").info.systems[0]
    rewritten(place / "arena" / "answers.jsonl", lambda table: table[table["system"] != lost])
    for _ in range(2):  # it is said again where nothing is to be made
        (caution,) = make(made)["a"].cautions
        assert lost in caution
    assert run("run", place / "boards.toml") == 1
    assert "failed checks: a" in capsys.readouterr().out
    page = (made.out / "_site" / "index.html").read_text()
    assert "<h2>Checks</h2>" in page
    assert f"{lost} in en: " in page
    assert ": First place" in page
    rows = Board.load(made.out / "a" / "board").ratings.set_index("system")
    assert pd.isna(rows.loc[lost, "rank"])
    assert rows["rank"].notna().sum() == len(rows) - 1
    assert rows["rank"].min() == 1
    run("check", place / "arena")
    assert f"{lost} is judged and has no answer" in capsys.readouterr().out


@pytest.mark.slow
def test_what_changes_while_a_board_is_made_is_noticed_next_time(made, make, place):
    stages = []

    def change_once(stage, done, total):
        if not stages:
            rewritten(place / "arena" / "judgments.jsonl", lambda table: table.iloc[1:])
        stages.append(stage)

    shutil.rmtree(made.out / "a" / "board")
    assert make(made, progress=change_once)["a"].state == "made"
    assert {stage.split()[0] for stage in stages} == {"a"}
    (outcome,) = checked(made).boards
    assert outcome.reasons == ["arena/judgments.jsonl changed"]


def test_check_exits_with_1_until_all_is_current(run, configure, place, capsys):
    configure("[boards.a]\narena = 'arena'\n")
    config = place / "boards.toml"
    assert run("run", config, "--check") == 1
    assert "a: would run (it was never made)" in capsys.readouterr().out
    assert not (place / "boards").exists()
    assert run("run", config, "--jobs", 1) == 0
    assert "1 made" in capsys.readouterr().out
    assert run("run", config, "--check", "--json") == 0
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert content["current"]
    assert [outcome["state"] for outcome in content["boards"]] == ["current"]
    (place / "boards" / "_site" / "index.html").write_text("mine")
    (place / "arena" / "metaevaluation.json").write_text("x")
    assert run("run", config, "--check") == 1
    assert "a: would run (arena/metaevaluation.json changed)" in capsys.readouterr().out
    assert run("run", config, "--jobs", 1) == 1  # the file is damaged
    assert (place / "boards" / "_site" / "index.html").read_text() == "mine"


@pytest.mark.slow
def test_the_page_states_the_fault_of_a_judge_once(configure, make, place):
    """A judge that says the same whatever the answers are."""
    boards = configure(BOARD)
    rewritten(place / "arena" / "judgments.jsonl", lambda table: table.assign(winner="a"))
    (caution,) = make(boards)["a"].cautions
    assert "unreliable" in caution
    page = (boards.out / "_site" / "index.html").read_text()
    assert page.count("is unreliable") == 1
    assert "No system has a rank." in page
