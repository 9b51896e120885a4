"""Bradley-Terry fits and bootstraps against choix, evalica and arena-rank, on one thread.

Every peer gets aggregated counts in its own form, prepared beforehand; only its fits are timed.
Ours is timed with everything, the draws of the bootstrap included. Coefficients are centered and
compared on the same counts, to each peer's own tolerance. See benchmarks/README.md.

Run:  python benchmarks/bradley_terry.py [--sizes small,medium,large,scaling] [--repeats 5]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from battle_rows import MILLION, bootstrapped, crowd, fit_battles
from peer_rows import ROUNDS, Settings
from question_rows import small
from threadpoolctl import threadpool_limits
from workloads import Floats, repeated, simulated_battles, write_battles

PEERS = ("choix", "evalica", "arena-rank")
TARGET = "target: under 15 s and 2 GiB"
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def end_to_end(battles: int, systems: int, repeats: int) -> None:
    """From a Parquet file to a bootstrap, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        write_battles(simulated_battles(battles, systems, seed=0), path)
        megabytes = path.stat().st_size / 1e6
        found, wall = repeated(partial(run_end_to_end, path), repeats)
    stages = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in found["seconds"].items())
    print(
        f"\nend to end: {battles // MILLION} million battles ({megabytes:.0f} MB of Parquet), "
        f"{systems} systems, {ROUNDS} replicates ({TARGET})\n"
        f"  {wall:.1f} s of wall time, peak memory {found['peak_bytes'] / 2**30:.2f} GiB\n"
        f"  seconds: {stages}"
    )


def run_end_to_end(path: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("end_to_end.py")
    command = [sys.executable, str(script), str(path), "--rounds", str(ROUNDS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def scaling(settings: Settings) -> None:
    """Time by the number of battles and of replicates."""
    systems = 200
    battles = [simulated_battles(n * MILLION, systems, seed=0) for n in (1, 2, 4, 8)]
    print_scaling(
        "million battles counted and fitted",
        {len(item) // MILLION: partial(fit_battles, item) for item in battles},
        settings.repeats,
    )
    counts = battles[1].count()
    print_scaling(
        "replicates of 2 million battles",
        {rounds: partial(bootstrapped, counts, rounds) for rounds in (50, 100, 200, 400)},
        settings.repeats,
    )


def print_scaling(unit: str, jobs: dict[int, Callable[[], Floats]], repeats: int) -> None:
    print(f"\nscaling: {unit}\n{'':10}{'seconds':>11}{'each':>12}{'to the smallest':>18}")
    smallest = 0.0
    for size, job in jobs.items():
        seconds = repeated(job, repeats)[1]
        each = seconds / size
        smallest = smallest or each
        print(f"{size:10}{seconds:11.4f}{each:12.5f}{each / smallest:18.2f}", flush=True)


def medium(settings: Settings) -> None:
    crowd(settings, "medium", 2 * MILLION, 200)


def large(settings: Settings) -> None:
    repeats = min(settings.repeats, 3)
    crowd(replace(settings, repeats=repeats), "large", 10 * MILLION, 500)
    end_to_end(10 * MILLION, 500, repeats)


SIZES: dict[str, Callable[[Settings], None]] = {
    "small": small,
    "medium": medium,
    "large": large,
    "scaling": scaling,
}


def names(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Split a list of names.

    Raises:
        SystemExit: For one that is not known.
    """
    chosen = tuple(name for name in text.split(",") if name)
    unknown = set(chosen) - set(known)
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--peers", default=",".join(PEERS), help="empty for ours alone")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    os.environ.update(ONE_THREAD)
    settings = Settings(names(arguments.peers, PEERS), arguments.repeats)
    with threadpool_limits(1):
        for size in names(arguments.sizes, SIZES):
            SIZES[size](settings)


if __name__ == "__main__":
    main()
