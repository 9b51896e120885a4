"""An arena of part files: its features part by part, a sample of its questions, a board of both."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from arena import DataError, UsageError, write_arena
from arena.data import files
from arena.data.files import part_files
from features import extract_parts, feature_columns
from features.engine import extraction
from features.engine import parts as engine
from surrogate.board.tables import read_feature_table

KEYS = ["language", "system", "query_id"]
ASKED = "answer_length,citation_recall,rouge_l"
PART = 20
KILLED_RUN = """
import sys
from features.engine import parts, workers
from surrogate.cli.app import main
workers.WORTH_PROCESSES = parts.PART = 1
main(["features", sys.argv[1], "--out", sys.argv[2], "--jobs", sys.argv[3]])
"""


@pytest.fixture
def in_parts(small_arena, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "PART", PART)
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 8)
    return written(small_arena, tmp_path / "parts")


def written(arena, folder):
    write_arena(arena, folder, ".parquet")
    for name in ("queries", "answers"):
        (folder / f"{name}.parquet").unlink()
        for language, rows in getattr(arena, name).groupby("language"):
            add(folder / f"{name}.parquet" / f"language={language}" / "0.parquet", rows)
    return folder


def add(path, rows):
    """Write a part file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.drop(columns="language").to_parquet(path, index=False, row_group_size=PART + 5)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in part_files(folder)}


def test_a_board_of_some_questions_reads_only_what_is_theirs(run, small_arena, in_parts, tmp_path):
    """The board is that of the arena in lines; others' tools read the folder of features, too."""
    whole, features, table = (tmp_path / name for name in ("whole", "features", "whole.parquet"))
    write_arena(small_arena, whole)
    asked = ("--features", ASKED, "--jobs", 1)
    assert run("features", in_parts, "--out", features, *asked) == 0
    assert run("features", whole, "--out", table, *asked) == 0
    of_all = pd.read_parquet(table)
    of_all = of_all[[*KEYS, *feature_columns(of_all)]]
    there = pd.read_parquet(features).astype({"language": "str"})[of_all.columns]
    pd.testing.assert_frame_equal(there.sort_values(KEYS, ignore_index=True), of_all)
    boards = []
    for source, measured in ((in_parts, features), (whole, table)):
        sample, out = tmp_path / f"of-{source.name}", tmp_path / f"board-{source.name}"
        assert run("select", source, "--questions", 6, "--out", sample) == 0
        built = ("--surrogate", "linear", "--tournaments", 2, "--no-site", "--jobs", 1)
        assert run("board", sample, "--feature-table", measured, "--out", out, *built) == 0
        boards.append({it: (out / it).read_bytes() for it in ("board.csv", "overall.csv")})
        parts = [(sample / f"{name}.jsonl.gz").read_bytes() for name in ("queries", "judgments")]
        boards[-1] |= dict(enumerate(parts))
    assert boards[0] == boards[1]
    few = read_feature_table(features, small_arena.answers.head(1))
    assert few["query_id"].unique().tolist() == [small_arena.answers["query_id"].iloc[0]]


def test_only_parts_that_are_new_or_have_changed_are_measured(small_arena, in_parts, monkeypatch):
    counts, measure_chunk, out = [], extraction.measure_chunk, in_parts.parent / "features"

    def counting(answers, features):
        counts.append(len(answers))
        return measure_chunk(answers, features)

    monkeypatch.setattr(extraction, "measure_chunk", counting)
    told = extract_parts(in_parts, out, ASKED)
    assert told["answers"] == sum(counts) == len(small_arena.answers)
    before = contents(out)
    counts.clear()
    extract_parts(in_parts, out, ASKED)
    assert (counts, contents(out)) == ([], before)
    info = small_arena.info.model_copy(update={"systems": (*small_arena.info.systems, "new")})
    (in_parts / "arena.json").write_text(info.model_dump_json())
    new = small_arena.answers[small_arena.answers["language"] == "en"].head(1)
    add(in_parts / "answers.parquet/language=en/1.parquet", new.assign(system="new"))
    extract_parts(in_parts, out, ASKED)
    assert counts == [1]
    (in_parts / "answers.parquet/language=en/1.parquet").unlink()
    with pytest.raises(UsageError, match=r"1-000000000\.parquet is no part"):
        extract_parts(in_parts, out, ASKED)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system": "x", "answer": None}, "answers.parquet/language=en/9.parquet:1: answer = None"),
        ({"system": "x", "query_id": "nowhere"}, "en/9.parquet:1.*nowhere"),
        ({}, "en/9.parquet:1.*in an earlier file"),
    ],
)
def test_faults_are_named_with_their_file_and_row(small_arena, in_parts, change, said):
    row = small_arena.answers[small_arena.answers["language"] == "en"].head(1).assign(**change)
    add(in_parts / "answers.parquet/language=en/9.parquet", row)
    with pytest.raises(DataError, match=said):
        extract_parts(in_parts, in_parts.parent / "features", ASKED)


def test_what_is_no_arena_of_parts_is_refused(small_arena, tmp_path):
    write_arena(small_arena, tmp_path / "lines")
    with pytest.raises(UsageError, match=r"queries\.parquet and answers\.parquet"):
        extract_parts(tmp_path / "lines", tmp_path / "out", ASKED)


@pytest.mark.slow
def test_a_killed_run_goes_on_and_gives_the_same_bytes_with_any_workers(tiny_arena, tmp_path):
    folder = written(tiny_arena, tmp_path / "arena")

    def command(out, jobs):
        return [sys.executable, "-c", KILLED_RUN, str(folder), str(out), str(jobs)]

    whole, again = tmp_path / "whole", tmp_path / "again"
    subprocess.run(command(whole, 1), check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen(command(again, 1), stdout=subprocess.DEVNULL)
    while len(contents(again)) < 4:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(contents(again)) < len(contents(whole))
    subprocess.run(command(again, 2), check=True, stdout=subprocess.DEVNULL)
    assert contents(again) == contents(whole)
