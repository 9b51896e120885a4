"""An arena of part files: its features part by part, a sample of its questions, a board of both."""

import json

import pandas as pd
import pytest

from arena import DataError, UsageError, write_arena
from arena.data.parquet import part_files
from features import extract_parts, feature_columns
from surrogate.board.tables import read_feature_table
from surrogate_arena.measuring import parts as engine

KEYS = ["language", "system", "query_id"]
ASKED = "answer_length,citation_recall,rouge_l"
PART = 60
"""Answers to four questions, and to four where one more system answers."""


@pytest.fixture
def in_parts(small_arena, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "PART", PART)
    folder = tmp_path / "parts"
    write_arena(small_arena, folder, ".parquet")
    for name in ("queries", "answers"):
        (folder / f"{name}.parquet").unlink()
        for language, rows in getattr(small_arena, name).groupby("language"):
            add(folder / f"{name}.parquet" / f"language={language}" / "0.parquet", rows)
    return folder


def add(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.drop(columns="language").to_parquet(path, index=False, row_group_size=PART + 5)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in part_files(folder)}


@pytest.mark.slow
def test_a_board_of_some_questions_reads_only_what_is_theirs(run, small_arena, in_parts, tmp_path):
    """The board is that of the arena in lines; others' tools read the folder of features, too."""
    whole, features, table = (tmp_path / name for name in ("whole", "features", "whole.parquet"))
    write_arena(small_arena, whole)
    asked = ("--features", ASKED, "--jobs", 1)
    assert run("features", in_parts, "--out", features, *asked) == 0
    assert run("features", whole, "--out", table, *asked) == 0
    of_all = pd.read_parquet(table)
    of_all = of_all[[*KEYS, *feature_columns(of_all)]]
    there = pd.read_parquet(features).astype({"language": "str"})
    assert feature_columns(there) == feature_columns(of_all)
    there = there[of_all.columns]
    pd.testing.assert_frame_equal(there.sort_values(KEYS, ignore_index=True), of_all)
    boards = []
    for source, measured in ((in_parts, features), (whole, table)):
        sample, out = tmp_path / f"of-{source.name}", tmp_path / f"board-{source.name}"
        assert run("select", source, "--questions", 6, "--out", sample) == 0
        built = ("--surrogate", "linear", "--tournaments", 2, "--no-site", "--jobs", 1)
        assert run("board", sample, "--feature-table", measured, "--out", out, *built) == 0
        asked = [sample / f"{name}.jsonl.gz" for name in ("queries", "judgments")]
        boards.append([it.read_bytes() for it in (out / "board.csv", out / "overall.csv", *asked)])
    assert boards[0] == boards[1]
    assert read_feature_table(features, small_arena.answers.head(1))["query_id"].nunique() == 1


@pytest.mark.parametrize("out", ["features", "features.parquet"])
def test_a_command_that_is_refused_leaves_no_folder(run, tmp_path, out):
    arena = tmp_path / "arena"
    arena.mkdir()
    (arena / "queries.jsonl").write_text("{}\n")
    assert run("features", arena, "--out", tmp_path / out) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arena"]


def test_only_answers_that_have_changed_are_measured(small_arena, in_parts, measured_counts):
    out = in_parts.parent / "features"

    def stop(_stage, done, _total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_parts(in_parts, out, ASKED, progress=stop)
    told = extract_parts(in_parts, out, ASKED)
    assert told["answers"] == sum(measured_counts) == len(small_arena.answers)
    before = contents(out)
    measured_counts.clear()
    extract_parts(in_parts, out, ASKED)
    assert (measured_counts, contents(out)) == ([], before)
    english = small_arena.answers.query("language == 'en'").sort_values(
        ["query_id", "system"], ascending=[True, False]
    )
    changed = english.assign(answer=["Other.", *english["answer"][1:]])
    add(in_parts / "answers.parquet/language=en/0.parquet", changed)
    extract_parts(in_parts, out, ASKED)
    assert measured_counts == [1]
    add(in_parts / "answers.parquet/language=en/1.parquet", english[:1])
    with pytest.raises(DataError, match=r"en/1.parquet:1.*already at .*language=en/0.parquet:1"):
        extract_parts(in_parts, out, ASKED)
    add(in_parts / "answers.parquet/language=en/1.parquet", english[:1].assign(query_id="unasked"))
    with pytest.raises(UsageError, match=r"^1 .*questions that queries.parquet does not hold"):
        extract_parts(in_parts, out, ASKED)


def test_a_new_system_is_all_that_is_measured(small_arena, in_parts, measured_counts):
    """The files are those of an arena that had it from the start; so they are where it has left."""
    out, info = in_parts.parent / "features", in_parts / "arena.json"
    extract_parts(in_parts, out, ASKED)
    before, told = contents(out), json.loads(info.read_text())
    new = small_arena.answers.query(f"system == '{small_arena.info.systems[-1]}'")
    new = new.assign(system="new", answer=[f"{text} And more." for text in new["answer"]])
    for language, rows in new.groupby("language"):
        add(in_parts / f"answers.parquet/language={language}/new.parquet", rows)
    info.write_text(json.dumps(told | {"systems": [*told["systems"], "new"]}))
    measured_counts.clear()
    extract_parts(in_parts, out, ASKED)
    assert sum(measured_counts) == len(new)
    extract_parts(in_parts, in_parts.parent / "again", ASKED)
    assert contents(out) == contents(in_parts.parent / "again") != before
    for file in (in_parts / "answers.parquet").rglob("new.parquet"):
        file.unlink()
    info.write_text(json.dumps(told))
    measured_counts.clear()
    extract_parts(in_parts, out, ASKED)
    assert (measured_counts, contents(out)) == ([], before)


@pytest.mark.slow
def test_answers_that_stand_system_by_system_give_the_same_files(
    small_arena, in_parts, monkeypatch
):
    """Each question is a part here, and every file holds answers to all of them."""
    monkeypatch.setattr(engine, "PART", 1)
    extract_parts(in_parts, in_parts.parent / "features", ASKED)
    for file in (in_parts / "answers.parquet").rglob("*.parquet"):
        file.unlink()
    for system, rows in small_arena.answers.groupby("system"):
        rows.to_parquet(in_parts / "answers.parquet" / f"{system}.parquet", index=False)
    extract_parts(in_parts, in_parts.parent / "again", ASKED)
    assert contents(in_parts.parent / "features") == contents(in_parts.parent / "again")
