"""Records of Every Eval Ever: valid by its schema of version 0.3.0, kept here with its license."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from arena import UsageError
from surrogate_arena.pages.every_eval_ever import write_records
from surrogate_arena.pages.site_settings import SiteSettings

SCHEMA = json.loads(
    (Path(__file__).parent / "every_eval_ever" / "eval.schema.json").read_text(encoding="utf-8")
)
SETTINGS = SiteSettings(organization="My Lab", title="Support bots")
PATH = re.compile(
    r"data/Support-bots/[\w.-]+/[\w.-]+/[0-9a-f-]{14}4[0-9a-f]{3}-[0-9a-f-]{17}\.json"
)
"""Where the data store has a record: ``data/BENCHMARK/OWNER/MODEL/UUID4.json``."""


def records_in(folder):
    return {
        path.relative_to(folder).as_posix(): json.loads(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.json")
    }


def published(board, folder, settings=SETTINGS):
    assert write_records(board, folder, settings) == []
    records = records_in(folder)
    for path, record in records.items():
        assert PATH.fullmatch(path)
        assert path.startswith(f"data/Support-bots/{record['model_info']['id']}/")
        jsonschema.validate(record, SCHEMA)
    return {record["model_info"]["name"]: record for record in records.values()}


def test_every_system_has_a_valid_record(board, tmp_path):
    records = published(board, tmp_path / "eee")
    assert records.keys() == set(board.systems)
    for row in board.ratings.to_dict(orient="records"):
        results = records[row["system"]]["evaluation_results"]
        by_id = {result["evaluation_result_id"]: result for result in results}
        rating = by_id[f"{row['language']}/rating"]["score_details"]
        assert rating["score"] == row["rating"]
        assert rating["uncertainty"]["confidence_interval"]["lower"] == row["low"]
        assert rating["uncertainty"]["standard_error"]["value"] == row["standard_error"]
        assert by_id[f"{row['language']}/wins"]["score_details"]["score"] == row["wins"]


def test_hostile_names_have_valid_records(tabled_hostile, tmp_path):
    records = published(tabled_hostile, tmp_path / "eee")
    assert records.keys() == set(tabled_hostile.systems)


def test_infinite_bounds_are_left_out(board, tmp_path):
    endless = replace(board, ratings=board.ratings.assign(high=float("inf")))
    for record in published(endless, tmp_path / "eee").values():
        rating = record["evaluation_results"][0]["score_details"]
        assert "confidence_interval" not in rating["uncertainty"]


def test_systems_without_a_rating_have_no_record(board, tmp_path):
    empty = dict.fromkeys(["rating", "wins"], float("nan"))
    is_first = board.ratings["system"] == board.systems[0]
    ratings = board.ratings.copy()
    ratings.loc[is_first, list(empty)] = float("nan")
    without = write_records(replace(board, ratings=ratings), tmp_path / "eee", SETTINGS)
    assert without == [board.systems[0]]


def test_the_same_board_has_the_same_records(board, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    first = published(board, tmp_path / "eee")
    assert published(board, tmp_path / "again") == first
    assert {record["retrieved_timestamp"] for record in first.values()} == {"1000000000"}


def test_who_publishes_must_be_stated(board, tmp_path):
    with pytest.raises(UsageError, match="organization=NAME"):
        write_records(board, tmp_path / "eee", SiteSettings())


@pytest.mark.parametrize("content", ["", "[]", '{"eval_library": {"name": "another"}}'])
def test_only_own_records_are_replaced(board, tmp_path, content):
    write_records(board, tmp_path / "eee", SETTINGS)
    assert published(board, tmp_path / "eee").keys() == set(board.systems)
    foreign = tmp_path / "eee" / "data" / "kept.json"
    foreign.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=r"kept\.json, which is no record"):
        write_records(board, tmp_path / "eee", SETTINGS)
    assert foreign.read_text(encoding="utf-8") == content


def test_records_are_published_by_the_command(board_folder, board, tmp_path, run, capsys):
    out = tmp_path / "eee"
    words = ["--title", "Support bots", "--config", "organization=My Lab"]
    assert run("publish", board_folder, "--as", "eee", "--out", out, *words) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert len(records_in(out)) == len(board.systems)
