"""Each folder of the application can be deleted: what is left runs, and its tests are collected."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("arena", "features", "surrogate", "surrogate_arena", "tests", "benchmarks")
BASE = "cli"
"""Folder that the others use for their commands; it stays."""
FOLDERS = sorted(
    path.parent.name
    for path in (ROOT / "surrogate_arena").glob("*/__init__.py")
    if path.parent.name != BASE
)
NEEDED_BY = {
    "generation": ["papers"],
    "importers": ["papers"],
    "pages": ["runs", "voting"],
}
"""Folders that do nothing without another one; contracts of imports say the same."""


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


@pytest.mark.slow
@pytest.mark.parametrize("deleted", FOLDERS)
def test_a_folder_can_be_deleted(deleted, tmp_path):
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "surrogate_arena" / deleted)
    for name in (deleted, *NEEDED_BY.get(deleted, ())):
        shutil.rmtree(tmp_path / "tests" / "surrogate_arena" / name)

    done_in(tmp_path, "-c", "import surrogate_arena; surrogate_arena.build_board")
    commands = done_in(tmp_path, "-m", "surrogate_arena", "--help")
    assert "board" in commands
    assert f"{deleted}.commands" not in commands
    done_in(tmp_path, "-m", "surrogate_arena", "demo", "--jobs", "1")
    folders = sorted(map(str, (tmp_path / "tests").glob("*/")))
    done_in(tmp_path, "-m", "pytest", "--collect-only", "-q", *folders)
