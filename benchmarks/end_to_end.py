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
    "surrogate/learning/replication.py:replicate": "replication",
    "surrogate/board/language_study.py:_rate_unseen": "held out",
    "surrogate/board/language_study.py:study_languages": "learning",
    "surrogate/checks/": "looks",
    "surrogate/board/summary_builder.py:": "summary",
    "surrogate/learning/": "predicting",
    "surrogate/board/rating_rows.py:": "rows",
    "surrogate/board/board.py:save": "writing",
    "surrogate/board/board.py:load": "reading",
    "surrogate_arena/pages/": "site",
    "surrogate_arena/cli/printing.py": "printing",
}
"""Beginning of a function's ``file:name`` to its stage; of a stack, the outermost one counts."""
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
        self.seconds = defaultdict[str, float](float)
        self.last_look = 0.0
        signal.signal(signal.SIGPROF, self.look)
        signal.setitimer(signal.ITIMER_PROF, PERIOD_S, PERIOD_S)

    def look(self, _: int, frame: FrameType | None) -> None:
        """Count what was used since the last look for the stage of now."""
        now = time.process_time()
        self.seconds[stage_of(frame, self.root)] += now - self.last_look
        self.last_look = now

    def stop(self) -> dict[str, float]:
        """Stop looking, and return the seconds of each stage."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        return dict(self.seconds)


def stage_of(frame: FrameType | None, root: str) -> str:
    """Return the stage of a stack: that of the outermost function that has one."""
    stage = "other"
    while frame is not None:
        function = f"{frame.f_code.co_filename}:{frame.f_code.co_name}"
        if "importlib" in function:
            return "imports"
        function = function.removeprefix(f"{root}/")
        stage = next((STAGES[name] for name in STAGES if function.startswith(name)), stage)
        frame = frame.f_back
    return stage


def run_staged(arguments: Sequence[str]) -> None:
    """Run a command of the checkout named first, and write its stages to the file named next."""
    checkout, stages_file, *command = arguments
    root = str(Path(checkout).resolve())
    sys.path.insert(0, root)
    clock = Clock(root)
    from surrogate_arena.cli.app import main as run

    try:
        run(command)
    finally:
        Path(stages_file).write_text(json.dumps(clock.stop()))


def measure(name: str, arguments: Sequence[str | Path], folder: Path, root: Path) -> None:
    """Run a command of a checkout in a process of its own and print a row."""
    stages_file = folder / "stages.json"
    log = folder / "log.txt"
    command = [sys.executable, __file__, "--staged", str(root), str(stages_file)]
    command += map(str, arguments)
    with log.open("w") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(log.read_text()[-2000:])
    total = usage.ru_utime + usage.ru_stime
    seconds_by_stage: dict[str, float] = json.loads(stages_file.read_text())
    seconds_by_stage["workers"] = max(total - sum(seconds_by_stage.values()), 0.0)
    stages = []
    for stage, seconds in sorted(seconds_by_stage.items(), key=lambda pair: -pair[1]):
        if seconds >= 0.05:
            stages.append(f"{stage} {seconds:.1f}")
    peak_gb = usage.ru_maxrss * 1024 / 1e9
    target = TARGETS.get(name, "")
    version = "new" if root == ROOT else "former"
    row = f"{name:12} {version:7} {total:7.1f} {target:>6} {peak_gb:6.2f}"
    print(f"{row}  {', '.join(stages)}", flush=True)


def commands(arenas: Path, folder: Path, jobs: str) -> Iterator[tuple[str, Sequence[str | Path]]]:
    """Yield each command, by its row's name, once the files that it reads exist."""
    in_parallel = ("--jobs", jobs)
    folder.mkdir()
    yield "demo", ("demo", "--out", folder / "demo", *in_parallel)
    for name in BOARDS:
        yield name, ("board", arenas / name, "--out", folder / name, *in_parallel)
    largest = folder / "arena"
    board = folder / BOARDS[-1]
    shutil.copytree(arenas / BOARDS[-1], largest)
    answers = write_new_system(largest, folder)
    yield "rank", ("rank", answers, "--board", board, "--arena", largest)
    rakuda = arenas / "rakuda"
    few_answers = write_new_system(rakuda, folder / "few")
    yield "rank rakuda", ("rank", few_answers, "--board", folder / "rakuda", "--arena", rakuda)
    yield "add answers", ("add", largest, answers)
    yield "add board", ("board", largest, "--out", board, *in_parallel)
    change_verdicts(largest)
    yield "verdicts", ("board", largest, "--out", board, *in_parallel)


def write_new_system(arena: Path, folder: Path) -> Path:
    """Write the answers of a new system, taken in turn from three systems of each question."""
    from arena import read_arena

    answers = read_arena(arena).answers
    by_question = answers.groupby(["language", "query_id"])
    is_taken = by_question.cumcount() == by_question.ngroup() % 3
    path = folder / "one-more.jsonl"
    folder.mkdir(exist_ok=True)
    new_answers = answers[is_taken].assign(system="one-more")
    new_answers.to_json(path, orient="records", lines=True)
    return path


def change_verdicts(folder: Path) -> None:
    """Mirror every tenth verdict of an arena, as if it had been judged again."""
    from dataclasses import replace

    from arena import read_arena, write_arena

    arena = read_arena(folder)
    judgments = arena.judgments.copy()
    is_changed = judgments.index % EVERY == 0
    mirrored = {"a": "b", "b": "a", "tie": "tie"}
    judgments.loc[is_changed, "winner"] = judgments.loc[is_changed, "winner"].map(mirrored)
    shutil.rmtree(folder)
    write_arena(replace(arena, judgments=judgments), folder)


def main() -> None:
    """Print a row a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("arenas", type=Path, help="Folder of arena folders.")
    parser.add_argument("--only", default="", help="Comma-separated rows. Default: all")
    parser.add_argument("--jobs", default="-1")
    parser.add_argument("--former", type=Path, help="Checkout of another version. Default: none")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else []
    roots = [ROOT] if options.former is None else [options.former.resolve(), ROOT]
    print(f"{'command':20} {'seconds':>7} {'target':>6} {'GB':>6}  seconds by stage")
    with tempfile.TemporaryDirectory() as work:
        folders = [Path(work) / str(number) for number in range(len(roots))]
        versions = [commands(options.arenas, folder, options.jobs) for folder in folders]
        for steps in zip(*versions, strict=True):
            for (name, arguments), folder, root in zip(steps, folders, roots, strict=True):
                if not only or name in only:
                    measure(name, arguments, folder, root)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--staged"]:
        run_staged(sys.argv[2:])
    else:
        main()
