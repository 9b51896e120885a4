"""A board of many systems, from the arena folder to its pages: seconds and memory of ``run``.

    python benchmarks/scale.py --systems 2000 --questions 100 --judgments 1000000 --out ../scale

writes a made-up arena where ``--out`` has none, brings its board and its site up to date by
``surrogate-arena run`` with the defaults, all cores, and prints wall and processor seconds, the
memory of all processes together at its highest, and each stage's seconds as the run tells them.
"""

import argparse
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from arena import Arena, write_arena

COMMAND = [sys.executable, "-c", "from surrogate.cli.app import main; main()", "run"]
CONFIG = """out = "boards"
[boards.all]
arena = "arena"
[boards.all.after]
site = true
"""
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
        battles.append(pairs_of(names, strength, judgments // questions, random, query))
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
    drawn = random.choice(systems * systems, size=min(3 * count, systems * systems), replace=False)
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


def main() -> None:
    """Write the arena, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    folder = given.out / "arena"
    if not (folder / "arena.json").is_file():
        write_arena(made_up(given.systems, given.questions, given.judgments), folder, ".parquet")
    config = given.out / "leaderboards.toml"
    config.write_text(
        'out = "boards"\n[defaults.after]\nsite = true\n[boards.all]\narena = "arena"\n'
    )
    began = time.perf_counter()
    with subprocess.Popen([*COMMAND, str(config)]) as process:
        memory = Memory(process.pid)
        memory.start()
    memory.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"status {process.returncode}: {time.perf_counter() - began:.0f} s on the clock")
    print(f"processor: {used.ru_utime + used.ru_stime:.0f} s")
    print(f"memory: {memory.peak_gb:.1f} GB together, {memory.largest_gb:.1f} GB the largest")


if __name__ == "__main__":
    main()
