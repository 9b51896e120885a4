"""Run the sessions that the guides show, and compare or write what they print.

    python docs/sessions.py               # names each page whose output has changed
    python docs/sessions.py --write       # puts what was printed in its place

A session is a block ``console``: lines that begin with ``$ `` are commands, those below are what
they print. A line ``…`` stands for lines that are left out. All sessions of a page run in one new
folder, which holds the files of ``examples/rag_versions``, and the demo in ``out/demo`` where the
page mentions it. The demo runs once, for all pages.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from joblib import parallel_config
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILES = ROOT / "examples" / "rag_versions"
SESSION = re.compile(r"^```console\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
PROMPT = "$ "
LEFT_OUT = "…"
DEMO = "surrogate-arena demo --out out/demo"
WIDTH = "88"
SHOWN_VERSION = "0.1.0"


def main() -> int:
    """Run every page; the status is 1 if one prints something else."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write what was printed")
    options = parser.parse_args()
    changed = []
    # Processes print the same, and spend more on their imports than these small boards take.
    with tempfile.TemporaryDirectory() as folder, parallel_config("sequential"):
        with contextlib.chdir(folder):
            known = {DEMO: run(DEMO)}
        for page in pages_with_sessions():
            text = page.read_text(encoding="utf-8")
            new = run_page(text, Path(folder), known)
            if new == text:
                continue
            changed.append(page)
            if options.write:
                page.write_text(new, encoding="utf-8")
    for page in changed:
        print(page.relative_to(ROOT), "written" if options.write else "prints something else")
    return 1 if changed and not options.write else 0


def pages_with_sessions() -> list[Path]:
    """Return the pages that show a session."""
    return [page for page in PAGES if SESSION.search(page.read_text(encoding="utf-8"))]


def run_page(text: str, demo: Path, known: Mapping[str, list[str]]) -> str:
    """Run the sessions of a page, and return the page with what they print."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(FILES, ".", dirs_exist_ok=True)
        if "out/demo" in text:
            shutil.copytree(demo, ".", dirs_exist_ok=True)
        return SESSION.sub(lambda found: f"```console\n{run_session(found[1], known)}```", text)


def run_session(session: str, known: Mapping[str, list[str]]) -> str:
    """Run the commands of a block, unless it is known what they print.

    Each is followed by as much as the block shows of its output.
    """
    parts = []
    for step in re.split(rf"^(?={re.escape(PROMPT)})", session, flags=re.MULTILINE)[1:]:
        command, shown = parted(step)
        words = command.strip().removeprefix(PROMPT)
        printed = known[words] if words in known else run(command)
        parts.append(command + elided(printed, shown))
    return "".join(parts)


def parted(step: str) -> tuple[str, list[str]]:
    """Part a step into its command, with the lines that continue it, and the lines shown below."""
    lines = step.splitlines(keepends=True)
    length = 1
    while lines[length - 1].endswith("\\\n"):
        length += 1
    return "".join(lines[:length]), [line.rstrip("\n") for line in lines[length:]]


def run(command: str) -> list[str]:
    """Run a command of ours in the working directory, and return the lines it prints."""
    from arena.data import __version__
    from surrogate_arena.cli.app import app

    words = shlex.split(command.removeprefix(PROMPT).replace("\\\n", " "), comments=True)
    program, *arguments = words
    if program != "surrogate-arena":
        raise ValueError(f"a session runs our commands alone, not {program}")
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": WIDTH})
    printed = result.stdout.replace(f"version:{__version__}", f"version:{SHOWN_VERSION}")
    return [line.rstrip() for line in printed.rstrip().splitlines()]


def elided(printed: list[str], shown: list[str]) -> str:
    """Keep as many of the first and last lines as are shown now around the line that elides."""
    kept = printed
    if LEFT_OUT in shown:
        n_first = shown.index(LEFT_OUT)
        n_last = len(shown) - n_first - 1
        kept = [*printed[:n_first], LEFT_OUT, *printed[len(printed) - n_last :]]
    return "".join(f"{line}\n" for line in kept)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
