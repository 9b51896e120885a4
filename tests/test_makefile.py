"""``make`` takes whatever Python is new enough; what it tells of a release."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from arena.data import __version__

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


def test_the_bill_of_materials_has_the_version_and_no_build_tools(tmp_path):
    """With stand-ins for the tools: what they are given."""
    for name in ("Makefile", "pyproject.toml", "arena/data/__init__.py", "locks/core.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    program(tools, "python", "exit 0")
    program(tools, "uv", 'echo "$@" > build/sbom.txt')
    program(tools, "cyclonedx-py", 'cat "$2" "$4" > dist/sbom.cdx.json')
    subprocess.run([MAKE, "sbom"], cwd=tmp_path, check=True, capture_output=True)
    given = (tmp_path / "dist" / "sbom.cdx.json").read_text()
    shown, _, project = given.partition("[build-system]")
    assert "--no-annotate pyproject.toml -c locks/core.txt -o" in shown
    stated = tomllib.loads(f"[build-system]{project}")["project"]
    assert stated["version"] == __version__
    assert "dynamic" not in stated
