"""Where the work is done: by joblib, in processes of this machine or as its context says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import perf_counter
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import LokyBackend, get_active_backend

WORTH_PROCESSES = 6.0
"""Seconds of work that processes are started for: each needs some to import what it works with."""

Job = TypeVar("Job")
Done = TypeVar("Done")


def work(
    task: Callable[[Job], Done],
    jobs: Iterable[Job],
    n_jobs: int | None = None,
    expected: int | None = None,
) -> Iterator[Done]:
    """Yield what a task gives for the jobs, in their order; as they are done, if joblib can.

    Args:
        task: What to do, which processes can import.
        jobs: What to do it for.
        n_jobs: Workers; None for what ``joblib.parallel_config`` says.
        expected: How many jobs there are, if the first may be done here, and all others where
            they would take less time than it is worth to start processes for.
    """
    backend, _ = get_active_backend()
    remaining = iter(jobs)
    if expected is not None and isinstance(backend, LokyBackend):
        start = perf_counter()
        done = [task(job) for job in islice(remaining, 1)]
        seconds = perf_counter() - start
        yield from done
        if seconds * (expected - 1) < WORTH_PROCESSES:
            yield from map(task, remaining)
            return
    streams = getattr(backend, "supports_return_generator", False)
    pool = Parallel(n_jobs=n_jobs, return_as="generator" if streams else "list")
    yield from pool(delayed(task)(job) for job in remaining)


def renew_processes(n_jobs: int | None = None) -> None:
    """Let processes end, so that the next job starts in new ones.

    joblib takes a process that loads a second model for one that leaks, and replaces it in the
    middle of the work.
    """
    if effective_n_jobs(n_jobs) > 1:
        get_reusable_executor().shutdown(wait=True)
