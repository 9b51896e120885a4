"""``diagnose``, ``validate --protocol sampling`` and ``fit`` as a user runs them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from arena.data.folder import write_arena
from arena.data.rows import write_rows
from surrogate.cli.verdicts import SHOWN_OF_A_KIND

COLUMNS = {"system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"}
MANY = 27


@pytest.fixture
def battles(tmp_path):
    path = tmp_path / "battles.csv"
    rows = [(f"s{n}", f"t{n}", "a", f"judge{n}") for n in range(MANY)]
    write_rows(pd.DataFrame(rows, columns=["system_a", "system_b", "winner", "judge"]), path)
    return path


def strict_json(capsys):
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_a_diagnosis_is_sentences_or_strict_json(run, arena_folder, capsys):
    assert run("diagnose", arena_folder) == 0
    assert "Info: sw, simulated-teacher: side A wins" in capsys.readouterr().out
    assert run("diagnose", arena_folder, "--json", "--language", "sw", "--seed", 3) == 0
    content = strict_json(capsys)
    assert content["seed"] == 3
    assert {row["language"] for row in content["counts"]} == {"sw"}


def test_a_bare_file_is_enough_and_long_output_is_cut(run, battles, capsys):
    assert run("diagnose", battles, "--judge", "judge3") == 0
    assert "und, judge3: 1 judgment of 2 systems on 1 question" in capsys.readouterr().out
    assert run("diagnose", battles) == 0
    assert f"… and {MANY - SHOWN_OF_A_KIND} more info" in capsys.readouterr().out


def test_wrong_choices_and_bad_files_are_refused(run, battles, arena_folder, capsys):
    assert run("diagnose", arena_folder, "--judge", "nobody") == 2
    assert "no judge 'nobody' here" in capsys.readouterr().err
    battles.write_text("system_a,system_b,winner\nx,y,A\n")
    assert run("diagnose", battles) == 2
    assert "battles.csv:2: winner = 'A'" in capsys.readouterr().err


@pytest.mark.parametrize("preset", [[], ["--preset", "mirage"]])
def test_sampling_compares_designs_and_ranks_as_the_preset_does(run, arena_folder, capsys, preset):
    """Under the preset ties are dropped, without a prior: figure 6 of the paper."""
    command = ["validate", arena_folder, "--protocol", "sampling", "--repeats", 2, *preset]
    assert run(*command) == 0
    assert "tau with the whole arena" in capsys.readouterr().out
    assert run(*command, "--json") == 0
    found = strict_json(capsys)
    assert {row["design"] for row in found["table"]} == {"questions", "pairs"}
    assert all(row["tau"] == 1.0 for row in found["table"] if row["share"] == 1.0)
    settings = "ties:drop|ridge:0|seed:0" if preset else "ties:half|ridge:0.1|seed:0"
    assert found["signature"] == f"repeats:2|{settings}"


def test_fit_prints_a_table_or_strict_json(run, arena_folder, capsys):
    assert run("fit", arena_folder, "--language", "sw") == 0
    printed = capsys.readouterr().out
    assert "Ratings" in printed
    assert "Signature: bradley-terry" in printed
    assert run("fit", arena_folder, "--language", "en", "--rounds", 50, "--position", "--json") == 0
    found = strict_json(capsys)
    assert set(found["ratings"][0]) == COLUMNS | {"wins", "losses", "ties", "note"}
    assert isinstance(found["position_effect"], float)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".csv", ".parquet"])
def test_every_file_format_gives_the_same_ratings(run, small_arena, tmp_path, capsys, suffix):
    english = small_arena.judgments[small_arena.judgments["language"] == "en"]
    write_rows(english, tmp_path / f"judgments{suffix}")
    assert run("fit", tmp_path / f"judgments{suffix}", "--json") == 0
    table = pd.DataFrame(strict_json(capsys)["ratings"])
    assert len(table) == english["system_a"].nunique()
    assert table["rating"].sum() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "en, sw"),
        (["--language", "fi"], "no language 'fi' here; there is en, sw"),
        (["--language", "en", "--judge", "me"], "no judge 'me' here"),
        (["--language", "en", "--ties", "win"], "unknown tie rule 'win'"),
    ],
)
def test_wrong_options_of_fit_end_with_a_message(run, arena_folder, capsys, options, message):
    assert run("fit", arena_folder, *options) == 2
    assert message in capsys.readouterr().err


def test_fit_rates_what_systems_are_made_of(run, small_arena, tmp_path, capsys):
    names = list(small_arena.info.systems)
    parts = pd.DataFrame({"system": names, "model": [name[:5] for name in names]})
    parts["kind"] = ["one", "two"] * (len(names) // 2) + ["one"] * (len(names) % 2)
    write_arena(replace(small_arena, attributes=parts), tmp_path / "arena")
    assert run("fit", tmp_path / "arena", "--factors", "kind", "--json") == 0
    assert {row["value"] for row in strict_json(capsys)["effects"]} == {"one", "two"}
    assert run("fit", tmp_path / "arena", "--factors", "color") == 2
    assert "there is model, kind" in capsys.readouterr().err
