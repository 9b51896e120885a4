"""Commands that begin, check and extend an arena folder."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from arena import Arena, DataError, read_arena, write_arena
from arena.data.append import add_answers
from surrogate import Board, build_board, rank_systems
from surrogate.board.build import rebuild_board

NEW = "newcomer"


def test_a_template_is_an_arena_without_problems(run, tmp_path, capsys):
    folder = tmp_path / "mine"
    assert run("init", folder) == 0
    assert f"Next:  surrogate-arena check {folder}" in capsys.readouterr().out
    read = read_arena(folder)
    assert read.info.name == "mine"
    assert read.counts().to_dict(orient="records") == [
        {"language": "en", "questions": 4, "systems": 3, "answers": 12, "judgments": 12}
    ]
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", *[".jsonl"] * 3]
    assert run("check", folder) == 0
    said = capsys.readouterr().out
    assert "Arena mine: no problems" in said
    assert "Note" not in said
    assert run("init", folder) == 2
    assert "holds an arena; name another folder, or say --replace" in capsys.readouterr().err
    (folder / "answers.jsonl").write_text("")
    assert run("init", folder, "--replace") == 0
    assert run("check", folder) == 0
    assert run("init", tmp_path / "other", "--language", "en") == 2


def test_an_arena_begins_with_a_table_of_answers(run, tmp_path, capsys):
    table = pd.DataFrame(
        {"question": ["Why?"] * 2, "system": ["ada", "bob"], "answer": ["So.", "Thus."]}
    )
    table.to_csv(tmp_path / "answers.csv", index=False)
    assert (
        run("init", tmp_path / "mine", "--from", tmp_path / "answers.csv", "--language", "en") == 0
    )
    assert read_arena(tmp_path / "mine").info.systems == ("ada", "bob")
    capsys.readouterr()
    assert run("check", tmp_path / "mine", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["problems"] == []
    assert printed["gaps"] == [
        "1 of 1 question without passages of their own",
        "nobody has judged:  surrogate-arena judge ARENA --model MODEL --dry-run",
    ]


def test_check_says_every_problem(run, tmp_path, capsys):
    run("init", tmp_path / "mine")
    answers = tmp_path / "mine" / "answers.jsonl"
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    wrong = [row | {"system": f"x{place}"} for place, row in enumerate(rows * 3)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in wrong))
    capsys.readouterr()
    assert run("check", tmp_path / "mine") == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in said[:-1]] == [
        f"answers.jsonl:{line}" for line in range(1, 37)
    ]
    assert said[-1] == f"36 problems in {tmp_path / 'mine'}"
    (tmp_path / "mine" / "queries.jsonl").unlink()
    assert run("check", tmp_path / "mine", "--json") == 1
    assert json.loads(capsys.readouterr().out)["problems"] == [
        f"{tmp_path / 'mine'} has no queries file; expected queries.jsonl or the like"
    ]


def test_check_counts_what_is_not_there(run, tmp_path, capsys):
    run("init", tmp_path / "mine")
    whole = read_arena(tmp_path / "mine")
    first, *_ = whole.info.systems
    question = whole.queries["query_id"].iloc[0]
    judged = whole.judgments[
        (whole.judgments["query_id"] == question)
        & (whole.judgments["system_a"] != first)
        & (whole.judgments["system_b"] != first)
    ]
    less = Arena(whole.info, whole.queries, whole.answers.iloc[1:], judged)
    write_arena(less, tmp_path / "less")
    capsys.readouterr()
    assert run("check", tmp_path / "less", "--json") == 0
    missing = whole.answers["system"].iloc[0]
    assert json.loads(capsys.readouterr().out)["gaps"] == [
        f"{missing} has answers to 3 of 4 questions",
        f"{first} has no judgment",
        "1 of 4 questions with judgments",
    ]


@pytest.fixture(scope="module")
def before(tiny_arena, tmp_path_factory):
    """A folder with all systems but one, that one's answers, and a board of the others."""
    folder = tmp_path_factory.mktemp("before")
    *others, last = tiny_arena.info.systems
    judged = tiny_arena.judgments
    about = (judged["system_a"] != last) & (judged["system_b"] != last)
    less = Arena(
        tiny_arena.info.model_copy(update={"systems": tuple(others)}),
        tiny_arena.queries,
        tiny_arena.answers[tiny_arena.answers["system"] != last],
        judged[about],
    )
    write_arena(less, folder / "arena")
    new = tiny_arena.answers[tiny_arena.answers["system"] == last].assign(system=NEW)
    new.to_json(folder / "new.jsonl", orient="records", lines=True)
    build_board(
        folder / "arena",
        features="answer_length,content_coverage",
        surrogate="linear",
        tournaments=2,
    ).save(folder / "board", folder / "arena")
    return folder


@pytest.fixture
def grown(before, tmp_path):
    """The same, to change."""
    return Path(shutil.copytree(before, tmp_path / "grown"))


def test_answers_are_added_once_and_never_changed(grown):
    file, added, there = add_answers(grown / "arena", grown / "new.jsonl")
    assert (added, there) == (6, 0)
    assert add_answers(grown / "arena", grown / "new.jsonl") == (file, 0, 6)
    assert NEW in read_arena(grown / "arena").info.systems
    before = file.read_bytes()
    changed = pd.read_json(grown / "new.jsonl", lines=True, dtype=False).assign(answer="Another.")
    with pytest.raises(DataError, match=r"6 problems.*\n.*the arena holds another answer"):
        add_answers(grown / "arena", changed)
    assert file.read_bytes() == before


def test_a_new_system_joins_the_arena_and_its_board(grown, run, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    with ChatServer(lambda prompt, earlier: completion("[[A]]")) as server:
        asked = ["--model", "local", "--base-url", server.url, "--name", "simulated-teacher"]
        command = ["add", grown / "arena", grown / "new.jsonl", *asked, "--jobs", 1]
        assert run(*command, "--board", grown / "board") == 0
        calls = sum(server.asked.values())
    said = capsys.readouterr().out
    assert f"6 answers of {NEW} added to" in said
    assert f"{NEW}: answers to 6 of 6 questions" in said
    read = read_arena(grown / "arena")
    judged = read.judgments
    new = judged[(judged["system_a"] == NEW) | (judged["system_b"] == NEW)]
    assert len(new) == 5 * 6
    assert 0 < calls <= len(new)  # the same texts are asked about once
    assert len(judged) == len(new) + 10 * 6
    board = Board.load(grown / "board")
    assert NEW in board.systems
    assert board.ratings.set_index("system").loc[NEW, "arena_rating"] == pytest.approx(
        board.arena.set_index("system").loc[NEW, "rating"]
    )
    record = board.summary.settings
    assert (record.tournaments, record.surrogate) == (2, "linear")
    assert record.features == ("answer_length", "content_coverage")


def test_without_a_model_nobody_judges(grown, run, capsys):
    assert run("add", grown / "arena", grown / "new.jsonl", "--jobs", 1) == 0
    judged = read_arena(grown / "arena").judgments
    assert NEW not in {*judged["system_a"], *judged["system_b"]}
    placed = rank_systems(grown / "board", grown / "new.jsonl")
    assert placed.new["system"].tolist() == [NEW]
    before = Board.load(grown / "board")
    again = rebuild_board(before, grown / "arena")
    assert set(again.systems) == {*before.systems, NEW}


def test_a_dry_run_of_add_says_what_judging_takes_and_joins_nothing(grown, run, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    prices = grown / "prices.json"
    prices.write_text('{"one": {"tokens_in": 1, "tokens_out": 1}}')
    before = {path: path.read_bytes() for path in (grown / "arena").iterdir()}
    command = ["add", grown / "arena", grown / "new.jsonl", "--base-url", "http://127.0.0.1:9/v1"]
    asked = ["--model", "one", "--panel", "two", "--prices", prices]
    assert run(*command, *asked, "--dry-run") == 0
    said = capsys.readouterr().out
    assert "60 comparisons on 6 questions, in both orders" in said
    assert " one " in said
    assert " two " in said
    assert {path: path.read_bytes() for path in (grown / "arena").iterdir()} == before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--dry-run"], "--dry-run"),
        (["--panel", "two", "--pairs", "3"], "--pairs, --panel"),
        (["--body", '{"top_p": 0.9}'], "--body"),
        (["--timeout", "9"], "--timeout"),
    ],
)
def test_options_of_judging_without_a_model_are_refused(grown, run, capsys, options, named):
    before = {path: path.read_bytes() for path in (grown / "arena").iterdir()}
    assert run("add", grown / "arena", grown / "new.jsonl", *options) == 2
    said = capsys.readouterr().err
    assert "nobody judges without --model" in said
    assert set(named.split(", ")) <= set(said.replace(",", " ").split())
    assert {path: path.read_bytes() for path in (grown / "arena").iterdir()} == before


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            ["--pairs", "adaptive"],
            "run  surrogate-arena judge ARENA --model MODEL --pairs adaptive",
        ),
        (["--languages", "xx"], "xx"),
    ],
)
def test_pairs_that_cannot_be_chosen_are_refused_before_the_arena_grows(
    grown, run, capsys, options, fault
):
    pytest.importorskip("openai", reason="needs the extra llm")
    before = {path: path.read_bytes() for path in (grown / "arena").iterdir()}
    command = ["add", grown / "arena", grown / "new.jsonl", "--model", "one"]
    assert run(*command, "--base-url", "http://127.0.0.1:9/v1", *options) == 2
    assert fault in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (grown / "arena").iterdir()} == before


def test_a_panel_judges_a_new_system(grown, run, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    with ChatServer(lambda prompt, earlier: completion("[[A]]")) as server:
        asked = ["--model", "one", "--panel", "two,three", "--base-url", server.url]
        command = ["add", grown / "arena", grown / "new.jsonl", *asked]
        assert run(*command) == 0
    judges = set(read_arena(grown / "arena").judges)
    assert {"one", "two", "three"} < judges
    assert len(judges) == 5  # and the panel, beside who had judged before
    assert "Panel: " in capsys.readouterr().out
