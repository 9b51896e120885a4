"""``surrogate-arena fit`` as a user runs it."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from arena.data.folder import write_arena

KEYS = {"ratings", "position_effect", "diagnostics", "signature"}
COLUMNS = {"system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"}


def test_fit_prints_strict_json(run, arena_folder, capsys):
    options = ["--language", "en", "--rounds", 50, "--position", "--ties", "drop", "--json"]
    assert run("fit", arena_folder, *options) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert set(printed) == KEYS
    assert set(printed["ratings"][0]) == COLUMNS | {"wins", "losses", "ties", "note"}
    assert isinstance(printed["position_effect"], float)
    assert {"notes", "findings"} == set(printed["diagnostics"])
    assert "ties:drop|position:yes" in printed["signature"]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".csv", ".parquet", ".jsonl.zst"])
def test_every_file_format_gives_the_same_ratings(run, small_arena, tmp_path, capsys, suffix):
    from arena.data.rows import write_rows

    english = small_arena.judgments[small_arena.judgments["language"] == "en"]
    write_rows(english, tmp_path / f"judgments{suffix}")
    assert run("fit", tmp_path / f"judgments{suffix}", "--json") == 0
    table = pd.DataFrame(json.loads(capsys.readouterr().out)["ratings"])
    assert len(table) == english["system_a"].nunique()
    assert table["rating"].sum() == pytest.approx(0, abs=1e-4)


def test_fit_prints_a_table_and_its_signature(run, arena_folder, capsys):
    assert run("fit", arena_folder, "--language", "sw") == 0
    printed = capsys.readouterr().out
    assert "Ratings" in printed
    assert "Signature: bradley-terry|ties:half" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "several languages, choose one (or all): en, sw"),
        (["--language", "fi"], "no language 'fi' here; there is en, sw"),
        (["--language", "en", "--judge", "me"], "no judge 'me' here"),
        (["--language", "en", "--ties", "win"], "unknown tie rule 'win'"),
    ],
)
def test_wrong_options_end_with_a_message(run, arena_folder, capsys, options, message):
    assert run("fit", arena_folder, *options) == 2
    assert message in capsys.readouterr().err


def test_fit_rates_what_systems_are_made_of(run, small_arena, tmp_path, capsys):
    names = list(small_arena.info.systems)
    parts = pd.DataFrame({"system": names, "model": [name[:5] for name in names]})
    parts["kind"] = ["one", "two"] * (len(names) // 2) + ["one"] * (len(names) % 2)
    write_arena(replace(small_arena, attributes=parts), tmp_path / "arena")
    assert run("fit", tmp_path / "arena", "--factors", "kind", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["value"] for row in found["effects"]} == {"one", "two"}
    assert "tau_unseen" in found
    assert run("fit", tmp_path / "arena", "--factors", "color") == 2
    assert "there is model, kind" in capsys.readouterr().err
