"""Packages of others that this project does not need, installed for a test from PyPI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def install(folder, *packages):
    """Install packages, and nothing that they need, into a folder; skip where this cannot be."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--retries", "0"]
    installed = subprocess.run(
        [*command, "--target", folder, *packages], capture_output=True, text=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"needs {packages[0]} from PyPI: {installed.stderr.strip()[-200:]}")


def run_theirs(folder, module, *words, **variables):
    """Run the function ``main`` of a module that is installed in a folder; return its output."""
    # What is installed here goes before the folder's packages, which are appended.
    code = f"import sys; sys.path.append({str(folder)!r}); from {module} import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr
