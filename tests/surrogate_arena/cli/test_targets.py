"""Where a command writes is tested before its work; sizes have bounds; a full disk is said."""

import os
import resource
from contextlib import contextmanager

import pytest
from typer.main import get_command

from arena import write_arena
from arena.data.errors import UsageError
from surrogate_arena.cli.app import app
from surrogate_arena.cli.options import check_target

WRITTEN = {"out", "unseen", "sheet"}
LARGE = 10**12


def commands(group=None, path=()):
    """Every command with the words that call it."""
    group = group or get_command(app)
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = list(commands())
WRITING = [
    (words, parameter)
    for words, command in COMMANDS
    for parameter in command.params
    if parameter.name in WRITTEN
]
COUNTED = [
    (words, parameter.opts[0])
    for words, command in COMMANDS
    for parameter in command.params
    if parameter.name in ("tournaments", "repeats")
    # Elsewhere --repeats says what becomes of a question that a system answers twice.
    and words not in (("import",), ("add",), ("rank",))
]


def arguments_of(words, folder):
    """What a command needs at least, none of which is there."""
    command = dict(COMMANDS)[words]
    for parameter in command.params:
        if parameter.param_type_name == "argument" and parameter.required:
            yield str(folder)
        elif parameter.required and parameter.name not in WRITTEN:
            yield from (parameter.opts[0], str(folder))


@pytest.mark.parametrize(
    ("words", "parameter"), WRITING, ids=[f"{' '.join(w)} {p.opts[0]}" for w, p in WRITING]
)
def test_every_command_tests_where_it_writes_before_its_work(
    run, tmp_path, capsys, words, parameter
):
    """A file in the place of a folder above it, whatever else may be wrong with the command."""
    (tmp_path / "file").write_text("x")
    target = tmp_path / "file" / "x"
    # Options are read before the arguments of the command are looked at any further.
    assert run(*words, parameter.opts[0], target, *arguments_of(words, tmp_path)) == 2
    assert f"{tmp_path / 'file'} is a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "flag"), COUNTED, ids=[f"{' '.join(w)} {flag}" for w, flag in COUNTED]
)
def test_absurd_numbers_are_refused(run, tmp_path, capsys, words, flag):
    assert run(*words, flag, LARGE, *arguments_of(words, tmp_path)) == 2
    said = capsys.readouterr().err
    assert flag in said
    assert "in the range" in said or "less than or equal" in said


@pytest.mark.parametrize("where", ["file/x", "file", "full", os.fsdecode(b"x\xff/board")])
@pytest.mark.parametrize("words", [("board", "arena"), ("demo",)], ids=["board", "demo"])
def test_where_a_board_cannot_be_written_is_said_before_the_work(
    run, tiny_arena, tmp_path, capsys, monkeypatch, where, words
):
    write_arena(tiny_arena, tmp_path / "arena")
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/other").write_text("x")
    monkeypatch.setattr("surrogate.board.build.build_board", None)  # no work is to begin
    command, *arenas = words
    assert run(command, *(tmp_path / name for name in arenas), "--out", tmp_path / where) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert any(words in said for words in ("is a file", "holds no board", "is not UTF-8"))


def test_a_file_in_no_folder_and_a_folder_that_takes_no_file_are_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        check_target(tmp_path / "none" / "x.csv", is_folder=False)
    with pytest.raises(UsageError, match="is a folder; name a file"):
        check_target(tmp_path, is_folder=False)
    with pytest.raises(UsageError, match="nothing can be written to /proc"):
        check_target("/proc/board", is_folder=True)


@contextmanager
def full_disk(size):
    """No file can grow beyond so many bytes: the operating system's own error of writing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def made_board(run, tiny_folder, quick_options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "board"
    assert run("board", tiny_folder, "--out", folder, *quick_options) == 0
    return folder


def contents_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_full_disk_asks_for_room(run, made_board, capsys):
    assert run("publish", made_board, "--as", "csv", "--out", "/dev/full") == 1
    assert "No space left on device; make room on the disk, then repeat" in capsys.readouterr().err


FULL = [
    ("board", "{arena}", "--out", "{new}/board", "{quick}"),
    ("board", "{arena}", "--out", "{board}", "{quick}"),
    ("publish", "{board}", "--out", "{new}/site"),
    ("publish", "{board}", "--as", "figures", "--out", "{new}/figures"),
    ("publish", "{board}", "--as", "csv", "--out", "{new}/x.csv"),
    ("vote", "{arena}", "--out", "{new}/x.html"),
]


@pytest.mark.parametrize("words", FULL, ids=[f"{w[0]} {w[-1]}" for w in FULL])
def test_a_full_disk_is_said_and_leaves_nothing_half_written(
    run, made_board, tiny_folder, quick_options, tmp_path, capsys, words
):
    if "figures" in words:
        pytest.importorskip("matplotlib")
    names = {"arena": tiny_folder, "board": made_board, "new": tmp_path, "quick": "{quick}"}
    before = contents_of(made_board.parent)
    named = [word.format(**names) for word in words if word != "{quick}"]
    with full_disk(200):
        status = run(*named, *(quick_options if "{quick}" in words else ()))
    said = capsys.readouterr().err
    assert status in (1, 2)
    assert "error: " in said
    assert "File too large" in said or "disk I/O error" in said
    assert "Traceback" not in said
    assert contents_of(made_board.parent) == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not (tmp_path / "board").exists()
