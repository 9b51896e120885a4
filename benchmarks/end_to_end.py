"""Read, fit and bootstrap the battles of a Parquet file; print seconds and peak memory as JSON.

Run:  python benchmarks/end_to_end.py battles.parquet [--rounds 200]
"""

from __future__ import annotations

import time

START = time.perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from arena.rating.battle_files import read_battle_columns  # noqa: E402
from arena.rating.intervals import RatingModel, bootstrap  # noqa: E402

STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """Return the peak resident memory of this process.

    On Linux from VmHWM: ru_maxrss also counts the peak of the process that started this one.
    """
    if STATUS.is_file():
        lines = (line.split() for line in STATUS.read_text().splitlines())
        return next(int(line[1]) for line in lines if line[0] == "VmHWM:") * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    seconds = {"import": time.perf_counter() - START}

    def mark(stage: str) -> None:
        seconds[stage] = time.perf_counter() - START - sum(seconds.values())

    with threadpool_limits(1):
        battles = read_battle_columns(arguments.path)
        mark("read")
        model = RatingModel(battles.count())
        mark("count")
        fit = model.fit()
        mark("fit")
        bootstrap(model, fit.parameters[0], arguments.rounds, np.random.default_rng(0))
        mark("bootstrap")
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main()
