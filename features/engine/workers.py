"""Where the work is done: by joblib, in processes of this machine or as its context says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TypeVar

from joblib import Parallel, delayed
from joblib.parallel import LokyBackend, get_active_backend

WORTH_PROCESSES = 6.0
"""Seconds of work that processes are started for: each needs some to import what it works with."""

Job = TypeVar("Job")
Done = TypeVar("Done")


def work(
    task: Callable[[Job], Done], jobs: Sequence[Job], n_jobs: int | None = None
) -> Iterator[Done]:
    """Yield what a task gives for the jobs, in their order; as they are done, if joblib can.

    The first job is done here, and so are all others where they would take less time than it is
    worth to start processes for.

    Args:
        task: What to do, which processes can import.
        jobs: What to do it for.
        n_jobs: Workers; None for what ``joblib.parallel_config`` says.
    """
    backend, _ = get_active_backend()
    if isinstance(backend, LokyBackend) and len(jobs):
        start = perf_counter()
        yield task(jobs[0])
        seconds, jobs = perf_counter() - start, jobs[1:]
        if seconds * len(jobs) < WORTH_PROCESSES:
            yield from map(task, jobs)
            return
    streams = getattr(backend, "supports_return_generator", False)
    pool = Parallel(n_jobs=n_jobs, return_as="generator" if streams else "list")
    yield from pool(delayed(task)(job) for job in jobs)
