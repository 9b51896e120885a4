"""What was measured is kept by content: only what is new is measured again."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from arena import UsageError, write_arena
from arena.simulation import simulate
from features import extract, parse_features
from features.engine import cache, measuring
from features.engine.answers import answer_key, item_key
from features.engine.source_digest import code_digest

SINGLE = ("answer_length", "english", "chrf")
FEATURES = "citation_recall,rouge_l,target_language,answer_length"


@pytest.fixture
def measured_counts(monkeypatch):
    """How many answers each chunk held that was really measured."""
    counts = []
    measure_chunk = measuring.measure_chunk

    def counting(answers, chosen):
        counts.append(len(answers))
        return measure_chunk(answers, chosen)

    monkeypatch.setattr(measuring, "measure_chunk", counting)
    return counts


def test_a_second_run_measures_nothing_and_gives_the_same(small_arena, tmp_path, measured_counts):
    expected = extract(small_arena, FEATURES)
    measured_counts.clear()
    first = extract(small_arena, FEATURES, cache=tmp_path)
    second = extract(small_arena, FEATURES, cache=tmp_path)
    assert measured_counts == [7]
    pd.testing.assert_frame_equal(first, expected, check_exact=True)
    pd.testing.assert_frame_equal(second, expected, check_exact=True)


def test_a_new_system_is_all_that_is_measured(small_arena, tmp_path, measured_counts):
    old = small_arena.answers[small_arena.answers["system"] != "two"]
    extract(dataclasses.replace(small_arena, answers=old), FEATURES, cache=tmp_path)
    measured_counts.clear()
    table = extract(small_arena, FEATURES, cache=tmp_path)
    assert measured_counts == [2]
    pd.testing.assert_frame_equal(table, extract(small_arena, FEATURES), check_exact=True)


def test_changed_passages_or_references_are_measured_again(small_arena, tmp_path, measured_counts):
    extract(small_arena, FEATURES, cache=tmp_path)
    answers = small_arena.answers.copy()
    reference = (answers["system"] == "ref") & (answers["query_id"] == "q1")
    answers.loc[reference, "answer"] = "Lyon [1]"
    changed = dataclasses.replace(small_arena, answers=answers)
    measured_counts.clear()
    table = extract(changed, FEATURES, cache=tmp_path)
    assert measured_counts == [3]  # all three answers to the question, the reference among them
    pd.testing.assert_frame_equal(table, extract(changed, FEATURES), check_exact=True)


def test_values_of_other_code_are_not_used(small_arena, tmp_path, monkeypatch, measured_counts):
    extract(small_arena, FEATURES, cache=tmp_path)
    monkeypatch.setattr(cache, "code_digest", lambda features: "other")
    extract(small_arena, FEATURES, cache=tmp_path)
    assert measured_counts == [7, 7]


def test_digests_of_features_tell_their_families():
    length, language, overlap = (code_digest(parse_features(name)) for name in SINGLE)
    assert len({length, language, overlap}) == 3
    assert code_digest(parse_features("bleu,rouge_l")) == overlap


def test_a_damaged_shard_is_named(small_arena, tmp_path):
    extract(small_arena, FEATURES, cache=tmp_path)
    (shard,) = tmp_path.rglob("*.parquet")
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(UsageError, match=f"{shard.name}.* delete it"):
        extract(small_arena, FEATURES, cache=tmp_path)


def test_lone_surrogates_have_keys_of_their_own():
    keys = {answer_key(b"q", text) for text in ("", "\ud800", "\udc00", "\x00", "a\x00", "a")}
    assert len(keys) == 6
    assert item_key(("a", "bc")) != item_key(("ab", "c")) != item_key(("abc",))


KILLED_RUN = """
import sys
from features.engine import cache, measuring
from surrogate.cli.app import main
cache.SHORTEST_PAUSE_S = 0.0
measuring.CHUNK = 8
main(["features", sys.argv[1], "--out", sys.argv[2], "--features", "{features}", "--jobs", "1"])
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path):
    arena = tmp_path / "arena"
    arena.mkdir()
    write_arena(simulate(questions=24, seed=0).arena, arena)
    features = FEATURES + ",bleu,citations"
    whole, broken = tmp_path / "whole" / "f.parquet", tmp_path / "broken" / "f.parquet"
    whole.parent.mkdir()
    broken.parent.mkdir()
    code = KILLED_RUN.format(features=features)
    command = [sys.executable, "-c", code, str(arena)]
    kept = broken.with_name("f.parquet.cache")
    process = subprocess.Popen([*command, str(broken)], stdout=subprocess.DEVNULL)
    while len(list(kept.glob("*/*.parquet"))) < 5:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not broken.exists()
    survived = {path: path.read_bytes() for path in kept.glob("*/*.parquet")}
    subprocess.run([*command, str(broken)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, str(whole)], check=True, stdout=subprocess.DEVNULL)
    assert broken.read_bytes() == whole.read_bytes()
    assert all(path.read_bytes() == data for path, data in survived.items())
