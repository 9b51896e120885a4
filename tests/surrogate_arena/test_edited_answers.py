"""Answers that are edited after they were judged: every command counts their verdicts out."""

import json
import shutil

import pandas as pd
import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion
from judged_systems import QUALITY, better, build_arena

from arena import read_arena, write_arena
from arena.data.tables import read_rows, write_rows
from arena.judging.ballots import NamedVote
from arena.quality.agreement import without_identical
from surrogate import build_board
from surrogate_arena.gating.gate import gate
from surrogate_arena.importers.judgments import read_judgments
from surrogate_arena.voting.voting import Voting

SYSTEMS = tuple(QUALITY)
PAIR = ["query_id", "system_a", "system_b"]


def honest(prompt, _):
    return completion(f"[[{better(prompt)}]]")


@pytest.fixture(scope="module")
def server():
    with ChatServer(honest) as server:
        yield server


@pytest.fixture(scope="module")
def judge(run, server):
    def judge(folder):
        arguments = ["--model", "local", "--base-url", server.url, "--questions", 12, "--pairs", 3]
        return run("judge", folder, *arguments)

    return judge


def edit(folder, system, n_questions):
    """Write a system's first answers anew, as a user does who runs it again."""
    path = folder / "answers.jsonl.gz"
    table = read_rows(path).table
    is_edited = (table["system"] == system) & table["query_id"].isin(
        [f"q{number}" for number in range(n_questions)]
    )
    write_rows(table.assign(answer=table["answer"].where(~is_edited, "A better text.")), path)


@pytest.fixture(scope="module")
def judged_once(judge, tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged") / "arena"
    write_arena(build_arena(questions=12), folder)
    assert judge(folder) == 0
    return folder


@pytest.fixture
def judged(judged_once, tmp_path, capsys):
    """The same in a folder of this test's own."""
    capsys.readouterr()
    return shutil.copytree(judged_once, tmp_path / "arena")


def test_every_command_says_how_many_verdicts_do_not_count(judged, run, capsys):
    n_judged = len(read_arena(judged).judgments)
    edit(judged, "good", 4)
    n_outdated = len(read_arena(judged).outdated)
    # Two of three pairs of the four questions, some of them in both orders.
    assert 8 <= n_outdated <= 16
    expected = f"{n_outdated} judgments left out"
    for command in ("check", "diagnose"):
        assert run(command, judged) == 0
        assert expected in capsys.readouterr().out
    assert run("fit", judged, "--json") == 0
    fitted = json.loads(capsys.readouterr().out)
    assert [row["count"] for row in fitted["skipped"]] == [n_outdated]
    n_counted = sum(row["wins"] + row["losses"] + row["ties"] for row in fitted["ratings"]) / 2
    assert n_counted == n_judged - n_outdated
    board = build_board(judged, tournaments=5).summary
    assert any(expected in str(remark) for remark in board.macro.remarks)
    summary = board.languages["en"]
    assert summary.judgments == n_judged - n_outdated
    assert any(expected in str(remark) for remark in summary.remarks)
    decision = gate(None, "fair", judged, "poor")
    assert any(expected in sentence for sentence in decision.sentences)


def test_judge_asks_for_edited_pairs_again_and_for_no_others(judge, judged, server, capsys):
    before = read_arena(judged)
    edit(judged, "poor", 3)
    edited = read_arena(judged)
    n_counted = len(edited.judgments)
    server.asked.clear()
    capsys.readouterr()
    assert judge(judged) == 0
    assert f"{len(edited.outdated)} judged again" in capsys.readouterr().out
    after = read_arena(judged)
    assert len(after.outdated) == 0
    pairs = [frozenset(pair) for pair in after.judgments[PAIR].itertuples(index=False, name=None)]
    assert {*pairs} == {
        frozenset(pair) for pair in before.judgments[PAIR].itertuples(index=False, name=None)
    }
    # An audit draws pairs by their texts: it may ask another of these in both orders.
    assert 6 <= sum(server.asked.values()) <= 12
    assert sum(server.asked.values()) == len(after.judgments) - n_counted
    server.asked.clear()
    assert judge(judged) == 0
    assert sum(server.asked.values()) == 0
    assert "judged again" not in capsys.readouterr().out


def test_an_arena_whose_verdicts_are_all_outdated_has_none(judged, run, capsys):
    for system in SYSTEMS:
        edit(judged, system, 12)
    n_outdated = len(read_arena(judged).outdated)
    assert run("fit", judged) == 2
    assert f"{n_outdated} judgments left out" in capsys.readouterr().err
    assert run("agreement", judged) == 2
    assert f"{n_outdated} judgments left out" in capsys.readouterr().err
    first = build_board(judged, tournaments=5).summary
    assert first.is_first
    assert any(
        f"{n_outdated} judgments left out" in str(remark)
        for remark in first.languages["en"].remarks
    )


def test_votes_of_people_know_their_answers_too(tmp_path, run, capsys):
    folder = tmp_path / "arena"
    write_arena(build_arena(questions=4), folder)
    voting = Voting(read_arena(folder), folder)
    for _ in range(6):
        pair = voting.next_pair("Ada", voting.languages)
        voting.cast(NamedVote(id=pair.id, choice="a", voter="Ada"))
    votes = read_arena(folder).judgments
    assert len(votes) == 6
    edit(folder, "fair", 4)
    is_of_fair = votes[["system_a", "system_b"]].eq("fair").any(axis=1)
    read = read_arena(folder)
    keys = ["query_id", "system_a", "system_b"]
    pd.testing.assert_frame_equal(
        read.outdated[keys].sort_values(keys, ignore_index=True),
        votes.loc[is_of_fair, keys].sort_values(keys, ignore_index=True),
    )


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_fit_reads_the_verdicts_of_a_judge_without_a_remark_on_our_columns(
    judged, run, capsys, suffix, tmp_path
):
    table = read_rows(judged / "judgments.jsonl.gz").table
    table["flags"] = table["flags"].where(table.index % 2 == 0, "identical")
    path = tmp_path / f"verdicts{suffix}"
    write_rows(table, path)
    assert run("fit", path, "--json") == 0
    content = json.loads(capsys.readouterr().out)
    columns = [row for row in content["skipped"] if row["item"] == "column"]
    assert [row["reason"] for row in columns] == []
    # Ties of identical answers, which no judge saw, are none of its verdicts, in files too.
    assert len(without_identical(read_judgments(path))) == (len(table) + 1) // 2
