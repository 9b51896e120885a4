"""Measuring a stream of answers: seconds and memory of ``features`` into a folder, by size.

    python benchmarks/streams.py --answers 40000 80000 --out ../streams

writes made-up arenas of Parquet part files, 100 systems each, whole questions to a file, measures
them by ``surrogate-arena features ARENA --out FOLDER``, and prints wall and processor seconds, the
memory of all processes together at its highest, and per million answers what is between sizes.
The last is killed in the middle and run again: its files must be those of a run that was not.
``--backend dask`` or ``ray`` does the same on a cluster of this machine.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scale import Memory, family, sentence

SYSTEMS = 100
STATEMENTS, PASSAGES = 12, 10
FILE_ANSWERS = 10_000
COMMAND = [sys.executable, "-m", "surrogate", "features"]


def write_stream(folder: Path, answers: int, seed: int = 0) -> None:
    """Write an arena of so many answers, a part file of questions and one of answers at a time."""
    random = np.random.default_rng(seed)
    systems = [f"system-{number:03}" for number in range(SYSTEMS)]
    known = random.beta(4, 2, size=SYSTEMS)
    for table in ("queries", "answers"):
        (folder / f"{table}.parquet" / "language=en").mkdir(parents=True)
    info = {"name": folder.name, "languages": ["en"], "systems": systems}
    info |= {"reference_system": systems[0]}
    (folder / "arena.json").write_text(json.dumps(info))
    asked = FILE_ANSWERS // SYSTEMS
    for number in range(answers // FILE_ANSWERS):
        queries, rows = [], []
        for place in range(asked):
            query = f"q{number * asked + place:07}"
            true = [sentence(random) for _ in range(STATEMENTS)]
            wrong = [sentence(random) for _ in range(STATEMENTS)]
            texts = [". ".join(true[own % 4 * 3 : own % 4 * 3 + 3]) for own in range(PASSAGES)]
            passages = [
                {"passage_id": f"{query}-{own}", "text": text, "title": None, "relevance": own % 2}
                for own, text in enumerate(texts)
            ]
            queries.append({"query_id": query, "query": sentence(random), "passages": passages})
            said = random.integers(STATEMENTS, size=(SYSTEMS, 4))
            is_true = random.random((SYSTEMS, 4)) < known[:, None]
            for own, system in enumerate(systems):
                parts = [
                    f"{true[which]} [{query}-{which % 4}]." if fine else f"{wrong[which]}."
                    for which, fine in zip(said[own], is_true[own], strict=True)
                ]
                rows.append((query, system, " ".join(parts)))
        for table, frame in (
            ("queries", pd.DataFrame(queries)),
            ("answers", pd.DataFrame(rows, columns=["query_id", "system", "answer"])),
        ):
            path = folder / f"{table}.parquet" / "language=en" / f"part-{number:05}.parquet"
            frame.to_parquet(path, index=False)


def measure(arena: Path, out: Path, options: list[str], stop_at: int = 0) -> tuple[float, Memory]:
    """Run the command; kill it, and all it started, once so many parts are written."""
    began = time.perf_counter()
    with subprocess.Popen([*COMMAND, str(arena), "--out", str(out), *options]) as process:
        memory = Memory(process.pid)
        memory.start()
        while stop_at and process.poll() is None:
            if len(list(out.rglob("*.parquet"))) >= stop_at:
                for own in reversed(family(process.pid)):
                    os.kill(own, signal.SIGKILL)
                break
            time.sleep(0.2)
    memory.join()
    return time.perf_counter() - began, memory


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each part file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.parquet"))
    }


def main() -> None:
    """Write, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, nargs="+", default=[40_000, 80_000])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", default="-1")
    parser.add_argument("--backend")
    given = parser.parse_args()
    options = ["--jobs", given.jobs, *(["--backend", given.backend] if given.backend else [])]
    before = (0, 0.0, 0.0, 0.0)
    for answers in given.answers:
        arena, out = given.out / f"arena-{answers}", given.out / f"features-{answers}"
        if not arena.exists():
            write_stream(arena, answers)
        shutil.rmtree(out, ignore_errors=True)
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall, memory = measure(arena, out, options)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
        print(f"{answers:,} answers: {wall:.0f} s on the clock, {used:.0f} s of the processor")
        print(f"  memory: {memory.peak_gb:.2f} GB together, {memory.largest_gb:.2f} GB the largest")
        there = (answers, wall, used, memory.peak_gb)
        if before[0]:
            millions = (answers - before[0]) / 1e6
            seconds, held = (there[place] - before[place] for place in (2, 3))
            print(f"  a million more: {seconds / millions:.0f} s, {held / millions:.2f} GB")
        before = there
    again = given.out / "again"
    shutil.rmtree(again, ignore_errors=True)
    first, _ = measure(arena, again, options, stop_at=len(digests(out)) // 2)
    kept = len(digests(again))
    second, _ = measure(arena, again, options)
    same = digests(again) == digests(out)
    print(f"killed after {first:.0f} s with {kept} parts, then {second:.0f} s: same files {same}")
    again_s, _ = measure(arena, again, options)
    print(f"once more, nothing to do: {again_s:.0f} s")


if __name__ == "__main__":
    main()
