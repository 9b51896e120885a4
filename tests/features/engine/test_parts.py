"""Answers in part files are measured part by part, and never twice."""

import hashlib
import shutil

import pandas as pd
import pytest
from simulations import small_simulation

from arena import DataError, UsageError, read_arena, write_arena
from features import extract
from features.engine import parts
from features.engine.parts import extract_parts, read_feature_folder

FEATURES = "answer_length,citation_recall,rouge_l,query_coverage"


@pytest.fixture(scope="module")
def arena():
    return small_simulation(range(5), ["en", "sw"], questions=6).arena


@pytest.fixture
def folder(arena, tmp_path, monkeypatch):
    """The arena with its answers in part files; parts hold ten."""
    monkeypatch.setattr(parts, "PART", 10)
    monkeypatch.setattr(parts, "SLAB", 4)
    folder = tmp_path / "arena"
    write_arena(arena, folder, ".parquet")
    (folder / "answers.parquet").unlink()
    shuffled = arena.answers.sample(frac=1, random_state=0)
    for language, rows in shuffled.groupby("language"):
        for number, start in enumerate(range(0, len(rows), 25)):
            add_part(folder, f"language={language}/part-{number}", rows[start : start + 25])
    return folder


def add_part(folder, name, rows):
    path = folder / "answers.parquet" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.drop(columns="language").to_parquet(path, index=False)


def digests(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.parquet"))
    }


@pytest.fixture
def measured_answers(monkeypatch):
    """How many answers are measured, part by part."""
    counts, measured = [], parts.measured

    def counted(arena, rows, *args):
        counts.append(len(rows))
        return measured(arena, rows, *args)

    monkeypatch.setattr(parts, "measured", counted)
    return counts


def test_a_folder_of_parts_is_an_arena_and_its_features_are_those_of_the_whole(arena, folder):
    keys = ["language", "query_id", "system"]
    read = read_arena(folder).answers[arena.answers.columns].sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(read, arena.answers.sort_values(keys, ignore_index=True))
    out = folder.parent / "features"
    told = extract_parts(folder, out, FEATURES)
    expected = extract(arena, FEATURES)
    pd.testing.assert_frame_equal(read_feature_folder(out), expected)
    assert told["answers"] == len(expected)
    assert told["features"].set_index("feature")["mean"].to_dict() == pytest.approx(
        expected[list(told["features"]["feature"])].mean().to_dict()
    )
    some = arena.answers[arena.answers["system"] == arena.info.systems[1]].head(3)
    few = read_feature_folder(out, some)
    assert len(few) == 3
    assert set(few["system"]) == {arena.info.systems[1]}
    assert len(pd.read_parquet(out)) == len(expected)  # of others' tools, too


def test_a_run_that_was_stopped_goes_on_and_only_what_changed_is_measured(
    arena, folder, measured_answers
):
    whole, out = folder.parent / "whole", folder.parent / "features"
    extract_parts(folder, whole, FEATURES)
    total = sum(measured_answers)
    measured_answers.clear()

    def stop(_stage, done, _total):
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_parts(folder, out, FEATURES, progress=stop)
    (out / "language=en" / ".writing-x").mkdir()
    extract_parts(folder, out, FEATURES)
    assert sum(measured_answers) == total
    assert digests(out) == digests(whole)
    assert not list(out.rglob(".w*"))

    measured_answers.clear()
    new = arena.answers[arena.answers["system"] == arena.info.systems[1]].assign(system="new")
    add_part(folder, "language=en/new", new[new["language"] == "en"])
    info = arena.info.model_copy(update={"systems": (*arena.info.systems, "new")})
    (folder / "arena.json").write_text(info.model_dump_json())
    extract_parts(folder, out, FEATURES)
    assert sum(measured_answers) == 6
    measured_answers.clear()
    shutil.rmtree(folder / "answers.parquet" / "language=sw")
    told = extract_parts(folder, out, FEATURES)
    assert (measured_answers, told["answers"]) == ([], len(read_feature_folder(out)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer": None}, "part-9.parquet:1"),
        ({"query_id": "nowhere"}, "nowhere"),
        ({"system": "unknown"}, "unknown"),
        ({}, "part-9.parquet:1: answers a question"),
    ],
)
def test_faults_are_named_with_their_file_and_row(arena, folder, change, said):
    row = arena.answers[arena.answers["language"] == "en"].head(1)
    add_part(folder, "language=en/part-9", row.assign(**change))
    with pytest.raises(DataError, match=said):
        extract_parts(folder, folder.parent / "features", FEATURES)


def test_what_is_no_arena_of_parts_or_no_folder_of_features_is_refused(arena, folder, tmp_path):
    with pytest.raises(UsageError, match="no part of a table of features"):
        extract_parts(folder, folder / "answers.parquet", FEATURES)
    write_arena(arena, tmp_path / "lines")
    with pytest.raises(UsageError, match="where its tables are Parquet"):
        extract_parts(tmp_path / "lines", tmp_path / "out", FEATURES)
