"""What a user waits for: processor seconds and memory of commands, and each stage's share.

    python benchmarks/end_to_end.py ../shared/data/arenas [--only rakuda,rank] [--former ../old]

Each command runs in a process of its own, imports counted. ``add`` is one more system in the arena
and its board built again where it was; ``verdicts`` that board with one verdict in ten new. Shares
are told by a clock that interrupts the process a hundred times a second and looks at which function
of ours it is in; ``workers`` is what processes used that it started. With ``--former``, the
checkout of another version, each command is run by that one first, on folders of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

STAGES = {
    "importlib": "imports",
    "arena/data/": "reading",
    "features/engine/extraction.py:extract": "features",
    "surrogate/learning/language_data.py:language_data": "ratings",
    "surrogate/learning/estimation/replication.py:replicate": "replication",
    "surrogate/board/language_study.py:_rate_unseen": "held out",
    "surrogate/board/language_study.py:study_languages": "learning",
    "surrogate/integrity/": "looks",
    "surrogate/board/summary_builder.py:": "summary",
    "surrogate/learning/": "predicting",
    "surrogate/board/rating_rows.py:": "rows",
    "surrogate/board/board.py:save": "writing",
    "surrogate/board/board.py:load": "reading",
    "surrogate/publish/": "site",
    "surrogate/cli/printing.py": "printing",
}
"""Function, or beginning of a place, to the stage; the outermost that is known counts."""
PERIOD_S = 0.01
BOARDS = ("rakuda", "trec-rag25", "nomiracl")
TARGETS = {
    "demo": 15,
    "rakuda": 3,
    "trec-rag25": 6,
    "nomiracl": 22,
    "rank": 4,
    "rank rakuda": 1,
    "add board": 12,
}
"""Processor seconds that are aimed at."""
EVERY = 10
ROOT = Path(__file__).resolve().parents[1]


class Clock:
    """Adds up processor time by stage, seen from a signal."""

    def __init__(self, root: str) -> None:
        """Start to count, in the code of a checkout."""
        self.root = root
        self.spent, self.last = defaultdict[str, float](float), 0.0
        signal.signal(signal.SIGPROF, self.look)
        signal.setitimer(signal.ITIMER_PROF, PERIOD_S, PERIOD_S)

    def look(self, _: int, frame: FrameType | None) -> None:
        """Count what was used since the last look for the stage of now."""
        now = time.process_time()
        self.spent[stage_of(frame, self.root)] += now - self.last
        self.last = now

    def shares(self) -> dict[str, float]:
        """Stop, and return the seconds of each stage."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        return dict(self.spent)


def stage_of(frame: FrameType | None, root: str) -> str:
    """Return the stage of a stack: that of the outermost function that has one."""
    places = []
    while frame is not None:
        places.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")
        if "importlib" in places[-1]:
            return "imports"
        frame = frame.f_back
    for place in reversed(places):
        own = place.removeprefix(f"{root}/")
        if found := next((stage for name, stage in STAGES.items() if own.startswith(name)), None):
            return found
    return "other"


def run_staged(arguments: Sequence[str]) -> None:
    """Run a command of the checkout named first, and write its stages to the file named next."""
    root, stages, *command = arguments
    root = str(Path(root).resolve())
    sys.path.insert(0, root)
    clock = Clock(root)
    from surrogate.cli.app import main as run

    try:
        run(command)
    finally:
        Path(stages).write_text(json.dumps(clock.shares()))


def measured(name: str, arguments: Sequence[str | Path], folder: Path, root: Path) -> None:
    """Run a command of a checkout in a process of its own and print a row."""
    stages = folder / "stages.json"
    command = [sys.executable, __file__, "--staged", str(root), str(stages), *map(str, arguments)]
    with (
        (folder / "said.txt").open("w") as said,
        subprocess.Popen(command, stdout=said, stderr=said) as process,
    ):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print((folder / "said.txt").read_text()[-2000:])
    spent = used.ru_utime + used.ru_stime
    found = json.loads(stages.read_text())
    found["workers"] = max(spent - sum(found.values()), 0.0)
    shares = sorted(found.items(), key=lambda item: -item[1])
    told = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in shares if seconds >= 0.05)
    memory = used.ru_maxrss * 1024 / 1e9
    target = TARGETS.get(name, "")
    version = "new" if root == ROOT else "former"
    print(f"{name:12} {version:7} {spent:7.1f} {target:>6} {memory:6.2f}  {told}", flush=True)


def commands(arenas: Path, folder: Path, jobs: str) -> Iterator[tuple[str, Sequence[str | Path]]]:
    """Yield each command after what it needs is there."""
    how = ("--jobs", jobs)
    folder.mkdir()
    yield "demo", ("demo", "--out", folder / "demo", *how)
    for name in BOARDS:
        yield name, ("board", arenas / name, "--out", folder / name, *how)
    largest, board = folder / "arena", folder / BOARDS[-1]
    shutil.copytree(arenas / BOARDS[-1], largest)
    answers = one_more(largest, folder)
    yield "rank", ("rank", answers, "--board", board, "--arena", largest)
    yield (
        "rank rakuda",
        (
            *("rank", one_more(arenas / "rakuda", folder / "few"), "--board", folder / "rakuda"),
            *("--arena", arenas / "rakuda"),
        ),
    )
    yield "add answers", ("add", largest, answers)
    yield "add board", ("board", largest, "--out", board, *how)
    other_verdicts(largest)
    yield "verdicts", ("board", largest, "--out", board, *how)


def one_more(arena: Path, folder: Path) -> Path:
    """Write the answers of a new system: each another's to the same question, in turn."""
    from arena import read_arena

    answers = read_arena(arena).answers
    turn = answers.groupby(["language", "query_id"]).ngroup()
    place = answers.groupby(["language", "query_id"]).cumcount()
    own = answers[place == turn % 3].assign(system="one-more")
    folder.mkdir(exist_ok=True)
    own.to_json(folder / "one-more.jsonl", orient="records", lines=True)
    return folder / "one-more.jsonl"


def other_verdicts(arena: Path) -> None:
    """Turn every tenth verdict of an arena round, as if it were asked again."""
    from dataclasses import replace

    from arena import read_arena, write_arena

    read = read_arena(arena)
    judgments = read.judgments.copy()
    some = judgments.index % EVERY == 0
    turned = {"a": "b", "b": "a", "tie": "tie"}
    judgments.loc[some, "winner"] = judgments.loc[some, "winner"].map(turned)
    shutil.rmtree(arena)
    write_arena(replace(read, judgments=judgments), arena)


def main() -> None:
    """Print a row a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("arenas", type=Path, help="Folder of arena folders.")
    parser.add_argument("--only", default="", help="Comma-separated rows. Default: all")
    parser.add_argument("--jobs", default="-1")
    parser.add_argument("--former", type=Path, help="Checkout of another version. Default: none")
    given = parser.parse_args()
    only = given.only.split(",") if given.only else []
    roots = [ROOT] if given.former is None else [given.former.resolve(), ROOT]
    print(f"{'command':20} {'seconds':>7} {'target':>6} {'GB':>6}  seconds by stage")
    with tempfile.TemporaryDirectory() as made:
        folders = [Path(made) / str(number) for number in range(len(roots))]
        versions = [commands(given.arenas, folder, given.jobs) for folder in folders]
        for steps in zip(*versions, strict=True):
            for (name, arguments), folder, root in zip(steps, folders, roots, strict=True):
                if not only or name in only:
                    measured(name, arguments, folder, root)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--staged"]:
        run_staged(sys.argv[2:])
    else:
        main()
