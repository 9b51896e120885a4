"""Where the work is done: by joblib, in processes of this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import TypeVar

from threadpoolctl import threadpool_limits

WORTH_PROCESSES = 6.0
"""Seconds of work that processes are started for: each needs some to import what it works with."""

Job = TypeVar("Job")
Done = TypeVar("Done")


def work(
    task: Callable[[Job], Done], jobs: Sequence[Job], n_jobs: int | None = None
) -> Iterator[Done]:
    """Yield what a task gives for the jobs, in their order; as they are done, if joblib can.

    On this machine the first job is done here, and so are all others where they would take less
    time than it is worth to start processes for.

    Args:
        task: What to do, on one thread, which processes can import.
        jobs: What to do it for.
        n_jobs: Workers; None for what ``joblib.parallel_config`` says, 1 for nobody else.
    """
    if n_jobs == 1 or not len(jobs):
        yield from (_alone(task, job) for job in jobs)
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.parallel import LokyBackend, SequentialBackend, get_active_backend

    backend, _ = get_active_backend()
    is_here = isinstance(backend, LokyBackend)
    if isinstance(backend, SequentialBackend):
        yield from (_alone(task, job) for job in jobs)
        return
    if is_here:
        start = perf_counter()
        yield _alone(task, jobs[0])
        seconds, jobs = perf_counter() - start, jobs[1:]
        if seconds * len(jobs) < WORTH_PROCESSES:
            yield from (_alone(task, job) for job in jobs)
            return
    streams = getattr(backend, "supports_return_generator", False)
    with parallel_config("loky", inner_max_num_threads=1) if is_here else nullcontext():
        pool = Parallel(n_jobs=n_jobs, return_as="generator" if streams else "list")
    # A job is part of its call: what Dask hands to workers beside it is lost with a worker.
    yield from pool(delayed(partial(_alone, task, job))() for job in jobs)


def _alone(task: Callable[[Job], Done], job: Job) -> Done:
    with threadpool_limits(limits=1):
        return task(job)
