"""The command line as such: version, short help, completion, and errors that name options."""

import subprocess
import sys

import pandas as pd
import pytest
from typer.main import get_command

from arena.data import __version__
from arena.data.errors import UsageError, argument
from arena.data.folder import read_arena
from arena.data.tables import write_rows
from arena.judging.judging_settings import JudgingSettings
from surrogate_arena.cli.app import ARGUMENT, app
from surrogate_arena.cli.setting_options import settings_of
from surrogate_arena.cli.texts import python_texts


def test_version_and_short_help(run, capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"surrogate-arena {__version__}\n"
    for arguments in ([], ["board"], ["metaeval"], ["metaeval", "memerag"], ["features"]):
        assert run(*arguments, "-h") == 0
        short = capsys.readouterr().out
        assert run(*arguments, "--help") == 0
        assert capsys.readouterr().out == short
        assert "Usage:" in short


def test_texts_are_python_objects_while_a_command_runs_and_no_longer():
    before = pd.get_option("mode.string_storage")
    assert python_texts()(lambda: pd.get_option("mode.string_storage"))() == "python"
    assert pd.get_option("mode.string_storage") == before


@pytest.fixture
def judged_twice(arena_folder, tmp_path):
    folder = tmp_path / "arena"
    folder.mkdir()
    for path in arena_folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    judgments = read_arena(folder).judgments
    (path,) = folder.glob("judgments.*")
    write_rows(judgments.assign(judge=["ada", *["bob"] * (len(judgments) - 1)]), path)
    return folder


@pytest.mark.parametrize(
    "command", [["board", "--out", "board"], ["validate"]], ids=lambda given: given[0]
)
def test_of_several_judges_one_is_to_be_chosen_by_its_option(
    command, judged_twice, run, capsys, monkeypatch
):
    monkeypatch.chdir(judged_twice)
    assert run(command[0], judged_twice, *command[1:]) == 2
    said = capsys.readouterr().err
    assert "error: several judges; choose one with --judge, or several with commas" in said
    assert not (judged_twice / "board").exists()


def test_names_in_backticks_that_data_hold_are_shown_as_they_are(run, capsys, tmp_path):
    table = tmp_path / "answers.csv"
    table.write_text("question,system,answer,language\nHow?,alpha,x,`my_lang`\n")
    assert run("import", "csv", table, "--out", tmp_path / "arena") == 2
    shown = capsys.readouterr().err
    assert "`my_lang`" in shown
    assert "--my-lang" not in shown


def test_only_the_mark_of_an_argument_makes_it_an_option():
    error = UsageError(f"`top_p` is refused; name {argument('api_key_env')}")
    assert str(error) == "`top_p` is refused; name `api_key_env`"
    assert [found[1] for found in ARGUMENT.finditer(error.marked)] == ["api_key_env"]


def test_help_lists_commands_without_importing_them():
    code = (
        "import sys; from surrogate_arena.cli.app import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.startswith('surrogate_arena.')))\n"
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *shown, loaded, with_pydantic = done.stdout.splitlines()
    assert "surrogate_arena.commands.judging" not in loaded
    assert "surrogate_arena.commands.boards" not in loaded
    assert with_pydantic == "False"
    group = get_command(app)
    for name in group.list_commands(None):
        assert group.get_command(None, name).help, name
        assert any(line.split()[:1] == [name] for line in shown), name


def test_settings_are_those_of_a_file_and_options_win(tmp_path):
    config = tmp_path / "judge.toml"
    config.write_text('questions = 7\nmax_tokens = 5\nlanguages = ["de"]\n')
    given = {"questions": 9, "model": "m", "pairs": None, "other": 1}
    stated = settings_of(JudgingSettings, [str(config)], given)
    assert (stated.questions, stated.max_tokens, stated.languages) == (9, 5, ("de",))
    assert stated.model_fields_set == {"questions", "max_tokens", "languages", "model"}
    with pytest.raises(UsageError, match="--questions is 0"):
        settings_of(JudgingSettings, [str(config)], {"questions": 0})


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("questoins = 7", "'questoins'; did you mean 'questions'"),
        ("questions = 0", "questions is 0"),
        ("questions = ", "is not valid TOML"),
    ],
)
def test_a_wrong_file_of_settings_is_named_with_its_key(tmp_path, written, named):
    config = tmp_path / "judge.toml"
    config.write_text(written)
    with pytest.raises(UsageError) as caught:
        settings_of(JudgingSettings, [str(config)], {})
    assert named in str(caught.value)
    assert str(config) in str(caught.value)


def test_a_setting_is_json_or_a_text_and_the_last_one_counts(tmp_path):
    config = tmp_path / "judge.toml"
    config.write_text("questions = 7\nmax_tokens = 5\n")
    given = [str(config), "max_tokens=9", 'body={"top_k": 3}', "omit=top_p", "languages=de,en"]
    stated = settings_of(JudgingSettings, given, {})
    assert (stated.questions, stated.max_tokens, stated.body) == (7, 9, {"top_k": 3})
    assert (stated.omit, stated.languages) == (("top_p",), ("de", "en"))
    with pytest.raises(UsageError, match="--config: max_tokens is 0"):
        settings_of(JudgingSettings, ["max_tokens=0"], {})
    with pytest.raises(UsageError, match=r"'absent\.toml'; write KEY=VALUE, or name a TOML file"):
        settings_of(JudgingSettings, ["absent.toml"], {})


def test_messages_name_a_setting_without_an_option_by_its_key(run, arena_folder, capsys):
    asked = ["--pairs", "adaptive", "--budget", 5, "--config", "form=pointwise"]
    assert run("judge", arena_folder, "--model", "m", *asked) == 2
    assert "--config form" in capsys.readouterr().err


def test_the_surface_is_small():
    group = get_command(app)
    commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
    assert len(commands) <= 27
    for name, command in commands.items():
        options = [each.name for each in command.params if each.param_type_name == "option"]
        assert len(options) <= 19, name
