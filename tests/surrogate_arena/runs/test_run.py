"""Only what changed is made again, and everything that changed is."""

import json
import re
import shutil

import pandas as pd
import pytest

from arena import DataError, read_arena
from arena.data.tables import read_rows, write_rows
from surrogate import Board, build_board
from surrogate_arena.runs.run import bring_up_to_date
from surrogate_arena.runs.steps import read_manifest

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
    features = made.boards[0].features()
    quick = {"surrogate": "linear", "tournaments": 2, "holdout": []}
    built = build_board(arena, features=features, **quick)
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


def test_options_change_only_what_they_concern(made, configure, make, states):
    steps = make(configure(BOARD + "tournaments = 3\n"))
    assert states(steps) == {"a/features": "current", "a/board": "made", "a/history": "made"}
    assert steps["a/board"].reasons == ["tournaments: 2 → 3"]
    changed = configure(BOARD + "holdout = ['x', 'y']\nfeatures = 'citations,bleu'\n")
    reasons = {step.stage: step.reasons for step in checked(changed).steps}
    assert [reason.split(":")[0] for reason in reasons["features"]] == ["features"]
    assert [reason.split(":")[0] for reason in reasons["board"]] == [
        *("holdout", "tournaments", "features is made again"),
    ]


def test_a_step_that_makes_the_same_again_leaves_the_next_alone(made, make, states):
    boards = made
    (boards.out / "a" / "features" / "features.parquet").unlink()
    told = [step.state for step in checked(boards).steps]
    assert told == ["would run", "would run", "would run"]
    steps = make(boards)
    assert states(steps) == {"a/features": "made", "a/board": "current", "a/history": "current"}
    assert steps["a/features"].reasons == ["output features.parquet is gone"]


def test_one_board_that_fails_leaves_the_others(configure, make, states):
    boards = configure(
        """
        [boards.absent]
        arena = "<b>nowhere"
        [boards.nobody]
        arena = "arena"
        judge = "nobody"
        publish = ["site"]
        [boards.good]
        arena = "arena"
        """
    )
    steps = make(boards)
    assert states(steps) == {
        "absent/features": "failed",
        "absent/board": "skipped",
        "absent/history": "skipped",
        "nobody/features": "made",
        "nobody/board": "failed",
        "nobody/history": "skipped",
        "nobody/site": "skipped",
        "good/features": "made",
        "good/board": "made",
        "good/history": "made",
    }
    assert "is not an arena folder" in steps["absent/features"].error
    page = (boards.out / "_site" / "index.html").read_text()
    assert "could not be brought up to date (features failed)" in page
    # What went wrong may quote paths and texts, which are not for readers of the pages.
    assert "nowhere" not in page
    assert "no judge 'nobody' here" in steps["nobody/board"].error
    report = bring_up_to_date(boards, boards.out)
    assert len(report.failed) == 6
    assert not (boards.out / "nobody" / "board").exists()


def test_a_board_that_fails_keeps_what_was_made_before(made, make, place):
    boards = made
    before = (boards.out / "a" / "board" / "board.csv").read_bytes()
    (place / "arena" / "judgments.jsonl").write_text("{}\n")
    assert make(boards)["a/board"].state == "failed"
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
    manifest = read_manifest(boards.out)
    assert set(manifest.steps) == {"a/features", "a/board", "a/history"}
    board = manifest.steps["a/board"]
    assert set(board.inputs) == {
        *("arena/arena.json", "arena/queries.jsonl", "arena/answers.jsonl"),
        *("arena/judgments.jsonl", "features/features.parquet"),
    }
    assert board.options["seed"] == 0
    assert {"surrogate-arena", "numpy", "scikit-learn"} <= set(board.versions)
    assert "board.csv" in board.outputs


@pytest.mark.slow
def test_two_runs_differ_in_nothing_but_the_log_of_times(configure, tmp_path):
    """Days on pages are those of the run; nothing else but the log has a clock time."""
    boards = configure(BOARD + "publish = ['site']\n[boards.broken]\narena = 'nowhere'\n")
    contents = []
    for name in ("first", "second"):
        out = tmp_path / name
        bring_up_to_date(boards, out)
        files = [path for path in out.rglob("*") if path.is_file()]
        contents.append({path.relative_to(out).as_posix(): path.read_bytes() for path in files})
    logs = [content.pop("run.log").decode() for content in contents]
    assert contents[0] == contents[1]
    assert logs[0] != logs[1]
    for log in logs:
        assert re.search(r"^20\d\d-\d\d-\d\dT[\d:]+\+00:00 board a: made", log, re.MULTILINE)
        assert "nowhere is not an arena folder" in log


def test_a_damaged_manifest_is_refused_with_the_hint(configure, make):
    boards = configure(BOARD)
    boards.out.mkdir()
    (boards.out / "manifest.json").write_text('{"format": 1, "steps": {"a/board": 3}}')
    with pytest.raises(DataError, match=r"manifest.json.*is damaged.*remove it"):
        make(boards)


def test_pages_and_figures_follow_the_board(made, configure, make, states, place):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    boards = configure(BOARD + "publish = ['site', 'figures']\n")
    steps = make(boards)
    assert {step.error for step in steps.values()} == {""}
    assert states(steps)["a/board"] == "current"
    made = boards.out / "a"
    assert (boards.out / "_site" / "a" / "index.html").is_file()
    assert (made / "figures" / "heatmap.svg").is_file()
    assert checked(boards).is_current
    rewritten(place / "arena" / "judgments.jsonl", lambda table: table.iloc[1:])
    told = [step.stage for step in checked(boards).steps if step.state == "would run"]
    assert told == ["board", "history", "site", "figures"]


def test_a_system_whose_answers_vanished_is_unranked_and_the_run_says_so(
    made, make, place, capsys, run
):
    lost = read_arena(place / "arena").info.systems[0]
    rewritten(place / "arena" / "answers.jsonl", lambda table: table[table["system"] != lost])
    for _ in range(2):  # it is said again where nothing is to be made
        (caution,) = make(made)["a/board"].cautions
        assert lost in caution
    assert run("run", place / "boards.toml") == 1
    assert "failed checks: a" in capsys.readouterr().out
    page = (made.out / "_site" / "index.html").read_text()
    assert "1 board, 1 failed the checks" in page
    assert f"{lost} in en: " in page
    assert "Since the board before: 5 systems within noise, 1 system not comparable." in page
    rows = Board.load(made.out / "a" / "board").ratings.set_index("system")
    assert pd.isna(rows.loc[lost, "rank"])
    assert rows["rank"].notna().sum() == len(rows) - 1
    assert rows["rank"].min() == 1
    run("check", place / "arena")
    assert f"{lost} is judged and has no answer" in capsys.readouterr().out


@pytest.mark.slow
def test_what_changes_while_a_step_is_made_is_noticed_next_time(made, make, place):
    stages = []

    def change_once(stage, done, total):
        if not stages:
            rewritten(place / "arena" / "judgments.jsonl", lambda table: table.iloc[1:])
        stages.append(stage)

    shutil.rmtree(made.out / "a" / "board")
    assert make(made, progress=change_once)["a/board"].state == "made"
    assert {stage.split()[0] for stage in stages} == {"a"}
    told = [step.reasons for step in checked(made).steps]
    assert told == [[], ["arena judgments.jsonl changed"], ["board is made again"]]


def test_check_exits_with_1_until_all_is_current(run, configure, place, capsys):
    configure("[boards.a]\narena = 'arena'\n")
    config = place / "boards.toml"
    assert run("run", config, "--check") == 1
    assert "board a: would run (it was never made; features is made again)" in (
        capsys.readouterr().out
    )
    assert not (place / "boards").exists()
    assert run("run", config, "--jobs", 1) == 0
    assert "3 made" in capsys.readouterr().out
    assert run("run", config, "--check", "--json") == 0
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert told["current"]
    assert [step["state"] for step in told["steps"]] == ["current", "current", "current"]
    (place / "boards" / "_site" / "index.html").write_text("mine")
    (place / "arena" / "metaevaluation.json").write_text("x")
    assert run("run", config, "--check") == 1
    assert "board a: would run (arena metaevaluation.json is new)" in capsys.readouterr().out
    assert run("run", config, "--jobs", 1) == 1  # the file is damaged
    assert (place / "boards" / "_site" / "index.html").read_text() == "mine"


@pytest.mark.slow
def test_the_page_states_the_fault_of_a_judge_once(configure, make, place):
    """A judge that says the same whatever the answers are."""
    boards = configure(BOARD)
    rewritten(place / "arena" / "judgments.jsonl", lambda table: table.assign(winner="a"))
    (caution,) = make(boards)["a/board"].cautions
    assert "unreliable" in caution
    page = (boards.out / "_site" / "index.html").read_text()
    assert page.count("is unreliable") == 1
    assert "No system has a rank." in page
