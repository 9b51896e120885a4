"""What import and check say of an arena as soon as it is read."""

import pandas as pd
import pytest

from arena import Arena
from surrogate_arena.cli.counts import contract_remarks

NOTHING_SHARED = "no two systems answered the same question"


def chats(systems):
    """Write one conversation an answer, of three questions in all."""
    queries = [f"What is {place % 3}?" for place in range(len(systems))]
    return pd.DataFrame({"question": queries, "system": systems}).assign(
        answer=[f"It is {place}." for place in range(len(systems))],
        chat=[f"c{place}" for place in range(len(systems))],
    )


@pytest.mark.parametrize(("column", "is_said"), [("query_id=chat", True), ("chat=chat", False)])
def test_import_and_check_say_that_nothing_can_be_compared(
    tmp_path, monkeypatch, capsys, run, column, is_said
):
    monkeypatch.chdir(tmp_path)
    chats(["x"] * 3 + ["y"] * 3).to_csv("chats.csv", index=False)
    options = ["--language", "en", "--out", "arena"]
    if is_said:
        options += ["--column", column]
    for arguments in (["import", "csv", "chats.csv", *options], ["check", "arena"]):
        assert run(*arguments) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert (NOTHING_SHARED in printed) == is_said


def test_one_system_has_nobody_to_share_with():
    rows = chats(["x"] * 3).rename(columns={"chat": "query_id", "question": "query"})
    arena = Arena.from_frames(
        rows[["query_id", "query"]], rows[["query_id", "system", "answer"]], language="en"
    )
    assert not list(contract_remarks(arena))


def test_questions_of_one_system_alone_are_counted(tmp_path, monkeypatch, capsys, run):
    monkeypatch.chdir(tmp_path)
    rows = chats(["x"] * 3 + ["y"] * 3)
    rows.loc[3, "question"] = "What is\u00a00?"
    rows.to_csv("chats.csv", index=False)
    for arguments in (["import", "csv", "chats.csv", "--out", "arena"], ["check", "arena"]):
        assert run(*arguments) == 0
        assert "only one system has an answer to 2 of 4 questions" in capsys.readouterr().out
