"""Each folder of the application can be deleted: what is left runs, and its tests are collected."""

import ast
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


def done_in(folder, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


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


@pytest.mark.slow
@pytest.mark.parametrize("deleted", FOLDERS)
def test_a_folder_can_be_deleted(deleted, tmp_path):
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "surrogate_arena" / deleted)
    tests = tmp_path / "tests"
    # Tests beside the folders are of several of them.
    folders = [tests / name for name in ("arena", "features", "surrogate")]
    for folder in (tests / "surrogate_arena").glob("*/"):
        if folder.name not in those_that_need(deleted):
            folders.append(folder)

    done_in(tmp_path, "-c", "import surrogate_arena; surrogate_arena.build_board")
    shown = done_in(tmp_path, "-m", "surrogate_arena", "--help")
    listed = {line.split()[0] for line in shown.splitlines() if line.startswith("  ")}
    absent = {name for name, entry in COMMANDS.items() if entry.folder in those_that_need(deleted)}
    assert listed & set(COMMANDS) == set(COMMANDS) - absent
    if "demo" not in absent:
        done_in(tmp_path, "-m", "surrogate_arena", "demo")
    done_in(tmp_path, "-m", "pytest", "--collect-only", "-q", *map(str, sorted(folders)))
