"""Where answers go, and what is noted beside them."""

import json

import pandas as pd
import pytest
from asked_questions import build_queries

from arena import Arena, ArenaInfo, UsageError, read_arena, write_arena
from arena.judging.appending import append_rows
from surrogate_arena.generation import (
    list_unanswered,
    write_answers,
)
from surrogate_arena.generation.generate import (
    ANSWER_COLUMNS,
    FAILURE_COLUMNS,
    SKIPPED_COLUMNS,
    Generated,
)


def answers_of(system, *query_ids):
    rows = [(q, "en", system, f"{system}: {q}", "v1", "stop") for q in query_ids]
    return pd.DataFrame(rows, columns=ANSWER_COLUMNS, dtype=object)


@pytest.fixture
def folder(tmp_path):
    def folder(suffix=".jsonl", systems=("old",)):
        info = ArenaInfo(name="a", languages=["en"], systems=systems, note="kept", extra="too")
        judgments = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
        old = answers_of("old", "q0", "q1")[["query_id", "language", "system", "answer"]]
        arena = Arena(info, build_queries(3), old, pd.DataFrame(columns=judgments))
        write_arena(arena, tmp_path / "arena", suffix)
        return tmp_path / "arena"

    return folder


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_answers_are_added_and_their_system_declared(folder, suffix):
    where = folder(suffix)
    path, added = append_rows(where, "answers", answers_of("new", "q0", "q2"))
    assert (path.name, added) == (f"answers{suffix}", 2)
    read = read_arena(where)
    assert list(read.answers["system"]) == ["old", "old", "new", "new"]
    assert read.info.systems == ("old", "new")
    assert json.loads((where / "arena.json").read_text(encoding="utf-8"))["extra"] == "too"
    assert append_rows(where, "answers", answers_of("new", "q0", "q1"))[1] == 1
    assert len(read_arena(where).answers) == 5


def test_a_file_of_other_answers_is_not_replaced(folder, tmp_path):
    path = tmp_path / "deep" / "answers.jsonl"
    write_answers(answers_of("one", "q0"), path, "one")
    write_answers(answers_of("one", "q0", "q1"), path, "one")
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
    with pytest.raises(UsageError, match=r"answers\.jsonl"):
        write_answers(answers_of("two", "q0"), path, "two")
    with pytest.raises(UsageError, match="unknown format"):
        write_answers(answers_of("one", "q0"), tmp_path / "answers.txt", "one")
    notes = tmp_path / "notes.csv"
    notes.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"notes\.csv"):
        write_answers(answers_of("one", "q0"), notes, "one")


def generated(system, failed=(), skipped=()):
    failures = [(q, "en", system, "timeout", "", "v1", "k") for q in failed]
    left_out = [(q, "en", system, "time_dependent", "why", "v1", "k", "Q?") for q in skipped]
    return Generated(
        answers_of(system),
        pd.DataFrame(failures, columns=FAILURE_COLUMNS, dtype=object),
        pd.DataFrame(left_out, columns=SKIPPED_COLUMNS, dtype=object),
        *(system, "v1", 0, 0, None, None, ()),
    )


def test_what_is_missing_is_listed_as_long_as_it_is(tmp_path):
    queries = build_queries(3)
    failed, skipped = tmp_path / "failed_answers.jsonl", tmp_path / "skipped_questions.jsonl"
    assert list_unanswered(tmp_path, generated("s", ["q0", "q1"], ["q2"]), queries) == [
        failed,
        skipped,
    ]
    list_unanswered(tmp_path, generated("t", ["q0"]), queries)
    list_unanswered(tmp_path, generated("s", ["q1"]), queries)
    rows = [json.loads(line) for line in failed.read_text(encoding="utf-8").splitlines()]
    assert [(row["system"], row["query_id"]) for row in rows] == [("t", "q0"), ("s", "q1")]
    assert not skipped.exists()
    list_unanswered(tmp_path, generated("s"), queries)
    assert list_unanswered(tmp_path, generated("t"), queries) == []
    assert not failed.exists()
