"""``surrogate-arena diagnose`` as a user runs it."""

import json

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from arena import DataError, UsageError, write_arena
from arena.data.rows import write_rows
from surrogate.cli.verdicts import SHOWN_OF_A_KIND, SHOWN_ROWS, diagnose

app = typer.Typer()
app.command()(diagnose)


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture(scope="module")
def arena_folder(small_arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    write_arena(small_arena, folder)
    return folder


@pytest.fixture
def battles(tmp_path):
    path = tmp_path / "battles.csv"
    rows = [(f"s{n}", f"t{n}", "a", f"judge{n}") for n in range(SHOWN_ROWS + 2)]
    write_rows(pd.DataFrame(rows, columns=["system_a", "system_b", "winner", "judge"]), path)
    return path


def test_prints_tables_and_sentences(arena_folder):
    printed = run(arena_folder).stdout
    for title in ("Judgments", "Decided battles that side A wins", "the longer answer wins"):
        assert title in printed
    assert "info: sw, simulated-teacher: side A wins" in printed


def test_prints_strict_json_that_follows_the_seed_and_the_choices(arena_folder):
    done = run(arena_folder, "--json", "--language", "sw", "--seed", 3)
    content = json.loads(done.stdout, parse_constant=pytest.fail)
    assert content["seed"] == 3
    assert {row["language"] for row in content["counts"]} == {"sw"}


def test_a_bare_file_is_enough(battles):
    printed = run(battles, "--judge", "judge3").stdout
    assert "und, judge3: 1 judgment of 2 systems on 1 question" in printed
    assert "longer answer" not in printed


def test_long_output_is_cut_and_said_so(battles):
    printed = run(battles).stdout
    assert "… and 2 more rows; --json has all" in printed
    rest = SHOWN_ROWS + 2 - SHOWN_OF_A_KIND
    assert f"info: … and {rest} more on amount; see --json" in printed


def test_pooled_judges_that_nothing_connects_are_an_error(battles):
    printed = run(battles, "--pool").stdout
    assert "error: und, all judges: no judgments connect the 54 systems" in printed


def test_wrong_choices_and_bad_files_are_refused(battles, arena_folder):
    with pytest.raises(UsageError, match="no judge 'nobody' here"):
        run(arena_folder, "--judge", "nobody")
    battles.write_text("system_a,system_b,winner\nx,y,A\n")
    with pytest.raises(DataError, match=r"battles\.csv:2: winner = 'A'"):
        run(battles)
