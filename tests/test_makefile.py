"""``make`` takes whatever Python is new enough; what it tells of a release."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKE = shutil.which("make")

pytestmark = pytest.mark.skipif(MAKE is None, reason="needs make")


def program(folder, name, lines):
    (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
    (folder / name).chmod(0o755)


def dry_run(folder, *options):
    command = [MAKE, "-n", "-f", ROOT / "Makefile", *options, ".venv/bin/python"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHON"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    program(tmp_path, "sh", 'exec /bin/sh "$@"')
    return tmp_path


def test_any_python_that_is_new_enough_is_taken(folder):
    program(folder, "python3.11", "exit 1")  # one that does not work
    program(folder, "python3", f'exec {sys.executable} "$@"')
    assert "python3 -m venv .venv" in dry_run(folder)
    assert "own/python -m venv .venv" in dry_run(folder, "PYTHON=own/python")


def test_without_one_it_says_what_to_do(folder):
    assert 'test -n "" ||' in dry_run(folder)
    assert "no Python 3.11 or newer on the path; name one: make PYTHON=" in dry_run(folder)
