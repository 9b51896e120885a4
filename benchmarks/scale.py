"""A board of many systems, and one more ranked on it: seconds and memory by number of systems.

    python benchmarks/scale.py --systems 250,500,1000,2000 --out ../scale
    python benchmarks/scale.py --odd --out ../scale

Writes made-up arenas where ``--out`` has none (100 questions, 500 judgments a system), runs
``board`` and ``rank`` with the defaults, all cores, and prints a row a command: wall and processor
seconds, the memory of all processes together at its highest; and by what power of the number of
systems seconds grow. ``--odd`` are arenas of one question, of two systems, and of one judgment:
each ends in a board or a refusal.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from arena import Arena, write_arena
from arena.data.rows import write_rows

COMMAND = [sys.executable, "-c", "from surrogate.cli.app import main; main()"]
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
PAGE = resource.getpagesize()


def made_up(systems: int, questions: int, judgments: int, seed: int = 0) -> Arena:
    """Draw an arena: stronger systems say more of what the passages say, and win more often."""
    random = np.random.default_rng(seed)
    strength = random.normal(size=systems)
    style = random.integers(STYLES, size=systems)
    names = np.array([f"style-{kind:02}/system-{own:04}" for own, kind in enumerate(style)])
    queries, answers, battles = [], [], []
    for place in range(questions):
        query = f"q{place:04}"
        true = [sentence(random) for _ in range(STATEMENTS)]
        wrong = [sentence(random) for _ in range(STYLES)]
        passages = [
            {"passage_id": f"{query}-{own}", "text": ". ".join(true[own * 3 : own * 3 + 3])}
            for own in range(STATEMENTS // 3)
        ]
        queries.append({"query_id": query, "query": sentence(random), "passages": passages})
        chosen = random.integers(STATEMENTS, size=(systems, SLOTS))
        known = random.random((systems, SLOTS)) < expit(strength)[:, None]
        for own in range(systems):
            said = [
                f"{true[which]} [{query}-{which // 3}]." if is_known else f"{wrong[style[own]]}."
                for which, is_known in zip(chosen[own], known[own], strict=True)
            ]
            answers.append((query, names[own], " ".join([f"{wrong[style[own] - 1][:40]}:", *said])))
        count = judgments // questions + (place < judgments % questions)
        battles.append(pairs_of(names, strength, count, random, query))
    return Arena.from_frames(
        pd.DataFrame(queries),
        pd.DataFrame(answers, columns=["query_id", "system", "answer"]),
        pd.concat(battles, ignore_index=True),
        name="scale",
        language="en",
        judge="simulated",
    )


def sentence(random: np.random.Generator) -> str:
    """Draw words, few of them often."""
    drawn = np.minimum(random.zipf(1.3, size=SENTENCE), WORDS)
    return " ".join(f"w{word:x}" for word in drawn)


def pairs_of(
    names: npt.NDArray[np.str_],
    strength: npt.NDArray[np.float64],
    count: int,
    random: np.random.Generator,
    query: str,
) -> pd.DataFrame:
    """Draw pairs without repetition and their verdicts by Bradley and Terry's model."""
    systems = len(names)
    drawn = random.choice(
        systems * systems, size=min(3 * count + 30, systems * systems), replace=False
    )
    first, second = np.divmod(drawn, systems)
    first, second = first[first < second][:count], second[first < second][:count]
    is_swapped = random.random(len(first)) < 1 / 2
    side_a, side_b = np.where(is_swapped, (second, first), (first, second))
    won = random.random(len(side_a)) < expit(strength[side_a] - strength[side_b])
    winner = np.where(random.random(len(side_a)) < TIES, "tie", np.where(won, "a", "b"))
    sides = {"system_a": names[side_a], "system_b": names[side_b]}
    return pd.DataFrame({"query_id": query, **sides, "winner": winner})


class Memory(threading.Thread):
    """Looks every second at what a process and those that it started hold together."""

    def __init__(self, process: int) -> None:
        """Look at the process of this number and its descendants."""
        super().__init__(daemon=True)
        self.process, self.peak_gb, self.largest_gb = process, 0.0, 0.0

    def run(self) -> None:
        """Look until the process has ended."""
        while Path(f"/proc/{self.process}").exists():
            held = [resident(own) for own in family(self.process)]
            self.peak_gb = max(self.peak_gb, sum(held) / 1e9)
            self.largest_gb = max(self.largest_gb, max(held, default=0) / 1e9)
            time.sleep(1)


def family(process: int) -> list[int]:
    """Return a process and all it started, as ``/proc`` has them."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [process, *(own for child in children for own in family(int(child)))]


def resident(process: int) -> int:
    """Return a process' resident bytes, 0 where it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def measured(arguments: Sequence[str | Path]) -> tuple[int, float, float, float]:
    """Run a command; return its status, wall and processor seconds, and gigabytes at most."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=limit) as process:
        memory = Memory(process.pid)
        memory.start()
    memory.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return process.returncode, time.perf_counter() - began, spent, memory.peak_gb


def measure(name: str, systems: int, questions: int, judgments: int, out: Path) -> float:
    """Build a board and rank a system on it; print a row each and return the board's seconds."""
    folder, board = out / f"arena-{systems}x{questions}x{judgments}", out / "board"
    if not (folder / "arena.json").is_file():
        write_arena(made_up(systems, questions, judgments), folder, ".parquet")
    new = out / "new.parquet"
    answers = pd.read_parquet(folder / "answers.parquet")
    write_rows(answers[answers["system"] == answers["system"].iloc[0]].assign(system="new"), new)
    shutil.rmtree(board, ignore_errors=True)
    commands = {"board": ("board", folder, "--out", board), "rank": ("rank", new, "--board", board)}
    spent = {}
    for command, arguments in commands.items():
        status, wall, spent[command], memory = measured(arguments)
        print(
            f"{name:13} {command:6} {systems:7,} systems {len(answers):9,} answers {judgments:10,} "
            f"judgments  status {status}  {wall:6.0f} s on the clock  {spent[command]:6.0f} s of "
            f"processors  {memory:5.2f} GB",
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
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.odd:
        for name, odd in ODD.items():
            measure(name, *odd, given.out)
        return
    sizes = [int(size) for size in given.systems.split(",")]
    spent = [
        measure("made up", size, given.questions, JUDGMENTS * size, given.out) for size in sizes
    ]
    if len(sizes) > 1:
        power = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
        print(f"seconds of a board grow as systems to the power of {power:.2f}")


if __name__ == "__main__":
    main()
