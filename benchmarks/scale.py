"""A board of many systems, and one more ranked on it: seconds and memory by number of systems.

    python benchmarks/scale.py --systems 250,500,1000,2000 --out ../scale
    python benchmarks/scale.py --odd --out ../scale
    python benchmarks/scale.py --streams 50000,100000 --out ../scale
    python benchmarks/scale.py --arenas ../shared/data/arenas

Writes made-up arenas where ``--out`` has none (100 questions, 500 judgments a system), runs
``board`` and ``rank`` with the defaults, all cores, and prints a row a command: wall and processor
seconds, the memory of all processes together at its highest; and by what power of the number of
systems seconds grow. ``--odd`` are arenas of one question, of two systems, and of one judgment:
each ends in a board or a refusal. ``--streams`` are arenas of so many answers in Parquet part
files of three languages, measured part by part by ``features --out FOLDER``, with a row every half
million answers, so that a cut run has a slope; the first again, killed in the middle and gone on
with: its files must be the same; and what a new system costs. ``--arenas`` are real ones: commands
on them, and what a new system or new verdicts cost; see ``end_to_end.py``.
"""

import argparse
import json
import math
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

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq
from scipy.special import expit

from arena import Arena, write_arena
from arena.data.files import file_digest
from arena.data.tables import write_rows
from arena.data.types import Floats

COMMAND = [sys.executable, "-c", "from surrogate.cli.app import main; main()"]
END_TO_END = Path(__file__).with_name("end_to_end.py")
JUDGMENTS = 500
"""Of a system."""
ODD = {"one question": (60_000, 1, 60_000), "two systems": (2, 60_000, 60_000), "one": (200, 50, 1)}
"""Systems, questions and judgments of arenas that are of no usual shape."""
MOST_MEMORY = 9_000_000_000
"""Bytes of addresses that a command may take: what wants more is refused by the system."""
WORDS = 4000
SENTENCE = 14
STATEMENTS = 12
"""True sentences of a question; its passages hold three each."""
STYLES = 40
"""Kinds of systems that open their answers alike and share their wrong sentences."""
SLOTS = 4
TIES = 0.1
STREAM = {
    "languages": ["de", "en", "sw"],
    "systems": [f"system-{number:03}" for number in range(100)],
}
FILE_QUESTIONS = 200
"""Of a part file of a stream; all systems answer them."""
MARK = 500_000
"""Answers of a stream after which a row is printed."""
PAGE = resource.getpagesize()


def made_up(systems: int, questions: int, judgments: int, seed: int = 0) -> Arena:
    """Draw an arena: stronger systems say more of what the passages say, and win more often."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=systems)
    styles = rng.integers(STYLES, size=systems)
    names = np.array([f"style-{kind:02}/system-{index:04}" for index, kind in enumerate(styles)])
    queries, answers, battles = [], [], []
    for number in range(questions):
        query = f"q{number:04}"
        true = [sentence(rng) for _ in range(STATEMENTS)]
        wrong = [sentence(rng) for _ in range(STYLES)]
        passages = [
            {"passage_id": f"{query}-{index}", "text": ". ".join(true[index * 3 : index * 3 + 3])}
            for index in range(STATEMENTS // 3)
        ]
        queries.append({"query_id": query, "query": sentence(rng), "passages": passages})
        chosen = rng.integers(STATEMENTS, size=(systems, SLOTS))
        is_true = rng.random((systems, SLOTS)) < expit(strengths)[:, None]
        for system, style in enumerate(styles):
            texts = [f"{wrong[style - 1][:40]}:"]
            for statement, says_true in zip(chosen[system], is_true[system], strict=True):
                if says_true:
                    texts.append(f"{true[statement]} [{query}-{statement // 3}].")
                else:
                    texts.append(f"{wrong[style]}.")
            answers.append((query, names[system], " ".join(texts)))
        count = judgments // questions + (number < judgments % questions)
        battles.append(pairs_of(names, strengths, count, rng, query))
    return Arena.from_frames(
        pd.DataFrame(queries),
        pd.DataFrame(answers, columns=["query_id", "system", "answer"]),
        pd.concat(battles, ignore_index=True),
        name="scale",
        language="en",
        judge="simulated",
    )


def write_stream(folder: Path, answers: int) -> None:
    """Write an arena of so many answers, a part file of questions and one of answers at a time."""
    rng = np.random.default_rng(0)
    systems = len(STREAM["systems"])
    truthfulness = rng.beta(4, 2, size=systems)
    for part in range(math.ceil(answers / (systems * FILE_QUESTIONS))):
        queries, rows = [], []
        for number in range(FILE_QUESTIONS):
            query = f"q{part:05}-{number:03}"
            true = [sentence(rng) for _ in range(STATEMENTS)]
            wrong = [sentence(rng) for _ in range(STATEMENTS)]
            passages = [
                {"passage_id": f"{query}-{index}", "text": ". ".join(true[index : index + 3])}
                for index in range(STATEMENTS - 2)
            ]
            queries.append({"query_id": query, "query": sentence(rng), "passages": passages})
            chosen = rng.integers(STATEMENTS - 2, size=(systems, SLOTS))
            is_true = rng.random((systems, SLOTS)) < truthfulness[:, None]
            for index, system in enumerate(STREAM["systems"]):
                texts = []
                for statement, says_true in zip(chosen[index], is_true[index], strict=True):
                    if says_true:
                        texts.append(f"{true[statement]} [{query}-{statement}].")
                    else:
                        texts.append(f"{wrong[statement]}.")
                rows.append({"query_id": query, "system": system, "answer": " ".join(texts)})
        for table, frame in {"queries": queries, "answers": rows}.items():
            language = STREAM["languages"][part % len(STREAM["languages"])]
            path = folder / f"{table}.parquet" / f"language={language}" / f"{part:05}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pd.DataFrame(frame).to_parquet(path, index=False)
    info = {"name": folder.name, "reference_system": STREAM["systems"][0], **STREAM}
    (folder / "arena.json").write_text(json.dumps(info))


def measure_stream(answers: int, out: Path, jobs: str) -> None:
    """Measure the features of a stream; print a row every half million answers and at the end."""
    arena, features = out / f"stream-{answers}", out / f"features-{answers}"
    if not (arena / "arena.json").is_file():
        write_stream(arena, answers)
    shutil.rmtree(features, ignore_errors=True)
    growth = Growth(features)
    _, wall, spent, memory = measured(
        ("features", arena, "--out", features, "--jobs", jobs), growth.look
    )
    print(
        f"{answers:11,} answers  {wall:6.0f} s on the clock  {spent:6.0f} s of processors  "
        f"{memory.peak_gb:.2f} GB, {memory.largest_gb:.2f} of the largest process",
        flush=True,
    )
    if len(growth.marks) > 1:
        measured_answers, seconds = zip(*growth.marks, strict=True)
        slope = 1e6 * np.polyfit(measured_answers, seconds, 1)[0]
        print(f"a million more: {slope:.0f} s of processors", flush=True)


class Growth:
    """Processor seconds by the number of answers in a folder of features, while it is written."""

    def __init__(self, features: Path) -> None:
        """Look at this folder."""
        self.features = features
        self.rows_of: dict[Path, int] = {}
        self.marks: list[tuple[int, float]] = []

    def look(self, process: int, peak_gb: float) -> None:
        """Print a row where another half million answers are written."""
        for file in self.features.glob("language=*/*.parquet"):
            if file not in self.rows_of and ".writing-" not in file.name:
                self.rows_of[file] = pq.read_metadata(file).num_rows
        n_answers = sum(self.rows_of.values())
        if n_answers < (len(self.marks) + 1) * MARK:
            return
        seconds = sum(map(processor_seconds, family(process)))
        self.marks.append((n_answers, seconds))
        print(
            f"{n_answers:11,} written  {seconds:6.0f} s of processors  {peak_gb:.2f} GB",
            flush=True,
        )


def go_on(answers: int, out: Path, jobs: str) -> None:
    """Kill the measuring of a stream in the middle, go on, and compare its files."""
    names = ("stream", "features", "again")
    arena, complete, again = (out / f"{name}-{answers}" for name in names)
    shutil.rmtree(again, ignore_errors=True)
    command = ("features", str(arena), "--out", str(again), "--jobs", jobs)
    with subprocess.Popen([*COMMAND, *command], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(parts_of(again)) < len(parts_of(complete)) / 2:
            time.sleep(0.2)
        for child in family(process.pid):
            os.kill(child, signal.SIGKILL)
    n_kept = len(parts_of(again))
    rest, nothing = measured(command), measured(command)
    print(
        f"killed with {n_kept} of {len(parts_of(complete))} parts: the rest {rest[2]:.0f} s of "
        f"processors, once more {nothing[2]:.0f} s, "
        f"same files {parts_of(again) == parts_of(complete)}"
    )


def grow(answers: int, out: Path, jobs: str) -> None:
    """Measure a stream again after a system has joined it, which then leaves; print a row."""
    arena, features = out / f"stream-{answers}", out / f"again-{answers}"
    info, table = arena / "arena.json", arena / "answers.parquet"
    original_info = info.read_text()
    files = [file for file in table.rglob("*.parquet") if not file.name.startswith("new-")]
    for file in files:
        rows = pd.read_parquet(file, columns=["query_id", "system", "answer"])
        rows = rows[rows["system"] == STREAM["systems"][-1]]
        rows = rows.assign(system="new", answer=rows["answer"].str.upper())
        rows.to_parquet(file.with_name(f"new-{file.name}"), index=False)
    info.write_text(
        json.dumps(json.loads(original_info) | {"systems": [*STREAM["systems"], "new"]})
    )
    _, wall, spent, _ = measured(("features", arena, "--out", features, "--jobs", jobs))
    print(f"a new system: {wall:.0f} s on the clock, {spent:.0f} s of processors", flush=True)
    info.write_text(original_info)
    for file in files:
        file.with_name(f"new-{file.name}").unlink()


def parts_of(folder: Path) -> dict[str, str]:
    """Return the digest of each part file."""
    files = (path for path in folder.rglob("*.parquet") if ".writing-" not in str(path))
    return {str(path.relative_to(folder)): file_digest(path) for path in files}


def sentence(rng: np.random.Generator) -> str:
    """Draw words, few of them often."""
    drawn = np.minimum(rng.zipf(1.3, size=SENTENCE), WORDS)
    return " ".join(f"w{word:x}" for word in drawn)


def pairs_of(
    names: npt.NDArray[np.str_],
    strengths: Floats,
    count: int,
    rng: np.random.Generator,
    query: str,
) -> pd.DataFrame:
    """Draw pairs without repetition and their verdicts by Bradley and Terry's model."""
    systems = len(names)
    drawn = rng.choice(
        systems * systems, size=min(3 * count + 30, systems * systems), replace=False
    )
    first, second = np.divmod(drawn, systems)
    first, second = first[first < second][:count], second[first < second][:count]
    is_swapped = rng.random(len(first)) < 1 / 2
    side_a, side_b = np.where(is_swapped, (second, first), (first, second))
    is_won = rng.random(len(side_a)) < expit(strengths[side_a] - strengths[side_b])
    winner = np.where(rng.random(len(side_a)) < TIES, "tie", np.where(is_won, "a", "b"))
    sides = {"system_a": names[side_a], "system_b": names[side_b]}
    return pd.DataFrame({"query_id": query, **sides, "winner": winner})


class Memory(threading.Thread):
    """Looks every second at what a process and those that it started hold together."""

    def __init__(self, process: int, look: Callable[[int, float], None] | None = None) -> None:
        """Look at the process of this number and its descendants, and call ``look`` as often."""
        super().__init__(daemon=True)
        self.process, self.peak_gb, self.largest_gb = process, 0.0, 0.0
        self.look = look

    def run(self) -> None:
        """Look until the process has ended."""
        while Path(f"/proc/{self.process}").exists():
            held = [resident(member) for member in family(self.process)]
            self.peak_gb = max(self.peak_gb, sum(held) / 1e9)
            self.largest_gb = max(self.largest_gb, max(held, default=0) / 1e9)
            if self.look is not None:
                self.look(self.process, self.peak_gb)
            time.sleep(1)


def family(process: int) -> list[int]:
    """Return a process and all it started, as ``/proc`` has them."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [process, *(descendant for child in children for descendant in family(int(child)))]


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
) -> tuple[int, float, float, Memory]:
    """Run a command; return its status, wall and processor seconds, and what it held."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=limit) as process:
        memory = Memory(process.pid, look)
        memory.start()
    memory.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return process.returncode, time.perf_counter() - began, spent, memory


def measure(
    name: str, systems: int, questions: int, judgments: int, out: Path, jobs: str = "-1"
) -> float:
    """Build a board and rank a system on it; print a row each and return the board's seconds."""
    folder, board = out / f"arena-{systems}x{questions}x{judgments}", out / "board"
    if not (folder / "arena.json").is_file():
        write_arena(made_up(systems, questions, judgments), folder, ".parquet")
    new = out / "new.parquet"
    answers = pd.read_parquet(folder / "answers.parquet")
    write_rows(answers[answers["system"] == answers["system"].iloc[0]].assign(system="new"), new)
    shutil.rmtree(board, ignore_errors=True)
    commands = {
        "board": ("board", folder, "--out", board, "--jobs", jobs),
        "rank": ("rank", new, "--board", board, "--jobs", jobs),
    }
    spent = {}
    for command, arguments in commands.items():
        status, wall, spent[command], memory = measured(arguments)
        print(
            f"{name:13} {command:6} {systems:7,} systems {len(answers):9,} answers {judgments:10,} "
            f"judgments  status {status}  {wall:6.0f} s on the clock  {spent[command]:6.0f} s of "
            f"processors  {memory.peak_gb:5.2f} GB",
            flush=True,
        )
        if status:
            break
    return spent["board"]


def main() -> None:
    """Measure each size, or what is odd."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", default="250,500,1000,2000")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--odd", action="store_true")
    parser.add_argument("--streams")
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
        for name, odd in ODD.items():
            measure(name, *odd, options.out)
        return
    if options.streams:
        streams = [int(answers) for answers in options.streams.split(",")]
        for answers in streams:
            measure_stream(answers, options.out, options.jobs)
        go_on(streams[0], options.out, options.jobs)
        grow(streams[0], options.out, options.jobs)
        return
    sizes = [int(size) for size in options.systems.split(",")]
    spent = [
        measure("made up", size, options.questions, JUDGMENTS * size, options.out, options.jobs)
        for size in sizes
    ]
    if len(sizes) > 1:
        power = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
        print(f"seconds of a board grow as systems to the power of {power:.2f}")


if __name__ == "__main__":
    main()
