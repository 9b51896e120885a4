"""What was measured is kept by content: only what is new is measured again."""

import dataclasses

import pandas as pd
import pytest

from arena import UsageError
from features import extract
from features.engine.cache import CACHE_FILE, content_key

FEATURES = "citation_recall,rouge_l,target_language,answer_length"


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
    monkeypatch.setattr("features.engine.cache.code_digest", lambda: "other")
    extract(small_arena, FEATURES, cache=tmp_path)
    assert measured_counts == [7, 7]


def test_a_damaged_file_is_named(small_arena, tmp_path):
    extract(small_arena, FEATURES, cache=tmp_path)
    (tmp_path / CACHE_FILE).write_bytes(b"damaged" * 1000)
    with pytest.raises(UsageError, match=f"{CACHE_FILE}.* delete it"):
        extract(small_arena, FEATURES, cache=tmp_path)


def test_contents_have_keys_of_their_own():
    assert len({content_key(it) for it in ("", "\ud800", "\udc00", "\x00", "a\x00", "a")}) == 6
    assert content_key("a", "bc") != content_key("ab", "c") != content_key("abc")
