"""``surrogate-arena sampling`` as a user runs it."""

import json

import pytest
import typer
from typer.testing import CliRunner

from arena import UsageError, write_arena
from surrogate.cli.studies import sampling


@pytest.fixture(scope="module")
def arena_folder(small_arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    write_arena(small_arena, folder)
    return folder


def run(folder, *options):
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(sampling)
    arguments = [str(folder), *map(str, options)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=True)
    if isinstance(result.exception, UsageError):
        raise result.exception
    return result


def test_prints_a_table(arena_folder):
    result = run(arena_folder, "--shares", "0.5,1", "--repeats", 3)
    assert result.exit_code == 0
    assert "Kendall tau with the whole arena (mean and 95% of 3 repeats)" in result.output
    assert "1.000" in result.output
    assert "Signature: repeats:3|ties:half|ridge:0.1|seed:0" in result.output


def test_prints_strict_json_of_every_language_and_design(arena_folder):
    options = ["--shares", "0.3,1", "--repeats", 1, "--json"]
    result = run(arena_folder, *options)
    printed = json.loads(result.output, parse_constant=pytest.fail)
    rows = printed["table"]
    assert {row["design"] for row in rows} == {"questions", "pairs"}
    assert all(row["tau"] == 1.0 for row in rows if row["share"] == 1.0)
    assert run(arena_folder, *options).output == result.output


def test_ranks_as_the_preset_does(arena_folder):
    """Ties dropped and no prior but where a part has no ranking without: figure 6 of the paper."""
    options = ["--ties", "drop", "--ridge", 0, "--shares", "0.5,1", "--repeats", 2, "--json"]
    found = json.loads(run(arena_folder, *options).output, parse_constant=pytest.fail)
    assert found["signature"] == "repeats:2|ties:drop|ridge:0|seed:0"
    assert all(row["tau"] == 1.0 for row in found["table"] if row["share"] == 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "nobody"], "no judge 'nobody' here; the judges are simulated-teacher"),
        (["--shares", "0.5,2"], "must be above 0 and at most 1"),
        (["--shares", "half"], "--shares is 'half'"),
        (["--shares", ""], "must be above 0 and at most 1"),
    ],
)
def test_what_cannot_be_met_is_said(arena_folder, options, message):
    with pytest.raises(UsageError, match=message):
        run(arena_folder, *options)
