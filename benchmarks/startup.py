"""Start the command line; print processor seconds of help, of errors, and of what they load.

Each is a process of its own, of which the least of some runs counts. Nothing is asserted.

Run:  python benchmarks/startup.py [--runs 5]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = "from surrogate.cli.app import main; main()"
HELP = ("--help",)
COMMANDS = (
    *("board", "run", "diff", "rank", "advise", "gate", "demo", "report", "plot", "export"),
    *("fit", "diagnose", "sampling", "validate", "init", "check", "add", "select", "statistics"),
    *("judge", "generate", "vote", "agreement", "import", "features", "metaeval", "prompts"),
)
ABSENT = (
    ("board", "absent", "--out", "out"),
    ("rank", "absent.jsonl", "--board", "absent"),
    ("judge", "absent", "--model", "any"),
    ("validate", "absent"),
    ("diagnose", "absent"),
    ("report", "absent"),
)


def seconds(arguments: tuple[str, ...], folder: Path, runs: int) -> float:
    """Return the least processor time, user's and system's, of some runs of a command."""
    found = []
    for _ in range(runs):
        before = os.times()
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            check=False,
        )
        after = os.times()
        user = after.children_user - before.children_user
        found.append(user + after.children_system - before.children_system)
    return min(found)


def main() -> None:
    """Print a line a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of which the least counts")
    runs = parser.parse_args().runs
    asked = [HELP, ("--version",), *((name, *HELP) for name in COMMANDS), *ABSENT]
    with tempfile.TemporaryDirectory() as folder:
        for arguments in asked:
            print(f"{seconds(arguments, Path(folder), runs):6.2f} s  {' '.join(arguments)}")


if __name__ == "__main__":
    main()
