"""A board of many systems, and one more ranked on it: seconds and memory by number of systems.

    python benchmarks/scale.py --systems 250,500,1000,2000 --out ../scale
    python benchmarks/scale.py --odd --out ../scale
    python benchmarks/scale.py --streams 50000,100000 --out ../scale
    python benchmarks/scale.py --multilingual 25,100,1000 --jobs 1 --out ../scale
    python benchmarks/scale.py --arenas ../shared/data/arenas

Writes made-up arenas where ``--out`` has none (100 questions, 500 judgments a system), runs
``board`` and ``rank`` with the defaults, all cores, and prints a row a command: wall and processor
seconds, the memory of all processes together at its highest; and by what power of the number of
systems seconds grow. ``--odd`` are arenas of one question, of two systems, and of one judgment:
each ends in a board or a refusal. ``--streams`` are arenas of so many answers in Parquet part
files of three languages, measured part by part by ``features --out FOLDER``, with a row every half
million answers, so that a cut run has a slope; the first again, killed in the middle and gone on
with: its files must be the same; and what a new system costs. ``--multilingual`` are arenas of 40
systems in twelve languages, of sentences from the passages of ``--source``, with so many questions
a language: their boards. ``--arenas`` are real ones: commands
on them, and what a new system or new verdicts cost; see ``end_to_end.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scale_arenas import STREAM, made_up, write_multilingual, write_stream

from arena import read_arena, write_arena
from arena.data.files import file_digest
from arena.data.parquet import part_files
from arena.data.tables import write_rows

COMMAND = [sys.executable, "-c", "from surrogate_arena.cli.app import main; main()"]
END_TO_END = Path(__file__).with_name("end_to_end.py")
JUDGMENTS = 500
"""Of a system."""
MULTILINGUAL_SYSTEMS = 40
MOST_MEMORY = 12_000_000_000
"""Bytes of addresses that a command may take, some 3 GB more than it holds: what wants more is
refused by the system."""
MARK = 500_000
"""Answers of a stream after which a row is printed."""
PAGE = resource.getpagesize()


class Size(NamedTuple):
    """Numbers of systems, questions and judgments of a made-up arena."""

    systems: int
    questions: int
    judgments: int


ODD_SIZES = {
    "one question": Size(systems=60_000, questions=1, judgments=60_000),
    "two systems": Size(systems=2, questions=60_000, judgments=60_000),
    "one": Size(systems=200, questions=50, judgments=1),
}


class Measured(NamedTuple):
    """What a command took.

    Attributes:
        status: Its exit status.
        wall_seconds: Seconds on the clock.
        processor_seconds: Seconds that it and all it started computed.
        memory: What they held.
    """

    status: int
    wall_seconds: float
    processor_seconds: float
    memory: Memory


class Mark(NamedTuple):
    """How far the measuring of a stream had come, and after how many seconds of processors."""

    answers: int
    processor_seconds: float


def measure_stream(answers: int, out: Path, jobs: str) -> None:
    """Measure the features of a stream; print a row every half million answers and at the end."""
    arena = out / f"stream-{answers}"
    features = out / f"features-{answers}"
    if not (arena / "arena.json").is_file():
        write_stream(arena, answers)
    shutil.rmtree(features, ignore_errors=True)
    growth = Growth(features)
    took = measured(("features", arena, "--out", features, "--jobs", jobs), growth.look)
    print(
        f"{answers:11,} answers  {took.wall_seconds:6.0f} s on the clock  "
        f"{took.processor_seconds:6.0f} s of processors  {took.memory.peak_gb:.2f} GB, "
        f"{took.memory.largest_gb:.2f} of the largest process",
        flush=True,
    )
    if len(growth.marks) > 1:
        marked_answers = [mark.answers for mark in growth.marks]
        seconds = [mark.processor_seconds for mark in growth.marks]
        slope = 1e6 * np.polyfit(marked_answers, seconds, 1)[0]
        print(f"a million more: {slope:.0f} s of processors", flush=True)


class Growth:
    """Processor seconds by the number of answers in a folder of features, while it is written."""

    def __init__(self, features: Path) -> None:
        """Look at this folder."""
        self.features = features
        self.rows_of: dict[Path, int] = {}
        self.marks: list[Mark] = []

    def look(self, process: int, peak_gb: float) -> None:
        """Print a row where another half million answers are written."""
        for file in self.features.glob("language=*/*.parquet"):
            if file not in self.rows_of and ".writing-" not in file.name:
                self.rows_of[file] = pq.read_metadata(file).num_rows
        n_answers = sum(self.rows_of.values())
        if n_answers < (len(self.marks) + 1) * MARK:
            return
        seconds = sum(map(processor_seconds, family(process)))
        self.marks.append(Mark(n_answers, seconds))
        print(
            f"{n_answers:11,} written  {seconds:6.0f} s of processors  {peak_gb:.2f} GB",
            flush=True,
        )


def go_on(answers: int, out: Path, jobs: str) -> None:
    """Kill the measuring of a stream in the middle, go on, and compare its files."""
    arena = out / f"stream-{answers}"
    complete = out / f"features-{answers}"
    again = out / f"again-{answers}"
    shutil.rmtree(again, ignore_errors=True)
    command = ("features", str(arena), "--out", str(again), "--jobs", jobs)
    with subprocess.Popen([*COMMAND, *command], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(parts_of(again)) < len(parts_of(complete)) / 2:
            time.sleep(0.2)
        for child in family(process.pid):
            os.kill(child, signal.SIGKILL)
    n_kept = len(parts_of(again))
    rest = measured(command)
    nothing = measured(command)
    print(
        f"killed with {n_kept} of {len(parts_of(complete))} parts: the rest "
        f"{rest.processor_seconds:.0f} s of processors, once more "
        f"{nothing.processor_seconds:.0f} s, "
        f"same files {parts_of(again) == parts_of(complete)}"
    )


def grow(answers: int, out: Path, jobs: str) -> None:
    """Measure a stream again after a system has joined it, which then leaves; print a row."""
    arena = out / f"stream-{answers}"
    features = out / f"again-{answers}"
    info = arena / "arena.json"
    original_info = info.read_text()
    answer_files = (arena / "answers.parquet").rglob("*.parquet")
    files = [file for file in answer_files if not file.name.startswith("new-")]
    for file in files:
        rows = pd.read_parquet(file, columns=["query_id", "system", "answer"])
        rows = rows[rows["system"] == STREAM["systems"][-1]]
        rows = rows.assign(system="new", answer=rows["answer"].str.upper())
        rows.to_parquet(file.with_name(f"new-{file.name}"), index=False)
    with_new_system = json.loads(original_info) | {"systems": [*STREAM["systems"], "new"]}
    info.write_text(json.dumps(with_new_system))
    took = measured(("features", arena, "--out", features, "--jobs", jobs))
    print(
        f"a new system: {took.wall_seconds:.0f} s on the clock, "
        f"{took.processor_seconds:.0f} s of processors",
        flush=True,
    )
    info.write_text(original_info)
    for file in files:
        file.with_name(f"new-{file.name}").unlink()


def parts_of(folder: Path) -> dict[str, str]:
    """Return the digest of each part file."""
    files = (path for path in folder.rglob("*.parquet") if ".writing-" not in str(path))
    return {str(path.relative_to(folder)): file_digest(path) for path in files}


class Memory(threading.Thread):
    """Looks every second at what a process and those that it started hold together."""

    def __init__(self, process: int, look: Callable[[int, float], None] | None = None) -> None:
        """Look at the process of this number and its descendants, and call ``look`` as often."""
        super().__init__(daemon=True)
        self.process = process
        self.look = look
        self.peak_gb = 0.0
        self.largest_gb = 0.0

    def run(self) -> None:
        """Look until the process has ended."""
        while Path(f"/proc/{self.process}").exists():
            sizes = [resident(member) for member in family(self.process)]
            self.peak_gb = max(self.peak_gb, sum(sizes) / 1e9)
            self.largest_gb = max(self.largest_gb, max(sizes, default=0) / 1e9)
            if self.look is not None:
                self.look(self.process, self.peak_gb)
            time.sleep(1)


def family(process: int) -> list[int]:
    """Return a process and all it started, as ``/proc`` has them."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    members = [process]
    for child in children:
        members += family(int(child))
    return members


def resident(process: int) -> int:
    """Return a process' resident bytes, 0 where it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def processor_seconds(process: int) -> float:
    """Return the seconds that a process and its ended children computed, 0 where it has ended."""
    try:
        # Fields after the name, which may hold spaces: utime, stime, cutime and cstime.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def measured(
    arguments: Sequence[str | Path], look: Callable[[int, float], None] | None = None
) -> Measured:
    """Run a command; ``look`` is called every second, as ``Memory`` calls it."""
    started = time.perf_counter()
    seconds_before = children_seconds()
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=limit) as process:
        memory = Memory(process.pid, look)
        memory.start()
    memory.join()
    return Measured(
        status=process.returncode,
        wall_seconds=time.perf_counter() - started,
        processor_seconds=children_seconds() - seconds_before,
        memory=memory,
    )


def children_seconds() -> float:
    """Return the seconds that ended child processes of this one computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name: str, size: Size, out: Path, jobs: str = "-1") -> float:
    """Build a board and rank a system on it; print a row each and return the board's seconds."""
    folder = out / f"arena-{size.systems}x{size.questions}x{size.judgments}"
    board = out / "board"
    if not (folder / "arena.json").is_file():
        write_arena(made_up(size.systems, size.questions, size.judgments), folder, ".parquet")
    new = out / "new.parquet"
    answers = pd.read_parquet(folder / "answers.parquet")
    write_rows(answers[answers["system"] == answers["system"].iloc[0]].assign(system="new"), new)
    shutil.rmtree(board, ignore_errors=True)
    commands = {
        "board": ("board", folder, "--out", board, "--jobs", jobs),
        "rank": ("rank", new, "--board", board),
    }
    seconds = {}
    for command, arguments in commands.items():
        took = measured(arguments)
        seconds[command] = took.processor_seconds
        print(
            f"{name:13} {command:6} {size.systems:7,} systems {len(answers):9,} answers "
            f"{size.judgments:10,} judgments  status {took.status}  {took.wall_seconds:6.0f} s on "
            f"the clock  {took.processor_seconds:6.0f} s of processors  "
            f"{took.memory.peak_gb:5.2f} GB",
            flush=True,
        )
        if took.status:
            break
    return seconds["board"]


def measure_multilingual(source: Path, questions: int, out: Path, jobs: str) -> None:
    """Build the board of an arena of real sentences, with so many questions a language."""
    folder = out / f"multilingual-{questions}"
    board = out / "board"
    if not (folder / "arena.json").is_file():
        write_multilingual(folder, read_arena(source), MULTILINGUAL_SYSTEMS, questions)
    n_answers = sum(
        pq.read_metadata(file).num_rows for file in part_files(folder / "answers.parquet")
    )
    shutil.rmtree(board, ignore_errors=True)
    took = measured(("board", folder, "--out", board, "--jobs", jobs))
    print(
        f"{n_answers:9,} answers  status {took.status}  {took.wall_seconds:6.0f} s on the clock  "
        f"{took.processor_seconds:6.0f} s of processors, "
        f"{1000 * took.processor_seconds / n_answers:.1f} a thousand answers  "
        f"{took.memory.peak_gb:5.2f} GB",
        flush=True,
    )


def main() -> None:
    """Measure each size, or what is odd."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", default="250,500,1000,2000")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--odd", action="store_true")
    parser.add_argument("--streams")
    parser.add_argument("--multilingual")
    parser.add_argument("--source", type=Path, default=Path("../shared/data/arenas/nomiracl"))
    parser.add_argument("--jobs", default="-1")
    parser.add_argument("--arenas", type=Path)
    parser.add_argument("--out", type=Path, default=Path("../scale"))
    options = parser.parse_args()
    if options.arenas:
        command = [sys.executable, END_TO_END, options.arenas, "--jobs", options.jobs]
        subprocess.run(command, check=True)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    if options.odd:
        for name, size in ODD_SIZES.items():
            measure(name, size, options.out)
        return
    if options.streams:
        streams = [int(answers) for answers in options.streams.split(",")]
        for answers in streams:
            measure_stream(answers, options.out, options.jobs)
        go_on(streams[0], options.out, options.jobs)
        grow(streams[0], options.out, options.jobs)
        return
    if options.multilingual:
        for questions in options.multilingual.split(","):
            measure_multilingual(options.source, int(questions), options.out, options.jobs)
        return
    numbers_of_systems = [int(text) for text in options.systems.split(",")]
    seconds = []
    for systems in numbers_of_systems:
        size = Size(systems, options.questions, judgments=JUDGMENTS * systems)
        seconds.append(measure("made up", size, options.out, options.jobs))
    if len(numbers_of_systems) > 1:
        power = np.polyfit(np.log(numbers_of_systems), np.log(seconds), 1)[0]
        print(f"seconds of a board grow as systems to the power of {power:.2f}")


if __name__ == "__main__":
    main()
