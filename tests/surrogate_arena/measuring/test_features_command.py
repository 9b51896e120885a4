"""``surrogate-arena features``."""

import json

import pandas as pd
import pytest

from features import FEATURES, GROUPS, extract, feature_columns, missing_counts


@pytest.mark.slow
def test_features_of_an_arena_are_written(run, arena_folder, small_arena, tmp_path, capsys):
    (tmp_path / "new").mkdir()
    out = tmp_path / "new" / "f.parquet"
    assert run("features", arena_folder, "--out", out, "--jobs", 1) == 0
    expected, written = extract(small_arena), pd.read_parquet(out)
    assert list(written) == list(expected)
    plain = ["language", "system", "query_id", *feature_columns(expected)]
    pd.testing.assert_frame_equal(written[plain], expected[plain], check_exact=True)
    pd.testing.assert_frame_equal(missing_counts(written), missing_counts(expected))
    assert f"Answers: {len(expected)}" in capsys.readouterr().out
    assert list((tmp_path / "new" / "f.parquet.cache").glob("*.sqlite"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "bleau"], "did you mean 'bleu'"),
        (["--out", "f.xlsx"], ".xlsx"),
        (["--features", "reranker_score(model=no/such-model)"], "--download"),
        (["--features", "reranker_score(model=no/such)", "--device", "abacus"], "--download"),
    ],
)
def test_wrong_options_are_refused(run, arena_folder, tmp_path, capsys, options, message):
    assert run("features", arena_folder, "--out", tmp_path / "f.parquet", *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "f.parquet").exists()


def test_the_list_says_what_each_needs_and_whether_it_is_there(run, capsys):
    assert run("features", "--json") == 0
    listed = {row["feature"]: row for row in json.loads(capsys.readouterr().out)["features"]}
    assert set(listed) == {str(feature) for feature in FEATURES.values()}
    assert all(row["summary"] and row["source"] and row["needs"] for row in listed.values())
    assert {listed[str(feature)]["available"] for feature in GROUPS["default"]} == {"yes"}
    assert listed["reranker_score"]["available"] != "yes"
