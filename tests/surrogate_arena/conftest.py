"""Commands run in this process, and a browser."""

import shutil

import pytest

from surrogate_arena.cli.app import main

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def run():
    """Run a command in this process and return its exit status."""

    def run_command(*arguments):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            return stop.code
        return 0

    return run_command


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()
