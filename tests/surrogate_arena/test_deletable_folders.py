"""Each folder of the application can be deleted: what is left runs, and its tests are collected."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from surrogate_arena.cli.app import COMMANDS
from surrogate_arena.cli.folders import NEEDS

ROOT = Path(__file__).parents[2]
COPIED = ("arena", "features", "surrogate", "surrogate_arena", "tests", "benchmarks", "docs")
BASE = "cli"
"""Folder that all others use; it stays."""
PROGRAM = """
import gc, json, os, sys
# What other packages cost is paid once: each folder's process is a fork of this one.
import hypothesis, jinja2, matplotlib.figure, openai, pandas, polars, pytest, scipy.stats
import rouge_score.rouge_scorer, sklearn.ensemble, typer
from features.measures.language import identify
from surrogate import build_board
identify("a text")
gc.freeze()

def use(commands, tests):
    import surrogate_arena
    from surrogate_arena.cli.app import main
    assert surrogate_arena.build_board
    for command in commands:
        try:
            main(command)
        except SystemExit as stop:
            assert not stop.code, command
    options = ["--collect-only", "-q", "-p", "no:hypothesispytest"]
    imported = "ignore::pytest.PytestAssertRewriteWarning"  # hypothesis already is
    return pytest.main([*options, "-W", imported, *tests])

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        asked = json.loads(line)
        written = os.open(asked["log"], os.O_WRONLY | os.O_CREAT)
        os.dup2(written, 1)
        os.dup2(written, 2)
        sys.exit(use(asked["commands"], asked["tests"]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
FOLDERS = sorted(
    path.parent.name
    for path in (ROOT / "surrogate_arena").glob("*/__init__.py")
    if path.parent.name != BASE
)


def those_that_need(folder):
    """Return a folder, and all that do nothing without it."""
    needing = {folder}
    for name, needs in NEEDS.items():
        if folder in needs:
            needing |= those_that_need(name)
    return needing


def imported_at_the_top(folder):
    """Return the other folders that a folder's modules import when they are imported."""
    imported = set()
    for path in (ROOT / "surrogate_arena" / folder).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            module = getattr(node, "module", None) or ""
            if module.startswith("surrogate_arena."):
                imported.add(module.split(".")[1])
    return imported - {folder, BASE}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_at_its_top_what_it_says_that_it_needs(folder):
    assert imported_at_the_top(folder) == set(NEEDS.get(folder, ()))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the packages and their tests, compiled as far as they are."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def without(checkout, deleted, tmp_path):
    """The copy without a folder of the application."""
    folder = checkout / "surrogate_arena" / deleted
    folder.rename(tmp_path / deleted)
    yield checkout
    (tmp_path / deleted).rename(folder)


@pytest.fixture(scope="module")
def in_process(checkout):
    """Use the copy in a process of its own; returns its status and what it printed."""
    env = {"PYTHONPATH": str(checkout), "HOME": str(checkout), "OMP_NUM_THREADS": "1"}
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=checkout, env=env, **piped
    ) as parent:

        def use(log, **asked):
            parent.stdin.write(json.dumps({"log": str(log), **asked}) + "\n")
            parent.stdin.flush()
            return int(parent.stdout.readline()), log.read_text(encoding="utf-8")

        yield use
        parent.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("deleted", FOLDERS)
def test_a_folder_can_be_deleted(
    deleted, without, in_process, tiny_folder, quick_options, tmp_path
):
    """Tests of the packages below import none of the application: test_house.py."""
    absent = {name for name, entry in COMMANDS.items() if entry.folder in those_that_need(deleted)}
    commands = [["--help"]]
    if "board" not in absent:
        board = ["board", tiny_folder, "--out", tmp_path / "board", *quick_options]
        commands.append(list(map(str, board)))
    tests = [
        str(folder)
        for folder in sorted(without.glob("tests/surrogate_arena/*/"))
        if folder.name not in those_that_need(deleted)
    ]
    status, shown = in_process(tmp_path / "log", commands=commands, tests=tests)
    assert status == 0, shown[-3000:]
    listed = {line.split()[0] for line in shown.splitlines() if line.startswith("  ")}
    assert listed & set(COMMANDS) == set(COMMANDS) - absent
