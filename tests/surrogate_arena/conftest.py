"""Commands run in this process, and a browser."""

import shutil

import pytest

from surrogate_arena.cli.app import COMMANDS, main
from surrogate_arena.cli.folders import has_folder

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def run():
    """Run a command in this process and return its exit status.

    A test of a command that needs a deleted folder is skipped.
    """

    def run_command(*arguments):
        words = [str(argument) for argument in arguments]
        entry = COMMANDS.get(words[0])
        if entry is not None and not has_folder(entry.folder):
            pytest.skip(f"needs the folder surrogate_arena/{entry.folder}")
        try:
            main(words)
        except SystemExit as stop:
            if isinstance(stop.__cause__, ModuleNotFoundError):
                pytest.skip(f"needs {stop.__cause__.name}")
            return stop.code
        return 0

    return run_command


@pytest.fixture
def with_pages():
    """Skip a test of a board's pages where there are none."""
    if not has_folder("pages"):
        pytest.skip("needs the folder surrogate_arena/pages")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()
